// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What tests of faults share: PEs through the C API that die, and calls that must name them.
#ifndef PITON_TEST_RUNTIME_SHMEM_FAULTS_H
#define PITON_TEST_RUNTIME_SHMEM_FAULTS_H

#include "abi/DeviceState.h"
#include "test/runtime/shmem/Jobs.h"

#include <gtest/gtest.h>

#include <csignal>
#include <thread>
#include <unistd.h>

namespace piton::test {

using shmem::Clock;

inline int initialize(int pe, int count, const std::string &url, int timeout = 20) {
  aclshmemx_set_conf_store_tls(false, "", 0);
  aclshmemx_init_attr_t attr = attributes(pe, count, url);
  attr.option_attr.shm_init_timeout = static_cast<uint32_t>(timeout);
  return aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attr);
}

[[noreturn]] inline void die() {
  kill(getpid(), SIGKILL);
  _exit(99);
}

/// Waits a while, so that the others are in the call in question.
inline void later(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

/// Soon enough: what is not told to a waiter ends after 10 s, as a standstill, or at its time limit
/// of 20 s. It takes milliseconds, but seconds on a crowded machine.
inline constexpr std::chrono::seconds kSoon{8};

/// Whether the host of that PE of this process's job waits in a call. TSan does not look: it would
/// see no order between this and the end of the job, which comes by a signal or from another PE.
[[gnu::no_sanitize("thread")]] inline bool isWaiting(int pe) {
  const auto *state = reinterpret_cast<const DeviceState *>(kDeviceStateAddress);
  return __atomic_load_n(&state->boards[pe]->hostWait.kind, __ATOMIC_ACQUIRE) !=
         static_cast<uint32_t>(WaitKind::None);
}

inline void awaitWaiting(int pe) {
  waitUntil([pe] { return isWaiting(pe); });
}

/// The call must fail soon and name the PE.
template <typename Call> void expectNamed(int victim, Call call) {
  auto start = Clock::now();
  call();
  EXPECT_LT(Clock::now() - start, kSoon);
  EXPECT_NE(aclshmemx_last_status(), ACLSHMEM_SUCCESS);
  std::string text = piton_last_error();
  EXPECT_NE(text.find("PE " + std::to_string(victim)), std::string::npos) << text;
}

inline void expectAll(const std::vector<ProcessResult> &results, int victim = -1) {
  for (size_t pe = 0; pe < results.size(); ++pe) {
    if (static_cast<int>(pe) == victim)
      EXPECT_EQ(results[pe].signal, SIGKILL);
    else
      EXPECT_EQ(results[pe].exitCode, 0) << "PE " << pe << " signal " << results[pe].signal << "\n"
                                         << results[pe].output;
  }
}

/// The call has failed, and the reason has `text` in it.
inline void expectError(int code, const std::string &text) {
  EXPECT_NE(code, ACLSHMEM_SUCCESS);
  EXPECT_NE(std::string(piton_last_error()).find(text), std::string::npos)
      << piton_last_error() << "\n(expected: " << text << ")";
}

/// A job of two PEs, of which PE 1 comes when a stranger has sent garbage to its port (see
/// sendGarbage). initialize(pe, count, url) is how a PE joins.
template <typename Initialize>
void expectUnharmedByGarbage(const std::string &almost, const std::string &begun,
                             Initialize initialize) {
  std::string url = freeUrl();
  SharedCount sent;
  expectAll(runProcesses(3, [&](int process) {
    if (process == 2) {
      sendGarbage(portOf(url), almost, begun);
      sent.add();
      return 0;
    }
    if (process == 1)
      sent.await(1);
    EXPECT_EQ(initialize(process, 2, url), 0) << piton_last_error();
    aclshmem_barrier_all();
    EXPECT_EQ(aclshmemx_last_status(), 0) << piton_last_error();
    EXPECT_EQ(aclshmem_finalize(), 0) << piton_last_error();
    return 0;
  }));
}

} // namespace piton::test

#endif // PITON_TEST_RUNTIME_SHMEM_FAULTS_H
