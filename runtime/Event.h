// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An event: a place in a stream's order and the time at which the stream reached it.
#ifndef PITON_RUNTIME_EVENT_H
#define PITON_RUNTIME_EVENT_H

#include "runtime/Stream.h"

namespace piton {

class Event {
public:
  /// Places the event behind the stream's work so far.
  piton_status_t record(Stream &stream);
  /// Waits for the recorded work; reports the stream's first error.
  piton_status_t synchronize();
  /// PITON_OK or PITON_ERROR_NOT_READY.
  piton_status_t query();
  /// Makes later work of `stream` wait for the recorded work.
  piton_status_t orderBefore(Stream &stream);
  /// Milliseconds from `start` to this event.
  piton_status_t elapsedSince(Event &start, float &milliseconds);

private:
  /// One record. Shared with the streams that wait for it, so that a new record changes nothing
  /// for them.
  struct Point {
    std::shared_ptr<Stream> stream;
    uint64_t ticket = 0;
    std::atomic<int64_t> nanoseconds{-1}; ///< when it was reached; -1 before
    bool reached() const { return nanoseconds.load(std::memory_order_acquire) >= 0; }
  };

  std::shared_ptr<Point> current();

  std::mutex mutex;
  std::shared_ptr<Point> point;
};

} // namespace piton

#endif // PITON_RUNTIME_EVENT_H
