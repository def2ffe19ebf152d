// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What every lane of an integer tensor or a tensor of pointers holds, as an affine
// form plus terms that only memory knows. The shared ground of the address and the
// mask analysis and of the passes that rebuild accesses. Creates no IR.
#ifndef PITON_COMPILER_ANALYSIS_LANEANALYSIS_H
#define PITON_COMPILER_ANALYSIS_LANEANALYSIS_H

#include "compiler/Analysis/ScalarExpr.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallBitVector.h"

#include <memory>

namespace piton {

/// A run of lanes of one dimension with a constant distance. The pieces of a dimension are
/// listed outermost first; their sizes multiply to the dimension's.
struct Piece {
  int64_t size;
  Expr stride;
};

/// A tensor that is no affine form, times a factor. `dims[k]` is the lane dimension that
/// dimension k of `value` runs along, or -1 where every lane reads index 0.
struct OpaqueTerm {
  mlir::Value value;
  mlir::SmallVector<int, 4> dims;
  Expr factor = 1;
  bool isSigned = true;
  bool operator==(const OpaqueTerm &other) const {
    return value == other.value && dims == other.dims && factor == other.factor &&
           isSigned == other.isSigned;
  }
};

/// Lane (i0, i1, ...) = base + offset + sum over pieces of index * stride + sum of opaque terms.
/// Pointers count in elements of the pointee.
struct LaneForm {
  enum class Base { None, Pointer, Address, Opaque };
  Base baseKind = Base::None;
  mlir::Value base;                   ///< scalar pointer (Pointer), or tensor of pointers (Opaque)
  Expr address;                       ///< Address: the byte address, an integer
  mlir::SmallVector<int, 4> baseDims; ///< Opaque: as OpaqueTerm::dims
  mlir::SmallVector<mlir::SmallVector<Piece, 1>, 4> dims;
  Expr offset;
  mlir::SmallVector<OpaqueTerm, 1> opaque;

  /// True when the form is one base, one offset and one stride a dimension.
  bool isStructured() const;
  /// True when every lane has the same value.
  bool isUniform() const;
  /// The dimensions along which opaque parts differ.
  llvm::SmallBitVector opaqueDims() const;
  /// The dimensions along which lanes differ at all.
  llvm::SmallBitVector varyingDims() const;
  /// True when `other` differs from this form by its offset only.
  bool samePattern(const LaneForm &other) const;
  /// The only stride of a dimension (0 for a dimension of one lane); null if it is split.
  const Expr *stride(unsigned dim) const;
};

/// True when two forms have the same pieces and opaque terms.
bool samePieces(const LaneForm &a, const LaneForm &b);
/// The bits of an integer (or the elements of a tensor of them); 64 for others.
unsigned integerWidth(mlir::Type type);
/// The bytes an element of `type` takes in memory; 0 if unknown.
int64_t elementBytes(mlir::Type type);

/// Analyses values on demand and remembers them; throw it away once the IR has changed.
class LaneAnalysis {
public:
  ExprContext &expressions() { return context; }

  /// The form of an integer, index or pointer value, scalar or tensor. Never fails: what has
  /// no form is one opaque term (or an opaque base).
  const LaneForm &of(mlir::Value value);
  /// Makes `value` have `form` from now on (a loop's iteration argument under a hypothesis).
  void assume(mlir::Value value, LaneForm form) {
    known[value] = std::make_unique<LaneForm>(std::move(form));
  }

  /// Sum of two forms of one shape, or nothing where their pieces have no common refinement.
  std::optional<LaneForm> add(const LaneForm &a, const LaneForm &b);
  LaneForm scale(const LaneForm &form, const Expr &factor);
  /// Bounds of all lanes; the whole 64-bit range with opaque terms or symbolic strides.
  IntRange range(const LaneForm &form);

private:
  LaneForm analyze(mlir::Value value);
  LaneForm analyzeScalar(mlir::Value value);
  LaneForm analyzeShape(mlir::Operation *op, mlir::Value value);
  std::optional<LaneForm> analyzeConstant(mlir::Value value);
  std::optional<LaneForm> analyzeArith(mlir::Operation *op, mlir::Value value);
  std::optional<LaneForm> analyzePointer(mlir::Operation *op, mlir::Value value);
  std::optional<LaneForm> analyzeReshape(const LaneForm &source, mlir::ArrayRef<int64_t> shape);
  std::optional<LaneForm> multiply(const LaneForm &a, const LaneForm &b);
  std::optional<LaneForm> divide(const LaneForm &form, int64_t divisor, bool wantRemainder,
                                 bool truncates);
  std::optional<LaneForm> analyzeSelect(mlir::Value condition, mlir::Value a, mlir::Value b);
  LaneForm opaqueForm(mlir::Value value, const llvm::SmallBitVector &varying);

  ExprContext context;
  llvm::DenseMap<mlir::Value, std::unique_ptr<LaneForm>> known;
  llvm::DenseSet<mlir::Value> visiting; ///< operands are queued already
};

/// Joins adjacent pieces that continue each other; unit pieces vanish.
void normalize(LaneForm &form);
/// Splits the pieces of both dimensions to equal sizes; false where sizes do not nest.
bool refine(mlir::SmallVectorImpl<Piece> &a, mlir::SmallVectorImpl<Piece> &b);

} // namespace piton

#endif // PITON_COMPILER_ANALYSIS_LANEANALYSIS_H
