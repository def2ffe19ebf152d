// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Access ops seen alike, and the loops over lanes or rows that replace one.
#ifndef PITON_COMPILER_TRANSFORMS_ACCESSLOOPS_H
#define PITON_COMPILER_TRANSFORMS_ACCESSLOOPS_H

#include "mlir/IR/Operation.h"

namespace piton {

/// True for tt.load, tt.store, tt.atomic_rmw and tt.atomic_cas.
bool isAccess(mlir::Operation *op);
/// The mask of an access, or null.
mlir::Value maskOf(mlir::Operation *access);
/// The pointer of an access.
mlir::Value pointerOf(mlir::Operation *access);

/// Replaces `access` by loops if its address is not structured or its mask no box (or lanes of a
/// store or atomic share an address); a masked scalar access goes under scf.if. `scalarize`
/// forces one access a lane.
void rewriteAccess(mlir::Operation *access, bool scalarize = false);

} // namespace piton

#endif // PITON_COMPILER_TRANSFORMS_ACCESSLOOPS_H
