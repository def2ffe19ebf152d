// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a structured access touches: the dimensions that really move (the others have
// stride 0 and address one element), and the box of lanes that the mask admits. Shared
// by loads, stores and atomics.
#ifndef PITON_COMPILER_CONVERSION_TRITONTOLINALG_BOX_H
#define PITON_COMPILER_CONVERSION_TRITONTOLINALG_BOX_H

#include "compiler/Conversion/TritonToLinalg/Lowering.h"

namespace piton::linalglowering {

/// One access of tensors of `shape`.
struct Box {
  llvm::SmallVector<int64_t> shape;
  llvm::SmallVector<int64_t> kept;                  ///< dimensions with a stride, in order
  llvm::SmallVector<int64_t> dropped;               ///< dimensions of stride 0 and size > 1
  llvm::SmallVector<mlir::OpFoldResult> lo, extent; ///< per dimension, extent >= 0
  llvm::SmallVector<int64_t> keptSizes;
  llvm::SmallVector<mlir::OpFoldResult> keptStrides;

  /// True when dimension `dim` is statically whole.
  bool isWhole(int64_t dim) const;
  /// True when every dimension of `dims` is statically whole.
  bool areWhole(llvm::ArrayRef<int64_t> dims) const;
  /// i1: every dropped dimension has a lane; null when that is static.
  mlir::Value anyDroppedLane(mlir::OpBuilder &b, mlir::Location loc) const;
  /// The offsets and extents of the kept dimensions; the extents are 0 when no dropped
  /// dimension has a lane.
  llvm::SmallVector<mlir::OpFoldResult> keptOffsets() const;
  llvm::SmallVector<mlir::OpFoldResult> keptExtents(mlir::OpBuilder &b, mlir::Location loc) const;
  /// The last admitted lane of a dropped dimension, never negative: the lane whose store wins.
  mlir::OpFoldResult lastLane(int64_t dim, mlir::OpBuilder &b, mlir::Location loc) const;
};

/// Splits the dimensions of `address` and takes the bounds from `mask`.
Box makeBox(const StructuredAddress &address, const MaskInfo &mask, mlir::OpBuilder &b,
            mlir::Location loc);

/// `memref` restricted to the box; itself when the box is whole.
mlir::Value subview(mlir::Value memref, llvm::ArrayRef<mlir::OpFoldResult> offsets,
                    llvm::ArrayRef<mlir::OpFoldResult> extents, mlir::OpBuilder &b,
                    mlir::Location loc);

/// Static entries as attributes, so that op builders infer static types.
mlir::OpFoldResult folded(mlir::OpFoldResult value, mlir::OpBuilder &b);

} // namespace piton::linalglowering

#endif // PITON_COMPILER_CONVERSION_TRITONTOLINALG_BOX_H
