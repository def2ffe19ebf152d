// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launches on the simulated NPU: order, distribution, fibers, services, faults, interrupts, fork.

#include "runtime/Executor.h"
#include "sim/LoadedKernel.h"
#include "sim/Sanitizers.h"
#include "sim/Team.h"
#include "test/sim/TestImage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <random>
#include <set>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace piton;
using namespace piton::test;

namespace {

std::shared_ptr<const Kernel> load(const KernelMetadata &m) {
  std::shared_ptr<const Kernel> kernel;
  EXPECT_EQ(simulator().load(testImage(m), kernel), PITON_OK) << lastError();
  return kernel;
}

std::shared_ptr<const Kernel> load(const std::string &name, bool canBlock = false) {
  KernelMetadata m = testMetadata(name);
  m.canBlock = canBlock;
  return load(m);
}

piton_status_t run(const std::shared_ptr<const Kernel> &kernel, const Args &args, uint32_t x,
                   uint32_t y = 1, uint32_t z = 1, const char *soc = kDefaultSoc) {
  LaunchRequest request;
  request.model = findHardwareModel(soc);
  request.kernel = kernel.get();
  request.grid[0] = x;
  request.grid[1] = y;
  request.grid[2] = z;
  request.args = args.bytes;
  request.onCallerThread = true;
  request.epoch = interruptEpoch();
  return simulator().run(request);
}

bool has(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

TEST(Simulator, RunsEveryBlockOnce) {
  auto kernel = load("iota");
  for (int n : {1, 15, 16, 17, 1000, 100003}) {
    std::vector<int32_t> out(n, -1);
    ASSERT_EQ(run(kernel, Args().set(0, out.data()).set(8, n), (n + 15) / 16), PITON_OK);
    for (int i = 0; i < n; ++i)
      ASSERT_EQ(out[i], i);
  }
}

TEST(Simulator, BusyBlocksAreSharedByThreads) {
  auto kernel = load("busy");
  std::vector<int32_t> counts(3 * 67 * 5);
  for (int round = 0; round < 3; ++round)
    ASSERT_EQ(run(kernel, Args().set(0, counts.data()), 3, 67, 5), PITON_OK);
  EXPECT_EQ(std::set<int32_t>(counts.begin(), counts.end()), std::set<int32_t>{3});
}

TEST(Simulator, ProgramIdOrderIsThatOfTheSoc) {
  auto kernel = load("order", true);
  for (const char *soc : {"Ascend910B3", "Ascend910_9599"}) {
    HardwareModel model = *findHardwareModel(soc);
    model.vectorCores = 1; // one block at a time
    LaunchRequest request;
    request.model = &model;
    request.kernel = kernel.get();
    request.grid[0] = 2;
    request.grid[1] = 3;
    request.grid[2] = 4;
    std::vector<uint32_t> out(1 + 24 * 3);
    Args args;
    args.set(0, out.data());
    request.args = args.bytes;
    request.epoch = interruptEpoch();
    ASSERT_EQ(simulator().run(request), PITON_OK);
    for (uint32_t i = 0; i < 24; ++i) {
      uint32_t x = model.xFastest ? i % 2 : i / 12, y = model.xFastest ? i / 2 % 3 : i / 4 % 3,
               z = model.xFastest ? i / 6 : i % 4;
      EXPECT_EQ(out[1 + i * 3], x) << soc << i;
      EXPECT_EQ(out[2 + i * 3], y) << soc << i;
      EXPECT_EQ(out[3 + i * 3], z) << soc << i;
    }
  }
}

TEST(Simulator, PlainBlocksSeeEveryProgramId) {
  auto kernel = load("order");
  for (const char *soc : {"Ascend910B3", "Ascend910_9599"}) {
    std::vector<uint32_t> out(1 + 24 * 3);
    ASSERT_EQ(run(kernel, Args().set(0, out.data()), 2, 3, 4, soc), PITON_OK);
    std::set<std::vector<uint32_t>> seen;
    for (int i = 0; i < 24; ++i)
      seen.insert({out[1 + i * 3], out[2 + i * 3], out[3 + i * 3]});
    EXPECT_EQ(seen.size(), 24u);
    EXPECT_EQ(*seen.rbegin(), (std::vector<uint32_t>{1, 2, 3}));
  }
}

TEST(Simulator, TinyLaunchesStayOnTheCaller) {
  auto kernel = load("nothing");
  for (int i = 0; i < 100; ++i) // lets the estimate settle
    ASSERT_EQ(run(kernel, Args(), 8), PITON_OK);
  EXPECT_LT(static_cast<const sim::LoadedKernel &>(*kernel).blockNanoseconds.load() * 8, 8000u);
}

TEST(Simulator, EveryLiveBlockHasItsOwnArena) {
  for (bool canBlock : {false, true})
    for (uint64_t bytes : {uint64_t(64), uint64_t(70000)}) {
      KernelMetadata m = testMetadata("arena");
      m.arenaBytes = bytes;
      m.canBlock = canBlock;
      int32_t done = 0;
      ASSERT_EQ(run(load(m), Args().set(0, &done).set(8, bytes), 100), PITON_OK) << lastError();
      EXPECT_EQ(done, 100);
    }
}

TEST(Simulator, BlocksUpToThePhysicalCoresAreAliveTogether) {
  KernelMetadata m = testMetadata("barrier");
  m.canBlock = true;
  for (auto [mode, blocks] : {std::pair("aiv", 40u), std::pair("mix", 20u)}) {
    m.mixMode = mode;
    auto kernel = load(m);
    for (int round = 0; round < 20; ++round) {
      uint32_t word = 0;
      ASSERT_EQ(run(kernel, Args().set(0, &word), blocks), PITON_OK);
      EXPECT_EQ(word, 3 * blocks);
    }
  }
}

TEST(Simulator, BlocksBeyondTheCoresFollow) {
  auto kernel = load("await", true);
  uint32_t words[3] = {1, 0, 0};
  ASSERT_EQ(run(kernel, Args().set(0, words).set(8, 1u), 1000), PITON_OK);
  EXPECT_EQ(words[1], 1000u);
}

TEST(Simulator, WaitingBlocksSleepAndWake) {
  auto kernel = load("await", true);
  uint32_t words[3] = {0, 0, 0};
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    __atomic_store_n(words, 1, __ATOMIC_RELEASE);
  });
  ASSERT_EQ(run(kernel, Args().set(0, words).set(8, 1u), 7), PITON_OK);
  other.join();
  EXPECT_EQ(words[1], 7u);
}

