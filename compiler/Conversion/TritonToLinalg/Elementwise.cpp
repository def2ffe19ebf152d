// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Per-element ops of Triton to arith and math, which stay on tensors, and constants to
// fills. Works on scalars and tensors alike, so combine regions are covered too.
#include "compiler/Conversion/TritonToLinalg/Lowering.h"
#include "compiler/Conversion/TritonToLinalg/NpuOps.h"

using namespace mlir;

namespace piton::linalglowering {

/// Float conversion: a widening, a narrowing, or, between formats of one width, both through
/// f32, which holds every value of the narrow formats.
static Value convertFloat(triton::FpToFpOp op, OpBuilder &b) {
  Location loc = op.getLoc();
  Value value = op.getSrc();
  Type from = getElementTypeOrSelf(value.getType()), to = getElementTypeOrSelf(op.getType());
  if (from == to)
    return value;
  unsigned fromWidth = from.getIntOrFloatBitWidth(), toWidth = to.getIntOrFloatBitWidth();
  if (toWidth > fromWidth)
    return arith::ExtFOp::create(b, loc, op.getType(), value);
  if (toWidth == fromWidth)
    value = arith::ExtFOp::create(b, loc, withElement(op.getType(), b.getF32Type()), value);
  if (op.getRounding() == triton::RoundingMode::RTZ) {
    auto mode = arith::RoundingModeAttr::get(b.getContext(), arith::RoundingMode::toward_zero);
    return arith::TruncFOp::create(b, loc, op.getType(), value, mode, nullptr);
  }
  auto narrowed = arith::TruncFOp::create(b, loc, op.getType(), value);
  markRoundToNearest(narrowed);
  return narrowed;
}

/// With NaN propagation the bounds are combined by minimum and maximum, else NaN lanes take a
/// bound.
static Value clamp(triton::ClampFOp op, OpBuilder &b) {
  Location loc = op.getLoc();
  if (op.getPropagateNan() == triton::PropagateNan::ALL) {
    Value low = arith::MaximumFOp::create(b, loc, op.getX(), op.getMin());
    return arith::MinimumFOp::create(b, loc, low, op.getMax());
  }
  Value low = arith::MaxNumFOp::create(b, loc, op.getX(), op.getMin());
  return arith::MinNumFOp::create(b, loc, low, op.getMax());
}

/// Value to value only: pointer casts disappear with the pointers.
static Value bitcast(triton::BitcastOp op, OpBuilder &b) {
  if (op.getSrc().getType() == op.getType())
    return op.getSrc();
  return arith::BitcastOp::create(b, op.getLoc(), op.getType(), op.getSrc());
}

/// A splat constant becomes a fill; any other tensor constant stays.
static Value denseConstant(arith::ConstantOp op, OpBuilder &b) {
  auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!dense || !dense.isSplat())
    return {};
  bool isShape = llvm::all_of(op->getUsers(), [](Operation *user) {
    return isa<tensor::ReshapeOp>(user) && user->getNumOperands() == 2;
  });
  if (isShape && !op->use_empty() &&
      llvm::all_of(op->getUses(), [](OpOperand &use) { return use.getOperandNumber() == 1; }))
    return {};
  Value scalar = constantOf(b, op.getLoc(), cast<TypedAttr>(dense.getSplatValue<Attribute>()));
  return filled(b, op.getLoc(), op.getType(), scalar);
}

LogicalResult Lowering::lowerElementwise(Operation *op) {
  OpBuilder b(op);
  Location loc = op->getLoc();
  Value result =
      TypeSwitch<Operation *, Value>(op)
          .Case([&](arith::ConstantOp constant) { return denseConstant(constant, b); })
          .Case([&](triton::FpToFpOp cast) { return convertFloat(cast, b); })
          .Case([&](triton::ClampFOp clampOp) { return clamp(clampOp, b); })
          .Case([&](triton::BitcastOp cast) -> Value {
            return triton::isPointerLike(cast.getType()) ? Value() : bitcast(cast, b);
          })
          .Case([&](triton::PreciseDivFOp div) -> Value {
            return arith::DivFOp::create(b, loc, div.getX(), div.getY());
          })
          .Case([&](triton::PreciseSqrtOp sqrt) -> Value {
            return math::SqrtOp::create(b, loc, sqrt.getX());
          })
          .Case([&](triton::MulhiUIOp mul) -> Value {
            return arith::MulUIExtendedOp::create(b, loc, mul.getX(), mul.getY()).getHigh();
          })
          .Case([&](ub::PoisonOp poison) -> Value {
            auto type = dyn_cast<RankedTensorType>(poison.getType());
            if (!type || triton::isPointerLike(type))
              return {};
            return emptyTensor(b, loc, type.getShape(), type.getElementType());
          })
          .Default([](Operation *) { return Value(); });
  if (!result)
    return success(); // stays as it is
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
  return success();
}

} // namespace piton::linalglowering
