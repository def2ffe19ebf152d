// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops that make or rearrange tensors: ranges, splats, unit dimensions, broadcasts,
// reshapes, transposes, join, split and cat.
#include "compiler/Conversion/TritonToLinalg/Lowering.h"

using namespace mlir;

namespace piton::linalglowering {

/// start, start + 1, ...: an iota generic (marked, because back ends turn it into one
/// instruction) plus the start.
static Value makeRange(triton::MakeRangeOp op, OpBuilder &b) {
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op.getType());
  Value init = emptyTensor(b, loc, type.getShape(), type.getElementType());
  SmallVector<NamedAttribute> marks{
      b.getNamedAttr("tt.from_make_range", b.getUnitAttr()),
      b.getNamedAttr("tt.make_range_offset", b.getIndexAttr(0)),
      b.getNamedAttr("tt.make_range_size", b.getIndexAttr(type.getDimSize(0)))};
  auto iota = linalg::GenericOp::create(
      b, loc, TypeRange{type}, ValueRange{}, ValueRange{init},
      ArrayRef<AffineMap>{b.getMultiDimIdentityMap(1)},
      ArrayRef<utils::IteratorType>{utils::IteratorType::parallel},
      [&](OpBuilder &nested, Location at, ValueRange) {
        Value lane = linalg::IndexOp::create(nested, at, 0);
        lane = arith::IndexCastOp::create(nested, at, type.getElementType(), lane);
        linalg::YieldOp::create(nested, at, lane);
      },
      marks);
  int64_t start = static_cast<int32_t>(op.getStart());
  if (start == 0)
    return iota.getResult(0);
  return arith::AddIOp::create(b, loc, iota.getResult(0), splatInt(b, loc, type, start));
}

static Value expandDims(triton::ExpandDimsOp op, OpBuilder &b) {
  auto source = cast<RankedTensorType>(op.getSrc().getType());
  int64_t axis = static_cast<int32_t>(op.getAxis()), rank = source.getRank();
  // The new unit dimension joins its right neighbour, at the end its left one.
  SmallVector<ReassociationIndices> groups;
  for (int64_t dim = 0, out = 0; dim < rank; ++dim) {
    ReassociationIndices group{out++};
    if (dim == axis || (dim == rank - 1 && axis == rank))
      group.push_back(out++);
    groups.push_back(group);
  }
  return tensor::ExpandShapeOp::create(b, op.getLoc(), op.getType(), op.getSrc(), groups);
}

/// Without the unit dimensions `dims` (sorted).
static Value dropUnitDims(OpBuilder &b, Location loc, Value tensor, ArrayRef<int64_t> dims) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<int64_t> shape;
  SmallVector<ReassociationIndices> groups;
  ReassociationIndices leading;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (llvm::is_contained(dims, dim)) {
      (groups.empty() ? leading : groups.back()).push_back(dim);
      continue;
    }
    groups.push_back(leading);
    leading.clear();
    groups.back().push_back(dim);
    shape.push_back(type.getDimSize(dim));
  }
  return tensor::CollapseShapeOp::create(
      b, loc, RankedTensorType::get(shape, type.getElementType()), tensor, groups);
}

static Value broadcast(triton::BroadcastOp op, OpBuilder &b) {
  auto source = cast<RankedTensorType>(op.getSrc().getType());
  auto type = cast<RankedTensorType>(op.getType());
  SmallVector<int64_t> widened;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (source.getDimSize(dim) != type.getDimSize(dim))
      widened.push_back(dim);
  if (widened.empty())
    return op.getSrc();
  Value small = dropUnitDims(b, op.getLoc(), op.getSrc(), widened);
  return broadcastInto(b, op.getLoc(), small, type.getShape(), widened);
}

/// Offsets 0 but `offset` in dimension `dim`, sizes `shape`, strides 1 but `stride` there.
struct Slice {
  SmallVector<OpFoldResult> offsets, sizes, strides;
  Slice(OpBuilder &b, ArrayRef<int64_t> shape, int64_t dim, int64_t offset, int64_t stride)
      : offsets(shape.size(), b.getIndexAttr(0)), strides(shape.size(), b.getIndexAttr(1)) {
    for (int64_t size : shape)
      sizes.push_back(b.getIndexAttr(size));
    offsets[dim] = b.getIndexAttr(offset);
    strides[dim] = b.getIndexAttr(stride);
  }
};

