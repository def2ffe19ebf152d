// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Device memory for tensors. Blocks come from the runtime's allocator of global memory; torch's CPU
// allocator is wrapped so that results of CPU kernels which run for an npu operator are born there.
#ifndef PITON_TORCH_ALLOCATOR_H
#define PITON_TORCH_ALLOCATOR_H

#include "Common.h"

#include <c10/core/Allocator.h>

namespace piton::torch_device {

/// The allocator of npu tensors: memory of the current device.
c10::Allocator *npuAllocator();

/// `bytes` of `device`, labelled as `label`. Raises torch.OutOfMemoryError.
c10::DataPtr allocateOn(c10::DeviceIndex device, size_t bytes, c10::Device label);

/// True for addresses of any simulated device.
bool isDeviceMemory(const void *pointer);

/// While one lives, CPU memory that this thread allocates comes from `device`.
class RouteAllocations {
public:
  explicit RouteAllocations(c10::DeviceIndex device);
  RouteAllocations(const RouteAllocations &) = delete;
  ~RouteAllocations();

private:
  c10::DeviceIndex previous;
};

/// Wraps torch's CPU allocator. Once, when the library is loaded.
void wrapHostAllocator();

/// Page-locked host memory in name: what pin_memory() gives, told apart by its address.
c10::Allocator *pinnedAllocator();
bool isPinned(const void *pointer);

} // namespace piton::torch_device

#endif // PITON_TORCH_ALLOCATOR_H
