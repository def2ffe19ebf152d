// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits the vector loops of one linalg.generic. A row is one main loop over whole vectors, one
// masked loop for the step in which a load ends, and one loop over padding only; all have the
// same body. RowEmitter.cpp holds the loops and their reductions, RowBody.cpp what stands in them.
#ifndef PITON_COMPILER_TARGET_SIMULATOR_ROWEMITTER_H
#define PITON_COMPILER_TARGET_SIMULATOR_ROWEMITTER_H

#include "compiler/Target/Simulator/Transfers.h"
#include "compiler/Target/Simulator/Utils.h"
#include "compiler/Target/Simulator/VectorizePlan.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

namespace piton::simulator {

/// What the code is made for.
struct Host {
  int64_t lanes;         ///< 32-bit lanes of one step
  int64_t registerBytes; ///< of one vector register
  bool maskNarrow;       ///< has masks for 8- and 16-bit lanes
};

/// The loops of one op, in its place. Loads and stores that are `transfers` address memory itself
/// instead of a local copy.
class RowEmitter {
public:
  RowEmitter(Plan &plan, Transfers &transfers, const Host &host, mlir::Value stream)
      : plan(plan), op(plan.op), transfers(transfers), loc(plan.op.getLoc()), host(host),
        stream(stream) {
    int64_t extent = plan.extents[plan.inner];
    width = std::min<int64_t>(widestStep(host.lanes), llvm::PowerOf2Ceil(extent));
  }

  void emit();

private:
  struct Operand {
    mlir::Value memory; ///< what is indexed; null for a scalar
    mlir::AffineMap map;
    InnerUse use = InnerUse::None;
    const Load *load = nullptr;
    const Store *store = nullptr;
    mlir::Value limit; ///< of the inner dimension in this row, for a load
  };

  /// 64-bit lanes take twice the registers. A cheap reduction waits for its accumulators: four
  /// registers of them, whatever their size.
  int64_t widestStep(int64_t lanes);
  bool isCheapReduction();
  mlir::Value index(mlir::OpBuilder &b, int64_t value) { return indexConstant(b, loc, value); }

  mlir::Value minimum(mlir::OpBuilder &b, mlir::Value x, mlir::Value y) {
    return x == y ? x : mlir::arith::MinUIOp::create(b, loc, x, y).getResult();
  }
  void prepareOperands(mlir::OpBuilder &b);

  mlir::Value compare(mlir::OpBuilder &b, mlir::arith::CmpIPredicate predicate, mlir::Value x,
                      mlir::Value y) {
    return mlir::arith::CmpIOp::create(b, loc, predicate, x, y);
  }

  /// Loops over the outer dimensions, inside a common store box where there is one.
  void emitOuter(mlir::OpBuilder &b, unsigned dimension);

  /// When every result of the op is stored in one box: its extent in this dimension.
  mlir::Value storeLimit(mlir::OpBuilder &b, unsigned dimension);

  /// What an extent is computed from: the operand of min(max(x, 0), constant).
  static mlir::Value unclamped(mlir::Value size, int64_t full, bool &isClamped);
  mlir::Value clampExtent(mlir::OpBuilder &b, mlir::Value size, int64_t full);
  mlir::Value emitClamp(mlir::OpBuilder &b, mlir::Value size, int64_t full);

  /// The number of valid lanes of a box in the row of the current outer indices.
  mlir::Value rowLimit(mlir::OpBuilder &b, mlir::AffineMap map, mlir::ArrayRef<mlir::Value> box,
                       int64_t full);
  void emitRow(mlir::OpBuilder &b);

  /// The one operand whose rows may be stored past the cache; null when there is none.
  const Operand *streamTarget(int64_t full);

  static int64_t elementBytes(const Operand &operand) {
    return elementByteWidth(
        mlir::cast<mlir::MemRefType>(operand.memory.getType()).getElementType());
  }

  /// The whole steps of a row: past the cache, after a masked step to the first cache line, when
  /// the launch asks for it; else as usual. Gives the first lane that is left.
  mlir::Value emitStreamed(mlir::OpBuilder &b, const Operand &target, mlir::Value whole,
                           mlir::Value mainEnd);

  /// The line in which a row ends is written as usual; stores that follow would wait for it.
  void fetchLastLine(mlir::OpBuilder &b, const Operand &target, mlir::Value address,
                     mlir::Value whole);

  /// Of the first element of the current row.
  mlir::Value byteAddress(mlir::OpBuilder &b, const Operand &target);

  /// Where only padding is left: the whole step after the last lane of any load, at most
  /// `end`. Null when no load has a limit in its rows.
  mlir::Value firstPadStep(mlir::OpBuilder &b, mlir::Value end);
  mlir::SmallVector<mlir::vector::CombiningKind> kinds();
  bool masksAreCheap();

  /// All lanes of an accumulator combined. LLVM would take the lanes of a maximum one after
  /// another, because of NaN; halves are as good.
  mlir::Value foldLanes(mlir::OpBuilder &b, mlir::Operation *combiner, mlir::Value lanes);

