// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rings themselves: layout, order of steps, wrap, completions, and the engines behind them with
// the test in the place of device code.

#include "runtime/transports/sdma/Sdma.h"
#include "runtime/transports/udma/Udma.h"

#include "include/piton/runtime.h"
#include "include/piton/shmem.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

using namespace piton;
using namespace piton::shmem;

namespace {

#define OK(call) ASSERT_EQ(call, ACLSHMEM_SUCCESS) << piton_last_error()

/// A queue pair without an engine.
struct BareQueue {
  explicit BareQueue(uint32_t depth) : blocks(depth * kUdmaBlockBytes), entries(depth) {
    send.buffer = reinterpret_cast<uint64_t>(blocks.data());
    send.blockBytes = kUdmaBlockBytes;
    send.depth = depth;
    send.doorbell = reinterpret_cast<uint64_t>(&doorbell);
    queue.buffer = reinterpret_cast<uint64_t>(entries.data());
    queue.depth = depth;
    queue.doorbellMode = UdmaDoorbellMode::Software;
    queue.doorbell = reinterpret_cast<uint64_t>(&completionDoorbell);
    table.send = &send;
    table.completions = &queue;
    table.count = 1;
  }
  const UdmaEntry &entry(uint32_t index) const {
    return *reinterpret_cast<const UdmaEntry *>(&blocks[(index % send.depth) * kUdmaBlockBytes]);
  }
  const UdmaSge &element(uint32_t index) const {
    return *reinterpret_cast<const UdmaSge *>(
        &blocks[(index % send.depth) * kUdmaBlockBytes + sizeof(UdmaEntry)]);
  }
  /// As the engine does.
  void complete(uint32_t taken, uint8_t status = kUdmaOk) {
    UdmaCompletion &completion = entries[queue.head % queue.depth];
    completion.status = status;
    completion.blocks = taken;
    __atomic_store_n(&completion.owner, (queue.head / queue.depth) % 2 == 0 ? 1u : 0u,
                     __ATOMIC_RELEASE);
    ++queue.head;
  }

  std::vector<char> blocks;
  std::vector<UdmaCompletion> entries;
  UdmaWorkQueue send = {};
  UdmaCompletionQueue queue = {};
  UdmaQueueTable table = {};
  uint32_t doorbell = 0, completionDoorbell = 0;
};

void noTrace(UdmaStep, const void *) {}

DeviceState &newState(int peCount) {
  static DeviceState state;
  std::memset(static_cast<void *>(&state), 0, sizeof(state));
  state.peCount = peCount;
  return state;
}

} // namespace

TEST(Udma, AnEntryIsPostedInTheOrderOfTheHardware) {
  BareQueue bare(16);
  UdmaRequest request{UdmaOpcode::Write, 3, 0x1000, 0x2000, 77, {}};
  std::vector<UdmaStep> steps;
  udmaPost(bare.table, 0, request, [&](UdmaStep step, const void *address) {
    // After each step its own work is there and that of the later ones is not.
    steps.push_back(step);
    const UdmaEntry &entry = bare.entry(0);
    const UdmaSge &element = bare.element(0);
    EXPECT_EQ(entry.opcode, step >= UdmaStep::Entry ? UdmaOpcode::Write : UdmaOpcode::Send);
    EXPECT_EQ(entry.remote, step >= UdmaStep::Entry ? 0x1000u : 0u);
    EXPECT_EQ(element.length, step >= UdmaStep::Element ? 77u : 0u);
    EXPECT_EQ(element.local, step >= UdmaStep::Element ? 0x2000u : 0u);
    EXPECT_EQ(bare.doorbell, step >= UdmaStep::Doorbell ? 1u : 0u);
    if (step == UdmaStep::Fetch)
      EXPECT_EQ(address, &bare.send);
    if (step == UdmaStep::Slot)
      EXPECT_EQ(address, bare.blocks.data());
    if (step == UdmaStep::Doorbell)
      EXPECT_EQ(address, &bare.doorbell);
  });
  EXPECT_EQ(steps, (std::vector<UdmaStep>{UdmaStep::Fetch, UdmaStep::Slot, UdmaStep::Entry,
                                          UdmaStep::Element, UdmaStep::Flush, UdmaStep::Doorbell}));
  EXPECT_EQ(bare.entry(0).flags, 0b00100000);
  EXPECT_EQ(bare.entry(0).owner, 1);
  EXPECT_EQ(bare.entry(0).transport, 3u);
}

