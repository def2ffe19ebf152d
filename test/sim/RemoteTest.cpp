// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blocks that ask the network for something: they wait for the end of their request and let others
// run, and a request outlives nobody who stopped waiting for it. The network is a stand-in.

#include "abi/DeviceState.h"
#include "test/sim/TestLaunch.h"

#include <atomic>
#include <cstdio>
#include <sys/mman.h>

struct piton::RemoteTicket {
  int looks;
  uint64_t offset;
};

using namespace piton;
using namespace piton::test;

namespace {

/// Answers 100 + offset after a few looks.
struct Network {
  int looks = 3;
  std::atomic<int> started{0}, ended{0}, abandoned{0};
  RemoteEngine engine = {};

  Network() {
    engine.self = this;
    engine.start = [](void *self, RemoteRequest *request, RemoteTicket **ticket) {
      auto &network = *static_cast<Network *>(self);
      if (network.looks < 0)
        return RemoteStatus::Failed;
      ++network.started;
      *ticket = new RemoteTicket{network.looks, request->offset};
      return RemoteStatus::Pending;
    };
    engine.poll = [](void *self, RemoteTicket *ticket, RemoteRequest *request) {
      if (ticket->looks-- > 0)
        return RemoteStatus::Pending;
      request->result = 100 + ticket->offset;
      delete ticket;
      ++static_cast<Network *>(self)->ended;
      return RemoteStatus::Done;
    };
    engine.abandon = [](void *self, RemoteTicket *ticket) {
      delete ticket;
      ++static_cast<Network *>(self)->abandoned;
    };
    engine.why = [](void *, int32_t pe, char *text, uint64_t bytes) {
      std::snprintf(text, bytes, "the cable to PE %d is cut", pe);
    };
  }
};

/// The state of this process, with a network.
class Remote : public testing::TestWithParam<bool> {
protected:
  void SetUp() override {
    void *at =
        mmap(reinterpret_cast<void *>(kDeviceStateAddress), kDeviceStateBytes,
             PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    ASSERT_NE(at, MAP_FAILED);
    state = static_cast<DeviceState *>(at);
    state->peCount = 2;
    state->remote = &network.engine;
    state->initialized = 1;
  }
  void TearDown() override { munmap(state, kDeviceStateBytes); }

  piton_status_t fetch(uint32_t blocks) {
    KernelMetadata meta = testMetadata("fetch");
    meta.canBlock = GetParam();
    meta.distributed = true;
    out.assign(blocks, 0);
    return run(load(meta), Args().set(0, out.data()), blocks);
  }

  Network network;
  DeviceState *state = nullptr;
  std::vector<uint64_t> out;
};

INSTANTIATE_TEST_SUITE_P(Blocks, Remote, testing::Bool(),
                         [](const auto &info) { return info.param ? "Fibers" : "Calls"; });

TEST_P(Remote, EveryBlockGetsItsAnswer) {
  ASSERT_EQ(fetch(4), PITON_OK) << lastError();
  EXPECT_EQ(out, (std::vector<uint64_t>{100, 108, 116, 124}));
  EXPECT_EQ(network.ended, 4);
  EXPECT_EQ(network.abandoned, 0);
}

TEST_P(Remote, AStoppedLaunchLeavesNoRequestBehind) {
  network.looks = GetParam() ? 1 << 30 : 3; // calls of one thread come one after the other
  EXPECT_EQ(fetch(5), PITON_ERROR_KERNEL_ASSERT);
  EXPECT_TRUE(has(lastError(), "enough")) << lastError();
  EXPECT_EQ(network.started, network.ended + network.abandoned);
  if (GetParam())
    EXPECT_EQ(network.abandoned, network.started);
  network.looks = 3;
  EXPECT_EQ(fetch(4), PITON_OK) << lastError();
}

TEST_P(Remote, AFailureSaysWhichPeHasDied) {
  network.looks = -1;
  state->failedPe = 1;
  state->failureText = "PE 1 died";
  state->failure = PITON_ERROR_SYSTEM;
  EXPECT_EQ(fetch(2), PITON_ERROR_SYSTEM);
  EXPECT_TRUE(has(lastError(), "waits for PE 1, which is on another host, to answer; PE 1 died"))
      << lastError();
}

TEST_P(Remote, AFailureThatNobodyExplainsIsTheNetworks) {
  network.looks = -1;
  EXPECT_EQ(fetch(1), PITON_ERROR_SYSTEM);
  EXPECT_TRUE(has(lastError(), "the cable to PE 1 is cut")) << lastError();
}

} // namespace
