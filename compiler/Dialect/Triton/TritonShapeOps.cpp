// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shape, dot and region ops of the `tt` dialect: builders, type inference and
// verifiers. Labels C1, C2 ... as in TritonOps.td.
#include "compiler/Dialect/Triton/Triton.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace mlir::triton;

/// Type inference meets operands of any type, because it runs before the verifier.
static RankedTensorType tensorOperand(ValueRange operands, unsigned index) {
  return index < operands.size() ? dyn_cast<RankedTensorType>(operands[index].getType())
                                 : RankedTensorType();
}

LogicalResult UnsplatOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                                          ValueRange operands, DictionaryAttr, OpaqueProperties,
                                          RegionRange, SmallVectorImpl<Type> &types) {
  RankedTensorType src = tensorOperand(operands, 0);
  if (!src)
    return emitOptionalError(loc, "unsplat needs a tensor");
  types.push_back(src.getElementType());
  return success();
}
LogicalResult UnsplatOp::verify() {
  auto type = cast<RankedTensorType>(getSrc().getType());
  if (type.getNumElements() != 1) // C1
    return emitOpError("source tensor must have exactly one element, but is ") << type;
  return success();
}

LogicalResult ExpandDimsOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                                             ValueRange operands, DictionaryAttr,
                                             OpaqueProperties properties, RegionRange,
                                             SmallVectorImpl<Type> &types) {
  RankedTensorType src = tensorOperand(operands, 0);
  if (!src)
    return emitOptionalError(loc, "expand_dims needs a tensor");
  IntegerAttr axisAttr = properties.as<Properties *>()->axis;
  if (!axisAttr)
    return emitOptionalError(loc, "expand_dims needs an axis");
  int64_t axis = axisAttr.getInt();
  if (axis < 0 || axis > src.getRank()) // C1
    return emitOptionalError(loc, "axis ", axis, " is outside 0 .. ", src.getRank());
  SmallVector<int64_t> shape(src.getShape());
  shape.insert(shape.begin() + axis, 1);
  types.push_back(src.clone(shape));
  return success();
}

LogicalResult BroadcastOp::verify() {
  auto src = cast<RankedTensorType>(getSrc().getType());
  auto dst = cast<RankedTensorType>(getType());
  if (src.getRank() != dst.getRank()) // C1
    return emitOpError("source rank ")
           << src.getRank() << " and result rank " << dst.getRank() << " differ";
  for (auto [i, s, d] : llvm::enumerate(src.getShape(), dst.getShape()))
    if (s != d && s != 1) // C2
      return emitOpError("dimension ") << i << " is " << s << " in the source and " << d
                                       << " in the result; only 1 can be broadcast";
  return success();
}

void ReshapeOp::build(OpBuilder &builder, OperationState &state, ArrayRef<int64_t> shape, Value src,
                      bool allowReorder) {
  auto type = cast<RankedTensorType>(src.getType());
  build(builder, state, type.clone(shape), src, allowReorder, /*efficient_layout=*/false);
}
LogicalResult ReshapeOp::verify() {
  int64_t src = cast<RankedTensorType>(getSrc().getType()).getNumElements();
  int64_t dst = cast<RankedTensorType>(getType()).getNumElements();
  if (src != dst) // C1
    return emitOpError("number of elements must not change: ") << src << " to " << dst;
  return success();
}

static LogicalResult checkPermutation(ArrayRef<int32_t> order, int64_t rank) {
  if ((int64_t)order.size() != rank)
    return failure();
  llvm::SmallBitVector seen(rank);
  for (int32_t dim : order) {
    if (dim < 0 || dim >= rank || seen.test(dim))
      return failure();
    seen.set(dim);
  }
  return success();
}

LogicalResult TransOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                                        ValueRange operands, DictionaryAttr,
                                        OpaqueProperties properties, RegionRange,
                                        SmallVectorImpl<Type> &types) {
  RankedTensorType src = tensorOperand(operands, 0);
  if (!src)
    return emitOptionalError(loc, "trans needs a tensor");
  DenseI32ArrayAttr orderAttr = properties.as<Properties *>()->order;
  if (!orderAttr)
    return emitOptionalError(loc, "trans needs an order");
  ArrayRef<int32_t> order = orderAttr.asArrayRef();
  if (failed(checkPermutation(order, src.getRank()))) // C1
    return emitOptionalError(loc, "order must be a permutation of the ", src.getRank(),
                             " source dimensions");
  SmallVector<int64_t> shape;
  for (int32_t dim : order)
    shape.push_back(src.getShape()[dim]);
  types.push_back(src.clone(shape));
  return success();
}
LogicalResult TransOp::verify() {
  if (failed(checkPermutation(getOrder(), cast<RankedTensorType>(getSrc().getType()).getRank())))
    return emitOpError("order must be a permutation of the source dimensions");
  return success();
}

