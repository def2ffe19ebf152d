// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Slices along one axis, for reductions and scans that go slice by slice.
#ifndef PITON_COMPILER_CONVERSION_TRITONTOLINALG_SLICES_H
#define PITON_COMPILER_CONVERSION_TRITONTOLINALG_SLICES_H

#include "compiler/Conversion/TritonToLinalg/Lowering.h"

namespace piton::linalglowering {

/// Slice `lane` of `tensor` along `axis`, without that dimension; an element for rank 1.
mlir::Value sliceAt(mlir::OpBuilder &b, mlir::Location loc, mlir::Value tensor, int64_t axis,
                    mlir::OpFoldResult lane);
/// `tensor` with slice `lane` along `axis` replaced by `slice` (an element for rank 1).
mlir::Value withSlice(mlir::OpBuilder &b, mlir::Location loc, mlir::Value slice, mlir::Value tensor,
                      int64_t axis, mlir::OpFoldResult lane);
/// The slices from `start` on, all of them.
mlir::Value sliceFrom(mlir::OpBuilder &b, mlir::Location loc, mlir::Value tensor, int64_t axis,
                      int64_t start);
/// The op of a combine region of one operand that applies it to both arguments, or null.
mlir::Operation *commutativeCombiner(mlir::Region &region);

} // namespace piton::linalglowering

#endif // PITON_COMPILER_CONVERSION_TRITONTOLINALG_SLICES_H
