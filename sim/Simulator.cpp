// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The simulated NPU in fast mode: runs the blocks of a launch on the team of the calling thread or
// on Piton's own pool. Kernels that cannot block are called directly over contiguous ranges of
// blocks; the others run as fibers, as many alive together as the SoC has cores.

#include "runtime/Threads.h"
#include "sim/Faults.h"
#include "sim/LoadedKernel.h"
#include "sim/Product.h"
#include "sim/Sanitizers.h"
#include "sim/SignalChain.h"
#include "sim/Team.h"
#include "sim/Waits.h"
#include "sim/Worker.h"

#include <algorithm>
#include <chrono>
#include <immintrin.h>
#include <pthread.h>

namespace piton::sim {
namespace {

using Clock = std::chrono::steady_clock;

/// Below this estimate a launch stays on the caller: waking another thread costs more.
constexpr uint64_t kSerialNanoseconds = 8000;
/// Kernels that need more native stack than this run as fibers, whose stacks are made to measure.
constexpr uint64_t kPlainStackBytes = 256 * 1024;
/// Blocks of one round: ranges hold 32-bit positions.
constexpr uint64_t kRoundBlocks = uint64_t(1) << 31;

/// Kernels start with default floating-point control, whatever the host program has set.
class FloatingPointDefaults {
public:
  FloatingPointDefaults() : saved(_mm_getcsr()) { _mm_setcsr(0x1F80); }
  ~FloatingPointDefaults() { _mm_setcsr(saved); }

private:
  unsigned saved;
};

void noteBlockTime(const LoadedKernel &kernel, Clock::duration time, uint64_t blocks) {
  auto total = static_cast<uint64_t>(std::chrono::nanoseconds(time).count());
  auto perBlock = static_cast<uint32_t>(std::min<uint64_t>(total / blocks + 1, UINT32_MAX));
  uint32_t before = kernel.blockNanoseconds.load(std::memory_order_relaxed);
  // Early estimates contain page faults and cold caches, so new values weigh half.
  kernel.blockNanoseconds.store(before ? before / 2 + perBlock / 2 + 1 : perBlock,
                                std::memory_order_relaxed);
}

/// One member of a team working on a round of plain calls: its own range first, then the rear
/// halves of what others have left.
void plainMember(void *data, unsigned index, unsigned) {
  auto &launch = *static_cast<Launch *>(data);
  Worker &worker = Worker::ofThisThread();
  Slot &slot = worker.plain;
  if (!slot.prepare(launch))
    return;
  FloatingPointDefaults defaults;
  unsigned own = index % launch.rangeCount;
  uint64_t share = std::max<uint64_t>(1, std::min(launch.blocks, kRoundBlocks) / launch.rangeCount);
  auto step = static_cast<uint32_t>(std::clamp<uint64_t>(share / 16, 1, 4096));
  auto run = [&](uint32_t begin, uint32_t end) {
    return !launch.stopped() && runBlocks(slot, launch.roundBase + begin, launch.roundBase + end);
  };
  uint32_t begin, end;
  uint64_t done = 0;
  Clock::time_point start = Clock::now();
  for (; launch.ranges[own].takeFront(step, begin, end); done += end - begin)
    if (!run(begin, end))
      return;
  if (index == 0 && done)
    noteBlockTime(launch.kernel, Clock::now() - start, done);
  for (unsigned i = 1; i < launch.rangeCount; ++i) {
    BlockRange &victim = launch.ranges[(own + i) % launch.rangeCount];
    while (victim.takeRearHalf(begin, end))
      for (uint32_t b = begin; b < end; b += step)
        if (!run(b, std::min(b + step, end)))
          return;
  }
  worker.trimPlain();
}

/// Runs everything on the calling thread.
void runPlainHere(Launch &launch) {
  Worker &worker = Worker::ofThisThread();
  if (!worker.plain.prepare(launch))
    return;
  FloatingPointDefaults defaults;
  if (launch.blocks == 1) {
    runBlocks(worker.plain, 0, 1);
  } else {
    Clock::time_point start = Clock::now();
    if (runBlocks(worker.plain, 0, launch.blocks))
      noteBlockTime(launch.kernel, Clock::now() - start, launch.blocks);
  }
  worker.trimPlain();
}

void runPlain(Launch &launch) {
  uint64_t estimate = launch.kernel.blockNanoseconds.load(std::memory_order_relaxed);
  unsigned threads = static_cast<unsigned>(std::min<uint64_t>(threadBudget(), launch.blocks));
  if (threads <= 1 || (estimate && estimate * launch.blocks < kSerialNanoseconds))
    return runPlainHere(launch);
  for (uint64_t base = 0; base < launch.blocks && !launch.stopped(); base += kRoundBlocks) {
    uint64_t count = std::min(kRoundBlocks, launch.blocks - base);
    launch.roundBase = base;
    launch.rangeCount = std::min(threads, Launch::kMaxRanges);
    for (unsigned i = 0; i < launch.rangeCount; ++i)
      launch.ranges[i].reset(static_cast<uint32_t>(count * i / launch.rangeCount),
                             static_cast<uint32_t>(count * (i + 1) / launch.rangeCount));
    runTeam(launch.request.onCallerThread, threads, plainMember, &launch);
  }
}

void fiberMember(void *data, unsigned index, unsigned count) {
  auto &launch = *static_cast<Launch *>(data);
  unsigned members = std::min(count, launch.workers);
  if (index >= members)
    return;
  FloatingPointDefaults defaults;
  InLibrary here; // its blocks may wait: the launch says what they do
  // The residency is divided exactly: more blocks alive than cores would hide standstills.
  unsigned slots = launch.residency / members + (index < launch.residency % members ? 1 : 0);
  Worker &worker = Worker::ofThisThread();
  runFibers(worker, launch, slots);
  worker.trimFibers();
}

void runAsFibers(Launch &launch) {
  const KernelMetadata &meta = launch.kernel.metadata();
  uint32_t cores = launch.request.model->coresFor(meta.mixMode);
  launch.residency = static_cast<uint32_t>(std::min<uint64_t>(cores, launch.blocks)) * launch.sides;
  launch.workers = std::min(threadBudget(), launch.residency);
  runTeam(launch.request.onCallerThread, launch.workers, fiberMember, &launch);
}

std::atomic<uint32_t> running{0};

/// Counts among runningLaunches().
struct Running {
  Running() { running.fetch_add(1, std::memory_order_relaxed); }
  ~Running() { running.fetch_sub(1, std::memory_order_relaxed); }
};

class Simulator final : public Executor {
public:
  piton_status_t load(std::string_view image, std::shared_ptr<const Kernel> &out) override {
    return LoadedKernel::load(image, out);
  }

