// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Polynomials over scalar values: arithmetic, bounds, divisors, and the one place
// where they become ops. Coefficients wrap at 64 bits, as index arithmetic does.
#include "compiler/Analysis/ScalarExpr.h"

#include "compiler/Dialect/Triton/Triton.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#include <numeric>

using namespace mlir;

namespace piton {

/// Bounds beyond every tensor and buffer, with room for small sums.
static constexpr int64_t kFar = int64_t(1) << 62;

/// Marks a leaf of which no bound is known (in Atom::number).
static constexpr int64_t kUnbounded = 1;

static int64_t wrapAdd(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
static int64_t wrapMul(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

Expr::Expr(int64_t value) {
  if (value != 0)
    terms.push_back({{}, value});
}

std::optional<int64_t> Expr::constant() const {
  if (terms.empty())
    return 0;
  if (terms.size() == 1 && terms[0].atoms.empty())
    return terms[0].factor;
  return std::nullopt;
}

Expr Expr::operator+(const Expr &other) const {
  Expr result;
  auto a = terms.begin(), b = other.terms.begin();
  auto less = [](const Monomial &x, const Monomial &y) {
    return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end());
  };
  while (a != terms.end() || b != other.terms.end()) {
    if (b == other.terms.end() || (a != terms.end() && less(a->atoms, b->atoms))) {
      result.terms.push_back(*a++);
    } else if (a == terms.end() || less(b->atoms, a->atoms)) {
      result.terms.push_back(*b++);
    } else {
      if (int64_t factor = wrapAdd(a->factor, b->factor))
        result.terms.push_back({a->atoms, factor});
      ++a, ++b;
    }
  }
  return result;
}

Expr Expr::scaled(int64_t factor) const {
  Expr result;
  for (const Term &term : terms)
    if (int64_t product = wrapMul(term.factor, factor))
      result.terms.push_back({term.atoms, product});
  return result;
}

Expr ExprContext::atom(Atom atom) {
  unsigned id = 0;
  for (; id < atoms.size(); ++id) {
    const Atom &known = atoms[id];
    if (known.kind == atom.kind && known.value == atom.value && known.isSigned == atom.isSigned &&
        known.number == atom.number && known.a == atom.a && known.b == atom.b && known.c == atom.c)
      break;
  }
  if (id == atoms.size())
    atoms.push_back(std::move(atom));
  Expr result;
  result.terms.push_back({{id}, 1});
  return result;
}

Expr ExprContext::element(Value value) { return atom({Kind::Leaf, value}); }

Expr ExprContext::symbol(Value value) { return atom({Kind::Leaf, value, true, kUnbounded}); }

void ExprContext::collectValues(const Expr &expr, SmallVectorImpl<Value> &values) const {
  for (const Expr::Term &term : expr.terms)
    for (unsigned id : term.atoms) {
      const Atom &atom = atoms[id];
      if (atom.kind == Kind::Leaf)
        values.push_back(atom.value);
      for (const Expr *part : {&atom.a, &atom.b, &atom.c})
        collectValues(*part, values);
    }
}

Expr ExprContext::leaf(Value value, bool isSigned) { return computeLeaf(value, isSigned, 0); }

Expr ExprContext::computeLeaf(Value value, bool isSigned, unsigned depth) {
  // Chains are followed to a fixed depth; shared parts once.
  constexpr unsigned maxDepth = 64;
  auto known = leaves[isSigned].find(value);
  if (known != leaves[isSigned].end())
    return known->second;
  auto leaf = [&](Value inner, bool innerSigned = true) {
    return computeLeaf(inner, innerSigned, depth + 1);
  };
  auto remember = [&](Expr expr) { return leaves[isSigned][value] = std::move(expr); };
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number)) && number.getBitWidth() <= 64)
    return isSigned ? number.getSExtValue() : static_cast<int64_t>(number.getZExtValue());
  if (IntRange known = scalarRange(value); known.lo == known.hi && (isSigned || known.lo >= 0))
    return known.lo;
  if (!isSigned) {
    // A zero-extended value that is never negative is its own sign extension.
    if (scalarRange(value).lo < 0)
      return remember(atom({Kind::Leaf, value, false}));
  }
  if (depth > maxDepth)
    return remember(atom({Kind::Leaf, value}));
  if (auto ext = value.getDefiningOp<arith::ExtSIOp>())
    return remember(leaf(ext.getIn()));
  if (auto ext = value.getDefiningOp<arith::ExtUIOp>())
    return remember(leaf(ext.getIn(), false));
  if (auto cast = value.getDefiningOp<arith::IndexCastOp>())
    if (isa<IndexType>(cast.getType()) || cast.getType().isInteger(64))
      return remember(leaf(cast.getIn()));
  if (value.getType().isInteger(64) || isa<IndexType>(value.getType())) {
    // 64-bit arithmetic is exact modulo 2^64 in the expression as in the program.
    if (auto add = value.getDefiningOp<arith::AddIOp>())
      return remember(leaf(add.getLhs()) + leaf(add.getRhs()));
    if (auto sub = value.getDefiningOp<arith::SubIOp>())
      return remember(leaf(sub.getLhs()) - leaf(sub.getRhs()));
    if (auto mul = value.getDefiningOp<arith::MulIOp>()) {
      Expr a = leaf(mul.getLhs()), b = leaf(mul.getRhs());
      if (a.constant() || b.constant())
        return remember(this->mul(a, b));
    }
  }
  return remember(atom({Kind::Leaf, value}));
}

