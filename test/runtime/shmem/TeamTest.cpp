// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Teams, barriers, data and signals between PEs that are threads. Runs under TSan.

#include "test/runtime/shmem/Jobs.h"

#include <gtest/gtest.h>

#include <atomic>
#include <climits>
#include <cstring>
#include <random>

using namespace piton;
using namespace piton::shmem;
using piton::test::runThreads;

namespace {

template <typename T> T *allocate(World &world, uint64_t count) {
  auto *out = static_cast<T *>(world.allocate("malloc", count * sizeof(T), 64, DEVICE_SIDE, true));
  EXPECT_TRUE(out) << piton_last_error();
  return out;
}

#define OK(call) ASSERT_EQ(call, ACLSHMEM_SUCCESS) << piton_last_error()

/// Every member counts up its successor; after a barrier all must see the round's number.
void ringOfIncrements(World &world, int team, int *word, int rounds) {
  TeamRecord *record = world.team(team);
  ASSERT_TRUE(record);
  int next = record->toWorld[(record->myPe + 1) % record->size];
  for (int round = 1; round <= rounds; ++round) {
    auto *theirs = static_cast<int *>(world.translate("ptr", word, next));
    *theirs += 1;
    OK(world.barrier("barrier", team));
    EXPECT_EQ(*word, round);
    OK(world.barrier("barrier", team));
  }
}

} // namespace

TEST(Barrier, NobodyIsAhead) {
  for (int count : {1, 2, 3, 4, 8})
    runThreads(count, [](World &world) {
      ringOfIncrements(world, kTeamWorld, allocate<int>(world, 16), 20);
    });
}

TEST(Barrier, CountersMayWrap) {
  runThreads(3, [](World &world) {
    int *word = allocate<int>(world, 16);
    DeviceState &state = world.deviceState();
    *reinterpret_cast<int32_t *>(state.syncCounter) = INT_MAX - 3;
    *reinterpret_cast<int32_t *>(state.syncPool) = INT_MAX - 3;
    OK(world.controlBarrier(kTeamWorld, "test"));
    ringOfIncrements(world, kTeamWorld, word, 10);
  });
}

TEST(Teams, StridedSplitOfSplitHasTheRightMembers) {
  runThreads(8, [](World &world) {
    int odd = 0, part = 0;
    OK(world.splitStrided("split", kTeamWorld, 1, 2, 4, odd));
    EXPECT_EQ(odd != kTeamInvalid, world.pe() % 2 == 1);
    if (odd == kTeamInvalid) {
      EXPECT_EQ(world.team(odd), nullptr);
      OK(world.barrier("barrier", kTeamWorld));
      return;
    }
    EXPECT_EQ(world.team(odd)->size, 4);
    EXPECT_EQ(world.team(odd)->myPe, world.pe() / 2);
    EXPECT_EQ(world.translatePe(odd, 2, kTeamWorld), 5);
    EXPECT_EQ(world.translatePe(kTeamWorld, 4, odd), -1);
    // Members 1 and 3 of the odd team are PEs 3 and 7.
    OK(world.splitStrided("split", odd, 1, 2, 2, part));
    EXPECT_EQ(part != kTeamInvalid, world.pe() == 3 || world.pe() == 7);
    if (part != kTeamInvalid) {
      EXPECT_EQ(world.translatePe(part, 1, kTeamWorld), 7);
      EXPECT_EQ(world.translatePe(part, 0, odd), 1);
    }
    EXPECT_EQ(world.splitStrided("split", odd, 1, 2, 3, part), ACLSHMEM_INVALID_PARAM);
    EXPECT_NE(std::string(piton_last_error()).find("do not stay within the 4 PEs"),
              std::string::npos);
    OK(world.barrier("barrier", kTeamWorld));
  });
}

TEST(Teams, GridOfTwoDimensionsWithARemainder) {
  runThreads(7, [](World &world) {
    int row = 0, column = 0, *word = allocate<int>(world, 16), *word2 = allocate<int>(world, 16);
    OK(world.split2d("split", kTeamWorld, 3, row, column));
    EXPECT_EQ(world.team(row)->size, world.pe() == 6 ? 1 : 3);
    EXPECT_EQ(world.team(column)->size, world.pe() % 3 == 0 ? 3 : 2);
    EXPECT_EQ(world.team(column)->myPe, world.pe() / 3);
    ringOfIncrements(world, row, word, 5);
    ringOfIncrements(world, column, word2, 5);
    EXPECT_EQ(world.split2d("split", kTeamWorld, 0, row, column), ACLSHMEM_INVALID_PARAM);
  });
}

