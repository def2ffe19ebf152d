// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The barrier of the device functions: who reads and writes which flag, and that all meet.
#include "test/device/TracedWorld.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

using namespace piton;
using namespace piton::traced;

namespace {

/// Every PE with several cores goes through a number of barriers on threads.
void runBarriers(World &world, uint32_t cores, int rounds,
                 std::vector<std::vector<TracedCore>> &traces,
                 const std::function<void(RemoteRequest &)> &network = {}) {
  std::vector<std::unique_ptr<uint64_t>> arrivals;
  std::vector<std::atomic<int>> reached(static_cast<size_t>(world.count));
  std::atomic<int> early{0};
  traces.resize(world.count);
  std::vector<std::thread> threads;
  for (int32_t pe = 0; pe < world.count; ++pe) {
    arrivals.push_back(std::make_unique<uint64_t>(0));
    for (uint32_t core = 0; core < cores; ++core) {
      traces[pe].push_back(world.core(pe, core, cores));
      traces[pe].back().context.coreBarrier = arrivals.back().get();
      traces[pe].back().onRemote = network;
    }
  }
  for (int32_t pe = 0; pe < world.count; ++pe)
    for (uint32_t core = 0; core < cores; ++core)
      threads.emplace_back([&, pe, core] {
        current = &traces[pe][core];
        for (int round = 0; round < rounds; ++round) {
          if (core == 0)
            reached[pe] = round + 1;
          barrier(kTeamWorld);
          for (int32_t other = 0; other < world.count; ++other)
            if (reached[other] < round + 1)
              ++early;
        }
        current = nullptr;
      });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(early, 0) << "someone left a barrier before all had come";
}

TEST(ShmemBarrier, WritesOnlyItsOwnFlagAndSplitsTheReads) {
  const int32_t pes = 5;
  const uint32_t cores = 3;
  World world(pes);
  std::vector<std::vector<TracedCore>> traces;
  runBarriers(world, cores, 4, traces);
  auto flag = [&](int32_t pe) { return world.at<int32_t>(pe, World::kUser); };
  const uint32_t readers = barrierReaders(pes, cores);
  EXPECT_EQ(readers, 3u);
  for (int32_t pe = 0; pe < pes; ++pe)
    for (uint32_t core = 0; core < cores; ++core) {
      std::set<int32_t> read, written;
      for (const Event &event : traces[pe][core].events)
        for (int32_t other = 0; other < pes; ++other) {
          if (event.address != flag(other))
            continue;
          if (event.step == Step::ScalarLoad)
            read.insert(other);
          if (event.step == Step::ScalarStore)
            written.insert(other);
        }
      std::set<int32_t> wanted;
      for (int32_t other = static_cast<int32_t>(core); other < pes; other += readers)
        if (other != pe)
          wanted.insert(other);
      EXPECT_EQ(read, wanted) << "PE " << pe << " core " << core;
      EXPECT_EQ(written, core == pe % readers ? std::set<int32_t>{pe} : std::set<int32_t>{});
    }
}

TEST(ShmemBarrier, ReadsEachFlagOfItsShareOnce) {
  // The peers are there already: what a core reads is its share, once each.
  World world(6);
  const uint32_t cores = 3;
  for (int32_t pe = 1; pe < world.count; ++pe)
    *world.at<int32_t>(pe, World::kUser) = 1;
  uint64_t arrivals = 0;
  std::vector<TracedCore> traces;
  for (uint32_t core = 0; core < cores; ++core) {
    traces.push_back(world.core(0, core, cores));
    traces.back().context.coreBarrier = &arrivals;
  }
  std::vector<std::thread> threads;
  for (TracedCore &trace : traces)
    threads.emplace_back([&] { runOn(trace, [] { barrier(kTeamWorld); }); });
  for (std::thread &thread : threads)
    thread.join();
  const int wanted[cores] = {1, 2, 2}; // of PEs 3; 1 and 4; 2 and 5
  for (uint32_t core = 0; core < cores; ++core) {
    int reads = 0, writes = 0;
    for (const Event &event : traces[core].events)
      for (int32_t pe = 0; pe < world.count; ++pe)
        if (event.address == world.at<int32_t>(pe, World::kUser)) {
          reads += event.step == Step::ScalarLoad;
          writes += event.step == Step::ScalarStore;
        }
    EXPECT_EQ(reads, wanted[core]) << core;
    EXPECT_EQ(writes, core == 0 ? 1 : 0) << core;
  }
}

TEST(ShmemBarrier, SidesOfABlockAreCoresAndMeet) {
  World world(2);
  *world.at<int32_t>(1, World::kUser) = 1; // PE 1 is in its barrier
  uint64_t arrivals = 0, shared = 0;
  std::vector<TracedCore> sides(2, world.core(0));
  std::atomic<int> met{0}, early{0};
  for (uint32_t side = 0; side < 2; ++side) {
    sides[side].context.sides = 2;
    sides[side].context.side = side;
    sides[side].context.coreBarrier = &arrivals;
    sides[side].context.shared = reinterpret_cast<uint8_t *>(&shared);
  }
  std::vector<std::thread> threads;
  for (TracedCore &side : sides)
    threads.emplace_back([&] {
      runOn(side, [&] {
        EXPECT_EQ(coreCount(), 2u);
        EXPECT_EQ(coreIndex(), side.context.side);
        barrier(kTeamWorld);
        for (int round = 0; round < 200; ++round) {
          ++met;
          meetSides();
          early += met < 2 * (round + 1);
        }
      });
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(early, 0);
  EXPECT_EQ(arrivals, 4u); // both sides, before and after the flags
  EXPECT_EQ(*world.at<int32_t>(0, World::kUser), 1);
}

TEST(ShmemBarrier, CounterWraps) {
  World world(2);
  for (int32_t pe = 0; pe < 2; ++pe) {
    *world.at<int32_t>(pe, World::kUser + kSyncTeamBytes) = INT32_MAX - 1;
    *world.at<int32_t>(pe, World::kUser) = INT32_MAX - 1;
  }
  std::vector<std::vector<TracedCore>> traces;
  runBarriers(world, 2, 5, traces);
  EXPECT_EQ(*world.at<int32_t>(0, World::kUser + kSyncTeamBytes), INT32_MIN + 3);
}

/// Five PEs on two hosts, 0 and 1 on one of them; the network stores to the other's heap.
TEST(ShmemBarrier, BetweenHostsMeetsAll) {
  World world(5);
  for (int32_t pe = 0; pe < 5; ++pe) {
    world.states[pe]->remote = &kNetwork;
    for (int32_t other = 0; other < 5; ++other)
      world.states[pe]->transports[other] =
          (pe < 2) == (other < 2) ? kTransportMte : kTransportRoce;
  }
  for (int32_t pe = 0; pe < 5; ++pe) // the counter wraps
    for (uint64_t slot : {uint64_t(0), kSyncTeamBytes})
      *world.at<int32_t>(pe, World::kUser + slot) = INT32_MAX - 1;
  std::vector<std::vector<TracedCore>> traces;
  runBarriers(world, 2, 5, traces, [&](RemoteRequest &request) {
    if (request.op == RemoteOp::Set)
      __atomic_store_n(world.at<int32_t>(request.pe, request.offset),
                       static_cast<int32_t>(request.value), __ATOMIC_RELEASE);
  });
  for (int32_t pe = 0; pe < 5; ++pe) {
    EXPECT_EQ(*world.at<int32_t>(pe, World::kUser + kSyncTeamBytes), INT32_MIN + 3);
    EXPECT_EQ(*world.at<int32_t>(pe, World::kUser), INT32_MIN + 3);
  }
}

TEST(ShmemBarrier, AcceptsAPeerThatIsInTheNextOne) {
  // PE 1 is already in barrier 2 when PE 0 looks for barrier 1.
  World world(2);
  *world.at<int32_t>(1, World::kUser) = 2;
  TracedCore core = world.core(0);
  core.onWait = [] { FAIL() << "waits for a flag that has passed"; };
  runOn(core, [] { barrier(kTeamWorld); });
  EXPECT_EQ(*world.at<int32_t>(0, World::kUser), 1);
}

} // namespace
