// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules of ValueSlicer. Scalars are computed with the program's own ops, so a
// lane has the value that the tensor op would have given it.
#include "compiler/Transforms/ValueSlicer.h"

#include "compiler/Dialect/Triton/Triton.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace piton {

bool isSliceable(Operation *op) {
  if (op->getNumRegions() != 0 || op->getNumResults() != 1 || !isPure(op) ||
      isa<triton::ElementwiseInlineAsmOp, triton::ExternElementwiseOp>(op))
    return false;
  if (op->hasTrait<OpTrait::ConstantLike>())
    return false;
  return OpTrait::hasElementwiseMappableTraits(op) || op->hasTrait<OpTrait::Elementwise>();
}

/// True when repeating `op` for every lane costs little: integer and pointer arithmetic.
static bool isCheap(Operation *op) {
  auto cheap = [](Type type) {
    return isa<IntegerType, IndexType, triton::PointerType>(getElementTypeOrSelf(type));
  };
  return llvm::all_of(op->getOperandTypes(), cheap) && llvm::all_of(op->getResultTypes(), cheap);
}

SmallVector<int64_t> keptShape(ArrayRef<int64_t> shape, ArrayRef<Value> at) {
  SmallVector<int64_t> result;
  for (auto [size, index] : llvm::zip(shape, at))
    if (!index)
      result.push_back(size);
  return result;
}

/// `element` in the kept shape; the element itself when nothing is kept.
static Type keptType(RankedTensorType type, ArrayRef<Value> at) {
  SmallVector<int64_t> shape = keptShape(type.getShape(), at);
  bool scalar = llvm::all_of(at, [](Value index) { return bool(index); });
  return scalar ? type.getElementType() : RankedTensorType::get(shape, type.getElementType());
}

Value ValueSlicer::operator()(Value tensor) { return slice(tensor, at); }

Value ValueSlicer::zero() {
  if (!zeroIndex)
    zeroIndex = arith::ConstantIndexOp::create(builder, loc, 0);
  return zeroIndex;
}

Value ValueSlicer::cut(Value tensor, ArrayRef<Value> at) {
  auto type = cast<RankedTensorType>(tensor.getType());
  Type kept = keptType(type, at);
  Operation *op;
  if (!isa<RankedTensorType>(kept)) {
    op = tensor::ExtractOp::create(builder, loc, tensor, at);
  } else {
    SmallVector<OpFoldResult> offsets, sizes, strides(at.size(), builder.getIndexAttr(1));
    for (auto [dim, index] : llvm::enumerate(at)) {
      offsets.push_back(index ? OpFoldResult(index) : builder.getIndexAttr(0));
      sizes.push_back(builder.getIndexAttr(index ? 1 : type.getDimSize(dim)));
    }
    op = tensor::ExtractSliceOp::create(builder, loc, cast<RankedTensorType>(kept), tensor, offsets,
                                        sizes, strides);
  }
  op->setAttr(kDiscreteMemAccess, builder.getUnitAttr());
  return op->getResult(0);
}

Value ValueSlicer::sliceElementwise(Operation *op, ArrayRef<Value> at) {
  IRMapping mapping;
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType()) && !mapping.contains(operand))
      mapping.map(operand, slice(operand, at));
  OperationState state(loc, op->getName());
  for (Value operand : op->getOperands())
    state.addOperands(mapping.lookupOrDefault(operand));
  state.addTypes(keptType(cast<RankedTensorType>(op->getResult(0).getType()), at));
  state.addAttributes(op->getDiscardableAttrDictionary().getValue());
  state.propertiesAttr = op->getPropertiesAsAttribute();
  return builder.create(state)->getResult(0);
}

Value ValueSlicer::sliceReshape(Value source, RankedTensorType type, ArrayRef<Value> at) {
  // Through the row-major position of the lane.
  auto from = cast<RankedTensorType>(source.getType());
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  Value position = zero();
  for (auto [size, index] : llvm::zip(type.getShape(), at)) {
    position = builder.createOrFold<arith::MulIOp>(loc, position, number(size));
    position = builder.createOrFold<arith::AddIOp>(loc, position, index);
  }
  SmallVector<Value> indices(from.getRank());
  for (int64_t dim = from.getRank() - 1; dim >= 0; --dim) {
    int64_t size = from.getDimSize(dim);
    if (dim == 0) {
      indices[dim] = position;
      break;
    }
    indices[dim] = builder.createOrFold<arith::RemUIOp>(loc, position, number(size));
    position = builder.createOrFold<arith::DivUIOp>(loc, position, number(size));
  }
  return slice(source, indices);
}

