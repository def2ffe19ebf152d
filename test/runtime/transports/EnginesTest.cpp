// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The same program over every engine: what a caller may rely on does not depend on who moves the
// bytes. PEs are threads, for ROCE reached over the network all the same; runs under
// TSan.

#include "test/runtime/shmem/Jobs.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <numeric>

using namespace piton;
using namespace piton::shmem;

namespace {

#define OK(call) ASSERT_EQ(call, ACLSHMEM_SUCCESS) << piton_last_error()

struct Engines {
  const char *name;
  uint32_t mask;
  uint8_t bits;         ///< of a peer on this host
  bool network = false; ///< even PEs of this host are reached over it
};

class Engine : public testing::TestWithParam<Engines> {
protected:
  void run(int count, const std::function<void(World &)> &body, uint64_t heapBytes = 1 << 20) {
    test::ThreadJobOptions options;
    options.engines = GetParam().mask;
    options.heapBytes = heapBytes;
    if (GetParam().network) {
      if (!std::filesystem::exists(PITON_ROCE_LIBRARY))
        GTEST_SKIP() << "built without UCX";
      setenv("PITON_ROCE_LIBRARY", PITON_ROCE_LIBRARY, 1);
      setenv("PITON_SHMEM_FORCE_ROCE", "1", 1);
    }
    test::runThreads(count, body, options);
    unsetenv("PITON_SHMEM_FORCE_ROCE");
  }
};

char *allocate(World &world, uint64_t bytes) {
  auto *out = static_cast<char *>(world.allocate("malloc", bytes, 64, DEVICE_SIDE, true));
  EXPECT_TRUE(out) << piton_last_error();
  return out;
}

/// Bytes that differ by place and by seed.
std::vector<char> pattern(uint64_t bytes, int seed) {
  std::vector<char> out(bytes);
  uint32_t x = static_cast<uint32_t>(seed) * 2654435761u + 1;
  for (char &c : out) {
    x = x * 1664525u + 1013904223u;
    c = static_cast<char>(x >> 24);
  }
  return out;
}

const Engines kEngines[] = {
    {"Mte", ACLSHMEM_DATA_OP_MTE, kTransportMte},
    {"Sdma", ACLSHMEM_DATA_OP_SDMA, kTransportMte | kTransportSdma},
    {"Udma", ACLSHMEM_DATA_OP_UDMA, kTransportMte | kTransportUdma},
    {"SdmaAndUdma", ACLSHMEM_DATA_OP_SDMA | ACLSHMEM_DATA_OP_UDMA,
     kTransportMte | kTransportSdma | kTransportUdma},
    {"Roce", ACLSHMEM_DATA_OP_ROCE, kTransportMte, true},
};

} // namespace

INSTANTIATE_TEST_SUITE_P(All, Engine, testing::ValuesIn(kEngines),
                         [](const auto &info) { return std::string(info.param.name); });

TEST_P(Engine, PeersSayHowTheyAreReached) {
  run(3, [&](World &world) {
    const DeviceState &state = world.deviceState();
    for (int pe = 0; pe < 3; ++pe)
      EXPECT_EQ(state.transports[pe], pe == world.pe() || !GetParam().network
                                          ? GetParam().bits
                                          : uint8_t(kTransportRoce));
    EXPECT_EQ(state.sdmaWorkspace != 0, (GetParam().mask & ACLSHMEM_DATA_OP_SDMA) != 0);
    EXPECT_EQ(state.queueInfo != 0, (GetParam().mask & ACLSHMEM_DATA_OP_UDMA) != 0);
  });
}