TEST(Udma, TheOwnerBitFlipsWithEveryPassAndTwoBlocksMaySpanTheEnd) {
  BareQueue bare(16);
  UdmaRequest one{UdmaOpcode::Write, 0, 1, 2, 3, {}};
  UdmaRequest two{UdmaOpcode::FetchAdd, 0, 8, 0, 4, {}};
  two.operand.value = 0x55;
  for (int i = 0; i < 15; ++i)
    udmaPost(bare.table, 0, one, noTrace);
  udmaPost(bare.table, 0, two, noTrace); // blocks 15 and 0
  EXPECT_EQ(bare.send.head, 17u);
  EXPECT_EQ(bare.send.entries, 16u);
  EXPECT_EQ(bare.entry(15).owner, 1);
  EXPECT_EQ(bare.entry(15).blocks, 2);
  EXPECT_EQ(reinterpret_cast<UdmaOperand *>(bare.blocks.data())->value, 0x55u);
  udmaPost(bare.table, 0, one, noTrace);
  EXPECT_EQ(bare.entry(17).owner, 0) << "second pass";
}

TEST(Udma, CompletionsAreTakenWhenTheyAreValid) {
  BareQueue bare(16);
  UdmaRequest one{UdmaOpcode::Write, 0, 1, 2, 3, {}};
  for (uint32_t i = 0; i < 40; ++i) { // two passes and a half
    udmaPost(bare.table, 0, one, noTrace);
    EXPECT_EQ(udmaPoll(bare.send, bare.queue, 100), kUdmaOk);
    EXPECT_EQ(bare.send.tail, i) << "not completed yet";
    bare.complete(1);
    EXPECT_EQ(udmaPoll(bare.send, bare.queue, 100), kUdmaOk);
    EXPECT_EQ(bare.send.tail, i + 1);
    EXPECT_EQ(bare.completionDoorbell, i + 1);
  }
  for (int i = 0; i < 5; ++i)
    udmaPost(bare.table, 0, one, noTrace);
  for (uint8_t status : {kUdmaOk, kUdmaBadLength, kUdmaOk, kUdmaBadOpcode, kUdmaOk})
    bare.complete(1, status);
  EXPECT_EQ(udmaPoll(bare.send, bare.queue, 4), kUdmaBadLength) << "the first failure";
  EXPECT_EQ(bare.send.tail, 44u) << "no more than asked for";
}

TEST(Udma, TheEngineStartsAtTheDoorbellAndNotBefore) {
  auto transport = UdmaTransport::create(newState(2), [](const void *) {});
  ASSERT_TRUE(transport) << piton_last_error();
  std::atomic<uint64_t> target{0};
  uint64_t source = 42;
  std::vector<UdmaStep> steps;
  transport->trace = [&](UdmaStep step, const void *) {
    steps.push_back(step);
    if (step == UdmaStep::Doorbell)
      return;
    std::this_thread::sleep_for(std::chrono::milliseconds(8)); // longer than the engine's nap
    EXPECT_EQ(target.load(), 0u) << "after step " << static_cast<int>(step);
  };
  OK(transport->put({1, &target, 0, false, &source, sizeof(source)}));
  OK(transport->quiet(1));
  EXPECT_EQ(target.load(), 42u);
  EXPECT_EQ(steps.size(), 6u);
  EXPECT_TRUE(std::is_sorted(steps.begin(), steps.end()));
}