Expr ExprContext::mul(const Expr &a, const Expr &b) {
  if (std::optional<int64_t> factor = a.constant())
    return b.scaled(*factor);
  if (std::optional<int64_t> factor = b.constant())
    return a.scaled(*factor);
  if (a.terms.size() == 1 && b.terms.size() == 1) {
    Expr::Term term = a.terms[0];
    term.factor = wrapMul(term.factor, b.terms[0].factor);
    term.atoms.append(b.terms[0].atoms.begin(), b.terms[0].atoms.end());
    llvm::sort(term.atoms);
    Expr result;
    if (term.factor)
      result.terms.push_back(std::move(term));
    return result;
  }
  // A product of sums stays one atom: distributing it would multiply the work.
  bool swap = b.terms.size() > a.terms.size();
  return atom({Kind::Product, {}, true, 0, swap ? b : a, swap ? a : b});
}

static int64_t floorDivide(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

Expr ExprContext::floorDiv(const Expr &a, int64_t by) {
  assert(by > 0 && "division by a positive constant");
  if (by == 1)
    return a;
  Expr quotient, rest;
  for (const Expr::Term &term : a.terms) {
    Expr part;
    if (term.atoms.empty()) {
      quotient = quotient + Expr(floorDivide(term.factor, by));
      rest = rest + Expr(term.factor - floorDivide(term.factor, by) * by);
    } else if (term.factor % by == 0) {
      part.terms.push_back({term.atoms, term.factor / by});
      quotient = quotient + part;
    } else {
      part.terms.push_back(term);
      rest = rest + part;
    }
  }
  if (std::optional<int64_t> number = rest.constant())
    return quotient + Expr(floorDivide(*number, by));
  return quotient + atom({Kind::FloorDiv, {}, true, by, rest});
}

Expr ExprContext::ceilDiv(const Expr &a, int64_t by) {
  return by == 1 ? a : floorDiv(a + Expr(by - 1), by);
}

Expr ExprContext::floorMod(const Expr &a, int64_t by) {
  if (divisor(a) % by == 0)
    return 0;
  if (std::optional<int64_t> number = a.constant())
    return *number - floorDivide(*number, by) * by;
  return atom({Kind::FloorMod, {}, true, by, a});
}

Expr ExprContext::min(const Expr &a, const Expr &b) {
  IntRange x = range(a), y = range(b);
  if (a == b || x.hi <= y.lo)
    return a;
  return y.hi <= x.lo ? b : atom({Kind::Min, {}, true, 0, a, b});
}

Expr ExprContext::max(const Expr &a, const Expr &b) {
  IntRange x = range(a), y = range(b);
  if (a == b || x.lo >= y.hi)
    return a;
  return y.lo >= x.hi ? b : atom({Kind::Max, {}, true, 0, a, b});
}

Expr ExprContext::satSub(const Expr &a, const Expr &b) {
  IntRange x = range(a), y = range(b);
  if (x.within(-kFar / 2, kFar / 2) && y.within(-kFar / 2, kFar / 2))
    return a - b;
  if (y.within(-kFar / 4, kFar / 4))
    return min(max(a, -kFar), kFar) - b;
  return atom({Kind::SatSub, {}, true, 0, a, b});
}

Expr ExprContext::zeroExtended(const Expr &a, unsigned width) {
  if (range(a).lo >= 0)
    return a;
  if (width >= 64)
    return select(nonNegative(a), a, INT64_MAX);
  if (std::optional<int64_t> number = a.constant())
    return *number & typeRange(width, false).hi;
  return atom({Kind::LowBits, {}, true, width, a});
}

Expr ExprContext::nonNegative(const Expr &a) {
  IntRange known = range(a);
  if (known.lo >= 0)
    return 1;
  return known.hi < 0 ? Expr(0) : atom({Kind::Compare, {}, true, 0, a});
}

Expr ExprContext::select(const Expr &condition, const Expr &a, const Expr &b) {
  if (a == b || condition.isConstant(1))
    return a;
  return condition.isZero() ? b : atom({Kind::Select, {}, true, 0, a, b, condition});
}

static int64_t saturate(__int128 value) {
  if (value > INT64_MAX)
    return INT64_MAX;
  return value < INT64_MIN ? INT64_MIN : static_cast<int64_t>(value);
}

static IntRange times(IntRange a, IntRange b) {
  __int128 corner[] = {(__int128)a.lo * b.lo, (__int128)a.lo * b.hi, (__int128)a.hi * b.lo,
                       (__int128)a.hi * b.hi};
  return {saturate(*std::min_element(corner, corner + 4)),
          saturate(*std::max_element(corner, corner + 4))};
}

IntRange ExprContext::range(const Expr &expr) {
  __int128 lo = 0, hi = 0;
  for (const Expr::Term &term : expr.terms) {
    IntRange product{term.factor, term.factor};
    for (unsigned id : term.atoms)
      product = times(product, atomRange(atoms[id]));
    lo += product.lo;
    hi += product.hi;
  }
  // A sum that may leave 64 bits wraps: nothing is known of it.
  if (lo < INT64_MIN || hi > INT64_MAX)
    return typeRange(64);
  return {static_cast<int64_t>(lo), static_cast<int64_t>(hi)};
}

IntRange ExprContext::atomRange(const Atom &atom) {
  switch (atom.kind) {
  case Kind::Leaf: {
    if (atom.number == kUnbounded)
      return typeRange(64);
    auto integer = dyn_cast<IntegerType>(getElementTypeOrSelf(atom.value.getType()));
    unsigned width = integer ? integer.getWidth() : 64;
    if (!atom.isSigned || !isa<IntegerType, IndexType>(atom.value.getType()))
      return typeRange(width, atom.isSigned);
    return scalarRange(atom.value);
  }
  case Kind::Product:
    return times(range(atom.a), range(atom.b));
  case Kind::FloorDiv: {
    IntRange a = range(atom.a);
    return {floorDivide(a.lo, atom.number), floorDivide(a.hi, atom.number)};
  }
  case Kind::FloorMod:
    return {0, atom.number - 1};
  case Kind::Min: {
    IntRange a = range(atom.a), b = range(atom.b);
    return {std::min(a.lo, b.lo), std::min(a.hi, b.hi)};
  }
  case Kind::Max: {
    IntRange a = range(atom.a), b = range(atom.b);
    return {std::max(a.lo, b.lo), std::max(a.hi, b.hi)};
  }
  case Kind::Select: {
    IntRange a = range(atom.a), b = range(atom.b);
    return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)};
  }
  case Kind::Compare:
    return {0, 1};
  case Kind::SatSub:
    return {-kFar, kFar};
  case Kind::LowBits:
    return typeRange(atom.number, false);
  }
  return typeRange(64);
}

