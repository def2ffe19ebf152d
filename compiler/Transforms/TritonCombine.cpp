// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Peephole rewrites of Triton IR. What stock Triton's pass of the same name does
// besides, and why it is absent here, is in the pass text.
#include "compiler/Dialect/Ascend/Ascend.h"
#include "compiler/Dialect/Triton/Triton.h"
#include "compiler/Transforms/Passes.h"

namespace piton {
#define GEN_PASS_DEF_TRITONCOMBINEPASS
#include "compiler/Transforms/Passes.h.inc"
} // namespace piton

#define DEBUG_TYPE "triton-combine"

using namespace mlir;

namespace {

/// The scalar that fills `value`: of a constant splat, or of a tt.splat of a constant.
TypedAttr getConstantFill(Value value) {
  if (auto splat = value.getDefiningOp<triton::SplatOp>())
    value = splat.getSrc();
  Attribute attr;
  if (!matchPattern(value, m_Constant(&attr)))
    return {};
  if (auto dense = dyn_cast<DenseElementsAttr>(attr)) {
    if (!dense.isSplat())
      return {};
    return dyn_cast<TypedAttr>(dense.getSplatValue<Attribute>());
  }
  return dyn_cast<TypedAttr>(attr);
}

bool isZeroFill(Value value) {
  TypedAttr fill = getConstantFill(value);
  if (auto integer = dyn_cast_or_null<IntegerAttr>(fill))
    return integer.getValue().isZero();
  // Negative zero counts: x + (-0) and x + 0 differ only for x = -0, where the sum of a
  // dot is +0 or -0 by the order of its terms anyway.
  if (auto number = dyn_cast_or_null<FloatAttr>(fill))
    return number.getValue().isZero();
  return false;
}

/// add(dot(a, b, 0), c), in either order -> dot(a, b, c).
template <typename AddOp> struct AddIntoDot : OpRewritePattern<AddOp> {
  using OpRewritePattern<AddOp>::OpRewritePattern;

  LogicalResult matchAndRewrite(AddOp add, PatternRewriter &rewriter) const override {
    for (auto [dotSide, other] :
         {std::pair(add.getLhs(), add.getRhs()), std::pair(add.getRhs(), add.getLhs())}) {
      auto dot = dotSide.template getDefiningOp<triton::DotOp>();
      if (!dot || !dot->hasOneUse() || !isZeroFill(dot.getC()))
        continue;
      if (std::is_same_v<AddOp, arith::AddFOp> && dot.getMaxNumImpreciseAcc() != 0)
        continue;
      // The dot moves down to the addition, where the addend is known to be defined.
      auto merged =
          triton::DotOp::create(rewriter, dot.getLoc(), dot.getType(), dot.getA(), dot.getB(),
                                other, dot.getInputPrecision(), dot.getMaxNumImpreciseAcc());
      merged->setDiscardableAttrs(dot->getDiscardableAttrDictionary());
      rewriter.replaceOp(add, merged);
      return success();
    }
    return rewriter.notifyMatchFailure(add, "no side is a dot with a zero accumulator");
  }
};

/// addptr(addptr(p, i), j) -> addptr(p, i + j).
struct CombineAddPtr : OpRewritePattern<triton::AddPtrOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(triton::AddPtrOp outer, PatternRewriter &rewriter) const override {
    auto inner = outer.getPtr().getDefiningOp<triton::AddPtrOp>();
    if (!inner)
      return rewriter.notifyMatchFailure(outer, "pointer is not the result of an addptr");
    Value i = inner.getOffset(), j = outer.getOffset();
    if (i.getType() != j.getType())
      return rewriter.notifyMatchFailure(outer, "offset types differ");
    if (!getElementTypeOrSelf(i.getType()).isInteger(64) && !constantSumFits(i, j))
      return rewriter.notifyMatchFailure(outer, "the sum of the offsets might wrap");
    auto sum = arith::AddIOp::create(rewriter, outer.getLoc(), i, j);
    auto combined =
        triton::AddPtrOp::create(rewriter, outer.getLoc(), outer.getType(), inner.getPtr(), sum);
    for (StringRef hint : {"tt.divisibility", "tt.contiguity", "tt.constancy"})
      if (Attribute attr = outer->getDiscardableAttr(hint))
        combined->setDiscardableAttr(hint, attr);
    rewriter.replaceOp(outer, combined);
    return success();
  }