Value ValueSlicer::slice(Value tensor, ArrayRef<Value> at) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (auto it = known.find(tensor); it != known.end())
    for (auto &[part, value] : it->second)
      if (ArrayRef(part) == at)
        return value;
  bool keepsAll = llvm::none_of(at, [](Value index) { return bool(index); });
  if (keepsAll && !at.empty())
    return tensor;
  Type kept = keptType(type, at);
  auto keptTensor = dyn_cast<RankedTensorType>(kept);
  Operation *op = tensor.getDefiningOp();
  Value result;
  DenseElementsAttr constant;
  bool isConstant = op && op->hasTrait<OpTrait::ConstantLike>();
  constexpr unsigned maxDepth = 1000; // what is made of more ops is cut out, whatever it costs
  ++depth;
  if (!op || depth > maxDepth || (crosses && !isConstant && !crosses(op))) {
    result = cut(tensor, at);
  } else if (matchPattern(tensor, m_Constant(&constant))) {
    if (!constant.isSplat())
      result = cut(tensor, at);
    else if (keptTensor)
      result = arith::ConstantOp::create(builder, loc, constant.resizeSplat(keptTensor));
    else
      result = arith::ConstantOp::create(builder, loc,
                                         cast<TypedAttr>(constant.getSplatValue<Attribute>()));
  } else if (auto splat = dyn_cast<triton::SplatOp>(op);
             splat && !isa<RankedTensorType>(splat.getSrc().getType())) {
    result = keptTensor ? builder.createOrFold<triton::SplatOp>(loc, keptTensor, splat.getSrc())
                        : splat.getSrc();
  } else if (auto range = dyn_cast<triton::MakeRangeOp>(op)) {
    Value lane = builder.createOrFold<arith::IndexCastOp>(loc, builder.getI32Type(), at[0]);
    Value start = arith::ConstantOp::create(
        builder, loc, builder.getI32IntegerAttr(static_cast<int32_t>(range.getStart())));
    result = range.getStart() == 0 ? lane : builder.createOrFold<arith::AddIOp>(loc, lane, start);
  } else if (auto expand = dyn_cast<triton::ExpandDimsOp>(op)) {
    SmallVector<Value> inner(at);
    int axis = expand.getAxis();
    inner.erase(inner.begin() + axis);
    if (inner.empty()) {
      result = cut(tensor, at);
    } else {
      result = slice(expand.getSrc(), inner);
      if (!at[axis]) {
        int position = llvm::count_if(at.take_front(axis), [](Value index) { return !index; });
        result = isa<RankedTensorType>(result.getType())
                     ? builder.createOrFold<triton::ExpandDimsOp>(loc, result, position)
                     : builder.createOrFold<triton::SplatOp>(loc, keptTensor, result);
      }
    }
  } else if (auto broadcast = dyn_cast<triton::BroadcastOp>(op)) {
    auto from = cast<RankedTensorType>(broadcast.getSrc().getType());
    SmallVector<Value> inner(at);
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (inner[dim] && from.getDimSize(dim) != type.getDimSize(dim))
        inner[dim] = zero();
    result = slice(broadcast.getSrc(), inner);
    if (keptTensor && result.getType() != kept)
      result = builder.createOrFold<triton::BroadcastOp>(loc, kept, result);
  } else if (auto trans = dyn_cast<triton::TransOp>(op); trans && deep) {
    SmallVector<Value> inner(at.size());
    for (auto [to, from] : llvm::enumerate(trans.getOrder()))
      inner[from] = at[to];
    result = slice(trans.getSrc(), inner);
    SmallVector<int32_t> order;
    for (auto [to, from] : llvm::enumerate(trans.getOrder()))
      if (!at[to])
        order.push_back(
            llvm::count_if(ArrayRef(inner).take_front(from), [](Value index) { return !index; }));
    if (keptTensor && result.getType() != kept)
      result = triton::TransOp::create(builder, loc, result, order);
    else if (keptTensor && !llvm::is_sorted(order))
      result = triton::TransOp::create(builder, loc, result, order);
  } else if (auto reshape = dyn_cast<triton::ReshapeOp>(op); reshape && deep && !keptTensor) {
    result = sliceReshape(reshape.getSrc(), type, at);
  } else if (deep && isSliceable(op) && (crosses || isCheap(op))) {
    result = sliceElementwise(op, at);
  } else {
    result = cut(tensor, at);
  }
  --depth;
  known[tensor].push_back({SmallVector<Value>(at), result});
  return result;
}

} // namespace piton
