// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stream queue and its thread.

#include "runtime/Stream.h"

#include "runtime/Activity.h"
#include "runtime/Device.h"
#include "runtime/Executor.h"
#include "runtime/Threads.h"

#include <chrono>

namespace piton {
namespace {

/// How often a waiter looks whether Ctrl-C has arrived.
constexpr std::chrono::milliseconds kInterruptPoll(20);

struct ThreadStart {
  std::shared_ptr<Stream> stream; ///< keeps the stream until its thread has ended
  uint64_t generation;
};

} // namespace

template <typename Predicate>
piton_status_t Stream::wait(std::unique_lock<std::mutex> &lock, Predicate ready) {
  if (ready())
    return PITON_OK;
  Blocked blocked;
  uint64_t epoch = interruptEpoch();
  while (!ready()) {
    changed.wait_for(lock, kInterruptPoll);
    if (ready() || interruptEpoch() == epoch)
      continue;
    // The work that ends now because of the same Ctrl-C has no second error to report.
    reportedEpoch = interruptEpoch();
    if (errorStatus == PITON_ERROR_INTERRUPTED)
      errorStatus = PITON_OK;
    return fail(PITON_ERROR_INTERRUPTED, "interrupted while waiting for a stream");
  }
  return PITON_OK;
}

/// This thread runs the work itself; until it is done the host does nothing else.
void Stream::beginHere() {
  running = true;
  noteSubmitted();
  beginHostWork();
}

void Stream::noteSubmitted() {
  device.workInFlight.fetch_add(1, std::memory_order_acq_rel);
  submitted.fetch_add(1, std::memory_order_release);
}

void Stream::noteCompleted() {
  completed.fetch_add(1, std::memory_order_release);
  device.workInFlight.fetch_sub(1, std::memory_order_release);
}

bool Stream::tryBegin() {
  std::lock_guard<std::mutex> guard(mutex);
  if (!idle())
    return false;
  beginHere();
  return true;
}

piton_status_t Stream::beginWhenIdle() {
  std::unique_lock<std::mutex> lock(mutex);
  if (piton_status_t status = wait(lock, [&] { return idle(); }))
    return status;
  beginHere();
  return PITON_OK;
}

void Stream::endHere() {
  std::lock_guard<std::mutex> guard(mutex);
  endHostWork();
  running = false;
  noteCompleted();
  changed.notify_all();
}

piton_status_t Stream::push(std::unique_lock<std::mutex> &, Work work) {
  if (!threadStarted) {
    auto *start = new ThreadStart{shared_from_this(), generation};
    auto body = [](void *data) {
      std::unique_ptr<ThreadStart> start(static_cast<ThreadStart *>(data));
      start->stream->serve(start->generation);
    };
    if (!startServiceThread(body, start)) {
      delete start;
      return fail(PITON_ERROR_SYSTEM, "cannot start the thread of a stream");
    }
    threadStarted = true;
  }
  queue.push_back(std::move(work));
  noteSubmitted();
  changed.notify_all();
  return PITON_OK;
}

piton_status_t Stream::enqueue(Work work) {
  std::unique_lock<std::mutex> lock(mutex);
  return push(lock, std::move(work));
}

piton_status_t Stream::submit(Work work) {
  {
    std::unique_lock<std::mutex> lock(mutex);
    if (!idle())
      return push(lock, std::move(work));
    beginHere();
  }
  Turn turn(*this);
  return work();
}

void Stream::serve(uint64_t myGeneration) {
  std::unique_lock<std::mutex> lock(mutex);
  for (;;) {
    changed.wait(lock, [&] { return (!queue.empty() && !running) || (closed && queue.empty()); });
    if (queue.empty() || generation != myGeneration)
      return;
    Work work = std::move(queue.front());
    queue.pop_front();
    running = true;
    lock.unlock();
    piton_status_t status;
    {
      StreamWork here;
      status = work();
      work = nullptr; // what it holds is released outside the lock
    }
    lock.lock();
    running = false;
    bool reported = status == PITON_ERROR_INTERRUPTED && reportedEpoch == interruptEpoch();
    if (status != PITON_OK && errorStatus == PITON_OK && !reported) {
      errorMessage = lastError();
      errorStatus = status; // before the work counts as done: quiet() looks at both
    }
    noteCompleted();
    changed.notify_all();
  }
}

piton_status_t Stream::waitFor(uint64_t ticket) {
  if (done(ticket))
    return PITON_OK;
  std::unique_lock<std::mutex> lock(mutex);
  return wait(lock, [&] { return done(ticket); });
}

piton_status_t Stream::takeError() {
  std::lock_guard<std::mutex> guard(mutex);
  piton_status_t status = errorStatus;
  errorStatus = PITON_OK;
  return status == PITON_OK ? PITON_OK : fail(status, std::move(errorMessage));
}

piton_status_t Stream::synchronize() {
  if (piton_status_t status = waitFor(lastTicket()))
    return status;
  return takeError();
}

void Stream::close() {
  std::lock_guard<std::mutex> guard(mutex);
  closed = true;
  changed.notify_all();
}

void Stream::resetInChild() {
  // Work that another thread was running is lost here; what was still queued will run.
  if (running)
    noteCompleted();
  running = false;
  threadStarted = false;
  ++generation;
  new (&changed) std::condition_variable;
  std::deque<Work> pending;
  pending.swap(queue);
  device.workInFlight.fetch_sub(pending.size());
  submitted = completed.load();
  mutex.unlock();
  for (Work &work : pending)
    (void)enqueue(std::move(work));
}

} // namespace piton
