// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The conditions that a linalg.generic on buffers has to meet; see VectorizePlan.h.
#include "compiler/Target/Simulator/VectorizePlan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace piton::simulator {

std::optional<vector::CombiningKind> combiningKind(Operation *op) {
  using Kind = vector::CombiningKind;
  return llvm::TypeSwitch<Operation *, std::optional<Kind>>(op)
      .Case<arith::AddFOp, arith::AddIOp>([](auto) { return Kind::ADD; })
      .Case<arith::MulFOp, arith::MulIOp>([](auto) { return Kind::MUL; })
      .Case<arith::MaxNumFOp>([](auto) { return Kind::MAXNUMF; })
      .Case<arith::MinNumFOp>([](auto) { return Kind::MINNUMF; })
      .Case<arith::MaximumFOp>([](auto) { return Kind::MAXIMUMF; })
      .Case<arith::MinimumFOp>([](auto) { return Kind::MINIMUMF; })
      .Case<arith::MaxSIOp>([](auto) { return Kind::MAXSI; })
      .Case<arith::MinSIOp>([](auto) { return Kind::MINSI; })
      .Case<arith::MaxUIOp>([](auto) { return Kind::MAXUI; })
      .Case<arith::MinUIOp>([](auto) { return Kind::MINUI; })
      .Case<arith::AndIOp>([](auto) { return Kind::AND; })
      .Case<arith::OrIOp>([](auto) { return Kind::OR; })
      .Case<arith::XOrIOp>([](auto) { return Kind::XOR; })
      .Default([](auto) { return std::nullopt; });
}

TypedAttr neutralElement(OpBuilder &b, vector::CombiningKind kind, Type type) {
  using Kind = vector::CombiningKind;
  if (auto real = dyn_cast<FloatType>(type)) {
    const llvm::fltSemantics &semantics = real.getFloatSemantics();
    switch (kind) {
    case Kind::ADD:
      return b.getFloatAttr(type, APFloat::getZero(semantics, /*Negative=*/true));
    case Kind::MUL:
      return b.getFloatAttr(type, 1.0);
    case Kind::MAXNUMF:
    case Kind::MINNUMF:
      return b.getFloatAttr(type, APFloat::getQNaN(semantics));
    case Kind::MAXIMUMF:
      return b.getFloatAttr(type, APFloat::getInf(semantics, true));
    case Kind::MINIMUMF:
      return b.getFloatAttr(type, APFloat::getInf(semantics, false));
    default:
      return nullptr;
    }
  }
  unsigned width = type.getIntOrFloatBitWidth();
  switch (kind) {
  case Kind::ADD:
  case Kind::OR:
  case Kind::XOR:
  case Kind::MAXUI:
    return b.getIntegerAttr(type, APInt::getZero(width));
  case Kind::MUL:
    return b.getIntegerAttr(type, APInt(width, 1));
  case Kind::AND:
  case Kind::MINUI:
    return b.getIntegerAttr(type, APInt::getAllOnes(width));
  case Kind::MAXSI:
    return b.getIntegerAttr(type, APInt::getSignedMinValue(width));
  case Kind::MINSI:
    return b.getIntegerAttr(type, APInt::getSignedMaxValue(width));
  default:
    return nullptr;
  }
}

InnerUse innerUse(AffineMap map, unsigned inner) {
  if (!map.isProjectedPermutation(/*allowZeroInResults=*/true))
    return InnerUse::Other;
  for (auto [i, result] : llvm::enumerate(map.getResults()))
    if (result.isFunctionOfDim(inner))
      return i + 1 == map.getNumResults() ? InnerUse::Contiguous : InnerUse::Other;
  return InnerUse::None;
}