TEST(Simulator, AStandstillIsReportedWithItsReason) {
  setenv("PITON_STANDSTILL_SECONDS", "1", 1);
  auto kernel = load("barrier", true);
  for (uint32_t blocks : {41u, 40u}) { // 40 cores; the second launch waits for a word only
    uint32_t word = blocks == 40 ? UINT32_MAX / 2 : 0;
    auto await = load("await", true);
    uint32_t words[3] = {0, 0, 0};
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(1600));
      __atomic_store_n(&word, UINT32_MAX / 2, __ATOMIC_RELEASE);
      __atomic_store_n(words, 1, __ATOMIC_RELEASE);
    });
    testing::internal::CaptureStderr();
    if (blocks == 41)
      EXPECT_EQ(run(kernel, Args().set(0, &word), blocks), PITON_OK);
    else
      EXPECT_EQ(run(await, Args().set(0, words).set(8, 1u), blocks), PITON_OK);
    std::string text = testing::internal::GetCapturedStderr();
    other.join();
    EXPECT_TRUE(has(text, blocks == 41 ? "/home/user/barrier.py:12: kernel 'barrier'"
                                       : "/home/user/await.py:12: kernel 'await'"))
        << text;
    EXPECT_EQ(has(text, "1 of 41 blocks have not started, because the 40 cores"), blocks == 41)
        << text;
    EXPECT_EQ(text.find("warning"), text.rfind("warning")) << text;
  }
  unsetenv("PITON_STANDSTILL_SECONDS");
}

