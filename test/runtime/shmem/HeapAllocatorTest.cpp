// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The allocator of a symmetric heap against a plain model, and the properties symmetry needs.

#include "runtime/shmem/HeapAllocator.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

using piton::shmem::HeapAllocator;

TEST(HeapAllocator, BlocksAreDisjointAlignedAndComeBackAsOne) {
  constexpr uint64_t bytes = 1 << 20;
  HeapAllocator heap(bytes);
  std::mt19937 random(7);
  std::map<uint64_t, uint64_t> live;
  for (int step = 0; step < 20000; ++step) {
    if (live.empty() || random() % 5 < 3) {
      uint64_t size = 1 + random() % (random() % 8 ? 2000 : 100000),
               alignment = 64u << random() % 6;
      auto offset = heap.allocate(size, alignment);
      if (!offset) {
        EXPECT_LT(heap.largestFree(), size + alignment);
        continue;
      }
      EXPECT_EQ(*offset % alignment, 0u);
      EXPECT_LE(*offset + size, bytes);
      auto next = live.lower_bound(*offset);
      EXPECT_TRUE(next == live.end() || *offset + size <= next->first);
      EXPECT_TRUE(next == live.begin() ||
                  std::prev(next)->first + std::prev(next)->second <= *offset);
      live[*offset] = size;
    } else {
      auto victim = std::next(live.begin(), static_cast<long>(random() % live.size()));
      EXPECT_GE(heap.sizeAt(victim->first), victim->second);
      EXPECT_TRUE(heap.free(victim->first));
      EXPECT_FALSE(heap.free(victim->first)) << "freed twice";
      live.erase(victim);
    }
  }
  for (auto [offset, size] : live)
    EXPECT_TRUE(heap.free(offset));
  EXPECT_EQ(heap.usedBytes(), 0u);
  EXPECT_EQ(heap.largestFree(), bytes);
  EXPECT_EQ(heap.allocate(bytes), 0u);
}

TEST(HeapAllocator, SameCallsGiveSameOffsets) {
  HeapAllocator a(1 << 16), b(1 << 16);
  std::mt19937 random(11);
  std::vector<uint64_t> live;
  for (int step = 0; step < 3000; ++step) {
    if (random() % 2 && !live.empty()) {
      uint64_t offset = live[random() % live.size()];
      EXPECT_EQ(a.free(offset), b.free(offset));
      std::erase(live, offset);
      continue;
    }
    uint64_t size = random() % 3000;
    auto offset = a.allocate(size);
    EXPECT_EQ(offset, b.allocate(size));
    if (offset)
      live.push_back(*offset);
  }
}

TEST(HeapAllocator, BestFitAndTheEnd) {
  HeapAllocator heap(4096);
  auto last = heap.allocateAtEnd(512, 512);
  ASSERT_EQ(last, 3584u);
  uint64_t a = *heap.allocate(1024), b = *heap.allocate(64), c = *heap.allocate(256);
  uint64_t d = *heap.allocate(64);
  EXPECT_EQ(a, 0u);
  heap.free(a);
  heap.free(c);
  EXPECT_EQ(heap.allocate(200), c) << "the smallest hole that is large enough";
  EXPECT_EQ(heap.allocate(0), std::nullopt);
  EXPECT_EQ(heap.allocate(~uint64_t(0)), std::nullopt);
  EXPECT_EQ(heap.allocate(4096), std::nullopt);
  EXPECT_FALSE(heap.free(b + 1)) << "the middle of a block";
  (void)d;
}
