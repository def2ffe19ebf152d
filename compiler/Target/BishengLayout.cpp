// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the A2/A3 compiler gets wrong when it places tensors in local memory. It pads
// rows to 32 bytes, through views and loops, and two users of a padded buffer do not
// cope: a loop that fills a tensor which is reshaped afterwards (it fills a copy whose
// contents never come back), and arithmetic that broadcasts a short last axis on the fly
// (the library reads outside of the buffer); both get a copy. Slices of lower rank than
// the tensor they go into are refused where arithmetic makes them.
#include "compiler/Target/BishengForms.h"

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

void separateView(Operation *view) {
  OpOperand &source = view->getOpOperand(0);
  if (!isFilledInPlace(source.get()) || !isa<RankedTensorType>(source.get().getType()))
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

/// Arithmetic whose result goes into a row of a tensor of higher rank is done in the row's buffer,
/// and the compiler then finds operands of two ranks: inserts the result with all its axes.
void insertWithAllAxes(tensor::InsertSliceOp op) {
  RankedTensorType source = op.getSourceType();
  Operation *producer = op.getSource().getDefiningOp();
  bool isArithmetic = producer && producer->hasTrait<OpTrait::Elementwise>();
  if (!isArithmetic || source.getRank() == op.getDestType().getRank() || source.getRank() == 0)
    return;
  auto whole = RankedTensorType::get(op.getStaticSizes(), source.getElementType());
  auto groups = getReassociationIndicesForReshape(source, whole);
  if (!whole.hasStaticShape() || !groups)
    return;
  OpBuilder b(op);
  op.getSourceMutable().set(
      tensor::ExpandShapeOp::create(b, op.getLoc(), whole, op.getSource(), *groups));
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
    else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
      insertWithAllAxes(insert);
  }
  return success();
}

} // namespace piton::bisheng
