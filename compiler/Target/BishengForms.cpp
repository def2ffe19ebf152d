// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared builders of the bisheng legalisation, and the pass that runs its groups.
#include "compiler/Target/BishengForms.h"

#include "compiler/Dialect/Annotation/Annotation.h"
#include "compiler/Dialect/HACC/HACC.h"
#include "compiler/Dialect/HIVM/HIVM.h"

#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/Transforms/Passes.h"

namespace piton {
#define GEN_PASS_DEF_LEGALIZEFORBISHENG
#define GEN_PASS_DEF_VERIFYFORBISHENG
#include "compiler/Target/BishengPasses.h.inc"
} // namespace piton

using namespace mlir;

namespace piton::bisheng {

StringRef compilerName(BishengFamily family) {
  return family == BishengFamily::C220 ? "bishengir-compile (A2/A3)" : "bishengir-compile-a5 (950)";
}

LogicalResult refuse(Operation *op, BishengFamily family, const Twine &why, const Twine &change) {
  return op->emitOpError() << "cannot be handed to " << compilerName(family) << ": " << why << "; "
                           << change;
}

Type withElement(Type type, Type element) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return tensor.clone(element);
  return element;
}

Value splat(OpBuilder &b, Location loc, Value scalar, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return scalar;
  Value empty = tensor::EmptyOp::create(b, loc, tensor.getShape(), tensor.getElementType());
  return linalg::FillOp::create(b, loc, ValueRange{scalar}, ValueRange{empty}).getResult(0);
}

Value splatInt(OpBuilder &b, Location loc, const APInt &value, Type type) {
  Value scalar =
      arith::ConstantOp::create(b, loc, b.getIntegerAttr(getElementTypeOrSelf(type), value));
  return splat(b, loc, scalar, type);
}

Value splatInt(OpBuilder &b, Location loc, int64_t value, Type type) {
  unsigned width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  return splatInt(b, loc, APInt(64, value, /*isSigned=*/true).sextOrTrunc(width), type);
}

Value splatFloat(OpBuilder &b, Location loc, double value, Type type) {
  Value scalar =
      arith::ConstantOp::create(b, loc, b.getFloatAttr(getElementTypeOrSelf(type), value));
  return splat(b, loc, scalar, type);
}

Value flipSign(OpBuilder &b, Location loc, Value value) {
  unsigned width = getElementTypeOrSelf(value).getIntOrFloatBitWidth();
  Value mask = splatInt(b, loc, APInt::getSignMask(width), value.getType());
  return arith::XOrIOp::create(b, loc, value, mask);
}

Value negate(OpBuilder &b, Location loc, Value value) {
  // A splat constant: linalg.fill of an i1 would need an i1 buffer.
  Value ones = arith::ConstantOp::create(
      b, loc,
      isa<RankedTensorType>(value.getType())
          ? TypedAttr(DenseElementsAttr::get(cast<ShapedType>(value.getType()), true))
          : TypedAttr(b.getBoolAttr(true)));
  return arith::XOrIOp::create(b, loc, value, ones);
}

Value indicesAlong(OpBuilder &b, Location loc, ArrayRef<int64_t> shape, int64_t dim) {
  Type i32 = b.getI32Type();
  int64_t extent = shape[dim];
  Value line = tensor::EmptyOp::create(b, loc, ArrayRef<int64_t>{extent}, i32);
  AffineMap identity = b.getMultiDimIdentityMap(1);
  auto range =
      linalg::GenericOp::create(b, loc, TypeRange{line.getType()}, ValueRange{}, ValueRange{line},
                                ArrayRef{identity}, ArrayRef{utils::IteratorType::parallel},
                                [&](OpBuilder &inner, Location innerLoc, ValueRange) {
                                  Value index = linalg::IndexOp::create(inner, innerLoc, 0);
                                  Value cast =
                                      arith::IndexCastOp::create(inner, innerLoc, i32, index);
                                  linalg::YieldOp::create(inner, innerLoc, cast);
                                });
  if (shape.size() == 1)
    return range.getResult(0);
  SmallVector<int64_t> others;
  for (int64_t d = 0; d < int64_t(shape.size()); ++d)
    if (d != dim)
      others.push_back(d);
  Value whole = tensor::EmptyOp::create(b, loc, shape, i32);
  return linalg::BroadcastOp::create(b, loc, range.getResult(0), whole, others)->getResult(0);
}

