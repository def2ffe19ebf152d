// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lifts branches between blocks into scf.if and scf.while, for kernels with early
// returns, helpers of several blocks and the regions of tt.map_elementwise.
#include "compiler/Dialect/Triton/Triton.h"
#include "compiler/Transforms/Passes.h"

#include "mlir/Conversion/ControlFlowToSCF/ControlFlowToSCF.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/RegionUtils.h"

namespace piton {
#define GEN_PASS_DEF_LIFTCONTROLFLOWPASS
#include "compiler/Transforms/Passes.h.inc"
} // namespace piton

#define DEBUG_TYPE "lift-control-flow"

using namespace mlir;

namespace {

/// Upstream's mapping to scf, with Triton's return where a loop never ends.
struct TritonControlFlow : ControlFlowToSCFTransformation {
  FailureOr<Operation *> createUnreachableTerminator(Location loc, OpBuilder &builder,
                                                     Region &region) override {
    auto poison = [&](TypeRange types) {
      SmallVector<Value> values;
      for (Type type : types)
        values.push_back(getUndefValue(loc, builder, type));
      return values;
    };
    if (auto func = dyn_cast<triton::FuncOp>(region.getParentOp()))
      return triton::ReturnOp::create(builder, loc, poison(func.getResultTypes())).getOperation();
    auto map = cast<triton::MapElementwiseOp>(region.getParentOp());
    SmallVector<Type> types;
    for (Type type : map.getResultTypes())
      types.append(map.getPack(), getElementTypeOrSelf(type));
    return triton::MapElementwiseReturnOp::create(builder, loc, poison(types)).getOperation();
  }
};

/// A branch that upstream's transformation cannot take, or null.
Operation *findForeignBranch(Region &region) {
  for (Block &block : region) {
    Operation *terminator = block.getTerminator();
    bool known = isa<cf::BranchOp, cf::CondBranchOp, cf::SwitchOp>(terminator);
    if (terminator->getNumSuccessors() != 0 && !known)
      return terminator;
  }
  return nullptr;
}

LogicalResult liftRegion(Region &region) {
  if (region.empty() || region.hasOneBlock())
    return success();
  IRRewriter rewriter(region.getContext());
  (void)eraseUnreachableBlocks(rewriter, region);
  if (region.hasOneBlock())
    return success();
  if (Operation *branch = findForeignBranch(region))
    return branch->emitOpError("is a branch that cannot be lifted into structured control flow; "
                               "only branches of the cf dialect can");
  TritonControlFlow interface;
  DominanceInfo dominance(region.getParentOp());
  return transformCFGToSCF(region, interface, dominance);
}

struct LiftControlFlow : piton::impl::LiftControlFlowPassBase<LiftControlFlow> {
  void runOnOperation() override {
    // Inner regions first: a lifted function body then holds single-block regions only.
    WalkResult result = getOperation().walk([](Operation *op) {
      if (!isa<triton::FuncOp, triton::MapElementwiseOp>(op))
        return WalkResult::advance();
      return failed(liftRegion(op->getRegion(0))) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
