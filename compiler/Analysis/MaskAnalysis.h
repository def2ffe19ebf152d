// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one analysis of masks: an i1 tensor as a box (a range of lanes a dimension)
// and the conjuncts that are no box. Every bound is clamped, so that lo <= hi
// holds at run time and lanes outside the tensor are never named.
#ifndef PITON_COMPILER_ANALYSIS_MASKANALYSIS_H
#define PITON_COMPILER_ANALYSIS_MASKANALYSIS_H

#include "compiler/Analysis/ScalarExpr.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/Value.h"

namespace piton {

/// mask = (lo_d <= i_d < hi_d for every d) and residual.
struct MaskInfo {
  mlir::SmallVector<mlir::OpFoldResult> lo; ///< index, 0 <= lo
  mlir::SmallVector<mlir::OpFoldResult> hi; ///< index, lo <= hi <= size
  mlir::Value residual;                     ///< i1 tensor of the mask's shape, or null
  /// True when the box is statically the whole tensor.
  bool isFull(mlir::ArrayRef<int64_t> shape) const;
};

/// Splits `mask` (an i1 tensor; a null value is the full box). Always succeeds: what is no
/// box ends in `residual`. Scalar arithmetic is created at `builder`'s insertion point.
/// When `boxOnly` is set, returns failure (and changes nothing) instead of a residual.
mlir::FailureOr<MaskInfo> analyzeMask(mlir::Value mask, mlir::ArrayRef<int64_t> shape,
                                      mlir::OpBuilder &builder, bool boxOnly = false);

class LaneAnalysis;

/// A mask before any IR: bounds as expressions, the rest as i1 tensors under shape ops.
struct MaskBox {
  struct Residual {
    mlir::Value value; ///< i1 tensor
    llvm::SmallVector<mlir::Operation *, 2>
        shape; ///< expand_dims, broadcast, ... to apply in order
    bool negated = false;
  };
  llvm::SmallVector<Expr> lo, hi; ///< clamped: 0 <= lo <= hi <= size
  llvm::SmallVector<Residual> residuals;
};

/// The analysis behind `analyzeMask`; creates nothing.
MaskBox analyzeMaskBox(LaneAnalysis &lanes, mlir::Value mask, mlir::ArrayRef<int64_t> shape);

/// The conjunction of `residuals` as one i1 tensor of `shape`, or null if there are none.
mlir::Value materializeResiduals(mlir::OpBuilder &builder, mlir::Location loc,
                                 mlir::ArrayRef<MaskBox::Residual> residuals);

/// Builds the i1 tensor of `box` (bounds only), or null when the box is all of `shape`.
mlir::Value buildBoxMask(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::ArrayRef<mlir::OpFoldResult> lo,
                         mlir::ArrayRef<mlir::OpFoldResult> hi, mlir::ArrayRef<int64_t> shape);

} // namespace piton

#endif // PITON_COMPILER_ANALYSIS_MASKANALYSIS_H
