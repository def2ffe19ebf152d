// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Mappings of the symmetric heaps and of the device state.

#include "runtime/shmem/HeapSpace.h"

#include "runtime/shmem/Report.h"

#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace piton::shmem {

namespace {

using FileId = std::pair<dev_t, ino_t>;

/// Mappings of this process by file: PEs that are threads share them.
struct Registry {
  std::mutex mutex;
  std::map<FileId, std::weak_ptr<HeapSpace>> spaces;
};
Registry &registry() {
  static Registry &instance = *new Registry;
  return instance;
}

std::string megabytes(uint64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

} // namespace

uint64_t HeapLayout::boardBytes() const {
  uint64_t bytes = localPes.size() * sizeof(PeBoard), page = 4096;
  return (bytes + page - 1) / page * page;
}

Fd HeapSpace::createFile(const HeapLayout &layout) {
  Fd fd(memfd_create("piton-symmetric-heap", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd || ftruncate(fd.get(), static_cast<off_t>(layout.fileBytes())) != 0 ||
      fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    reportErrno(ACLSHMEM_SMEM_ERROR,
                "cannot make memory for " + std::to_string(layout.localPes.size()) +
                    " symmetric heaps of " + megabytes(layout.heapBytes),
                errno);
    return Fd();
  }
  return fd;
}

std::shared_ptr<HeapSpace> HeapSpace::map(Fd file, const HeapLayout &layout) {
  struct stat info;
  if (fstat(file.get(), &info) != 0 || static_cast<uint64_t>(info.st_size) != layout.fileBytes()) {
    report(ACLSHMEM_SMEM_ERROR, "the memory of the symmetric heaps has the wrong size");
    return nullptr;
  }
  Registry &known = registry();
  std::lock_guard lock(known.mutex);
  auto &entry = known.spaces[{info.st_dev, info.st_ino}];
  if (auto space = entry.lock())
    return space;
  std::shared_ptr<HeapSpace> space(new HeapSpace(std::move(file), layout));
  if (!space->mapAll()) {
    reportErrno(ACLSHMEM_SMEM_ERROR,
                "cannot map " + std::to_string(layout.peCount) + " symmetric heaps of " +
                    megabytes(layout.heapBytes) + " (" +
                    megabytes(static_cast<uint64_t>(layout.peCount) * layout.span()) +
                    " of addresses)",
                errno);
    return nullptr;
  }
  entry = space;
  return space;
}

bool HeapSpace::mapAll() {
  reservedBytes = static_cast<uint64_t>(layout.peCount) * layout.span() + kHeapAlignment;
  void *at =
      mmap(nullptr, reservedBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED)
    return false;
  reservation = static_cast<char *>(at);
  uint64_t aligned = (reinterpret_cast<uint64_t>(at) + kHeapAlignment - 1) & ~(kHeapAlignment - 1);
  base = reinterpret_cast<char *>(aligned);
  uint64_t offset = layout.boardBytes();
  at = mmap(nullptr, layout.boardBytes(), PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (at == MAP_FAILED)
    return false;
  boards = static_cast<PeBoard *>(at);
  for (int pe : layout.localPes) {
    at = mmap(heap(pe), layout.heapBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
              file.get(), static_cast<off_t>(offset));
    if (at == MAP_FAILED)
      return false;
    // A core dump of a PE is not the place for every PE's heap.
    madvise(at, layout.heapBytes, MADV_DONTDUMP);
    offset += layout.heapBytes;
  }
  return true;
}

HeapSpace::~HeapSpace() {
  if (boards)
    munmap(boards, layout.boardBytes());
  if (reservation)
    munmap(reservation, reservedBytes);
}

uint64_t HeapSpace::residentBytes() const {
  struct stat info;
  return fstat(file.get(), &info) == 0 ? static_cast<uint64_t>(info.st_blocks) * 512 : 0;
}

//===-- Device state ------------------------------------------------------------------------===//

static std::atomic<DeviceState *> mappedState{nullptr};

DeviceState *processDeviceStateOrNull() { return mappedState.load(std::memory_order_acquire); }

DeviceState *processDeviceState() {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  if (DeviceState *state = processDeviceStateOrNull())
    return state;
  auto *wanted = reinterpret_cast<void *>(kDeviceMetaAddress);
  void *at = mmap(wanted, kDeviceMetaBytes + kDeviceStateBytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (at != wanted) {
    int error = at == MAP_FAILED ? errno : EEXIST;
    if (at != MAP_FAILED)
      munmap(at, kDeviceMetaBytes + kDeviceStateBytes);
    char text[32];
    std::snprintf(text, sizeof(text), "0x%llx",
                  static_cast<unsigned long long>(kDeviceMetaAddress));
    reportErrno(ACLSHMEM_SMEM_ERROR,
                std::string("cannot map the device state at its fixed address ") + text, error);
    return nullptr;
  }
  auto *state = reinterpret_cast<DeviceState *>(kDeviceStateAddress);
  mappedState.store(state, std::memory_order_release);
  return state;
}

} // namespace piton::shmem
