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

/// `start` with every lane moved by `distance` (i64).
Value moved(OpBuilder &builder, Location loc, Value start, Value distance) {
  auto tensorType = dyn_cast<RankedTensorType>(start.getType());
  Type element = getElementTypeOrSelf(start.getType());
  if (auto integer = dyn_cast<IntegerType>(element); integer && integer.getWidth() < 64)
    distance = builder.createOrFold<arith::TruncIOp>(loc, integer, distance);
  if (tensorType)
    distance = splatTo(builder, loc, distance, tensorType.getShape());
  if (isa<triton::PointerType>(element))
    return triton::AddPtrOp::create(builder, loc, start.getType(), start, distance);
  return arith::AddIOp::create(builder, loc, start, distance);
}

/// Makes `value` (a block argument or result that now is the number carried for `start`) an i64,
/// and gives its users the tensor rebuilt at `builder`'s insertion point.
void carryNumber(OpBuilder &builder, Location loc, Value value, Value start) {
  value.setType(builder.getI64Type());
  if (value.use_empty())
    return;
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : value.getUses())
    uses.push_back(&use);
  Value rebuilt = moved(builder, loc, start, value);
  for (OpOperand *use : uses)
    use->set(rebuilt);
}

Value number(OpBuilder &builder, Location loc, LaneAnalysis &lanes, const Expr &expr) {
  return toI64(builder, loc, lanes.expressions().materialize(builder, loc, expr));
}

/// A loop argument as its initial form plus the symbol `arg`.
LaneForm hypothesis(LaneAnalysis &lanes, Value init, Value arg) {
  LaneForm form = lanes.of(init);
  form.offset = form.offset + lanes.expressions().symbol(arg);
  return form;
}

//===----------------------------------------------------------------------===//
// for
//===----------------------------------------------------------------------===//

void rewriteFor(scf::ForOp loop) {
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  SmallVector<unsigned> candidates;
  for (auto [index, arg] : llvm::enumerate(loop.getRegionIterArgs()))
    if (isCandidate(arg.getType()))
      candidates.push_back(index);
  while (!candidates.empty()) {
    LaneAnalysis lanes;
    for (unsigned index : candidates)
      lanes.assume(loop.getRegionIterArg(index),
                   hypothesis(lanes, loop.getInitArgs()[index], loop.getRegionIterArg(index)));
    SmallVector<unsigned> good;
    SmallVector<Expr> distances;
    for (unsigned index : candidates) {
      const LaneForm &init = lanes.of(loop.getInitArgs()[index]);
      const LaneForm &next = lanes.of(yield.getOperand(index));
      if (!next.samePattern(init))
        continue;
      good.push_back(index);
      distances.push_back(next.offset - init.offset);
    }
    if (good.size() != candidates.size()) {
      candidates = good;
      continue;
    }
    OpBuilder builder(loop);
    Location loc = loop.getLoc();
    for (unsigned index : good) {
      Value init = loop.getInitArgs()[index];
      builder.setInsertionPoint(loop);
      loop.getInitArgsMutable()[index].set(constantI64(builder, loc, 0));
      builder.setInsertionPointToStart(loop.getBody());
      carryNumber(builder, loc, loop.getRegionIterArg(index), init);
      builder.setInsertionPointAfter(loop);
      carryNumber(builder, loc, loop.getResult(index), init);
    }
    builder.setInsertionPoint(yield);
    for (auto [index, distance] : llvm::zip(good, distances))
      yield->setOperand(index, number(builder, loc, lanes, distance));
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
  for (auto [index, arg] : llvm::enumerate(before))
    if (isCandidate(arg.getType()))
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
    SmallVector<unsigned> good;
    SmallVector<Expr> distances;
    for (unsigned index : candidates) {
      const LaneForm &init = lanes.of(loop.getInits()[index]);
      const LaneForm &next = lanes.of(yield.getOperand(index));
      if (!next.samePattern(init))
        continue;
      good.push_back(index);
      distances.push_back(next.offset - init.offset);
    }
    if (good.size() != candidates.size()) {
      candidates = good;
      continue;
    }
    OpBuilder builder(loop);
    Location loc = loop.getLoc();
    SmallVector<Value> inits(loop.getInits());
    for (unsigned index : good) {
      builder.setInsertionPoint(loop);
      loop.getInitsMutable()[index].set(constantI64(builder, loc, 0));
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
      condition.getArgsMutable()[index].set(number(builder, loc, lanes, forwarded[index]));
    }
    builder.setInsertionPoint(yield);
    for (auto [index, distance] : llvm::zip(good, distances))
      yield->setOperand(index, number(builder, loc, lanes, distance));
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
  return llvm::all_of(values, [&](Value value) {
    return !op->isAncestor(value.getParentRegion()->getParentOp());
  });
}

void rewriteIf(scf::IfOp branch) {
  if (branch.getElseRegion().empty())
    return;
  scf::YieldOp thenYield = branch.thenYield(), elseYield = branch.elseYield();
  for (auto [index, result] : llvm::enumerate(branch.getResults())) {
    if (!isCandidate(result.getType()))
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
        Expr base = form->baseKind == LaneForm::Base::Address ? form->address
                                                              : context.symbol(form->base);
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
      yield->setOperand(index, number(builder, loc, lanes, form->offset));
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