TEST(Udma, QueuesWrapUnderLoad) {
  // 80000 blocks through a ring of 32768, the completions as often.
  auto transport = UdmaTransport::create(newState(2), [](const void *) {});
  ASSERT_TRUE(transport) << piton_last_error();
  int32_t word = 0;
  for (int i = 0; i < 40000; ++i)
    OK(transport->signal({1, &word, 0, false, 1, kSignalAdd}));
  OK(transport->quiet(kAllPes));
  EXPECT_EQ(word, 40000);
}

TEST(Udma, DeviceQueuesAreApartFromTheHosts) {
  DeviceState &state = newState(2);
  auto transport = UdmaTransport::create(state, [](const void *) {});
  ASSERT_TRUE(transport) << piton_last_error();
  auto &table = *reinterpret_cast<UdmaQueueTable *>(state.queueInfo);
  EXPECT_EQ(table.count, 2u);
  UdmaWorkQueue &send = table.send[1];
  UdmaCompletionQueue &queue = table.completions[1];
  auto drain = [&] {
    uint8_t status = kUdmaOk;
    while (send.tail != send.head)
      if (uint8_t found = udmaPoll(send, queue, kUdmaPollBatch))
        status = found;
    return status;
  };
  auto post = [&](UdmaOpcode opcode, uint64_t *remote, uint64_t *local, uint32_t bytes,
                  uint64_t value = 0, uint64_t compare = 0) {
    UdmaRequest request{
        opcode, 1, reinterpret_cast<uint64_t>(remote), reinterpret_cast<uint64_t>(local),
        bytes,  {}};
    request.operand.value = value;
    request.operand.compare = compare;
    udmaPost(table, 1, request, noTrace);
    return drain();
  };
  uint64_t there = 0, here = 9, note = 0;
  auto old = [&] { return *reinterpret_cast<uint64_t *>(send.atomicResult); };
  EXPECT_EQ(post(UdmaOpcode::Write, &there, &here, 8), kUdmaOk);
  EXPECT_EQ(there, 9u);
  EXPECT_EQ(post(UdmaOpcode::FetchAdd, &there, nullptr, 8, 5), kUdmaOk);
  EXPECT_EQ(old(), 9u);
  EXPECT_EQ(post(UdmaOpcode::Swap, &there, nullptr, 8, 1), kUdmaOk);
  EXPECT_EQ(old(), 14u);
  EXPECT_EQ(post(UdmaOpcode::CompareSwap, &there, nullptr, 8, 7, 2), kUdmaOk);
  EXPECT_EQ(there, 1u) << "differs from the comparand";
  EXPECT_EQ(post(UdmaOpcode::CompareSwap, &there, nullptr, 8, 7, 1), kUdmaOk);
  EXPECT_EQ(there, 7u);
  EXPECT_EQ(post(UdmaOpcode::Store, &there, nullptr, 4, 3), kUdmaOk);
  EXPECT_EQ(post(UdmaOpcode::Load, &there, nullptr, 8), kUdmaOk);
  EXPECT_EQ(old(), 3u);
  EXPECT_EQ(post(UdmaOpcode::Read, &there, &here, 8), kUdmaOk);
  EXPECT_EQ(here, 3u);
  EXPECT_EQ(post(UdmaOpcode::Nop, nullptr, nullptr, 0), kUdmaOk);
  UdmaRequest notify{UdmaOpcode::WriteNotify,           1, reinterpret_cast<uint64_t>(&there),
                     reinterpret_cast<uint64_t>(&here), 8, {}};
  notify.operand.value = 77;
  notify.operand.notify = reinterpret_cast<uint64_t>(&note);
  udmaPost(table, 1, notify, noTrace);
  EXPECT_EQ(drain(), kUdmaOk);
  EXPECT_EQ(note, 77u);
  EXPECT_EQ(post(UdmaOpcode::Send, &there, &here, 8), kUdmaBadOpcode);
  EXPECT_EQ(post(UdmaOpcode::FetchAdd, &there, nullptr, 3), kUdmaBadLength);
  EXPECT_EQ(post(UdmaOpcode::Write, &there, &here, 8), kUdmaOk) << "the queue goes on";
}