  piton_status_t run(const LaunchRequest &request) override {
    const auto &kernel = static_cast<const LoadedKernel &>(*request.kernel);
    const KernelMetadata &meta = kernel.metadata();
    if (!request.signalsReady)
      ensureSignalHandlers();
    Running counted;
    Launch launch(request, kernel);
    RunningOnBoard shown(launch);
    if (launch.stopped()) // Ctrl-C while it was queued
      return launch.finish();
    Memory locks; // fresh, hence zero
    if (meta.lockWords) {
      if (!locks.reserve(meta.lockWords * 8))
        return fail(PITON_ERROR_OUT_OF_MEMORY, "kernel '" + meta.name + "': no memory for " +
                                                   std::to_string(meta.lockWords) + " lock words");
      launch.lockBuffer = locks.data();
    }
    Memory shared; // fresh, hence zero
    if (meta.sharedBytes) {
      uint64_t bytes = 0;
      if (__builtin_mul_overflow(launch.sharedStride(), launch.blocks, &bytes) ||
          !shared.reserve(bytes))
        return fail(PITON_ERROR_OUT_OF_MEMORY,
                    "kernel '" + meta.name + "': no memory for what the two vector cores of " +
                        std::to_string(launch.blocks) + " blocks share (" +
                        std::to_string(meta.sharedBytes) + " bytes each)");
      launch.shared = shared.data();
    }
    if (meta.canBlock || meta.stackBytes > kPlainStackBytes)
      runAsFibers(launch);
    else
      runPlain(launch);
    return launch.finish();
  }

  piton_status_t product(const ProductRequest &request) override {
    Running counted;
    FloatingPointDefaults defaults;
    return runProduct(request);
  }
};

void afterForkInChild() {
  resetSignalChainAfterFork();
  resetTeamsAfterFork();
  Worker::resetAfterFork();
  running.store(0);
}

} // namespace
} // namespace piton::sim

uint32_t piton::runningLaunches() { return sim::running.load(std::memory_order_relaxed); }

piton::Executor &piton::simulator() {
  static auto *instance = [] {
    pthread_atfork(nullptr, nullptr, sim::afterForkInChild);
    return new sim::Simulator; // never destroyed: threads may still run at exit
  }();
  return *instance;
}
