// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A stream: work in order. Work runs on the thread that submits it while the stream is idle, which
// saves two thread switches, and on the stream's own thread otherwise.
#ifndef PITON_RUNTIME_STREAM_H
#define PITON_RUNTIME_STREAM_H

#include "runtime/Status.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

namespace piton {

class Device;

/// One piece of work; its error message is this thread's lastError().
using Work = std::function<piton_status_t()>;

class Stream : public std::enable_shared_from_this<Stream> {
public:
  explicit Stream(Device &device) : device(device) {}

  Device &device;

  /// Runs `work` now on this thread if the stream is idle, otherwise queues it. Queued work reports
  /// its error at a later synchronisation.
  piton_status_t submit(Work work);

  /// Queues `work` for the stream's thread even if the stream is idle.
  piton_status_t enqueue(Work work);

  /// Waits for the stream's turn and runs `work` on this thread.
  template <typename Function> piton_status_t runHere(Function &&work) {
    if (piton_status_t status = beginWhenIdle())
      return status;
    Turn turn(*this);
    return work();
  }

  /// If the stream is idle, makes this thread its runner; a Turn ends that.
  bool tryBegin();

  /// This thread, which has begun, is the stream's runner for as long as the object lives.
  class Turn {
  public:
    explicit Turn(Stream &stream) : stream(stream) {}
    ~Turn() { stream.endHere(); }
    Turn(const Turn &) = delete;
    Turn &operator=(const Turn &) = delete;

  private:
    Stream &stream;
  };

  /// Number of the last work submitted; waitFor() it to be at this point of the stream.
  uint64_t lastTicket() const { return submitted.load(std::memory_order_acquire); }

  /// True once work number `ticket` is done. Any thread, does not block.
  bool done(uint64_t ticket) const { return completed.load(std::memory_order_acquire) >= ticket; }

  /// True once everything submitted so far is done. Any thread, does not block.
  bool done() const { return done(submitted.load(std::memory_order_acquire)); }

  /// As done(), and no error waits to be reported.
  bool quiet() const { return done() && errorStatus.load(std::memory_order_acquire) == PITON_OK; }

  /// Blocks until work number `ticket` is done, or Ctrl-C.
  piton_status_t waitFor(uint64_t ticket);

  /// Returns and clears the first error of queued work.
  piton_status_t takeError();

  /// Waits for everything submitted so far and reports its first error.
  piton_status_t synchronize();

  /// No work is submitted after this; the thread ends once the queue is empty.
  void close();

  // Around fork: the lock is held across it; the child has no stream thread.
  void lockForFork() { mutex.lock(); }
  void unlockAfterFork() { mutex.unlock(); }
  void resetInChild();

private:
  void noteSubmitted(); ///< under the lock, as noteCompleted() and beginHere()
  void noteCompleted();
  void beginHere();
  void endHere();
  piton_status_t beginWhenIdle();
  piton_status_t push(std::unique_lock<std::mutex> &lock, Work work);
  void serve(uint64_t generation);
  bool idle() const { return queue.empty() && !running; }
  /// Waits on `changed` until `ready`, looking for Ctrl-C now and then.
  template <typename Predicate>
  piton_status_t wait(std::unique_lock<std::mutex> &lock, Predicate ready);

  std::mutex mutex; // guards what follows
  std::condition_variable changed;
  std::deque<Work> queue;
  bool running = false, closed = false, threadStarted = false;
  // The atomics are written under the lock and read without it.
  std::atomic<uint64_t> submitted{0};
  std::atomic<uint64_t> completed{0};
  uint64_t generation = 0;    ///< raised in the child after fork
  uint64_t reportedEpoch = 0; ///< of the last interrupt that a waiter has returned
  std::atomic<piton_status_t> errorStatus{PITON_OK};
  std::string errorMessage;
};

} // namespace piton

#endif // PITON_RUNTIME_STREAM_H
