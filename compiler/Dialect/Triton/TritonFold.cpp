// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folders and canonicalisations of the `tt` dialect. Each is one rule of the
// table in docs/dialects/triton.md and keeps values exactly.
#include "compiler/Dialect/Triton/Triton.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::triton;

/// A constant with one value in every lane, given a new shape; null otherwise.
static Attribute reshapeSplat(Attribute attr, Type type) {
  auto splat = dyn_cast_or_null<SplatElementsAttr>(attr);
  auto shaped = dyn_cast<ShapedType>(type);
  if (!splat || !shaped || !shaped.hasStaticShape())
    return {};
  return splat.resizeSplat(shaped);
}

OpFoldResult MakeRangeOp::fold(FoldAdaptor) {
  auto type = cast<RankedTensorType>(getType());
  if (type.getNumElements() != 1)
    return {};
  return SplatElementsAttr::get(type, APInt(32, getStart()));
}

OpFoldResult FpToFpOp::fold(FoldAdaptor adaptor) {
  if (getSrc().getType() == getType())
    return getSrc();
  // Only zeroes keep their meaning in every format and rounding.
  auto zero = [&](const APFloat &value) -> std::optional<APFloat> {
    if (!value.isZero())
      return std::nullopt;
    auto element = cast<FloatType>(getElementTypeOrSelf(getType()));
    return APFloat::getZero(element.getFloatSemantics(), value.isNegative());
  };
  if (auto value = dyn_cast_or_null<FloatAttr>(adaptor.getSrc())) {
    if (auto folded = zero(value.getValue()))
      return FloatAttr::get(getType(), *folded);
  } else if (auto splat = dyn_cast_or_null<SplatElementsAttr>(adaptor.getSrc())) {
    if (auto folded = zero(splat.getSplatValue<APFloat>()))
      return SplatElementsAttr::get(cast<ShapedType>(getType()), *folded);
  }
  return {};
}

OpFoldResult AddPtrOp::fold(FoldAdaptor adaptor) {
  return matchPattern(adaptor.getOffset(), m_Zero()) ? OpFoldResult(getPtr()) : OpFoldResult();
}

OpFoldResult AdvanceOp::fold(FoldAdaptor adaptor) {
  bool zero = llvm::all_of(adaptor.getOffsets(), [](Attribute offset) {
    auto value = dyn_cast_or_null<IntegerAttr>(offset);
    return value && value.getValue().isZero();
  });
  return zero ? OpFoldResult(getPtr()) : OpFoldResult();
}

OpFoldResult SplatOp::fold(FoldAdaptor adaptor) {
  if (!isa_and_nonnull<FloatAttr, IntegerAttr>(adaptor.getSrc()))
    return {};
  return SplatElementsAttr::get(cast<ShapedType>(getType()), {adaptor.getSrc()});
}

OpFoldResult ExpandDimsOp::fold(FoldAdaptor adaptor) {
  return reshapeSplat(adaptor.getSrc(), getType());
}

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (getSrc().getType() == getType())
    return getSrc();
  return reshapeSplat(adaptor.getSrc(), getType());
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getSrc().getType() == getType() && !getAllowReorder() && !getEfficientLayout())
    return getSrc();
  if (Attribute splat = reshapeSplat(adaptor.getSrc(), getType()))
    return splat;
  auto dense = dyn_cast_or_null<DenseElementsAttr>(adaptor.getSrc());
  return dense ? OpFoldResult(dense.reshape(cast<ShapedType>(getType()))) : OpFoldResult();
}

OpFoldResult TransOp::fold(FoldAdaptor adaptor) {
  bool identity = true;
  for (auto [i, dim] : llvm::enumerate(getOrder()))
    identity &= (int64_t)i == dim;
  if (identity)
    return getSrc();
  if (auto inner = getSrc().getDefiningOp<TransOp>()) {
    SmallVector<int32_t> order;
    for (int32_t dim : getOrder())
      order.push_back(inner.getOrder()[dim]);
    setOrder(order);
    setOperand(inner.getSrc());
    return getResult();
  }
  return reshapeSplat(adaptor.getSrc(), getType());
}

