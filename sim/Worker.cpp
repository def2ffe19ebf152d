// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Worker and slot life cycle, and the plain-call loop over blocks.

#include "sim/Worker.h"

#include "sim/Faults.h"
#include "sim/Sanitizers.h"

#include <algorithm>
#include <cinttypes>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <immintrin.h>
#include <mutex>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace piton::sim {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kSignalStackBytes = 64 * 1024;
constexpr size_t kKeepBytes = size_t(48) << 20; ///< local buffers a worker keeps between launches
constexpr size_t kMaxWorkers = 4096;

size_t roundToPage(size_t bytes) { return (bytes + kPage - 1) & ~(kPage - 1); }

void *mapMemory(size_t bytes) {
  void *p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? nullptr : p;
}

/// Of the last-level cache, as the kernel counts it (sysconf multiplies by CPUs that a virtual
/// machine does not have).
uint64_t lastLevelCacheBytes() {
  uint64_t kilobytes = 0;
  if (FILE *file = std::fopen("/sys/devices/system/cpu/cpu0/cache/index3/size", "re")) {
    if (std::fscanf(file, "%" SCNu64 "K", &kilobytes) != 1)
      kilobytes = 0;
    std::fclose(file);
  }
  return kilobytes ? kilobytes << 10 : uint64_t(32) << 20;
}

/// A launch that moves more pushes out of the cache what it has written before anybody reads it.
uint64_t streamBytes() {
  static const uint64_t bytes = lastLevelCacheBytes();
  return bytes;
}

// Workers that exist, in order of creation, and those whose thread has ended.
std::atomic<Worker *> allWorkers[kMaxWorkers];
std::atomic<size_t> workerCount{0};
std::mutex freeMutex;
std::vector<Worker *> &freeWorkers() {
  static auto *list = new std::vector<Worker *>;
  return *list;
}

// The initial-exec model makes the access a plain load, which a signal handler may do.
[[gnu::tls_model("initial-exec")]] thread_local Worker *thisWorker = nullptr;

/// Returns the worker when the thread ends.
struct WorkerReturner {
  ~WorkerReturner() {
    Worker *worker = thisWorker;
    if (!worker)
      return;
    thisWorker = nullptr;
    worker->thread.store(0);
    std::lock_guard<std::mutex> guard(freeMutex);
    freeWorkers().push_back(worker);
  }
};
thread_local WorkerReturner returner;

/// A handler needs a stack of its own, or a stack overflow could not be reported.
void installSignalStack(Worker &worker) {
  stack_t current = {};
  if (sigaltstack(nullptr, &current) == 0 && !(current.ss_flags & SS_DISABLE) &&
      current.ss_size >= kSignalStackBytes / 2)
    return;
  if (!worker.signalStack.reserve(kSignalStackBytes))
    return;
  stack_t own = {};
  own.ss_sp = worker.signalStack.data();
  own.ss_size = worker.signalStack.size();
  sigaltstack(&own, nullptr);
}

Worker *createWorker() {
  std::lock_guard<std::mutex> guard(freeMutex);
  if (!freeWorkers().empty()) {
    Worker *worker = freeWorkers().back();
    freeWorkers().pop_back();
    return worker;
  }
  auto *worker = new Worker;
  size_t index = workerCount.load();
  if (index < kMaxWorkers) { // beyond that Ctrl-C waits for the block to end
    allWorkers[index].store(worker);
    workerCount.store(index + 1);
  }
  return worker;
}

} // namespace

bool Memory::reserve(size_t bytes) {
  if (bytes <= capacity)
    return true;
  release();
  size_t size = roundToPage(bytes);
  auto *memory = static_cast<uint8_t *>(mapMemory(size + kPage));
  if (!memory)
    return false;
  mprotect(memory + size, kPage, PROT_NONE);
  begin = memory;
  capacity = size;
  return true;
}

void Memory::release() {
  if (begin)
    munmap(begin, capacity + kPage);
  begin = nullptr;
  capacity = 0;
}

bool Stack::reserve(size_t bytes) {
  if (bytes <= capacity)
    return true;
  release();
  size_t size = roundToPage(bytes);
  auto *memory = static_cast<uint8_t *>(mapMemory(size + kPage));
  if (!memory)
    return false;
  mprotect(memory, kPage, PROT_NONE);
  base = memory + kPage;
  capacity = size;
  return true;
}

void Stack::release() {
  if (base)
    munmap(base - kPage, capacity + kPage);
  base = nullptr;
  capacity = 0;
}

Slot::~Slot() { destroyTsanFiber(tsanFiber); }

