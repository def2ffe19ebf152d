// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The scalar body of a structured op, rebuilt on tensors of one shape: what
// linalg.generic and the combiners of linalg.reduce become, since the Ascend compiler
// vectorises ops and not regions.
#include "compiler/Target/BishengForms.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"

using namespace mlir;

namespace piton::bisheng {
namespace {

/// Index values are i64 on tensors.
Type elementFor(OpBuilder &b, Type scalar) { return scalar.isIndex() ? b.getI64Type() : scalar; }

struct BodyCloner {
  OpBuilder &b;
  ArrayRef<int64_t> shape;
  IRMapping &map;

  Type tensorOf(Type scalar) { return RankedTensorType::get(shape, elementFor(b, scalar)); }

  /// The tensor for a value of the body; values from outside of it fill one.
  Value tensorFor(Location loc, Value scalar) {
    if (Value known = map.lookupOrNull(scalar))
      return known;
    Value value = scalar;
    if (value.getType().isIndex())
      value = arith::IndexCastOp::create(b, loc, b.getI64Type(), value);
    Value filled = splat(b, loc, value, tensorOf(scalar.getType()));
    map.map(scalar, filled);
    return filled;
  }

  Value constant(arith::ConstantOp op) {
    Type type = tensorOf(op.getType());
    if (auto integer = dyn_cast<IntegerAttr>(op.getValue()))
      return splatInt(b, op.getLoc(), integer.getValue(), type);
    Value scalar = arith::ConstantOp::create(b, op.getLoc(), op.getValue());
    return splat(b, op.getLoc(), scalar, type);
  }

  /// index <-> integer, index being i64 here.
  Value indexCast(Operation *op) {
    Value in = tensorFor(op->getLoc(), op->getOperand(0));
    Type to = tensorOf(op->getResult(0).getType());
    unsigned from = getElementTypeOrSelf(in).getIntOrFloatBitWidth();
    unsigned width = getElementTypeOrSelf(to).getIntOrFloatBitWidth();
    if (from == width)
      return in;
    if (from > width)
      return arith::TruncIOp::create(b, op->getLoc(), to, in);
    if (isa<arith::IndexCastUIOp>(op))
      return arith::ExtUIOp::create(b, op->getLoc(), to, in);
    return arith::ExtSIOp::create(b, op->getLoc(), to, in);
  }

  LogicalResult clone(Operation &op) {
    Location loc = op.getLoc();
    if (auto value = dyn_cast<arith::ConstantOp>(op)) {
      map.map(value.getResult(), constant(value));
      return success();
    }
    if (auto index = dyn_cast<linalg::IndexOp>(op)) {
      Value narrow = indicesAlong(b, loc, shape, index.getDim());
      map.map(index.getResult(),
              Value(arith::ExtSIOp::create(b, loc, tensorOf(index.getType()), narrow)));
      return success();
    }
    if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op)) {
      map.map(op.getResult(0), indexCast(&op));
      return success();
    }
    SmallVector<Value> operands;
    SmallVector<Type> types;
    for (Value operand : op.getOperands())
      operands.push_back(tensorFor(loc, operand));
    for (Type type : op.getResultTypes())
      types.push_back(tensorOf(type));
    OperationState state(loc, op.getName(), operands, types, op.getAttrs());
    Operation *made = b.create(state);
    map.map(op.getResults(), made->getResults());
    return success();
  }
};

} // namespace

bool isElementwiseBody(Block &body) {
  return llvm::all_of(body.without_terminator(), [](Operation &op) {
    if (isa<linalg::IndexOp>(op))
      return true;
    auto isScalar = [](Type type) { return type.isIntOrIndexOrFloat(); };
    return op.getNumRegions() == 0 && op.getNumResults() != 0 &&
           isa<arith::ArithDialect, math::MathDialect>(op.getDialect()) &&
           llvm::all_of(op.getOperandTypes(), isScalar) &&
           llvm::all_of(op.getResultTypes(), isScalar);
  });
}

SmallVector<Value> cloneBodyOnTensors(OpBuilder &b, Block &body, ArrayRef<int64_t> shape,
                                      IRMapping &map) {
  BodyCloner cloner{b, shape, map};
  for (Operation &op : body.without_terminator())
    if (failed(cloner.clone(op)))
      return {};
  SmallVector<Value> results;
  for (Value value : body.getTerminator()->getOperands())
    results.push_back(cloner.tensorFor(body.getTerminator()->getLoc(), value));
  return results;
}

SmallVector<Value> cloneBodyOnScalars(OpBuilder &b, Block &body, IRMapping &map) {
  for (Operation &op : body.without_terminator())
    b.clone(op, map);
  SmallVector<Value> results;
  for (Value value : body.getTerminator()->getOperands())
    results.push_back(map.lookupOrDefault(value));
  return results;
}

} // namespace piton::bisheng
