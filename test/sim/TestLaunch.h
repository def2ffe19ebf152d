// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loading and launching test kernels on the simulator.
#ifndef PITON_TEST_SIM_TESTLAUNCH_H
#define PITON_TEST_SIM_TESTLAUNCH_H

#include "runtime/Executor.h"
#include "test/sim/TestImage.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <vector>

namespace piton::test {

inline std::shared_ptr<const Kernel> load(const KernelMetadata &m) {
  std::shared_ptr<const Kernel> kernel;
  EXPECT_EQ(simulator().load(testImage(m), kernel), PITON_OK) << lastError();
  return kernel;
}

inline std::shared_ptr<const Kernel> load(const std::string &name, bool canBlock = false) {
  KernelMetadata m = testMetadata(name);
  m.canBlock = canBlock;
  return load(m);
}

inline piton_status_t run(const std::shared_ptr<const Kernel> &kernel, const Args &args, uint32_t x,
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

inline bool has(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

/// After each failure an ordinary launch must work.
inline void expectAlive(bool canBlock) {
  std::vector<int32_t> counts(64);
  ASSERT_EQ(run(load("count", canBlock), Args().set(0, counts.data()), 64), PITON_OK);
  EXPECT_EQ(std::count(counts.begin(), counts.end(), 1), 64);
}

} // namespace piton::test

#endif // PITON_TEST_SIM_TESTLAUNCH_H
