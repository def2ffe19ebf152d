// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Small builders of triton-to-linalg: filled tensors, reshapes, broadcasts, folding index
// arithmetic, and combine regions applied to scalars or whole tensors.
#include "compiler/Conversion/TritonToLinalg/Lowering.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace piton::linalglowering {

Type memoryElementType(Type element) {
  if (element.isInteger(1))
    return IntegerType::get(element.getContext(), 8);
  if (isa<triton::PointerType>(element))
    return IntegerType::get(element.getContext(), 64);
  return element;
}

Type withElement(Type type, Type element) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return RankedTensorType::get(tensor.getShape(), element);
  return element;
}

Value toMemory(Value value, OpBuilder &b, Location loc) {
  Type element = getElementTypeOrSelf(value.getType());
  Type type = withElement(value.getType(), memoryElementType(element));
  if (element.isInteger(1))
    return arith::ExtUIOp::create(b, loc, type, value);
  if (isa<triton::PointerType>(element))
    return triton::PtrToIntOp::create(b, loc, type, value);
  return value;
}

Value fromMemory(Value value, Type type, OpBuilder &b, Location loc) {
  Type element = getElementTypeOrSelf(type);
  if (element.isInteger(1))
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, value,
                                 zeroOf(b, loc, value.getType()));
  if (isa<triton::PointerType>(element))
    return triton::IntToPtrOp::create(b, loc, type, value);
  return value;
}

Value emptyTensor(OpBuilder &b, Location loc, ArrayRef<int64_t> shape, Type element) {
  return tensor::EmptyOp::create(b, loc, shape, element);
}

Value filled(OpBuilder &b, Location loc, Type type, Value scalar) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return scalar;
  Value init = emptyTensor(b, loc, tensor.getShape(), tensor.getElementType());
  return linalg::FillOp::create(b, loc, ValueRange{scalar}, ValueRange{init}).getResult(0);
}

Value constantOf(OpBuilder &b, Location loc, TypedAttr value) {
  return arith::ConstantOp::create(b, loc, value);
}

Value splatInt(OpBuilder &b, Location loc, Type type, int64_t value) {
  Type element = getElementTypeOrSelf(type);
  unsigned width = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  APInt bits = APInt(64, static_cast<uint64_t>(value)).sextOrTrunc(width);
  return filled(b, loc, type, constantOf(b, loc, b.getIntegerAttr(element, bits)));
}

Value splatFloat(OpBuilder &b, Location loc, Type type, double value) {
  auto element = cast<FloatType>(getElementTypeOrSelf(type));
  APFloat number(value);
  bool lost = false;
  number.convert(element.getFloatSemantics(), APFloat::rmNearestTiesToEven, &lost);
  return filled(b, loc, type, constantOf(b, loc, FloatAttr::get(element, number)));
}

Value zeroOf(OpBuilder &b, Location loc, Type type) {
  Type element = getElementTypeOrSelf(type);
  return filled(b, loc, type, constantOf(b, loc, cast<TypedAttr>(b.getZeroAttr(element))));
}

Value reshaped(OpBuilder &b, Location loc, Value tensor, ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (type.getShape() == shape)
    return tensor;
  auto shapeType = RankedTensorType::get({static_cast<int64_t>(shape.size())}, b.getI64Type());
  Value shapeValue = constantOf(b, loc, DenseIntElementsAttr::get(shapeType, shape));
  return tensor::ReshapeOp::create(b, loc, RankedTensorType::get(shape, type.getElementType()),
                                   tensor, shapeValue);
}

Value broadcastInto(OpBuilder &b, Location loc, Value tensor, ArrayRef<int64_t> shape,
                    ArrayRef<int64_t> added) {
  if (added.empty())
    return tensor;
  Type element = getElementTypeOrSelf(tensor.getType());
  Value init = emptyTensor(b, loc, shape, element);
  return linalg::BroadcastOp::create(b, loc, tensor, init, added)->getResult(0);
}

Value transposed(OpBuilder &b, Location loc, Value tensor, ArrayRef<int64_t> permutation) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<int64_t> shape;
  for (int64_t dim : permutation)
    shape.push_back(type.getDimSize(dim));
  Value init = emptyTensor(b, loc, shape, type.getElementType());
  return linalg::TransposeOp::create(b, loc, tensor, init, permutation)->getResult(0);
}

