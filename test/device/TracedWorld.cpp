// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the device functions find below them: their state, their block, the services of the machine.
#include "test/device/TracedWorld.h"

#include <algorithm>
#include <thread>

namespace piton::traced {

thread_local TracedCore *current = nullptr;

namespace {

void serviceWait(BlockContext *, const WaitRequest *) {
  ++current->waits;
  if (current->onWait)
    current->onWait();
  std::this_thread::yield();
}
void serviceWake(BlockContext *, uint32_t *) {}
void serviceError(BlockContext *, uint32_t error, int64_t value, int64_t, int64_t) {
  throw DeviceFailure(error, value);
}
void serviceRemote(BlockContext *, RemoteRequest *request) { current->onRemote(*request); }
const BlockServices kServices = [] {
  BlockServices services = {};
  services.wait = serviceWait;
  services.wake = serviceWake;
  services.deviceError = serviceError;
  services.remote = serviceRemote;
  return services;
}();

} // namespace

World::World(int32_t pes) : count(pes), bases(pes), heaps(pes), states(pes), teams(pes) {
  for (int32_t pe = 0; pe < pes; ++pe) {
    heaps[pe].reset(new (std::align_val_t(64)) uint8_t[kUser + 4096]());
    bases[pe] = heaps[pe].get();
  }
  for (int32_t pe = 0; pe < pes; ++pe) {
    states[pe] = std::make_unique<DeviceState>();
    teams[pe] = std::make_unique<TeamRecord>();
    DeviceState &s = *states[pe];
    s.myPe = pe;
    s.peCount = pes;
    s.heapBase = bases[pe];
    s.heapBytes = kUser + 4096;
    s.p2pHeapBase = bases.data();
    std::fill_n(s.transports, pes, kTransportMte);
    s.syncPool = reinterpret_cast<uint64_t>(bases[pe]) + kUser;
    s.syncCounter = reinterpret_cast<uint64_t>(bases[pe]) + kUser + kSyncTeamBytes;
    TeamRecord &world = *teams[pe];
    world.myPe = pe;
    world.stride = 1;
    world.size = pes;
    for (int32_t i = 0; i < pes; ++i)
      world.toWorld[i] = world.fromWorld[i] = i;
    for (int32_t i = pes; i < kMaxPes; ++i)
      world.fromWorld[i] = -1;
    s.teams[0] = &world;
  }
}

TracedCore World::core(int32_t pe, uint32_t index, uint32_t cores) {
  TracedCore result;
  result.state = states[pe].get();
  result.context.services = &kServices;
  result.context.grid[0] = cores;
  result.context.grid[1] = result.context.grid[2] = 1;
  result.context.pid[0] = index;
  result.context.sides = 1;
  return result;
}

std::vector<Step> stepsOf(const TracedCore &core) {
  std::vector<Step> steps;
  for (const Event &event : core.events)
    if (event.step != Step::ReadState)
      steps.push_back(event.step);
  return steps;
}

} // namespace piton::traced

namespace piton::device {
DeviceState *tracedState() { return traced::current->state; }
BlockContext *tracedBlock() { return &traced::current->context; }
void traceStep(Step step, const volatile void *address) {
  if (traced::current)
    traced::current->events.push_back({step, address});
}
extern "C" BlockContext *piton_block_context(void) { return &traced::current->context; }
} // namespace piton::device