TEST(Simulator, ConcurrentLaunchesThatWaitForEachOther) {
  auto kernel = load("barrier", true);
  // Four launches of two blocks that meet at one barrier of eight: none may hold up another.
  KernelMetadata m = testMetadata("await");
  m.canBlock = true;
  auto await = load(m);
  uint32_t words[3] = {0, 0, 0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back(
        [&] { EXPECT_EQ(run(await, Args().set(0, words).set(8, 1u), 2), PITON_OK); });
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  __atomic_store_n(words, 1, __ATOMIC_RELEASE);
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(words[1], 8u);
}

TEST(Simulator, LockExcludes) {
  for (bool canBlock : {true, false}) {
    KernelMetadata m = testMetadata("locked");
    m.canBlock = canBlock;
    m.lockWords = 8;
    auto kernel = load(m);
    uint32_t word = 0;
    ASSERT_EQ(run(kernel, Args().set(0, &word), 50), PITON_OK);
    EXPECT_EQ(word, 500u);
  }
}

TEST(Simulator, TileProduct) {
  auto kernel = load("product");
  float a[16], b[16], c[16];
  for (int i = 0; i < 16; ++i) {
    a[i] = float(i);
    b[i] = i % 5 == 0 ? 2.0f : 0.0f;
    c[i] = -1;
  }
  Args args;
  args.set(0, a).set(8, b).set(16, c).set(24, ElementType::F32);
  ASSERT_EQ(run(kernel, args, 1), PITON_OK) << lastError();
  for (int i = 0; i < 16; ++i)
    EXPECT_EQ(c[i], 2.0f * float(i));
  EXPECT_EQ(run(kernel, args.set(24, ElementType::U64), 1), PITON_ERROR_INVALID_IMAGE);
  EXPECT_TRUE(has(lastError(), "unsupported element type")) << lastError();
}

TEST(Simulator, PrintsComeInBlockOrder) {
  auto kernel = load("print");
  int32_t data[4] = {-1, 2, 3, 4};
  testing::internal::CaptureStdout();
  ASSERT_EQ(run(kernel, Args().set(0, data).set(8, ElementType::I32), 1, 1, 2), PITON_OK);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "pid (0, 0, 0) idx (0, 0) value: -1\n"
                                                    "pid (0, 0, 0) idx (0, 1) value: 2\n"
                                                    "pid (0, 0, 0) idx (1, 0) value: 3\n"
                                                    "pid (0, 0, 0) idx (1, 1) value: 4\n"
                                                    "pid (0, 0, 1) idx (0, 0) value: -1\n"
                                                    "pid (0, 0, 1) idx (0, 1) value: 2\n"
                                                    "pid (0, 0, 1) idx (1, 0) value: 3\n"
                                                    "pid (0, 0, 1) idx (1, 1) value: 4\n");
  EXPECT_EQ(run(kernel, Args().set(0, uint64_t(64)).set(8, ElementType::I32), 1),
            PITON_ERROR_KERNEL_FAULT);
  EXPECT_TRUE(has(lastError(), "print.py:12: invalid load")) << lastError();
}

class Faults : public testing::TestWithParam<bool> {};

/// After each failure an ordinary launch must work.
void expectAlive(bool canBlock) {
  std::vector<int32_t> counts(64);
  ASSERT_EQ(run(load("count", canBlock), Args().set(0, counts.data()), 64), PITON_OK);
  EXPECT_EQ(std::count(counts.begin(), counts.end(), 1), 64);
}

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

TEST(Simulator, AFailedBlockReleasesThoseThatWait) {
  // Of 40 blocks that meet, one never arrives.
  auto kernel = load("barrier_without", true);
  uint32_t word = 0;
  EXPECT_EQ(run(kernel, Args().set(0, &word).set(8, int64_t(17)), 40), PITON_ERROR_KERNEL_FAULT);
  EXPECT_TRUE(has(lastError(), "program id (17, 0, 0)")) << lastError();
  EXPECT_EQ(word, 39u);
  expectAlive(true);
}

TEST(Simulator, InterruptOfWaitingBlocks) {
  auto kernel = load("await", true);
  uint32_t words[3] = {0, 0, 0}, started = 1;
  interruptWhen(&started, [&] {
    EXPECT_EQ(run(kernel, Args().set(0, words).set(8, 1u), 100), PITON_ERROR_INTERRUPTED);
  });
  EXPECT_TRUE(has(lastError(), "/home/user/await.py:12: kernel 'await'")) << lastError();
  expectAlive(true);
}

volatile sig_atomic_t sawInterrupt;

