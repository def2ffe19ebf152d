// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Unrolls the loops that tl.range(loop_unroll_factor=...) marks.
#include "compiler/Dialect/Triton/Triton.h"
#include "compiler/Transforms/Passes.h"

#include "mlir/Dialect/SCF/Utils/Utils.h"

namespace piton {
#define GEN_PASS_DEF_TRITONLOOPUNROLLPASS
#include "compiler/Transforms/Passes.h.inc"
} // namespace piton

#define DEBUG_TYPE "triton-loop-unroll"

using namespace mlir;

namespace {

constexpr llvm::StringLiteral kFactorAttr = "tt.loop_unroll_factor";
constexpr llvm::StringLiteral kNumStagesAttr = "tt.num_stages";

/// The unrolling computes with the trip count, which must not be negative.
void clampUpperBound(scf::ForOp loop) {
  APInt lower, upper;
  if (matchPattern(loop.getLowerBound(), m_ConstantInt(&lower)) &&
      matchPattern(loop.getUpperBound(), m_ConstantInt(&upper)) && lower.sle(upper))
    return;
  OpBuilder builder(loop);
  loop.getUpperBoundMutable().assign(
      arith::MaxSIOp::create(builder, loop.getLoc(), loop.getLowerBound(), loop.getUpperBound()));
}

struct TritonLoopUnroll : piton::impl::TritonLoopUnrollPassBase<TritonLoopUnroll> {
  void runOnOperation() override {
    SmallVector<std::pair<scf::ForOp, int64_t>> loops;
    getOperation().walk([&](scf::ForOp loop) { // post-order: inner loops first
      auto factor = loop->getAttrOfType<IntegerAttr>(kFactorAttr);
      if (!factor)
        return;
      loop->removeAttr(kFactorAttr);
      if (factor.getInt() > 1 && !loop.getUnsignedCmp())
        loops.emplace_back(loop, factor.getInt());
    });
    for (auto [loop, factor] : loops) {
      clampUpperBound(loop);
      FailureOr<UnrolledLoopInfo> unrolled = loopUnrollByFactor(loop, factor);
      if (failed(unrolled)) {
        loop.emitOpError() << "cannot be unrolled by " << factor;
        return signalPassFailure();
      }
      if (unrolled->epilogueLoopOp)
        (*unrolled->epilogueLoopOp)
            ->setAttr(kNumStagesAttr, OpBuilder(&getContext()).getI32IntegerAttr(1));
    }
  }
};

} // namespace
