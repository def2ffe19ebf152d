// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Mapping of a verified image: the ELF goes into an anonymous memory file and from there through
// the ordinary dynamic loader, so that debuggers and profilers see it as any other library.

#include "sim/LoadedKernel.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

namespace piton::sim {
namespace {

/// Owns a file descriptor.
struct Descriptor {
  int fd = -1;
  ~Descriptor() {
    if (fd >= 0)
      close(fd);
  }
};

bool writeAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t n = write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return false;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

/// A name for descriptor `fd` that was never used before: the loader takes a library of the same
/// name for the same library, and descriptor numbers repeat. The counter is spelled in path
/// components that mean nothing.
std::string uniquePath(int fd) {
  static std::atomic<uint32_t> counter{0};
  std::string path = "/proc/self/fd";
  for (uint32_t n = counter.fetch_add(1); n != 0; n >>= 1)
    path += n & 1 ? "/." : "//";
  return path + "/" + std::to_string(fd);
}

/// For systems that forbid executable memory files: an unlinked file in TMPDIR.
void *openThroughFile(std::string_view elf) {
  const char *folder = std::getenv("TMPDIR");
  std::string path = std::string(folder && *folder ? folder : "/tmp") + "/piton-kernel-XXXXXX";
  Descriptor file{mkstemp(path.data())};
  if (file.fd < 0)
    return nullptr;
  void *handle = writeAll(file.fd, elf) ? dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
  unlink(path.c_str());
  return handle;
}

} // namespace

std::string missingCpuFeature(std::string_view features) {
  // __builtin_cpu_supports takes literals only.
  __builtin_cpu_init();
  auto has = [](std::string_view name) {
#define PITON_FEATURE(llvm, gcc)                                                                   \
  if (name == llvm)                                                                                \
    return __builtin_cpu_supports(gcc) != 0;
    PITON_FEATURE("sse3", "sse3")
    PITON_FEATURE("ssse3", "ssse3")
    PITON_FEATURE("sse4.1", "sse4.1")
    PITON_FEATURE("sse4.2", "sse4.2")
    PITON_FEATURE("popcnt", "popcnt")
    PITON_FEATURE("avx", "avx")
    PITON_FEATURE("avx2", "avx2")
    PITON_FEATURE("fma", "fma")
    PITON_FEATURE("f16c", "f16c")
    PITON_FEATURE("bmi", "bmi")
    PITON_FEATURE("bmi2", "bmi2")
    PITON_FEATURE("lzcnt", "lzcnt")
    PITON_FEATURE("aes", "aes")
    PITON_FEATURE("pclmul", "pclmul")
    PITON_FEATURE("gfni", "gfni")
    PITON_FEATURE("vaes", "vaes")
    PITON_FEATURE("vpclmulqdq", "vpclmulqdq")
    PITON_FEATURE("avxvnni", "avxvnni")
    PITON_FEATURE("avx512f", "avx512f")
    PITON_FEATURE("avx512vl", "avx512vl")
    PITON_FEATURE("avx512bw", "avx512bw")
    PITON_FEATURE("avx512dq", "avx512dq")
    PITON_FEATURE("avx512cd", "avx512cd")
    PITON_FEATURE("avx512ifma", "avx512ifma")
    PITON_FEATURE("avx512vbmi", "avx512vbmi")
    PITON_FEATURE("avx512vbmi2", "avx512vbmi2")
    PITON_FEATURE("avx512vnni", "avx512vnni")
    PITON_FEATURE("avx512bitalg", "avx512bitalg")
    PITON_FEATURE("avx512vpopcntdq", "avx512vpopcntdq")
    PITON_FEATURE("avx512bf16", "avx512bf16")
    PITON_FEATURE("avx512fp16", "avx512fp16")
    PITON_FEATURE("amx-tile", "amx-tile")
    PITON_FEATURE("amx-int8", "amx-int8")
    PITON_FEATURE("amx-bf16", "amx-bf16")
#undef PITON_FEATURE
    return true;
  };
  while (!features.empty()) {
    size_t comma = features.find(',');
    std::string_view item = features.substr(0, comma);
    features.remove_prefix(comma == std::string_view::npos ? features.size() : comma + 1);
    if (item.size() > 1 && item[0] == '+' && !has(item.substr(1)))
      return std::string(item.substr(1));
  }
  return {};
}

piton_status_t LoadedKernel::load(std::string_view image, std::shared_ptr<const Kernel> &out) {
  auto kernel = std::make_shared<LoadedKernel>();
  std::string_view elf;
  std::string error;
  if (!readKernelImage(image, kernel->meta, elf, error))
    return fail(PITON_ERROR_INVALID_IMAGE, std::move(error));
  const KernelMetadata &meta = kernel->meta;
  if (meta.kind == ImageKind::Bisheng)
    return fail(PITON_ERROR_UNSUPPORTED, "kernel '" + meta.name +
                                             "' was compiled for a real NPU (" + meta.target +
                                             "), which this machine cannot launch; compile it with "
                                             "PITON_BACKEND=simulator");
  if (meta.kind != ImageKind::Fast)
    return fail(PITON_ERROR_UNSUPPORTED,
                "kernel '" + meta.name + "' is a model-mode image; this build runs fast mode only");
  std::string missing = missingCpuFeature(meta.hostFeatures);
  if (!missing.empty())
    return fail(PITON_ERROR_UNSUPPORTED, "kernel '" + meta.name + "' was compiled for CPU '" +
                                             meta.hostCpu + "' and uses '" + missing +
                                             "', which this CPU lacks; compile it again here");
  if (piton_status_t status = kernel->map(elf))
    return status;
  out = std::move(kernel);
  return PITON_OK;
}

piton_status_t LoadedKernel::map(std::string_view elf) {
  std::string where = "cannot load kernel '" + meta.name + "'";
  Descriptor memory{memfd_create(("piton:" + meta.name.substr(0, 200)).c_str(), MFD_CLOEXEC)};
  if (memory.fd >= 0 && writeAll(memory.fd, elf))
    handle = dlopen(uniquePath(memory.fd).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *text = dlerror();
    std::string first = text ? text : std::strerror(errno);
    handle = openThroughFile(elf);
    if (!handle)
      return fail(PITON_ERROR_INVALID_IMAGE, where + ": " + first);
  }
  std::string symbol = kEntryPrefix + meta.name;
  entryPoint = reinterpret_cast<KernelEntry>(dlsym(handle, symbol.c_str()));
  if (!entryPoint)
    return fail(PITON_ERROR_INVALID_IMAGE, where + ": the image has no symbol '" + symbol + "'");
  struct link_map *map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0)
    return fail(PITON_ERROR_INVALID_IMAGE, where + ": " + dlerror());
  base = map->l_addr;
  textBegin = UINT64_MAX;
  Elf64_Ehdr header; // bounds were checked with the image
  std::memcpy(&header, elf.data(), sizeof(header));
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, elf.data() + header.e_phoff + i * sizeof(segment), sizeof(segment));
    if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_X))
      continue;
    textBegin = std::min(textBegin, base + segment.p_vaddr);
    textEnd = std::max(textEnd, base + segment.p_vaddr + segment.p_memsz);
  }
  return PITON_OK;
}

LoadedKernel::~LoadedKernel() {
  if (handle)
    dlclose(handle);
}

std::string LoadedKernel::lineOf(uint64_t pc) const {
  if (!contains(pc))
    return {};
  auto row = std::upper_bound(meta.lines.begin(), meta.lines.end(), pc - base,
                              [](uint64_t a, const LineEntry &entry) { return a < entry.address; });
  // Line 0 is compiler-made code; the nearest line before it is a better answer than none.
  while (row != meta.lines.begin()) {
    --row;
    if (row->line != 0)
      return meta.files[row->file] + ":" + std::to_string(row->line);
  }
  return {};
}

} // namespace piton::sim
