// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a thread needs to run blocks: slots (a block context with its arena and the way out of the
// kernel), scratch memory and a signal stack. Workers are found through one thread_local pointer,
// read only outside code that can yield.
#ifndef PITON_SIM_WORKER_H
#define PITON_SIM_WORKER_H

#include "abi/KernelAbi.h"
#include "sim/Context.h"
#include "sim/Launch.h"

#include <atomic>
#include <memory>
#include <string>
#include <sys/types.h>
#include <vector>

namespace piton::sim {

struct Worker;

/// Page-aligned memory with an inaccessible page behind it, so that an overrun faults. Contents are
/// undefined; the memory is kept for the next launch.
class Memory {
public:
  Memory() = default;
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;
  ~Memory() { release(); }
  /// Makes at least `bytes` available; false if the system has no more memory.
  bool reserve(size_t bytes);
  void release();
  uint8_t *data() const { return begin; }
  size_t size() const { return capacity; }

private:
  uint8_t *begin = nullptr;
  size_t capacity = 0;
};

/// A fiber's stack: an inaccessible page below, since stacks grow down.
class Stack {
public:
  Stack() = default;
  Stack(const Stack &) = delete;
  Stack &operator=(const Stack &) = delete;
  ~Stack() { release(); }
  bool reserve(size_t bytes);
  void release();
  uint8_t *bottom() const { return base; }
  uint8_t *top() const { return base + capacity; }
  size_t size() const { return capacity; }

private:
  uint8_t *base = nullptr;
  size_t capacity = 0;
};

/// Why a block ended before its kernel returned.
enum class BlockExit : uint8_t { None, Fault, Assert, Stopped, Interrupted };

/// What the signal handler saw.
struct FaultRecord {
  int signal = 0, code = 0;
  uint64_t address = 0;
  uint64_t pc = 0; ///< in the kernel's code; of the call, if the fault lies in a callee
  bool write = false;
  bool stackOverflow = false;
};

/// Room for one live block.
struct Slot {
  BlockContext context = {}; ///< context.machine points back to this slot
  SavePoint escape = {};     ///< leaves the kernel
  Launch *launch = nullptr;
  Worker *worker = nullptr;
  uint64_t block = 0; ///< linear number, for prints
  /// Set while a service holds locks or allocates: signals must not leave the kernel then.
  volatile bool inService = false;
  /// Where the kernel called the service that runs now, or 0: the line of a fault inside it.
  volatile uint64_t serviceCaller = 0;
  uint64_t waitsAt = 0; ///< where the kernel last called yield
  /// What it waits for there, if it said so; on its own stack.
  const WaitRequest *waitRequest = nullptr;
  volatile BlockExit exit = BlockExit::None;
  FaultRecord fault;
  Memory arena, workspace;
  std::string printed; ///< by the block that runs now

  // Fibers only.
  bool isFiber = false, running = false;
  Stack stack;
  void *stackPointer = nullptr; ///< while the fiber is suspended
  void *tsanFiber = nullptr;
  void *asanFakeStack = nullptr;

  ~Slot();
  /// Points the slot at a launch and provides its memory; on failure the launch has the error.
  bool prepare(Launch &launch);
  /// Ends the block from inside a service.
  [[noreturn]] void leave(BlockExit reason);
  /// Hands prints over and reports an early exit to the launch.
  void finishBlock();
};

/// Per-thread state. Never freed: signal handlers of other threads may look at it; the workers of
/// ended threads are used again.
struct Worker {
  std::atomic<Slot *> current{nullptr}; ///< the slot whose kernel runs on this thread right now
  std::atomic<bool> interruptPending{false};
  std::atomic<pid_t> thread{0};
  Slot plain; ///< for kernels that cannot block
  std::vector<std::unique_ptr<Slot>> fibers;
  uint64_t newWaits = 0; ///< waits of device functions that its fibers began
  Memory scratch;        ///< of the tile product
  Memory signalStack;

  // The scheduler's side of a fiber switch.
  void *schedulerStack = nullptr;
  void *tsanScheduler = nullptr;
  const void *asanBottom = nullptr;
  size_t asanSize = 0;

  /// This thread's worker, created on first use.
  static Worker &ofThisThread();
  /// As above, but null if there is none. Async-signal-safe.
  static Worker *ofThisThreadOrNull();
  /// Calls `visit` for every worker. Async-signal-safe.
  static void forEach(void (*visit)(Worker &));
  /// After fork, in the child: only this thread is left.
  static void resetAfterFork();

  /// Give memory beyond the limit back.
  void trimPlain();
  void trimFibers();
};

/// Runs blocks [begin, end) of the launch's round as plain calls. False if one ended early.
bool runBlocks(Slot &slot, uint64_t begin, uint64_t end);

/// Runs one fiber worker until no block is left to start and all its blocks have ended.
void runFibers(Worker &worker, Launch &launch, unsigned slots);

/// Suspends the fiber in `slot` until the scheduler comes round again.
void suspendFiber(Slot &slot);

/// The services handed to kernels.
extern const BlockServices kBlockServices;

} // namespace piton::sim

#endif // PITON_SIM_WORKER_H
