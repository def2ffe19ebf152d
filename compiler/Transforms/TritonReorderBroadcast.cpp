// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Moves elementwise ops in front of splats and broadcasts, where they cost less.
#include "compiler/Dialect/Triton/Triton.h"
#include "compiler/Transforms/Passes.h"

namespace piton {
#define GEN_PASS_DEF_TRITONREORDERBROADCASTPASS
#include "compiler/Transforms/Passes.h.inc"
} // namespace piton

#define DEBUG_TYPE "triton-reorder-broadcast"

using namespace mlir;

namespace {

bool isMovable(Operation *op) {
  return op->hasTrait<OpTrait::Elementwise>() && op->getNumResults() != 0 &&
         op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
         !isa<triton::ElementwiseInlineAsmOp>(op) &&
         llvm::all_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>);
}

/// The scalar attribute of a constant splat, or null.
TypedAttr getSplatConstant(Value value) {
  DenseElementsAttr dense;
  if (!matchPattern(value, m_Constant(&dense)) || !dense.isSplat())
    return {};
  return dyn_cast<TypedAttr>(dense.getSplatValue<Attribute>());
}

bool isTensor(Value value) { return isa<RankedTensorType>(value.getType()); }

/// The op again on other operands, with the element types of its results in `shape`
/// (scalars when `shape` is absent).
Operation *cloneWith(PatternRewriter &rewriter, Operation *op, ValueRange operands,
                     std::optional<ArrayRef<int64_t>> shape) {
  SmallVector<Type> types;
  for (Type type : op->getResultTypes()) {
    auto tensor = cast<RankedTensorType>(type);
    types.push_back(shape ? tensor.clone(*shape) : tensor.getElementType());
  }
  OperationState state(op->getLoc(), op->getName(), operands, types);
  state.propertiesAttr = op->getPropertiesAsAttribute();
  state.attributes = NamedAttrList(op->getDiscardableAttrDictionary());
  // Hints that have an entry a dimension speak of the old shape.
  for (StringRef hint : {"tt.divisibility", "tt.contiguity", "tt.constancy"})
    state.attributes.erase(hint);
  return rewriter.create(state);
}

/// op(splat(a), splat(b), ...) -> splat(op(a, b, ...)).
struct MoveSplat : RewritePattern {
  MoveSplat(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isMovable(op))
      return rewriter.notifyMatchFailure(op, "not an elementwise op without effects");
    bool anySplat = false;
    for (Value operand : op->getOperands()) {
      bool splat = operand.getDefiningOp<triton::SplatOp>() != nullptr;
      anySplat |= splat;
      if (isTensor(operand) && !splat && !getSplatConstant(operand))
        return rewriter.notifyMatchFailure(op, "an operand is no splat");
    }
    if (!anySplat)
      return rewriter.notifyMatchFailure(op, "only constants: folding is canonicalize's work");
    SmallVector<Value> scalars;
    for (Value operand : op->getOperands()) {
      if (auto splat = operand.getDefiningOp<triton::SplatOp>()) {
        if (isTensor(splat.getSrc()))
          return rewriter.notifyMatchFailure(op, "splat of a tensor");
        scalars.push_back(splat.getSrc());
      } else if (!isTensor(operand)) {
        scalars.push_back(operand);
      } else {
        scalars.push_back(
            arith::ConstantOp::create(rewriter, op->getLoc(), getSplatConstant(operand)));
      }
    }
    Operation *scalar = cloneWith(rewriter, op, scalars, std::nullopt);
    SmallVector<Value> results;
    for (auto [type, value] : llvm::zip(op->getResultTypes(), scalar->getResults()))
      results.push_back(triton::SplatOp::create(rewriter, op->getLoc(), type, value));
    rewriter.replaceOp(op, results);
    return success();
  }
};

/// op(broadcast(a), broadcast(b), splat(c)) -> broadcast(op(a, b, splat(c))).
struct MoveBroadcast : RewritePattern {
  MoveBroadcast(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isMovable(op))
      return rewriter.notifyMatchFailure(op, "not an elementwise op without effects");
    std::optional<ArrayRef<int64_t>> shape;
    for (Value operand : op->getOperands()) {
      if (auto broadcast = operand.getDefiningOp<triton::BroadcastOp>()) {
        ArrayRef<int64_t> source = broadcast.getSrc().getType().getShape();
        if (shape && *shape != source)
          return rewriter.notifyMatchFailure(op, "broadcasts of different shapes");
        shape = source;
      } else if (isTensor(operand) && !operand.getDefiningOp<triton::SplatOp>() &&
                 !getSplatConstant(operand)) {
        return rewriter.notifyMatchFailure(op, "an operand is neither broadcast nor splat");
      }
    }
    if (!shape)
      return rewriter.notifyMatchFailure(op, "no operand is a broadcast");
    SmallVector<Value> small;
    for (Value operand : op->getOperands()) {
      auto type = dyn_cast<RankedTensorType>(operand.getType());
      if (auto broadcast = operand.getDefiningOp<triton::BroadcastOp>())
        small.push_back(broadcast.getSrc());
      else if (!type)
        small.push_back(operand);
      else if (auto splat = operand.getDefiningOp<triton::SplatOp>())
        small.push_back(
            triton::SplatOp::create(rewriter, op->getLoc(), type.clone(*shape), splat.getSrc()));
      else
        small.push_back(arith::ConstantOp::create(
            rewriter, op->getLoc(),
            DenseElementsAttr::get(type.clone(*shape), getSplatConstant(operand))));
    }
    Operation *moved = cloneWith(rewriter, op, small, *shape);
    SmallVector<Value> results;
    for (auto [type, value] : llvm::zip(op->getResultTypes(), moved->getResults()))
      results.push_back(triton::BroadcastOp::create(rewriter, op->getLoc(), type, value));
    rewriter.replaceOp(op, results);
    return success();
  }
};

struct TritonReorderBroadcast
    : piton::impl::TritonReorderBroadcastPassBase<TritonReorderBroadcast> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<MoveSplat, MoveBroadcast>(&getContext());
    triton::BroadcastOp::getCanonicalizationPatterns(patterns, &getContext());
    triton::ExpandDimsOp::getCanonicalizationPatterns(patterns, &getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
