// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Best fit over two ordered views of the free ranges.

#include "runtime/shmem/HeapAllocator.h"

#include <iterator>

namespace piton::shmem {

static uint64_t roundUp(uint64_t value, uint64_t grain) {
  return (value + grain - 1) & ~(grain - 1);
}

HeapAllocator::HeapAllocator(uint64_t bytes) {
  if (uint64_t whole = bytes & ~(kGrain - 1))
    addFree(0, whole);
}

void HeapAllocator::addFree(uint64_t start, uint64_t size) {
  freeByOffset.emplace(start, size);
  freeBySize.emplace(size, start);
}

void HeapAllocator::removeFree(uint64_t start) {
  auto at = freeByOffset.find(start);
  freeBySize.erase({at->second, start});
  freeByOffset.erase(at);
}

/// Cuts [start, start + size) out of the free range at rangeStart.
uint64_t HeapAllocator::take(uint64_t rangeStart, uint64_t start, uint64_t size) {
  uint64_t rangeEnd = rangeStart + freeByOffset.at(rangeStart);
  removeFree(rangeStart);
  if (start > rangeStart)
    addFree(rangeStart, start - rangeStart);
  if (start + size < rangeEnd)
    addFree(start + size, rangeEnd - start - size);
  blocks.emplace(start, size);
  used += size;
  return start;
}

std::optional<uint64_t> HeapAllocator::allocate(uint64_t size, uint64_t alignment) {
  if (size == 0 || size > largestFree())
    return std::nullopt;
  size = roundUp(size, kGrain);
  alignment = alignment < kGrain ? kGrain : alignment;
  for (auto at = freeBySize.lower_bound({size, 0}); at != freeBySize.end(); ++at) {
    auto [rangeSize, rangeStart] = *at;
    uint64_t start = roundUp(rangeStart, alignment);
    if (start >= rangeStart && start - rangeStart <= rangeSize - size)
      return take(rangeStart, start, size);
  }
  return std::nullopt;
}

std::optional<uint64_t> HeapAllocator::allocateAtEnd(uint64_t size, uint64_t alignment) {
  size = roundUp(size, kGrain);
  for (auto at = freeByOffset.rbegin(); at != freeByOffset.rend(); ++at) {
    auto [rangeStart, rangeSize] = *at;
    if (size == 0 || size > rangeSize)
      continue;
    uint64_t start = (rangeStart + rangeSize - size) & ~(alignment - 1);
    if (start >= rangeStart)
      return take(rangeStart, start, size);
  }
  return std::nullopt;
}

bool HeapAllocator::free(uint64_t offset) {
  auto block = blocks.find(offset);
  if (block == blocks.end())
    return false;
  uint64_t start = offset, size = block->second;
  used -= size;
  blocks.erase(block);
  auto next = freeByOffset.lower_bound(start);
  if (next != freeByOffset.begin()) {
    auto previous = std::prev(next);
    if (previous->first + previous->second == start) {
      start = previous->first;
      size += previous->second;
      removeFree(previous->first);
      next = freeByOffset.lower_bound(start);
    }
  }
  if (next != freeByOffset.end() && start + size == next->first) {
    size += next->second;
    removeFree(next->first);
  }
  addFree(start, size);
  return true;
}

uint64_t HeapAllocator::sizeAt(uint64_t offset) const {
  auto block = blocks.find(offset);
  return block == blocks.end() ? 0 : block->second;
}

uint64_t HeapAllocator::largestFree() const {
  return freeBySize.empty() ? 0 : freeBySize.rbegin()->first;
}

} // namespace piton::shmem
