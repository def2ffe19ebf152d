// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launch: checks a grid and arguments against the kernel and the NPU's limits and hands the launch
// to a stream, or runs it at once.
#ifndef PITON_RUNTIME_LAUNCHER_H
#define PITON_RUNTIME_LAUNCHER_H

#include "runtime/Device.h"

namespace piton {

struct LaunchOptions {
  uint32_t grid[3] = {1, 1, 1};
  const void *arguments = nullptr;
  size_t argumentBytes = 0;
  bool synchronous = false;
  /// interruptEpoch() as the launch is to have it, from armInterrupts(); 0 takes the present one.
  uint64_t epoch = 0;
};

/// Launches in the order of `stream`; see piton_launch for where it runs.
piton_status_t launch(Stream &stream, const std::shared_ptr<const Kernel> &kernel,
                      const LaunchOptions &options);

/// Runs the launch on this thread, in no order with any stream.
piton_status_t launchNow(Device &device, const Kernel &kernel, const LaunchOptions &options);

} // namespace piton

#endif // PITON_RUNTIME_LAUNCHER_H
