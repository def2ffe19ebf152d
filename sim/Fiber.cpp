// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blocks that may wait for each other run as fibers. A fiber stays on the worker that started it;
// workers take the next block from one counter, so block n starts only after all before it have.
// A worker whose fibers all wait goes down a ladder: spin, sched_yield, sleep.

#include "sim/Sanitizers.h"
#include "sim/Worker.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <immintrin.h>
#include <sched.h>

namespace piton::sim {
namespace {

/// Stack beyond what the kernel itself needs: services, formatting of prints, signal frames.
constexpr size_t kStackReserve = 64 * 1024;
/// For kernels that do not say.
constexpr size_t kDefaultStack = 1024 * 1024;

/// Runs the kernel of the slot's block; an escape lands here.
[[gnu::noinline]] void callBlock(Slot &slot) {
  if (pitonSavePoint(&slot.escape))
    return;
  slot.worker->current.store(&slot, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  slot.launch->kernel.entry()(slot.launch->request.args, &slot.context);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  slot.worker->current.store(nullptr, std::memory_order_relaxed);
}

void switchToScheduler(Slot &slot) {
  Worker &worker = *slot.worker;
  startSwitch(&slot.asanFakeStack, worker.asanBottom, worker.asanSize);
  switchTsanFiber(worker.tsanScheduler);
  pitonSwitchStack(&slot.stackPointer, worker.schedulerStack);
  finishSwitch(slot.asanFakeStack, &worker.asanBottom, &worker.asanSize);
}

void switchToFiber(Worker &worker, Slot &slot) {
  void *fakeStack = nullptr;
  startSwitch(&fakeStack, slot.stack.bottom(), slot.stack.size());
  switchTsanFiber(slot.tsanFiber);
  pitonSwitchStack(&worker.schedulerStack, slot.stackPointer);
  finishSwitch(fakeStack, nullptr, nullptr);
}

/// Body of every fiber. It serves one block after another and never returns.
void fiberMain(void *argument) {
  auto &slot = *static_cast<Slot *>(argument);
  finishSwitch(nullptr, &slot.worker->asanBottom, &slot.worker->asanSize);
  for (;;) {
    callBlock(slot);
    slot.finishBlock();
    slot.running = false;
    switchToScheduler(slot);
  }
}

bool prepareFiber(Slot &slot, Launch &launch) {
  if (!slot.prepare(launch))
    return false;
  uint64_t wanted = launch.kernel.metadata().stackBytes;
  size_t bytes =
      std::max<size_t>(wanted ? wanted + kStackReserve : kDefaultStack, 2 * kStackReserve);
  bool fresh = slot.stack.size() < bytes;
  if (!slot.stack.reserve(bytes)) {
    launch.fail(PITON_ERROR_OUT_OF_MEMORY, "kernel '" + launch.kernel.metadata().name +
                                               "': no memory for the stack of a block (" +
                                               std::to_string(bytes) + " bytes)");
    return false;
  }
  if (fresh || !slot.stackPointer) {
    slot.stackPointer = prepareStack(slot.stack.top(), fiberMain, &slot);
    destroyTsanFiber(slot.tsanFiber);
    slot.tsanFiber = createTsanFiber();
  }
  return true;
}

using Clock = std::chrono::steady_clock;

/// Decides what to do after a round in which no block started or ended. Loops that yield are not
/// always waiting, so time asleep never exceeds time spent running.
class WaitingLadder {
public:
  void progress() { rounds = 0; }

  void afterIdleRound(size_t liveFibers) {
    if (++rounds % kWindow != 0) {
      _mm_pause();
      return;
    }
    sched_yield();
    Clock::time_point now = Clock::now();
    if (rounds == kWindow) {
      idleSince = windowStart = now;
      return;
    }
    auto perFiber = (now - windowStart) / (kWindow * std::max<size_t>(liveFibers, 1));
    windowStart = now;
    auto idle = now - idleSince;
    // Slow rounds do work; the first millisecond is spun, since waking up costs tens of
    // microseconds.
    if (perFiber > std::chrono::nanoseconds(400) || idle < std::chrono::milliseconds(1) ||
        now < sleepAgain)
      return;
    auto nap = std::min<Clock::duration>(idle / 16, std::chrono::microseconds(500));
    timespec time = {0, static_cast<long>(std::chrono::nanoseconds(nap).count())};
    nanosleep(&time, nullptr);
    windowStart = Clock::now();
    sleepAgain = windowStart + (windowStart - now);
  }

private:
  static constexpr uint64_t kWindow = 64;
  uint64_t rounds = 0;
  Clock::time_point idleSince, windowStart, sleepAgain;
};

/// Starts the next block in an idle slot; false if there is none.
bool startBlock(Slot &slot, Launch &launch) {
  if (launch.stopped() || launch.nextBlock.load(std::memory_order_relaxed) >= launch.blocks)
    return false;
  uint64_t block = launch.nextBlock.fetch_add(1, std::memory_order_relaxed);
  if (block >= launch.blocks || !prepareFiber(slot, launch))
    return false;
  slot.block = block;
  launch.programId(block, slot.context.pid);
  slot.running = true;
  return true;
}

} // namespace

void suspendFiber(Slot &slot) {
  slot.worker->current.store(nullptr, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  switchToScheduler(slot);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  slot.worker->current.store(&slot, std::memory_order_relaxed);
}

void runFibers(Worker &worker, Launch &launch, unsigned slots) {
  worker.tsanScheduler = currentTsanFiber();
  while (worker.fibers.size() < slots) {
    auto slot = std::make_unique<Slot>();
    slot->worker = &worker;
    slot->isFiber = true;
    worker.fibers.push_back(std::move(slot));
  }
  WaitingLadder ladder;
  size_t live = 0;
  for (;;) {
    bool progress = false;
    for (unsigned i = 0; i < slots; ++i) {
      Slot &slot = *worker.fibers[i];
      if (!slot.running) {
        if (!startBlock(slot, launch))
          continue;
        ++live;
        progress = true;
      }
      switchToFiber(worker, slot);
      if (!slot.running) {
        --live;
        progress = true;
      }
    }
    if (progress) {
      ladder.progress();
      continue;
    }
    if (live == 0)
      return;
    ladder.afterIdleRound(live);
  }
}

} // namespace piton::sim
