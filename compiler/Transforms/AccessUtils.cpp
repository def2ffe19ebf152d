// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors of pointers and offsets from scalars, in 64 bits.
#include "compiler/Transforms/AccessUtils.h"

#include "compiler/Analysis/AddressAnalysis.h"
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
  if (auto cast = scalar.getDefiningOp<arith::IndexCastOp>();
      cast && cast.getIn().getType().isInteger(64))
    return cast.getIn();
  if (scalar.getType().isInteger(64))
    return scalar;
  if (auto cast = scalar.getDefiningOp<arith::IndexCastOp>();
      cast && isa<IndexType>(cast.getType()))
    return builder.createOrFold<arith::ExtSIOp>(loc, builder.getI64Type(), cast.getIn());
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
    base =
        triton::AddPtrOp::create(builder, loc, base.getType(), base, toI64(builder, loc, offset));
  Value pointers = splatTo(builder, loc, base, shape);
  if (Value offsets = buildOffsets(builder, loc, strides, shape))
    pointers = triton::AddPtrOp::create(builder, loc, pointers.getType(), pointers, offsets);
  return pointers;
}

/// `value` (a tensor whose dimension k runs along dims[k]) in `shape`.
static Value spread(OpBuilder &builder, Location loc, Value value, ArrayRef<int> dims,
                    ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(value.getType());
  bool inPlace = type.getShape() == shape;
  for (auto [index, dim] : llvm::enumerate(dims))
    inPlace &= dim < 0 || dim == static_cast<int>(index);
  if (inPlace)
    return value;
  // Dimensions are never permuted against each other without a transpose; sort them first.
  SmallVector<int32_t> order;
  for (unsigned index = 0; index < dims.size(); ++index)
    order.push_back(index);
  llvm::sort(order,
             [&](int32_t a, int32_t b) { return std::pair(dims[a], a) < std::pair(dims[b], b); });
  if (!llvm::is_sorted(order))
    value = triton::TransOp::create(builder, loc, value, order);
  SmallVector<int64_t> aligned(shape.size(), 1);
  for (auto [index, dim] : llvm::enumerate(dims))
    if (dim >= 0)
      aligned[dim] = type.getDimSize(index);
  auto alignedType = RankedTensorType::get(aligned, type.getElementType());
  if (value.getType() != alignedType)
    value = triton::ReshapeOp::create(builder, loc, alignedType, value, false, false);
  return broadcastTo(builder, loc, value, shape);
}

Value materializeForm(OpBuilder &builder, Location loc, LaneAnalysis &lanes, const LaneForm &form,
                      Type type) {
  ExprContext &context = lanes.expressions();
  auto tensorType = dyn_cast<RankedTensorType>(type);
  ArrayRef<int64_t> shape = tensorType ? tensorType.getShape() : ArrayRef<int64_t>();
  Value offset = toI64(builder, loc, context.materialize(builder, loc, form.offset));
  bool isPointer = isa<triton::PointerType>(getElementTypeOrSelf(type));
  if (tensorType) {
    // All in one i64 tensor: pieces, then opaque terms.
    Value sum = splatTo(builder, loc, offset, shape);
    auto add = [&](Value part) { sum = arith::AddIOp::create(builder, loc, sum, part); };
    for (unsigned dim = 0; dim < form.dims.size(); ++dim) {
      SmallVector<int64_t> line(shape.size(), 1);
      line[dim] = shape[dim];
      SmallVector<int64_t> split;
      SmallVector<OpFoldResult> strides;
      for (const Piece &piece : form.dims[dim]) {
        split.push_back(piece.size);
        strides.push_back(context.materialize(builder, loc, piece.stride));
      }
      Value part = buildOffsets(builder, loc, strides, split);
      if (!part)
        continue;
      auto lineType = RankedTensorType::get(line, builder.getI64Type());
      if (part.getType() != lineType)
        part = triton::ReshapeOp::create(builder, loc, lineType, part, false, false);
      add(broadcastTo(builder, loc, part, shape));
    }
    for (const OpaqueTerm &term : form.opaque) {
      Value value = term.value;
      auto wide = cast<RankedTensorType>(value.getType()).clone(builder.getI64Type());
      if (isa<IndexType>(getElementTypeOrSelf(value.getType())))
        value = arith::IndexCastOp::create(builder, loc, wide, value);
      else if (value.getType() != wide && term.isSigned)
        value = arith::ExtSIOp::create(builder, loc, wide, value);
      else if (value.getType() != wide)
        value = arith::ExtUIOp::create(builder, loc, wide, value);
      value = spread(builder, loc, value, term.dims, shape);
      if (!term.factor.constant() || *term.factor.constant() != 1) {
        Value factor = toI64(builder, loc, context.materialize(builder, loc, term.factor));
        value = arith::MulIOp::create(builder, loc, value, splatTo(builder, loc, factor, shape));
      }
      add(value);
    }
    offset = sum;
  }
  if (!isPointer) {
    Type element = getElementTypeOrSelf(type);
    if (isa<IndexType>(element))
      return builder.createOrFold<arith::IndexCastOp>(loc, type, offset);
    if (element.isInteger(64))
      return offset;
    return builder.createOrFold<arith::TruncIOp>(loc, type, offset);
  }
  Type scalar = getElementTypeOrSelf(type);
  Value base;
  if (form.baseKind == LaneForm::Base::Opaque) {
    base = spread(builder, loc, form.base, form.baseDims, shape);
  } else {
    base = materializeBase(lanes, form, scalar, builder, loc);
    if (tensorType)
      base = splatTo(builder, loc, base, shape);
  }
  return triton::AddPtrOp::create(builder, loc, type, base, offset);
}

Value zeroOf(OpBuilder &builder, Location loc, Type type) {
  return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
}

} // namespace piton
