// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C API for C++ programs, tools and bindings: a kernel that releases itself and a block of
// arguments packed by the kernel's own description. Header only; link libpiton_runtime.so.
#ifndef PITON_RUNTIME_LAUNCH_H
#define PITON_RUNTIME_LAUNCH_H

#include "piton/runtime.h"

#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace piton {

/// A loaded kernel with its description at hand. Movable; not copyable.
class KernelHandle {
public:
  /// Loads an image; on failure the handle is empty and piton_last_error() has the reason.
  piton_status_t load(std::string_view image) {
    piton_kernel_t *loaded = nullptr;
    if (piton_status_t status = piton_kernel_load(image.data(), image.size(), &loaded))
      return status;
    kernel.reset(loaded);
    (void)piton_kernel_properties(loaded, &properties);
    arguments.resize(properties.argument_count);
    for (uint32_t i = 0; i < properties.argument_count; ++i)
      (void)piton_kernel_argument(loaded, i, &arguments[i]);
    return PITON_OK;
  }

  explicit operator bool() const { return kernel != nullptr; }
  piton_kernel_t *get() const { return kernel.get(); }

  piton_kernel_properties_t properties = {};
  std::vector<piton_argument_t> arguments;

private:
  struct Release {
    void operator()(piton_kernel_t *k) const { (void)piton_kernel_release(k); }
  };
  std::unique_ptr<piton_kernel_t, Release> kernel;
};

/// The packed arguments of one launch. Reusable: set what changes and launch again.
class ArgumentBlock {
public:
  explicit ArgumentBlock(const KernelHandle &kernel)
      : arguments(&kernel.arguments), bytes(kernel.properties.argument_bytes) {}

  void setPointer(size_t index, const void *pointer) {
    store(index, reinterpret_cast<uintptr_t>(pointer));
  }

  /// Integers of any width; the value is sign- or zero-extended to its slot.
  void setInteger(size_t index, int64_t value) {
    const piton_argument_t &a = (*arguments)[index];
    uint64_t bits = static_cast<uint64_t>(value);
    switch (a.type) {
    case PITON_TYPE_I1:
      bits = value != 0;
      break;
    case PITON_TYPE_I8:
      bits = static_cast<uint64_t>(static_cast<int8_t>(value));
      break;
    case PITON_TYPE_I16:
      bits = static_cast<uint64_t>(static_cast<int16_t>(value));
      break;
    case PITON_TYPE_U8:
      bits = static_cast<uint8_t>(value);
      break;
    case PITON_TYPE_U16:
      bits = static_cast<uint16_t>(value);
      break;
    default:
      break;
    }
    store(index, bits);
  }

  /// Floats: F64 takes eight bytes, all others travel as F32.
  void setFloat(size_t index, double value) {
    if ((*arguments)[index].type == PITON_TYPE_F64) {
      std::memcpy(bytes.data() + (*arguments)[index].offset, &value, sizeof(value));
      return;
    }
    auto single = static_cast<float>(value);
    std::memcpy(bytes.data() + (*arguments)[index].offset, &single, sizeof(single));
  }

  const uint8_t *data() const { return bytes.data(); }
  size_t size() const { return bytes.size(); }

private:
  void store(size_t index, uint64_t bits) {
    const piton_argument_t &a = (*arguments)[index];
    std::memcpy(bytes.data() + a.offset, &bits, a.slot_bytes); // little endian
  }

  const std::vector<piton_argument_t> *arguments;
  std::vector<uint8_t> bytes;
};

/// Launches with a packed block; see piton_launch.
inline piton_status_t launch(const KernelHandle &kernel, piton_stream_t *stream, uint32_t x,
                             uint32_t y, uint32_t z, const ArgumentBlock &arguments,
                             uint32_t flags = 0) {
  uint32_t grid[3] = {x, y, z};
  return piton_launch(kernel.get(), stream, grid, arguments.data(), arguments.size(), flags);
}

} // namespace piton

#endif // PITON_RUNTIME_LAUNCH_H
