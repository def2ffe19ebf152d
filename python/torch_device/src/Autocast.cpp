// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What torch.autocast("npu") casts: torch's own lists, as CUDA has them.

#include <ATen/autocast_mode.h>
#include <torch/library.h>

namespace piton::torch_device {

TORCH_LIBRARY_IMPL(_, AutocastPrivateUse1, library) {
  library.fallback(torch::CppFunction::makeFallthrough());
}

namespace {

using namespace at; // the lists name signatures without their name space

/// As on CUDA: in half precision its logarithms lose the loss.
Tensor refuseBinaryCrossEntropy(const Tensor &, const Tensor &, const std::optional<Tensor> &,
                                int64_t) {
  TORCH_CHECK(false,
              "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to "
              "autocast. Use binary_cross_entropy_with_logits or BCEWithLogitsLoss, which are "
              "safe, or disable autocast around the call.");
  return {};
}

} // namespace

TORCH_LIBRARY_IMPL(aten, AutocastPrivateUse1, m) {
#define PITON_LOWER(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, lower_precision_fp)
  AT_FORALL_LOWER_PRECISION_FP(PITON_LOWER)
#undef PITON_LOWER
#define PITON_FP32(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, fp32)
  AT_FORALL_FP32(PITON_FP32)
#undef PITON_FP32
#define PITON_SET_DTYPE(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, fp32_set_opt_dtype)
  AT_FORALL_FP32_SET_OPT_DTYPE(PITON_SET_DTYPE)
#undef PITON_SET_DTYPE
  AT_FORALL_DIFFERENT_REDISPATCH_SIGNATURE(KERNEL_DIFFERENT_REDISPATCH_SIGNATURE_PRIVATEUSEONE)
#define PITON_PROMOTE(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, promote)
  AT_FORALL_PROMOTE(PITON_PROMOTE)
#undef PITON_PROMOTE
  m.impl("binary_cross_entropy", refuseBinaryCrossEntropy);
}

} // namespace piton::torch_device
