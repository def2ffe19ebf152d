// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Devices, streams and events: torch's guard over the runtime's. Operators run on their caller's
// thread once the current stream has no work, kernels go into the stream, so both happen in the
// order in which a script issues them.

#include "Common.h"

#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <mutex>
#include <vector>

namespace piton::torch_device {
namespace {

/// As many streams as CUDA's pool has; further ones are handed out again in turn.
constexpr size_t kPoolStreams = 32;

/// The streams that torch has made on one device.
struct StreamPool {
  std::mutex mutex;
  size_t next = 0;
  std::array<std::atomic<piton_stream_t *>, kPoolStreams> streams{};
};

StreamPool &pool(c10::DeviceIndex device) {
  static auto &pools =
      *new std::array<StreamPool, std::numeric_limits<c10::DeviceIndex>::max() + 1>;
  return pools[static_cast<size_t>(device)];
}

c10::Stream streamOf(c10::DeviceIndex device, c10::StreamId id) {
  return c10::Stream(c10::Stream::UNSAFE, c10::Device(kNpu, device), id);
}

c10::Stream poolStream(c10::DeviceIndex device) {
  piton_device_t *handle = deviceHandle(device);
  StreamPool &streams = pool(device);
  std::lock_guard<std::mutex> guard(streams.mutex);
  size_t slot = streams.next++ % kPoolStreams;
  if (!streams.streams[slot].load(std::memory_order_relaxed)) {
    piton_stream_t *made = nullptr;
    check(piton_stream_create(handle, &made));
    streams.streams[slot].store(made, std::memory_order_release);
  }
  return streamOf(device, static_cast<c10::StreamId>(slot) + 1);
}

/// torch's id of a stream of the runtime; one that torch has not made has its address for an id.
c10::StreamId idOf(c10::DeviceIndex device, piton_stream_t *stream) {
  piton_stream_t *standard = nullptr;
  check(piton_stream_default(deviceHandle(device), &standard));
  if (stream == standard)
    return 0;
  StreamPool &streams = pool(device);
  for (size_t slot = 0; slot < kPoolStreams; ++slot)
    if (streams.streams[slot].load(std::memory_order_acquire) == stream)
      return static_cast<c10::StreamId>(slot) + 1;
  return reinterpret_cast<c10::StreamId>(stream);
}

piton_event_t *eventOf(void *event) { return static_cast<piton_event_t *>(event); }

class Guard final : public c10::impl::DeviceGuardImplInterface {
public:
  c10::DeviceType type() const override { return kNpu; }

  // -- devices
  c10::DeviceIndex deviceCount() const noexcept override { return torch_device::deviceCount(); }
  c10::Device getDevice() const override { return {kNpu, currentDevice()}; }
  void setDevice(c10::Device device) const override {
    if (!device.has_index() || device.index() == currentDevice())
      return;
    (void)deviceHandle(device.index());
    check(piton_device_set_current(device.index()));
  }
  void uncheckedSetDevice(c10::Device device) const noexcept override {
    if (device.has_index())
      (void)piton_device_set_current(device.index());
  }
  c10::Device exchangeDevice(c10::Device device) const override {
    c10::Device previous = getDevice();
    setDevice(device);
    return previous;
  }
  c10::DeviceCapability getDeviceCapability(c10::Device) const override { return {}; }
  void synchronizeDevice(const c10::DeviceIndex device) const override {
    check(piton_device_synchronize(deviceHandle(device)));
  }

  // -- streams
  c10::Stream getStream(c10::Device device) const override {
    c10::DeviceIndex index = resolved(device).index();
    (void)deviceHandle(index);
    piton_stream_t *current = nullptr;
    check(piton_stream_current(index, &current));
    return streamOf(index, idOf(index, current));
  }
  c10::Stream getDefaultStream(c10::Device device) const override {
    return streamOf(resolved(device).index(), 0);
  }
  c10::Stream getStreamFromGlobalPool(c10::Device device, bool) const override {
    return poolStream(resolved(device).index());
  }
  c10::Stream getNewStream(c10::Device device, int) const override {
    return poolStream(resolved(device).index());
  }
  c10::Stream exchangeStream(c10::Stream stream) const override {
    c10::Stream previous = getStream(stream.device());
    check(piton_stream_set_current(streamHandle(stream)));
    return previous;
  }
  void *getStreamNativeHandle(const c10::Stream stream) const override {
    return streamHandle(stream);
  }
  bool queryStream(const c10::Stream &stream) const override {
    return piton_stream_query(streamHandle(stream)) == PITON_OK;
  }
  void synchronizeStream(const c10::Stream &stream) const override {
    check(piton_stream_synchronize(streamHandle(stream)));
  }

