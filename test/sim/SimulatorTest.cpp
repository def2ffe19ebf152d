// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launches on the simulated NPU: order, distribution, fibers, waiting, services, speed.

#include "sim/LoadedKernel.h"
#include "sim/Sanitizers.h"
#include "test/sim/TestLaunch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <set>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace piton;
using namespace piton::test;

namespace {

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
  auto estimate = [&] {
    return static_cast<const sim::LoadedKernel &>(*kernel).blockNanoseconds.load() * 8;
  };
  // Lets it settle, which takes more launches when another program had the core during one.
  for (int i = 0; i < 100 || (i < 10000 && estimate() >= 8000); ++i)
    ASSERT_EQ(run(kernel, Args(), 8), PITON_OK);
  EXPECT_LT(estimate(), 8000u);
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

TEST(Simulator, BothSidesOfABlockAreAliveTogether) {
  KernelMetadata m = testMetadata("sides");
  m.canBlock = true;
  m.sharedBytes = 12;
  auto kernel = load(m);
  for (uint32_t blocks : {1u, 40u, 300u}) {
    std::vector<uint32_t> out(2 * blocks);
    ASSERT_EQ(run(kernel, Args().set(0, out.data()), blocks), PITON_OK) << lastError();
    for (uint32_t i = 0; i < blocks; ++i) {
      EXPECT_EQ(out[2 * i], 21u); // fresh memory for every block of every launch
      EXPECT_EQ(out[2 * i + 1], 11u);
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
    std::atomic<bool> captured{false};
    std::thread other([&] { // frees the blocks some time after the report
      struct stat written = {};
      auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
      while (!captured || (fstat(STDERR_FILENO, &written) == 0 && written.st_size == 0 &&
                           std::chrono::steady_clock::now() < deadline))
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      std::this_thread::sleep_for(std::chrono::milliseconds(600));
      __atomic_store_n(&word, UINT32_MAX / 2, __ATOMIC_RELEASE);
      __atomic_store_n(words, 1, __ATOMIC_RELEASE);
    });
    testing::internal::CaptureStderr(); // to a file
    captured = true;
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
    EXPECT_EQ(word, 150u);
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

/// Microseconds of the fastest of `n` launches: other processes only make launches slower.
double fastest(const std::shared_ptr<const Kernel> &kernel, uint32_t blocks, int n) {
  double best = 1e9;
  Args args;
  for (int i = 0; i < n; ++i) {
    auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(run(kernel, args, blocks), PITON_OK);
    std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
    best = std::min(best, time.count());
  }
  return best;
}

TEST(Simulator, WarmLaunchesAreFast) {
  for (bool canBlock : {false, true})
    for (uint32_t blocks : {1u, 40u, 4000u}) {
      double time = fastest(load("nothing", canBlock), blocks, 300);
      std::printf("warm launch of %u %s: %.2f us\n", blocks, canBlock ? "fibers" : "blocks", time);
#if !defined(PITON_ASAN) && !defined(PITON_TSAN)
      EXPECT_LT(time, (blocks == 1 ? 3 : 200) + 0.5 * blocks);
#endif
    }
}

} // namespace
