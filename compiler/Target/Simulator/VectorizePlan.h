// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which linalg.generic ops sim-vectorize emits itself, and how: the dimension along which it
// makes vectors, and the reductions along it.
#ifndef PITON_COMPILER_TARGET_SIMULATOR_VECTORIZEPLAN_H
#define PITON_COMPILER_TARGET_SIMULATOR_VECTORIZEPLAN_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace piton::simulator {

/// The combiner of a reduction: `yield op(accumulator, value)` with one use each.
struct Combiner {
  mlir::Operation *op = nullptr;
  mlir::Value value; ///< the side that is not the accumulator
};

/// What folds the lanes of this combiner's accumulators; nothing for other ops.
std::optional<mlir::vector::CombiningKind> combiningKind(mlir::Operation *op);

/// The value that changes nothing, NaN included: max and min of numbers start at NaN.
mlir::TypedAttr neutralElement(mlir::OpBuilder &b, mlir::vector::CombiningKind kind,
                               mlir::Type type);

/// One generic that will be emitted, with what its shape tells.
struct Plan {
  mlir::linalg::GenericOp op;
  unsigned inner = 0;                    ///< the vectorised dimension: the last
  llvm::SmallVector<int64_t> extents;    ///< of all dimensions
  llvm::SmallVector<Combiner> combiners; ///< per init; empty op: stored per element
  /// Not empty: all inits are reduced together, each step keeps either all accumulators or these
  /// values of the body (argmax).
  llvm::SmallVector<mlir::Value> candidates;
  /// The ops of such a body that see an accumulator, in order.
  llvm::SmallVector<mlir::Operation *> choice;
};

/// How a map uses the inner dimension: as its last result, not at all, or otherwise.
enum class InnerUse { Contiguous, None, Other };

InnerUse innerUse(mlir::AffineMap map, unsigned inner);

/// The plan of an op that can be emitted; nothing for others, which become scalar loops.
std::optional<Plan> planFor(mlir::Operation *candidate);

} // namespace piton::simulator

#endif // PITON_COMPILER_TARGET_SIMULATOR_VECTORIZEPLAN_H
