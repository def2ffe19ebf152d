// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads TRITON_ASCEND_ARCH and PITON_DEVICE_COUNT and makes the devices. The runtime is never
// destroyed, since stream threads may run until the process ends.

#include "runtime/Runtime.h"

#include "runtime/Activity.h"

#include <cerrno>
#include <cstdlib>
#include <pthread.h>

namespace piton {
namespace {

constexpr int kDefaultDevices = 8;

Runtime *instance = nullptr; // set once by get()

} // namespace

Runtime *Runtime::get(piton_status_t &status) {
  struct Result {
    Runtime *runtime = new Runtime;
    piton_status_t status = runtime->initialize();
    std::string message = status == PITON_OK ? std::string() : lastError();
  };
  static Result &result = *new Result;
  status = result.status;
  if (result.status == PITON_OK)
    return result.runtime;
  fail(result.status, result.message);
  return nullptr;
}

piton_status_t Runtime::initialize() {
  std::string error;
  const HardwareModel *model = selectedHardwareModel(&error);
  if (!model)
    return fail(PITON_ERROR_INVALID_ARGUMENT, std::move(error));
  long count = kDefaultDevices;
  if (const char *text = std::getenv("PITON_DEVICE_COUNT"); text && *text) {
    char *end = nullptr;
    errno = 0;
    count = std::strtol(text, &end, 10);
    if (*end || errno || count < 1 || count > kMaxDevices)
      return fail(PITON_ERROR_INVALID_ARGUMENT, "PITON_DEVICE_COUNT = " + std::string(text) +
                                                    " is invalid! It must be a number from 1 to " +
                                                    std::to_string(kMaxDevices));
  }
  for (int i = 0; i < count; ++i)
    devices.push_back(std::make_unique<Device>(i, *model, simulator()));
  instance = this;
  pthread_atfork(beforeFork, afterForkInParent, afterForkInChild);
  return PITON_OK;
}

Device *Runtime::deviceOf(const void *pointer) {
  for (const std::unique_ptr<Device> &device : devices)
    if (device->owns(pointer))
      return device.get();
  return nullptr;
}

void Runtime::beforeFork() {
  for (const std::unique_ptr<Device> &device : instance->devices)
    device->lockForFork();
}

void Runtime::afterForkInParent() {
  for (const std::unique_ptr<Device> &device : instance->devices)
    device->unlockInParent();
}

void Runtime::afterForkInChild() {
  blockedHosts() = 0; // they are the parent's
  resetThreadRecordsAfterFork();
  for (const std::unique_ptr<Device> &device : instance->devices)
    device->resetInChild();
}

} // namespace piton
