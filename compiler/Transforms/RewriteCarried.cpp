// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loop argument is taken to be its initial value plus one number, and the bodies
// are analysed under that hypothesis: if what the loop yields differs from the initial
// value by a number again, the number alone is carried. Arguments that fail are
// dropped and the rest is tried again.
#include "compiler/Transforms/RewriteCarried.h"

#include "compiler/Analysis/LaneAnalysis.h"
#include "compiler/Dialect/Triton/Triton.h"
#include "compiler/Transforms/AccessUtils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace piton {
namespace {

/// True for what can be carried as a number: pointers and tensors of pointers or integers.
bool isCandidate(Type type) {
  if (triton::isTensorPointerType(type))
    return false;
  if (isa<triton::PointerType>(type))
    return true;
  auto tensorType = dyn_cast<RankedTensorType>(type);
  if (!tensorType || !tensorType.hasStaticShape())
    return false;
  Type element = tensorType.getElementType();
  if (isa<triton::PointerType>(element))
    return true;
  auto integer = dyn_cast<IntegerType>(element);
  return integer && integer.getWidth() >= 8 && integer.getWidth() <= 64;
}

/// The type of the number carried for `type`: that of the lanes, so that it wraps as they do, and
/// i64 for pointers.
Type numberType(Type type) {
  Type element = getElementTypeOrSelf(type);
  return isa<IntegerType>(element) ? element : IntegerType::get(type.getContext(), 64);
}

/// True when `value` becomes part of an address or a mask. Integers that are only data stay
/// tensors: their sums may wrap on purpose.
bool reachesAccess(Value value) {
  if (isa<triton::PointerType>(getElementTypeOrSelf(value.getType())))
    return true;
  SmallVector<Value> pending{value};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!pending.empty() && seen.size() < 256) {
    for (Operation *user : pending.pop_back_val().getUsers()) {
      if (isa<triton::AddPtrOp, triton::IntToPtrOp>(user))
        return true;
      if (isa<triton::LoadOp, triton::StoreOp, triton::AtomicRMWOp>(user)) {
        // Only masks and pointers arrive here as i1; a stored integer is data.
        if (llvm::any_of(user->getOperands(), [&](Value operand) {
              return getElementTypeOrSelf(operand.getType()).isInteger(1) &&
                     operand.getDefiningOp() && seen.contains(operand.getDefiningOp());
            }))
          return true;
        continue;
      }
      bool follows = user->getNumRegions() == 0 && user->getNumResults() == 1 && isPure(user) &&
                     !isa<FloatType>(getElementTypeOrSelf(user->getResult(0).getType()));
      if (follows && seen.insert(user).second)
        pending.push_back(user->getResult(0));
    }
  }
  return false;
}

/// `start` with every lane moved by `distance` (of its number type).
Value moved(OpBuilder &builder, Location loc, Value start, Value distance) {
  auto tensorType = dyn_cast<RankedTensorType>(start.getType());
  Type element = getElementTypeOrSelf(start.getType());
  if (tensorType)
    distance = splatTo(builder, loc, distance, tensorType.getShape());
  if (isa<triton::PointerType>(element))
    return triton::AddPtrOp::create(builder, loc, start.getType(), start, distance);
  return arith::AddIOp::create(builder, loc, start, distance);
}

/// Makes `value` (a block argument or result) the number carried for `start`, and gives its users
/// the tensor rebuilt at `builder`'s insertion point.
void carryNumber(OpBuilder &builder, Location loc, Value value, Value start) {
  value.setType(numberType(start.getType()));
  if (value.use_empty())
    return;
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : value.getUses())
    uses.push_back(&use);
  Value rebuilt = moved(builder, loc, start, value);
  for (OpOperand *use : uses)
    use->set(rebuilt);
}

Value number(OpBuilder &builder, Location loc, LaneAnalysis &lanes, const Expr &expr, Type type) {
  OpFoldResult value = lanes.expressions().materialize(builder, loc, expr);
  if (type.isInteger(64))
    return toI64(builder, loc, value);
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return arith::ConstantOp::create(
        builder, loc,
        IntegerAttr::get(type, APInt(64, *constant).trunc(type.getIntOrFloatBitWidth())));
  return builder.createOrFold<arith::IndexCastOp>(loc, type, cast<Value>(value));
}

Value zeroNumber(OpBuilder &builder, Location loc, Type type) {
  return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(numberType(type)));
}

/// A loop argument as its initial form plus the symbol `arg`.
LaneForm hypothesis(LaneAnalysis &lanes, Value init, Value arg) {
  LaneForm form = lanes.of(init);
  form.offset = form.offset + lanes.expressions().symbol(arg);
  return form;
}

/// Loop values that move by one number in every lane, and that number.
struct UniformSteps {
  SmallVector<unsigned> indices;
  SmallVector<Expr> distances;
};

