// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A fault is recorded in the slot of the block, and the interrupted context is rewritten so that
// the thread continues at the slot's escape point once the handler returns. Ctrl-C sets a counter
// that all launches poll and sends SIGSEGV to threads inside a kernel: with that signal the same
// handler serves, and TSan delivers it at once where it would defer any asynchronous signal.

#include "sim/Faults.h"

#include <cerrno>
#include <cinttypes>
#include <csignal>
#include <cstdio>
#include <mutex>
#include <sys/syscall.h>
#include <unistd.h>

namespace piton::sim {
namespace {

constexpr int kFaultSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
constexpr int kInterruptSignal = SIGSEGV;

std::atomic<uint64_t> epoch{0};
std::atomic<int> runningLaunches{0};

std::mutex installMutex;
/// What to pass a signal on to. Replaced as a whole and never freed, since a handler may be
/// reading; the link keeps leak checkers content.
struct PreviousAction {
  struct sigaction action;
  const PreviousAction *older;
};
std::atomic<const PreviousAction *> previousActions[NSIG];

/// Set while a signal is passed on, so that handlers that call each other in a circle end.
std::atomic<bool> passingOn{false};

bool isOurs(const struct sigaction &action);

void passOn(int signal, siginfo_t *info, void *context) {
  const struct sigaction &before = previousActions[signal].load(std::memory_order_acquire)->action;
  bool again = passingOn.exchange(true);
  if (!again && (before.sa_flags & SA_SIGINFO) && before.sa_sigaction) {
    before.sa_sigaction(signal, info, context);
    passingOn.store(false);
    return;
  }
  if (!again && !(before.sa_flags & SA_SIGINFO) && before.sa_handler != SIG_DFL &&
      before.sa_handler != SIG_IGN) {
    before.sa_handler(signal);
    passingOn.store(false);
    return;
  }
  // The default: a fault repeats itself when the handler returns, anything else is raised again.
  struct sigaction fallback = {};
  fallback.sa_handler = SIG_DFL;
  sigaction(signal, &fallback, nullptr);
  passingOn.store(false);
  if (info->si_code <= 0)
    raise(signal);
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

[[gnu::no_sanitize("address", "thread")]] void onFault(int signal, siginfo_t *info, void *raw) {
  int savedErrno = errno;
  auto *context = static_cast<ucontext_t *>(raw);
  Worker *worker = Worker::ofThisThreadOrNull();
  bool sent = info->si_code <= 0;
  if (sent && signal == kInterruptSignal && worker && worker->interruptPending.exchange(false)) {
    Slot *slot = worker->current.load(std::memory_order_relaxed);
    if (slot && !slot->inService) { // otherwise the flag is polled in a moment
      const greg_t *registers = context->uc_mcontext.gregs;
      slot->fault.pc = static_cast<uint64_t>(registers[REG_RIP]);
      if (!slot->launch->kernel.contains(slot->fault.pc))
        slot->fault.pc = slot->waitsAt
                             ? slot->waitsAt
                             : callerInImage(*slot, static_cast<uint64_t>(registers[REG_RSP]));
      slot->exit = BlockExit::Interrupted;
      worker->current.store(nullptr, std::memory_order_relaxed);
      resumeAfterSignal(context, slot->escape);
    }
    errno = savedErrno;
    return;
  }
  Slot *slot = worker ? worker->current.load(std::memory_order_relaxed) : nullptr;
  if (!slot || slot->inService || sent) {
    passOn(signal, info, raw);
    errno = savedErrno;
    return;
  }
  // From here on a second fault is one of ours and is passed on.
  worker->current.store(nullptr, std::memory_order_relaxed);
  const greg_t *registers = context->uc_mcontext.gregs;
  FaultRecord &fault = slot->fault;
  fault.signal = signal;
  fault.code = info->si_code;
  fault.address = reinterpret_cast<uint64_t>(info->si_addr);
  fault.pc = static_cast<uint64_t>(registers[REG_RIP]);
  fault.write = registers[REG_ERR] & 2;
  auto stackPointer = static_cast<uint64_t>(registers[REG_RSP]);
  constexpr uint64_t nearby = 128 * 1024;
  fault.stackOverflow = signal == SIGSEGV && fault.address + nearby > stackPointer &&
                        fault.address < stackPointer + nearby && stackPointer < slot->escape.rsp &&
                        fault.address < slot->escape.rsp;
  if (!slot->launch->kernel.contains(fault.pc) && !fault.stackOverflow)
    fault.pc = callerInImage(*slot, stackPointer);
  slot->exit = BlockExit::Fault;
  resumeAfterSignal(context, slot->escape);
  errno = savedErrno;
}

/// Ctrl-C while launches run: the previous handler (Python's) notes the signal, then they end. In
/// this order, because another thread may return from its launch at once and ask Python whether
/// a signal is noted: a later note would raise a second KeyboardInterrupt.
void onInterrupt(int signal, siginfo_t *info, void *context) {
  int savedErrno = errno;
  passOn(signal, info, context);
  if (runningLaunches.load(std::memory_order_relaxed) > 0)
    interruptLaunches();
  errno = savedErrno;
}

bool isOurs(const struct sigaction &action) {
  return (action.sa_flags & SA_SIGINFO) &&
         (action.sa_sigaction == onFault || action.sa_sigaction == onInterrupt);
}

void install(int signal, void (*handler)(int, siginfo_t *, void *), int extraFlags) {
  struct sigaction current = {};
  if (sigaction(signal, nullptr, &current) != 0 || isOurs(current))
    return;
  struct sigaction ours = {};
  ours.sa_sigaction = handler;
  // Not deferred: the handler does not return to the faulting instruction, and the mask stays as
  // it is.
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK | extraFlags;
  sigemptyset(&ours.sa_mask);
  // Ctrl-C may arrive on the very thread it makes leave its kernel: only once it is handled.
  if (signal == SIGINT)
    sigaddset(&ours.sa_mask, kInterruptSignal);
  previousActions[signal].store(new PreviousAction{current, previousActions[signal].load()},
                                std::memory_order_release);
  sigaction(signal, &ours, nullptr);
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
  bool faultsOurs = isOurs(fault), interruptOurs = isOurs(interrupt) || !wantsInterrupt(interrupt);
  if (faultsOurs && interruptOurs)
    return;
  std::lock_guard<std::mutex> guard(installMutex);
  if (!faultsOurs)
    for (int signal : kFaultSignals)
      install(signal, onFault, SA_NODEFER);
  if (!interruptOurs)
    install(SIGINT, onInterrupt, interrupt.sa_flags & SA_RESTART);
}

std::string describeBlock(const Slot &slot) {
  const uint32_t *pid = slot.context.pid;
  return "kernel '" + slot.launch->kernel.metadata().name + "', program id (" +
         std::to_string(pid[0]) + ", " + std::to_string(pid[1]) + ", " + std::to_string(pid[2]) +
         ")";
}

std::string describePlace(const Slot &slot, uint64_t pc) {
  std::string line = slot.launch->kernel.lineOf(pc);
  return (line.empty() ? std::string() : line + ": ") + describeBlock(slot);
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
    if (fault.signal == SIGBUS)
      what += std::string("address ") + address + ", behind the end of its file";
    else if (fault.code == SEGV_ACCERR)
      what += std::string("address ") + address + ", which may not be " +
              (fault.write ? "written" : "read");
    else if (fault.code == SI_KERNEL)
      what = "access to a non-canonical address"; // the processor does not say which
    else
      what += std::string("unmapped address ") + address;
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

RunningLaunch::RunningLaunch() { runningLaunches.fetch_add(1, std::memory_order_relaxed); }
RunningLaunch::~RunningLaunch() { runningLaunches.fetch_sub(1, std::memory_order_relaxed); }

void resetFaultsAfterFork() {
  runningLaunches.store(0);
  new (&installMutex) std::mutex;
}

} // namespace piton::sim

namespace piton {

uint64_t interruptEpoch() { return sim::epoch.load(std::memory_order_relaxed); }

void interruptLaunches() {
  sim::epoch.fetch_add(1);
  sim::Worker::forEach([](sim::Worker &worker) {
    pid_t thread = worker.thread.load();
    if (!thread || !worker.current.load(std::memory_order_relaxed))
      return;
    worker.interruptPending.store(true);
    syscall(SYS_tgkill, getpid(), thread, sim::kInterruptSignal);
  });
}

} // namespace piton
