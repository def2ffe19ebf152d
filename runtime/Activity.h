// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether the host's threads wait. The watch over distributed jobs asks for it: whatever its
// kernels wait for, a process whose host still works may get the job on.
#ifndef PITON_RUNTIME_ACTIVITY_H
#define PITON_RUNTIME_ACTIVITY_H

#include "runtime/Threads.h"

#include <atomic>

namespace piton {

/// Threads of the host that wait for streams or other PEs, or run work of a stream themselves. The
/// threads of streams are none.
inline std::atomic<int> &blockedHosts() {
  static std::atomic<int> count{0};
  return count;
}

/// A piece of work on the thread of a stream, for as long as the object lives.
struct StreamWork : InLibrary {
  StreamWork() { ++record.works; }
  ~StreamWork() { --record.works; }
};

/// The same on a thread of the host, which does nothing else meanwhile. For work that begins and
/// ends in different functions; HostWork is for the rest.
inline void beginHostWork() {
  ThreadRecord &record = recordOfThread();
  blockedHosts().fetch_add(1);
  record.inLibrary.fetch_add(1);
  ++record.works;
}
inline void endHostWork() {
  ThreadRecord &record = recordOfThread();
  --record.works;
  record.inLibrary.fetch_sub(1);
  blockedHosts().fetch_sub(1);
}

/// Work on a thread of the host, for as long as the object lives.
struct HostWork {
  HostWork() { beginHostWork(); }
  ~HostWork() { endHostWork(); }
  HostWork(const HostWork &) = delete;
  HostWork &operator=(const HostWork &) = delete;
};

/// This thread waits, for as long as the object lives.
class Blocked : InLibrary {
public:
  Blocked() : isHost(record.works == 0) {
    if (isHost)
      blockedHosts().fetch_add(1);
  }
  ~Blocked() {
    if (isHost)
      blockedHosts().fetch_sub(1);
  }

private:
  const bool isHost;
};

} // namespace piton

#endif // PITON_RUNTIME_ACTIVITY_H