int64_t ExprContext::divisor(const Expr &expr) {
  int64_t result = 0;
  for (const Expr::Term &term : expr.terms) {
    __int128 product = term.factor == INT64_MIN ? 1 : std::abs(term.factor);
    for (unsigned id : term.atoms)
      product =
          std::min<__int128>(product * std::max<int64_t>(atomDivisor(atoms[id]), 1), INT64_MAX);
    if (product == INT64_MAX)
      product = 1;
    result = std::gcd(result, static_cast<int64_t>(product));
  }
  return result;
}

int64_t ExprContext::atomDivisor(const Atom &atom) {
  switch (atom.kind) {
  case Kind::Leaf: {
    if (!isa<IntegerType, IndexType>(atom.value.getType()) || atom.number == kUnbounded)
      return 1;
    int64_t known = scalarDivisor(atom.value);
    return atom.isSigned ? known : (known & -known);
  }
  case Kind::Min:
  case Kind::Max:
  case Kind::Select:
    return std::gcd(divisor(atom.a), divisor(atom.b));
  case Kind::Product: {
    __int128 product = (__int128)divisor(atom.a) * divisor(atom.b);
    return product > INT64_MAX ? 1 : static_cast<int64_t>(product);
  }
  default:
    return 1;
  }
}

//===----------------------------------------------------------------------===//
// Materialisation
//===----------------------------------------------------------------------===//

