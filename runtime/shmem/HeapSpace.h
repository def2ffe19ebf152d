// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The memory behind the symmetric heaps of one host: an anonymous file (memfd) that holds the
// boards and every heap, and each process's mapping of it. No name in any file system refers to it,
// so nothing is left when the processes are gone, however they went.
//
//   file      boards, padded to a page | heap of local PE 0 | heap of local PE 1 | ...
//   addresses first + pe * span: the heap of PE `pe`; PEs of other hosts and what lies between a
//             heap's end and the next span are reserved and inaccessible
#ifndef PITON_RUNTIME_SHMEM_HEAPSPACE_H
#define PITON_RUNTIME_SHMEM_HEAPSPACE_H

#include "abi/DeviceState.h"
#include "runtime/shmem/Socket.h"

#include <memory>
#include <vector>

namespace piton::shmem {

struct HeapLayout {
  int peCount = 1;
  uint64_t heapBytes = 0;    ///< of one heap, a multiple of the system's page
  std::vector<int> localPes; ///< PEs of this host in ascending order

  uint64_t span() const {
    return (heapBytes + kHeapAlignment - 1) / kHeapAlignment * kHeapAlignment;
  }
  uint64_t boardBytes() const;
  uint64_t fileBytes() const { return boardBytes() + localPes.size() * heapBytes; }
};

class HeapSpace {
public:
  /// A new anonymous file of the layout's size that nobody can resize. Negative on failure, which
  /// is reported.
  static Fd createFile(const HeapLayout &layout);

  /// Maps the file. PEs that are threads of one process share one mapping. Null on failure, which
  /// is reported.
  static std::shared_ptr<HeapSpace> map(Fd file, const HeapLayout &layout);

  ~HeapSpace();
  HeapSpace(const HeapSpace &) = delete;

  char *first() const { return base; }
  char *heap(int pe) const { return base + static_cast<uint64_t>(pe) * layout.span(); }
  PeBoard *board(int localIndex) const { return boards + localIndex; }
  /// Bytes of the file that memory is spent on.
  uint64_t residentBytes() const;

  const HeapLayout layout;

private:
  HeapSpace(Fd file, const HeapLayout &layout) : layout(layout), file(std::move(file)) {}
  bool mapAll();

  Fd file;
  char *reservation = nullptr, *base = nullptr;
  uint64_t reservedBytes = 0;
  PeBoard *boards = nullptr;
};

/// The DeviceState of this process at its architectural address, mapped on first use and kept. Null
/// if something else lies there, which is reported.
DeviceState *processDeviceState();
/// As above without mapping it.
DeviceState *processDeviceStateOrNull();

} // namespace piton::shmem

#endif // PITON_RUNTIME_SHMEM_HEAPSPACE_H