  static bool constantSumFits(Value i, Value j) {
    auto a = dyn_cast_or_null<IntegerAttr>(getConstantFill(i));
    auto b = dyn_cast_or_null<IntegerAttr>(getConstantFill(j));
    if (!a || !b)
      return false;
    bool overflow = false;
    (void)a.getValue().sadd_ov(b.getValue(), overflow);
    return !overflow;
  }
};

/// select(c, load(p, splat(c), _), v) -> load(p, splat(c), v) for a scalar c.
struct SelectIntoLoad : OpRewritePattern<arith::SelectOp> {
  using OpRewritePattern::OpRewritePattern;

  /// Whether `value`, which some user of `op` can see, is defined when `op` runs.
  static bool isDefinedBefore(Value value, Operation *op) {
    Region *region = value.getParentRegion();
    Block *block = value.getParentBlock();
    if (block == op->getBlock())
      return !value.getDefiningOp() || value.getDefiningOp()->isBeforeInBlock(op);
    return region->isProperAncestor(op->getParentRegion());
  }

  LogicalResult matchAndRewrite(arith::SelectOp select, PatternRewriter &rewriter) const override {
    auto load = select.getTrueValue().getDefiningOp<triton::LoadOp>();
    if (!load || !load.getMask() || !select.getCondition().getType().isInteger(1))
      return rewriter.notifyMatchFailure(select, "no masked load under a scalar select");
    Value mask = load.getMask();
    auto splat = mask.getDefiningOp<triton::SplatOp>();
    if (mask != select.getCondition() && (!splat || splat.getSrc() != select.getCondition()))
      return rewriter.notifyMatchFailure(select, "the load's mask is not the condition");
    if (!load->hasOneUse())
      return rewriter.notifyMatchFailure(select, "the load has other uses and would be repeated");
    // In place, at the load's own position in memory order; the false value must exist there.
    if (!isDefinedBefore(select.getFalseValue(), load))
      return rewriter.notifyMatchFailure(select, "the false value may not exist at the load");
    rewriter.modifyOpInPlace(load, [&] { load.getOtherMutable().assign(select.getFalseValue()); });
    rewriter.replaceOp(select, load);
    return success();
  }
};

/// reshape(descriptor_load) that drops leading unit dimensions -> a load of lower rank.
struct ReshapeOfDescriptorLoad : OpRewritePattern<triton::ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(triton::ReshapeOp reshape,
                                PatternRewriter &rewriter) const override {
    auto load = reshape.getSrc().getDefiningOp<triton::DescriptorLoadOp>();
    if (!load || !load->hasOneUse())
      return rewriter.notifyMatchFailure(reshape, "source is not a descriptor load of one use");
    ArrayRef<int64_t> from = load.getType().getShape(), to = reshape.getType().getShape();
    if (to.size() >= from.size() || to != from.take_back(to.size()) ||
        !llvm::all_of(from.drop_back(to.size()), [](int64_t dim) { return dim == 1; }))
      return rewriter.notifyMatchFailure(reshape, "drops more than leading unit dimensions");
    rewriter.modifyOpInPlace(load, [&] { load.getResult().setType(reshape.getType()); });
    rewriter.replaceOp(reshape, load);
    return success();
  }
};