class ExprMaterializer {
public:
  ExprMaterializer(ExprContext &context, OpBuilder &builder, Location loc,
                   const DenseMap<Value, Value> *replaced)
      : context(context), builder(builder), loc(loc), replaced(replaced) {}

  Value value(const Expr &expr) {
    Value sum;
    int64_t constant = 0;
    for (const Expr::Term &term : expr.terms) {
      if (term.atoms.empty()) {
        constant = term.factor;
      } else if (term.factor != -1) {
        Value part = product(term);
        sum = sum ? create<arith::AddIOp>(sum, part) : part;
      }
    }
    for (const Expr::Term &term : expr.terms) {
      if (term.atoms.empty() || term.factor != -1)
        continue;
      if (!sum)
        sum = number(std::exchange(constant, 0));
      sum = create<arith::SubIOp>(sum, product({term.atoms, 1}));
    }
    if (!sum)
      return number(constant);
    return constant ? create<arith::AddIOp>(sum, number(constant)) : sum;
  }

private:
  template <typename OpTy> Value create(Value a, Value b) {
    return builder.createOrFold<OpTy>(loc, a, b);
  }
  Value number(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }

  Value product(const Expr::Term &term) {
    Value result;
    for (unsigned id : term.atoms) {
      Value factor = atom(id);
      result = result ? create<arith::MulIOp>(result, factor) : factor;
    }
    return term.factor == 1 ? result : create<arith::MulIOp>(result, number(term.factor));
  }

  Value leaf(const ExprContext::Atom &atom) {
    Value source = atom.value;
    if (replaced)
      if (Value other = replaced->lookup(source))
        source = other;
    // A tensor of equal elements stands for its element, a pointer for its address.
    if (auto tensorType = dyn_cast<RankedTensorType>(source.getType())) {
      SmallVector<Value> zeroes;
      for (int64_t d = 0; d < tensorType.getRank(); ++d)
        zeroes.push_back(number(0));
      source = tensor::ExtractOp::create(builder, loc, source, zeroes);
    }
    if (isa<IndexType>(source.getType()))
      return source;
    if (isa<triton::PointerType>(source.getType()))
      source = triton::PtrToIntOp::create(builder, loc, builder.getI64Type(), source);
    if (atom.isSigned)
      return builder.createOrFold<arith::IndexCastOp>(loc, builder.getIndexType(), source);
    return builder.createOrFold<arith::IndexCastUIOp>(loc, builder.getIndexType(), source);
  }

