// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blocks that may wait for each other run as fibers. A fiber stays on the worker that started it;
// workers take the next block from one counter, so block n starts only after all before it have.
// A worker whose fibers all wait goes down a ladder: spin, sched_yield, sleep on the PE's doorbell.

#include "sim/Faults.h"
#include "sim/Sanitizers.h"
#include "sim/Waits.h"
#include "sim/Worker.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <immintrin.h>
#include <sched.h>
#include <utility>

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
  slot.worker->current.store(&slot);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (!slot.launch->stopped()) // Ctrl-C may have come just before `current` was set
    slot.launch->kernel.entry()(slot.launch->request.args, &slot.context);
  _mm_sfence(); // the block may have stored past the cache
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

/// Time this thread has run: other processes on the CPU must not make a wait look like work.
std::chrono::nanoseconds cpuTime() {
  timespec t = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
}

/// Seconds without any block starting or ending after which a launch in which every block waits is
/// reported; 0 for never.
std::chrono::seconds standstillTime() {
  const char *text = std::getenv("PITON_STANDSTILL_SECONDS");
  return std::chrono::seconds(text ? std::atoi(text) : 10);
}

/// Says that nothing moves, and where a block waits. Not an error: the host or another PE may still
/// act.
void reportStandstill(Launch &launch, const Slot &waiting) {
  uint64_t started = std::min(launch.nextUnit.load() / launch.sides, launch.blocks);
  std::string text = "piton: warning: " + describePlace(waiting, waiting.waitsAt) +
                     " waits, as all blocks that run, and none has moved for a while";
  if (std::string wait = describeWait(waiting, waiting.waitRequest); !wait.empty())
    text += "; it " + wait;
  if (started < launch.blocks)
    text += "; " + std::to_string(launch.blocks - started) + " of " +
            std::to_string(launch.blocks) + " blocks have not started, because the " +
            std::to_string(launch.residency / launch.sides) +
            " cores of the NPU are taken: blocks that wait for "
            "each other must fit on its cores";
  std::fprintf(stderr, "%s\n", text.c_str());
}

/// Decides what to do after a round in which no block started or ended. Loops that yield are not
/// always waiting, so time asleep never exceeds time spent running.
class WaitingLadder {
public:
  explicit WaitingLadder(Launch &launch) : launch(launch) { launch.activeWorkers.fetch_add(1); }
  ~WaitingLadder() {
    wake();
    launch.activeWorkers.fetch_sub(1);
  }

  void progress() {
    launch.progress.fetch_add(1, std::memory_order_relaxed);
    rounds = 0;
    wake();
  }

  /// `waiting` is one of the `liveFibers` blocks.
  void afterIdleRound(size_t liveFibers, const Slot &waiting) {
    // The round was run after this was read: what rings the bell from here on may be news to it.
    uint32_t bell = std::exchange(seenBell, idling ? readBell() : 0);
    uint64_t place = ++rounds % kWindow;
    if (place == kWindow - kMeasured)
      measuredFrom = cpuTime();
    if (place != 0) {
      _mm_pause();
      return;
    }
    auto perFiber = (cpuTime() - measuredFrom) / (kMeasured * std::max<size_t>(liveFibers, 1));
    sched_yield();
    Clock::time_point now = Clock::now();
    if (rounds == kWindow) {
      idleSince = now;
      return;
    }
    auto idle = now - idleSince;
    // The first millisecond is spun, since waking up costs tens of microseconds.
    if (idle < std::chrono::milliseconds(1))
      return;
    bool slow = perFiber > kSwitchTime; // such rounds do work
    bool wasIdling = idling;
    watch(now, slow, waiting);
    if (slow || now < sleepAgain || !wasIdling)
      return;
    auto nap = std::min<Clock::duration>(idle / 16, std::chrono::microseconds(500));
    sleep(bell, std::chrono::nanoseconds(nap).count());
    Clock::time_point after = Clock::now();
    sleepAgain = after + (after - now);
  }

private:
  uint32_t readBell() const {
    return doorbell ? __atomic_load_n(&doorbell->bell, __ATOMIC_SEQ_CST) : 0;
  }

  /// Whoever writes a word of this PE rings its bell; other words are looked at when the time is
  /// over.
  void sleep(uint32_t bell, int64_t nanoseconds) {
    if (doorbell)
      return sleepOnBell(*doorbell, bell, nanoseconds);
    timespec time = {0, static_cast<long>(nanoseconds)};
    nanosleep(&time, nullptr);
  }

