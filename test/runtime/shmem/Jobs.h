// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Jobs for tests: PEs as threads of the test (under TSan, with a World each) and PEs as processes
// (with the C API, as users have them).
#ifndef PITON_TEST_RUNTIME_SHMEM_JOBS_H
#define PITON_TEST_RUNTIME_SHMEM_JOBS_H

#include "runtime/shmem/World.h"

#include <functional>
#include <memory>
#include <string>
#include <sys/types.h>
#include <vector>

namespace piton::test {

/// A TCP port that is this process's own until it ends: a socket stays bound there, which keeps off
/// other tests that look for a port and outgoing connections of other programs, but not a listener
/// with SO_REUSEADDR, as PE 0's is.
uint16_t freePort();

/// "tcp://127.0.0.1:<freePort()>".
std::string freeUrl();

/// The port of such a URL.
uint16_t portOf(const std::string &url);

/// Waits until `ready`, with an unmet EXPECT after 40 s. For what must have happened before a test
/// goes on: a sleep would do on an idle machine only.
void waitUntil(const std::function<bool()> &ready);

/// Waits until somebody listens at the URL's port on this host, without connecting to it.
void awaitListener(const std::string &url);

/// Waits until PE 0 at the URL has that many connections, of which one is its own.
void awaitConnections(const std::string &url, int count);

/// A count that processes share which are forked after it was made.
class SharedCount {
public:
  SharedCount();
  ~SharedCount();
  SharedCount(const SharedCount &) = delete;
  SharedCount &operator=(const SharedCount &) = delete;
  void add() const { __atomic_fetch_add(word, 1, __ATOMIC_ACQ_REL); }
  bool reached(int count) const { return __atomic_load_n(word, __ATOMIC_ACQUIRE) >= count; }
  void await(int count) const {
    waitUntil([&] { return reached(count); });
  }

private:
  int *word;
};

/// A connection to the port on this host, once somebody listens there; -1 if nobody does.
int connectTo(uint16_t port);

/// Sends to the port what is no message of a PE: HTTP, noise, and the two of the caller; leaves
/// half of the connections open.
void sendGarbage(uint16_t port, const std::string &almost, const std::string &begun);

struct ThreadJobOptions {
  uint64_t heapBytes = 1 << 20;
  uint32_t engines = ACLSHMEM_DATA_OP_MTE;
  std::chrono::seconds timeout{20}; ///< of calls; there are 20 s to start
  bool endsLost = false;            ///< the body loses the job
};

/// Runs `body` on `count` threads, each a PE of one job; joins and ends the job. Every PE must get
/// in and out.
void runThreads(int count, const std::function<void(shmem::World &)> &body,
                ThreadJobOptions options = {});

/// How a process of a job ended.
struct ProcessResult {
  int exitCode = -1; ///< if it exited
  int signal = 0;    ///< if a signal ended it
  std::string output;
};

/// Forks `count` processes that run `body(pe)` and exit with its result; an unmet EXPECT makes it
/// 100. Kills all after `seconds`.
std::vector<ProcessResult> runProcesses(int count, const std::function<int(int pe)> &body,
                                        int seconds = 60);

/// Attributes for the C API; TLS is switched off.
aclshmemx_init_attr_t attributes(int pe, int count, const std::string &url,
                                 uint64_t heapBytes = 1 << 20);

} // namespace piton::test

#endif // PITON_TEST_RUNTIME_SHMEM_JOBS_H