bool Slot::prepare(Launch &newLaunch) {
  const KernelMetadata &meta = newLaunch.kernel.metadata();
  launch = &newLaunch;
  serviceCaller = waitsAt = 0;
  waitRequest = nullptr;
  exit = BlockExit::None;
  if (!arena.reserve(meta.arenaBytes) || !workspace.reserve(meta.workspaceBytes)) {
    newLaunch.fail(PITON_ERROR_OUT_OF_MEMORY,
                   "kernel '" + meta.name + "': no memory for the local buffers of a block (" +
                       std::to_string(meta.arenaBytes + meta.workspaceBytes) + " bytes)");
    return false;
  }
  context.services = &kBlockServices;
  std::copy_n(newLaunch.request.grid, 3, context.grid);
  context.arena = arena.data();
  context.lockBuffer = newLaunch.lockBuffer;
  context.workspace = meta.workspaceBytes ? workspace.data() : nullptr;
  context.machine = this;
  context.streamBytes = streamBytes();
  context.coreBarrier = &newLaunch.coreBarrier;
  context.shared = nullptr; // of a block: it is not known yet
  context.side = 0;
  context.sides = newLaunch.sides;
  return true;
}

void Slot::leave(BlockExit reason) {
  exit = reason;
  inService = false;
  waitRequest = nullptr;
  worker->current.store(nullptr, std::memory_order_relaxed);
  beforeNoReturn();
  pitonResume(&escape);
}

void Slot::finishBlock() {
  if (!printed.empty()) {
    launch->addPrint(block * launch->sides + context.side, std::move(printed));
    printed.clear();
  }
  if (exit == BlockExit::Fault)
    launch->fail(PITON_ERROR_KERNEL_FAULT, describeFault(*this));
  else if (exit == BlockExit::Interrupted)
    launch->interruptedAt(describePlace(*this, fault.pc));
  else if (exit == BlockExit::Stopped)
    launch->interruptedAt(describePlace(*this, waitsAt));
  inService = false;
}

void Worker::trimPlain() {
  if (plain.arena.size() + plain.workspace.size() <= kKeepBytes)
    return;
  plain.arena.release();
  plain.workspace.release();
}

void Worker::trimFibers() {
  // Stacks do not count: little of them is ever touched.
  size_t kept = 0;
  for (auto &slot : fibers) {
    kept += slot->arena.size() + slot->workspace.size();
    if (kept <= kKeepBytes)
      continue;
    slot->arena.release();
    slot->workspace.release();
  }
}

Worker &Worker::ofThisThread() {
  if (Worker *worker = thisWorker)
    return *worker;
  (void)&returner; // registers the destructor of this thread's instance
  Worker *worker = createWorker();
  worker->current.store(nullptr);
  worker->plain.worker = worker;
  installSignalStack(*worker);
  worker->thread.store(static_cast<pid_t>(syscall(SYS_gettid)));
  thisWorker = worker;
  return *worker;
}

Worker *Worker::ofThisThreadOrNull() { return thisWorker; }

void Worker::forEach(void (*visit)(Worker &)) {
  size_t count = workerCount.load();
  for (size_t i = 0; i < count; ++i)
    visit(*allWorkers[i].load());
}

void Worker::resetAfterFork() {
  // The others' threads do not exist here; their workers are lost, a few kilobytes each.
  workerCount.store(0);
  new (&freeMutex) std::mutex;
  new (&freeWorkers()) std::vector<Worker *>;
  Worker *worker = thisWorker;
  if (!worker)
    return;
  allWorkers[0].store(worker);
  workerCount.store(1);
  worker->thread.store(static_cast<pid_t>(syscall(SYS_gettid)));
}

/// The loop proper. Its frame is where an escape from the kernel lands, so nothing in it may need
/// a destructor.
[[gnu::noinline]] static bool callBlocks(Slot &slot, uint64_t begin, uint64_t end) {
  Worker &worker = *slot.worker;
  if (pitonSavePoint(&slot.escape))
    return false;
  worker.current.store(&slot);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  KernelEntry entry = slot.launch->kernel.entry();
  const uint8_t *args = slot.launch->request.args;
  for (uint64_t block = begin; block < end; ++block) {
    // Also before the first: Ctrl-C may have come just before `current` was set.
    if (slot.launch->stopped())
      break;
    if (block != begin)
      slot.launch->nextProgramId(slot.context.pid);
    slot.block = block;
    entry(args, &slot.context);
    if (!slot.printed.empty()) {
      slot.inService = true;
      slot.finishBlock();
    }
  }
  _mm_sfence(); // blocks may have stored past the cache
  std::atomic_signal_fence(std::memory_order_seq_cst);
  worker.current.store(nullptr, std::memory_order_relaxed);
  return true;
}

bool runBlocks(Slot &slot, uint64_t begin, uint64_t end) {
  slot.launch->programId(begin, slot.context.pid);
  if (callBlocks(slot, begin, end))
    return true;
  slot.finishBlock();
  return false;
}

} // namespace piton::sim