/// The stride of 2 says "interleave" to the back ends; with one lane it moves nothing.
static Value join(triton::JoinOp op, OpBuilder &b) {
  auto type = cast<RankedTensorType>(op.getType());
  SmallVector<int64_t> part(type.getShape());
  part.back() = 1;
  Value result = emptyTensor(b, op.getLoc(), type.getShape(), type.getElementType());
  for (auto [lane, value] : llvm::enumerate(op->getOperands())) {
    Slice slice(b, part, part.size() - 1, lane, 2);
    result = tensor::InsertSliceOp::create(b, op.getLoc(), value, result, slice.offsets,
                                           slice.sizes, slice.strides);
  }
  return result;
}

static LogicalResult lowerSplit(triton::SplitOp op, OpBuilder &b) {
  auto type = cast<RankedTensorType>(op.getOutLHS().getType());
  SmallVector<int64_t> part(type.getShape());
  part.push_back(1);
  for (unsigned lane = 0; lane < 2; ++lane) {
    Slice slice(b, part, part.size() - 1, lane, 2);
    Value half = tensor::ExtractSliceOp::create(b, op.getLoc(), type, op.getSrc(), slice.offsets,
                                                slice.sizes, slice.strides);
    op->getResult(lane).replaceAllUsesWith(half);
  }
  op.erase();
  return success();
}

static Value cat(triton::CatOp op, OpBuilder &b) {
  auto type = cast<RankedTensorType>(op.getType());
  auto part = cast<RankedTensorType>(op.getLhs().getType());
  Value result = emptyTensor(b, op.getLoc(), type.getShape(), type.getElementType());
  int64_t offset = 0;
  for (Value value : op->getOperands()) {
    Slice slice(b, part.getShape(), 0, offset, 1);
    result = tensor::InsertSliceOp::create(b, op.getLoc(), value, result, slice.offsets,
                                           slice.sizes, slice.strides);
    offset += part.getDimSize(0);
  }
  return result;
}

LogicalResult Lowering::lowerShape(Operation *op) {
  OpBuilder b(op);
  Location loc = op->getLoc();
  if (auto split = dyn_cast<triton::SplitOp>(op))
    return lowerSplit(split, b);
  Value result = TypeSwitch<Operation *, Value>(op)
                     .Case([&](triton::MakeRangeOp range) { return makeRange(range, b); })
                     .Case([&](triton::SplatOp splat) -> Value {
                       if (isa<RankedTensorType>(splat.getSrc().getType()))
                         return reshaped(b, loc, splat.getSrc(),
                                         cast<RankedTensorType>(splat.getType()).getShape());
                       return filled(b, loc, splat.getType(), splat.getSrc());
                     })
                     .Case([&](triton::UnsplatOp unsplat) -> Value {
                       auto type = cast<RankedTensorType>(unsplat.getSrc().getType());
                       Value zero = arith::ConstantIndexOp::create(b, loc, 0);
                       SmallVector<Value> indices(type.getRank(), zero);
                       return tensor::ExtractOp::create(b, loc, unsplat.getSrc(), indices);
                     })
                     .Case([&](triton::ExpandDimsOp expand) { return expandDims(expand, b); })
                     .Case([&](triton::BroadcastOp spread) { return broadcast(spread, b); })
                     .Case([&](triton::ReshapeOp reshape) {
                       return reshaped(b, loc, reshape.getSrc(),
                                       cast<RankedTensorType>(reshape.getType()).getShape());
                     })
                     .Case([&](triton::TransOp trans) {
                       SmallVector<int64_t> order(trans.getOrder().begin(), trans.getOrder().end());
                       return transposed(b, loc, trans.getSrc(), order);
                     })
                     .Case([&](triton::JoinOp joinOp) { return join(joinOp, b); })
                     .Case([&](triton::CatOp catOp) { return cat(catOp, b); })
                     .Default([](Operation *) { return Value(); });
  if (!result)
    return op->emitOpError("rearranges a tensor in a way that triton-to-linalg does not know");
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
  return success();
}

} // namespace piton::linalglowering