  /// Notes that this worker is idle, and looks whether the whole launch has been for long.
  void watch(Clock::time_point now, bool slow, const Slot &waiting) {
    if (!idling) {
      idling = true;
      launch.activeWorkers.fetch_sub(1);
      limit = standstillTime();
      doorbell = ownDoorbell(launch);
      if (doorbell)
        __atomic_fetch_add(&doorbell->sleepers, 1, __ATOMIC_SEQ_CST);
      seenBell = readBell();
    }
    // A loop of the kernel's own asks nobody whether the job still lives.
    if (!waiting.waitRequest)
      endIfJobFailed(waiting, nullptr);
    uint64_t seen = launch.progress.load(std::memory_order_relaxed);
    if (seen != lastProgress || launch.activeWorkers.load() != 0) {
      lastProgress = seen;
      stillSince = now;
      slowWindows = fastWindows = 0;
      if (launch.waitPublished.load(std::memory_order_relaxed))
        clearWait(launch);
      return;
    }
    ++(slow ? slowWindows : fastWindows);
    bool still = fastWindows > 4 * slowWindows;
    // Such a loop may also be at work; it counts as waiting once it has done nothing for long.
    bool waits = waiting.waitRequest || (still && now - stillSince > kLoopTime);
    if (waits && now >= publishAgain) {
      publishWait(launch, waiting);
      publishAgain = now + kPublishTime;
    }
    if (limit.count() > 0 && now - stillSince > limit && still &&
        !launch.standstillReported.exchange(true))
      reportStandstill(launch, waiting);
  }

  void wake() {
    if (idling) {
      if (doorbell)
        __atomic_fetch_sub(&doorbell->sleepers, 1, __ATOMIC_SEQ_CST);
      launch.activeWorkers.fetch_add(1);
      clearWait(launch);
      publishAgain = {};
    }
    idling = false;
  }

  /// Rounds between two decisions, and how many of them are measured: the last ones, since on a
  /// busy machine the first ones find their memory in no cache.
  static constexpr uint64_t kWindow = 64, kMeasured = 16;
  /// More than a switch to a waiting fiber and back takes.
  static constexpr std::chrono::nanoseconds kSwitchTime{kThreadSanitizer ? 40000 : 400};
  static constexpr std::chrono::seconds kLoopTime{1};
  static constexpr std::chrono::milliseconds kPublishTime{20};
  Launch &launch;
  Doorbell *doorbell = nullptr; ///< of this PE, while idling
  uint32_t seenBell = 0;
  uint64_t rounds = 0, lastProgress = UINT64_MAX, slowWindows = 0, fastWindows = 0;
  bool idling = false;
  std::chrono::seconds limit{0};
  std::chrono::nanoseconds measuredFrom{0};
  Clock::time_point idleSince, sleepAgain, stillSince, publishAgain;
};

/// Starts the next block, or side of one, in an idle slot; false if there is none.
bool startBlock(Slot &slot, Launch &launch) {
  if (launch.stopped() || launch.nextUnit.load(std::memory_order_relaxed) >= launch.units())
    return false;
  uint64_t unit = launch.nextUnit.fetch_add(1, std::memory_order_relaxed);
  if (unit >= launch.units() || !prepareFiber(slot, launch))
    return false;
  slot.block = unit / launch.sides;
  slot.context.side = static_cast<uint32_t>(unit % launch.sides);
  if (launch.shared)
    slot.context.shared = launch.shared + slot.block * launch.sharedStride();
  launch.programId(slot.block, slot.context.pid);
  slot.running = true;
  return true;
}

/// Of two that wait, the one to name: who waits for its own block's other side, or for the other
/// blocks, waits because of somebody who waits for something else.
bool saysMore(const Slot &slot, const Slot &than) {
  return !isInnerWait(slot) || isInnerWait(than);
}

} // namespace

void suspendFiber(Slot &slot) {
  slot.worker->current.store(nullptr, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  switchToScheduler(slot);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  slot.worker->current.store(&slot); // ahead of the caller's look at stopped()
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

void runFibers(Worker &worker, Launch &launch, unsigned slots) {
  worker.tsanScheduler = currentTsanFiber();
  while (worker.fibers.size() < slots) {
    auto slot = std::make_unique<Slot>();
    slot->worker = &worker;
    slot->isFiber = true;
    worker.fibers.push_back(std::move(slot));
  }
  WaitingLadder ladder(launch);
  size_t live = 0;
  uint64_t seenWaits = worker.newWaits;
  for (;;) {
    bool progress = false;
    const Slot *waiting = nullptr;
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
      } else if (!waiting || saysMore(slot, *waiting)) {
        waiting = &slot;
      }
    }
    // A wait that begins says that the one before it has ended.
    progress |= worker.newWaits != seenWaits;
    seenWaits = worker.newWaits;
    if (progress) {
      ladder.progress();
      continue;
    }
    if (live == 0)
      return;
    ladder.afterIdleRound(live, *waiting);
  }
}

} // namespace piton::sim
