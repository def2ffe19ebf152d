// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// npu tensors as CPU tensors over the same memory, for the time of one operator. Device memory is
// memory of this process, so a CPU kernel can work on it as it is: nothing is copied on the way in
// or out.
#ifndef PITON_TORCH_ALIAS_H
#define PITON_TORCH_ALIAS_H

#include "Allocator.h"

#include <ATen/core/Tensor.h>
#include <c10/util/SmallVector.h>

#include <atomic>

namespace piton::torch_device {

/// Process-wide counts, for tests and benchmarks.
struct Counters {
  std::atomic<int64_t> fallbacks{0};   ///< operators run by the CPU's kernels
  std::atomic<int64_t> copiedBytes{0}; ///< tensor data that a fallback had to copy
};
Counters &counters();

/// The aliases of one operator call.
class AliasSet {
public:
  /// CPU tensor over the memory of `tensor`; the same alias for the same tensor, so that overlap
  /// checks and out= see what they should. Tensors of the CPU come back as they are, and are noted.
  at::Tensor enter(const at::Tensor &tensor);

  /// Gives the npu tensors the sizes, strides and memory that the kernel gave their aliases.
  void writeBack();

  /// A result of the kernel as a result on the device: an alias becomes its tensor, a view of an
  /// alias a view of the tensor's storage, and new memory changes its label. Writes its name into
  /// errors.
  at::Tensor leave(const at::Tensor &result, const char *op);

  /// Device of the npu tensors; index -1 while there is none.
  c10::Device device{kNpu, -1};
  /// A CPU tensor of one or more dimensions was among the arguments.
  bool sawHostTensor = false;

private:
  struct StorageAlias {
    c10::StorageImpl *npu;
    c10::StorageImpl *host;
    const void *data; ///< address of both when the alias was made
  };
  struct TensorAlias {
    at::Tensor npu, host;
  };

  c10::Storage aliasOf(c10::StorageImpl *storage);
  c10::Storage onDevice(const c10::Storage &storage);

  c10::SmallVector<StorageAlias, 4> storages;
  c10::SmallVector<TensorAlias, 4> tensors;
};

/// Runs `kernel` in the place of an operator on `device`: after what the current stream has in
/// flight, with new memory from the device.
template <typename Kernel> decltype(auto) runOnHost(c10::DeviceIndex device, Kernel &&kernel) {
  joinStream(device);
  RouteAllocations route(device);
  return kernel();
}

} // namespace piton::torch_device

#endif // PITON_TORCH_ALIAS_H
