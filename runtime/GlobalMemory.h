// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Global memory of one device: a reservation of addresses as large as the card's memory, handed out
// in multiples of 512 bytes. Everything the allocator knows lies in tables of its own, so a kernel
// that writes outside its buffers cannot damage it. Freed blocks merge with their free neighbours
// and stay mapped, which makes the next allocation of that size as warm as malloc's.
#ifndef PITON_RUNTIME_GLOBALMEMORY_H
#define PITON_RUNTIME_GLOBALMEMORY_H

#include <atomic>
#include <cstdint>

namespace piton {

/// Thread-safe only where it says so; Device holds the lock.
class GlobalMemory {
public:
  explicit GlobalMemory(uint64_t capacity) : capacity(capacity) {}
  GlobalMemory(const GlobalMemory &) = delete;
  ~GlobalMemory();

  /// Best alignment of global memory on the NPU, and the grain of block sizes.
  static constexpr uint64_t kGrain = 512;

  const uint64_t capacity;

  /// A block of `bytes`, rounded up to the grain, or null with the reason in `why`.
  void *allocate(uint64_t bytes, const char *&why);
  /// Size of the block that starts at `pointer`; 0 if none does.
  uint64_t sizeOf(const void *pointer) const;
  /// Gives a block back; it must start at `pointer`.
  void release(void *pointer);
  /// Returns the pages of free blocks to the host.
  void trim();

  /// True for every address of the device, in a block or not. Any thread.
  bool contains(const void *pointer) const {
    auto first = reinterpret_cast<uintptr_t>(base.load(std::memory_order_acquire));
    return first && reinterpret_cast<uintptr_t>(pointer) - first < reservedAddresses;
  }

  /// Bytes that the host has given for blocks in use and kept for later ones.
  uint64_t residentBytes() const { return (top - trimmed) * kGrain; }

private:
  using Index = uint32_t; ///< of a grain, counted from the base; 0 stands for none in lists

  /// One grain's entry. A block writes its tag at its first and its last grain, so that its
  /// neighbours on both sides find it; the links belong to the list of free blocks of its size.
  struct Grain {
    uint32_t tag; ///< size in grains, and the flags below
    Index next, previous;
  };
  static constexpr uint32_t kUsed = 1u << 31, kTrimmed = 1u << 30, kSizeMask = kTrimmed - 1;
  static constexpr unsigned kSubBits = 4, kLevels = 32, kLists = kLevels << kSubBits;

  bool reserve(const char *&why);
  bool grow(uint64_t grains, const char *&why);
  static unsigned listOf(uint32_t grains);
  Index find(uint32_t grains) const;
  void setTag(Index first, uint32_t grains, uint32_t flags);
  void link(Index first, uint32_t grains, uint32_t flags);
  void unlink(Index first);
  void addFree(Index first, uint32_t grains, uint32_t flags);

  std::atomic<char *> base{nullptr}; ///< grain 0 is never handed out
  uint64_t reservedAddresses = 0;
  Grain *table = nullptr;
  uint64_t tableBytes = 0;
  uint64_t top = 1;     ///< grains below are mapped
  uint64_t trimmed = 0; ///< grains of free blocks whose pages the host has back
  Index heads[kLists] = {};
  uint32_t levelBits = 0;
  uint32_t listBits[kLevels] = {};
};

} // namespace piton

#endif // PITON_RUNTIME_GLOBALMEMORY_H
