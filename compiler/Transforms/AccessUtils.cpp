// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors of pointers and offsets from scalars, in 64 bits.
#include "compiler/Transforms/AccessUtils.h"

#include "compiler/Dialect/Triton/Triton.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"

using namespace mlir;

namespace piton {

Value constantI64(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(value));
}

Value toI64(OpBuilder &builder, Location loc, OpFoldResult value) {
  if (std::optional<int64_t> number = getConstantIntValue(value))
    return constantI64(builder, loc, *number);
  Value scalar = cast<Value>(value);
  if (scalar.getType().isInteger(64))
    return scalar;
  if (isa<IndexType>(scalar.getType()))
    return builder.createOrFold<arith::IndexCastOp>(loc, builder.getI64Type(), scalar);
  return builder.createOrFold<arith::ExtSIOp>(loc, builder.getI64Type(), scalar);
}

Value splatTo(OpBuilder &builder, Location loc, Value value, ArrayRef<int64_t> shape) {
  return builder.createOrFold<triton::SplatOp>(loc, RankedTensorType::get(shape, value.getType()),
                                               value);
}

Value broadcastTo(OpBuilder &builder, Location loc, Value value, ArrayRef<int64_t> shape) {
  auto type = RankedTensorType::get(shape, getElementTypeOrSelf(value.getType()));
  return value.getType() == type ? value
                                 : builder.createOrFold<triton::BroadcastOp>(loc, type, value);
}

Value rangeAlong(OpBuilder &builder, Location loc, unsigned dim, ArrayRef<int64_t> shape) {
  int64_t size = shape[dim];
  auto line = RankedTensorType::get({size}, builder.getI32Type());
  Value range = builder.createOrFold<triton::MakeRangeOp>(loc, line, 0, size);
  range = builder.createOrFold<arith::ExtSIOp>(
      loc, RankedTensorType::get({size}, builder.getI64Type()), range);
  for (unsigned axis = 0; axis < shape.size(); ++axis)
    if (axis != dim)
      range = builder.createOrFold<triton::ExpandDimsOp>(loc, range, axis);
  return range;
}

Value buildOffsets(OpBuilder &builder, Location loc, ArrayRef<OpFoldResult> strides,
                   ArrayRef<int64_t> shape) {
  Value sum;
  for (unsigned dim = 0; dim < shape.size(); ++dim) {
    if (shape[dim] == 1 || isConstantIntValue(strides[dim], 0))
      continue;
    Value part = rangeAlong(builder, loc, dim, shape);
    if (!isConstantIntValue(strides[dim], 1)) {
      Value stride = splatTo(builder, loc, toI64(builder, loc, strides[dim]),
                             cast<RankedTensorType>(part.getType()).getShape());
      part = builder.createOrFold<arith::MulIOp>(loc, part, stride);
    }
    part = broadcastTo(builder, loc, part, shape);
    sum = sum ? builder.createOrFold<arith::AddIOp>(loc, sum, part) : part;
  }
  return sum;
}

Value buildPointers(OpBuilder &builder, Location loc, Value base, OpFoldResult offset,
                    ArrayRef<OpFoldResult> strides, ArrayRef<int64_t> shape) {
  if (!isConstantIntValue(offset, 0))
    base = triton::AddPtrOp::create(builder, loc, base.getType(), base,
                                    toI64(builder, loc, offset));
  Value pointers = splatTo(builder, loc, base, shape);
  if (Value offsets = buildOffsets(builder, loc, strides, shape))
    pointers = triton::AddPtrOp::create(builder, loc, pointers.getType(), pointers, offsets);
  return pointers;
}

Value zeroOf(OpBuilder &builder, Location loc, Type type) {
  return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
}

} // namespace piton