void JoinOp::build(OpBuilder &builder, OperationState &state, Value lhs, Value rhs) {
  auto type = cast<RankedTensorType>(lhs.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.push_back(2);
  build(builder, state, type.clone(shape), lhs, rhs);
}
LogicalResult JoinOp::verify() {
  auto src = cast<RankedTensorType>(getLhs().getType());
  SmallVector<int64_t> shape(src.getShape());
  shape.push_back(2);
  if (getType() != src.clone(shape)) // C1
    return emitOpError("result must be ") << src.clone(shape) << ", but is " << getType();
  return success();
}

LogicalResult SplitOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                                        ValueRange operands, DictionaryAttr, OpaqueProperties,
                                        RegionRange, SmallVectorImpl<Type> &types) {
  RankedTensorType src = tensorOperand(operands, 0);
  if (!src || src.getRank() == 0 || src.getShape().back() != 2) // C1
    return emitOptionalError(loc, "split needs a tensor whose last dimension is 2");
  types.append(2, src.clone(src.getShape().drop_back()));
  return success();
}

LogicalResult CatOp::verify() {
  auto src = cast<RankedTensorType>(getLhs().getType());
  if (src.getRank() == 0)
    return emitOpError("operands must have a dimension");
  SmallVector<int64_t> shape(src.getShape());
  shape[0] *= 2;
  if (getType() != src.clone(shape)) // C1
    return emitOpError("result must be ") << src.clone(shape) << ", but is " << getType();
  return success();
}

LogicalResult GatherOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                                         ValueRange operands, DictionaryAttr, OpaqueProperties,
                                         RegionRange, SmallVectorImpl<Type> &types) {
  RankedTensorType src = tensorOperand(operands, 0), indices = tensorOperand(operands, 1);
  if (!src || !indices)
    return emitOptionalError(loc, "gather needs two tensors");
  types.push_back(indices.clone(src.getElementType()));
  return success();
}
LogicalResult GatherOp::verify() {
  auto src = cast<RankedTensorType>(getSrc().getType());
  auto indices = cast<RankedTensorType>(getIndices().getType());
  if (src.getRank() != indices.getRank()) // C1
    return emitOpError("source rank ")
           << src.getRank() << " and index rank " << indices.getRank() << " differ";
  int64_t axis = static_cast<int32_t>(getAxis());
  if (axis < 0 || axis >= src.getRank()) // C2
    return emitOpError("axis ") << axis << " is outside the rank " << src.getRank();
  for (auto [i, s, d] : llvm::enumerate(src.getShape(), indices.getShape()))
    if ((int64_t)i != axis && s != d) // C3
      return emitOpError("dimension ")
             << i << " of the indices (" << d << ") must match the source (" << s << ")";
  return success();
}

LogicalResult HistogramOp::verify() {
  if (cast<RankedTensorType>(getType()).getRank() != 1) // C1
    return emitOpError("result must have rank 1, but is ") << getType();
  return success();
}

//===-- dots -------------------------------------------------------------===//

LogicalResult DotOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                                      ValueRange operands, DictionaryAttr, OpaqueProperties,
                                      RegionRange, SmallVectorImpl<Type> &types) {
  RankedTensorType acc = tensorOperand(operands, 2);
  if (!acc)
    return emitOptionalError(loc, "dot needs an accumulator tensor");
  types.push_back(acc);
  return success();
}

LogicalResult DotOp::verify() {
  auto a = cast<RankedTensorType>(getA().getType()), b = cast<RankedTensorType>(getB().getType());
  auto c = cast<RankedTensorType>(getC().getType());
  int64_t rank = c.getRank();
  if ((rank != 2 && rank != 3) || a.getRank() != rank || b.getRank() != rank) // C1
    return emitOpError("operands must all have rank 2 or all rank 3, but have ")
           << a.getRank() << ", " << b.getRank() << " and " << rank;
  ArrayRef<int64_t> as = a.getShape(), bs = b.getShape(), cs = c.getShape();
  bool batch = rank == 2 || (as[0] == bs[0] && as[0] == cs[0]);
  if (!batch || as[rank - 1] != bs[rank - 2] || as[rank - 2] != cs[rank - 2] ||
      bs[rank - 1] != cs[rank - 1]) // C2
    return emitOpError("shapes do not fit MxK * KxN -> MxN: ") << a << ", " << b << ", " << c;
  if (a.getElementTypeBitWidth() != b.getElementTypeBitWidth()) // C3
    return emitOpError("element types of operands A and B must have same bit width, but are ")
           << a.getElementType() << " and " << b.getElementType();
  return success();
}

namespace {
/// One operand of dot_scaled with its packing undone: outer is M for a and N for b.
struct ScaledOperand {
  int64_t outer, k;
};
} // namespace

