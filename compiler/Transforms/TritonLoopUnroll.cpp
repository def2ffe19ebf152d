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

/// Operations that one unrolled loop may have. A factor is a hint: beyond this the loop
/// stays as it is, rather than filling memory.
constexpr int64_t kMaxUnrolledOps = 100000;

/// The trip count of a loop with constant bounds and a positive step.
std::optional<int64_t> getTripCount(scf::ForOp loop) {
  APInt lower, upper, step;
  if (!matchPattern(loop.getLowerBound(), m_ConstantInt(&lower)) ||
      !matchPattern(loop.getUpperBound(), m_ConstantInt(&upper)) ||
      !matchPattern(loop.getStep(), m_ConstantInt(&step)) || !step.isStrictlyPositive())
    return std::nullopt;
  if (lower.sge(upper))
    return 0;
  uint64_t trips = llvm::divideCeil((upper - lower).getZExtValue(), step.getZExtValue());
  return std::min<uint64_t>(trips, std::numeric_limits<int64_t>::max());
}

/// The factor to unroll by, or 1 with a warning where the loop is better left alone.
int64_t chooseFactor(scf::ForOp loop, int64_t factor) {
  APInt step;
  if (matchPattern(loop.getStep(), m_ConstantInt(&step)) && !step.isStrictlyPositive())
    return 1; // never ends; no factor makes it better
  if (std::optional<int64_t> trips = getTripCount(loop))
    factor = std::min(factor, *trips);
  int64_t ops = 0;
  loop.getBody()->walk([&](Operation *) { ++ops; });
  if (factor <= kMaxUnrolledOps / std::max<int64_t>(ops, 1))
    return factor;
  loop.emitWarning() << "loop_unroll_factor " << factor << " would make " << factor << " x " << ops
                     << " operations, above the limit of " << kMaxUnrolledOps
                     << "; the loop is not unrolled";
  return 1;
}

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
    for (auto [loop, wanted] : loops) {
      int64_t factor = chooseFactor(loop, wanted); // after the inner loops have grown
      if (factor <= 1)
        continue;
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