  /// Combines each accumulator with the value that the result had before.
  void finishReductions(mlir::OpBuilder &b, mlir::ArrayRef<mlir::Value> accumulators);

  /// Every lane starts with what the results had before.
  mlir::SmallVector<mlir::Value> startChoice(mlir::OpBuilder &b);

  /// One choice between accumulators and candidates of so many lanes.
  mlir::SmallVector<mlir::Value> emitChoice(mlir::OpBuilder &b, mlir::ValueRange accumulators,
                                            mlir::ValueRange candidates, int64_t lanes);

  /// Halves against each other down to one lane.
  mlir::SmallVector<mlir::Value> foldChoice(mlir::OpBuilder &b,
                                            mlir::ArrayRef<mlir::Value> accumulators);
  static mlir::arith::FastMathFlags fastmath(mlir::Operation *op);
  mlir::Value splat(mlir::OpBuilder &b, mlir::TypedAttr value, int64_t lanes);
  mlir::SmallVector<mlir::Value> indices(mlir::OpBuilder &b, mlir::AffineMap map,
                                         mlir::Value position);

  /// Lanes of [position, position + lanes) that are below `limit`.
  mlir::Value laneMask(mlir::OpBuilder &b, mlir::Value position, mlir::Value limit, int64_t lanes);

  /// One loop over the row. `limit` null: whole vectors only.
  mlir::SmallVector<mlir::Value> emitLoop(mlir::OpBuilder &b, mlir::Value from, mlir::Value to,
                                          int64_t lanes, mlir::Value limit,
                                          mlir::ArrayRef<mlir::Value> accumulators);
  mlir::Type vectorType(mlir::Type element, int64_t lanes) {
    return mlir::VectorType::get({lanes}, element);
  }

  /// A value of the body as a vector: splats what comes from outside.
  mlir::Value asVector(mlir::OpBuilder &b, mlir::Value value, int64_t lanes);
  mlir::Value loadOperand(mlir::OpBuilder &b, Operand &operand, mlir::Value scalar,
                          mlir::Value position, int64_t lanes, mlir::Value limit);

  /// An operand that does not vary along the row; outside of its box it is the pad.
  mlir::Value loadScalar(mlir::OpBuilder &b, Operand &operand, mlir::Type element,
                         mlir::ArrayRef<mlir::Value> at);
  mlir::Value laneNumbers(mlir::OpBuilder &b, mlir::Type element, int64_t lanes);

  /// linalg.index as an integer of the type it is cast to: 64-bit lanes halve the width.
  mlir::Value positionVector(mlir::OpBuilder &b, unsigned dimension, mlir::Type element,
                             mlir::Value position, int64_t lanes);

  /// The value outside of the op that a value of its body stands for.
  mlir::Value outerValue(mlir::Value value);

  /// `lane < n` where n is the extent of a box: true in whole steps, false in padding.
  bool isBelow(mlir::Operation &inner, mlir::ArrayRef<mlir::Value> extents);
  void emitOp(mlir::OpBuilder &b, mlir::Operation &inner, mlir::Value position, int64_t lanes);

  /// Register by register: LLVM stores the parts of a wider vector in descending order, which
  /// costs a third of the bandwidth.
  void storeWhole(mlir::OpBuilder &b, mlir::Value value, const Operand &operand,
                  mlir::SmallVector<mlir::Value> at, int64_t lanes);
  mlir::SmallVector<mlir::Value> chooseLanes(mlir::OpBuilder &b, mlir::Value position,
                                             int64_t lanes, mlir::Value limit,
                                             mlir::ValueRange accumulators);
  mlir::SmallVector<mlir::Value> emitBody(mlir::OpBuilder &b, mlir::Value position, int64_t lanes,
                                          mlir::Value limit, mlir::ValueRange accumulators);

  Plan &plan;
  mlir::linalg::GenericOp op;
  Transfers &transfers;
  mlir::Location loc;
  const Host &host;
  mlir::Value stream; ///< i1, or null: whether to store past the cache
  int64_t width;
  mlir::SmallVector<Operand> operands;
  mlir::SmallVector<mlir::Value> ivs;
  mlir::IRMapping mapping;
  mlir::SmallVector<mlir::Value> bounds;     ///< of the row: lanes below all of them are whole
  mlir::SmallVector<mlir::Value> loadBounds; ///< lanes at or above all of them are padding
  llvm::SmallDenseMap<mlir::Value, mlir::Value> clamped;
  bool isMain = false;        ///< the step being emitted is whole for every operand
  bool padOnly = false;       ///< the lanes being emitted lie outside of every limited load
  bool noPartialStep = false; ///< all lanes of the step are in the row, if not in every box
  bool inBoxes = false;       ///< lanes below the limit lie inside of every box
  bool streaming = false;     ///< stores are aligned, and go past the cache
};

} // namespace piton::simulator

#endif // PITON_COMPILER_TARGET_SIMULATOR_ROWEMITTER_H
