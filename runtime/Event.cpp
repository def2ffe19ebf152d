// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Events. A point is reached when the stream runs the small piece of work that notes the time.

#include "runtime/Event.h"

#include <chrono>

namespace piton {

std::shared_ptr<Event::Point> Event::current() {
  std::lock_guard<std::mutex> guard(mutex);
  return point;
}

piton_status_t Event::record(Stream &stream) {
  auto fresh = std::make_shared<Point>();
  fresh->stream = stream.shared_from_this();
  piton_status_t status = stream.submit([fresh] {
    auto now = std::chrono::steady_clock::now().time_since_epoch();
    fresh->nanoseconds.store(std::chrono::nanoseconds(now).count(), std::memory_order_release);
    return PITON_OK;
  });
  if (status)
    return status;
  // At least the ticket of that work; waiting for a little more is harmless.
  fresh->ticket = stream.lastTicket();
  std::lock_guard<std::mutex> guard(mutex);
  point = std::move(fresh);
  return PITON_OK;
}

piton_status_t Event::synchronize() {
  std::shared_ptr<Point> at = current();
  if (!at)
    return PITON_OK;
  if (!at->reached())
    if (piton_status_t status = at->stream->waitFor(at->ticket))
      return status;
  return at->stream->takeError();
}

piton_status_t Event::query() {
  std::shared_ptr<Point> at = current();
  if (!at || at->reached())
    return PITON_OK;
  return fail(PITON_ERROR_NOT_READY, "the event has not been reached yet");
}

piton_status_t Event::orderBefore(Stream &stream) {
  std::shared_ptr<Point> at = current();
  if (!at || at->reached() || at->stream.get() == &stream)
    return PITON_OK;
  // On the stream's own thread, since the caller must not be held up.
  return stream.enqueue([at] { return at->stream->waitFor(at->ticket); });
}

piton_status_t Event::elapsedSince(Event &start, float &milliseconds) {
  std::shared_ptr<Point> from = start.current(), to = current();
  if (!from || !to)
    return fail(PITON_ERROR_INVALID_ARGUMENT, "the time between events needs both recorded");
  if (!from->reached() || !to->reached())
    return fail(PITON_ERROR_NOT_READY, "an event has not been reached yet; synchronise first");
  milliseconds = static_cast<float>(
      static_cast<double>(to->nanoseconds.load() - from->nanoseconds.load()) / 1e6);
  return PITON_OK;
}

} // namespace piton
