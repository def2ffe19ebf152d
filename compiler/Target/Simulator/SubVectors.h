// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that ask which vector core of an AI core they run on: what of them depends on the answer,
// and the two ways to run them. Private to sim-prepare.
#ifndef PITON_COMPILER_TARGET_SIMULATOR_SUBVECTORS_H
#define PITON_COMPILER_TARGET_SIMULATOR_SUBVECTORS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace piton::simulator {

/// Vector cores of an AI core: sub_vec_num().
inline constexpr int64_t kSides = 2;

/// The query of the vector core, sub_vec_id().
bool isSideQuery(mlir::Operation *op);

/// Loops and branches that can be taken apart; any other op with regions is one piece.
bool isStructure(mlir::Operation *op);

/// scf.if or scf.index_switch: the first operand decides, each region ends in a yield.
bool isBranch(mlir::Operation *op);

/// A branch like `branch`, with empty regions, of other results.
mlir::Operation *branchLike(mlir::OpBuilder &b, mlir::Operation *branch, mlir::TypeRange results,
                            mlir::Value control);

/// What depends on the side. A piece is an op, with all that it holds, that each side does itself.
class SideDependence {
public:
  /// Grows from `roots`: queries of the side, and other ops that each side has to do.
  explicit SideDependence(llvm::ArrayRef<mlir::Operation *> roots);

  bool isDependent(mlir::Value value) const { return values.contains(value); }
  bool isPiece(mlir::Operation *op) const { return pieces.contains(op); }
  /// A structure with a piece somewhere inside.
  bool holdsPiece(mlir::Operation *op) const { return holders.contains(op); }
  llvm::ArrayRef<mlir::Operation *> allPieces() const { return pieces.getArrayRef(); }

private:
  void addValue(mlir::Value value);
  void addPiece(mlir::Operation *op);
  void addHolder(mlir::Operation *op);
  void visitUse(mlir::OpOperand &use);
  void addCarried(mlir::Operation *op, unsigned index);

  llvm::DenseSet<mlir::Value> values;
  llvm::SmallSetVector<mlir::Operation *, 32> pieces;
  llvm::SmallPtrSet<mlir::Operation *, 32> holders;
  llvm::SmallVector<mlir::Value> work;
};

/// Makes two programs of the kernel that run at the same time, one a side, with what does not
/// depend on the side done by the first for both (kSharedBytesAttr is set). For kernels in which a
/// side may wait: run one after the other, it could wait for its own other half.
mlir::LogicalResult runSidesTogether(mlir::func::FuncOp kernel, const SideDependence &dependence);

} // namespace piton::simulator

#endif // PITON_COMPILER_TARGET_SIMULATOR_SUBVECTORS_H
