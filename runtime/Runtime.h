// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The process's devices, made once from the environment.
#ifndef PITON_RUNTIME_RUNTIME_H
#define PITON_RUNTIME_RUNTIME_H

#include "runtime/Device.h"

namespace piton {

class Runtime {
public:
  static constexpr int kMaxDevices = 1024;

  /// The process's runtime, or null with the reason in lastError(): a wrong environment stays wrong
  /// until the next process.
  static Runtime *get(piton_status_t &status);

  int deviceCount() const { return static_cast<int>(devices.size()); }
  Device &device(int index) { return *devices[static_cast<size_t>(index)]; }
  /// The device that owns `pointer`, or null.
  Device *deviceOf(const void *pointer);

private:
  Runtime() = default;
  piton_status_t initialize();
  static void beforeFork();
  static void afterForkInParent();
  static void afterForkInChild();

  std::vector<std::unique_ptr<Device>> devices;
};

} // namespace piton

#endif // PITON_RUNTIME_RUNTIME_H
