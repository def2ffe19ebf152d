// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Divides a symmetric heap. It works on offsets, not addresses, and is a pure function of the calls
// made so far: PEs that make the same calls get the same offsets, which is all that makes memory
// symmetric.
#ifndef PITON_RUNTIME_SHMEM_HEAPALLOCATOR_H
#define PITON_RUNTIME_SHMEM_HEAPALLOCATOR_H

#include <cstdint>
#include <map>
#include <optional>
#include <set>

namespace piton::shmem {

/// Best fit, lowest offset first among equals. Not thread-safe.
class HeapAllocator {
public:
  /// Every block starts and ends at a multiple of this: a cache line, as signals need.
  static constexpr uint64_t kGrain = 64;

  explicit HeapAllocator(uint64_t bytes);

  /// Offset of a new block of at least `size` bytes at a multiple of `alignment` (a power of two),
  /// or nothing if none fits or size is 0.
  std::optional<uint64_t> allocate(uint64_t size, uint64_t alignment = kGrain);
  /// As above from the heap's end, for the library's own words.
  std::optional<uint64_t> allocateAtEnd(uint64_t size, uint64_t alignment = kGrain);

  /// Frees the block that starts at `offset`; false if there is none.
  bool free(uint64_t offset);

  /// Size of the block that starts at `offset`, or 0.
  uint64_t sizeAt(uint64_t offset) const;
  /// Bytes in blocks.
  uint64_t usedBytes() const { return used; }
  /// Largest block that allocate() could give.
  uint64_t largestFree() const;

private:
  uint64_t take(uint64_t rangeStart, uint64_t start, uint64_t size);
  void addFree(uint64_t start, uint64_t size);
  void removeFree(uint64_t start);

  std::map<uint64_t, uint64_t> freeByOffset;          ///< offset to size
  std::set<std::pair<uint64_t, uint64_t>> freeBySize; ///< (size, offset)
  std::map<uint64_t, uint64_t> blocks;                ///< offset to size
  uint64_t used = 0;
};

} // namespace piton::shmem

#endif // PITON_RUNTIME_SHMEM_HEAPALLOCATOR_H