TEST(Teams, NumbersAgreeAreReusedAndTheirSlotsStartAnew) {
  runThreads(4, [](World &world) {
    int *word = allocate<int>(world, 16);
    for (int round = 0; round < 5; ++round) {
      // PEs 1..3 have one membership more than PE 0.
      int some = 0, all = 0;
      OK(world.splitStrided("split", kTeamWorld, 1, 1, 3, some));
      OK(world.splitStrided("split", kTeamWorld, 0, 1, 4, all));
      EXPECT_EQ(all, 2) << "the same number on all members";
      *word = 0;
      OK(world.barrier("barrier", kTeamWorld));
      ringOfIncrements(world, all, word, 3);
      if (some != kTeamInvalid)
        OK(world.destroyTeam("destroy", some));
      OK(world.destroyTeam("destroy", all));
      EXPECT_EQ(world.destroyTeam("destroy", all), ACLSHMEM_INVALID_PARAM);
      OK(world.controlBarrier(kTeamWorld, "test")); // the numbers are free
    }
    EXPECT_EQ(world.destroyTeam("destroy", kTeamWorld), ACLSHMEM_INVALID_PARAM);
  });
}

TEST(Teams, MoreThanSixtyFourTeamsAndNoMoreThanThereAre) {
  runThreads(2, [](World &world) {
    int team = 0;
    for (int i = 1; i < 200; ++i) {
      OK(world.splitStrided("split", kTeamWorld, 0, 1, 2, team));
      EXPECT_EQ(team, i);
    }
    OK(world.barrier("barrier", team));
  });
}

TEST(Teams, SplitsThatDifferAreAnError) {
  runThreads(2, [](World &world) {
    int team = 0;
    EXPECT_NE(world.splitStrided("split", kTeamWorld, world.pe(), 1, 1, team), ACLSHMEM_SUCCESS);
    EXPECT_NE(std::string(piton_last_error()).find("PE 1 called split(team 0: PE 1)"),
              std::string::npos)
        << piton_last_error();
  });
}

TEST(Data, PutAndGetOfManySizes) {
  runThreads(3, [](World &world) {
    constexpr size_t bytes = 100000;
    auto *buffer = allocate<char>(world, bytes);
    int next = (world.pe() + 1) % 3, previous = (world.pe() + 2) % 3;
    std::vector<char> mine(bytes), back(bytes);
    for (size_t size : {1ul, 7ul, 64ul, 4097ul, bytes}) {
      for (size_t i = 0; i < size; ++i)
        mine[i] = static_cast<char>(i * 7 + size + static_cast<size_t>(world.pe()));
      OK(world.put("put", buffer, mine.data(), size, next, true));
      OK(world.barrier("barrier", kTeamWorld));
      for (size_t i = 0; i < size; ++i)
        ASSERT_EQ(buffer[i], static_cast<char>(i * 7 + size + static_cast<size_t>(previous)));
      OK(world.get("get", back.data(), buffer, size, next, true));
      EXPECT_EQ(std::memcmp(back.data(), mine.data(), size), 0);
      OK(world.barrier("barrier", kTeamWorld));
    }
  });
}

TEST(Data, StridesAndErrors) {
  runThreads(2, [](World &world) {
    auto *grid = allocate<int>(world, 64);
    int mine[8], back[4] = {};
    for (int i = 0; i < 8; ++i)
      mine[i] = 10 * world.pe() + i;
    OK(world.putStrided("iput", grid, mine, {3 * sizeof(int), 2 * sizeof(int)}, sizeof(int), 4,
                        1 - world.pe()));
    OK(world.barrier("barrier", kTeamWorld));
    for (int i = 0; i < 4; ++i)
      EXPECT_EQ(grid[3 * i], 10 * (1 - world.pe()) + 2 * i);
    OK(world.getStrided("iget", back, grid, {3 * sizeof(int), sizeof(int)}, sizeof(int), 4,
                        1 - world.pe()));
    EXPECT_EQ(back[3], 10 * world.pe() + 6);

    EXPECT_EQ(world.put("put", grid, mine, 4, 2, true), ACLSHMEM_INVALID_PARAM);
    EXPECT_EQ(world.put("put", grid, mine, 4, -1, true), ACLSHMEM_INVALID_PARAM);
    EXPECT_EQ(world.put("put", mine, grid, 4, 0, true), ACLSHMEM_INVALID_PARAM);
    EXPECT_EQ(world.put("put", grid, mine, world.deviceState().heapBytes + 1, 0, true),
              ACLSHMEM_INVALID_PARAM);
    EXPECT_EQ(world.signal("signal", grid, 1, 2, 0), ACLSHMEM_INVALID_VALUE);
    OK(world.put("put", grid, mine, 0, 1, true));
    OK(world.barrier("barrier", kTeamWorld));
  });
}

