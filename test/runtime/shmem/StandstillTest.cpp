// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All PEs wait and none can get on: every one is told who waits for what and who could end it, and
// its call returns with an error, whatever mix of calls they are in.

#include "runtime/shmem/Report.h"
#include "test/runtime/shmem/Jobs.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <thread>

using namespace piton;
using namespace piton::shmem;
using piton::test::runThreads;

namespace {

constexpr int kSizes[] = {1, 2, 3, 4, 8};

struct Limit {
  explicit Limit(const char *seconds = "0.4") { setenv("PITON_STANDSTILL_SECONDS", seconds, 1); }
  ~Limit() { unsetenv("PITON_STANDSTILL_SECONDS"); }
};

/// What the call that every PE ends in reports.
using Texts = std::vector<std::string>;

Texts standstillOf(int count, const std::function<int(World &)> &stuck,
                   const char *seconds = "0.4") {
  Limit limit(seconds);
  Texts texts(static_cast<size_t>(count));
  runThreads(count,
             [&](World &world) {
               EXPECT_NE(stuck(world), ACLSHMEM_SUCCESS) << "PE " << world.pe();
               texts[static_cast<size_t>(world.pe())] = piton_last_error();
               EXPECT_NE(world.barrier("later", kTeamWorld), ACLSHMEM_SUCCESS) << "a later call";
             },
             {.endsLost = true});
  return texts;
}

void expectIn(const Texts &texts, const std::string &part) {
  for (const std::string &text : texts) {
    EXPECT_NE(text.find("standstill: all PEs wait for each other"), std::string::npos) << text;
    EXPECT_NE(text.find(part), std::string::npos) << text << "\n(expected: " << part << ")";
  }
}

std::string pe(int number) { return "PE " + std::to_string(number); }

int32_t *makeWord(World &world) {
  void *word = world.allocate("aclshmem_calloc", 64, 64, DEVICE_SIDE, true);
  EXPECT_TRUE(word) << piton_last_error();
  return static_cast<int32_t *>(word);
}

int waitFor(World &world, const int32_t *word, int32_t wanted) {
  auto ready = [=] { return __atomic_load_n(word, __ATOMIC_ACQUIRE) == wanted; };
  return world.waitOn({.call = "aclshmem_signal_wait_until", .word = word, .wanted = wanted},
                      ready);
}

} // namespace

TEST(Standstill, HostWaits) {
  for (int count : kSizes) {
    Texts texts = standstillOf(
        count, [&](World &world) { return waitFor(world, makeWord(world), 5 + world.pe()); });
    for (int i = 0; i < count; ++i)
      expectIn(texts, pe(i) + " waits in aclshmem_signal_wait_until for heap + 0x0 of " + pe(i) +
                          ": value seen 0, wanted == " + std::to_string(5 + i));
    expectIn(texts, "nobody is left who could signal");
  }
}

TEST(Standstill, ABarrierThatOnePeDoesNotReach) {
  for (int count : kSizes) {
    if (count == 1)
      continue;
    int last = count - 1;
    Texts texts = standstillOf(count, [&](World &world) {
      int32_t *word = makeWord(world);
      return world.pe() == last ? waitFor(world, word, 1)
                                : world.barrier("aclshmem_barrier_all", kTeamWorld);
    });
    for (int i = 0; i < last; ++i)
      expectIn(texts, pe(i) + " waits in aclshmem_barrier_all for " + pe(last) +
                          " to reach barrier 1 of team 0 (its flag, heap + 0x");
    expectIn(texts, pe(last) + " waits in aclshmem_signal_wait_until");
    expectIn(texts, "of " + pe(last) + ", is 0)");
    expectIn(texts, ", which only PEs that wait themselves could end");
  }
}

TEST(Standstill, ACollectiveCallThatOnePeDoesNotMake) {
  for (int count : kSizes) {
    if (count == 1)
      continue;
    Texts texts = standstillOf(count, [&](World &world) -> int {
      int32_t *word = makeWord(world);
      if (world.pe() == 0)
        return waitFor(world, word, 1);
      return world.allocate("aclshmem_malloc(64 bytes)", 64, 16, DEVICE_SIDE)
                 ? ACLSHMEM_SUCCESS
                 : ACLSHMEM_MALLOC_FAILED;
    });
    for (int i = 1; i < count; ++i)
      expectIn(texts, pe(i) + " waits in aclshmem_malloc(64 bytes) for the other PEs of team 0 to "
                              "make this call");
    expectIn(texts, "PE 0 waits in aclshmem_signal_wait_until for heap + 0x0 of PE 0");
  }
}

TEST(Standstill, APeThatFinalizesAndOneThatWaits) {
  Limit limit;
  runThreads(2,
             [&](World &world) {
               int32_t *word = makeWord(world);
               if (world.pe() == 1)
                 return; // the job's end finalizes
               EXPECT_NE(waitFor(world, word, 1), ACLSHMEM_SUCCESS);
               expectIn({piton_last_error()}, "PE 1 waits in aclshmem_finalize for the other PEs");
             },
             {.endsLost = true});
}

TEST(Standstill, TheValueSeenIsTheLastOne) {
  Texts texts = standstillOf(2, [&](World &world) {
    int32_t *word = makeWord(world);
    if (world.pe() == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      EXPECT_EQ(world.signal("signal", word, 3, kSignalSet, 0), 0);
    }
    return waitFor(world, word, 7);
  });
  expectIn(texts, "PE 0 waits in aclshmem_signal_wait_until for heap + 0x0 of PE 0: value seen 3");
}

TEST(Standstill, AnotherThreadOfAPeIsShownWhenTheFirstHasWhatItWants) {
  // A PE counts as one that waits while only its other thread does, for 0.3 s here.
  auto stuck = [&](World &world) {
    int32_t *first = makeWord(world), *second = makeWord(world);
    std::thread other([&] { EXPECT_EQ(waitFor(world, first, 1), 0) << piton_last_error(); });
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    if (world.pe() == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      for (int to : {0, 1})
        EXPECT_EQ(world.signal("signal", first, 1, kSignalSet, to), 0);
    }
    int code = waitFor(world, second, 1);
    std::string text = piton_last_error();
    other.join();
    return code ? report(code, text) : code;
  };
  Texts texts = standstillOf(2, stuck, "2.5");
  for (int i : {0, 1})
    expectIn(texts, pe(i) + " waits in aclshmem_signal_wait_until for heap + 0x40 of " + pe(i));
}

TEST(Standstill, WhoeverStillRunsKeepsTheJobAlive) {
  Limit limit;
  runThreads(3, [&](World &world) {
    int32_t *word = makeWord(world);
    if (world.pe() != 2) {
      EXPECT_EQ(waitFor(world, word, 1), 0) << piton_last_error();
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1200)); // computes
    for (int to : {0, 1})
      EXPECT_EQ(world.signal("signal", word, 1, kSignalSet, to), 0);
  });
}

TEST(Standstill, ProgressInSmallStepsIsNone) {
  Limit limit("0.8"); // in which a thread must get a turn on a crowded machine
  runThreads(2, [&](World &world) {
    int32_t *word = makeWord(world);
    for (int i = 1; i <= 16; ++i) { // PE 0 sleeps, PE 1 waits, then the other way round
      if (i % 2 == world.pe()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(150));
        EXPECT_EQ(world.signal("signal", word, i, kSignalSet, 1 - world.pe()), 0);
      } else {
        EXPECT_EQ(waitFor(world, word, i), 0) << piton_last_error();
      }
    }
  });
}
