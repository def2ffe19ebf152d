// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the A2/A3 compiler gets wrong when it places tensors in local memory. It pads
// rows to 32 bytes, through views and loops, and two users of a padded buffer do not
// cope: a loop that fills a tensor which is reshaped afterwards (it fills a copy whose
// contents never come back), and arithmetic that broadcasts a short last axis on the fly
// (the library reads outside of the buffer); both get a copy, and so do counts that are
// reshaped into rows (the library races with itself). Slices of lower rank than
// the tensor they go into are refused where arithmetic makes them, and selects of 64-bit
// values read their mask in another form than comparisons leave it.
#include "compiler/Target/BishengForms.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;

namespace piton::bisheng {
namespace {

/// Bytes of a block of local memory: rows are padded to these.
constexpr int64_t kBlockBytes = 32;

/// A buffer of its own for `value`, made at the insertion point.
Value copyOf(OpBuilder &b, Location loc, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  Value into = tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType());
  return linalg::CopyOp::create(b, loc, value, into)->getResult(0);
}

/// Whether `value` is filled element by element: its buffer must stay the one that is filled.
bool isFilledInPlace(Value value) {
  Operation *producer = value.getDefiningOp();
  return isa_and_nonnull<LoopLikeOpInterface, tensor::InsertOp, tensor::InsertSliceOp>(producer);
}

/// Whether `value` is arithmetic on tensors that count along their one dimension.
bool isCounted(Value value, llvm::SmallPtrSetImpl<Operation *> &seen) {
  Operation *producer = value.getDefiningOp();
  if (!producer || !seen.insert(producer).second)
    return false;
  if (auto generic = dyn_cast<linalg::GenericOp>(producer))
    return isArange(generic);
  return producer->hasTrait<OpTrait::Elementwise>() &&
         llvm::any_of(producer->getOperands(), [&](Value in) { return isCounted(in, seen); });
}

/// Whether the compiler would move `view` up to a count, which then fills several rows: the
/// library counts the first by scalar stores and the others by vectors, without order.
bool makesRowsOfCounts(Operation *view) {
  auto type = dyn_cast<RankedTensorType>(view->getResult(0).getType());
  llvm::SmallPtrSet<Operation *, 16> seen;
  return type && llvm::count_if(type.getShape(), [](int64_t dim) { return dim != 1; }) > 1 &&
         isCounted(view->getOperand(0), seen);
}

void separateView(Operation *view) {
  OpOperand &source = view->getOpOperand(0);
  if (!isa<RankedTensorType>(source.get().getType()) ||
      (!isFilledInPlace(source.get()) && !makesRowsOfCounts(view)))
    return;
  OpBuilder b(view);
  source.set(copyOf(b, view->getLoc(), source.get()));
}

/// Whether elementwise users would repeat a short last axis of three or more by themselves.
bool spreadsShortRows(linalg::BroadcastOp op) {
  auto type = cast<RankedTensorType>(op.getInit().getType());
  if (type.getRank() < 3 || !type.hasStaticShape())
    return false;
  int64_t last = type.getRank() - 1;
  int64_t bits = type.getElementTypeBitWidth() * type.getDimSize(last);
  return llvm::is_contained(op.getDimensions(), last) && bits < 8 * kBlockBytes;
}

void separateBroadcast(linalg::BroadcastOp op) {
  if (!spreadsShortRows(op))
    return;
  OpBuilder b(op);
  b.setInsertionPointAfter(op);
  Value copy = copyOf(b, op.getLoc(), op->getResult(0));
  op->getResult(0).replaceAllUsesExcept(copy, copy.getDefiningOp());
}

/// `op` element by element: columns of padded rows lie apart, and moving them as slices with all
/// axes races with itself.
void insertElements(tensor::InsertSliceOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  RankedTensorType source = op.getSourceType();
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  SmallVector<Value> lower(source.getRank(), zero), upper, step(source.getRank(), one);
  for (int64_t extent : source.getShape())
    upper.push_back(arith::ConstantIndexOp::create(b, loc, extent));
  llvm::SmallBitVector dropped = op.getDroppedDims();
  auto body = [&](OpBuilder &inner, Location at, ValueRange indices, ValueRange carried) {
    Value element = tensor::ExtractOp::create(inner, at, op.getSource(), indices);
    SmallVector<Value> where;
    size_t axis = 0;
    for (auto [d, offset] : llvm::enumerate(op.getMixedOffsets())) {
      Value start = getValueOrCreateConstantIndexOp(inner, at, offset);
      where.push_back(dropped.test(d) ? start
                                      : arith::AddIOp::create(inner, at, start, indices[axis++]));
    }
    Value next = tensor::InsertOp::create(inner, at, element, carried.front(), where);
    return scf::ValueVector{next};
  };
  scf::LoopNest nest = scf::buildLoopNest(b, loc, lower, upper, step, op.getDest(), body);
  op.getResult().replaceAllUsesWith(nest.results.front());
  op->erase();
}

/// Arithmetic whose result goes into a slice of a tensor of higher rank is done in the slice's
/// buffer, and the compiler then finds operands of two ranks: inserts the result with all its axes.
void insertWithAllAxes(tensor::InsertSliceOp op) {
  RankedTensorType source = op.getSourceType();
  Operation *producer = op.getSource().getDefiningOp();
  bool isArithmetic = producer && producer->hasTrait<OpTrait::Elementwise>();
  int64_t rank = op.getDestType().getRank();
  bool isStatic = source.hasStaticShape() &&
                  llvm::none_of(op.getStaticSizes(), ShapedType::isDynamic) &&
                  llvm::all_of(op.getStaticStrides(), [](int64_t stride) { return stride == 1; });
  if (!isArithmetic || !isStatic || source.getRank() == rank || source.getRank() == 0)
    return;
  auto whole = RankedTensorType::get(op.getStaticSizes(), source.getElementType());
  auto groups = getReassociationIndicesForReshape(source, whole);
  if (op.getDroppedDims().test(rank - 1) || !groups)
    return insertElements(op);
  OpBuilder b(op);
  op.getSourceMutable().set(
      tensor::ExpandShapeOp::create(b, op.getLoc(), whole, op.getSource(), *groups));
}

/// The library selects 64-bit values by one byte an element, and the compiler hands it the packed
/// bits of a comparison: compares bytes, whose result it spreads.
void selectByBytes(arith::SelectOp op) {
  auto type = dyn_cast<RankedTensorType>(op.getType());
  Value condition = op.getCondition();
  if (!type || type.getElementTypeBitWidth() != 64 || !isa<RankedTensorType>(condition.getType()))
    return;
  OpBuilder b(op);
  Location loc = op.getLoc();
  Type bytes = withElement(type, b.getI8Type());
  Value wide = arith::ExtUIOp::create(b, loc, bytes, condition);
  Value zero = splatInt(b, loc, 0, bytes);
  op.getConditionMutable().set(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, wide, zero));
}

} // namespace

LogicalResult legalizeLayout(ModuleOp module, Context &context) {
  if (!context.isC220())
    return success();
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops) {
    if (isa<tensor::ReshapeOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
      separateView(op);
    else if (auto broadcast = dyn_cast<linalg::BroadcastOp>(op))
      separateBroadcast(broadcast);
    else if (auto select = dyn_cast<arith::SelectOp>(op))
      selectByBytes(select);
    else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
      insertWithAllAxes(insert);
  }
  return success();
}

} // namespace piton::bisheng
