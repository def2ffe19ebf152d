// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Splitting: the pieces of the address and of every comparison in the mask are
// refined against each other to one list of sizes a dimension; address and mask are
// rebuilt in that shape, everything else is reshaped to it.
#include "compiler/Transforms/SplitAccess.h"

#include "compiler/Analysis/AddressAnalysis.h"
#include "compiler/Analysis/LaneAnalysis.h"
#include "compiler/Dialect/Triton/Triton.h"
#include "compiler/Transforms/AccessLoops.h"
#include "compiler/Transforms/AccessUtils.h"
#include "compiler/Transforms/ValueSlicer.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace piton {
namespace {

class AccessSplitter {
public:
  explicit AccessSplitter(Operation *access)
      : access(access), loc(access->getLoc()), builder(access) {}

  Operation *run() {
    auto type = dyn_cast<RankedTensorType>(pointerOf(access).getType());
    if (!type || !type.hasStaticShape() || type.getNumElements() == 0)
      return access;
    const LaneForm &form = lanes.of(pointerOf(access));
    if (!form.opaque.empty() ||
        (form.baseKind != LaneForm::Base::Pointer && form.baseKind != LaneForm::Base::Address))
      return access;
    sizes.clear();
    for (int64_t size : type.getShape())
      sizes.push_back({Piece{size, 0}});
    SmallVector<int> identity(llvm::to_vector(llvm::seq<int>(type.getRank())));
    if (!narrow(form, identity))
      return access;
    if (Value mask = maskOf(access))
      narrowByMask(mask, identity);
    if (llvm::all_of(sizes, [](auto &pieces) { return pieces.size() == 1; }))
      return access;
    return rebuild(form, type, identity);
  }

private:
  //===-- the common sizes ------------------------------------------------===//

  /// Refines the sizes by the pieces of `form`, whose dimension k is dimension dims[k] here.
  bool narrow(const LaneForm &form, ArrayRef<int> dims) {
    auto next = sizes;
    for (auto [index, dim] : llvm::enumerate(dims)) {
      if (form.dims[index].empty())
        continue;
      SmallVector<Piece, 1> pieces(form.dims[index]);
      if (dim < 0 || !refine(next[dim], pieces))
        return false;
    }
    sizes = next;
    return true;
  }