TEST_P(Engine, BytesOfAnySizeGoThereAndBack) {
  const uint64_t kMost = (3 << 20) + 5;
  run(
      3,
      [&](World &world) {
        char *box = allocate(world, kMost);
        int next = (world.pe() + 1) % 3, before = (world.pe() + 2) % 3;
        for (uint64_t bytes : {uint64_t(1), uint64_t(7), uint64_t(8), uint64_t(64), uint64_t(4099),
                               uint64_t(1) << 20, (uint64_t(1) << 20) + 3, kMost}) {
          std::vector<char> mine = pattern(bytes, world.pe()), back(bytes);
          OK(world.put("put", box, mine.data(), bytes, next, true));
          OK(world.barrier("barrier", kTeamWorld));
          std::vector<char> wanted = pattern(bytes, before);
          EXPECT_EQ(std::memcmp(box, wanted.data(), bytes), 0) << bytes << " bytes put";
          OK(world.get("get", back.data(), box, bytes, next, true));
          EXPECT_EQ(back, mine) << bytes << " bytes got";
          OK(world.barrier("barrier", kTeamWorld));
        }
        OK(world.put("put", box, nullptr, 0, next, true));
        OK(world.get("get", nullptr, box, 0, next, true));
      },
      4 << 20);
}

TEST_P(Engine, QuietDrainsMoreWorkThanARingHolds) {
  const size_t kCount = GetParam().network ? 1500 : 6000; // SDMA's rings have 2048 entries
  run(2, [&](World &world) {
    auto *words = reinterpret_cast<int *>(allocate(world, kCount * sizeof(int)));
    std::vector<int> mine(kCount), back(kCount);
    std::iota(mine.begin(), mine.end(), 1000 * world.pe());
    int other = 1 - world.pe();
    for (size_t i = 0; i < mine.size(); ++i)
      OK(world.put("put", words + i, &mine[i], sizeof(int), other, false));
    OK(world.quiet());
    // Without a barrier: quiet alone says that the other PE has it all.
    auto *theirs = static_cast<int *>(world.translate("ptr", words, other));
    EXPECT_EQ(std::memcmp(theirs, mine.data(), mine.size() * sizeof(int)), 0);
    for (size_t i = 0; i < mine.size(); ++i)
      OK(world.get("get", &back[i], words + i, sizeof(int), other, false));
    OK(world.quiet());
    EXPECT_EQ(back, mine);
    OK(world.barrier("barrier", kTeamWorld)); // before the heap goes
  });
}

TEST_P(Engine, BarrierDrains) {
  constexpr uint64_t kBytes = 1 << 20;
  run(
      2,
      [&](World &world) {
        char *box = allocate(world, kBytes);
        for (int round = 0; round < (GetParam().network ? 3 : 10); ++round) {
          std::vector<char> mine = pattern(kBytes, 2 * round + world.pe());
          OK(world.put("put", box, mine.data(), kBytes, 1 - world.pe(), false));
          OK(world.barrier("barrier", kTeamWorld));
          EXPECT_EQ(std::memcmp(box, pattern(kBytes, 2 * round + 1 - world.pe()).data(), kBytes),
                    0);
          OK(world.barrier("barrier", kTeamWorld));
        }
      },
      2 << 20);
}

TEST_P(Engine, SignalComesBehindTheData) {
  constexpr uint64_t kBytes = 200 * 1024;
  run(2, [&](World &world) {
    char *box = allocate(world, kBytes);
    auto *words = reinterpret_cast<int32_t *>(allocate(world, 128));
    for (int round = 1; round <= (GetParam().network ? 5 : 50); ++round) {
      if (world.pe() == 0) {
        std::vector<char> mine(kBytes, static_cast<char>(round));
        OK(world.put("put", box, mine.data(), kBytes, 1, false));
        OK(world.fence());
        OK(world.signal("signal", words, round, kSignalSet, 1));
        OK(world.quiet()); // `mine` goes
      }
      auto *word = words + (world.pe() == 0 ? 16 : 0);
      WaitTarget target{.call = "wait", .word = word, .wanted = round};
      OK(world.waitOn(target, [&] { return __atomic_load_n(word, __ATOMIC_ACQUIRE) == round; }));
      if (world.pe() == 1) {
        EXPECT_EQ(std::count(box, box + kBytes, static_cast<char>(round)), int64_t(kBytes));
        OK(world.signal("signal", words + 16, round, kSignalSet, 0));
      }
    }
    OK(world.barrier("barrier", kTeamWorld));
  });
}

