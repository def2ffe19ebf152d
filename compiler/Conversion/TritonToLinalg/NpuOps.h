// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The few ops and attributes of the NPU dialects that triton-to-linalg emits, behind
// functions, so that its other files need no Ascend header.
#ifndef PITON_COMPILER_CONVERSION_TRITONTOLINALG_NPUOPS_H
#define PITON_COMPILER_CONVERSION_TRITONTOLINALG_NPUOPS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace piton::linalglowering {

/// hivm.hir.pointer_cast of the 64-bit `address` to global memory of `size` elements (null: a
/// static shape).
mlir::Value createPointerCast(mlir::OpBuilder &b, mlir::Location loc, mlir::Value address,
                              mlir::Value size, mlir::MemRefType type);
/// Marks a narrowing or widening float cast with round_mode = rint.
void markRoundToNearest(mlir::Operation *cast);

/// Says that the load into `memory` may be turned over on its way in.
void markImplicitTranspose(mlir::OpBuilder &b, mlir::Location loc, mlir::Value memory);
/// Asks for 32-byte alignment of `memory` (a view) along `dim`.
void markStrideAlignment(mlir::OpBuilder &b, mlir::Location loc, mlir::Value memory, int64_t dim);

} // namespace piton::linalglowering

#endif // PITON_COMPILER_CONVERSION_TRITONTOLINALG_NPUOPS_H