TEST(Data, SignalsAddUpAndWaitersDoNotConsume) {
  runThreads(4, [](World &world) {
    int32_t *word = allocate<int32_t>(world, 16);
    constexpr int rounds = 500;
    for (int i = 0; i < rounds; ++i)
      OK(world.signal("signal", word, 1, kSignalAdd, 0));
    if (world.pe() == 0) {
      auto ready = [&] { return __atomic_load_n(word, __ATOMIC_ACQUIRE) == 4 * rounds; };
      OK(world.waitOn({.call = "wait", .word = word, .wanted = 4 * rounds}, ready));
      for (int pe = 1; pe < 4; ++pe)
        OK(world.signal("signal", word, 7, kSignalSet, pe));
    } else {
      auto *at =
          static_cast<int32_t *>(world.translate("ptr", word, world.pe() == 3 ? 2 : world.pe()));
      // PEs 2 and 3 wait on one word, PE 3 from afar.
      auto ready = [&] { return __atomic_load_n(at, __ATOMIC_ACQUIRE) == 7; };
      OK(world.waitOn({.call = "wait", .word = at, .wanted = 7}, ready));
    }
    OK(world.barrier("barrier", kTeamWorld));
  });
}

TEST(Wait, AStandstillNamesWhoWaitsForWhat) {
  setenv("PITON_STANDSTILL_SECONDS", "0.3", 1);
  std::string texts[2];
  std::thread guard;
  runThreads(
      2,
      [&](World &world) {
        int32_t *word = allocate<int32_t>(world, 16);
        auto ready = [&] { return __atomic_load_n(word, __ATOMIC_ACQUIRE) == 5; };
        EXPECT_NE(
            world.waitOn({.call = "aclshmem_signal_wait_until", .word = word, .wanted = 5}, ready),
            ACLSHMEM_SUCCESS);
        texts[world.pe()] = piton_last_error();
      },
      {.endsLost = true});
  unsetenv("PITON_STANDSTILL_SECONDS");
  for (const std::string &text : texts) {
    EXPECT_NE(text.find("standstill"), std::string::npos) << text;
    EXPECT_NE(
        text.find("PE 0 waits in aclshmem_signal_wait_until for heap + 0x0 of PE 0: value seen "
                  "0, wanted == 5"),
        std::string::npos)
        << text;
    EXPECT_NE(text.find("PE 1 waits in"), std::string::npos) << text;
  }
}

TEST(Wait, ATimeOutNamesWhoCouldStillSignal) {
  std::atomic<bool> over{false};
  runThreads(
      2,
      [&](World &world) {
        int32_t *word = allocate<int32_t>(world, 16);
        if (world.pe() == 0) {
          auto ready = [&] { return __atomic_load_n(word, __ATOMIC_ACQUIRE) >= 5; };
          EXPECT_EQ(world.waitOn({.call = "wait", .word = word, .compare = kCompareGe, .wanted = 5},
                                 ready),
                    ACLSHMEM_TIMEOUT_ERROR);
          std::string text = piton_last_error();
          EXPECT_NE(text.find("within 2 s"), std::string::npos) << text;
          EXPECT_NE(text.find("wanted >= 5"), std::string::npos) << text;
          EXPECT_NE(text.find("PE 1 does not wait and could still signal"), std::string::npos)
              << text;
          over = true;
        } else {
          test::waitUntil([&] { return over.load(); });
        }
      },
      {.timeout = std::chrono::seconds(2)});
}