namespace {

/// Element types that vectors load and store as they lie in memory.
bool isMemoryType(Type type) {
  if (isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(type))
    return true;
  auto integer = dyn_cast<IntegerType>(type);
  return integer && llvm::is_contained({8u, 16u, 32u, 64u}, integer.getWidth());
}

bool isBodyType(Type type) {
  return isMemoryType(type) || type.isInteger(1) || isa<IndexType>(type);
}

bool isBodyOp(Operation &op) {
  if (isa<linalg::IndexOp, linalg::YieldOp, arith::ConstantOp>(op))
    return true;
  return OpTrait::hasElementwiseMappableTraits(&op) && isMemoryEffectFree(&op) &&
         llvm::all_of(op.getResultTypes(), isBodyType) &&
         llvm::all_of(op.getOperandTypes(), isBodyType);
}

bool hasUnitInnerStride(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  SmallVector<int64_t> strides;
  int64_t offset;
  return memref && memref.getRank() > 0 && succeeded(memref.getStridesAndOffset(strides, offset)) &&
         strides.back() == 1;
}

bool matchCombiner(linalg::GenericOp op, unsigned init, Combiner &combiner) {
  auto yield = cast<linalg::YieldOp>(op.getBody()->getTerminator());
  Operation *def = yield.getOperand(init).getDefiningOp();
  BlockArgument accumulator = op.getRegionOutputArgs()[init];
  if (!def || def->getBlock() != op.getBody() || !combiningKind(def) || !accumulator.hasOneUse() ||
      !def->getResult(0).hasOneUse() || *accumulator.user_begin() != def)
    return false;
  combiner.op = def;
  combiner.value = def->getOperand(0) == accumulator ? def->getOperand(1) : def->getOperand(0);
  return true;
}

/// yield select(c, acc, x) for every init with one c that compares an accumulator with its x: the
/// lanes may be visited in any order, and seeing an accumulator twice changes nothing.
bool matchChoice(linalg::GenericOp op, Plan &plan) {
  Block *body = op.getBody();
  auto yield = cast<linalg::YieldOp>(body->getTerminator());
  ArrayRef<BlockArgument> accumulators = op.getRegionOutputArgs();
  Value condition;
  for (auto [value, accumulator] : llvm::zip(yield.getOperands(), accumulators)) {
    auto select = value.getDefiningOp<arith::SelectOp>();
    if (!select || (condition && condition != select.getCondition()))
      return false;
    condition = select.getCondition();
    const bool keepsFirst = select.getTrueValue() == accumulator;
    if (!keepsFirst && select.getFalseValue() != accumulator)
      return false;
    plan.candidates.push_back(keepsFirst ? select.getFalseValue() : select.getTrueValue());
  }
  llvm::SmallPtrSet<Value, 8> seen(accumulators.begin(), accumulators.end());
  bool compares = false;
  for (Operation &inner : body->without_terminator()) {
    if (llvm::none_of(inner.getOperands(), [&](Value value) { return seen.contains(value); }))
      continue;
    for (Value value : inner.getOperands())
      if (value.getParentBlock() == body && !seen.contains(value) &&
          !llvm::is_contained(plan.candidates, value) &&
          !isa_and_present<arith::ConstantOp>(value.getDefiningOp()))
        return false;
    for (auto [accumulator, candidate] : llvm::zip(accumulators, plan.candidates)) {
      SmallVector<Value> operands(inner.getOperands());
      compares |= isa<arith::CmpFOp, arith::CmpIOp>(inner) &&
                  llvm::is_contained(operands, accumulator) &&
                  llvm::is_contained(operands, candidate);
    }
    plan.choice.push_back(&inner);
    seen.insert(inner.result_begin(), inner.result_end());
  }
  return compares && llvm::none_of(plan.candidates, [&](Value value) {
           return seen.contains(value) || value.getParentBlock() != body;
         });
}

} // namespace

std::optional<Plan> planFor(Operation *candidate) {
  auto op = dyn_cast<linalg::GenericOp>(candidate);
  if (!op || !op.hasPureBufferSemantics() || op->hasAttr("GenericAtomicRMW") ||
      op.getNumLoops() == 0)
    return std::nullopt;
  Plan plan;
  plan.op = op;
  plan.extents = op.getStaticLoopRanges();
  plan.inner = op.getNumLoops() - 1;
  if (llvm::any_of(plan.extents, ShapedType::isDynamic) || plan.extents[plan.inner] < 4)
    return std::nullopt;
  if (!llvm::all_of(op.getBody()->getOperations(), isBodyOp))
    return std::nullopt;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  for (OpOperand &operand : op->getOpOperands()) {
    Type element = getElementTypeOrSelf(operand.get().getType());
    if (!isa<MemRefType>(operand.get().getType())) {
      if (!isBodyType(element))
        return std::nullopt;
      continue;
    }
    InnerUse use = innerUse(op.getMatchingIndexingMap(&operand), plan.inner);
    if (use == InnerUse::Other || !isMemoryType(element) ||
        (use == InnerUse::Contiguous && !hasUnitInnerStride(operand.get().getType())))
      return std::nullopt;
  }
  const bool innerIsReduction =
      op.getIteratorTypesArray()[plan.inner] == utils::IteratorType::reduction;
  unsigned reduced = 0, unmatched = 0;
  for (unsigned i = 0, e = op.getNumDpsInits(); i < e; ++i) {
    OpOperand *init = op.getDpsInitOperand(i);
    Combiner combiner;
    if (innerUse(op.getMatchingIndexingMap(init), plan.inner) == InnerUse::None) {
      if (!innerIsReduction)
        return std::nullopt;
      unmatched += !matchCombiner(op, i, combiner);
      ++reduced;
    }
    plan.combiners.push_back(combiner);
  }
  if (!unmatched)
    return plan;
  if (reduced != op.getNumDpsInits() || !matchChoice(op, plan))
    return std::nullopt;
  plan.combiners.assign(reduced, Combiner());
  return plan;
}

} // namespace piton::simulator
