// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// oneDNN calls raw_allocate and raw_deallocate on the CPU allocator, so every block, of the host or
// of a device, has one deleter, its data pointer is its context, and the deleter tells them apart
// by address.

#include "Allocator.h"

#include <c10/core/CachingDeviceAllocator.h>
#include <c10/util/Exception.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace piton::torch_device {
namespace {

/// Device that this thread's CPU allocations go to, or -1.
thread_local c10::DeviceIndex route = -1;

c10::Allocator *hostAllocator = nullptr;
c10::DeleterFnPtr hostDeleter = nullptr;

void freeBlock(void *pointer) {
  if (!pointer)
    return;
  if (isDeviceMemory(pointer))
    (void)piton_memory_free(pointer); // fails only for a block that is freed twice
  else
    hostDeleter(pointer);
}

std::string readable(uint64_t bytes) {
  char text[32];
  double value = static_cast<double>(bytes);
  if (bytes >= (1ull << 30))
    std::snprintf(text, sizeof(text), "%.2f GiB", value / (1ull << 30));
  else if (bytes >= (1ull << 20))
    std::snprintf(text, sizeof(text), "%.2f MiB", value / (1ull << 20));
  else if (bytes >= (1ull << 10))
    std::snprintf(text, sizeof(text), "%.2f KiB", value / (1ull << 10));
  else
    std::snprintf(text, sizeof(text), "%llu bytes", static_cast<unsigned long long>(bytes));
  return text;
}

[[noreturn]] void outOfMemory(c10::DeviceIndex device, size_t bytes) {
  std::string reason = piton_last_error();
  uint64_t free = 0, total = 0;
  piton_memory_statistics_t s = {};
  (void)piton_device_memory_info(deviceHandle(device), &free, &total);
  (void)piton_memory_statistics(deviceHandle(device), &s);
  TORCH_CHECK_WITH(OutOfMemoryError, false, "NPU out of memory. Tried to allocate ",
                   readable(bytes), " (NPU ", static_cast<int>(device), "; ", readable(total),
                   " total capacity; ", readable(s.used_bytes), " already allocated; ",
                   readable(free), " free; ", readable(s.reserved_bytes),
                   " reserved in total by PyTorch). ", reason);
  std::abort(); // not reached: the check above always raises
}

class NpuAllocator final : public c10::DeviceAllocator {
public:
  c10::DataPtr allocate(size_t bytes) override {
    c10::DeviceIndex device = currentDevice();
    return allocateOn(device, bytes, c10::Device(kNpu, device));
  }
  c10::DeleterFnPtr raw_deleter() const override { return &freeBlock; }
  void copy_data(void *to, const void *from, size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }

  bool initialized() override { return deviceCount() > 0; }
  void emptyCache(c10::MempoolId_t) override {
    for (c10::DeviceIndex i = 0; i < deviceCount(); ++i)
      check(piton_memory_trim(deviceHandle(i)));
  }
  /// Nothing to note: a freed block is not used again before every stream of its device has passed.
  void recordStream(const c10::DataPtr &, c10::Stream) override {}

  c10::CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex device) override;
  /// The runtime counts from the start of the process.
  void resetAccumulatedStats(c10::DeviceIndex) override {}
  void resetPeakStats(c10::DeviceIndex device) override {
    check(piton_memory_reset_peaks(deviceHandle(device)));
  }
  std::pair<size_t, size_t> getMemoryInfo(c10::DeviceIndex device) override {
    uint64_t free = 0, total = 0;
    check(piton_device_memory_info(deviceHandle(device), &free, &total));
    return {free, total};
  }
};

c10::CachingAllocator::Stat stat(uint64_t now, uint64_t peak, uint64_t added, uint64_t removed) {
  c10::CachingAllocator::Stat out;
  out.current = static_cast<int64_t>(now);
  out.peak = static_cast<int64_t>(peak);
  out.allocated = static_cast<int64_t>(added);
  out.freed = static_cast<int64_t>(removed);
  return out;
}

c10::CachingDeviceAllocator::DeviceStats NpuAllocator::getDeviceStats(c10::DeviceIndex device) {
  piton_memory_statistics_t s;
  check(piton_memory_statistics(deviceHandle(device), &s));
  c10::CachingDeviceAllocator::DeviceStats out;
  out.allocation[0] = out.active[0] = stat(s.blocks, s.peak_blocks, s.allocations, s.frees);
  out.allocated_bytes[0] = out.active_bytes[0] = out.requested_bytes[0] =
      stat(s.used_bytes, s.peak_used_bytes, s.allocated_bytes, s.freed_bytes);
  out.reserved_bytes[0] = stat(s.reserved_bytes, s.peak_reserved_bytes, s.peak_reserved_bytes,
                               s.peak_reserved_bytes - s.reserved_bytes);
  out.num_alloc_retries = static_cast<int64_t>(s.retries);
  out.num_ooms = static_cast<int64_t>(s.refusals);
  return out;
}

class RoutedHostAllocator final : public c10::Allocator {
public:
  c10::DataPtr allocate(size_t bytes) override {
    if (route >= 0)
      return allocateOn(route, bytes, c10::Device(c10::kCPU));
    c10::DataPtr block = hostAllocator->allocate(bytes);
    (void)block.compare_exchange_deleter(hostDeleter, &freeBlock);
    return block;
  }
  c10::DeleterFnPtr raw_deleter() const override { return &freeBlock; }
  void copy_data(void *to, const void *from, size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }
};

} // namespace

c10::Allocator *npuAllocator() {
  static NpuAllocator allocator;
  return &allocator;
}

c10::DataPtr allocateOn(c10::DeviceIndex device, size_t bytes, c10::Device label) {
  void *block = nullptr;
  if (bytes != 0) {
    piton_status_t status = piton_memory_allocate(deviceHandle(device), bytes, &block);
    if (status == PITON_ERROR_OUT_OF_MEMORY)
      outOfMemory(device, bytes);
    check(status);
  }
  return {block, block, &freeBlock, label};
}

bool isDeviceMemory(const void *pointer) {
  piton_device_t *owner = nullptr;
  return piton_memory_device(pointer, &owner) == PITON_OK && owner;
}

RouteAllocations::RouteAllocations(c10::DeviceIndex device) : previous(route) { route = device; }
RouteAllocations::~RouteAllocations() { route = previous; }

void wrapHostAllocator() {
  static RoutedHostAllocator wrapper;
  hostAllocator = c10::GetAllocator(c10::kCPU);
  hostDeleter = hostAllocator->raw_deleter();
  TORCH_CHECK(hostDeleter, "npu: torch's CPU allocator has no raw deleter");
  c10::SetAllocator(c10::kCPU, &wrapper, 1);
}

} // namespace piton::torch_device

REGISTER_ALLOCATOR(piton::torch_device::kNpu, piton::torch_device::npuAllocator());
