// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Faults and failed assertions name the line, Ctrl-C ends launches, and the process lives on.

#include "sim/Sanitizers.h"
#include "test/sim/TestLaunch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace piton;
using namespace piton::test;

namespace {

class Faults : public testing::TestWithParam<bool> {};

TEST_P(Faults, UnmappedAddressNamesTheLine) {
  auto loads = load("load_at", GetParam()), stores = load("store_at", GetParam());
  void *page = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (int round = 0; round < 20; ++round) {
    for (uint32_t blocks : {1u, 7u}) {
      int64_t at = blocks - 1;
      EXPECT_EQ(run(loads, Args().set(0, uint64_t(0x10)).set(8, at), blocks),
                PITON_ERROR_KERNEL_FAULT);
      EXPECT_TRUE(has(lastError(), "/home/user/load_at.py:12: invalid load from unmapped address "
                                   "0x10 (a null pointer?)"))
          << lastError();
      EXPECT_TRUE(
          has(lastError(), "kernel 'load_at', program id (" + std::to_string(at) + ", 0, 0)"))
          << lastError();
      EXPECT_EQ(run(stores, Args().set(0, page).set(8, at), blocks), PITON_ERROR_KERNEL_FAULT);
      EXPECT_TRUE(has(lastError(), "store_at.py:12: invalid store to address")) << lastError();
      EXPECT_TRUE(has(lastError(), "may not be written")) << lastError();
    }
  }
  EXPECT_EQ(run(loads, Args().set(0, uint64_t(0xdead000000000000)).set(8, int64_t(0)), 1),
            PITON_ERROR_KERNEL_FAULT);
  EXPECT_TRUE(has(lastError(), "non-canonical")) << lastError();
  munmap(page, 4096);
  expectAlive(GetParam());
}

TEST_P(Faults, DivisionByZero) {
  auto kernel = load("divide", GetParam());
  EXPECT_EQ(run(kernel, Args().set(8, int64_t(3)), 8), PITON_ERROR_KERNEL_FAULT);
  EXPECT_TRUE(has(lastError(), "divide.py:12: integer division by zero")) << lastError();
  EXPECT_TRUE(has(lastError(), "program id (3, 0, 0)")) << lastError();
  expectAlive(GetParam());
}

TEST_P(Faults, StackOverflow) {
  // The plain form runs on this thread's stack, eight megabytes deep.
  auto kernel = load("overflow", GetParam());
  EXPECT_EQ(run(kernel, Args(), 1), PITON_ERROR_KERNEL_FAULT);
  EXPECT_TRUE(has(lastError(), "overflow.py:12: stack overflow")) << lastError();
  expectAlive(GetParam());
}

TEST_P(Faults, FaultInACallee) {
  // The tile product reads the bad pointer; the line is the kernel's.
  auto kernel = load("product", GetParam());
  float c[16];
  EXPECT_EQ(
      run(kernel,
          Args().set(0, uint64_t(4096)).set(8, uint64_t(4096)).set(16, c).set(24, ElementType::F32),
          1),
      PITON_ERROR_KERNEL_FAULT);
  EXPECT_TRUE(has(lastError(), "product.py:12: invalid load")) << lastError();
  expectAlive(GetParam());
}

TEST_P(Faults, Assertion) {
  auto kernel = load("check", GetParam());
  for (int64_t at : {0, 5, 99}) {
    EXPECT_EQ(run(kernel, Args().set(8, at), 100), PITON_ERROR_KERNEL_ASSERT);
    EXPECT_EQ(lastError(),
              "/home/user/check.py:42: device assertion failed: x < y (kernel 'check', "
              "program id (" +
                  std::to_string(at) + ", 0, 0))");
  }
  EXPECT_EQ(run(kernel, Args().set(8, int64_t(-1)), 100), PITON_OK);
  expectAlive(GetParam());
}

/// Calls interruptLaunches() once the kernel says it runs.
template <typename Function> void interruptWhen(uint32_t *word, Function &&launch) {
  std::thread other([&] {
    while (!__atomic_load_n(word, __ATOMIC_ACQUIRE))
      std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    interruptLaunches();
  });
  launch();
  other.join();
}

TEST_P(Faults, InterruptOfAKernelStuckInOneBlock) {
  auto kernel = load("spin", GetParam());
  for (uint32_t blocks : {1u, 5u}) {
    uint32_t word = 0;
    interruptWhen(&word, [&] {
      EXPECT_EQ(run(kernel, Args().set(0, &word), blocks), PITON_ERROR_INTERRUPTED);
    });
    EXPECT_TRUE(has(lastError(), "/home/user/spin.py:12: kernel 'spin', program id ("))
        << lastError();
    EXPECT_TRUE(has(lastError(), ") was interrupted")) << lastError();
  }
  expectAlive(GetParam());
}

INSTANTIATE_TEST_SUITE_P(PlainAndFiber, Faults, testing::Bool());

TEST(Signals, AFailedBlockReleasesThoseThatWait) {
  // Of 40 blocks that meet, one never arrives.
  auto kernel = load("barrier_without", true);
  uint32_t word = 0;
  EXPECT_EQ(run(kernel, Args().set(0, &word).set(8, int64_t(17)), 40), PITON_ERROR_KERNEL_FAULT);
  EXPECT_TRUE(has(lastError(), "program id (17, 0, 0)")) << lastError();
  EXPECT_EQ(word, 39u);
  expectAlive(true);
}

TEST(Signals, InterruptOfWaitingBlocks) {
  auto kernel = load("await", true);
  uint32_t words[3] = {0, 0, 0}, started = 1;
  // On a busy machine the interrupt may come before any block waits, which then names no line.
  bool named = false;
  for (int attempt = 0; attempt < 100 && !named; ++attempt) {
    interruptWhen(&started, [&] {
      EXPECT_EQ(run(kernel, Args().set(0, words).set(8, 1u), 100), PITON_ERROR_INTERRUPTED);
    });
    named = has(lastError(), "/home/user/await.py:12: kernel 'await'");
  }
  EXPECT_TRUE(named) << lastError();
  expectAlive(true);
}

volatile sig_atomic_t sawInterrupt;

TEST(Signals, CtrlCEndsTheLaunchAndReachesThePreviousHandler) {
  struct sigaction action = {}, before = {};
  action.sa_handler = [](int) { sawInterrupt = 1; };
  sigaction(SIGINT, &action, &before);
  sawInterrupt = 0;
  auto kernel = load("spin");
  uint32_t word = 0;
  pthread_t launcher = pthread_self();
  std::thread other([&] {
    while (!__atomic_load_n(&word, __ATOMIC_ACQUIRE))
      std::this_thread::yield();
    // TSan hands asynchronous signals over only at calls it knows, which a kernel never makes.
    if (sim::kThreadSanitizer)
      raise(SIGINT);
    else
      pthread_kill(launcher, SIGINT);
  });
  EXPECT_EQ(run(kernel, Args().set(0, &word), 1), PITON_ERROR_INTERRUPTED);
  other.join();
  EXPECT_EQ(sawInterrupt, 1);
  // Outside a launch the previous handler acts, and later launches run.
  sawInterrupt = 0;
  raise(SIGINT);
  EXPECT_EQ(sawInterrupt, 1);
  expectAlive(false);
  sigaction(SIGINT, &before, nullptr);
}

/// As LLVM's handler does: puts back what it found, for all signals, and raises again.
struct sigaction foundInterrupt, foundFault;

void restoreAndRaise(int, siginfo_t *, void *) {
  sigaction(SIGINT, &foundInterrupt, nullptr);
  sigaction(SIGSEGV, &foundFault, nullptr);
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_UNBLOCK, &all, nullptr);
  raise(SIGINT);
}

