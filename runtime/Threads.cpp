// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Service threads. With plain pthreads, as std::thread reports failure by an exception.

#include "runtime/Threads.h"

#include <csignal>
#include <memory>
#include <pthread.h>

namespace piton {
namespace {

struct Start {
  void (*body)(void *);
  void *data;
};

void *threadMain(void *argument) {
  Start start = *std::unique_ptr<Start>(static_cast<Start *>(argument));
  start.body(start.data);
  return nullptr;
}

} // namespace

bool startServiceThread(void (*body)(void *), void *data) {
  sigset_t blocked, before;
  sigfillset(&blocked);
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGPROF})
    sigdelset(&blocked, signal);
  auto start = std::make_unique<Start>(Start{body, data});
  pthread_t thread;
  pthread_sigmask(SIG_SETMASK, &blocked, &before);
  int failed = pthread_create(&thread, nullptr, threadMain, start.get());
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (failed)
    return false;
  (void)start.release(); // the thread's now
  pthread_detach(thread);
  return true;
}

} // namespace piton