TEST(Udma, StateIsClearedWithTheEngine) {
  DeviceState &state = newState(1);
  {
    auto transport = UdmaTransport::create(state, [](const void *) {});
  }
  {
    auto transport = SdmaTransport::create(state, [](const void *) {});
  }
  EXPECT_EQ(state.queueInfo, 0u);
  EXPECT_EQ(state.sdmaWorkspace, 0u);
}

//===-- SDMA --------------------------------------------------------------------------------===//

TEST(Sdma, AnEntryHasTheHardwaresForm) {
  SdmaEntry ring[4] = {};
  uint32_t doorbell = 0;
  SdmaChannel channel = {};
  channel.entries = reinterpret_cast<uint64_t>(ring);
  channel.doorbell = reinterpret_cast<uint64_t>(&doorbell);
  channel.depth = 4;
  for (uint64_t i = 0; i < 6; ++i) {
    channel.head = channel.tail;
    sdmaFill(channel, reinterpret_cast<void *>(0x100 + i), reinterpret_cast<void *>(0x200 + i), i);
    EXPECT_EQ(doorbell, i) << "rung too early";
    sdmaRing(channel);
    EXPECT_EQ(doorbell, i + 1);
    const SdmaEntry &entry = ring[i % 4];
    EXPECT_EQ(entry.type, 11);
    EXPECT_EQ(entry.qos, 6);
    EXPECT_EQ(entry.credit, 240);
    EXPECT_EQ(entry.linkType, 255);
    EXPECT_EQ(entry.taskId, i);
    EXPECT_EQ(entry.source, 0x100 + i);
    EXPECT_EQ(entry.destination, 0x200 + i);
    EXPECT_EQ(entry.length, i);
  }
  channel.head = channel.tail - 3;
  EXPECT_TRUE(sdmaHasRoom(channel));
  channel.head = channel.tail - 4;
  EXPECT_FALSE(sdmaHasRoom(channel));
}

TEST(Sdma, CoresHaveChannelsAndFlagsOfTheirOwn) {
  DeviceState &state = newState(1);
  auto transport = SdmaTransport::create(state, [](const void *) {});
  ASSERT_TRUE(transport) << piton_last_error();
  auto &workspace = *reinterpret_cast<SdmaWorkspace *>(state.sdmaWorkspace);
  std::vector<std::thread> cores;
  std::vector<std::vector<int>> targets(8, std::vector<int>(3000));
  for (uint32_t core = 0; core < 8; ++core)
    cores.emplace_back([&, core] {
      SdmaChannel &channel = workspace.channels[sdmaChannelOf(core)];
      SdmaFlags &flags = workspace.coreFlags[sdmaChannelOf(core)];
      std::vector<int> values(3000);
      std::iota(values.begin(), values.end(), static_cast<int>(core));
      for (size_t i = 0; i < values.size(); ++i) {
        while (!sdmaHasRoom(channel))
          std::this_thread::yield();
        sdmaFill(channel, &values[i], &targets[core][i], sizeof(int));
        sdmaRing(channel);
      }
      while (!sdmaHasRoom(channel))
        std::this_thread::yield();
      ++flags.next;
      sdmaFill(channel, &flags.next, &flags.seen, 8);
      sdmaRing(channel);
      while (__atomic_load_n(&flags.seen, __ATOMIC_ACQUIRE) != flags.next)
        std::this_thread::yield();
      EXPECT_EQ(targets[core], values);
    });
  for (std::thread &core : cores)
    core.join();
}

TEST(Sdma, ManyHostThreadsShareTheHostsChannel) {
  auto transport = SdmaTransport::create(newState(1), [](const void *) {});
  ASSERT_TRUE(transport) << piton_last_error();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      std::vector<int> source(2000, t + 1), target(2000);
      for (size_t i = 0; i < source.size(); ++i)
        OK(transport->put({0, &target[i], 0, false, &source[i], sizeof(int)}));
      OK(transport->quiet(0));
      EXPECT_EQ(target, source);
    });
  for (std::thread &thread : threads)
    thread.join();
}
