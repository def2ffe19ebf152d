// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The allocator of global memory: blocks never overlap, neighbours merge, its tables survive
// writes outside a block.

#include "runtime/GlobalMemory.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <random>
#include <vector>

using piton::GlobalMemory;

namespace {

constexpr uint64_t kCapacity = uint64_t(256) << 20;

void *take(GlobalMemory &memory, uint64_t bytes) {
  const char *why = nullptr;
  return memory.allocate(bytes, why);
}

TEST(GlobalMemory, BlocksAreAlignedAndExact) {
  GlobalMemory memory(kCapacity);
  for (uint64_t bytes : {1ull, 511ull, 512ull, 513ull, 100000ull, 1ull << 20, (3ull << 20) + 1}) {
    void *p = take(memory, bytes);
    ASSERT_TRUE(p);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(p) % GlobalMemory::kGrain, 0u);
    EXPECT_EQ(memory.sizeOf(p), (bytes + 511) / 512 * 512);
    std::memset(p, 1, bytes);
  }
}

TEST(GlobalMemory, RandomUseNeverOverlaps) {
  GlobalMemory memory(kCapacity);
  std::mt19937 random(7);
  std::map<char *, uint64_t> live;
  uint64_t used = 0;
  for (int step = 0; step < 30000; ++step) {
    bool allocate = live.empty() || (random() % 100 < 52 && used < kCapacity / 2);
    if (allocate) {
      uint64_t bytes = 1 + random() % (random() % 20 ? 8192 : 2000000);
      auto *p = static_cast<char *>(take(memory, bytes));
      ASSERT_TRUE(p);
      uint64_t size = memory.sizeOf(p);
      auto next = live.lower_bound(p);
      ASSERT_TRUE(next == live.end() || p + size <= next->first);
      ASSERT_TRUE(next == live.begin() || std::prev(next)->first + std::prev(next)->second <= p);
      live.emplace(p, size);
      used += size;
      std::memset(p, step, std::min<uint64_t>(size, 64));
      continue;
    }
    auto victim = std::next(live.begin(), random() % std::min<size_t>(live.size(), 50));
    ASSERT_EQ(memory.sizeOf(victim->first), victim->second);
    used -= victim->second;
    memory.release(victim->first);
    ASSERT_EQ(memory.sizeOf(victim->first), 0u);
    live.erase(victim);
    if (step % 5000 == 0)
      memory.trim();
  }
  for (auto &[p, size] : live)
    memory.release(p);
  // Everything has merged again: most of the mapped part fits one block.
  uint64_t resident = memory.residentBytes();
  ASSERT_TRUE(take(memory, resident - (1 << 20)));
  EXPECT_EQ(memory.residentBytes(), resident);
}

TEST(GlobalMemory, OnlyTheStartOfABlockHasASize) {
  GlobalMemory memory(kCapacity);
  auto *a = static_cast<char *>(take(memory, 512)), *b = static_cast<char *>(take(memory, 5000));
  EXPECT_EQ(memory.sizeOf(a + 1), 0u);
  EXPECT_EQ(memory.sizeOf(b + 512), 0u);
  EXPECT_EQ(memory.sizeOf(b + 4608), 0u) << "the last grain has the block's tag";
  // A start that has become the inside of another block.
  memory.release(a);
  memory.release(b);
  auto *c = static_cast<char *>(take(memory, 3000));
  EXPECT_EQ(c, a);
  EXPECT_EQ(memory.sizeOf(b), 0u);
  int local = 0;
  EXPECT_EQ(memory.sizeOf(&local), 0u);
  EXPECT_FALSE(memory.contains(&local));
  EXPECT_TRUE(memory.contains(c + 100));
}

TEST(GlobalMemory, AFreedBlockComesBackFirst) {
  GlobalMemory memory(kCapacity);
  void *a = take(memory, 16 << 20), *b = take(memory, 512);
  memory.release(a);
  EXPECT_EQ(take(memory, 16 << 20), a);
  (void)b;
}

TEST(GlobalMemory, TrimReturnsPagesAndKeepsBlocks) {
  GlobalMemory memory(kCapacity);
  auto *keep = static_cast<char *>(take(memory, 4096));
  void *big = take(memory, 64 << 20);
  std::memset(keep, 3, 4096);
  std::memset(big, 3, 64 << 20);
  uint64_t resident = memory.residentBytes();
  memory.release(big);
  EXPECT_GE(memory.residentBytes(), resident) << "freed memory is kept";
  memory.trim();
  EXPECT_LT(memory.residentBytes(), uint64_t(4) << 20);
  EXPECT_EQ(keep[4095], 3);
  auto *again = static_cast<char *>(take(memory, 64 << 20));
  EXPECT_EQ(again[1 << 20], 0) << "fresh pages";
  EXPECT_GE(memory.residentBytes(), uint64_t(64) << 20);
}

TEST(GlobalMemory, FullAndTooLarge) {
  GlobalMemory memory(uint64_t(8) << 20);
  const char *why = nullptr;
  EXPECT_EQ(memory.allocate((uint64_t(8) << 20) + 1, why), nullptr);
  ASSERT_TRUE(why);
  std::vector<void *> blocks;
  while (void *p = take(memory, 1 << 20))
    blocks.push_back(p);
  EXPECT_GE(blocks.size(), 8u);
  memory.release(blocks[3]);
  EXPECT_EQ(take(memory, 1 << 20), blocks[3]);
}

TEST(GlobalMemory, WritesOutsideABlockHurtNobodysTables) {
  GlobalMemory memory(kCapacity);
  std::vector<char *> blocks;
  for (int i = 0; i < 100; ++i)
    blocks.push_back(static_cast<char *>(take(memory, 1000)));
  std::memset(blocks[50] - 8192, 0xFF, 16384);
  for (char *p : blocks) {
    EXPECT_EQ(memory.sizeOf(p), 1024u);
    memory.release(p);
  }
  EXPECT_TRUE(take(memory, 90 * 1024));
}

} // namespace
