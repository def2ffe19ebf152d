// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Boxes of lanes: see Box.h.
#include "compiler/Conversion/TritonToLinalg/Box.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace piton::linalglowering {

OpFoldResult folded(OpFoldResult value, OpBuilder &b) {
  if (auto constant = getConstantIntValue(value))
    return b.getIndexAttr(*constant);
  return value;
}

bool Box::isWhole(int64_t dim) const {
  return isConstantIntValue(lo[dim], 0) && isConstantIntValue(extent[dim], shape[dim]);
}

bool Box::areWhole(ArrayRef<int64_t> dims) const {
  return llvm::all_of(dims, [&](int64_t dim) { return isWhole(dim); });
}

Value Box::anyDroppedLane(OpBuilder &b, Location loc) const {
  Value result;
  for (int64_t dim : dropped) {
    auto constant = getConstantIntValue(extent[dim]);
    if (constant && *constant > 0)
      continue;
    Value some =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, asIndex(b, loc, extent[dim]),
                              arith::ConstantIndexOp::create(b, loc, 0));
    result = result ? arith::AndIOp::create(b, loc, result, some).getResult() : some;
  }
  return result;
}

SmallVector<OpFoldResult> Box::keptOffsets() const {
  SmallVector<OpFoldResult> result;
  for (int64_t dim : kept)
    result.push_back(lo[dim]);
  return result;
}

SmallVector<OpFoldResult> Box::keptExtents(OpBuilder &b, Location loc) const {
  SmallVector<OpFoldResult> result;
  for (int64_t dim : kept)
    result.push_back(extent[dim]);
  Value some = anyDroppedLane(b, loc);
  if (some && !result.empty())
    result.front() = arith::SelectOp::create(b, loc, some, asIndex(b, loc, result.front()),
                                             arith::ConstantIndexOp::create(b, loc, 0))
                         .getResult();
  return result;
}

OpFoldResult Box::lastLane(int64_t dim, OpBuilder &b, Location loc) const {
  OpFoldResult last = subIndex(b, loc, addIndex(b, loc, lo[dim], extent[dim]), b.getIndexAttr(1));
  if (auto constant = getConstantIntValue(last))
    return b.getIndexAttr(std::max<int64_t>(*constant, 0));
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  return arith::MaxSIOp::create(b, loc, asIndex(b, loc, last), zero).getResult();
}

Box makeBox(const StructuredAddress &address, const MaskInfo &mask, OpBuilder &b, Location loc) {
  Box box;
  box.shape = address.sizes;
  int64_t inner = 1;
  SmallVector<OpFoldResult> strides(address.strides);
  // A unit dimension never moves; it gets the extent of what lies inside it, because
  // strided<> has no stride 0.
  for (int64_t dim = box.shape.size() - 1; dim >= 0; --dim) {
    strides[dim] = folded(strides[dim], b);
    if (box.shape[dim] == 1 && isConstantIntValue(strides[dim], 0))
      strides[dim] = b.getIndexAttr(inner);
    inner *= box.shape[dim];
  }
  for (int64_t dim = 0, rank = box.shape.size(); dim < rank; ++dim) {
    OpFoldResult low = folded(mask.lo[dim], b), high = folded(mask.hi[dim], b);
    box.lo.push_back(low);
    box.extent.push_back(subIndex(b, loc, high, low));
    if (isConstantIntValue(strides[dim], 0)) {
      box.dropped.push_back(dim);
      continue;
    }
    box.kept.push_back(dim);
    box.keptSizes.push_back(box.shape[dim]);
    box.keptStrides.push_back(strides[dim]);
  }
  return box;
}

Value subview(Value memref, ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> extents,
              OpBuilder &b, Location loc) {
  auto type = cast<MemRefType>(memref.getType());
  bool whole = true;
  SmallVector<OpFoldResult> strides(offsets.size(), b.getIndexAttr(1));
  for (auto [offset, extent, size] : llvm::zip_equal(offsets, extents, type.getShape()))
    whole &= isConstantIntValue(offset, 0) && isConstantIntValue(extent, size);
  if (whole)
    return memref;
  return memref::SubViewOp::create(b, loc, memref, offsets, extents, strides);
}

} // namespace piton::linalglowering
