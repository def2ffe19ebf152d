// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RewriteFor and RewriteWhile of triton-to-structured, and their counterpart for
// branches.
#ifndef PITON_COMPILER_TRANSFORMS_REWRITECARRIED_H
#define PITON_COMPILER_TRANSFORMS_REWRITECARRIED_H

#include "mlir/IR/Operation.h"

namespace piton {

/// Carries, in every loop and branch below `root`, one i64 in place of a tensor of pointers or
/// integers whose lanes all move by the same amount; the tensor is rebuilt where it is used, so
/// that the analyses see through the loop.
void rewriteCarriedTensors(mlir::Operation *root);

} // namespace piton

#endif // PITON_COMPILER_TRANSFORMS_REWRITECARRIED_H
