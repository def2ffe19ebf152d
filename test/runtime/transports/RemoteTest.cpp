// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The engine that kernels reach other hosts by, driven as the simulator drives it: from several
// threads of every PE at once. PEs are threads that reach each other over the network; runs under
// TSan.

#include "abi/KernelAbi.h"
#include "test/runtime/shmem/Jobs.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

using namespace piton;
using namespace piton::shmem;

namespace {

#define OK(call) ASSERT_EQ(call, ACLSHMEM_SUCCESS) << piton_last_error()

void run(int count, const std::function<void(World &)> &body) {
  if (!std::filesystem::exists(PITON_ROCE_LIBRARY))
    GTEST_SKIP() << "built without UCX";
  setenv("PITON_ROCE_LIBRARY", PITON_ROCE_LIBRARY, 1);
  setenv("PITON_SHMEM_FORCE_ROCE", "1", 1);
  test::ThreadJobOptions options;
  options.engines = ACLSHMEM_DATA_OP_ROCE;
  test::runThreads(count, body, options);
  unsetenv("PITON_SHMEM_FORCE_ROCE");
}

/// What the service of a block does.
RemoteStatus request(World &world, RemoteRequest &request) {
  const RemoteEngine &engine = *world.deviceState().remote;
  RemoteTicket *ticket = nullptr;
  RemoteStatus status = engine.start(engine.self, &request, &ticket);
  while (status == RemoteStatus::Pending) {
    sched_yield();
    status = engine.poll(engine.self, ticket, &request);
  }
  return status;
}

/// A request on one value; gives the old one.
uint64_t value(World &world, RemoteOp op, ElementType type, uint64_t bytes, uint64_t offset,
               uint64_t operand, uint32_t flags, uint64_t compare = 0) {
  RemoteRequest what = {};
  what.op = op;
  what.pe = 1 - world.pe();
  what.flags = flags;
  what.type = static_cast<uint32_t>(type);
  what.offset = offset;
  what.bytes = bytes;
  what.value = operand;
  what.compare = compare;
  EXPECT_EQ(request(world, what), RemoteStatus::Done);
  return what.result;
}

void quiet(World &world) {
  RemoteRequest what = {};
  what.op = RemoteOp::Quiet;
  what.pe = -1;
  EXPECT_EQ(request(world, what), RemoteStatus::Done);
}

char *allocate(World &world, uint64_t bytes) {
  auto *out = static_cast<char *>(world.allocate("malloc", bytes, 64, DEVICE_SIDE, true));
  EXPECT_TRUE(out) << piton_last_error();
  return out;
}

uint64_t offsetOf(World &world, const void *address) {
  return static_cast<uint64_t>(static_cast<const char *>(address) -
                               static_cast<char *>(world.deviceState().heapBase));
}

/// Atomic, since TSan does not see the order that the network makes.
uint64_t loadWord(const char *at, uint64_t bytes) {
  switch (bytes) {
  case 1:
    return __atomic_load_n(reinterpret_cast<const uint8_t *>(at), __ATOMIC_ACQUIRE);
  case 2:
    return __atomic_load_n(reinterpret_cast<const uint16_t *>(at), __ATOMIC_ACQUIRE);
  case 4:
    return __atomic_load_n(reinterpret_cast<const uint32_t *>(at), __ATOMIC_ACQUIRE);
  default:
    return __atomic_load_n(reinterpret_cast<const uint64_t *>(at), __ATOMIC_ACQUIRE);
  }
}

void onThreads(int count, const std::function<void(int)> &body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back(body, i);
  for (std::thread &thread : threads)
    thread.join();
}

} // namespace

TEST(Remote, BytesFromManyBlocks) {
  run(2, [](World &world) {
    constexpr uint64_t kBytes = 40000;
    constexpr int kBlocks = 4;
    char *box = allocate(world, kBlocks * kBytes);
    onThreads(kBlocks, [&](int block) {
      std::vector<char> mine(kBytes, static_cast<char>(16 * world.pe() + block)), back(kBytes);
      RemoteRequest what = {};
      what.pe = 1 - world.pe();
      what.offset = offsetOf(world, box) + static_cast<uint64_t>(block) * kBytes;
      what.bytes = kBytes;
      for (int round = 0; round < 20; ++round) {
        what.op = RemoteOp::Put;
        what.local = mine.data();
        what.flags = round % 2 ? kRemoteBlocking : 0;
        ASSERT_EQ(request(world, what), RemoteStatus::Done);
        if (round % 2 == 0)
          quiet(world);
        what.op = RemoteOp::Get;
        what.local = back.data();
        what.flags = round % 3 ? kRemoteBlocking : 0;
        ASSERT_EQ(request(world, what), RemoteStatus::Done);
        if (round % 3 == 0)
          quiet(world);
        ASSERT_EQ(mine, back);
      }
    });
    OK(world.barrier("barrier", kTeamWorld));
    for (int block = 0; block < kBlocks; ++block)
      EXPECT_EQ(box[static_cast<uint64_t>(block + 1) * kBytes - 1],
                static_cast<char>(16 * (1 - world.pe()) + block));
    OK(world.barrier("barrier", kTeamWorld));
  });
}

