// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operators that the fallback cannot run: what makes memory, moves data between devices, changes
// storage, or has no CPU kernel under its own name.

#include "Alias.h"
#include "Fallback.h"

#include <ATen/EmptyTensor.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_cpu_dispatch.h>
#include <ATen/ops/convolution.h>
#include <ATen/ops/convolution_backward.h>
#include <ATen/ops/copy_native.h>
#include <ATen/ops/resize_native.h>
#include <ATen/ops/set_cpu_dispatch.h>
#include <ATen/ops/set_native.h>
#include <ATen/ops/view_native.h>
#include <c10/core/DeviceGuard.h>
#include <torch/library.h>

namespace piton::torch_device {
namespace {

using at::Tensor;
using c10::SymIntArrayRef;

constexpr c10::DispatchKeySet kKeys(c10::DispatchKey::PrivateUse1);

//===-- Memory ------------------------------------------------------------------------------===//

void checkFactory(std::optional<c10::Layout> layout, std::optional<bool> pinned) {
  TORCH_CHECK_NOT_IMPLEMENTED(c10::layout_or_default(layout) == c10::kStrided,
                              "device npu holds dense strided tensors, not ", *layout,
                              "; make the tensor on the cpu, or convert it with to_dense() first");
  TORCH_CHECK(!pinned.value_or(false), "Only dense CPU tensors can be pinned");
}

Tensor empty(at::IntArrayRef size, std::optional<at::ScalarType> dtype,
             std::optional<c10::Layout> layout, std::optional<c10::Device> device,
             std::optional<bool> pinned, std::optional<at::MemoryFormat> format) {
  checkFactory(layout, pinned);
  c10::DeviceGuard guard(resolved(device));
  return at::detail::empty_generic(size, npuAllocator(), kKeys, c10::dtype_or_default(dtype),
                                   format);
}

Tensor emptyStrided(at::IntArrayRef size, at::IntArrayRef stride,
                    std::optional<at::ScalarType> dtype, std::optional<c10::Layout> layout,
                    std::optional<c10::Device> device, std::optional<bool> pinned) {
  checkFactory(layout, pinned);
  c10::DeviceGuard guard(resolved(device));
  return at::detail::empty_strided_generic(size, stride, npuAllocator(), kKeys,
                                           c10::dtype_or_default(dtype));
}

const Tensor &resize_(const Tensor &self, SymIntArrayRef size,
                      std::optional<at::MemoryFormat> format) {
  joinStream(self.device().index());
  c10::DeviceGuard guard(self.device());
  return at::native::resize_(self, C10_AS_INTARRAYREF_SLOW(size), format);
}

/// Blocks are kept until every stream of their device has passed, whichever used them.
void recordStream(Tensor &, c10::Stream) {}

//===-- Copies ------------------------------------------------------------------------------===//

/// One side of a copy as a CPU tensor.
struct CopySide {
  AliasSet aliases;
  Tensor host;
  explicit CopySide(const Tensor &tensor) : host(aliases.enter(tensor)) {
    if (aliases.device.has_index())
      joinStream(aliases.device.index());
  }
};

Tensor &copy_(Tensor &self, const Tensor &source, bool) {
  CopySide to(self), from(source);
  at::native::copy_(to.host, from.host, false);
  return self;
}

Tensor copyFrom(const Tensor &self, const Tensor &destination, bool) {
  Tensor to = destination;
  return copy_(to, self, false);
}

Tensor copyFromAndResize(const Tensor &self, const Tensor &destination) {
  destination.resize_(self.sizes());
  return copyFrom(self, destination, false);
}

//===-- Views and storage -------------------------------------------------------------------===//

Tensor asStrided(const Tensor &self, SymIntArrayRef size, SymIntArrayRef stride,
                 std::optional<c10::SymInt> offset) {
  return at::cpu::as_strided_symint(self, size, stride, std::move(offset));
}

Tensor view(const Tensor &self, SymIntArrayRef size) {
  return at::native::view(self, C10_AS_INTARRAYREF_SLOW(size));
}

Tensor reshapeAlias(const Tensor &self, SymIntArrayRef size, SymIntArrayRef stride) {
  return at::native::_reshape_alias(self, C10_AS_INTARRAYREF_SLOW(size),
                                    C10_AS_INTARRAYREF_SLOW(stride));
}

void checkStorage(const Tensor &self, const c10::Storage &source) {
  TORCH_CHECK(source.device() == self.device(), "set_: the tensor is on ", self.device(),
              " and the storage on ", source.device());
}

Tensor &setTensor(Tensor &self, const Tensor &source) {
  return at::native::set_tensor_(self, source);
}

Tensor &setStorage(Tensor &self, c10::Storage source) {
  checkStorage(self, source);
  return at::native::set_(self, std::move(source));
}

Tensor &setStorageOffset(Tensor &self, c10::Storage source, int64_t offset, at::IntArrayRef size,
                         at::IntArrayRef stride) {
  checkStorage(self, source);
  c10::DeviceGuard guard(self.device()); // the storage may have to grow
  return at::cpu::set_(self, std::move(source), offset, size, stride);
}

Tensor &setEmpty(Tensor &self) {
  c10::DeviceGuard guard(self.device());
  c10::Storage none(c10::Storage::use_byte_size_t(), 0, npuAllocator()->allocate(0), npuAllocator(),
                    /*resizable=*/true);
  return at::cpu::set_(self, std::move(none), 0, {0}, {});
}

//===-- Convolution -------------------------------------------------------------------------===//

// torch sends the convolution of a device that it does not know to *_overrideable, for which the
// CPU has no kernel; the CPU's own go by other names.

Tensor convolution(const Tensor &input, const Tensor &weight, const std::optional<Tensor> &bias,
                   SymIntArrayRef stride, SymIntArrayRef padding, SymIntArrayRef dilation,
                   bool transposed, SymIntArrayRef outputPadding, c10::SymInt groups) {
  AliasSet aliases;
  Tensor x = aliases.enter(input), w = aliases.enter(weight);
  std::optional<Tensor> b;
  if (bias && bias->defined())
    b = aliases.enter(*bias);
  counters().fallbacks.fetch_add(1, std::memory_order_relaxed);
  Tensor out = runOnHost(aliases.device.index(), [&] {
    return at::convolution_symint(x, w, b, stride, padding, dilation, transposed, outputPadding,
                                  groups);
  });
  return aliases.leave(out, "aten::convolution");
}

std::tuple<Tensor, Tensor, Tensor>
convolutionBackward(const Tensor &gradient, const Tensor &input, const Tensor &weight,
                    SymIntArrayRef stride, SymIntArrayRef padding, SymIntArrayRef dilation,
                    bool transposed, SymIntArrayRef outputPadding, c10::SymInt groups,
                    std::array<bool, 3> mask) {
  AliasSet aliases;
  Tensor g = aliases.enter(gradient), x = aliases.enter(input), w = aliases.enter(weight);
  std::vector<c10::SymInt> biasSize{transposed ? w.sym_size(1) * groups : w.sym_size(0)};
  at::OptionalSymIntArrayRef size;
  if (mask[2])
    size = biasSize;
  counters().fallbacks.fetch_add(1, std::memory_order_relaxed);
  auto [dx, dw, db] = runOnHost(aliases.device.index(), [&] {
    return at::convolution_backward_symint(g, x, w, size, stride, padding, dilation, transposed,
                                           outputPadding, groups, mask);
  });
  const char *name = "aten::convolution_backward";
  return {aliases.leave(dx, name), aliases.leave(dw, name), aliases.leave(db, name)};
}

} // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  library.impl("empty.memory_format", empty);
  library.impl("empty_strided", emptyStrided);
  library.impl("resize_", resize_);
  library.impl("record_stream", recordStream);
  library.impl("copy_", copy_);
  library.impl("_copy_from", copyFrom);
  library.impl("_copy_from_and_resize", copyFromAndResize);
  library.impl("as_strided", asStrided);
  library.impl("view", view);
  library.impl("_reshape_alias", reshapeAlias);
  library.impl("set_.source_Tensor", setTensor);
  library.impl("set_.source_Storage", setStorage);
  library.impl("set_.source_Storage_storage_offset", setStorageOffset);
  library.impl("set_", setEmpty);
  library.impl("convolution_overrideable", convolution);
  library.impl("convolution_backward_overrideable", convolutionBackward);
  registerProducts(library);
  registerRemaining(library);
}

} // namespace piton::torch_device