  /// Refines the sizes by the comparisons of `mask` that can be rebuilt.
  void narrowByMask(Value mask, ArrayRef<int> dims) {
    Operation *op = mask.getDefiningOp();
    if (!op)
      return;
    if (isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op)) {
      narrowByMask(op->getOperand(0), dims);
      narrowByMask(op->getOperand(1), dims);
    } else if (auto expand = dyn_cast<triton::ExpandDimsOp>(op)) {
      SmallVector<int> inner(dims);
      inner.erase(inner.begin() + expand.getAxis());
      narrowByMask(expand.getSrc(), inner);
    } else if (isa<triton::BroadcastOp>(op)) {
      narrowByMask(op->getOperand(0), dims);
    } else if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
      for (Value side : {compare.getLhs(), compare.getRhs()}) {
        const LaneForm &form = lanes.of(side);
        bool split = llvm::any_of(form.dims, [](auto &pieces) { return pieces.size() > 1; });
        if (split && isAffine(form))
          narrow(form, dims);
      }
    }
  }

  static bool isAffine(const LaneForm &form) {
    return form.opaque.empty() && form.baseKind == LaneForm::Base::None;
  }

  //===-- rebuilding ------------------------------------------------------===//

  /// The split shape of a value of `shape` whose dimension k is dimension dims[k].
  SmallVector<int64_t> splitShape(ArrayRef<int64_t> shape, ArrayRef<int> dims) {
    SmallVector<int64_t> result;
    for (auto [size, dim] : llvm::zip(shape, dims))
      for (const Piece &piece : sizes[dim])
        result.push_back(size == 1 ? 1 : piece.size);
    return result;
  }

  /// The strides of `form` in the split shape, or nothing where its pieces do not nest.
  std::optional<SmallVector<Expr>> splitStrides(const LaneForm &form, ArrayRef<int> dims) {
    SmallVector<Expr> strides;
    for (auto [index, dim] : llvm::enumerate(dims)) {
      if (form.dims[index].empty()) {
        strides.append(sizes[dim].size(), 0);
        continue;
      }
      SmallVector<Piece, 1> pieces(form.dims[index]), common(sizes[dim]);
      if (!refine(common, pieces) || common.size() != sizes[dim].size())
        return std::nullopt;
      for (const Piece &piece : pieces)
        strides.push_back(piece.stride);
    }
    return strides;
  }

  SmallVector<OpFoldResult> materialize(ArrayRef<Expr> exprs) {
    return llvm::map_to_vector(exprs, [&](const Expr &expr) {
      return lanes.expressions().materialize(builder, loc, expr);
    });
  }

  Value reshape(Value value, ArrayRef<int64_t> shape) {
    auto type = RankedTensorType::get(shape, getElementTypeOrSelf(value.getType()));
    if (value.getType() == type)
      return value;
    return builder.createOrFold<triton::ReshapeOp>(loc, type, value, UnitAttr(), UnitAttr());
  }

  /// An i64 tensor of the lanes of `value` in the split shape, if they are affine.
  Value splitInteger(Value value, ArrayRef<int> dims) {
    const LaneForm &form = lanes.of(value);
    auto type = cast<RankedTensorType>(value.getType());
    if (!isAffine(form))
      return {};
    std::optional<SmallVector<Expr>> strides = splitStrides(form, dims);
    if (!strides)
      return {};
    SmallVector<int64_t> shape = splitShape(type.getShape(), dims);
    Value offset = toI64(builder, loc, lanes.expressions().materialize(builder, loc, form.offset));
    Value result = splatTo(builder, loc, offset, shape);
    if (Value offsets = buildOffsets(builder, loc, materialize(*strides), shape))
      result = builder.createOrFold<arith::AddIOp>(loc, result, offsets);
    return result;
  }

  /// `mask` (or a part of it) in the split shape.
  Value splitMask(Value mask, ArrayRef<int> dims) {
    Operation *op = mask.getDefiningOp();
    auto type = cast<RankedTensorType>(mask.getType());
    SmallVector<int64_t> shape = splitShape(type.getShape(), dims);
    if (isa_and_nonnull<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op)) {
      Value a = splitMask(op->getOperand(0), dims), b = splitMask(op->getOperand(1), dims);
      OperationState state(loc, op->getName(), ValueRange{a, b}, a.getType());
      return builder.create(state)->getResult(0);
    }
    if (auto expand = dyn_cast_or_null<triton::ExpandDimsOp>(op)) {
      SmallVector<int> inner(dims);
      inner.erase(inner.begin() + expand.getAxis());
      return reshape(splitMask(expand.getSrc(), inner), shape);
    }
    if (auto broadcast = dyn_cast_or_null<triton::BroadcastOp>(op))
      return broadcastTo(builder, loc, splitMask(broadcast.getSrc(), dims), shape);
    auto compare = dyn_cast_or_null<arith::CmpIOp>(op);
    if (compare && isExact(compare)) {
      Value a = splitInteger(compare.getLhs(), dims), b = splitInteger(compare.getRhs(), dims);
      if (a && b)
        return arith::CmpIOp::create(builder, loc, compare.getPredicate(), a, b);
    }
    return reshape(mask, shape);
  }

  /// True when comparing the lanes as i64 gives what comparing them in their own type does.
  bool isExact(arith::CmpIOp compare) {
    using P = arith::CmpIPredicate;
    P predicate = compare.getPredicate();
    bool isUnsigned =
        predicate == P::ult || predicate == P::ule || predicate == P::ugt || predicate == P::uge;
    return !isUnsigned || (lanes.range(lanes.of(compare.getLhs())).lo >= 0 &&
                           lanes.range(lanes.of(compare.getRhs())).lo >= 0);
  }

  Operation *rebuild(const LaneForm &form, RankedTensorType type, ArrayRef<int> dims) {
    std::optional<SmallVector<Expr>> strides = splitStrides(form, dims);
    if (!strides)
      return access;
    SmallVector<int64_t> shape = splitShape(type.getShape(), dims);
    Value base = materializeBase(lanes, form, type.getElementType(), builder, loc);
    OpFoldResult offset = lanes.expressions().materialize(builder, loc, form.offset);
    Value pointers = buildPointers(builder, loc, base, offset, materialize(*strides), shape);
    Value oldMask = maskOf(access);
    IRMapping mapping;
    mapping.map(pointerOf(access), pointers);
    if (oldMask)
      mapping.map(oldMask, splitMask(oldMask, dims));
    for (Value operand : access->getOperands())
      if (!mapping.contains(operand))
        mapping.map(operand, reshape(operand, shape));
    OperationState state(loc, access->getName());
    for (Value operand : access->getOperands())
      state.addOperands(mapping.lookup(operand));
    for (Type result : access->getResultTypes())
      state.addTypes(RankedTensorType::get(shape, getElementTypeOrSelf(result)));
    state.propertiesAttr = access->getPropertiesAsAttribute();
    state.addAttributes(access->getDiscardableAttrDictionary().getValue());
    Operation *split = builder.create(state);
    if (access->getNumResults())
      access->getResult(0).replaceAllUsesWith(reshape(split->getResult(0), type.getShape()));
    access->erase();
    return split;
  }

  Operation *access;
  Location loc;
  OpBuilder builder;
  LaneAnalysis lanes;
  SmallVector<SmallVector<Piece, 1>> sizes;
};

