// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A fault is recorded in the slot of the block, and the interrupted context is rewritten so that
// the thread continues at the slot's escape point once the handler returns. Ctrl-C raises a counter
// that all launches poll and sends SIGSEGV to threads inside a kernel: with that signal the same
// handler serves, and TSan delivers it at once where it would defer any asynchronous signal.
//
// The counter rises before a thread is looked at, and a thread shows that it is in a kernel before
// it reads the counter: so either the thread is sent the signal, or it stops by itself.

#include "sim/Faults.h"

#include "sim/GuardedMemory.h"
#include "sim/SignalChain.h"
#include "sim/Waits.h"

#include <cerrno>
#include <cinttypes>
#include <csignal>
#include <cstdio>
#include <sys/syscall.h>
#include <unistd.h>

namespace piton::sim {
namespace {

constexpr int kFaultSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
constexpr int kInterruptSignal = SIGSEGV;

std::atomic<uint64_t> epoch{1}; // 0 stands for none

/// Makes `worker`'s thread look at its pending interrupt. The value tells our signal from others,
/// however late it comes.
void sendInterrupt(Worker &worker, pid_t thread) {
  worker.interruptPending.store(true);
  siginfo_t info = {};
  info.si_signo = kInterruptSignal;
  info.si_code = SI_QUEUE;
  info.si_pid = getpid();
  info.si_uid = getuid();
  info.si_value.sival_ptr = &epoch;
  syscall(SYS_rt_tgsigqueueinfo, getpid(), thread, kInterruptSignal, &info);
}

bool isInterrupt(const siginfo_t *info) {
  return info->si_code == SI_QUEUE && info->si_value.sival_ptr == &epoch;
}

/// True if the bytes before `address` are a call instruction, as before a return address.
[[gnu::no_sanitize("address", "thread")]] bool followsCall(uint64_t address) {
  const auto *code = reinterpret_cast<const uint8_t *>(address);
  if (code[-5] == 0xE8)
    return true;
  for (int length : {2, 3, 4, 6, 7}) // call *register, *disp8(register), *disp32(register), ...
    if (code[-length] == 0xFF && (code[-length + 1] >> 3 & 7) == 2)
      return true;
  return false;
}

/// Code outside the image (libm, memcpy, a service) faulted: the line of the call is the one to
/// report. Services note their caller; otherwise the lowest stack word that is a return address
/// into the image is very likely it.
uint64_t callerInImage(const Slot &slot, uint64_t stackPointer) {
  constexpr uint64_t maxWords = 8192;
  if (slot.serviceCaller)
    return slot.serviceCaller - 1;
  uint64_t end = slot.escape.rsp;
  if (stackPointer >= end || (stackPointer & 7))
    return 0;
  const auto *word = reinterpret_cast<const uint64_t *>(stackPointer);
  for (uint64_t i = 0; i < maxWords && stackPointer + i * 8 < end; ++i)
    if (slot.launch->kernel.contains(word[i] - 8) && slot.launch->kernel.contains(word[i]) &&
        followsCall(word[i]))
      return word[i] - 1; // the call, not the instruction behind it
  return 0;
}

/// Leaves the kernel at the slot's escape point, which makes the block end as interrupted.
void leaveInterrupted(Worker &worker, Slot &slot, ucontext_t *context) {
  const greg_t *registers = context->uc_mcontext.gregs;
  slot.fault.pc = static_cast<uint64_t>(registers[REG_RIP]);
  if (!slot.launch->kernel.contains(slot.fault.pc))
    slot.fault.pc = slot.waitsAt ? slot.waitsAt
                                 : callerInImage(slot, static_cast<uint64_t>(registers[REG_RSP]));
  slot.exit = BlockExit::Interrupted;
  worker.current.store(nullptr, std::memory_order_relaxed);
  resumeAfterSignal(context, slot.escape);
}

void recordFault(Slot &slot, int signal, const siginfo_t *info, const greg_t *registers) {
  FaultRecord &fault = slot.fault;
  fault.signal = signal;
  fault.code = info->si_code;
  fault.address = reinterpret_cast<uint64_t>(info->si_addr);
  fault.pc = static_cast<uint64_t>(registers[REG_RIP]);
  fault.write = registers[REG_ERR] & 2;
  auto stackPointer = static_cast<uint64_t>(registers[REG_RSP]);
  constexpr uint64_t nearby = 128 * 1024;
  fault.stackOverflow = signal == SIGSEGV && fault.address + nearby > stackPointer &&
                        fault.address < stackPointer + nearby && stackPointer < slot.escape.rsp &&
                        fault.address < slot.escape.rsp;
  if (!slot.launch->kernel.contains(fault.pc) && !fault.stackOverflow)
    fault.pc = callerInImage(slot, stackPointer);
}

[[gnu::no_sanitize("address", "thread")]] void onFault(int signal, siginfo_t *info, void *raw,
                                                       int link) {
  int savedErrno = errno;
  auto *context = static_cast<ucontext_t *>(raw);
  Worker *worker = Worker::ofThisThreadOrNull();
  Slot *slot = worker ? worker->current.load(std::memory_order_relaxed) : nullptr;
  bool sent = info->si_code <= 0;
  if (leaveGuardedAccess(signal, info, context)) {
    // what the host did for a user's address, not a kernel
  } else if (sent && signal == kInterruptSignal && worker &&
             (worker->interruptPending.exchange(false) || isInterrupt(info))) {
    if (slot && !slot->inService) // otherwise the counter is polled in a moment
      leaveInterrupted(*worker, *slot, context);
  } else if (!slot || slot->inService || sent) {
    passOn(signal, info, raw, link);
  } else {
    // From here on a second fault is one of ours and ends the process.
    worker->current.store(nullptr, std::memory_order_relaxed);
    recordFault(*slot, signal, info, context->uc_mcontext.gregs);
    slot->exit = BlockExit::Fault;
    resumeAfterSignal(context, slot->escape);
  }
  errno = savedErrno;
}

void installFaultHandlers(bool wait) {
  for (int signal : kFaultSignals)
    installInFront(signal, onFault, 0, 0, wait);
}

/// Ctrl-C: the previous handler (Python's) notes the signal, then launches end. In this order,
/// because another thread may return from its launch at once and ask Python whether a signal is
/// noted: a later note would raise a second KeyboardInterrupt.
void onInterrupt(int signal, siginfo_t *info, void *context, int link) {
  int savedErrno = errno;
  // Meanwhile this thread counts as outside of its kernel: nobody may pull it out of the handler.
  Worker *worker = Worker::ofThisThreadOrNull();
  Slot *slot = worker ? worker->current.exchange(nullptr) : nullptr;
  passOn(signal, info, context, link);
  // That handler may have changed the signal mask (this one lasts until the return) and, as LLVM's
  // does, the actions of other signals.
  sigset_t held;
  sigemptyset(&held);
  sigaddset(&held, kInterruptSignal);
  pthread_sigmask(SIG_BLOCK, &held, nullptr);
  installFaultHandlers(false);
  if (slot)
    worker->current.store(slot);
  interruptLaunches();
  errno = savedErrno;
}

/// A process that leaves Ctrl-C at its default dies from it, as C programs do.
bool wantsInterrupt(const struct sigaction &action) {
  return (action.sa_flags & SA_SIGINFO) ||
         (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
}

} // namespace

void ensureSignalHandlers() {
  struct sigaction fault = {}, interrupt = {};
  sigaction(SIGSEGV, nullptr, &fault);
  sigaction(SIGINT, nullptr, &interrupt);
  if (!isChained(fault))
    installFaultHandlers(true);
  // Ctrl-C may arrive on the very thread it makes leave its kernel: only once it is handled.
  if (!isChained(interrupt) && wantsInterrupt(interrupt))
    installInFront(SIGINT, onInterrupt, interrupt.sa_flags & SA_RESTART, kInterruptSignal, true);
}

std::string describeBlock(const Slot &slot) {
  const uint32_t *pid = slot.context.pid;
  return "kernel '" + slot.launch->kernel.metadata().name + "', program id (" +
         std::to_string(pid[0]) + ", " + std::to_string(pid[1]) + ", " + std::to_string(pid[2]) +
         ")" + (slot.launch->sides > 1 ? ", sub_vec_id " + std::to_string(slot.context.side) : "");
}

std::string describePlace(const Slot &slot, uint64_t pc) {
  std::string line = slot.launch->kernel.lineOf(pc);
  return (line.empty() ? std::string() : line + ": ") + describeBlock(slot);
}

/// What is wrong with an access to the heap of a PE of another host, which is not mapped here;
/// empty if it was none.
static std::string describeOtherHost(const Slot &slot) {
  const DeviceState *state = stateOf(*slot.launch);
  int32_t pe = state ? heapOwner(*state, slot.fault.address) : -1;
  if (pe < 0 || !state->boards || state->boards[pe])
    return {};
  return describeAddress(state, reinterpret_cast<void *>(slot.fault.address)) +
         ", which is on another host: loads and stores reach PEs of this host only; instead of "
         "symm_at or remote_ptr use libshmem_device.getmem or putmem (int_p for one value)";
}

std::string describeFault(const Slot &slot) {
  const FaultRecord &fault = slot.fault;
  std::string line = slot.launch->kernel.lineOf(fault.pc);
  char address[32];
  std::snprintf(address, sizeof(address), "0x%" PRIx64, fault.address);
  std::string what;
  if (fault.stackOverflow) {
    what = "stack overflow";
  } else if (fault.signal == SIGSEGV || fault.signal == SIGBUS) {
    what = fault.write ? "invalid store to " : "invalid load from ";
    std::string elsewhere = describeOtherHost(slot);
    if (!elsewhere.empty())
      what += elsewhere;
    else if (fault.signal == SIGBUS)
      what += std::string("address ") + address + ", behind the end of its file";
    else if (fault.code == SEGV_ACCERR)
      what += std::string("address ") + address + ", which may not be " +
              (fault.write ? "written" : "read");
    else if (fault.code == SI_KERNEL)
      what = "access to a non-canonical address"; // the processor does not say which
    else
      what += std::string("unmapped address ") + address;
    if (elsewhere.empty())
      what += fault.code != SI_KERNEL && fault.address < 4096
                  ? " (a null pointer?)"
                  : "; check the pointer arithmetic and the mask";
  } else if (fault.signal == SIGFPE) {
    what = "integer division by zero, or of the smallest integer by -1";
  } else {
    what = "illegal instruction; the image was compiled for another CPU";
  }
  return (line.empty() ? std::string() : line + ": ") + what + " (" + describeBlock(slot) + ")";
}

} // namespace piton::sim

namespace piton {

uint64_t interruptEpoch() { return sim::epoch.load(std::memory_order_relaxed); }

uint64_t armInterrupts() {
  sim::ensureSignalHandlers();
  return sim::epoch.load();
}

void interruptLaunches() {
  sim::epoch.fetch_add(1);
  sim::Worker::forEach([](sim::Worker &worker) {
    pid_t thread = worker.thread.load();
    if (thread && worker.current.load())
      sim::sendInterrupt(worker, thread);
  });
}

} // namespace piton
