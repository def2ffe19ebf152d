// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Free blocks are in lists by size: 16 lists to a power of two, found through two bit masks, so
// allocating and freeing take a constant number of steps. A block is cut to its exact size.

#include "runtime/GlobalMemory.h"

#include <algorithm>
#include <bit>
#include <sys/mman.h>

namespace piton {
namespace {

constexpr uint64_t kPage = 4096;
/// Addresses are made accessible in such steps; beyond them a stray access of a kernel faults.
constexpr uint64_t kGrowth = uint64_t(2) << 20;
/// Never accessible: between the device's memory and whatever lies behind it.
constexpr uint64_t kGap = uint64_t(2) << 20;
/// Blocks of about the right size that are looked at before a larger one is cut.
constexpr unsigned kProbes = 16;

uint64_t roundUp(uint64_t value, uint64_t step) { return (value + step - 1) / step * step; }

} // namespace

GlobalMemory::~GlobalMemory() {
  if (char *first = base.load())
    munmap(first, reservedAddresses);
  if (table)
    munmap(table, tableBytes);
}

bool GlobalMemory::reserve(const char *&why) {
  // Without MAP_NORESERVE: once made accessible, the memory counts as malloc's does, so the host
  // can refuse what it does not have.
  uint64_t bytes = roundUp(capacity, kGrowth) + kGrowth + kGap;
  uint64_t tableSize = bytes / kGrain * sizeof(Grain);
  void *memory = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  void *entries = mmap(nullptr, tableSize, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED || entries == MAP_FAILED) {
    if (memory != MAP_FAILED)
      munmap(memory, bytes);
    if (entries != MAP_FAILED)
      munmap(entries, tableSize);
    why = "the host has no more addresses (see ulimit -v)";
    return false;
  }
  // Where the host's 4 KiB pages happen to lie decides as much over a kernel's time as the kernel.
  madvise(memory, bytes, MADV_HUGEPAGE);
  table = static_cast<Grain *>(entries);
  tableBytes = tableSize;
  reservedAddresses = bytes;
  base.store(static_cast<char *>(memory), std::memory_order_release);
  return true;
}

bool GlobalMemory::grow(uint64_t grains, const char *&why) {
  uint64_t limit = (reservedAddresses - kGap) / kGrain;
  uint64_t step = kGrowth / kGrain;
  uint64_t newTop = std::min(roundUp(top + grains, step), limit);
  if (newTop < top + grains) {
    why = "no free part of the device's memory is large enough";
    return false;
  }
  char *memory = base.load(std::memory_order_relaxed);
  uint64_t mapped = roundUp(top * kGrain, kPage);
  if (top == 1)
    mapped = 0;
  if (mprotect(memory + mapped, newTop * kGrain - mapped, PROT_READ | PROT_WRITE) != 0) {
    why = "the host has no more memory";
    return false;
  }
  auto first = static_cast<Index>(top);
  auto size = static_cast<uint32_t>(newTop - top);
  top = newTop;
  trimmed += size;
  addFree(first, size, kTrimmed);
  return true;
}

/// The list of blocks of that size: the power of two below, and the next four bits.
unsigned GlobalMemory::listOf(uint32_t grains) {
  unsigned level = std::bit_width(grains) - 1;
  unsigned sub = level >= kSubBits ? grains >> (level - kSubBits) : grains << (kSubBits - level);
  return (level << kSubBits) + (sub & ((1u << kSubBits) - 1));
}

/// A free block of at least that size, or 0.
GlobalMemory::Index GlobalMemory::find(uint32_t grains) const {
  // The list of the size itself may hold smaller ones too, unless sizes are exact there; the ones
  // after it hold only larger blocks.
  unsigned list = listOf(grains), probes = 0;
  for (Index block = heads[list]; block && probes < kProbes; block = table[block].next, ++probes)
    if ((table[block].tag & kSizeMask) >= grains)
      return block;
  unsigned level = list >> kSubBits, sub = list & ((1u << kSubBits) - 1);
  uint32_t subs = listBits[level] & ~((2u << sub) - 1);
  if (!subs) {
    uint32_t levels = level + 1 < kLevels ? levelBits & ~((2u << level) - 1) : 0;
    if (!levels)
      return 0;
    level = static_cast<unsigned>(std::countr_zero(levels));
    subs = listBits[level];
  }
  return heads[(level << kSubBits) + static_cast<unsigned>(std::countr_zero(subs))];
}

void GlobalMemory::setTag(Index first, uint32_t grains, uint32_t flags) {
  table[first].tag = table[first + grains - 1].tag = grains | flags;
}

void GlobalMemory::link(Index first, uint32_t grains, uint32_t flags) {
  setTag(first, grains, flags);
  unsigned list = listOf(grains);
  Index head = heads[list];
  table[first].next = head;
  table[first].previous = 0;
  if (head)
    table[head].previous = first;
  heads[list] = first;
  listBits[list >> kSubBits] |= 1u << (list & ((1u << kSubBits) - 1));
  levelBits |= 1u << (list >> kSubBits);
}

void GlobalMemory::unlink(Index first) {
  Grain &block = table[first];
  unsigned list = listOf(block.tag & kSizeMask);
  if (block.next)
    table[block.next].previous = block.previous;
  if (block.previous) {
    table[block.previous].next = block.next;
    return;
  }
  heads[list] = block.next;
  if (block.next)
    return;
  uint32_t &bits = listBits[list >> kSubBits];
  bits &= ~(1u << (list & ((1u << kSubBits) - 1)));
  if (!bits)
    levelBits &= ~(1u << (list >> kSubBits));
}

/// Puts a free block into its list, merged with free neighbours. A block counts as trimmed only if
/// all of it is.
void GlobalMemory::addFree(Index first, uint32_t grains, uint32_t flags) {
  auto absorb = [&](Index neighbour, uint32_t tag) {
    unlink(neighbour);
    uint32_t size = tag & kSizeMask;
    if (flags != (tag & kTrimmed))
      trimmed -= flags ? grains : size;
    flags &= tag & kTrimmed;
    first = std::min(first, neighbour);
    grains += size;
  };
  if (first > 1)
    if (uint32_t tag = table[first - 1].tag; !(tag & kUsed))
      absorb(first - (tag & kSizeMask), tag);
  if (first + grains < top)
    if (uint32_t tag = table[first + grains].tag; !(tag & kUsed))
      absorb(first + grains, tag);
  link(first, grains, flags);
}

void *GlobalMemory::allocate(uint64_t bytes, const char *&why) {
  if (bytes > capacity) {
    why = "the device's memory is full";
    return nullptr;
  }
  if (!base.load(std::memory_order_relaxed) && !reserve(why))
    return nullptr;
  auto grains = static_cast<uint32_t>(roundUp(bytes, kGrain) / kGrain);
  Index block = find(grains);
  if (!block) {
    // What is free at the end of the mapped part counts towards the block.
    uint32_t last = top > 1 ? table[top - 1].tag : kUsed;
    uint64_t tail = last & kUsed ? 0 : last & kSizeMask;
    if (!grow(grains > tail ? grains - tail : grains, why))
      return nullptr;
    block = find(grains);
    if (!block && grow(grains, why))
      block = find(grains);
    if (!block)
      return nullptr;
  }
  uint32_t tag = table[block].tag, size = tag & kSizeMask;
  unlink(block);
  if (tag & kTrimmed)
    trimmed -= grains;
  if (size > grains)
    link(block + grains, size - grains, tag & kTrimmed);
  setTag(block, grains, kUsed);
  table[block].next = block; // the mark of a block's first grain, see sizeOf()
  return base.load(std::memory_order_relaxed) + uint64_t(block) * kGrain;
}

uint64_t GlobalMemory::sizeOf(const void *pointer) const {
  if (!contains(pointer))
    return 0;
  auto offset = static_cast<uint64_t>(static_cast<const char *>(pointer) - base.load());
  uint64_t block = offset / kGrain;
  if (offset % kGrain || block == 0 || block >= top)
    return 0;
  uint32_t tag = table[block].tag;
  // The last grain of a block of several bears the same tag: the block's first grain tells.
  uint64_t size = tag & kSizeMask;
  return tag & kUsed && table[block].next == block ? size * kGrain : 0;
}

void GlobalMemory::release(void *pointer) {
  auto block = static_cast<Index>((static_cast<char *>(pointer) - base.load()) / kGrain);
  table[block].next = 0;
  addFree(block, table[block].tag & kSizeMask, 0);
}

void GlobalMemory::trim() {
  char *memory = base.load();
  if (!memory)
    return;
  for (unsigned list = 0; list < kLists; ++list)
    for (Index block = heads[list]; block; block = table[block].next) {
      uint32_t tag = table[block].tag, size = tag & kSizeMask;
      if (tag & kTrimmed)
        continue;
      uint64_t first = roundUp(uint64_t(block) * kGrain, kPage);
      uint64_t end = (uint64_t(block) + size) * kGrain / kPage * kPage;
      if (first >= end)
        continue;
      madvise(memory + first, end - first, MADV_DONTNEED);
      trimmed += size;
      setTag(block, size, kTrimmed);
    }
}

} // namespace piton
