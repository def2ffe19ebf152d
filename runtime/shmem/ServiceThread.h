// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Joinable threads that serve the symmetric heap and leave the program's signals to the program.
#ifndef PITON_RUNTIME_SHMEM_SERVICETHREAD_H
#define PITON_RUNTIME_SHMEM_SERVICETHREAD_H

#include "runtime/Threads.h"

#include <csignal>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

namespace piton::shmem {

/// Starts `body` on a thread with all asynchronous signals blocked. False, with the reason, if the
/// system refuses.
template <typename Body> bool startThread(std::thread &out, Body &&body, std::string &error) {
  sigset_t blocked, before;
  sigfillset(&blocked);
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGPROF})
    sigdelset(&blocked, signal);
  pthread_sigmask(SIG_SETMASK, &blocked, &before);
  bool started = true;
  try {
    out = std::thread(std::forward<Body>(body));
  } catch (const std::system_error &failure) {
    error = std::string("cannot start a thread: ") + failure.what();
    started = false;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

/// As startThread, for the library itself: what the thread does is no work of the program.
template <typename Body>
bool startLibraryThread(std::thread &out, const Body &body, std::string &error) {
  auto marked = [body] {
    InLibrary forever;
    body();
  };
  return startThread(out, marked, error);
}

} // namespace piton::shmem

#endif // PITON_RUNTIME_SHMEM_SERVICETHREAD_H
