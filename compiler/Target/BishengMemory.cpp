// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads whose data starts behind padding, constants of several values, and ops that
// MLIR 19 does not have.
//
// The library of the Ascend compiler fills padding in front of loaded data on the
// vector pipe while the compiler orders only the load against what follows, so a lane
// of that padding may be stale. Such a load is taken without padding here; what the
// padding was to be is selected afterwards.
#include "compiler/Target/BishengForms.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace piton::bisheng {
namespace {

//===-- Constants ---------------------------------------------------------===//

/// Largest constant that is written out element by element.
constexpr int64_t kMaxSpelledConstant = 256;

LogicalResult spellConstant(arith::ConstantOp op, Context &context) {
  auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!elements || elements.isSplat())
    return success();
  auto type = cast<RankedTensorType>(op.getType());
  // The shape operand of a tensor.reshape is read at compile time, as a constant.
  if (llvm::all_of(op->getUsers(), llvm::IsaPred<tensor::ReshapeOp>))
    return success();
  if (type.getNumElements() > kMaxSpelledConstant)
    return refuse(op, context.family,
                  Twine("a constant of ") + Twine(type.getNumElements()) + " different values",
                  "load it from memory (at most " + Twine(kMaxSpelledConstant) +
                      " are written out)");
  OpBuilder b(op);
  // Not tensor.from_elements: the compiler folds that back into the constant.
  Location loc = op.getLoc();
  Value built = tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType());
  SmallVector<int64_t> strides = computeSuffixProduct(type.getShape());
  for (auto [position, value] : llvm::enumerate(elements.getValues<Attribute>())) {
    Value scalar = arith::ConstantOp::create(b, loc, cast<TypedAttr>(value));
    SmallVector<Value> indices;
    for (int64_t index : delinearize(position, strides))
      indices.push_back(arith::ConstantIndexOp::create(b, loc, index));
    built = tensor::InsertOp::create(b, loc, scalar, built, indices);
  }
  op.getResult().replaceAllUsesWith(built);
  op->erase();
  return success();
}

//===-- Padding in front of loaded data ---------------------------------------===//

/// The fill of a load's buffer, directly or under "some lane is masked off".
struct Padding {
  linalg::FillOp fill;
  Operation *toErase = nullptr; ///< the fill or the scf.if around it alone
};

Padding paddingOf(memref::AllocOp buffer) {
  for (Operation *user : buffer->getUsers()) {
    auto fill = dyn_cast<linalg::FillOp>(user);
    if (!fill || fill.getOutputs().front() != buffer.getResult())
      continue;
    auto guard = dyn_cast<scf::IfOp>(fill->getParentOp());
    bool isAlone = guard && guard.elseBlock() == nullptr &&
                   llvm::hasSingleElement(guard.thenBlock()->without_terminator());
    if (fill->getBlock() == buffer->getBlock() ||
        (isAlone && guard->getBlock() == buffer->getBlock()))
      return {fill, isAlone ? guard.getOperation() : fill.getOperation()};
  }
  return {};
}

memref::SubViewOp subviewBehind(Value value) {
  while (auto cast = value.getDefiningOp<memref::CastOp>())
    value = cast.getSource();
  return value.getDefiningOp<memref::SubViewOp>();
}

/// Whether data may start more than 32 bytes into the last dimension.
bool mayPadInFront(memref::SubViewOp view) {
  OpFoldResult offset = view.getMixedOffsets().back();
  std::optional<int64_t> known = getConstantIntValue(offset);
  unsigned bits = view.getType().getElementTypeBitWidth();
  return !known || *known * bits > 32 * 8;
}

/// Lanes of `shape` inside of the box at `offsets` with `sizes`.
Value insideBox(OpBuilder &b, Location loc, ArrayRef<int64_t> shape, ArrayRef<OpFoldResult> offsets,
                ArrayRef<OpFoldResult> sizes) {
  Value inside;
  auto asI32 = [&](Value index) -> Value {
    return arith::IndexCastOp::create(b, loc, b.getI32Type(), index);
  };
  auto both = [&](Value x) {
    inside = inside ? Value(arith::AndIOp::create(b, loc, inside, x)) : x;
  };
  for (int64_t d = 0; d < int64_t(shape.size()); ++d) {
    std::optional<int64_t> offset = getConstantIntValue(offsets[d]);
    std::optional<int64_t> size = getConstantIntValue(sizes[d]);
    if (offset == 0 && size == shape[d])
      continue;
    Value lanes = indicesAlong(b, loc, shape, d);
    Value first = getValueOrCreateConstantIndexOp(b, loc, offsets[d]);
    Value count = getValueOrCreateConstantIndexOp(b, loc, sizes[d]);
    Value end = arith::AddIOp::create(b, loc, first, count);
    Value low = splat(b, loc, asI32(first), lanes.getType());
    Value high = splat(b, loc, asI32(end), lanes.getType());
    both(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, lanes, low));
    both(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, lanes, high));
  }
  return inside;
}

/// A padded load into `copy`'s buffer -> plain load, select behind it.
void padBehindLoad(memref::CopyOp copy) {
  memref::SubViewOp view = subviewBehind(copy.getTarget());
  if (!view || !mayPadInFront(view))
    return;
  auto buffer = view.getSource().getDefiningOp<memref::AllocOp>();
  if (!buffer || !buffer.getType().hasStaticShape())
    return;
  Padding padding = paddingOf(buffer);
  if (!padding.fill)
    return;
  bufferization::ToTensorOp whole;
  for (Operation *user : buffer->getUsers())
    if (auto toTensor = dyn_cast<bufferization::ToTensorOp>(user))
      whole = toTensor;
  if (!whole || whole->getBlock() != copy->getBlock() || !copy->isBeforeInBlock(whole))
    return;

  OpBuilder b(whole);
  b.setInsertionPointAfter(whole);
  Location loc = copy.getLoc();
  auto type = cast<RankedTensorType>(whole.getResult().getType());
  Value inside = insideBox(b, loc, type.getShape(), view.getMixedOffsets(), view.getMixedSizes());
  if (!inside)
    return;
  Value scalar = padding.fill.getInputs().front();
  if (Operation *definition = scalar.getDefiningOp())
    if (padding.toErase->isProperAncestor(definition))
      return;
  Value other = splat(b, loc, scalar, type);
  auto select = arith::SelectOp::create(b, loc, inside, whole.getResult(), other);
  whole.getResult().replaceAllUsesExcept(select, select);
  padding.toErase->erase();
}

//===-- Ops of newer MLIR -----------------------------------------------------===//

void dropNewOps(Operation *op) {
  if (auto assume = dyn_cast<memref::AssumeAlignmentOp>(op)) {
    assume.getResult().replaceAllUsesWith(assume.getMemref());
    assume->erase();
    return;
  }
  // A call without results that claims to have no effect is dead code to the compiler.
  if (op->getName().getStringRef() == "hivm.hir.custom" && op->getNumResults() == 0)
    op->removeAttr("no_side_effect");
}

} // namespace

LogicalResult legalizeMemory(ModuleOp module, Context &context) {
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops) {
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      if (failed(spellConstant(constant, context)))
        return failure();
    } else if (isa<memref::AssumeAlignmentOp>(op) || op->getDialect() == nullptr ||
               op->getName().getDialectNamespace() == "hivm") {
      dropNewOps(op);
    }
  }
  SmallVector<memref::CopyOp> copies;
  module.walk([&](memref::CopyOp copy) { copies.push_back(copy); });
  for (memref::CopyOp copy : copies)
    padBehindLoad(copy);
  return success();
}

} // namespace piton::bisheng
