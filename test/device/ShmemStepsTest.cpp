// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The device functions against the documented order of steps, traced (TracedWorld.h).
#include "test/device/TracedWorld.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

using namespace piton;
using namespace piton::traced;

namespace {

TEST(ShmemSteps, IdentityIsTheState) {
  World world(3);
  TracedCore core = world.core(2);
  runOn(core, [&] {
    EXPECT_EQ(myPe(), 2);
    EXPECT_EQ(peCount(), 3);
    EXPECT_EQ(teamMyPe(0), 2);
    EXPECT_EQ(teamPeCount(0), 3);
    EXPECT_EQ(teamMyPe(1), -1);
    EXPECT_EQ(teamMyPe(-1), -1);
    EXPECT_EQ(teamMyPe(kMaxTeams), -1);
    EXPECT_EQ(teamTranslatePe(0, 1, 0), 1);
    EXPECT_EQ(teamTranslatePe(0, 3, 0), -1);
  });
}

TEST(ShmemSteps, AddressIsOffsetPlusRemoteHeap) {
  World world(2);
  TracedCore core = world.core(0);
  runOn(core, [&] {
    EXPECT_EQ(ptr(world.at<float>(0, 256), 1), world.at<float>(1, 256));
    EXPECT_EQ(ptr(world.at<float>(0, 256), 0), world.at<float>(0, 256));
  });
}

TEST(ShmemSteps, WrongCallsAreErrors) {
  World world(2);
  TracedCore core = world.core(0);
  runOn(core, [&] {
    auto errorOf = [](auto call) {
      try {
        call();
      } catch (const DeviceFailure &failure) {
        return failure.error;
      }
      return DeviceError{};
    };
    int32_t outside = 0;
    int32_t *word = world.at<int32_t>(0, 0);
    EXPECT_EQ(errorOf([&] { ptr(word, 2); }), DeviceError::PeOutOfRange);
    EXPECT_EQ(errorOf([&] { ptr(word, -1); }), DeviceError::PeOutOfRange);
    EXPECT_EQ(errorOf([&] { ptr(&outside, 1); }), DeviceError::NotSymmetric);
    // Another PE's heap is not this PE's.
    EXPECT_EQ(errorOf([&] { ptr(world.at<int32_t>(1, 0), 1); }), DeviceError::NotSymmetric);
    // A length counts from the first byte to the end of the heap; a negative one is a huge one.
    int32_t local[4] = {};
    uint64_t rest = core.state->heapBytes;
    EXPECT_EQ(errorOf([&] { put(word, local, rest + 1, 1); }), DeviceError::OutsideHeap);
    EXPECT_EQ(errorOf([&] { get(local, word + 1, rest, 1); }), DeviceError::OutsideHeap);
    EXPECT_EQ(errorOf([&] { put(word, local, -4, 1); }), DeviceError::OutsideHeap);
    EXPECT_EQ(errorOf([&] { signalOp(word, 1, 2, 1); }), DeviceError::BadSignalOp);
    EXPECT_EQ(errorOf([&] { waitUntil(word, 6, 1); }), DeviceError::BadCompare);
    EXPECT_EQ(errorOf([&] { barrier(7); }), DeviceError::BadTeam);
    barrier(kTeamInvalid); // does nothing
  });
}

TEST(ShmemSteps, SignalSetStoresThenWritesTheLineBack) {
  World world(2);
  TracedCore core = world.core(0);
  runOn(core, [&] { signalSet(world.at<int32_t>(0, 64), 7, 1); });
  EXPECT_EQ(*world.at<int32_t>(1, 64), 7);
  EXPECT_EQ(*world.at<int32_t>(0, 64), 0);
  EXPECT_EQ(stepsOf(core), (std::vector<Step>{Step::ScalarStore, Step::CacheLine}));
  EXPECT_EQ(core.events[core.events.size() - 2].address, world.at<int32_t>(1, 64));
  EXPECT_EQ(core.events.back().address, world.at<int32_t>(1, 64));
}

TEST(ShmemSteps, SignalAddGoesThroughLocalMemoryInAtomicMode) {
  World world(2);
  TracedCore core = world.core(0);
  *world.at<int32_t>(1, 64) = 5;
  runOn(core, [&] { signalAdd(world.at<int32_t>(0, 64), 7, 1); });
  EXPECT_EQ(*world.at<int32_t>(1, 64), 12);
  EXPECT_EQ(stepsOf(core), (std::vector<Step>{Step::PipeBarrier, Step::ScalarToUb, Step::SetFlag,
                                              Step::WaitFlag, Step::AtomicAddOn, Step::CopyUbToGm,
                                              Step::Atomic, Step::AtomicOff, Step::PipeBarrier}));
}

TEST(ShmemSteps, PointPutDrainsStoresAndWritesBack) {
  World world(2);
  TracedCore core = world.core(0);
  runOn(core, [&] { p(world.at<int64_t>(0, 128), int64_t(-3), 1); });
  EXPECT_EQ(*world.at<int64_t>(1, 128), -3);
  EXPECT_EQ(stepsOf(core),
            (std::vector<Step>{Step::PipeBarrier, Step::ScalarStore, Step::CacheLine}));
}

TEST(ShmemSteps, PutSignalOrdersDataBeforeSignal) {
  World world(2);
  TracedCore core = world.core(0);
  std::memset(world.at<char>(0, 1024), 42, 1000);
  runOn(core, [&] {
    putSignal(world.at<char>(0, 4096), world.at<char>(0, 1024), 1000, world.at<int32_t>(0, 0), 9,
              kSignalSet, 1);
  });
  EXPECT_EQ(std::memcmp(world.at<char>(1, 4096), world.at<char>(0, 1024), 1000), 0);
  EXPECT_EQ(*world.at<int32_t>(1, 0), 9);
  std::vector<Step> steps = stepsOf(core);
  auto copy = std::find(steps.begin(), steps.end(), Step::CopyGmToGm);
  auto drain = std::find(copy, steps.end(), Step::PipeBarrier);
  auto store = std::find(steps.begin(), steps.end(), Step::ScalarStore);
  ASSERT_NE(drain, steps.end());
  EXPECT_LT(drain, store);
}

TEST(ShmemSteps, WaitInvalidatesBeforeEveryReadAndWritesNothing) {
  World world(1);
  TracedCore core = world.core(0);
  int32_t *word = world.at<int32_t>(0, 0);
  int rounds = 0;
  core.onWait = [&] { *word = ++rounds == 3 ? 5 : 0; };
  int32_t seen = 0;
  runOn(core, [&] { seen = waitUntil(word, kCompareEq, 5); });
  EXPECT_EQ(seen, 5);
  EXPECT_EQ(core.waits, 3);
  std::vector<Step> steps = stepsOf(core);
  for (size_t i = 0; i < steps.size(); ++i) {
    EXPECT_NE(steps[i], Step::ScalarStore);
    if (steps[i] == Step::ScalarLoad) {
      ASSERT_GT(i, 0u);
      EXPECT_EQ(steps[i - 1], Step::CacheLine);
    }
  }
  EXPECT_EQ(*word, 5); // not consumed
}

TEST(ShmemSteps, SixPredicates) {
  World world(1);
  TracedCore core = world.core(0);
  runOn(core, [&] {
    int32_t *word = world.at<int32_t>(0, 0);
    *word = -2;
    for (int32_t value : {-3, -2, -1}) {
      EXPECT_EQ(test(word, kCompareEq, value), -2 == value);
      EXPECT_EQ(test(word, kCompareNe, value), -2 != value);
      EXPECT_EQ(test(word, kCompareGt, value), -2 > value);
      EXPECT_EQ(test(word, kCompareGe, value), -2 >= value);
      EXPECT_EQ(test(word, kCompareLt, value), -2 < value);
      EXPECT_EQ(test(word, kCompareLe, value), -2 <= value);
    }
    auto *wide = world.at<uint64_t>(0, 64);
    *wide = uint64_t(1) << 63; // unsigned order
    EXPECT_EQ(test(wide, kCompareGt, uint64_t(1)), 1);
  });
}

TEST(ShmemSteps, WaitSlotsAreACacheLineApart) {
  World world(1);
  for (int i = 0; i < 4; ++i) {
    *world.at<int32_t>(0, 64 * i) = 3;
    *world.at<int64_t>(0, 4096 + 64 * i) = 4;
    *world.at<int8_t>(0, 8192 + 64 * i) = 5;
  }
  TracedCore core = world.core(0);
  runOn(core, [&] {
    waitSlots(world.at<int32_t>(0, 0), 4, 3);
    waitSlots(world.at<int64_t>(0, 4096), 4, int64_t(4));
    waitSlots(world.at<int8_t>(0, 8192), 4, int8_t(5));
  });
  EXPECT_EQ(core.waits, 0);
}

TEST(ShmemSteps, AtomicsGiveTheOldValue) {
  World world(2);
  TracedCore core = world.core(0);
  runOn(core, [&] {
    int32_t *word = world.at<int32_t>(0, 0);
    EXPECT_EQ(atomicFetchAdd(word, 6, 1), 0);
    EXPECT_EQ(atomicFetchAnd(word, 3, 1), 6);
    EXPECT_EQ(atomicFetchOr(word, 8, 1), 2);
    EXPECT_EQ(atomicFetchXor(word, 1, 1), 10);
    EXPECT_EQ(atomicSwap(word, 40, 1), 11);
    EXPECT_EQ(atomicCompareSwap(word, 41, 1, 1), 40);
    EXPECT_EQ(atomicCompareSwap(word, 40, 50, 1), 40);
    EXPECT_EQ(g(word, 1), 50);
    EXPECT_EQ(*word, 0);
    auto *half = world.at<_Float16>(0, 64);
    (void)atomicFetchAdd(half, static_cast<_Float16>(1.5f), 1);
    (void)atomicFetchAdd(half, static_cast<_Float16>(2.25f), 1);
    EXPECT_EQ(static_cast<float>(g(half, 1)), 3.75f);
    auto *real = world.at<float>(0, 128);
    (void)atomicFetchAdd(real, 0.5f, 1);
    EXPECT_EQ(g(real, 1), 0.5f);
  });
}

TEST(ShmemSteps, SdmaFillsItsRingThenRings) {
  World world(2);
  auto work = std::make_unique<SdmaWorkspace>();
  std::vector<SdmaEntry> ring(4);
  uint32_t doorbell = 0;
  SdmaChannel &channel = work->channels[0];
  channel = {};
  channel.entries = reinterpret_cast<uint64_t>(ring.data());
  channel.doorbell = reinterpret_cast<uint64_t>(&doorbell);
  channel.depth = 4;
  world.states[0]->sdmaWorkspace = reinterpret_cast<uint64_t>(work.get());
  world.states[0]->transports[1] = kTransportMte | kTransportSdma;
  TracedCore core = world.core(0);
  std::vector<char> source(2 * kSdmaMaxBytes + 5);
  runOn(core, [&] { put(world.at<char>(0, 64), source.data(), source.size(), 1); });
  EXPECT_EQ(channel.tail, 3u); // split at 1 MiB
  EXPECT_EQ(doorbell, 3u);
  EXPECT_EQ(ring[2].length, 5u);
  EXPECT_EQ(ring[2].destination,
            reinterpret_cast<uint64_t>(world.at<char>(1, 64)) + 2 * kSdmaMaxBytes);
  EXPECT_EQ(stepsOf(core),
            (std::vector<Step>{Step::QueueEntry, Step::CacheLine, Step::QueueEntry, Step::CacheLine,
                               Step::QueueEntry, Step::CacheLine, Step::DoorbellStore}));
  // quiet sends a flag behind the work and waits for it: the "engine" copies when asked to wait.
  core.events.clear();
  core.onWait = [&] {
    for (; channel.head != doorbell; ++channel.head)
      if (const SdmaEntry &entry = ring[channel.head % 4]; entry.length == 8)
        std::memcpy(reinterpret_cast<void *>(entry.destination),
                    reinterpret_cast<void *>(entry.source), 8);
  };
  runOn(core, [] { quiet(); });
  EXPECT_EQ(work->coreFlags[0].seen, 1u);
  EXPECT_EQ(channel.head, 4u);
}

TEST(ShmemSteps, UdmaRingsTheDoorbellLast) {
  World world(2);
  std::vector<uint8_t> blocks(64 * 64);
  std::vector<UdmaCompletion> completions(64);
  uint32_t doorbell = 0, completionDoorbell = 0;
  uint64_t locks[2] = {};
  UdmaWorkQueue send[2] = {};
  UdmaCompletionQueue taken[2] = {};
  EngineRegisters registers = {};
  send[1].buffer = reinterpret_cast<uint64_t>(blocks.data());
  send[1].depth = 64;
  send[1].doorbell = reinterpret_cast<uint64_t>(&doorbell);
  taken[1].buffer = reinterpret_cast<uint64_t>(completions.data());
  taken[1].depth = 64;
  taken[1].doorbell = reinterpret_cast<uint64_t>(&completionDoorbell);
  UdmaQueueTable table = {send, taken, locks, 2, 0, &registers};
  world.states[0]->queueInfo = reinterpret_cast<uint64_t>(&table);
  world.states[0]->transports[1] = kTransportMte | kTransportUdma;
  TracedCore core = world.core(0);
  char source[100] = {};
  runOn(core, [&] { put(world.at<char>(0, 64), source, sizeof(source), 1); });
  EXPECT_EQ(stepsOf(core),
            (std::vector<Step>{Step::QueueFetch, Step::QueueSlot, Step::QueueEntry,
                               Step::QueueSegment, Step::CacheLine, Step::DoorbellStore}));
  EXPECT_EQ(doorbell, 1u);
  auto *entry = reinterpret_cast<UdmaEntry *>(blocks.data());
  auto *segment = reinterpret_cast<UdmaSge *>(blocks.data() + sizeof(UdmaEntry));
  EXPECT_EQ(entry->opcode, UdmaOpcode::Write);
  EXPECT_EQ(entry->remote, reinterpret_cast<uint64_t>(world.at<char>(1, 64)));
  EXPECT_EQ(segment->length, 100u);
  EXPECT_EQ(segment->local, reinterpret_cast<uint64_t>(source));
  core.onWait = [&] { completions[0] = {1, kUdmaOk, 0, 0, 1, {}}; };
  runOn(core, [] { quiet(); });
  EXPECT_EQ(send[1].tail, 1u);
  // A completion with an error ends the kernel.
  completions[1] = {1, kUdmaBadLength, 0, 0, 1, {}};
  runOn(core, [&] {
    get(source, world.at<char>(0, 64), sizeof(source), 1);
    EXPECT_THROW(quiet(), DeviceFailure);
  });
}

TEST(ShmemSteps, APeThatNoEngineReachesIsAnError) {
  World world(2);
  world.states[0]->transports[1] = kTransportRoce;
  TracedCore core = world.core(0);
  char source[8] = {};
  runOn(core, [&] {
    EXPECT_THROW(put(world.at<char>(0, 64), source, sizeof(source), 1), DeviceFailure);
    EXPECT_THROW(g(world.at<int32_t>(0, 64), 1), DeviceFailure);
  });
}

/// A core of PE 0 to which PE 1 is on another host; what it asks of the network is collected.
TracedCore remoteCore(World &world, std::vector<RemoteRequest> &requests) {
  world.states[0]->transports[1] = kTransportRoce;
  world.states[0]->remote = &kNetwork;
  TracedCore core = world.core(0);
  core.onRemote = [&](RemoteRequest &request) {
    requests.push_back(request);
    request.result = 77;
  };
  return core;
}

TEST(ShmemSteps, CopiesToAnotherHostAreRequests) {
  World world(2);
  std::vector<RemoteRequest> requests;
  TracedCore core = remoteCore(world, requests);
  char memory[100] = {};
  runOn(core, [&] {
    put(world.at<char>(0, 256), memory, sizeof(memory), 1);
    get(memory, world.at<char>(0, 512), sizeof(memory), 1, kRemoteBlocking);
    put(world.at<char>(0, 256), memory, 0, 1); // nothing
    put(world.at<char>(0, 256), memory, sizeof(memory), 0);
    putSignal(world.at<char>(0, 256), memory, sizeof(memory), world.at<int32_t>(0, 64), 9,
              kSignalAdd, 1, kRemoteBlocking);
    fence();
    quiet();
  });
  ASSERT_EQ(requests.size(), 6u);
  EXPECT_EQ(requests[0].op, RemoteOp::Put);
  EXPECT_EQ(requests[0].pe, 1);
  EXPECT_EQ(requests[0].offset, 256u);
  EXPECT_EQ(requests[0].local, memory);
  EXPECT_EQ(requests[0].bytes, sizeof(memory));
  EXPECT_EQ(requests[0].flags, 0u);
  EXPECT_EQ(requests[1].op, RemoteOp::Get);
  EXPECT_EQ(requests[1].flags, kRemoteBlocking);
  EXPECT_EQ(requests[2].op, RemoteOp::Put);
  EXPECT_EQ(requests[3].op, RemoteOp::Add); // behind the data, and when it is there so are they
  EXPECT_EQ(requests[3].flags, kRemoteOrdered | kRemoteBlocking);
  EXPECT_EQ(requests[3].type, static_cast<uint32_t>(ElementType::I32));
  EXPECT_EQ(requests[3].value, 9u);
  EXPECT_EQ(requests[4].op, RemoteOp::Fence);
  EXPECT_EQ(requests[5].op, RemoteOp::Quiet);
  // What the kernel stored is out before the signal is.
  std::vector<Step> steps = stepsOf(core);
  auto signal = std::find(steps.rbegin(), steps.rend(), Step::Remote) + 2;
  EXPECT_NE(std::find(signal, steps.rend(), Step::PipeBarrier), steps.rend());
}

TEST(ShmemSteps, ValuesOfAnotherHostAreRequests) {
  World world(2);
  std::vector<RemoteRequest> requests;
  TracedCore core = remoteCore(world, requests);
  auto expectLast = [&](RemoteOp op, uint32_t flags, uint64_t bytes, uint64_t value) {
    ASSERT_FALSE(requests.empty());
    EXPECT_EQ(requests.back().op, op);
    EXPECT_EQ(requests.back().flags, flags);
    EXPECT_EQ(requests.back().bytes, bytes);
    EXPECT_EQ(requests.back().value, value);
    EXPECT_EQ(requests.back().offset, 128u);
  };
  runOn(core, [&] {
    auto *word = world.at<int32_t>(0, 128);
    auto *wide = world.at<uint64_t>(0, 128);
    p(word, -2, 1);
    expectLast(RemoteOp::Set, kRemoteOrdered, 4, 0xFFFFFFFEu);
    EXPECT_EQ(g(word, 1), 77);
    expectLast(RemoteOp::Fetch, kRemoteReturns, 4, 0);
    signalOp(wide, uint64_t(5), kSignalSet, 1);
    expectLast(RemoteOp::Set, kRemoteOrdered, 8, 5);
    EXPECT_EQ(atomicFetchAdd(word, 3, 1), 77);
    expectLast(RemoteOp::Add, kRemoteReturns, 4, 3);
    (void)atomicFetchXor(wide, uint64_t(6), 1, 0);
    expectLast(RemoteOp::Xor, 0, 8, 6);
    EXPECT_EQ(atomicCompareSwap(word, 1, 2, 1), 77);
    expectLast(RemoteOp::CompareSwap, kRemoteReturns, 4, 2);
    EXPECT_EQ(requests.back().compare, 1u);
    (void)atomicFetchAdd(world.at<_Float16>(0, 128), static_cast<_Float16>(1.0f), 1, 0);
    expectLast(RemoteOp::Add, 0, 2, 0x3C00);
    EXPECT_EQ(requests.back().type, static_cast<uint32_t>(ElementType::F16));
    // The network does not check where a range ends.
    char memory[128] = {};
    EXPECT_THROW(put(world.at<char>(0, World::kUser + 4096 - 64), memory, sizeof(memory), 1),
                 DeviceFailure);
    EXPECT_THROW(p(word, 1, 2), DeviceFailure);
    EXPECT_THROW(signalOp(word, 1, 3, 1), DeviceFailure);
  });
  EXPECT_EQ(*world.at<int32_t>(1, 128), 0);
}

} // namespace
