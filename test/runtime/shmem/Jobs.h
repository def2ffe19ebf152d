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

/// A TCP port that nobody uses at the moment, above 1024.
uint16_t freePort();

/// "tcp://127.0.0.1:<freePort()>".
std::string freeUrl();

/// A connection to the port on this host, once somebody listens there; -1 if nobody does.
int connectTo(uint16_t port);

/// Sends to the port what is no message of a PE: HTTP, noise, and the two of the caller; leaves
/// half of the connections open.
void sendGarbage(uint16_t port, const std::string &almost, const std::string &begun);

struct ThreadJobOptions {
  uint64_t heapBytes = 1 << 20;
  uint32_t engines = ACLSHMEM_DATA_OP_MTE;
  std::chrono::seconds timeout{20};
  bool endsLost = false; ///< the body loses the job
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