static ScaledOperand unpack(RankedTensorType type, bool isB, ScaleDotElemType format, bool kPack) {
  int64_t rank = type.getRank();
  ScaledOperand result{type.getShape()[isB ? rank - 1 : rank - 2],
                       type.getShape()[isB ? rank - 2 : rank - 1]};
  if (format == ScaleDotElemType::E2M1)
    (kPack ? result.k : result.outer) *= 2;
  return result;
}

static LogicalResult verifyScale(DotScaledOp op, Value scale, StringRef name,
                                 ScaledOperand operand) {
  if (!scale)
    return success();
  auto type = cast<RankedTensorType>(scale.getType());
  int64_t rank = cast<RankedTensorType>(op.getC().getType()).getRank();
  int64_t factor = isa<Float8E4M3FNType>(type.getElementType()) ? 16 : 32;
  if (type.getRank() != rank || type.getShape()[rank - 2] != operand.outer ||
      type.getShape()[rank - 1] * factor != operand.k) // C3
    return op.emitOpError() << name << " must be " << operand.outer << "x" << operand.k / factor
                            << ", but is " << type;
  return success();
}

LogicalResult DotScaledOp::verify() {
  auto a = cast<RankedTensorType>(getA().getType()), b = cast<RankedTensorType>(getB().getType());
  auto c = cast<RankedTensorType>(getC().getType());
  int64_t rank = c.getRank();
  if ((rank != 2 && rank != 3) || a.getRank() != rank || b.getRank() != rank) // C1
    return emitOpError("operands must all have rank 2 or all rank 3, but have ")
           << a.getRank() << ", " << b.getRank() << " and " << rank;
  if (rank == 3 && (a.getShape()[0] != c.getShape()[0] || b.getShape()[0] != c.getShape()[0]))
    return emitOpError("batch dimensions differ: ") << a << ", " << b << ", " << c;
  if ((!getLhsKPack() && getAElemType() != ScaleDotElemType::E2M1) ||
      (!getRhsKPack() && getBElemType() != ScaleDotElemType::E2M1)) // C4
    return emitOpError("only e2m1 operands can be packed along M or N");
  ScaledOperand lhs = unpack(a, false, getAElemType(), getLhsKPack());
  ScaledOperand rhs = unpack(b, true, getBElemType(), getRhsKPack());
  if (lhs.k != rhs.k || lhs.outer != c.getShape()[rank - 2] || rhs.outer != c.getShape()[rank - 1])
    return emitOpError("unpacked shapes do not fit MxK * KxN -> MxN: ")
           << lhs.outer << "x" << lhs.k << ", " << rhs.k << "x" << rhs.outer << ", " << c; // C2
  if (failed(verifyScale(*this, getAScale(), "a_scale", lhs)))
    return failure();
  return verifyScale(*this, getBScale(), "b_scale", rhs);
}

//===-- region ops -------------------------------------------------------===//

LogicalResult ReduceOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                                         ValueRange operands, DictionaryAttr,
                                         OpaqueProperties properties, RegionRange,
                                         SmallVectorImpl<Type> &types) {
  IntegerAttr axisAttr = properties.as<Properties *>()->axis;
  if (!axisAttr)
    return emitOptionalError(loc, "reduce needs an axis");
  int64_t axis = axisAttr.getInt();
  for (unsigned i = 0; i < operands.size(); ++i) {
    RankedTensorType src = tensorOperand(operands, i);
    if (!src || axis < 0 || axis >= src.getRank()) // C2
      return emitOptionalError(loc, "axis ", axis, " is outside the rank of operand ", i);
    SmallVector<int64_t> shape(src.getShape());
    shape.erase(shape.begin() + axis);
    types.push_back(shape.empty() ? src.getElementType() : Type(src.clone(shape)));
  }
  return success();
}

LogicalResult ScanOp::inferReturnTypes(MLIRContext *, std::optional<Location>, ValueRange operands,
                                       DictionaryAttr, OpaqueProperties, RegionRange,
                                       SmallVectorImpl<Type> &types) {
  llvm::append_range(types, operands.getTypes());
  return success();
}

