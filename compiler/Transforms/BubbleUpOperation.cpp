// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Moves tensor.extract and tensor.extract_slice above the ops that make their tensor:
// inside the loops over lanes, vector address arithmetic becomes scalar arithmetic.
#include "compiler/Dialect/Triton/Triton.h"
#include "compiler/Transforms/Passes.h"
#include "compiler/Transforms/ValueSlicer.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace piton {
#define GEN_PASS_DEF_BUBBLEUPOPERATIONPASS
#include "compiler/Transforms/Passes.h.inc"

namespace {

/// True when a part of `producer`'s result can be computed from parts of its operands at a cost
/// not above that of the extract `user`.
bool isCrossable(Operation *producer, Operation *user, bool aggressive) {
  if (!producer || (!aggressive && !producer->hasOneUse()))
    return false;
  if (isa<triton::SplatOp, triton::BroadcastOp, triton::ExpandDimsOp, triton::MakeRangeOp,
          triton::TransOp>(producer))
    return true;
  if (isa<triton::ReshapeOp>(producer))
    return isa<tensor::ExtractOp>(user);
  if (!isSliceable(producer))
    return false;
  auto isInteger = [](Type type) {
    return isa<IntegerType, IndexType, triton::PointerType>(getElementTypeOrSelf(type));
  };
  bool integers = llvm::all_of(producer->getOperandTypes(), isInteger) &&
                  isInteger(producer->getResult(0).getType());
  // Float arithmetic belongs to the vector unit; repeating it lane by lane in a loop would cost
  // more than it saves. Where both run once, the lane is all that is needed.
  return integers || (producer->getBlock() == user->getBlock() && producer->hasOneUse());
}

/// Replaces `op`, which takes the part `at` of `tensor`, by that part of the producer's operands.
LogicalResult bubbleUp(Operation *op, Value tensor, ArrayRef<Value> at, bool aggressive,
                       PatternRewriter &rewriter) {
  if (!isCrossable(tensor.getDefiningOp(), op, aggressive))
    return failure();
  rewriter.setInsertionPoint(op);
  ValueSlicer slicer(rewriter, op->getLoc(), at,
                     [&](Operation *producer) { return isCrossable(producer, op, aggressive); });
  Value part = slicer(tensor);
  Type wanted = op->getResult(0).getType();
  if (part.getType() != wanted) {
    // The op kept unit dimensions that the part has dropped.
    auto type = cast<RankedTensorType>(wanted);
    if (isa<RankedTensorType>(part.getType()))
      part = triton::ReshapeOp::create(rewriter, op->getLoc(), type, part, false, false);
    else
      part = triton::SplatOp::create(rewriter, op->getLoc(), type, part);
  }
  rewriter.replaceOp(op, part);
  return success();
}

struct BubbleUpExtract : OpRewritePattern<tensor::ExtractOp> {
  BubbleUpExtract(MLIRContext *context, bool aggressive)
      : OpRewritePattern(context), aggressive(aggressive) {}

  LogicalResult matchAndRewrite(tensor::ExtractOp op, PatternRewriter &rewriter) const override {
    if (op.getTensor().getType().getRank() == 0)
      return failure();
    SmallVector<Value> at(op.getIndices());
    // A lane of a slice is a lane of its source.
    if (auto slice = op.getTensor().getDefiningOp<tensor::ExtractSliceOp>()) {
      llvm::SmallBitVector dropped = slice.getDroppedDims();
      SmallVector<Value> source;
      unsigned kept = 0;
      Location loc = op.getLoc();
      for (int64_t dim = 0; dim < slice.getSourceType().getRank(); ++dim) {
        Value offset = getValueOrCreateConstantIndexOp(rewriter, loc, slice.getMixedOffsets()[dim]);
        if (!dropped.test(dim)) {
          Value stride =
              getValueOrCreateConstantIndexOp(rewriter, loc, slice.getMixedStrides()[dim]);
          Value step = rewriter.createOrFold<arith::MulIOp>(loc, at[kept++], stride);
          offset = rewriter.createOrFold<arith::AddIOp>(loc, offset, step);
        }
        source.push_back(offset);
      }
      auto moved = rewriter.replaceOpWithNewOp<tensor::ExtractOp>(op, slice.getSource(), source);
      moved->setAttr(kDiscreteMemAccess, rewriter.getUnitAttr());
      return success();
    }
    return bubbleUp(op, op.getTensor(), at, aggressive, rewriter);
  }
  bool aggressive;
};

struct BubbleUpExtractSlice : OpRewritePattern<tensor::ExtractSliceOp> {
  BubbleUpExtractSlice(MLIRContext *context, bool aggressive)
      : OpRewritePattern(context), aggressive(aggressive) {}

  LogicalResult matchAndRewrite(tensor::ExtractSliceOp op,
                                PatternRewriter &rewriter) const override {
    RankedTensorType source = op.getSourceType();
    if (!source.hasStaticShape() || !op.getType().hasStaticShape() ||
        !isCrossable(op.getSource().getDefiningOp(), op, aggressive))
      return failure();
    // Each dimension whole or one lane; other slices stay where they are.
    SmallVector<Value> at(source.getRank());
    SmallVector<OpFoldResult> single(source.getRank());
    for (int64_t dim = 0; dim < source.getRank(); ++dim) {
      int64_t size = op.getStaticSizes()[dim];
      bool whole = size == source.getDimSize(dim) &&
                   isConstantIntValue(op.getMixedOffsets()[dim], 0) &&
                   isConstantIntValue(op.getMixedStrides()[dim], 1);
      if (whole)
        continue;
      if (size != 1)
        return failure();
      single[dim] = op.getMixedOffsets()[dim];
    }
    bool any = false;
    for (int64_t dim = 0; dim < source.getRank(); ++dim)
      if (single[dim]) {
        at[dim] = getValueOrCreateConstantIndexOp(rewriter, op.getLoc(), single[dim]);
        any = true;
      }
    if (!any)
      return failure();
    return bubbleUp(op, op.getSource(), at, aggressive, rewriter);
  }
  bool aggressive;
};

struct BubbleUpOperation : impl::BubbleUpOperationPassBase<BubbleUpOperation> {
  using Base::Base;
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<BubbleUpExtract, BubbleUpExtractSlice>(&getContext(), enableAggressiveMode);
    (void)applyPatternsGreedily(getOperation(), std::move(patterns));
  }
};

} // namespace
} // namespace piton
