// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The arithmetic of the device state: barrier slots, the predicate that lets a fast PE be one
// barrier ahead, and how the reading of flags is split over the vector cores.

#include "abi/DeviceState.h"

#include <gtest/gtest.h>

#include <climits>
#include <set>

using namespace piton;

TEST(DeviceState, SlotsOfTeamsDoNotOverlapAndFillThePool) {
  EXPECT_EQ(syncSlotOffset(0, 0), 0u);
  EXPECT_EQ(syncSlotOffset(0, kSyncSlotsPerTeam - 1) + kSyncSlotBytes, syncSlotOffset(1, 0));
  EXPECT_EQ(syncSlotOffset(kMaxTeams - 1, kSyncSlotsPerTeam - 1) + kSyncSlotBytes, kSyncPoolBytes);
  // log2 of kMaxPes rounds of the barrier between hosts, behind the pull barrier's slot.
  EXPECT_LT(14u, kSyncSlotsPerTeam);
  EXPECT_LE(kSyncPoolBytes + kSyncCounterBytes + 512, kHeapExtraBytes);
}

TEST(DeviceState, BarrierAcceptsThisBarrierAndTheNextAlsoWhenTheCounterWraps) {
  EXPECT_TRUE(barrierPassed(7, 7));
  EXPECT_TRUE(barrierPassed(8, 7));
  EXPECT_FALSE(barrierPassed(6, 7));
  EXPECT_FALSE(barrierPassed(9, 7));
  EXPECT_TRUE(barrierPassed(INT_MIN, INT_MAX));
  EXPECT_FALSE(barrierPassed(INT_MAX, INT_MIN));
}

TEST(DeviceState, EveryFlagHasExactlyOneReader) {
  for (uint32_t size : {1u, 2u, 7u, 8u, 9u, 64u})
    for (uint32_t cores : {1u, 2u, 40u}) {
      uint32_t readers = barrierReaders(size, cores);
      EXPECT_LE(readers, cores);
      std::multiset<uint32_t> seen;
      for (uint32_t core = 0; core < readers; ++core)
        for (uint32_t i = core; i < size; i += readers)
          seen.insert(i);
      EXPECT_EQ(seen.size(), size);
      EXPECT_EQ(std::set<uint32_t>(seen.begin(), seen.end()).size(), size);
    }
}