void ReduceOp::build(OpBuilder &builder, OperationState &state, ValueRange srcs, int axis) {
  SmallVector<Type> types;
  for (Value src : srcs) {
    auto type = cast<RankedTensorType>(src.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape.erase(shape.begin() + axis);
    types.push_back(shape.empty() ? type.getElementType() : Type(type.clone(shape)));
  }
  build(builder, state, types, srcs, axis);
}

void ScanOp::build(OpBuilder &builder, OperationState &state, ValueRange srcs, int axis,
                   bool reverse) {
  SmallVector<Type> types(srcs.getTypes());
  build(builder, state, types, srcs, axis, reverse);
}

template <typename OpTy> static LogicalResult verifyAxis(OpTy op) {
  if (op.getSrcs().empty()) // C1
    return op.emitOpError("needs at least one source");
  int64_t axis = static_cast<int32_t>(op.getAxis());
  for (Value src : op.getSrcs()) {
    int64_t rank = cast<RankedTensorType>(src.getType()).getRank();
    if (axis < 0 || axis >= rank) // C2
      return op.emitOpError("axis ") << axis << " is outside the rank " << rank;
  }
  return success();
}

template <typename OpTy, typename ReturnTy>
static LogicalResult verifyCombine(OpTy op, Region &region) { // C3
  Block &block = region.front();
  unsigned n = op.getSrcs().size();
  if (block.getNumArguments() != 2 * n)
    return op.emitOpError("combine region must take ")
           << 2 * n << " arguments, but takes " << block.getNumArguments();
  auto ret = block.empty() ? ReturnTy() : dyn_cast<ReturnTy>(block.back());
  if (!ret || ret.getNumOperands() != n)
    return op.emitOpError("combine region must return ")
           << n << " values with " << ReturnTy::getOperationName();
  for (unsigned i = 0; i < n; ++i) {
    Type element = getElementTypeOrSelf(op.getSrcs()[i].getType());
    if (block.getArgument(i).getType() != element ||
        block.getArgument(n + i).getType() != element || ret.getOperand(i).getType() != element)
      return op.emitOpError("combine region must take and return ")
             << element << " for operand " << i;
  }
  return success();
}

LogicalResult ReduceOp::verify() { return verifyAxis(*this); }
LogicalResult ReduceOp::verifyRegions() {
  return verifyCombine<ReduceOp, ReduceReturnOp>(*this, getCombineOp());
}
LogicalResult ScanOp::verify() { return verifyAxis(*this); }
LogicalResult ScanOp::verifyRegions() {
  return verifyCombine<ScanOp, ScanReturnOp>(*this, getCombineOp());
}

static Operation *singleCombiner(Region &region) {
  Block &block = region.front();
  if (block.getNumArguments() != 2)
    return nullptr;
  Operation *ret = block.getTerminator();
  Operation *op = ret->getNumOperands() == 1 ? ret->getOperand(0).getDefiningOp() : nullptr;
  if (!op || op->getBlock() != &block || op->getNumOperands() != 2 ||
      op->getOperand(0) != block.getArgument(0) || op->getOperand(1) != block.getArgument(1))
    return nullptr;
  return op;
}
Operation *ReduceOp::getSingleCombiner() { return singleCombiner(getCombineOp()); }
Operation *ScanOp::getSingleCombiner() { return singleCombiner(getCombineOp()); }

LogicalResult MapElementwiseOp::verify() {
  int64_t pack = static_cast<int32_t>(getPack());
  if (pack <= 0 || (pack & (pack - 1)) != 0) // C1
    return emitOpError("pack must be a positive power of two, but is ") << pack;
  if (getSrcs().empty())
    return emitOpError("needs at least one source");
  if (cast<RankedTensorType>(getSrcs()[0].getType()).getNumElements() % pack != 0)
    return emitOpError("element count must be a multiple of pack ") << pack;
  return success();
}

LogicalResult MapElementwiseOp::verifyRegions() {
  unsigned pack = getPack();
  if (getScalarOp().empty())
    return emitOpError("needs a body");
  Block &entry = getScalarOp().front();
  if (entry.getNumArguments() != getSrcs().size() * pack) // C2
    return emitOpError("entry block must take ")
           << getSrcs().size() * pack << " arguments, but takes " << entry.getNumArguments();
  for (auto [i, arg] : llvm::enumerate(entry.getArguments()))
    if (arg.getType() != getElementTypeOrSelf(getSrcs()[i / pack].getType()))
      return emitOpError("entry argument ") << i << " has type " << arg.getType();
  for (Block &block : getScalarOp())
    if (auto ret = dyn_cast<MapElementwiseReturnOp>(block.empty() ? nullptr : &block.back())) {
      if (ret.getNumOperands() != getNumResults() * pack)
        return emitOpError("region must return ")
               << getNumResults() * pack << " values, but returns " << ret.getNumOperands();
      for (auto [i, type] : llvm::enumerate(ret.getOperandTypes()))
        if (type != getElementTypeOrSelf(getResult()[i / pack].getType()))
          return emitOpError("returned value ") << i << " has type " << type;
    }
  WalkResult walk = getScalarOp().walk([&](Operation *op) { // C3
    auto effects = dyn_cast<MemoryEffectOpInterface>(op);
    if (!effects || !effects.hasEffect<MemoryEffects::Write>())
      return WalkResult::advance();
    op->emitOpError("writes memory inside tt.map_elementwise, which is not allowed");
    return WalkResult::interrupt();
  });
  return failure(walk.wasInterrupted());
}