/// Those of `candidates` whose yielded form has the lanes of the initial one.
UniformSteps uniformSteps(LaneAnalysis &lanes, ArrayRef<unsigned> candidates, ValueRange inits,
                          scf::YieldOp yield) {
  UniformSteps steps;
  for (unsigned index : candidates) {
    const LaneForm &init = lanes.of(inits[index]);
    const LaneForm &next = lanes.of(yield.getOperand(index));
    if (!next.samePattern(init))
      continue;
    steps.indices.push_back(index);
    steps.distances.push_back(next.offset - init.offset);
  }
  return steps;
}

//===----------------------------------------------------------------------===//
// for
//===----------------------------------------------------------------------===//

void rewriteFor(scf::ForOp loop) {
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  SmallVector<unsigned> candidates;
  for (auto [index, arg] : llvm::enumerate(loop.getRegionIterArgs()))
    if (isCandidate(arg.getType()) && (reachesAccess(arg) || reachesAccess(loop.getResult(index))))
      candidates.push_back(index);
  while (!candidates.empty()) {
    LaneAnalysis lanes;
    for (unsigned index : candidates)
      lanes.assume(loop.getRegionIterArg(index),
                   hypothesis(lanes, loop.getInitArgs()[index], loop.getRegionIterArg(index)));
    auto [good, distances] = uniformSteps(lanes, candidates, loop.getInitArgs(), yield);
    if (good.size() != candidates.size()) {
      candidates = good;
      continue;
    }
    OpBuilder builder(loop);
    Location loc = loop.getLoc();
    for (unsigned index : good) {
      Value init = loop.getInitArgs()[index];
      builder.setInsertionPoint(loop);
      loop.getInitArgsMutable()[index].set(zeroNumber(builder, loc, init.getType()));
      builder.setInsertionPointToStart(loop.getBody());
      carryNumber(builder, loc, loop.getRegionIterArg(index), init);
      builder.setInsertionPointAfter(loop);
      carryNumber(builder, loc, loop.getResult(index), init);
    }
    builder.setInsertionPoint(yield);
    for (auto [index, distance] : llvm::zip(good, distances))
      yield->setOperand(
          index, number(builder, loc, lanes, distance, loop.getRegionIterArg(index).getType()));
    return;
  }
}

//===----------------------------------------------------------------------===//
// while
//===----------------------------------------------------------------------===//

void rewriteWhile(scf::WhileOp loop) {
  scf::ConditionOp condition = loop.getConditionOp();
  scf::YieldOp yield = loop.getYieldOp();
  auto before = loop.getBeforeArguments();
  auto after = loop.getAfterArguments();
  SmallVector<unsigned> candidates;
  // Any argument may end in an access, through the condition; one that does takes all along.
  bool reaches = llvm::any_of(before, reachesAccess) || llvm::any_of(after, reachesAccess) ||
                 llvm::any_of(loop.getResults(), reachesAccess);
  for (auto [index, arg] : llvm::enumerate(before))
    if (isCandidate(arg.getType()) && reaches)
      candidates.push_back(index);
  while (!candidates.empty()) {
    LaneAnalysis lanes;
    for (unsigned index : candidates)
      lanes.assume(before[index], hypothesis(lanes, loop.getInits()[index], before[index]));
    // What the condition forwards is some argument's initial value, moved.
    SmallVector<std::optional<unsigned>> source(after.size());
    SmallVector<Expr> forwarded(after.size());
    for (auto [index, value] : llvm::enumerate(condition.getArgs())) {
      if (!isCandidate(value.getType()))
        continue;
      const LaneForm &form = lanes.of(value);
      auto matches = [&](unsigned candidate) {
        return loop.getInits()[candidate].getType() == value.getType() &&
               form.samePattern(lanes.of(loop.getInits()[candidate]));
      };
      auto direct = llvm::find_if(candidates, [&](unsigned c) { return before[c] == value; });
      auto found = direct != candidates.end() ? direct : llvm::find_if(candidates, matches);
      if (found == candidates.end())
        continue;
      Value init = loop.getInits()[*found];
      source[index] = *found;
      forwarded[index] = form.offset - lanes.of(init).offset;
      lanes.assume(after[index], hypothesis(lanes, init, after[index]));
    }
    auto [good, distances] = uniformSteps(lanes, candidates, loop.getInits(), yield);
    if (good.size() != candidates.size()) {
      candidates = good;
      continue;
    }
    OpBuilder builder(loop);
    Location loc = loop.getLoc();
    SmallVector<Value> inits(loop.getInits());
    for (unsigned index : good) {
      builder.setInsertionPoint(loop);
      loop.getInitsMutable()[index].set(zeroNumber(builder, loc, inits[index].getType()));
      builder.setInsertionPointToStart(loop.getBeforeBody());
      carryNumber(builder, loc, before[index], inits[index]);
    }
    for (unsigned index = 0; index < after.size(); ++index) {
      if (!source[index])
        continue;
      builder.setInsertionPointToStart(loop.getAfterBody());
      carryNumber(builder, loc, after[index], inits[*source[index]]);
      builder.setInsertionPointAfter(loop);
      carryNumber(builder, loc, loop.getResult(index), inits[*source[index]]);
      builder.setInsertionPoint(condition);
      condition.getArgsMutable()[index].set(
          number(builder, loc, lanes, forwarded[index], after[index].getType()));
    }
    builder.setInsertionPoint(yield);
    for (auto [index, distance] : llvm::zip(good, distances))
      yield->setOperand(index, number(builder, loc, lanes, distance, before[index].getType()));
    return;
  }
}