/// The dimension along which `other` holds the exclusive or of both elements of `value`, or -1.
int64_t pairDimension(Value value, Value other) {
  auto broadcast = other.getDefiningOp<triton::BroadcastOp>();
  auto expand = broadcast ? broadcast.getSrc().getDefiningOp<triton::ExpandDimsOp>() : nullptr;
  auto reduce = expand ? expand.getSrc().getDefiningOp<triton::ReduceOp>() : nullptr;
  if (!reduce || reduce.getSrcs().size() != 1 || reduce.getSrcs().front() != value ||
      reduce.getAxis() != expand.getAxis())
    return -1;
  int64_t dim = reduce.getAxis();
  Block &body = reduce->getRegion(0).front();
  auto combiner = dyn_cast<arith::XOrIOp>(body.front());
  bool takesBoth = combiner && combiner->getNextNode() == body.getTerminator() &&
                   combiner.getLhs() != combiner.getRhs() &&
                   llvm::all_of(combiner->getOperands(),
                                [&](Value operand) {
                                  auto argument = dyn_cast<BlockArgument>(operand);
                                  return argument && argument.getOwner() == &body;
                                }) &&
                   body.getTerminator()->getOperand(0) == combiner.getResult();
  return takesBoth && cast<RankedTensorType>(value.getType()).getDimSize(dim) == 2 ? dim : -1;
}

/// x ^ (x0 ^ x1) along a dimension of two elements -> the elements change places. Triton's
/// library spells tl.flip and the exchanges of tl.sort so.
struct ExchangeOfPairs : OpRewritePattern<arith::XOrIOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::XOrIOp op, PatternRewriter &rewriter) const override {
    for (auto [value, other] :
         {std::pair(op.getLhs(), op.getRhs()), std::pair(op.getRhs(), op.getLhs())}) {
      int64_t dim = pairDimension(value, other);
      if (dim < 0)
        continue;
      rewriter.replaceOpWithNewOp<triton::ascend::FlipOp>(op, value, dim);
      return success();
    }
    return rewriter.notifyMatchFailure(op, "no exchange of two elements");
  }
};

/// reshape(flips(reshape(x))), where the first reshape splits one dimension into several and
/// each of them is flipped once -> a flip of that dimension.
struct FlipOfPieces : OpRewritePattern<triton::ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(triton::ReshapeOp last, PatternRewriter &rewriter) const override {
    Value value = last.getSrc();
    llvm::SmallBitVector flipped(last.getSrc().getType().getRank());
    while (auto flip = value.getDefiningOp<triton::ascend::FlipOp>()) {
      if (flipped.test(flip.getDim()))
        return rewriter.notifyMatchFailure(last, "a dimension is flipped twice");
      flipped.set(flip.getDim());
      value = flip.getSrc();
    }
    auto first = value.getDefiningOp<triton::ReshapeOp>();
    if (!first || flipped.none() || first.getSrc().getType() != last.getType())
      return rewriter.notifyMatchFailure(last, "no flips between two reshapes");
    ArrayRef<int64_t> whole = last.getType().getShape(), split = first.getType().getShape();
    int64_t dim = flipped.find_first(), end = flipped.find_last() + 1;
    // The pieces lie side by side, and all else is as it was.
    int64_t behind = split.size() - end;
    bool isOneDimension = flipped.count() == static_cast<size_t>(end - dim) &&
                          static_cast<int64_t>(whole.size()) == dim + 1 + behind &&
                          whole.take_front(dim) == split.take_front(dim) &&
                          whole.take_back(behind) == split.take_back(behind);
    if (!isOneDimension || first.getAllowReorder() || last.getAllowReorder())
      return rewriter.notifyMatchFailure(last, "the flips do not make one dimension");
    rewriter.replaceOpWithNewOp<triton::ascend::FlipOp>(last, first.getSrc(), dim);
    return success();
  }
};

struct TritonCombine : piton::impl::TritonCombinePassBase<TritonCombine> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<AddIntoDot<arith::AddFOp>, AddIntoDot<arith::AddIOp>, CombineAddPtr,
                 SelectIntoLoad, ReshapeOfDescriptorLoad, ExchangeOfPairs, FlipOfPieces>(
        &getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
