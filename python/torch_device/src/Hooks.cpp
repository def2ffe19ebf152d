// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Generators, and the hooks through which torch asks for devices, generators and pinned memory.

#include "Allocator.h"
#include "Generator.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <ATen/native/Resize.h>
#include <c10/core/DeviceGuard.h>

#include <cstdlib>
#include <vector>

namespace piton::torch_device {
namespace {

class NpuGenerator final : public c10::GeneratorImpl {
public:
  explicit NpuGenerator(c10::DeviceIndex device)
      : NpuGenerator(device, at::detail::createCPUGenerator()) {}
  NpuGenerator(c10::DeviceIndex device, at::Generator host)
      : GeneratorImpl(c10::Device(kNpu, device),
                      c10::DispatchKeySet(c10::DispatchKey::PrivateUse1)),
        host(std::move(host)) {}

  void set_current_seed(uint64_t seed) override { host.set_current_seed(seed); }
  uint64_t current_seed() const override { return host.current_seed(); }
  uint64_t seed() override { return host.seed(); }
  void set_offset(uint64_t) override { refuseOffset(); }
  uint64_t get_offset() const override { refuseOffset(); }
  void set_state(const c10::TensorImpl &state) override {
    host.unsafeGetGeneratorImpl()->set_state(state);
  }
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override {
    return host.unsafeGetGeneratorImpl()->get_state();
  }
  static c10::DeviceType device_type() { return kNpu; }

  at::Generator host;

private:
  [[noreturn]] static void refuseOffset() {
    TORCH_CHECK_NOT_IMPLEMENTED(false,
                                "npu generators have no offset; use get_state() and set_state()");
    std::abort(); // not reached
  }
  NpuGenerator *clone_impl() const override {
    return new NpuGenerator(device().index(), host.clone());
  }
};

class Hooks final : public at::PrivateUse1HooksInterface {
public:
  void init() const override { (void)deviceHandle(currentDevice()); }
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return torch_device::deviceCount() > 0; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return isAvailable(); }
  c10::DeviceIndex deviceCount() const override { return torch_device::deviceCount(); }

  void setCurrentDevice(c10::DeviceIndex device) const override {
    (void)deviceHandle(device);
    check(piton_device_set_current(device));
  }
  c10::DeviceIndex getCurrentDevice() const override { return currentDevice(); }
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex device) const override {
    c10::DeviceIndex previous = currentDevice();
    if (device >= 0)
      setCurrentDevice(device);
    return previous;
  }
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex device) const override {
    return exchangeDevice(device);
  }
  c10::Device getDeviceFromPtr(void *data) const override {
    piton_device_t *owner = nullptr;
    check(piton_memory_device(data, &owner));
    TORCH_CHECK(owner, "the pointer does not lie in memory of an npu device");
    return {kNpu, static_cast<c10::DeviceIndex>(piton_device_index(owner))};
  }

  const at::Generator &getDefaultGenerator(c10::DeviceIndex device) const override {
    return defaultGenerator(device < 0 ? currentDevice() : device);
  }
  at::Generator getNewGenerator(c10::DeviceIndex device) const override {
    return makeGenerator(device < 0 ? currentDevice() : device);
  }

  bool isPinnedPtr(const void *data) const override { return isPinned(data); }
  c10::Allocator *getPinnedMemoryAllocator() const override { return pinnedAllocator(); }

  void resizePrivateUse1Bytes(const c10::Storage &storage, size_t bytes) const override {
    joinStream(storage.device().index());
    c10::DeviceGuard guard(storage.device());
    at::native::resize_bytes_cpu(storage.unsafeGetStorageImpl(), bytes);
  }
};

[[maybe_unused]] const bool registered = [] {
  at::RegisterPrivateUse1HooksInterface(new Hooks);
  wrapHostAllocator();
  return true;
}();

} // namespace

at::Generator makeGenerator(c10::DeviceIndex device) {
  (void)deviceHandle(device);
  return at::make_generator<NpuGenerator>(device);
}

const at::Generator &defaultGenerator(c10::DeviceIndex device) {
  static const auto &all = []() -> const std::vector<at::Generator> & {
    auto *made = new std::vector<at::Generator>;
    for (c10::DeviceIndex i = 0; i < deviceCount(); ++i)
      made->push_back(makeGenerator(i));
    return *made;
  }();
  (void)deviceHandle(device);
  return all[static_cast<size_t>(device)];
}

const at::Generator &hostGenerator(const at::Generator &generator) {
  return static_cast<NpuGenerator *>(generator.unsafeGetGeneratorImpl())->host;
}

} // namespace piton::torch_device
