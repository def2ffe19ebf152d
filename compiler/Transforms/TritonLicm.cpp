// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loop-invariant code motion that also hoists loads out of loops that write nothing.
#include "compiler/Dialect/Triton/Triton.h"
#include "compiler/Transforms/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

namespace piton {
#define GEN_PASS_DEF_TRITONLICMPASS
#include "compiler/Transforms/Passes.h.inc"
} // namespace piton

#define DEBUG_TYPE "triton-licm"

using namespace mlir;

namespace {

/// tl.range(disable_licm=True).
bool isMotionDisabled(Operation *loop) {
  auto annotation = loop->getAttrOfType<LLVM::LoopAnnotationAttr>("llvm.loop_annotation");
  if (!annotation || !annotation.getLicm())
    return false;
  BoolAttr disable = annotation.getLicm().getDisable();
  return disable && disable.getValue();
}

/// True when nothing in the loop's body has an effect other than reading.
bool onlyReads(scf::ForOp loop) {
  WalkResult result = loop.getBody()->walk([](Operation *op) {
    if (op->hasTrait<OpTrait::HasRecursiveMemoryEffects>())
      return WalkResult::advance(); // its body is walked as well
    auto effects = dyn_cast<MemoryEffectOpInterface>(op);
    if (!effects)
      return isMemoryEffectFree(op) ? WalkResult::advance() : WalkResult::interrupt();
    SmallVector<MemoryEffects::EffectInstance> list;
    effects.getEffects(list);
    bool reads = llvm::all_of(list, [](const MemoryEffects::EffectInstance &effect) {
      return isa<MemoryEffects::Read>(effect.getEffect());
    });
    return reads ? WalkResult::advance() : WalkResult::interrupt();
  });
  return !result.wasInterrupted();
}

bool isHoistable(triton::LoadOp load, scf::ForOp loop) {
  if (load.getIsVolatile() || triton::isTensorPointerType(load.getPtr().getType()))
    return false;
  return llvm::all_of(load->getOperands(),
                      [&](Value operand) { return loop.isDefinedOutsideOfLoop(operand); });
}

/// Moves `load` in front of `loop`; its mask then also says that the loop runs.
void hoist(triton::LoadOp load, scf::ForOp loop) {
  OpBuilder builder(loop);
  Location loc = load.getLoc();
  auto predicate = loop.getUnsignedCmp() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
  Value runs =
      arith::CmpIOp::create(builder, loc, predicate, loop.getLowerBound(), loop.getUpperBound());
  Type maskType = triton::getI1SameShape(load.getType());
  if (isa<RankedTensorType>(maskType))
    runs = triton::SplatOp::create(builder, loc, maskType, runs);
  if (Value mask = load.getMask())
    runs = arith::AndIOp::create(builder, loc, mask, runs);
  load->moveBefore(loop);
  load.getMaskMutable().assign(runs);
}

struct TritonLicm : piton::impl::TritonLicmPassBase<TritonLicm> {
  void runOnOperation() override {
    // Innermost loops first, so that code can leave several.
    getOperation().walk([](LoopLikeOpInterface loop) {
      if (isMotionDisabled(loop))
        return;
      moveLoopInvariantCode(loop);
      auto forOp = dyn_cast<scf::ForOp>(loop.getOperation());
      if (!forOp || !onlyReads(forOp))
        return;
      bool moved = false;
      for (auto load : llvm::make_early_inc_range(forOp.getBody()->getOps<triton::LoadOp>()))
        if (isHoistable(load, forOp)) {
          hoist(load, forOp);
          moved = true;
        }
      if (moved) // what depends on the loads may now leave as well
        moveLoopInvariantCode(loop);
    });
  }
};

} // namespace