  Value compare(arith::CmpIPredicate predicate, Value a, Value b) {
    return builder.createOrFold<arith::CmpIOp>(loc, predicate, a, b);
  }

  /// The i1 of a condition, which is an expression of value 0 or 1.
  Value condition(const Expr &expr) {
    if (expr.terms.size() == 1 && expr.terms[0].atoms.size() == 1 && expr.terms[0].factor == 1) {
      const ExprContext::Atom &atom = context.atoms[expr.terms[0].atoms[0]];
      if (atom.kind == ExprContext::Kind::Compare)
        return compare(arith::CmpIPredicate::sge, value(atom.a), number(0));
      if (atom.kind == ExprContext::Kind::Leaf && atom.value.getType().isInteger(1) &&
          !(replaced && replaced->count(atom.value)))
        return atom.value;
    }
    return compare(arith::CmpIPredicate::ne, value(expr), number(0));
  }

  Value select(Value cond, Value a, Value b) {
    return builder.createOrFold<arith::SelectOp>(loc, cond, a, b);
  }

  Value saturatedDifference(Value a, Value b) {
    Value difference = create<arith::SubIOp>(a, b);
    // Overflow: the operands differ in sign, and so do the result and `a`.
    Value flips =
        create<arith::AndIOp>(create<arith::XOrIOp>(a, b), create<arith::XOrIOp>(a, difference));
    Value limit =
        select(compare(arith::CmpIPredicate::slt, a, number(0)), number(-kFar), number(kFar));
    Value exact = select(compare(arith::CmpIPredicate::slt, flips, number(0)), limit, difference);
    return create<arith::MinSIOp>(create<arith::MaxSIOp>(exact, number(-kFar)), number(kFar));
  }

  Value atom(unsigned id) {
    if (Value known = cache.lookup(id))
      return known;
    const ExprContext::Atom &a = context.atoms[id];
    Value result;
    switch (a.kind) {
    case ExprContext::Kind::Leaf:
      result = leaf(a);
      break;
    case ExprContext::Kind::Product:
      result = create<arith::MulIOp>(value(a.a), value(a.b));
      break;
    case ExprContext::Kind::FloorDiv:
      result = create<arith::FloorDivSIOp>(value(a.a), number(a.number));
      break;
    case ExprContext::Kind::FloorMod: {
      Value source = value(a.a);
      Value quotient = create<arith::FloorDivSIOp>(source, number(a.number));
      result = create<arith::SubIOp>(source, create<arith::MulIOp>(quotient, number(a.number)));
      break;
    }
    case ExprContext::Kind::Min:
      result = create<arith::MinSIOp>(value(a.a), value(a.b));
      break;
    case ExprContext::Kind::Max:
      result = create<arith::MaxSIOp>(value(a.a), value(a.b));
      break;
    case ExprContext::Kind::Select:
      result = select(condition(a.c), value(a.a), value(a.b));
      break;
    case ExprContext::Kind::Compare:
      result = builder.createOrFold<arith::IndexCastUIOp>(
          loc, builder.getIndexType(), compare(arith::CmpIPredicate::sge, value(a.a), number(0)));
      break;
    case ExprContext::Kind::SatSub:
      result = saturatedDifference(value(a.a), value(a.b));
      break;
    case ExprContext::Kind::LowBits:
      result = create<arith::AndIOp>(value(a.a), number(typeRange(a.number, false).hi));
      break;
    }
    return cache[id] = result;
  }

  ExprContext &context;
  OpBuilder &builder;
  Location loc;
  const DenseMap<Value, Value> *replaced;
  DenseMap<unsigned, Value> cache;
};

OpFoldResult ExprContext::materialize(OpBuilder &builder, Location loc, const Expr &expr,
                                      const DenseMap<Value, Value> *replaced) {
  if (std::optional<int64_t> number = expr.constant())
    return builder.getIndexAttr(*number);
  return getAsOpFoldResult(ExprMaterializer(*this, builder, loc, replaced).value(expr));
}

} // namespace piton
