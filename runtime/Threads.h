// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Threads that serve the runtime: they leave the program's signals to the program's threads.
#ifndef PITON_RUNTIME_THREADS_H
#define PITON_RUNTIME_THREADS_H

#include <atomic>
#include <sys/types.h>

namespace piton {

/// Starts a detached thread that runs body(data) with all signals blocked except those that faults
/// and interrupts of kernels need. False if the system refuses.
bool startServiceThread(void (*body)(void *), void *data);

/// A thread as the watch knows it. Records are never freed; those of ended threads are used again.
struct ThreadRecord {
  std::atomic<pid_t> thread{0};
  std::atomic<int> inLibrary{0}; ///< waits, runs work of a stream or a kernel, or serves
  std::atomic<int> inCalls{0};   ///< calls of the symmetric heap's API that it is in
  int works = 0;                 ///< pieces of work that the thread is in
};

/// This thread's, made on first use (Threads.cpp).
ThreadRecord &recordOfThread();

/// After fork, in the child: only this thread is left.
void resetThreadRecordsAfterFork();

/// Another thread is in a call of the symmetric heap's API.
bool othersAreInCalls();

/// The thread waits in the library, or works for it: what it does is known otherwise.
bool isInLibrary(pid_t thread);

/// This thread is in the library, for as long as the object lives.
class InLibrary {
public:
  InLibrary() : record(recordOfThread()) { record.inLibrary.fetch_add(1); }
  ~InLibrary() { record.inLibrary.fetch_sub(1); }
  InLibrary(const InLibrary &) = delete;
  InLibrary &operator=(const InLibrary &) = delete;

protected:
  ThreadRecord &record;
};

} // namespace piton

#endif // PITON_RUNTIME_THREADS_H