namespace {

/// A load or store whose mask is the same in every lane.
struct FoldLoadMask : OpRewritePattern<LoadOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(LoadOp op, PatternRewriter &rewriter) const override {
    DenseElementsAttr mask;
    if (!op.getMask() || !matchPattern(op.getMask(), m_Constant(&mask)) || !mask.isSplat())
      return rewriter.notifyMatchFailure(op, "mask is not a splat constant");
    if (mask.getSplatValue<bool>()) {
      rewriter.replaceOpWithNewOp<LoadOp>(
          op, op.getType(), op.getPtr(), Value(), Value(), op.getBoundaryCheckAttr(),
          op.getPaddingAttr(), op.getCacheAttr(), op.getEvictAttr(), op.getIsVolatileAttr());
      return success();
    }
    if (!op.getOther() || op.getIsVolatile())
      return rewriter.notifyMatchFailure(op, "masked-off lanes have no value");
    rewriter.replaceOp(op, op.getOther());
    return success();
  }
};

struct FoldStoreMask : OpRewritePattern<StoreOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(StoreOp op, PatternRewriter &rewriter) const override {
    DenseElementsAttr mask;
    if (!op.getMask() || !matchPattern(op.getMask(), m_Constant(&mask)) || !mask.isSplat())
      return rewriter.notifyMatchFailure(op, "mask is not a splat constant");
    if (!mask.getSplatValue<bool>()) {
      rewriter.eraseOp(op);
      return success();
    }
    rewriter.modifyOpInPlace(op, [&] { op.getMaskMutable().clear(); });
    return success();
  }
};

/// expand_dims and broadcast of a splat are splats; expand_dims goes below broadcast.
struct ExpandDimsOfSplat : OpRewritePattern<ExpandDimsOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ExpandDimsOp op, PatternRewriter &rewriter) const override {
    auto splat = op.getSrc().getDefiningOp<SplatOp>();
    if (!splat)
      return failure();
    rewriter.replaceOpWithNewOp<SplatOp>(op, op.getType(), splat.getSrc());
    return success();
  }
};

struct ExpandDimsOfBroadcast : OpRewritePattern<ExpandDimsOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ExpandDimsOp op, PatternRewriter &rewriter) const override {
    auto broadcast = op.getSrc().getDefiningOp<BroadcastOp>();
    if (!broadcast)
      return failure();
    auto expanded =
        ExpandDimsOp::create(rewriter, op.getLoc(), broadcast.getSrc(), op.getAxisAttr());
    rewriter.replaceOpWithNewOp<BroadcastOp>(op, op.getType(), expanded);
    return success();
  }
};

struct BroadcastOfSplat : OpRewritePattern<BroadcastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BroadcastOp op, PatternRewriter &rewriter) const override {
    if (auto splat = op.getSrc().getDefiningOp<SplatOp>()) {
      rewriter.replaceOpWithNewOp<SplatOp>(op, op.getType(), splat.getSrc());
      return success();
    }
    if (auto inner = op.getSrc().getDefiningOp<BroadcastOp>()) {
      rewriter.replaceOpWithNewOp<BroadcastOp>(op, op.getType(), inner.getSrc());
      return success();
    }
    return failure();
  }
};

struct SimplifyReshape : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    if (op.getEfficientLayout())
      return rewriter.notifyMatchFailure(op, "efficient_layout pins the reshape");
    if (auto splat = op.getSrc().getDefiningOp<SplatOp>()) {
      rewriter.replaceOpWithNewOp<SplatOp>(op, op.getType(), splat.getSrc());
      return success();
    }
    if (auto inner = op.getSrc().getDefiningOp<ReshapeOp>(); inner && !inner.getEfficientLayout()) {
      rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), inner.getSrc(),
                                             op.getAllowReorder() || inner.getAllowReorder(),
                                             /*efficient_layout=*/false);
      return success();
    }
    return failure();
  }
};

} // namespace

void LoadOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<FoldLoadMask>(context);
}
void StoreOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<FoldStoreMask>(context);
}
void ExpandDimsOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ExpandDimsOfSplat, ExpandDimsOfBroadcast>(context);
}
void BroadcastOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<BroadcastOfSplat>(context);
}
void ReshapeOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<SimplifyReshape>(context);
}