SmallVector<Value> scalarLoop(OpBuilder &b, Operation *op) {
  Location loc = op->getLoc();
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  SmallVector<Value> inits;
  for (Value result : op->getResults()) {
    auto resultType = cast<RankedTensorType>(result.getType());
    inits.push_back(tensor::EmptyOp::create(b, loc, type.getShape(), resultType.getElementType()));
  }
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  SmallVector<Value> lower(type.getRank(), zero), upper, step(type.getRank(), one);
  for (int64_t extent : type.getShape())
    upper.push_back(arith::ConstantIndexOp::create(b, loc, extent));
  auto body = [&](OpBuilder &inner, Location innerLoc, ValueRange indices, ValueRange carried) {
    IRMapping scalars;
    for (Value operand : op->getOperands())
      if (isa<RankedTensorType>(operand.getType()))
        scalars.map(operand, tensor::ExtractOp::create(inner, innerLoc, operand, indices));
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(scalars.lookupOrDefault(operand));
    SmallVector<Type> types;
    for (Type resultType : op->getResultTypes())
      types.push_back(getElementTypeOrSelf(resultType));
    OperationState state(innerLoc, op->getName(), operands, types, op->getAttrs());
    Operation *scalar = inner.create(state);
    SmallVector<Value> results;
    for (auto [value, into] : llvm::zip(scalar->getResults(), carried))
      results.push_back(tensor::InsertOp::create(inner, innerLoc, value, into, indices));
    return scf::ValueVector(results.begin(), results.end());
  };
  scf::LoopNest nest = scf::buildLoopNest(b, loc, lower, upper, step, inits, body);
  return SmallVector<Value>(nest.results.begin(), nest.results.end());
}

Value fillValueOf(Value value) {
  if (auto fill = value.getDefiningOp<linalg::FillOp>())
    return fill.getInputs().front();
  if (auto splatOp = value.getDefiningOp<tensor::SplatOp>())
    return splatOp.getInput();
  return {};
}

TypedAttr constantFillOf(Value value) {
  if (Value scalar = fillValueOf(value))
    return constantFillOf(scalar);
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  if (!constant)
    return {};
  if (auto elements = dyn_cast<SplatElementsAttr>(constant.getValue()))
    return elements.getSplatValue<TypedAttr>();
  return isa<ShapedType>(value.getType()) ? TypedAttr() : constant.getValue();
}

void pipeBarrier(OpBuilder &b, Location loc, mlir::hivm::Pipe pipe) {
  mlir::hivm::PipeBarrierOp::create(b, loc, mlir::hivm::PipeAttr::get(b.getContext(), pipe));
}

Value baseOf(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<memref::SubViewOp, memref::ReinterpretCastOp, memref::CastOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

} // namespace piton::bisheng

namespace piton {
namespace {

std::optional<BishengFamily> parseFamily(ModuleOp module, StringRef text) {
  if (text == "c220")
    return BishengFamily::C220;
  if (text == "a5")
    return BishengFamily::A5;
  module.emitError() << "unknown compiler family '" << text << "': give c220 or a5";
  return std::nullopt;
}

struct LegalizeForBisheng : impl::LegalizeForBishengBase<LegalizeForBisheng> {
  using Base::Base;

  void runOnOperation() override {
    std::optional<BishengFamily> chosen = parseFamily(getOperation(), family);
    if (!chosen)
      return signalPassFailure();
    bisheng::Context context(&getContext(), *chosen);
    // Bodies of linalg ops become tensor arithmetic first, which the last group then sees.
    for (auto *group :
         {bisheng::legalizeDistributed, bisheng::legalizeMemory, bisheng::legalizeLoads,
          bisheng::legalizeAtomics, bisheng::legalizeReductions, bisheng::legalizeGenerics,
          bisheng::legalizeMatmuls, bisheng::legalizeElementwise, bisheng::legalizeLayout,
          bisheng::legalizeOrder})
      if (failed(group(getOperation(), context)))
        return signalPassFailure();
    if (failed(bisheng::verifyForms(getOperation(), *chosen)))
      signalPassFailure();
  }
};

struct VerifyForBisheng : impl::VerifyForBishengBase<VerifyForBisheng> {
  using Base::Base;

  void runOnOperation() override {
    std::optional<BishengFamily> chosen = parseFamily(getOperation(), family);
    if (!chosen || failed(bisheng::verifyForms(getOperation(), *chosen)))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};

} // namespace
} // namespace piton
