// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the parts of the torch `npu` device share: Piton's runtime as torch sees it. The device is
// torch's PrivateUse1; its state is that of libpiton_runtime, so a process has one.
#ifndef PITON_TORCH_COMMON_H
#define PITON_TORCH_COMMON_H

#include "piton/runtime.h"

#include <c10/core/Device.h>
#include <c10/core/Stream.h>

#include <optional>

namespace piton::torch_device {

inline constexpr c10::DeviceType kNpu = c10::DeviceType::PrivateUse1;

/// Raises a failed call of the runtime as torch's error.
void raise(piton_status_t status);
inline void check(piton_status_t status) {
  if (C10_UNLIKELY(status != PITON_OK))
    raise(status);
}

/// Number of devices; 0 if the environment is wrong (then `check` says why on first use).
c10::DeviceIndex deviceCount() noexcept;

/// The runtime's handle of a device; raises "invalid device ordinal" if there is none.
piton_device_t *deviceHandle(c10::DeviceIndex index);

inline c10::DeviceIndex currentDevice() {
  return static_cast<c10::DeviceIndex>(piton_device_current());
}

/// `device` with the current index where it has none.
inline c10::Device resolved(std::optional<c10::Device> device) {
  return {kNpu, device && device->has_index() ? device->index() : currentDevice()};
}

/// Streams: torch's id 0 is a device's default stream, id n the n-th stream of its pool; a stream
/// that was made outside torch has its handle for an id. Raises ValueError if there is none.
piton_stream_t *streamHandle(const c10::Stream &stream);

/// Waits until this thread's current stream of `device` has no work, so that the caller may touch
/// device memory in the stream's place. Nanoseconds when there is none.
inline void joinStream(c10::DeviceIndex device) { check(piton_stream_join_current(device)); }

} // namespace piton::torch_device

#endif // PITON_TORCH_COMMON_H