Value scalarOf(Value tensor, OpBuilder &b, Location loc) {
  if (!isa<RankedTensorType>(tensor.getType()))
    return tensor;
  Operation *def = tensor.getDefiningOp();
  if (!def)
    return {};
  if (auto splat = dyn_cast<triton::SplatOp>(def))
    return scalarOf(splat.getSrc(), b, loc);
  if (isa<triton::BroadcastOp, triton::ExpandDimsOp, triton::ReshapeOp, triton::TransOp>(def))
    return scalarOf(def->getOperand(0), b, loc);
  if (auto fill = dyn_cast<linalg::FillOp>(def))
    return fill.getInputs().front();
  if (auto constant = dyn_cast<arith::ConstantOp>(def)) {
    auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (!dense || !dense.isSplat())
      return {};
    return constantOf(b, loc, cast<TypedAttr>(dense.getSplatValue<Attribute>()));
  }
  // Any per-element op on one lane: cast chains such as sitofp(splat n).
  if (!OpTrait::hasElementwiseMappableTraits(def) || def->getNumRegions() != 0 ||
      def->getNumResults() != 1)
    return {};
  SmallVector<Value> operands;
  for (Value operand : def->getOperands()) {
    Value scalar = scalarOf(operand, b, loc);
    if (!scalar)
      return {};
    operands.push_back(scalar);
  }
  OperationState state(def->getLoc(), def->getName(), operands,
                       {getElementTypeOrSelf(tensor.getType())}, def->getAttrs());
  return b.create(state)->getResult(0);
}

Value asIndex(OpBuilder &b, Location loc, OpFoldResult value) {
  return getValueOrCreateConstantIndexOp(b, loc, value);
}

static std::optional<std::pair<int64_t, int64_t>> bothConstant(OpFoldResult lhs, OpFoldResult rhs) {
  auto left = getConstantIntValue(lhs), right = getConstantIntValue(rhs);
  if (!left || !right)
    return std::nullopt;
  return std::make_pair(*left, *right);
}

OpFoldResult addIndex(OpBuilder &b, Location loc, OpFoldResult lhs, OpFoldResult rhs) {
  if (auto both = bothConstant(lhs, rhs))
    return b.getIndexAttr(both->first + both->second);
  if (isConstantIntValue(lhs, 0))
    return rhs;
  if (isConstantIntValue(rhs, 0))
    return lhs;
  return arith::AddIOp::create(b, loc, asIndex(b, loc, lhs), asIndex(b, loc, rhs)).getResult();
}

OpFoldResult subIndex(OpBuilder &b, Location loc, OpFoldResult lhs, OpFoldResult rhs) {
  if (auto both = bothConstant(lhs, rhs))
    return b.getIndexAttr(both->first - both->second);
  if (isConstantIntValue(rhs, 0))
    return lhs;
  return arith::SubIOp::create(b, loc, asIndex(b, loc, lhs), asIndex(b, loc, rhs)).getResult();
}

OpFoldResult mulIndex(OpBuilder &b, Location loc, OpFoldResult lhs, OpFoldResult rhs) {
  if (auto both = bothConstant(lhs, rhs))
    return b.getIndexAttr(both->first * both->second);
  if (isConstantIntValue(lhs, 1))
    return rhs;
  if (isConstantIntValue(rhs, 1))
    return lhs;
  return arith::MulIOp::create(b, loc, asIndex(b, loc, lhs), asIndex(b, loc, rhs)).getResult();
}

/// True for values that every lane shares: constants of the region, and values from outside.
static bool isElementwiseOp(Operation &op) {
  if (isa<arith::ConstantOp>(op))
    return true;
  return op.getNumRegions() == 0 && OpTrait::hasElementwiseMappableTraits(&op);
}

bool isElementwiseRegion(Region &region) {
  if (!region.hasOneBlock())
    return false;
  return llvm::all_of(region.front().without_terminator(),
                      [](Operation &op) { return isElementwiseOp(op); });
}

SmallVector<Value> applyRegion(OpBuilder &b, Region &region, ValueRange arguments) {
  Block &block = region.front();
  IRMapping mapping;
  mapping.map(block.getArguments(), arguments);
  auto shaped = arguments.empty() ? RankedTensorType()
                                  : dyn_cast<RankedTensorType>(arguments.front().getType());
  // A value from outside the region, or a constant, meets tensors: spread it.
  auto operandOf = [&](Value value, Location loc) {
    Value mapped = mapping.lookupOrDefault(value);
    if (!shaped || isa<RankedTensorType>(mapped.getType()))
      return mapped;
    Value spread = filled(b, loc, withElement(shaped, mapped.getType()), mapped);
    mapping.map(value, spread);
    return spread;
  };
  for (Operation &op : block.without_terminator()) {
    if (!shaped || isa<arith::ConstantOp>(op)) {
      b.clone(op, mapping);
      continue;
    }
    SmallVector<Value> operands;
    for (Value operand : op.getOperands())
      operands.push_back(operandOf(operand, op.getLoc()));
    SmallVector<Type> types;
    for (Type type : op.getResultTypes())
      types.push_back(withElement(shaped, type));
    OperationState state(op.getLoc(), op.getName(), operands, types, op.getAttrs());
    mapping.map(op.getResults(), b.create(state)->getResults());
  }
  SmallVector<Value> results;
  for (Value value : block.getTerminator()->getOperands())
    results.push_back(operandOf(value, block.getTerminator()->getLoc()));
  return results;
}

} // namespace piton::linalglowering