TEST(Signals, CtrlCThroughAHandlerThatTakesOursAway) {
  struct sigaction noting = {}, before = {}, foreign = {};
  noting.sa_handler = [](int) { sawInterrupt = sawInterrupt + 1; };
  foreign.sa_sigaction = restoreAndRaise;
  foreign.sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESETHAND | SA_ONSTACK;
  sigaction(SIGINT, &noting, &before);
  auto kernel = load("spin");
  pthread_t launcher = pthread_self();
  // With ours already in front of the noting one, and without.
  for (int round = 0; round < 3; ++round) {
    sawInterrupt = 0;
    sigaction(SIGINT, &foreign, &foundInterrupt);
    sigaction(SIGSEGV, &foreign, &foundFault);
    uint32_t word = 0;
    std::thread other([&] {
      while (!__atomic_load_n(&word, __ATOMIC_ACQUIRE))
        std::this_thread::yield();
      if (sim::kThreadSanitizer)
        raise(SIGINT);
      else
        pthread_kill(launcher, SIGINT);
    });
    EXPECT_EQ(run(kernel, Args().set(0, &word), 2), PITON_ERROR_INTERRUPTED);
    other.join();
    EXPECT_EQ(sawInterrupt, 1);
    EXPECT_EQ(run(load("load_at"), Args().set(0, uint64_t(8)).set(8, int64_t(0)), 1),
              PITON_ERROR_KERNEL_FAULT);
  }
  sigaction(SIGINT, &before, nullptr);
  expectAlive(false);
}

