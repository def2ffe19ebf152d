// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether a process of which a thread waits for other PEs is at work all the same: with a thread of
// the program that computes, or sleeps by the clock, and may signal afterwards. What the system
// says of the threads decides: the library does not see a program's own work.
#ifndef PITON_RUNTIME_SHMEM_OTHERTHREADS_H
#define PITON_RUNTIME_SHMEM_OTHERTHREADS_H

#include <chrono>
#include <cstdint>
#include <map>
#include <sys/types.h>

namespace piton::shmem {

class OtherThreads {
public:
  /// Threads are looked at every quarter of `limit`, in which a standstill is found. A thread is at
  /// work that computed for a fiftieth of a quarter, or has been in one sleep for half the limit.
  /// Threads that wait for something else (a lock, a file, a child) are not, nor are those in the
  /// library: the pools and service threads of libraries would keep every job alive.
  explicit OtherThreads(std::chrono::steady_clock::duration limit) : interval(limit / 4) {}

  /// To be asked every now and then while another thread waits.
  bool areAtWork(std::chrono::steady_clock::time_point now);

private:
  struct Seen {
    uint64_t cpuNs = 0, timesRun = 0;
    int sleeps = 0; ///< looks in a row at which it was in the same sleep
  };
  bool look(std::chrono::steady_clock::duration since);

  const std::chrono::steady_clock::duration interval;
  std::chrono::steady_clock::time_point last;
  std::map<pid_t, Seen> threads;
  bool result = false;
};

} // namespace piton::shmem

#endif // PITON_RUNTIME_SHMEM_OTHERTHREADS_H
