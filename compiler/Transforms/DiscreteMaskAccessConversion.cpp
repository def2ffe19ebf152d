// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accesses with a structured address whose mask is no box. Two forms: `exact` visits
// the allowed lanes and no others; `documented` is the bulk form of the architecture
// page (read, select, write back), which touches masked-off lanes inside the box.
#include "compiler/Analysis/AddressAnalysis.h"
#include "compiler/Analysis/LaneAnalysis.h"
#include "compiler/Analysis/MaskAnalysis.h"
#include "compiler/Dialect/Triton/Triton.h"
#include "compiler/Transforms/AccessLoops.h"
#include "compiler/Transforms/AccessUtils.h"
#include "compiler/Transforms/Passes.h"
#include "compiler/Transforms/ValueSlicer.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace piton {
#define GEN_PASS_DEF_DISCRETEMASKACCESSCONVERSIONPASS
#include "compiler/Transforms/Passes.h.inc"

namespace {

/// The attribute of a read-modify-write made for a mask.
constexpr StringLiteral kDiscreteMask = "DiscreteMask";

/// The value that leaves memory as it is under `kind`; null for an exchange.
TypedAttr neutral(triton::RMWOp kind, Type element) {
  Builder builder(element.getContext());
  auto integer = dyn_cast<IntegerType>(element);
  if (!integer)
    return kind == triton::RMWOp::FADD ? builder.getFloatAttr(element, 0.0) : FloatAttr();
  unsigned width = integer.getWidth();
  switch (kind) {
  case triton::RMWOp::AND:
  case triton::RMWOp::UMIN:
    return builder.getIntegerAttr(element, APInt::getAllOnes(width));
  case triton::RMWOp::MIN:
    return builder.getIntegerAttr(element, APInt::getSignedMaxValue(width));
  case triton::RMWOp::MAX:
    return builder.getIntegerAttr(element, APInt::getSignedMinValue(width));
  case triton::RMWOp::XCHG:
    return {};
  default:
    return builder.getIntegerAttr(element, 0);
  }
}

struct DiscreteMaskAccessConversion
    : impl::DiscreteMaskAccessConversionPassBase<DiscreteMaskAccessConversion> {
  using Base::Base;

  LogicalResult initialize(MLIRContext *context) override {
    if (maskForm == "exact" || maskForm == "documented")
      return success();
    return emitError(UnknownLoc::get(context))
           << "discrete-mask-access-conversion: mask-form '" << maskForm
           << "' is unknown; use exact or documented";
  }

  void runOnOperation() override {
    SmallVector<Operation *> accesses;
    getOperation()->walk([&](Operation *op) {
      if (isAccess(op) && isDiscrete(op))
        accesses.push_back(op);
    });
    for (Operation *access : accesses) {
      if (maskForm == "exact")
        rewriteAccess(access);
      else
        rewriteInBulk(access);
    }
  }

private:
  static bool isDiscrete(Operation *access) {
    Value mask = maskOf(access);
    auto type = mask ? dyn_cast<RankedTensorType>(mask.getType()) : RankedTensorType();
    if (!type || !type.hasStaticShape() || access->hasAttr(kDiscreteMemAccess) ||
        !isStructuredAddress(pointerOf(access)))
      return false;
    LaneAnalysis lanes;
    return !analyzeMaskBox(lanes, mask, type.getShape()).residuals.empty();
  }

  /// The mask's box as a tensor (null if it is everything) and the rest of the mask.
  static std::pair<Value, Value> divide(OpBuilder &builder, Location loc, Value mask) {
    ArrayRef<int64_t> shape = cast<RankedTensorType>(mask.getType()).getShape();
    MaskInfo info = *analyzeMask(mask, shape, builder);
    return {buildBoxMask(builder, loc, info.lo, info.hi, shape), info.residual};
  }

  void rewriteInBulk(Operation *access) {
    OpBuilder builder(access);
    Location loc = access->getLoc();
    auto [box, rest] = divide(builder, loc, maskOf(access));
    if (auto load = dyn_cast<triton::LoadOp>(access)) {
      Value other = load.getOther() ? load.getOther() : zeroOf(builder, loc, load.getType());
      Value all = triton::LoadOp::create(builder, loc, load.getType(), load.getPtr(), box,
                                         box ? other : Value(), load.getBoundaryCheckAttr(),
                                         load.getPaddingAttr(), load.getCache(), load.getEvict(),
                                         load.getIsVolatile());
      Value chosen = arith::SelectOp::create(builder, loc, load.getMask(), all, other);
      load.replaceAllUsesWith(chosen);
      load.erase();
      return;
    }
    if (auto store = dyn_cast<triton::StoreOp>(access)) {
      Type type = store.getValue().getType();
      Value zero = box ? zeroOf(builder, loc, type) : Value();
      Value old = triton::LoadOp::create(builder, loc, store.getPtr(), box, zero);
      Value merged = arith::SelectOp::create(builder, loc, rest, store.getValue(), old);
      auto back =
          triton::StoreOp::create(builder, loc, store.getPtr(), merged, box,
                                  store.getBoundaryCheckAttr(), store.getCache(), store.getEvict());
      back->setAttr(kDiscreteMask, builder.getUnitAttr());
      store.erase();
      return;
    }
    auto rmw = cast<triton::AtomicRMWOp>(access);
    auto type = cast<RankedTensorType>(rmw.getVal().getType());
    TypedAttr identity = neutral(rmw.getAtomicRmwOp(), type.getElementType());
    if (!identity) {
      rmw->setAttr(kDiscreteMask, builder.getUnitAttr());
      rewriteAccess(rmw);
      return;
    }
    Value none = arith::ConstantOp::create(
        builder, loc, SplatElementsAttr::get(type, ArrayRef<Attribute>(identity)));
    Value value = arith::SelectOp::create(builder, loc, rmw.getMask(), rmw.getVal(), none);
    auto all = triton::AtomicRMWOp::create(builder, loc, type, rmw.getAtomicRmwOp(), rmw.getPtr(),
                                           value, Value(), rmw.getSem(), rmw.getScope());
    rmw.replaceAllUsesWith(all.getResult());
    rmw.erase();
  }
};

} // namespace
} // namespace piton