  // -- events
  void record(void **event, const c10::Stream &stream, const c10::DeviceIndex,
              const c10::EventFlag) const override {
    if (!*event) {
      piton_event_t *made = nullptr;
      check(piton_event_create(&made));
      *event = made;
    }
    check(piton_event_record(eventOf(*event), streamHandle(stream)));
  }
  void block(void *event, const c10::Stream &stream) const override {
    if (event)
      check(piton_stream_wait_event(streamHandle(stream), eventOf(event)));
  }
  bool queryEvent(void *event) const override {
    return !event || piton_event_query(eventOf(event)) == PITON_OK;
  }
  void destroyEvent(void *event, const c10::DeviceIndex) const noexcept override {
    (void)piton_event_destroy(eventOf(event));
  }
  void synchronizeEvent(void *event) const override {
    if (event)
      check(piton_event_synchronize(eventOf(event)));
  }
  double elapsedTime(void *start, void *end, const c10::DeviceIndex) const override {
    TORCH_CHECK(start && end, "the time between events needs both recorded");
    float milliseconds = 0;
    check(piton_event_elapsed(eventOf(start), eventOf(end), &milliseconds));
    return milliseconds;
  }
};

} // namespace

void raise(piton_status_t status) {
  std::string message = piton_last_error();
  TORCH_CHECK_NOT_IMPLEMENTED(status != PITON_ERROR_UNSUPPORTED, message);
  TORCH_CHECK_VALUE(status != PITON_ERROR_INVALID_ARGUMENT, message);
  TORCH_CHECK_WITH(OutOfMemoryError, status != PITON_ERROR_OUT_OF_MEMORY, message);
  TORCH_CHECK(status == PITON_OK, message);
}

c10::DeviceIndex deviceCount() noexcept {
  static const c10::DeviceIndex count = [] {
    int found = 0;
    if (piton_device_count(&found) != PITON_OK)
      return c10::DeviceIndex(0);
    return static_cast<c10::DeviceIndex>(
        std::min<int>(found, std::numeric_limits<c10::DeviceIndex>::max()));
  }();
  return count;
}

piton_device_t *deviceHandle(c10::DeviceIndex index) {
  static const std::vector<piton_device_t *> &handles =
      []() -> const std::vector<piton_device_t *> & {
    auto *all = new std::vector<piton_device_t *>(static_cast<size_t>(deviceCount()));
    for (size_t i = 0; i < all->size(); ++i)
      check(piton_device_get(static_cast<int>(i), &(*all)[i]));
    return *all;
  }();
  if (C10_LIKELY(index >= 0 && static_cast<size_t>(index) < handles.size()))
    return handles[static_cast<size_t>(index)];
  int count = 0;
  check(piton_device_count(&count)); // says what is wrong with the environment
  TORCH_CHECK(false, "npu: invalid device ordinal ", static_cast<int>(index), "; there are ",
              handles.size(), " devices, npu:0 .. npu:", handles.size() - 1,
              " (PITON_DEVICE_COUNT)");
}

piton_stream_t *streamHandle(const c10::Stream &stream) {
  c10::DeviceIndex index = stream.device_index();
  piton_device_t *device = deviceHandle(index);
  piton_stream_t *handle = nullptr;
  if (stream.id() == 0) {
    check(piton_stream_default(device, &handle));
    return handle;
  }
  if (stream.id() > 0 && stream.id() <= static_cast<c10::StreamId>(kPoolStreams)) {
    handle =
        pool(index).streams[static_cast<size_t>(stream.id()) - 1].load(std::memory_order_acquire);
  } else if (auto *external = reinterpret_cast<piton_stream_t *>(stream.id());
             piton_stream_check(device, external) == PITON_OK) {
    handle = external;
  }
  TORCH_CHECK_VALUE(handle, "npu:", static_cast<int>(index), " has no stream with id ",
                    stream.id());
  return handle;
}

} // namespace piton::torch_device

namespace at::detail {
using piton::torch_device::Guard;
C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard);
} // namespace at::detail
