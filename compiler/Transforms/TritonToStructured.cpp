// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes addresses and masks structured: loops carry numbers instead of tensors,
// equal lanes are computed once, divisions and remainders of ranges become dimensions,
// and repeated loads become broadcasts.
#include "compiler/Dialect/Triton/Triton.h"
#include "compiler/Transforms/AccessLoops.h"
#include "compiler/Transforms/Passes.h"
#include "compiler/Transforms/RewriteCarried.h"
#include "compiler/Transforms/SplitAccess.h"
#include "compiler/Transforms/ValueSlicer.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace piton {
#define GEN_PASS_DEF_TRITONTOSTRUCTUREDPASS
#include "compiler/Transforms/Passes.h.inc"

namespace {

/// An elementwise integer op on splats is one scalar op and a splat (SplatCmpConverter and its
/// kind): the scalar is then part of a base, an offset or a bound.
struct ComputeSplatOnce : RewritePattern {
  explicit ComputeSplatOnce(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}

  static bool isInteger(Type type) {
    return isa<IntegerType, IndexType, triton::PointerType>(getElementTypeOrSelf(type));
  }

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isSliceable(op) || !isa<RankedTensorType>(op->getResult(0).getType()) ||
        !isInteger(op->getResult(0).getType()))
      return failure();
    bool anySplat = false;
    for (Value operand : op->getOperands()) {
      DenseElementsAttr constant;
      if (!isInteger(operand.getType()))
        return failure();
      if (!isa<RankedTensorType>(operand.getType()))
        continue;
      if (auto splat = operand.getDefiningOp<triton::SplatOp>();
          splat && !isa<RankedTensorType>(splat.getSrc().getType()))
        anySplat = true;
      else if (!matchPattern(operand, m_Constant(&constant)) || !constant.isSplat())
        return failure();
    }
    if (!anySplat)
      return failure();
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    Value zero = arith::ConstantIndexOp::create(rewriter, op->getLoc(), 0);
    SmallVector<Value> at(type.getRank(), zero);
    OpBuilder builder(op);
    Value scalar = ValueSlicer(builder, op->getLoc(), at)(op->getResult(0));
    if (isa<RankedTensorType>(scalar.getType()))
      return failure();
    rewriter.replaceOpWithNewOp<triton::SplatOp>(op, type, scalar);
    return success();
  }
};

/// A custom call that gives a tensor of pointers back as it is (consume_token) hides the addresses.
/// It only orders, and what it comes after keeps its place by itself.
void lookThroughTokens(Operation *root) {
  SmallVector<Operation *> calls;
  root->walk([&](Operation *op) {
    auto index = op->getAttrOfType<DenseI32ArrayAttr>("SrcPtrIndex");
    if (index && index.size() == 1 && op->getNumResults() == 1 &&
        index[0] < static_cast<int32_t>(op->getNumOperands()) &&
        op->getOperand(index[0]).getType() == op->getResult(0).getType())
      calls.push_back(op);
  });
  for (Operation *call : calls) {
    Value source = call->getOperand(call->getAttrOfType<DenseI32ArrayAttr>("SrcPtrIndex")[0]);
    for (Operation *user : llvm::make_early_inc_range(call->getUsers()))
      if (user->getName().getStringRef() == "annotation.mark")
        user->erase();
    call->getResult(0).replaceAllUsesWith(source);
    call->erase();
  }
}

struct TritonToStructured : impl::TritonToStructuredPassBase<TritonToStructured> {
  using Base::Base;

  void runOnOperation() override {
    lookThroughTokens(getOperation());
    rewriteCarriedTensors(getOperation());
    RewritePatternSet patterns(&getContext());
    patterns.add<ComputeSplatOnce>(&getContext());
    triton::BroadcastOp::getCanonicalizationPatterns(patterns, &getContext());
    triton::ExpandDimsOp::getCanonicalizationPatterns(patterns, &getContext());
    scf::ForOp::getCanonicalizationPatterns(patterns, &getContext());
    scf::WhileOp::getCanonicalizationPatterns(patterns, &getContext());
    (void)applyPatternsGreedily(getOperation(), std::move(patterns));

    SmallVector<Operation *> accesses;
    getOperation()->walk([&](Operation *op) {
      if (isAccess(op))
        accesses.push_back(op);
    });
    for (Operation *access : accesses) {
      if (enableLinearize)
        access = splitAccess(access);
      dropRepeatedLoads(access);
    }
  }
};

} // namespace
} // namespace piton
