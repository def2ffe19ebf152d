// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The SoC table against the published figures, and selection by name and environment.

#include "abi/HardwareModel.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

using namespace piton;

namespace {

TEST(HardwareModel, DefaultIs910B3) {
  unsetenv("TRITON_ASCEND_ARCH");
  const HardwareModel *m = selectedHardwareModel();
  ASSERT_TRUE(m);
  EXPECT_STREQ(m->name, "Ascend910B3");
  EXPECT_EQ(m->aiCores, 20u);
  EXPECT_EQ(m->vectorCores, 40u);
  EXPECT_EQ(m->coresFor("aiv"), 40u);
  EXPECT_EQ(m->coresFor("mix"), 20u);
  EXPECT_EQ(m->coresFor("aic"), 20u);
  EXPECT_EQ(m->ubBytes * 8, 1572864u);
  EXPECT_EQ(m->l1Bytes * 8, 4194304u);
  EXPECT_EQ(m->l0cBytes * 8, 1048576u);
  EXPECT_EQ(m->gmBytes, uint64_t(64) << 30);
  EXPECT_FALSE(m->xFastest);
  EXPECT_TRUE(m->ffts);
  EXPECT_FALSE(m->isA5());
}

TEST(HardwareModel, EnvironmentSelects) {
  setenv("TRITON_ASCEND_ARCH", "Ascend910_9599", 1);
  const HardwareModel *m = selectedHardwareModel();
  ASSERT_TRUE(m);
  EXPECT_EQ(m->aiCores, 36u);
  EXPECT_EQ(m->ubBytes * 8, 2031616u);
  EXPECT_EQ(m->l0cBytes * 8, 2097152u);
  EXPECT_EQ(m->minDataCacheBytes * 8, 262144u);
  EXPECT_EQ(m->maxDataCacheBytes * 8, 983040u);
  EXPECT_TRUE(m->isA5());
  EXPECT_TRUE(m->xFastest);
  EXPECT_FALSE(m->ffts);
  setenv("TRITON_ASCEND_ARCH", "", 1);
  EXPECT_STREQ(selectedHardwareModel()->name, "Ascend910B3");
  setenv("TRITON_ASCEND_ARCH", "H100", 1);
  std::string error;
  EXPECT_FALSE(selectedHardwareModel(&error));
  EXPECT_EQ(error.rfind("TRITON_ASCEND_ARCH = H100 is invalid!", 0), 0u) << error;
  EXPECT_NE(error.find("Ascend910B3"), std::string::npos);
  EXPECT_NE(error.find("Ascend910_9599"), std::string::npos);
  unsetenv("TRITON_ASCEND_ARCH");
}

TEST(HardwareModel, AliasesMapToTargetsOfTheCompiler) {
  for (const char *name : {"Ascend950", "Ascend910_95", "Ascend910B4_1"}) {
    const HardwareModel *m = findHardwareModel(name);
    ASSERT_TRUE(m) << name;
    EXPECT_STRNE(m->name, name);
    EXPECT_STREQ(m->compilerTarget, m->name);
  }
  EXPECT_TRUE(findHardwareModel("Ascend950")->isA5());
}

TEST(HardwareModel, EveryTargetOfTheSheetsIsThere) {
  for (const char *name :
       {"Ascend910B1",      "Ascend910B2",      "Ascend910B2C",    "Ascend910B4-1",
        "Ascend910_9362",   "Ascend910_9363",   "Ascend910_9372",  "Ascend910_9381",
        "Ascend910_9392",   "Ascend310P",       "Ascend310B1",     "Ascend310B4",
        "Ascend910_950z",   "Ascend950DT_950x", "Ascend910_9579",  "Ascend910_957b",
        "Ascend950PR_957d", "Ascend950DT_9578", "Ascend910_9581",  "Ascend950PR_958d",
        "Ascend950DT_9588", "Ascend950PR_959b", "Ascend950DT_95A2"})
    EXPECT_TRUE(findHardwareModel(name)) << name;
  EXPECT_FALSE(findHardwareModel("Unknown"));
  EXPECT_FALSE(findHardwareModel(""));
  EXPECT_FALSE(findHardwareModel("ascend910b3"));
}

TEST(HardwareModel, RowsAreConsistent) {
  std::set<std::string> names;
  for (const HardwareModel &m : allHardwareModels()) {
    SCOPED_TRACE(m.name);
    EXPECT_TRUE(names.insert(m.name).second);
    EXPECT_GT(m.aiCores, 0u);
    EXPECT_GE(m.vectorCores, m.aiCores);
    EXPECT_EQ(m.maxBlocks, 65535u);
    EXPECT_EQ(m.l0aBytes, 65536u);
    EXPECT_EQ(m.l0bBytes, 65536u);
    EXPECT_EQ(m.ubBytes % m.ubAlign, 0u);
    EXPECT_EQ(m.l0cBytes % m.l0cAlign, 0u);
    EXPECT_GE(m.ubHardwareBytes, m.ubBytes);
    EXPECT_GT(m.memoryCapacity(), 0u);
    EXPECT_TRUE(!m.isA5() || !m.ffts);
  }
}

} // namespace
