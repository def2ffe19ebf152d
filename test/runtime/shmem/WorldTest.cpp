// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PEs as threads: joining, memory at the same offsets, errors of collective calls. Runs under TSan.

#include "test/runtime/shmem/Jobs.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>

using namespace piton;
using namespace piton::shmem;
using piton::test::runThreads;

namespace {
void *allocate(World &world, uint64_t bytes) {
  return world.allocate("malloc(" + std::to_string(bytes) + ")", bytes, 64, DEVICE_SIDE);
}
std::string lastError() { return piton_last_error(); }
} // namespace

TEST(World, EveryPeSeesTheOthersHeapsAtTheSameOffsets) {
  for (int count : {1, 2, 3, 4, 8}) {
    runThreads(count, [&](World &world) {
      auto *mine = static_cast<int *>(allocate(world, 4096));
      ASSERT_TRUE(mine) << lastError();
      EXPECT_EQ(world.deviceState().myPe, world.pe());
      EXPECT_EQ(world.deviceState().peCount, count);
      mine[0] = 100 + world.pe();
      ASSERT_EQ(world.controlBarrier(0, "test"), ACLSHMEM_SUCCESS) << lastError();
      for (int pe = 0; pe < count; ++pe) {
        auto *theirs = static_cast<int *>(world.translate("ptr", mine, pe));
        ASSERT_TRUE(theirs) << lastError();
        EXPECT_EQ(theirs[0], 100 + pe);
        EXPECT_EQ(reinterpret_cast<char *>(theirs) -
                      static_cast<char *>(world.deviceState().p2pHeapBase[pe]),
                  reinterpret_cast<char *>(mine) -
                      static_cast<char *>(world.deviceState().heapBase));
        EXPECT_EQ(world.deviceState().transports[pe], kTransportMte);
      }
      ASSERT_EQ(world.controlBarrier(0, "test"), ACLSHMEM_SUCCESS) << lastError();
      EXPECT_EQ(world.free("free", mine, DEVICE_SIDE), ACLSHMEM_SUCCESS) << lastError();
      EXPECT_EQ(world.free("free", mine, DEVICE_SIDE), ACLSHMEM_INVALID_PARAM) << "freed twice";
    });
  }
}

TEST(World, DifferentSizesAreAnErrorOnAllThatNamesPesAndSizes) {
  runThreads(3, [&](World &world) {
    EXPECT_EQ(allocate(world, world.pe() == 2 ? 2048 : 1024), nullptr);
    EXPECT_EQ(lastError(), "the PEs made different collective calls: PE 0 called malloc(1024), "
                           "PE 2 called malloc(2048)");
    // The heap is unharmed.
    void *next = allocate(world, 64);
    ASSERT_TRUE(next) << lastError();
    EXPECT_EQ(next, world.deviceState().heapBase);
  });
}

TEST(World, DifferentCallsAreAnErrorOnAll) {
  runThreads(2, [&](World &world) {
    void *block = allocate(world, 64);
    ASSERT_TRUE(block);
    if (world.pe() == 0)
      EXPECT_EQ(allocate(world, 64), nullptr);
    else
      EXPECT_NE(world.free("aclshmem_free", block, DEVICE_SIDE), ACLSHMEM_SUCCESS);
    EXPECT_NE(lastError().find("PE 0 called malloc(64), PE 1 called aclshmem_free(offset 0"),
              std::string::npos)
        << lastError();
    EXPECT_EQ(world.free("aclshmem_free", block, DEVICE_SIDE), ACLSHMEM_SUCCESS) << lastError();
  });
}

TEST(World, AMissingPeIsATimeOutThatNamesItAndTheJobGoesOn) {
  test::ThreadJobOptions options;
  options.timeout = std::chrono::seconds(2);
  std::atomic<int> over{0};
  runThreads(
      3,
      [&](World &world) {
        if (world.pe() == 1)
          test::waitUntil([&] { return over == 2; });
        EXPECT_EQ(world.controlBarrier(0, "call"), ACLSHMEM_TIMEOUT_ERROR);
        EXPECT_NE(lastError().find("PE 1 did not make this call within 2"), std::string::npos)
            << lastError();
        ++over;
      },
      options);
}

TEST(World, AllOfTheUsersSizeIsTheUsers) {
  test::ThreadJobOptions options;
  options.heapBytes = 3 << 20;
  runThreads(
      2,
      [&](World &world) {
        void *all = allocate(world, options.heapBytes);
        ASSERT_TRUE(all) << lastError();
        std::memset(all, 1, options.heapBytes);
        EXPECT_EQ(world.free("free", all, DEVICE_SIDE), ACLSHMEM_SUCCESS);
        EXPECT_EQ(allocate(world, options.heapBytes + kHeapExtraBytes + 1), nullptr);
        EXPECT_NE(lastError().find("no free block of that size"), std::string::npos) << lastError();
      },
      options);
}

TEST(World, HostSideHeapIsAnother) {
  runThreads(2, [&](World &world) {
    void *host = world.allocate("malloc", 128, 64, HOST_SIDE);
    ASSERT_TRUE(host) << lastError();
    EXPECT_EQ(host, world.deviceState().hostHeapBase);
    EXPECT_NE(world.deviceState().hostHeapBase, world.deviceState().heapBase);
    EXPECT_TRUE(world.translate("ptr", host, 1 - world.pe()));
    EXPECT_EQ(world.free("free", host, HOST_SIDE), ACLSHMEM_SUCCESS) << lastError();
  });
}
