// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The access rewrites of triton-to-structured (RewriteLoadOp, RewriteStoreOp,
// RewriteAtomicRWMOp, RewriteAtomicCASOp with CreateAddPtr, BuildMask, CreateLoad,
// CreateStore).
#ifndef PITON_COMPILER_TRANSFORMS_SPLITACCESS_H
#define PITON_COMPILER_TRANSFORMS_SPLITACCESS_H

#include "mlir/IR/Operation.h"

namespace piton {

/// Gives `access` one dimension for every piece of its address and mask (what `/` and `%` by
/// constants leave of a range), so that each has one stride; values are reshaped around it.
/// Returns the new access, or `access` itself if nothing had to be split or could be.
mlir::Operation *splitAccess(mlir::Operation *access);

/// A load that reads the same lanes along a dimension loads them once, and broadcasts.
void dropRepeatedLoads(mlir::Operation *access);

} // namespace piton

#endif // PITON_COMPILER_TRANSFORMS_SPLITACCESS_H
