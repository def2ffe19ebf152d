// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Service threads. With plain pthreads, as std::thread reports failure by an exception.

#include "runtime/Threads.h"

#include <csignal>
#include <memory>
#include <pthread.h>
#include <unistd.h>

namespace piton {
namespace {

struct Start {
  void (*body)(void *);
  void *data;
};

void *threadMain(void *argument) {
  Start start = *std::unique_ptr<Start>(static_cast<Start *>(argument));
  InLibrary forever;
  start.body(start.data);
  return nullptr;
}

} // namespace

//===-- Records ------------------------------------------------------------------------------===//

namespace {

struct ListedRecord : ThreadRecord {
  std::atomic<bool> taken{true};
  ListedRecord *next = nullptr;
};
std::atomic<ListedRecord *> records{nullptr};

ListedRecord *takeRecord() {
  for (ListedRecord *at = records.load(std::memory_order_acquire); at; at = at->next)
    if (bool free = false; at->taken.compare_exchange_strong(free, true))
      return at;
  auto *made = new ListedRecord;
  made->next = records.load(std::memory_order_relaxed);
  while (!records.compare_exchange_weak(made->next, made))
    ;
  return made;
}

/// Gives the record back with its thread.
struct RecordOwner {
  ListedRecord *record = nullptr;
  ~RecordOwner() {
    if (!record)
      return;
    record->thread.store(0);
    record->taken.store(false, std::memory_order_release);
  }
};

/// A pointer only, as every launch reads it; the owner is apart.
thread_local ListedRecord *recordPointer = nullptr;
thread_local RecordOwner recordOwner;

} // namespace

ThreadRecord &recordOfThread() {
  if (!recordPointer) {
    recordPointer = recordOwner.record = takeRecord();
    recordPointer->works = 0;
    recordPointer->inLibrary = recordPointer->inCalls = 0;
    recordPointer->thread = gettid();
  }
  return *recordPointer;
}

void resetThreadRecordsAfterFork() {
  for (ListedRecord *at = records.load(std::memory_order_acquire); at; at = at->next)
    if (at != recordPointer)
      at->thread = at->inCalls = 0;
  recordOfThread().thread = gettid();
}

bool othersAreInCalls() {
  for (ListedRecord *at = records.load(std::memory_order_acquire); at; at = at->next)
    if (at != recordPointer && at->inCalls.load() > 0)
      return true;
  return false;
}

bool isInLibrary(pid_t thread) {
  for (ListedRecord *at = records.load(std::memory_order_acquire); at; at = at->next)
    if (at->thread.load() == thread)
      return at->inLibrary.load() > 0;
  return false;
}

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
