// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The handler only notes the signal; a thread that it wakes ends the process later.

#include "runtime/shmem/Termination.h"

#include "runtime/shmem/ServiceThread.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <mutex>
#include <new>
#include <sys/eventfd.h>
#include <sys/types.h>
#include <unistd.h>

namespace piton::shmem {

namespace {

using Clock = std::chrono::steady_clock;

struct Termination {
  std::mutex mutex; ///< arming and disarming
  std::atomic<bool> armed{false};
  std::atomic<bool> requested{false};
  std::atomic<int> wake{-1};      ///< written to by the handler
  std::atomic<int64_t> lostAt{0}; ///< Clock ticks, 0 while the job lives
  bool hasThread = false;
};

/// Never destroyed: a signal may come while the process ends.
Termination &termination() {
  static Termination &instance = *new Termination;
  return instance;
}

/// Async-signal-safe.
void endByDefault() {
  struct sigaction fallback = {};
  fallback.sa_handler = SIG_DFL;
  sigaction(SIGTERM, &fallback, nullptr);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, SIGTERM);
  raise(SIGTERM); // in the handler the signal is held back until it returns
  pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
}

Termination *forHandler = nullptr; ///< set before the handler is

void onTerminate(int) {
  int savedErrno = errno;
  uint64_t one = 1;
  forHandler->requested.store(true);
  if (!forHandler->armed.load() || write(forHandler->wake.load(), &one, sizeof(one)) < 0)
    endByDefault();
  errno = savedErrno;
}

bool isOurs(const struct sigaction &action) {
  return !(action.sa_flags & SA_SIGINFO) && action.sa_handler == onTerminate;
}

/// Sleeps through the grace that the state of the job allows, then ends the process.
void waitAndEnd(Termination &self) {
  uint64_t count;
  while (read(self.wake.load(), &count, sizeof(count)) < 0 && errno == EINTR) {
  }
  Clock::time_point end = Clock::now() + kSilentGrace;
  while (Clock::now() < end && self.armed.load()) {
    if (int64_t lost = self.lostAt.load())
      end = std::max(end, Clock::time_point(Clock::duration(lost)) + kLossGrace);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  endByDefault();
}

/// Under the mutex. False if the system refuses; SIGTERM then keeps its usual effect.
bool startWaiter(Termination &self) {
  if (self.hasThread)
    return true;
  int fd = eventfd(0, EFD_CLOEXEC);
  if (fd < 0)
    return false;
  self.wake = fd;
  std::thread thread;
  std::string error;
  self.hasThread = startLibraryThread(thread, [&self] { waitAndEnd(self); }, error);
  if (self.hasThread)
    thread.detach();
  return self.hasThread;
}

} // namespace

void armTermination() {
  Termination &self = termination();
  std::lock_guard lock(self.mutex);
  self.lostAt = 0;
  struct sigaction current = {};
  if (sigaction(SIGTERM, nullptr, &current) != 0)
    return;
  if (isOurs(current)) {
    self.armed = true;
    return;
  }
  if ((current.sa_flags & SA_SIGINFO) || current.sa_handler != SIG_DFL || !startWaiter(self))
    return;
  forHandler = &self;
  self.armed = true;
  struct sigaction action = {};
  action.sa_handler = onTerminate;
  action.sa_flags = SA_RESTART | SA_ONSTACK;
  sigaction(SIGTERM, &action, nullptr);
}

void disarmTermination() {
  Termination &self = termination();
  std::lock_guard lock(self.mutex);
  self.armed = false; // a signal that has come already acts now
  struct sigaction current = {}, fallback = {};
  fallback.sa_handler = SIG_DFL;
  if (sigaction(SIGTERM, nullptr, &current) == 0 && isOurs(current))
    sigaction(SIGTERM, &fallback, nullptr);
}

bool terminationRequested() { return termination().requested.load(); }

void noteLoss() {
  int64_t never = 0;
  termination().lostAt.compare_exchange_strong(never, Clock::now().time_since_epoch().count());
}

void disarmTerminationInChild() {
  Termination &self = termination();
  new (&self.mutex) std::mutex; // another thread of the parent may have held it
  self.hasThread = false;
  self.requested = false;
  self.lostAt = 0;
  if (int fd = self.wake.exchange(-1); fd >= 0)
    close(fd);
  disarmTermination();
}

} // namespace piton::shmem