TEST(Simulator, CtrlCEndsTheLaunchAndReachesThePreviousHandler) {
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
  // Outside a launch only the previous handler acts.
  uint64_t epoch = interruptEpoch();
  sawInterrupt = 0;
  raise(SIGINT);
  EXPECT_EQ(sawInterrupt, 1);
  EXPECT_EQ(interruptEpoch(), epoch);
  sigaction(SIGINT, &before, nullptr);
  expectAlive(false);
}

TEST(Simulator, FaultsOutsideKernelsGoToThePreviousHandler) {
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

TEST(Simulator, HandlersAreReinstalled) {
  auto kernel = load("load_at");
  Args bad = Args().set(0, uint64_t(8)).set(8, int64_t(0));
  EXPECT_EQ(run(kernel, bad, 1), PITON_ERROR_KERNEL_FAULT);
  struct sigaction action = {}, before = {};
  action.sa_handler = SIG_DFL;
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE}) // as a late faulthandler.enable() would
    sigaction(signal, &action, &before);
  EXPECT_EQ(run(kernel, bad, 1), PITON_ERROR_KERNEL_FAULT);
}

TEST(Simulator, ForkAfterTheFirstLaunch) {
  if (sim::kThreadSanitizer)
    GTEST_SKIP() << "TSan does not follow a child of several threads";
  auto kernel = load("busy");
  std::vector<int32_t> counts(256);
  ASSERT_EQ(run(kernel, Args().set(0, counts.data()), 256), PITON_OK);
  for (int round = 0; round < 3; ++round) {
    pid_t child = fork();
    if (child == 0) {
      std::vector<int32_t> mine(256);
      bool good = run(kernel, Args().set(0, mine.data()), 256) == PITON_OK &&
                  std::count(mine.begin(), mine.end(), 1) == 256;
      auto barrier = load("barrier", true);
      uint32_t word = 0;
      good = good && run(barrier, Args().set(0, &word), 40) == PITON_OK;
      good =
          good && run(load("load_at"), Args().set(0, uint64_t(8)), 1) == PITON_ERROR_KERNEL_FAULT;
      _exit(good ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    ASSERT_EQ(run(kernel, Args().set(0, counts.data()), 256), PITON_OK);
  }
}

TEST(Simulator, ThousandsOfLaunchesFromSeveralThreads) {
  auto plain = load("count"), fibers = load("count", true), nothing = load("nothing");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      std::vector<int32_t> counts(64);
      for (int i = 0; i < 1000; ++i) {
        ASSERT_EQ(run(i % 8 ? plain : fibers, Args().set(0, counts.data()), 64), PITON_OK);
        ASSERT_EQ(run(nothing, Args(), 1), PITON_OK);
      }
      EXPECT_EQ(std::count(counts.begin(), counts.end(), 1000), 64);
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST(Team, UsesTheOpenMPTeamOfTheCallerOnly) {
  if (sim::kThreadSanitizer)
    GTEST_SKIP() << "TSan does not see libgomp's synchronisation";
  if (sim::threadBudget() < 2)
    GTEST_SKIP() << "one CPU";
  void *library = dlopen("libgomp.so.1", RTLD_NOW);
  ASSERT_TRUE(library) << dlerror();
  static int (*inParallel)();
  inParallel = reinterpret_cast<int (*)()>(dlsym(library, "omp_in_parallel"));
  ASSERT_TRUE(inParallel);
  struct Seen {
    std::atomic<unsigned> members{0}, inside{0};
  };
  auto body = [](void *data, unsigned, unsigned) {
    auto &seen = *static_cast<Seen *>(data);
    ++seen.members;
    seen.inside += inParallel() != 0;
  };
  Seen caller, own, child;
  sim::runTeam(true, 2, body, &caller);
  EXPECT_GE(caller.inside, 2u);
  EXPECT_EQ(caller.inside, caller.members);
  sim::runTeam(false, 2, body, &own);
  EXPECT_EQ(own.inside, 0u);
  EXPECT_EQ(own.members, 2u);
  // Launches through the team, and faults in it.
  auto kernel = load("busy");
  std::vector<int32_t> counts(500);
  ASSERT_EQ(run(kernel, Args().set(0, counts.data()), 500), PITON_OK);
  EXPECT_EQ(std::count(counts.begin(), counts.end(), 1), 500);
  auto faulty = load("load_at");
  EXPECT_EQ(run(faulty, Args().set(0, uint64_t(16)).set(8, int64_t(400)), 500),
            PITON_ERROR_KERNEL_FAULT);
  auto barrier = load("barrier", true);
  uint32_t word = 0;
  ASSERT_EQ(run(barrier, Args().set(0, &word), 40), PITON_OK);
  // In a child libgomp would wait for threads that do not exist.
  pid_t pid = fork();
  if (pid == 0) {
    sim::runTeam(true, 2, body, &child);
    _exit(child.inside == 0 && child.members == 2 ? 0 : 1);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(Simulator, ImagesAreToldApart) {
  // Equal descriptor numbers must not make the loader return an earlier library.
  for (int i = 0; i < 50; ++i) {
    auto nothing = load("nothing");
    int32_t word = 0;
    EXPECT_EQ(run(load("count"), Args().set(0, &word), 1), PITON_OK);
    EXPECT_EQ(run(nothing, Args().set(0, &word), 1), PITON_OK);
    EXPECT_EQ(word, 1);
  }
}

TEST(Simulator, RefusedImages) {
  std::shared_ptr<const Kernel> kernel;
  auto refused = [&](const KernelMetadata &m, piton_status_t status, const char *part) {
    EXPECT_EQ(simulator().load(testImage(m), kernel), status);
    EXPECT_TRUE(has(lastError(), part)) << lastError();
    EXPECT_FALSE(kernel);
  };
  KernelMetadata m = testMetadata("nothing");
  m.hostCpu = "future";
  m.hostFeatures = "+sse4.2,-avx512f,+amx-bf16,+some-tuning-hint";
  if (!__builtin_cpu_supports("amx-bf16"))
    refused(m, PITON_ERROR_UNSUPPORTED, "uses 'amx-bf16', which this CPU lacks");
  m = testMetadata("nothing");
  m.name = "missing";
  refused(m, PITON_ERROR_INVALID_IMAGE, "no symbol 'piton_entry_missing'");
  m = testMetadata("nothing");
  m.kind = ImageKind::Bisheng;
  refused(m, PITON_ERROR_UNSUPPORTED, "real NPU");
  m.kind = ImageKind::Model;
  refused(m, PITON_ERROR_UNSUPPORTED, "model-mode");
}

TEST(Simulator, CorruptImagesNeverCrash) {
  std::string image = testImage(testMetadata("nothing"));
  std::mt19937_64 random(1);
  for (int round = 0; round < 500; ++round) {
    std::string bytes = image.substr(0, round % 3 ? image.size() : random() % image.size());
    for (int k = 0; k < 8 && !bytes.empty(); ++k)
      bytes[random() % bytes.size()] ^= static_cast<char>(1 + random() % 255);
    std::shared_ptr<const Kernel> kernel;
    EXPECT_NE(simulator().load(bytes, kernel), PITON_OK);
    EXPECT_FALSE(kernel);
  }
}

TEST(Simulator, WarmFiberLaunchIsFast) {
  auto kernel = load("nothing", true);
  Args args;
  for (uint32_t blocks : {1u, 40u, 4000u}) {
    run(kernel, args, blocks);
    auto start = std::chrono::steady_clock::now();
    constexpr int n = 200;
    for (int i = 0; i < n; ++i)
      run(kernel, args, blocks);
    std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
    std::printf("warm launch of %u fibers: %.2f us\n", blocks, time.count() / n);
#if !defined(PITON_ASAN) && !defined(PITON_TSAN)
    EXPECT_LT(time.count() / n, 300 + blocks);
#endif
  }
}

TEST(Simulator, WarmLaunchIsFast) {
  auto kernel = load("nothing");
  Args args;
  run(kernel, args, 1);
  auto start = std::chrono::steady_clock::now();
  constexpr int n = 2000;
  for (int i = 0; i < n; ++i)
    run(kernel, args, 1);
  double microseconds =
      std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count() /
      n;
  RecordProperty("microseconds", std::to_string(microseconds));
  std::printf("warm launch of one block: %.2f us\n", microseconds);
#if !defined(PITON_ASAN) && !defined(PITON_TSAN)
  EXPECT_LT(microseconds, 30); // the bench holds the real bound; this one only finds disasters
#endif
}

} // namespace
