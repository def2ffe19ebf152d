// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A part of a tensor, computed from the producers of the tensor instead of cut out
// of it: lane (i, all) of splat(a) + range is a + i. What address arithmetic
// becomes inside the loops over single lanes or rows.
#ifndef PITON_COMPILER_TRANSFORMS_VALUESLICER_H
#define PITON_COMPILER_TRANSFORMS_VALUESLICER_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

#include <functional>

namespace piton {

/// The attribute of every op that takes part in an access lane by lane.
inline constexpr llvm::StringLiteral kDiscreteMemAccess = "DiscreteMemAccess";
/// The attribute of a loop over lanes or rows.
inline constexpr llvm::StringLiteral kExtractedLoadOrStore = "ExtractedLoadOrStore";

/// True for an op that can be applied to any part of its operands: elementwise, pure, and
/// without a region.
bool isSliceable(mlir::Operation *op);

/// Computes one fixed part: an index along some dimensions, all lanes along the others. The
/// result has the dimensions that were kept; it is a scalar when none was.
class ValueSlicer {
public:
  /// `at[d]` is an index, or null to keep dimension d. Ops are created at `builder`'s insertion
  /// point. With `deep` unset only splats and broadcasts are crossed, not arithmetic.
  ValueSlicer(mlir::OpBuilder &builder, mlir::Location loc, mlir::ArrayRef<mlir::Value> at,
              bool deep = true)
      : builder(builder), loc(loc), at(at.begin(), at.end()), deep(deep) {}

  /// As above; `crosses` says which producers are crossed.
  ValueSlicer(mlir::OpBuilder &builder, mlir::Location loc, mlir::ArrayRef<mlir::Value> at,
              std::function<bool(mlir::Operation *)> crosses)
      : builder(builder), loc(loc), at(at.begin(), at.end()), deep(true),
        crosses(std::move(crosses)) {}

  /// The part of `tensor`, which has one dimension an entry of `at`.
  mlir::Value operator()(mlir::Value tensor);

private:
  mlir::Value slice(mlir::Value tensor, mlir::ArrayRef<mlir::Value> at);
  mlir::Value sliceElementwise(mlir::Operation *op, mlir::ArrayRef<mlir::Value> at);
  mlir::Value sliceReshape(mlir::Value source, mlir::RankedTensorType type,
                           mlir::ArrayRef<mlir::Value> at);
  mlir::Value cut(mlir::Value tensor, mlir::ArrayRef<mlir::Value> at);
  mlir::Value zero();

  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::SmallVector<mlir::Value> at;
  bool deep;
  std::function<bool(mlir::Operation *)> crosses;
  /// Every part computed so far, by tensor and index.
  llvm::DenseMap<mlir::Value,
                 llvm::SmallVector<std::pair<llvm::SmallVector<mlir::Value>, mlir::Value>, 1>>
      known;
  mlir::Value zeroIndex;
  unsigned depth = 0;
};

/// The shape of a part: the sizes of the kept dimensions.
llvm::SmallVector<int64_t> keptShape(mlir::ArrayRef<int64_t> shape, mlir::ArrayRef<mlir::Value> at);

} // namespace piton

#endif // PITON_COMPILER_TRANSFORMS_VALUESLICER_H
