// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lane forms as values: comparison, normal form, and arithmetic. A division splits
// pieces where their sizes nest, so that quotient and remainder are forms again.
#include "compiler/Analysis/LaneAnalysis.h"

#include "compiler/Dialect/Triton/Triton.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace piton {

//===----------------------------------------------------------------------===//
// Forms
//===----------------------------------------------------------------------===//

const Expr *LaneForm::stride(unsigned dim) const {
  static const Expr zero;
  if (dims[dim].empty())
    return &zero;
  return dims[dim].size() == 1 ? &dims[dim][0].stride : nullptr;
}

bool LaneForm::isStructured() const {
  if (baseKind == Base::Opaque || !opaque.empty())
    return false;
  return llvm::all_of(dims, [](auto &pieces) { return pieces.size() <= 1; });
}

bool LaneForm::isUniform() const { return varyingDims().none(); }

llvm::SmallBitVector LaneForm::opaqueDims() const {
  llvm::SmallBitVector result(dims.size());
  auto mark = [&](ArrayRef<int> along) {
    for (int dim : along)
      if (dim >= 0)
        result.set(dim);
  };
  for (const OpaqueTerm &term : opaque)
    mark(term.dims);
  if (baseKind == Base::Opaque)
    mark(baseDims);
  return result;
}

llvm::SmallBitVector LaneForm::varyingDims() const {
  llvm::SmallBitVector result = opaqueDims();
  for (auto [dim, pieces] : llvm::enumerate(dims))
    for (const Piece &piece : pieces)
      if (!piece.stride.isZero())
        result.set(dim);
  return result;
}

bool samePieces(const LaneForm &a, const LaneForm &b) {
  if (a.dims.size() != b.dims.size())
    return false;
  for (auto [mine, theirs] : llvm::zip(a.dims, b.dims)) {
    if (mine.size() != theirs.size())
      return false;
    for (auto [x, y] : llvm::zip(mine, theirs))
      if (x.size != y.size || x.stride != y.stride)
        return false;
  }
  return a.opaque == b.opaque;
}

bool LaneForm::samePattern(const LaneForm &other) const {
  return baseKind == other.baseKind && base == other.base && address == other.address &&
         baseDims == other.baseDims && samePieces(*this, other);
}

static void normalizeDim(SmallVectorImpl<Piece> &pieces) {
  SmallVector<Piece, 1> result;
  for (Piece &piece : llvm::reverse(pieces)) { // innermost first
    if (piece.size == 1)
      continue;
    if (!result.empty() && piece.stride == result.back().stride.scaled(result.back().size))
      result.back().size *= piece.size;
    else
      result.push_back(piece);
  }
  std::reverse(result.begin(), result.end());
  pieces.assign(result.begin(), result.end());
}

void normalize(LaneForm &form) {
  for (auto &pieces : form.dims)
    normalizeDim(pieces);
}

bool refine(SmallVectorImpl<Piece> &a, SmallVectorImpl<Piece> &b) {
  SmallVector<Piece, 2> restA(a.begin(), a.end()), restB(b.begin(), b.end());
  SmallVector<Piece, 2> outA, outB; // innermost first
  auto take = [](SmallVectorImpl<Piece> &rest, int64_t size) {
    Piece whole = rest.pop_back_val();
    if (whole.size != size)
      rest.push_back({whole.size / size, whole.stride.scaled(size)});
    return Piece{size, whole.stride};
  };
  while (!restA.empty() && !restB.empty()) {
    int64_t sizeA = restA.back().size, sizeB = restB.back().size;
    int64_t size = std::min(sizeA, sizeB);
    if (std::max(sizeA, sizeB) % size != 0)
      return false;
    outA.push_back(take(restA, size));
    outB.push_back(take(restB, size));
  }
  if (!restA.empty() || !restB.empty())
    return false;
  a.assign(outA.rbegin(), outA.rend());
  b.assign(outB.rbegin(), outB.rend());
  return true;
}

int64_t elementBytes(Type type) {
  if (isa<triton::PointerType, IndexType>(type))
    return 8;
  return type.isIntOrFloat() ? llvm::divideCeil(type.getIntOrFloatBitWidth(), 8) : 0;
}

unsigned integerWidth(Type type) {
  auto integer = dyn_cast<IntegerType>(getElementTypeOrSelf(type));
  return integer ? integer.getWidth() : 64;
}

//===----------------------------------------------------------------------===//
// Arithmetic on forms
//===----------------------------------------------------------------------===//

