// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The threads behind a launch: the caller's OpenMP team, the own pool, and both after a fork.

#include "sim/Team.h"
#include "sim/Sanitizers.h"
#include "test/sim/TestLaunch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace piton;
using namespace piton::test;

namespace {

TEST(Team, ForkAfterTheFirstLaunch) {
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

} // namespace
