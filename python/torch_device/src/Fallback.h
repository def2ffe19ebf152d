// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operators of torch on npu tensors by the kernels that the CPU has for them.
#ifndef PITON_TORCH_FALLBACK_H
#define PITON_TORCH_FALLBACK_H

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

namespace piton::torch_device {

/// Runs `op` on aliases of its npu tensors with the CPU's kernel.
void runAliased(const c10::OperatorHandle &op, torch::jit::Stack *stack);

/// Gives every operator of aten that has a kernel for the CPU and none for npu to runAliased.
void registerRemaining(torch::Library &library);

/// mm, bmm, addmm and baddbmm; see Matmul.cpp.
void registerProducts(torch::Library &library);

} // namespace piton::torch_device

#endif // PITON_TORCH_FALLBACK_H