//===----------------------------------------------------------------------===//
// if
//===----------------------------------------------------------------------===//

/// True when everything `form` is made of, its offset apart, is defined outside `op`.
bool patternIsOutside(LaneAnalysis &lanes, const LaneForm &form, Operation *op) {
  SmallVector<Value> values;
  auto collect = [&](const Expr &expr) { lanes.expressions().collectValues(expr, values); };
  for (auto &pieces : form.dims)
    for (const Piece &piece : pieces)
      collect(piece.stride);
  for (const OpaqueTerm &term : form.opaque) {
    values.push_back(term.value);
    collect(term.factor);
  }
  if (form.base)
    values.push_back(form.base);
  collect(form.address);
  return llvm::all_of(
      values, [&](Value value) { return !op->isAncestor(value.getParentRegion()->getParentOp()); });
}

void rewriteIf(scf::IfOp branch) {
  if (branch.getElseRegion().empty())
    return;
  scf::YieldOp thenYield = branch.thenYield(), elseYield = branch.elseYield();
  for (auto [index, result] : llvm::enumerate(branch.getResults())) {
    if (!isCandidate(result.getType()) || !reachesAccess(result))
      continue;
    LaneAnalysis lanes;
    ExprContext &context = lanes.expressions();
    Type type = result.getType();
    LaneForm a = lanes.of(thenYield.getOperand(index)), b = lanes.of(elseYield.getOperand(index));
    auto pointer = dyn_cast<triton::PointerType>(getElementTypeOrSelf(type));
    int64_t bytes = pointer ? elementBytes(pointer.getPointeeType()) : 0;
    auto isPlain = [](const LaneForm &form) {
      return form.baseKind == LaneForm::Base::Pointer || form.baseKind == LaneForm::Base::Address;
    };
    if (!a.samePattern(b) || !patternIsOutside(lanes, a, branch)) {
      // Other bases: the address of the first lane takes the place of base and offset.
      if (!bytes || !isPlain(a) || !isPlain(b))
        continue;
      for (LaneForm *form : {&a, &b}) {
        Expr base =
            form->baseKind == LaneForm::Base::Address ? form->address : context.symbol(form->base);
        form->offset = form->offset.scaled(bytes) + base;
        form->baseKind = LaneForm::Base::None;
        form->base = {};
        form->address = 0;
      }
      if (!a.samePattern(b) || !patternIsOutside(lanes, a, branch))
        continue;
    }
    Location loc = branch.getLoc();
    for (auto [yield, form] : {std::pair(thenYield, &a), std::pair(elseYield, &b)}) {
      OpBuilder builder(yield);
      yield->setOperand(index, number(builder, loc, lanes, form->offset, builder.getI64Type()));
    }
    result.setType(IntegerType::get(branch.getContext(), 64));
    if (result.use_empty())
      continue;
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : result.getUses())
      uses.push_back(&use);
    LaneForm pattern = a;
    if (pointer && pattern.baseKind == LaneForm::Base::None) {
      pattern.baseKind = LaneForm::Base::Address;
      pattern.address = context.symbol(result);
      pattern.offset = 0;
    } else {
      pattern.offset = context.symbol(result);
    }
    OpBuilder builder(branch.getContext());
    builder.setInsertionPointAfter(branch);
    Value rebuilt = materializeForm(builder, loc, lanes, pattern, type);
    for (OpOperand *use : uses)
      use->set(rebuilt);
  }
}

} // namespace

void rewriteCarriedTensors(Operation *root) {
  // Inner ops first: their results become sums that the outer ones can follow.
  root->walk([](Operation *op) {
    if (auto loop = dyn_cast<scf::ForOp>(op))
      rewriteFor(loop);
    else if (auto loop = dyn_cast<scf::WhileOp>(op))
      rewriteWhile(loop);
    else if (auto branch = dyn_cast<scf::IfOp>(op))
      rewriteIf(branch);
  });
}

} // namespace piton
