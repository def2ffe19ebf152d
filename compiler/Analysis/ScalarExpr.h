// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scalar index expressions that exist outside the IR: sums of products of scalar
// values. Analyses build and compare them freely; only `materialize` creates ops,
// so a failed analysis leaves no trace. All arithmetic is 64 bits wide.
#ifndef PITON_COMPILER_ANALYSIS_SCALAREXPR_H
#define PITON_COMPILER_ANALYSIS_SCALAREXPR_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

#include <deque>
#include <optional>

namespace piton {

/// A closed interval of 64-bit integers.
struct IntRange {
  int64_t lo, hi;
  bool within(int64_t low, int64_t high) const { return lo >= low && hi <= high; }
};

/// Every value an integer of `width` bits (signed or not) can have.
IntRange typeRange(unsigned width, bool isSigned = true);
/// A bound of the scalar integer `value` (read as signed), from constants, program ids, loop
/// bounds, arithmetic and assumptions. Sums and products of i32 are taken not to wrap, as are
/// the lanes of an address.
IntRange scalarRange(mlir::Value value, unsigned depth = 0);
/// A positive number that divides `value` whenever it is evaluated; 0 for the constant 0.
int64_t scalarDivisor(mlir::Value value, unsigned depth = 0);

/// A polynomial with integer coefficients over atoms (see ExprContext). Value semantics;
/// equal polynomials compare equal.
class Expr {
public:
  using Monomial = llvm::SmallVector<unsigned, 2>; ///< sorted atom ids; empty for the constant
  struct Term {
    Monomial atoms;
    int64_t factor;
    bool operator==(const Term &other) const {
      return factor == other.factor && atoms == other.atoms;
    }
  };

  Expr() = default;
  Expr(int64_t value);
  bool operator==(const Expr &other) const { return terms == other.terms; }
  bool operator!=(const Expr &other) const { return !(*this == other); }

  /// The value, if the expression is a constant.
  std::optional<int64_t> constant() const;
  bool isZero() const { return terms.empty(); }
  bool isConstant(int64_t value) const { return constant() == value; }

  Expr operator+(const Expr &other) const;
  Expr operator-(const Expr &other) const { return *this + other.scaled(-1); }
  Expr scaled(int64_t factor) const;

private:
  friend class ExprContext;
  friend class ExprMaterializer;
  llvm::SmallVector<Term, 2> terms; ///< sorted by monomial, no zero factors
};

/// Owns the atoms of expressions: scalar values and the operations that are no sum of products.
class ExprContext {
public:
  enum class Kind { Leaf, Product, FloorDiv, FloorMod, Min, Max, Select, Compare, SatSub, LowBits };

  /// The scalar integer or index `value`, extended by its sign or by zeroes. Constants, sign
  /// extensions and 64-bit sums are looked through.
  Expr leaf(mlir::Value value, bool isSigned = true);
  /// The element that all lanes of the tensor `value` share.
  Expr element(mlir::Value value);
  /// A name for an integer that `value` will stand for (any type, no known bounds): a loop's
  /// argument before it changes its type, or the address of a scalar pointer.
  Expr symbol(mlir::Value value);
  Expr mul(const Expr &a, const Expr &b);
  Expr floorDiv(const Expr &a, int64_t divisor);
  Expr ceilDiv(const Expr &a, int64_t divisor);
  Expr floorMod(const Expr &a, int64_t divisor);
  Expr min(const Expr &a, const Expr &b);
  Expr max(const Expr &a, const Expr &b);
  /// a - b, saturated far outside every tensor's bounds.
  Expr satSub(const Expr &a, const Expr &b);
  /// The low `width` bits of `a`, read as unsigned. For 64 bits, negative gives the maximum.
  Expr zeroExtended(const Expr &a, unsigned width);
  /// 1 if `a` >= 0, else 0.
  Expr nonNegative(const Expr &a);
  /// `a` where `condition` (0 or 1) is 1, else `b`.
  Expr select(const Expr &condition, const Expr &a, const Expr &b);

  /// The values that `expr` is made of.
  void collectValues(const Expr &expr, llvm::SmallVectorImpl<mlir::Value> &values) const;

  IntRange range(const Expr &expr);
  /// A positive number that divides `expr`; 0 when it is the constant 0.
  int64_t divisor(const Expr &expr);

  /// Creates the ops of `expr` at the builder's insertion point. `replaced` maps leaf and
  /// symbol values to the (integer or index) values that stand for them.
  mlir::OpFoldResult
  materialize(mlir::OpBuilder &builder, mlir::Location loc, const Expr &expr,
              const llvm::DenseMap<mlir::Value, mlir::Value> *replaced = nullptr);

private:
  struct Atom {
    Kind kind;
    mlir::Value value;
    bool isSigned = true;
    int64_t number = 0;
    Expr a = {}, b = {}, c = {};
  };
  Expr atom(Atom atom);
  Expr computeLeaf(mlir::Value value, bool isSigned, unsigned depth);
  IntRange atomRange(const Atom &atom);
  int64_t atomDivisor(const Atom &atom);

  std::deque<Atom> atoms;
  llvm::DenseMap<mlir::Value, Expr> leaves[2]; ///< by signedness
  friend class ExprMaterializer;
};

} // namespace piton

#endif // PITON_COMPILER_ANALYSIS_SCALAREXPR_H
