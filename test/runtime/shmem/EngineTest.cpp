// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The engines behind one interface: the same program over each, and what is particular to one:
// rings that wrap, split copies, the order of a doorbell's steps, failed completions. Runs under
// TSan.

#include "test/runtime/shmem/Jobs.h"

#include "runtime/transports/sdma/Sdma.h"
#include "runtime/transports/udma/Udma.h"

#include <gtest/gtest.h>

#include <cstring>
#include <sys/mman.h>

using namespace piton;
using namespace piton::shmem;

namespace {

#define OK(call) ASSERT_EQ(call, ACLSHMEM_SUCCESS) << piton_last_error()

/// A state for an engine without a job; the "peers" are this process.
struct Alone {
  Alone() {
    state = static_cast<DeviceState *>(mmap(nullptr, kDeviceStateBytes, PROT_READ | PROT_WRITE,
                                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    state->peCount = 2;
  }
  ~Alone() { munmap(state, kDeviceStateBytes); }
  DeviceState *state;
};

Transfer transfer(void *remote, void *local, uint64_t bytes) {
  return {
      .pe = 1, .remote = remote, .offset = 0, .hostHeap = false, .local = local, .bytes = bytes};
}

class Engines : public testing::TestWithParam<uint32_t> {};

} // namespace

TEST_P(Engines, TheSameProgramRuns) {
  test::ThreadJobOptions options;
  options.engines = GetParam();
  options.heapBytes = 16 << 20;
  test::runThreads(
      3,
      [&](World &world) {
        constexpr size_t bytes = (3 << 20) + 13; // three entries of SDMA and a bit
        auto *buffer = static_cast<char *>(world.allocate("malloc", bytes, 64, DEVICE_SIDE, true));
        auto *word = static_cast<int32_t *>(world.allocate("malloc", 64, 64, DEVICE_SIDE, true));
        ASSERT_TRUE(buffer && word) << piton_last_error();
        int next = (world.pe() + 1) % 3, previous = (world.pe() + 2) % 3;
        uint8_t bits = world.deviceState().transports[next];
        EXPECT_EQ((bits & kTransportSdma) != 0, (options.engines & ACLSHMEM_DATA_OP_SDMA) != 0);
        EXPECT_EQ((bits & kTransportUdma) != 0, (options.engines & ACLSHMEM_DATA_OP_UDMA) != 0);
        EXPECT_TRUE(bits & kTransportMte);
        std::vector<char> mine(bytes), back(bytes);
        for (int round = 1; round <= 5; ++round) {
          std::fill(mine.begin(), mine.end(), static_cast<char>(10 * world.pe() + round));
          OK(world.put("put", buffer, mine.data(), bytes, next, false));
          // Who sees the signal sees the data, with SET as with ADD.
          OK(world.signal("signal", word, round % 2 ? 1 : round,
                          round % 2 ? kSignalAdd : kSignalSet, next));
          auto ready = [&] { return __atomic_load_n(word, __ATOMIC_ACQUIRE) == round; };
          OK(world.waitOn({.call = "wait", .word = word, .wanted = round}, ready));
          EXPECT_EQ(buffer[0], static_cast<char>(10 * previous + round));
          EXPECT_EQ(buffer[bytes - 1], static_cast<char>(10 * previous + round));
          OK(world.get("get", back.data(), buffer, bytes, next, true));
          EXPECT_EQ(std::memcmp(back.data(), mine.data(), bytes), 0);
          OK(world.barrier("barrier", kTeamWorld));
        }
        // To oneself, and an order between the engines: the last of two puts stays.
        int32_t one = 1, two = 2;
        OK(world.put("put", word, &one, 4, world.pe(), false));
        OK(world.fence());
        OK(world.putOne("p", word, &two, 4, world.pe()));
        OK(world.quiet());
        EXPECT_EQ(*word, 2);
        OK(world.barrier("barrier", kTeamWorld));
      },
      options);
}

TEST_P(Engines, ManySmallTransfersOverrunTheRing) {
  test::ThreadJobOptions options;
  options.engines = GetParam();
  test::runThreads(
      2,
      [&](World &world) {
        constexpr int count = 6000;
        auto *words = static_cast<int32_t *>(
            world.allocate("malloc", count * sizeof(int32_t), 64, DEVICE_SIDE, true));
        ASSERT_TRUE(words) << piton_last_error();
        std::vector<int32_t> values(count);
        for (int i = 0; i < count; ++i) {
          values[static_cast<size_t>(i)] = i + world.pe();
          OK(world.put("put", words + i, &values[static_cast<size_t>(i)], 4, 1 - world.pe(),
                       false));
        }
        OK(world.barrier("barrier", kTeamWorld));
        for (int i = 0; i < count; ++i)
          ASSERT_EQ(words[i], i + 1 - world.pe());
        OK(world.barrier("barrier", kTeamWorld));
      },
      options);
}

INSTANTIATE_TEST_SUITE_P(All, Engines,
                         testing::Values(ACLSHMEM_DATA_OP_MTE,
                                         ACLSHMEM_DATA_OP_MTE | ACLSHMEM_DATA_OP_SDMA,
                                         ACLSHMEM_DATA_OP_UDMA,
                                         ACLSHMEM_DATA_OP_SDMA | ACLSHMEM_DATA_OP_UDMA));

TEST(Udma, StepsOfAPostAreInTheHardwaresOrder) {
  Alone alone;
  auto engine = UdmaTransport::create(*alone.state, [](const void *) {});
  ASSERT_TRUE(engine) << piton_last_error();
  auto &table = *reinterpret_cast<UdmaQueueTable *>(alone.state->queueInfo);
  UdmaWorkQueue &send = table.send[1];
  int from = 77, to = 0;
  std::vector<int> steps;
  engine->trace = [&](int step) {
    steps.push_back(step);
    const auto &entry = *reinterpret_cast<const UdmaEntry *>(send.buffer);
    const auto &sge = *reinterpret_cast<const UdmaSge *>(send.buffer + sizeof(UdmaEntry));
    uint32_t doorbell =
        __atomic_load_n(reinterpret_cast<uint32_t *>(send.doorbell), __ATOMIC_RELAXED);
    // The engine has no reason to look before the last step.
    EXPECT_EQ(entry.opcode == UdmaOpcode::Write, step >= 2) << step;
    EXPECT_EQ(sge.length == 4, step >= 3) << step;
    EXPECT_EQ(doorbell, step >= 5 ? 1u : 0u) << step;
    EXPECT_EQ(send.head, step >= 5 ? 1u : 0u) << step;
  };
  OK(engine->put(transfer(&to, &from, 4)));
  engine->trace = nullptr;
  OK(engine->quiet(kAllPes));
  EXPECT_EQ(steps, (std::vector<int>{1, 2, 3, 4, 5}));
  EXPECT_EQ(to, 77);
  EXPECT_EQ(send.tail, 1u);
  EXPECT_EQ(table.completions[1].tail, 1u);
  EXPECT_EQ(*reinterpret_cast<uint32_t *>(table.completions[1].doorbell), 1u);
}

TEST(Udma, QueuesAndOwnerBitsWrap) {
  Alone alone;
  auto engine = UdmaTransport::create(*alone.state, [](const void *) {});
  ASSERT_TRUE(engine);
  int32_t sum = 0;
  constexpr int kPosts = 40000; // two blocks each: the ring wraps twice
  for (int i = 0; i < kPosts; ++i)
    OK(engine->signal({1, &sum, 0, false, 1, kSignalAdd}));
  OK(engine->quiet(1));
  EXPECT_EQ(sum, kPosts);
  EXPECT_GT(reinterpret_cast<UdmaQueueTable *>(alone.state->queueInfo)->send[1].head,
            2 * kUdmaSendDepth);
}

TEST(Udma, AFailedCompletionIsAnError) {
  Alone alone;
  auto engine = UdmaTransport::create(*alone.state, [](const void *) {});
  ASSERT_TRUE(engine);
  auto &table = *reinterpret_cast<UdmaQueueTable *>(alone.state->queueInfo);
  udmaPost(table.send[1], {UdmaOpcode::Send, 1, 0, 0, 4, {}}, [](int) {});
  EXPECT_EQ(engine->quiet(1), ACLSHMEM_INNER_ERROR);
  EXPECT_NE(std::string(piton_last_error()).find("PE 1 failed with status 1"), std::string::npos);
  OK(engine->quiet(1));
}

TEST(Sdma, LongCopiesAreSplitAndTheRingWraps) {
  Alone alone;
  auto engine = SdmaTransport::create(*alone.state, [](const void *) {});
  ASSERT_TRUE(engine) << piton_last_error();
  auto &workspace = *reinterpret_cast<SdmaWorkspace *>(alone.state->sdmaWorkspace);
  SdmaChannel &channel = workspace.channels[kSdmaHostChannel];
  std::vector<char> from(2 * kSdmaMaxBytes + 1, 'x'), to(from.size());
  OK(engine->put(transfer(to.data(), from.data(), from.size())));
  EXPECT_EQ(channel.tail, 3u);
  const auto *entries = reinterpret_cast<SdmaEntry *>(channel.entries);
  EXPECT_EQ(entries[0].length, kSdmaMaxBytes);
  EXPECT_EQ(entries[2].length, 1u);
  EXPECT_EQ(entries[1].type, kSdmaTypeCopy);
  OK(engine->quiet(kAllPes));
  EXPECT_EQ(from, to);
  for (uint32_t i = 0; i < 3 * kSdmaDepth; ++i)
    OK(engine->put(transfer(to.data(), from.data(), 8)));
  OK(engine->quiet(kAllPes));
  EXPECT_GT(channel.tail, 3 * kSdmaDepth);
  EXPECT_EQ(channel.head, channel.tail);
}

TEST(Sdma, ACoresChannelWorksWithoutARing) {
  // A producer that only stores to its doorbell is served all the same.
  Alone alone;
  auto engine = SdmaTransport::create(*alone.state, [](const void *) {});
  ASSERT_TRUE(engine);
  auto &workspace = *reinterpret_cast<SdmaWorkspace *>(alone.state->sdmaWorkspace);
  SdmaChannel &channel = workspace.channels[5];
  uint64_t from = 42, *flag = workspace.coreFlags[5];
  std::this_thread::sleep_for(std::chrono::milliseconds(20)); // it sleeps
  ASSERT_TRUE(sdmaHasRoom(channel));
  sdmaFill(channel, &from, flag, 8);
  sdmaRing(channel);
  for (int i = 0; i < 2000 && __atomic_load_n(flag, __ATOMIC_ACQUIRE) != 42; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(*flag, 42u);
}