std::optional<LaneForm> LaneAnalysis::add(const LaneForm &a, const LaneForm &b) {
  if (a.baseKind != LaneForm::Base::None && b.baseKind != LaneForm::Base::None)
    return std::nullopt;
  if (a.dims.size() != b.dims.size())
    return std::nullopt;
  LaneForm result = a;
  if (a.baseKind == LaneForm::Base::None) {
    result.baseKind = b.baseKind;
    result.base = b.base;
    result.address = b.address;
    result.baseDims = b.baseDims;
  }
  for (auto [mine, theirs] : llvm::zip(result.dims, b.dims)) {
    SmallVector<Piece, 2> other(theirs.begin(), theirs.end());
    if (!refine(mine, other))
      return std::nullopt;
    for (auto [piece, added] : llvm::zip(mine, other))
      piece.stride = piece.stride + added.stride;
  }
  result.offset = a.offset + b.offset;
  for (const OpaqueTerm &term : b.opaque) {
    auto same = llvm::find_if(result.opaque, [&](const OpaqueTerm &known) {
      return known.value == term.value && known.dims == term.dims &&
             known.isSigned == term.isSigned;
    });
    if (same == result.opaque.end()) {
      result.opaque.push_back(term);
      continue;
    }
    same->factor = same->factor + term.factor;
    if (same->factor.isZero())
      result.opaque.erase(same);
  }
  normalize(result);
  return result;
}

LaneForm LaneAnalysis::scale(const LaneForm &form, const Expr &factor) {
  LaneForm result = form;
  result.offset = context.mul(form.offset, factor);
  for (auto &pieces : result.dims)
    for (Piece &piece : pieces)
      piece.stride = context.mul(piece.stride, factor);
  if (factor.isZero())
    result.opaque.clear();
  for (OpaqueTerm &term : result.opaque)
    term.factor = context.mul(term.factor, factor);
  normalize(result);
  return result;
}

std::optional<LaneForm> LaneAnalysis::multiply(const LaneForm &a, const LaneForm &b) {
  if (a.baseKind != LaneForm::Base::None || b.baseKind != LaneForm::Base::None)
    return std::nullopt;
  if (b.isUniform() && b.opaque.empty())
    return scale(a, b.offset);
  if (a.isUniform() && a.opaque.empty())
    return scale(b, a.offset);
  return std::nullopt;
}

IntRange LaneAnalysis::range(const LaneForm &form) {
  if (form.baseKind != LaneForm::Base::None)
    return typeRange(64);
  IntRange offset = context.range(form.offset);
  __int128 lo = offset.lo, hi = offset.hi;
  auto include = [&](IntRange factor, IntRange lanes) {
    __int128 corner[] = {(__int128)factor.lo * lanes.lo, (__int128)factor.lo * lanes.hi,
                         (__int128)factor.hi * lanes.lo, (__int128)factor.hi * lanes.hi};
    lo += *std::min_element(corner, corner + 4);
    hi += *std::max_element(corner, corner + 4);
  };
  for (auto &pieces : form.dims)
    for (const Piece &piece : pieces)
      include(context.range(piece.stride), {0, piece.size - 1});
  for (const OpaqueTerm &term : form.opaque)
    include(context.range(term.factor),
            typeRange(integerWidth(term.value.getType()), term.isSigned));
  if (lo < INT64_MIN || hi > INT64_MAX)
    return typeRange(64);
  return {static_cast<int64_t>(lo), static_cast<int64_t>(hi)};
}

std::optional<LaneForm> LaneAnalysis::divide(const LaneForm &form, int64_t divisor,
                                             bool wantRemainder, bool truncates) {
  if (form.baseKind != LaneForm::Base::None || !form.opaque.empty() || divisor <= 0)
    return std::nullopt;
  if (truncates && range(form).lo < 0)
    return std::nullopt;
  // offset = quotient * divisor + rest with a rest known at compile time.
  std::optional<int64_t> rest;
  std::optional<int64_t> constant = (form.offset - Expr()).constant();
  if (constant)
    rest = llvm::mod(*constant, divisor);
  else if (context.divisor(form.offset) % divisor == 0)
    rest = 0;
  else
    rest = context.floorMod(form.offset, divisor).constant();
  if (!rest)
    return std::nullopt;
  LaneForm quotient = form, remainder = form;
  quotient.offset = context.floorDiv(form.offset, divisor);
  remainder.offset = *rest;
  int64_t largest = *rest;
  for (unsigned dim = 0; dim < form.dims.size(); ++dim) {
    quotient.dims[dim].clear();
    remainder.dims[dim].clear();
    for (const Piece &piece : form.dims[dim]) {
      if (context.divisor(piece.stride) % divisor == 0) {
        quotient.dims[dim].push_back({piece.size, context.floorDiv(piece.stride, divisor)});
        remainder.dims[dim].push_back({piece.size, 0});
        continue;
      }
      std::optional<int64_t> stride = piece.stride.constant();
      if (!stride || *stride < 0)
        return std::nullopt;
      int64_t inner = piece.size;
      if (divisor % *stride == 0 && inner > divisor / *stride)
        inner = divisor / *stride;
      if (piece.size % inner != 0)
        return std::nullopt;
      if (int64_t outer = piece.size / inner; outer > 1) {
        if (*stride * inner % divisor != 0)
          return std::nullopt;
        quotient.dims[dim].push_back({outer, *stride * inner / divisor});
        remainder.dims[dim].push_back({outer, 0});
      }
      quotient.dims[dim].push_back({inner, 0});
      remainder.dims[dim].push_back({inner, *stride});
      largest += (inner - 1) * *stride;
    }
  }
  if (largest >= divisor) // a carry from the remainder into the quotient
    return std::nullopt;
  LaneForm &result = wantRemainder ? remainder : quotient;
  normalize(result);
  return result;
}

} // namespace piton