TEST_P(Engine, AddsOfAllPesCountOnce) {
  const int kAdds = GetParam().network ? 24 : 500;
  run(4, [&](World &world) {
    auto *word = reinterpret_cast<int32_t *>(allocate(world, 64));
    for (int i = 0; i < kAdds; ++i)
      OK(world.signal("signal", word, world.pe() + 1, kSignalAdd, i % 4));
    OK(world.barrier("barrier", kTeamWorld));
    EXPECT_EQ(*word, kAdds / 4 * (1 + 2 + 3 + 4));
  });
}

TEST_P(Engine, SleepersAreWoken) {
  // The waiter sleeps on its doorbell long before the engine stores the word.
  run(2, [&](World &world) {
    auto *word = reinterpret_cast<int32_t *>(allocate(world, 64));
    if (world.pe() == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(60));
      int32_t value = 5;
      OK(world.put("put", word, &value, sizeof(value), 1, true));
    } else {
      WaitTarget target{.call = "wait", .word = word, .wanted = 5};
      OK(world.waitOn(target, [&] { return __atomic_load_n(word, __ATOMIC_ACQUIRE) == 5; }));
    }
    OK(world.barrier("barrier", kTeamWorld));
  });
}

TEST_P(Engine, AJobAfterAnotherStartsClean) {
  for (int round = 0; round < 3; ++round)
    run(2, [&](World &world) {
      auto *word = reinterpret_cast<int32_t *>(allocate(world, 64));
      EXPECT_EQ(*word, 0);
      OK(world.barrier("barrier", kTeamWorld));
      int32_t value = 7 + round;
      OK(world.put("put", word, &value, sizeof(value), 1 - world.pe(), true));
      OK(world.barrier("barrier", kTeamWorld));
      EXPECT_EQ(*word, value);
    });
}

TEST_P(Engine, NobodyLeavesABarrierAhead) {
  for (int count : {2, 3, 5})
    run(count, [&](World &world) {
      auto *word = reinterpret_cast<int32_t *>(allocate(world, 64));
      *reinterpret_cast<int32_t *>(world.deviceState().syncCounter) = INT32_MAX - 3; // it wraps
      *reinterpret_cast<int32_t *>(world.deviceState().syncPool) = INT32_MAX - 3;
      OK(world.controlBarrier(kTeamWorld, "test"));
      for (int round = 1; round <= 6; ++round) {
        OK(world.signal("signal", word, 1, kSignalAdd, (world.pe() + 1) % count));
        OK(world.barrier("barrier", kTeamWorld));
        EXPECT_EQ(*word, round);
        OK(world.barrier("barrier", kTeamWorld));
      }
    });
}

TEST_P(Engine, TeamsHaveBarriersOfTheirOwn) {
  run(4, [&](World &world) {
    auto *word = reinterpret_cast<int32_t *>(allocate(world, 64));
    int odd = -1; // PEs 1 and 3: on different hosts where there are several
    OK(world.splitStrided("split", kTeamWorld, 1, 2, 2, odd));
    if (world.pe() % 2 == 1)
      for (int round = 1; round <= 5; ++round) {
        OK(world.signal("signal", word, round, kSignalSet, 4 - world.pe()));
        OK(world.barrier("barrier", odd));
        EXPECT_EQ(*word, round);
        OK(world.barrier("barrier", odd));
      }
    OK(world.barrier("barrier", kTeamWorld));
  });
}

TEST_P(Engine, HostSideHeapAndStrides) {
  run(2, [&](World &world) {
    auto *host = static_cast<int *>(world.allocate("malloc", 4096, 64, HOST_SIDE, true));
    ASSERT_TRUE(host) << piton_last_error();
    auto *device = reinterpret_cast<int *>(allocate(world, 4096));
    int values[8] = {0, 1, 2, 3, 4, 5, 6, 7}, back[8] = {};
    int other = 1 - world.pe();
    for (int *box : {host, device}) {
      OK(world.putStrided("iput", box, values, {8, 4}, 4, 8, other));
      OK(world.barrier("barrier", kTeamWorld));
      for (int i = 0; i < 16; ++i)
        EXPECT_EQ(box[i], i % 2 ? 0 : i / 2);
      OK(world.getStrided("iget", back, box, {8, 4}, 4, 8, other));
      EXPECT_EQ(std::memcmp(back, values, sizeof(values)), 0);
      OK(world.barrier("barrier", kTeamWorld));
    }
  });
}