TEST(Remote, ValuesAndTheirOldOnes) {
  run(2, [](World &world) {
    char *box = allocate(world, 4096);
    uint64_t at = offsetOf(world, box);
    for (uint64_t bytes : {1, 2, 4, 8}) {
      uint64_t wanted = 0xFEDCBA9876543210u >> (64 - 8 * bytes);
      value(world, RemoteOp::Set, ElementType::I64, bytes, at, wanted, kRemoteOrdered);
      EXPECT_EQ(value(world, RemoteOp::Fetch, ElementType::I64, bytes, at, 0, kRemoteReturns),
                wanted);
    }
    for (ElementType type : {ElementType::I32, ElementType::I64}) {
      uint64_t bytes = type == ElementType::I32 ? 4 : 8, word = at + 64 + bytes;
      auto old = [&](RemoteOp op, uint64_t operand, uint64_t compare = 0) {
        return value(world, op, type, bytes, word, operand, kRemoteReturns, compare);
      };
      EXPECT_EQ(old(RemoteOp::Add, 12), 0u);
      EXPECT_EQ(old(RemoteOp::And, 6), 12u);
      EXPECT_EQ(old(RemoteOp::Or, 3), 4u);
      EXPECT_EQ(old(RemoteOp::Xor, 1), 7u);
      EXPECT_EQ(old(RemoteOp::Swap, 40), 6u);
      EXPECT_EQ(old(RemoteOp::CompareSwap, 50, 41), 40u);
      EXPECT_EQ(old(RemoteOp::CompareSwap, 60, 40), 40u);
      for (RemoteOp op : {RemoteOp::Or, RemoteOp::And, RemoteOp::Xor})
        value(world, op, type, bytes, word, 63, 0);
      quiet(world);
      EXPECT_EQ(old(RemoteOp::Fetch, 0), (60u | 63u) ^ 63u);
    }
    OK(world.barrier("barrier", kTeamWorld));
  });
}

TEST(Remote, NoAdditionIsLost) {
  run(2, [](World &world) {
    constexpr int kBlocks = 4, kAdds = 50;
    char *box = allocate(world, 4096);
    uint64_t at = offsetOf(world, box);
    struct {
      ElementType type;
      uint64_t bytes, one, sum;
    } cases[] = {
        {ElementType::I32, 4, 1, kBlocks * kAdds},
        {ElementType::I64, 8, uint64_t(1) << 40, uint64_t(kBlocks * kAdds) << 40},
        {ElementType::I8, 1, 1, kBlocks * kAdds},
        {ElementType::I16, 2, 0xFFFF, 0x10000 - kBlocks * kAdds},
        {ElementType::F32, 4, std::bit_cast<uint32_t>(0.5f),
         std::bit_cast<uint32_t>(0.5f * kBlocks * kAdds)},
        {ElementType::F16, 2, 0x3C00, 0x5A40},  // 1 and 200
        {ElementType::BF16, 2, 0x3F80, 0x4348}, // 1 and 200
    };
    onThreads(kBlocks, [&](int block) {
      for (int i = 0; i < kAdds; ++i)
        for (size_t c = 0; c < std::size(cases); ++c)
          value(world, RemoteOp::Add, cases[c].type, cases[c].bytes, at + 64 * c, cases[c].one,
                (i + block) % 2 ? kRemoteReturns : 0);
    });
    quiet(world);
    OK(world.barrier("barrier", kTeamWorld));
    for (size_t c = 0; c < std::size(cases); ++c) {
      EXPECT_EQ(loadWord(box + 64 * c, cases[c].bytes), cases[c].sum) << "case " << c;
    }
    OK(world.barrier("barrier", kTeamWorld));
  });
}

TEST(Remote, ASignalComesAfterTheDataThatWasPutBeforeIt) {
  run(2, [](World &world) {
    constexpr uint64_t kBytes = 300000;
    char *box = allocate(world, kBytes);
    auto *word = reinterpret_cast<int32_t *>(allocate(world, 64));
    std::vector<char> mine(kBytes);
    for (int round = 1; round <= 20; ++round) {
      std::memset(mine.data(), round, kBytes);
      RemoteRequest put = {};
      put.op = RemoteOp::Put;
      put.pe = 1 - world.pe();
      put.offset = offsetOf(world, box);
      put.local = mine.data();
      put.bytes = kBytes;
      ASSERT_EQ(request(world, put), RemoteStatus::Done);
      value(world, RemoteOp::Set, ElementType::I32, 4, offsetOf(world, word),
            static_cast<uint64_t>(round), kRemoteOrdered | (round % 2 ? kRemoteBlocking : 0));
      while (__atomic_load_n(word, __ATOMIC_ACQUIRE) != round)
        sched_yield();
      EXPECT_EQ(box[0], static_cast<char>(round));
      EXPECT_EQ(box[kBytes - 1], static_cast<char>(round));
      quiet(world);
      OK(world.barrier("barrier", kTeamWorld));
    }
  });
}

TEST(Remote, WhoStopsWaitingGivesTheTicketBack) {
  run(2, [](World &world) {
    char *box = allocate(world, 1 << 18);
    std::vector<char> mine(1 << 18, 7);
    const RemoteEngine &engine = *world.deviceState().remote;
    for (int round = 0; round < 50; ++round) {
      RemoteRequest what = {};
      what.op = round % 2 ? RemoteOp::Put : RemoteOp::Add;
      what.pe = 1 - world.pe();
      what.flags = kRemoteBlocking;
      what.type = static_cast<uint32_t>(ElementType::F32);
      what.offset = offsetOf(world, box);
      what.local = mine.data();
      what.bytes = round % 2 ? mine.size() : 4;
      RemoteTicket *ticket = nullptr;
      if (engine.start(engine.self, &what, &ticket) == RemoteStatus::Pending)
        engine.abandon(engine.self, ticket);
    }
    quiet(world);
    OK(world.barrier("barrier", kTeamWorld));
    EXPECT_EQ(box[(1 << 18) - 1], 7);
    OK(world.barrier("barrier", kTeamWorld));
  });
}
