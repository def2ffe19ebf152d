// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is known of a scalar integer without running the program: an interval and
// a divisor. Both are recursive over the defining ops, to a fixed depth.
#include "compiler/Analysis/ScalarExpr.h"
#include "compiler/Dialect/Triton/Triton.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

#include <numeric>

using namespace mlir;

namespace piton {

static constexpr unsigned kMaxDepth = 8;

static int64_t saturate(__int128 value) {
  if (value > INT64_MAX)
    return INT64_MAX;
  return value < INT64_MIN ? INT64_MIN : static_cast<int64_t>(value);
}

IntRange typeRange(unsigned width, bool isSigned) {
  if (width >= 64)
    return {isSigned ? INT64_MIN : 0, INT64_MAX};
  if (isSigned)
    return {-(int64_t(1) << (width - 1)), (int64_t(1) << (width - 1)) - 1};
  return {0, (int64_t(1) << width) - 1};
}

static unsigned widthOf(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  return integer ? integer.getWidth() : 64;
}

static IntRange meet(IntRange a, IntRange b) {
  IntRange result{std::max(a.lo, b.lo), std::min(a.hi, b.hi)};
  return result.lo <= result.hi ? result : b;
}

static std::optional<int64_t> constantOf(Value value) {
  APInt number;
  if (!matchPattern(value, m_ConstantInt(&number)) || number.getBitWidth() > 64)
    return std::nullopt;
  return number.getSExtValue();
}

/// Narrows `known` by assumptions of the form `assume(value <pred> constant)` that stand in the
/// function's entry block and are therefore always reached.
static IntRange assumed(Value value, IntRange known) {
  for (Operation *user : value.getUsers()) {
    auto compare = dyn_cast<arith::CmpIOp>(user);
    if (!compare)
      continue;
    bool holds = llvm::any_of(compare->getUsers(), [](Operation *op) {
      return isa<LLVM::AssumeOp>(op) && op->getBlock()->isEntryBlock() &&
             isa<triton::FuncOp>(op->getParentOp());
    });
    if (!holds)
      continue;
    bool left = compare.getLhs() == value;
    std::optional<int64_t> other = constantOf(left ? compare.getRhs() : compare.getLhs());
    if (!other)
      continue;
    using P = arith::CmpIPredicate;
    P pred = compare.getPredicate();
    if (!left) {
      switch (pred) {
      case P::slt:
        pred = P::sgt;
        break;
      case P::sle:
        pred = P::sge;
        break;
      case P::sgt:
        pred = P::slt;
        break;
      case P::sge:
        pred = P::sle;
        break;
      default:
        break;
      }
    }
    if (pred == P::sge)
      known = meet({*other, INT64_MAX}, known);
    else if (pred == P::sgt && *other != INT64_MAX)
      known = meet({*other + 1, INT64_MAX}, known);
    else if (pred == P::sle)
      known = meet({INT64_MIN, *other}, known);
    else if (pred == P::slt && *other != INT64_MIN)
      known = meet({INT64_MIN, *other - 1}, known);
    else if (pred == P::eq)
      known = meet({*other, *other}, known);
  }
  return known;
}

static IntRange hull(std::initializer_list<__int128> values) {
  __int128 lo = *values.begin(), hi = lo;
  for (__int128 value : values) {
    lo = std::min(lo, value);
    hi = std::max(hi, value);
  }
  return {saturate(lo), saturate(hi)};
}

static IntRange rangeOfBlockArgument(BlockArgument arg, IntRange all, unsigned depth) {
  auto loop = dyn_cast_or_null<scf::ForOp>(arg.getOwner()->getParentOp());
  if (!loop || arg != loop.getInductionVar() || loop.getUnsignedCmp())
    return all;
  IntRange lower = scalarRange(loop.getLowerBound(), depth + 1);
  IntRange upper = scalarRange(loop.getUpperBound(), depth + 1);
  // The body runs only below the upper bound, and the step is positive.
  return meet({lower.lo, upper.hi == INT64_MIN ? upper.hi : upper.hi - 1}, all);
}

static IntRange rangeOfOp(Value value, IntRange all, unsigned depth) {
  auto of = [&](Value operand) { return scalarRange(operand, depth + 1); };
  auto clamp = [&](IntRange range) -> IntRange {
    return {std::clamp(range.lo, all.lo, all.hi), std::clamp(range.hi, all.lo, all.hi)};
  };
  return TypeSwitch<Operation *, IntRange>(value.getDefiningOp())
      .Case<triton::GetProgramIdOp>([&](auto) { return IntRange{0, all.hi}; })
      .Case<triton::GetNumProgramsOp>([&](auto) { return IntRange{1, all.hi}; })
      .Case<arith::ExtSIOp, arith::IndexCastOp>([&](auto op) { return meet(of(op.getIn()), all); })
      .Case<arith::ExtUIOp, arith::IndexCastUIOp>([&](auto op) {
        IntRange in = of(op.getIn());
        return in.lo >= 0 ? in : typeRange(widthOf(op.getIn().getType()), false);
      })
      .Case<arith::TruncIOp>([&](auto op) {
        IntRange in = of(op.getIn());
        return in.within(all.lo, all.hi) ? in : all;
      })
      .Case<arith::AddIOp>([&](auto op) {
        IntRange a = of(op.getLhs()), b = of(op.getRhs());
        return clamp(hull({(__int128)a.lo + b.lo, (__int128)a.hi + b.hi}));
      })
      .Case<arith::SubIOp>([&](auto op) {
        IntRange a = of(op.getLhs()), b = of(op.getRhs());
        return clamp(hull({(__int128)a.lo - b.hi, (__int128)a.hi - b.lo}));
      })
      .Case<arith::MulIOp>([&](auto op) {
        IntRange a = of(op.getLhs()), b = of(op.getRhs());
        return clamp(hull({(__int128)a.lo * b.lo, (__int128)a.lo * b.hi, (__int128)a.hi * b.lo,
                           (__int128)a.hi * b.hi}));
      })
      .Case<arith::DivSIOp, arith::DivUIOp>([&](auto op) {
        IntRange a = of(op.getLhs()), b = of(op.getRhs());
        if (a.lo >= 0 && b.lo >= 1)
          return IntRange{a.lo / b.hi, a.hi / b.lo};
        return all;
      })
      .Case<arith::RemSIOp, arith::RemUIOp>([&](auto op) {
        IntRange a = of(op.getLhs()), b = of(op.getRhs());
        if (b.lo < 1)
          return all;
        if (a.lo >= 0)
          return IntRange{0, std::min(a.hi, b.hi - 1)};
        return isa<arith::RemSIOp>(op) ? IntRange{-(b.hi - 1), b.hi - 1} : all;
      })
      .Case<arith::MinSIOp>([&](auto op) {
        IntRange a = of(op.getLhs()), b = of(op.getRhs());
        return IntRange{std::min(a.lo, b.lo), std::min(a.hi, b.hi)};
      })
      .Case<arith::MaxSIOp>([&](auto op) {
        IntRange a = of(op.getLhs()), b = of(op.getRhs());
        return IntRange{std::max(a.lo, b.lo), std::max(a.hi, b.hi)};
      })
      .Case<arith::AndIOp>([&](auto op) {
        IntRange a = of(op.getLhs()), b = of(op.getRhs());
        if (a.lo < 0 && b.lo < 0)
          return all;
        return IntRange{0, a.lo < 0 ? b.hi : b.lo < 0 ? a.hi : std::min(a.hi, b.hi)};
      })
      .Case<arith::ShRSIOp, arith::ShRUIOp>([&](auto op) {
        IntRange a = of(op.getLhs());
        return a.lo >= 0 ? IntRange{0, a.hi} : all;
      })
      .Case<arith::SelectOp>([&](auto op) {
        IntRange a = of(op.getTrueValue()), b = of(op.getFalseValue());
        return IntRange{std::min(a.lo, b.lo), std::max(a.hi, b.hi)};
      })
      .Default([&](Operation *) { return all; });
}

IntRange scalarRange(Value value, unsigned depth) {
  IntRange all = typeRange(widthOf(value.getType()));
  if (std::optional<int64_t> number = constantOf(value))
    return {*number, *number};
  if (depth > kMaxDepth)
    return all;
  if (auto arg = dyn_cast<BlockArgument>(value))
    return assumed(value, rangeOfBlockArgument(arg, all, depth));
  if (!isa<IntegerType, IndexType>(value.getType()))
    return all;
  return assumed(value, rangeOfOp(value, all, depth));
}

static int64_t gcd(int64_t a, int64_t b) { return std::gcd(a, b); }

static int64_t product(int64_t a, int64_t b) {
  __int128 result = (__int128)a * b;
  return result > INT32_MAX || result < INT32_MIN ? 1 : std::abs(static_cast<int64_t>(result));
}

static int64_t lowestBit(int64_t value) { return value & -value; }

static int64_t divisorOfBlockArgument(BlockArgument arg, unsigned depth) {
  Operation *parent = arg.getOwner()->getParentOp();
  if (auto loop = dyn_cast_or_null<scf::ForOp>(parent))
    return arg == loop.getInductionVar() ? gcd(scalarDivisor(loop.getLowerBound(), depth + 1),
                                               scalarDivisor(loop.getStep(), depth + 1))
                                         : 1;
  auto func = dyn_cast_or_null<FunctionOpInterface>(parent);
  if (!func || !arg.getOwner()->isEntryBlock())
    return 1;
  auto hint = func.getArgAttrOfType<IntegerAttr>(arg.getArgNumber(), "tt.divisibility");
  return hint && hint.getInt() > 0 ? hint.getInt() : 1;
}

int64_t scalarDivisor(Value value, unsigned depth) {
  if (std::optional<int64_t> number = constantOf(value))
    return *number == INT64_MIN ? 1 : std::abs(*number);
  if (depth > kMaxDepth)
    return 1;
  if (auto arg = dyn_cast<BlockArgument>(value))
    return divisorOfBlockArgument(arg, depth);
  auto of = [&](Value operand) { return scalarDivisor(operand, depth + 1); };
  Operation *def = value.getDefiningOp();
  if (auto hint = def->getAttrOfType<DenseIntElementsAttr>("tt.divisibility"))
    if (hint.isSplat() && hint.getSplatValue<APInt>().isStrictlyPositive())
      return hint.getSplatValue<APInt>().getSExtValue();
  return TypeSwitch<Operation *, int64_t>(def)
      .Case<arith::ExtSIOp, arith::IndexCastOp>([&](auto op) { return of(op.getIn()); })
      .Case<arith::ExtUIOp, arith::IndexCastUIOp, arith::TruncIOp>([&](auto op) {
        // Only powers of two survive a change of the bits above.
        return lowestBit(of(op.getIn()));
      })
      .Case<arith::AddIOp, arith::SubIOp>(
          [&](auto op) { return gcd(of(op.getLhs()), of(op.getRhs())); })
      .Case<arith::MinSIOp, arith::MaxSIOp>(
          [&](auto op) { return gcd(of(op.getLhs()), of(op.getRhs())); })
      .Case<arith::MulIOp>([&](auto op) { return product(of(op.getLhs()), of(op.getRhs())); })
      .Case<arith::SelectOp>(
          [&](auto op) { return gcd(of(op.getTrueValue()), of(op.getFalseValue())); })
      .Case<arith::ShLIOp>([&](auto op) -> int64_t {
        std::optional<int64_t> amount = constantOf(op.getRhs());
        return amount && *amount >= 0 && *amount < 31
                   ? product(of(op.getLhs()), int64_t(1) << *amount)
                   : 1;
      })
      .Case<arith::AndIOp>([&](auto op) -> int64_t {
        std::optional<int64_t> mask = constantOf(op.getRhs());
        int64_t bit = mask && *mask != 0 ? lowestBit(*mask) : 1;
        return std::max<int64_t>(std::abs(bit), lowestBit(of(op.getLhs())));
      })
      .Default([](Operation *) -> int64_t { return 1; });
}

} // namespace piton
