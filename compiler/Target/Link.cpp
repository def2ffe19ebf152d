// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// lld knows files by name only. What it reads are memory files, under the names that /proc has for
// descriptors; what it writes goes into a pipe, as it would want to rename a file that it makes.
#include "compiler/Target/Link.h"

#include "compiler/HostSignals.h"
#include "device/DeviceLibrary.h"

#include "lld/Common/Driver.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

LLD_HAS_DRIVER(elf)

using namespace llvm;

namespace {

Error fail(const Twine &text) { return createStringError(inconvertibleErrorCode(), text); }

Error failWith(int error, const Twine &what) { return fail(what + ": " + std::strerror(error)); }

/// Owner of a file descriptor.
class Descriptor {
public:
  explicit Descriptor(int fd = -1) : fd(fd) {}
  Descriptor(Descriptor &&other) noexcept : fd(std::exchange(other.fd, -1)) {}
  Descriptor &operator=(Descriptor &&other) noexcept {
    std::swap(fd, other.fd);
    return *this;
  }
  ~Descriptor() { reset(); }
  void reset() {
    if (fd >= 0)
      close(std::exchange(fd, -1));
  }
  int get() const { return fd; }
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd); }

private:
  int fd;
};

Expected<Descriptor> memoryFile(const char *name, StringRef bytes) {
  Descriptor file(memfd_create(name, MFD_CLOEXEC));
  while (file.get() >= 0 && !bytes.empty()) {
    ssize_t n = write(file.get(), bytes.data(), bytes.size());
    if (n < 0 && errno != EINTR)
      return failWith(errno, "cannot write a memory file for the linker");
    bytes = bytes.drop_front(static_cast<size_t>(std::max<ssize_t>(n, 0)));
  }
  if (file.get() < 0)
    return failWith(errno, "cannot make a memory file for the linker");
  return file;
}

/// Takes in what is written to a pipe, which holds less than a kernel, until its end.
struct PipeReader {
  Descriptor from, to;
  std::string bytes;
  pthread_t thread = {};

  Error start() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
      return failWith(errno, "cannot make a pipe for the linker");
    from = Descriptor(ends[0]);
    to = Descriptor(ends[1]);
    auto run = [](void *self) -> void * {
      static_cast<PipeReader *>(self)->read();
      return nullptr;
    };
    if (int error = pthread_create(&thread, nullptr, run, this))
      return failWith(error, "cannot start a thread for the linker");
    return Error::success();
  }
  void finish() {
    to.reset();
    pthread_join(thread, nullptr);
  }

private:
  void read() {
    char buffer[65536];
    for (;;) {
      ssize_t n = ::read(from.get(), buffer, sizeof(buffer));
      if (n > 0)
        bytes.append(buffer, static_cast<size_t>(n));
      else if (n == 0 || errno != EINTR)
        return;
    }
  }
};

/// Runs lld; empty, or what it says.
std::string runLinker(ArrayRef<const char *> args) {
  std::string messages;
  raw_string_ostream stream(messages);
  static std::mutex linker; // lld keeps global state
  std::lock_guard lock(linker);
  // lld exits the process on a fatal error unless crash recovery is on.
  piton::enableRecoveryWithoutHandlers();
  lld::Result result = lld::lldMain(args, stream, stream, {{lld::Gnu, &lld::elf::link}});
  if (result.retCode == 0)
    return {};
  StringRef said = StringRef(messages).trim();
  return said.empty() ? "the linker ended with code " + std::to_string(result.retCode) : said.str();
}

} // namespace

Expected<std::string> piton::linkObject(StringRef object) {
  auto embedded = [](const void *bytes, size_t size) {
    return StringRef(static_cast<const char *>(bytes), size);
  };
  const std::pair<const char *, StringRef> parts[] = {
      {"kernel.o", object},
      {"soft.o", embedded(kDeviceSoftObject, kDeviceSoftObjectSize)},
      {"libmvec.so", embedded(kStubLibmvec, kStubLibmvecSize)},
      {"libm.so", embedded(kStubLibm, kStubLibmSize)}};
  SmallVector<Descriptor> files;
  SmallVector<std::string> paths;
  for (const auto &[name, bytes] : parts) {
    Expected<Descriptor> file = memoryFile(name, bytes);
    if (!file)
      return file.takeError();
    files.push_back(std::move(*file));
    paths.push_back(files.back().path());
  }
  PipeReader reader;
  if (Error failure = reader.start())
    return failure;
  std::string output = reader.to.path();
  // --start-lib: the soft helpers are taken only where the object calls them.
  const char *args[] = {"ld.lld",
                        "-shared",
                        "-o",
                        output.c_str(),
                        "--gc-sections",
                        "-z",
                        "now",
                        "-z",
                        "noexecstack",
                        "--hash-style=gnu",
                        "--exclude-libs=ALL",
                        "--threads=1",
                        "--no-dependent-libraries",
                        paths[0].c_str(),
                        "--start-lib",
                        paths[1].c_str(),
                        "--end-lib",
                        "--no-as-needed",
                        paths[2].c_str(),
                        paths[3].c_str()};
  std::string failure = runLinker(args);
  reader.finish();
  if (!failure.empty())
    return fail("linking the kernel failed: " + failure);
  return std::move(reader.bytes);
}