TEST_P(Faults, InterruptsAtAnyTime) {
  // An interrupt after the submission is never lost, wherever the launch is by then, and any number
  // of them at once is harmless.
  auto kernel = load("spin", GetParam());
  std::atomic<int> round{0};
  constexpr int rounds = sim::kThreadSanitizer ? 20 : 100;
  auto interrupter = [&](int delay) {
    for (int seen = 0; seen < rounds;) {
      int now = round.load();
      if (now == seen) {
        std::this_thread::yield();
        continue;
      }
      seen = now;
      for (volatile int i = 0; i < now * delay; i = i + 1) {
      }
      interruptLaunches();
    }
  };
  std::thread first(interrupter, 20), second(interrupter, 21);
  LaunchRequest request;
  request.model = findHardwareModel(kDefaultSoc);
  request.kernel = kernel.get();
  request.onCallerThread = true;
  for (int i = 0; i < rounds; ++i) {
    uint32_t word = 0;
    Args args = Args().set(0, &word);
    request.args = args.bytes;
    request.grid[0] = i % 3 + 1;
    request.epoch = armInterrupts();
    request.signalsReady = true;
    round.store(i + 1);
    EXPECT_EQ(simulator().run(request), PITON_ERROR_INTERRUPTED);
  }
  first.join();
  second.join();
  expectAlive(GetParam());
}

TEST(Signals, FaultsOutsideKernelsGoToThePreviousHandler) {
  pid_t child = fork();
  if (child == 0) {
    struct sigaction action = {};
    action.sa_handler = [](int) { _exit(77); };
    sigaction(SIGSEGV, &action, nullptr);
    auto kernel = load("nothing");
    run(kernel, Args(), 1);
    *reinterpret_cast<volatile int *>(8) = 1;
    _exit(1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 77) << status;
}

TEST(Signals, HandlersAreReinstalled) {
  auto kernel = load("load_at");
  Args bad = Args().set(0, uint64_t(8)).set(8, int64_t(0));
  EXPECT_EQ(run(kernel, bad, 1), PITON_ERROR_KERNEL_FAULT);
  struct sigaction action = {}, before = {};
  action.sa_handler = SIG_DFL;
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE}) // as a late faulthandler.enable() would
    sigaction(signal, &action, &before);
  EXPECT_EQ(run(kernel, bad, 1), PITON_ERROR_KERNEL_FAULT);
}

} // namespace
