// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Building blocks of the passes that rewrite accesses: tensors of pointers and of
// offsets from scalars, and parts of tensors computed from their producers.
#ifndef PITON_COMPILER_TRANSFORMS_ACCESSUTILS_H
#define PITON_COMPILER_TRANSFORMS_ACCESSUTILS_H

#include "compiler/Analysis/LaneAnalysis.h"

#include "mlir/IR/PatternMatch.h"

namespace piton {

/// `value` as an i64 scalar (sign-extended).
mlir::Value toI64(mlir::OpBuilder &builder, mlir::Location loc, mlir::OpFoldResult value);
mlir::Value constantI64(mlir::OpBuilder &builder, mlir::Location loc, int64_t value);
/// `value` in every element of `shape`; the value itself for a null shape.
mlir::Value splatTo(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                    mlir::ArrayRef<int64_t> shape);
/// 0, 1, ... along `dim` as i64, with unit dimensions elsewhere.
mlir::Value rangeAlong(mlir::OpBuilder &builder, mlir::Location loc, unsigned dim,
                       mlir::ArrayRef<int64_t> shape);
/// `value` (unit where it does not vary) widened to `shape`.
mlir::Value broadcastTo(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                        mlir::ArrayRef<int64_t> shape);

/// The i64 tensor sum_d i_d * strides[d], or null if all strides are 0.
mlir::Value buildOffsets(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::ArrayRef<mlir::OpFoldResult> strides, mlir::ArrayRef<int64_t> shape);
/// The tensor of pointers base + offset + sum_d i_d * strides[d].
mlir::Value buildPointers(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value base,
                          mlir::OpFoldResult offset, mlir::ArrayRef<mlir::OpFoldResult> strides,
                          mlir::ArrayRef<int64_t> shape);

/// The tensor (or scalar) of `type` that `form` describes: integers of any width (wrapped to it),
/// or pointers. Opaque parts are widened and added.
mlir::Value materializeForm(mlir::OpBuilder &builder, mlir::Location loc, LaneAnalysis &lanes,
                            const LaneForm &form, mlir::Type type);

/// A tensor of `type` and one value in every lane (`zero` bits); never undefined.
mlir::Value zeroOf(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type type);

} // namespace piton

#endif // PITON_COMPILER_TRANSFORMS_ACCESSUTILS_H