/// True when every lane of `value` is one scalar, visibly.
bool isSplat(Value value) {
  DenseElementsAttr attr;
  if (matchPattern(value, m_Constant(&attr)))
    return attr.isSplat();
  return value.getDefiningOp<triton::SplatOp>() != nullptr;
}

} // namespace

Operation *splitAccess(Operation *access) { return AccessSplitter(access).run(); }

void dropRepeatedLoads(Operation *access) {
  auto load = dyn_cast<triton::LoadOp>(access);
  auto type = load ? dyn_cast<RankedTensorType>(load.getPtr().getType()) : RankedTensorType();
  if (!type || !type.hasStaticShape() || load.getIsVolatile() || type.getNumElements() == 0)
    return;
  LaneAnalysis lanes;
  const LaneForm &form = lanes.of(load.getPtr());
  if (!form.isStructured())
    return;
  llvm::SmallBitVector varying = form.varyingDims();
  if (load.getMask())
    varying |= lanes.of(load.getMask()).varyingDims();
  bool repeats = false;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    repeats |= !varying.test(dim) && type.getDimSize(dim) > 1;
  if (!repeats)
    return;
  OpBuilder builder(load);
  Location loc = load.getLoc();
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  SmallVector<Value> at(type.getRank());
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (!varying.test(dim))
      at[dim] = zero;
  ValueSlicer slice(builder, loc, at);
  Value pointers = slice(load.getPtr());
  Value mask = load.getMask() ? slice(load.getMask()) : Value();
  bool keepsOther = load.getOther() && isSplat(load.getOther());
  Value other = keepsOther ? slice(load.getOther()) : Value();
  auto small =
      triton::LoadOp::create(builder, loc, triton::getPointeeTypeOf(pointers.getType()), pointers,
                             mask, other, builder.getDenseI32ArrayAttr({}),
                             triton::PaddingOptionAttr(), load.getCache(), load.getEvict(), false);
  small->setDiscardableAttrs(load->getDiscardableAttrDictionary());
  Value result = small;
  bool guard = mask && !isa<RankedTensorType>(result.getType());
  auto resultType = cast<RankedTensorType>(load.getType());
  if (isa<RankedTensorType>(result.getType())) {
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (at[dim])
        result = triton::ExpandDimsOp::create(builder, loc, result, dim);
    result = broadcastTo(builder, loc, result, resultType.getShape());
  } else {
    result = splatTo(builder, loc, result, resultType.getShape());
  }
  if (load.getOther() && !keepsOther)
    result = arith::SelectOp::create(builder, loc, load.getMask(), result, load.getOther());
  load.replaceAllUsesWith(result);
  load.erase();
  if (guard)
    rewriteAccess(small);
}

} // namespace piton
