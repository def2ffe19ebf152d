// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules of LaneAnalysis, one function a kind of op. A lane is taken to be exact:
// i32 sums that wrap on the way to an address are a fault of the kernel, while types
// narrower than 32 bits must be shown not to wrap.
#include "compiler/Analysis/LaneAnalysis.h"

#include "compiler/Dialect/Triton/Triton.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
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

static bool samePieces(const LaneForm &a, const LaneForm &b) {
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

/// A form of the shape of `type` in which every lane is zero.
static LaneForm zeroForm(Type type) {
  LaneForm form;
  auto tensorType = dyn_cast<RankedTensorType>(type);
  if (!tensorType)
    return form;
  for (int64_t size : tensorType.getShape()) {
    form.dims.emplace_back();
    if (size != 1)
      form.dims.back().push_back({size, 0});
  }
  return form;
}

static unsigned integerWidth(Type type) {
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
    include(context.range(term.factor), typeRange(integerWidth(term.value.getType()),
                                                  term.isSigned));
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
    rest = *constant - context.floorDiv(form.offset, divisor).constant().value() * divisor;
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

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// True when the form of a result of `op` depends on the forms of its operands.
static bool readsOperands(Operation *op) {
  return OpTrait::hasElementwiseMappableTraits(op) || op->hasTrait<OpTrait::Elementwise>() ||
         isa<triton::SplatOp, triton::ExpandDimsOp, triton::BroadcastOp, triton::TransOp,
             triton::ReshapeOp>(op);
}

const LaneForm &LaneAnalysis::of(Value value) {
  auto it = known.find(value);
  if (it != known.end())
    return *it->second;
  // Operands first, on a list of our own: an unrolled kernel has chains of any length.
  SmallVector<Value> pending{value};
  while (!pending.empty()) {
    Value next = pending.back();
    size_t before = pending.size();
    Operation *op = next.getDefiningOp();
    if (op && !known.count(next) && readsOperands(op))
      for (Value operand : op->getOperands())
        if (isa<RankedTensorType, triton::PointerType>(operand.getType()) &&
            !known.count(operand))
          pending.push_back(operand);
    if (pending.size() != before && !visiting.contains(next)) {
      visiting.insert(next);
      continue;
    }
    pending.truncate(before);
    pending.pop_back();
    if (known.count(next))
      continue;
    auto form = std::make_unique<LaneForm>(analyze(next));
    known[next] = std::move(form);
  }
  return *known[value];
}

LaneForm LaneAnalysis::opaqueForm(Value value, llvm::SmallBitVector varying) {
  LaneForm form = zeroForm(value.getType());
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int, 4> dims;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    dims.push_back(varying.test(dim) && type.getDimSize(dim) != 1 ? dim : -1);
  if (isa<triton::PointerType>(type.getElementType())) {
    form.baseKind = LaneForm::Base::Opaque;
    form.base = value;
    form.baseDims = dims;
  } else if (llvm::all_of(dims, [](int dim) { return dim < 0; })) {
    form.offset = context.element(value); // all lanes are equal: any one stands for them
  } else {
    form.opaque.push_back({value, dims});
  }
  return form;
}

LaneForm LaneAnalysis::analyzeScalar(Value value) {
  LaneForm form;
  if (!isa<triton::PointerType>(value.getType())) {
    form.offset = context.leaf(value);
    return form;
  }
  if (auto add = value.getDefiningOp<triton::AddPtrOp>()) {
    form = of(add.getPtr());
    form.offset = form.offset + context.leaf(add.getOffset());
    return form;
  }
  form.baseKind = LaneForm::Base::Pointer;
  form.base = value;
  return form;
}

/// A bit for every dimension along which a result of `op` may differ.
static llvm::SmallBitVector varyingAlong(LaneAnalysis &lanes, Operation *op,
                                         RankedTensorType type) {
  llvm::SmallBitVector result(type.getRank(), true);
  if (!op || !OpTrait::hasElementwiseMappableTraits(op)) {
    bool elementwise = op && op->hasTrait<OpTrait::Elementwise>() && isPure(op) &&
                       !isa<triton::ElementwiseInlineAsmOp>(op);
    if (!elementwise)
      return result;
  }
  result.reset();
  for (Value operand : op->getOperands()) {
    auto operandType = dyn_cast<RankedTensorType>(operand.getType());
    if (!operandType)
      continue;
    if (operandType.getRank() != type.getRank())
      return llvm::SmallBitVector(type.getRank(), true);
    result |= lanes.of(operand).varyingDims();
  }
  return result;
}

LaneForm LaneAnalysis::analyze(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return analyzeScalar(value);
  Operation *op = value.getDefiningOp();
  if (!type.hasStaticShape() || !op || type.getNumElements() == 0)
    return opaqueForm(value, llvm::SmallBitVector(type.getRank(), true));
  if (isa<triton::SplatOp, triton::ExpandDimsOp, triton::BroadcastOp, triton::TransOp,
          triton::ReshapeOp, triton::MakeRangeOp>(op))
    return analyzeShape(op, value);
  std::optional<LaneForm> form;
  if (isa<triton::PointerType>(type.getElementType()))
    form = analyzePointer(op, value);
  else if (isa<IntegerType, IndexType>(type.getElementType()))
    form = analyzeArith(op, value);
  if (!form)
    return opaqueForm(value, varyingAlong(*this, op, type));
  return *form;
}

LaneForm LaneAnalysis::analyzeShape(Operation *op, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  llvm::SmallBitVector all(type.getRank(), true);
  auto remap = [](LaneForm &form, llvm::function_ref<int(int)> to) {
    for (OpaqueTerm &term : form.opaque)
      for (int &dim : term.dims)
        dim = dim < 0 ? dim : to(dim);
    for (int &dim : form.baseDims)
      dim = dim < 0 ? dim : to(dim);
  };
  if (auto range = dyn_cast<triton::MakeRangeOp>(op)) {
    LaneForm form = zeroForm(type);
    form.offset = static_cast<int32_t>(range.getStart());
    if (!form.dims[0].empty())
      form.dims[0][0].stride = 1;
    return form;
  }
  Value source = op->getOperand(0);
  LaneForm form = of(source);
  if (isa<triton::SplatOp>(op)) {
    if (isa<RankedTensorType>(source.getType()))
      return opaqueForm(value, llvm::SmallBitVector(type.getRank()));
    form.dims = zeroForm(type).dims;
    return form;
  }
  if (auto expand = dyn_cast<triton::ExpandDimsOp>(op)) {
    int axis = expand.getAxis();
    form.dims.insert(form.dims.begin() + axis, SmallVector<Piece, 1>());
    remap(form, [&](int dim) { return dim >= axis ? dim + 1 : dim; });
    return form;
  }
  if (isa<triton::BroadcastOp>(op)) {
    auto from = cast<RankedTensorType>(source.getType());
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (from.getDimSize(dim) != type.getDimSize(dim))
        form.dims[dim] = {Piece{type.getDimSize(dim), 0}};
    return form;
  }
  if (auto trans = dyn_cast<triton::TransOp>(op)) {
    LaneForm result = form;
    SmallVector<int> inverse(type.getRank());
    for (auto [to, from] : llvm::enumerate(trans.getOrder())) {
      result.dims[to] = form.dims[from];
      inverse[from] = to;
    }
    remap(result, [&](int dim) { return inverse[dim]; });
    return result;
  }
  if (std::optional<LaneForm> result = analyzeReshape(form, type.getShape()))
    return *result;
  bool uniform = form.isUniform();
  return opaqueForm(value, uniform ? llvm::SmallBitVector(type.getRank()) : all);
}

std::optional<LaneForm> LaneAnalysis::analyzeReshape(const LaneForm &source,
                                                     ArrayRef<int64_t> shape) {
  if (!source.opaque.empty() || source.baseKind == LaneForm::Base::Opaque)
    return std::nullopt;
  SmallVector<Piece> rest;
  for (auto &pieces : source.dims)
    llvm::append_range(rest, pieces);
  LaneForm result = source;
  result.dims.assign(shape.size(), {});
  for (int64_t dim = shape.size() - 1; dim >= 0; --dim) {
    int64_t needed = shape[dim];
    SmallVector<Piece> taken; // innermost first
    while (needed > 1) {
      if (rest.empty())
        return std::nullopt;
      Piece piece = rest.pop_back_val();
      if (piece.size > needed) {
        if (piece.size % needed)
          return std::nullopt;
        rest.push_back({piece.size / needed, piece.stride.scaled(needed)});
        piece.size = needed;
      }
      if (needed % piece.size)
        return std::nullopt;
      needed /= piece.size;
      taken.push_back(piece);
    }
    result.dims[dim].assign(taken.rbegin(), taken.rend());
  }
  normalize(result);
  return result;
}

std::optional<LaneForm> LaneAnalysis::analyzeConstant(Value value) {
  DenseElementsAttr attr;
  if (!matchPattern(value, m_Constant(&attr)))
    return std::nullopt;
  auto type = cast<RankedTensorType>(value.getType());
  LaneForm form = zeroForm(type);
  if (attr.isSplat()) {
    form.offset = attr.getSplatValue<APInt>().getSExtValue();
    return form;
  }
  if (integerWidth(type) > 64 || type.getNumElements() > 65536)
    return std::nullopt;
  SmallVector<int64_t> values;
  for (const APInt &number : attr.getValues<APInt>())
    values.push_back(number.getSExtValue());
  SmallVector<int64_t> strides(type.getRank(), 0);
  int64_t below = 1; // lanes of the dimensions inside this one
  for (int64_t dim = type.getRank() - 1; dim >= 0; --dim) {
    if (type.getDimSize(dim) > 1)
      strides[dim] = values[below] - values[0];
    below *= type.getDimSize(dim);
  }
  for (auto [index, number] : llvm::enumerate(values)) {
    int64_t expected = values[0], rest = index;
    for (int64_t dim = type.getRank() - 1; dim >= 0; --dim) {
      expected += rest % type.getDimSize(dim) * strides[dim];
      rest /= type.getDimSize(dim);
    }
    if (expected != number)
      return std::nullopt;
  }
  form.offset = values[0];
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (!form.dims[dim].empty())
      form.dims[dim][0].stride = strides[dim];
  return form;
}

std::optional<LaneForm> LaneAnalysis::analyzeArith(Operation *op, Value value) {
  unsigned width = integerWidth(value.getType());
  auto sum = [&](Value a, Value b, int64_t sign) {
    LaneForm right = sign < 0 ? scale(of(b), sign) : of(b);
    return add(of(a), right);
  };
  auto constant = [&](Value operand) -> std::optional<int64_t> {
    const LaneForm &form = of(operand);
    return form.isUniform() ? form.offset.constant() : std::nullopt;
  };
  auto byConstant = [&](Value operand, Value by, bool remainder,
                        bool truncates) -> std::optional<LaneForm> {
    std::optional<int64_t> number = constant(by);
    return number ? divide(of(operand), *number, remainder, truncates) : std::nullopt;
  };
  auto shiftFactor = [&](Value amount) -> int64_t {
    std::optional<int64_t> number = constant(amount);
    return number && *number >= 0 && *number < std::min<int64_t>(width, 62) ? int64_t(1) << *number
                                                                          : 0;
  };
  std::optional<LaneForm> form =
      TypeSwitch<Operation *, std::optional<LaneForm>>(op)
          .Case<arith::ConstantOp>([&](auto) { return analyzeConstant(value); })
          .Case<arith::ExtSIOp>([&](auto ext) { return of(ext.getIn()); })
          .Case<arith::IndexCastOp, arith::TruncIOp>(
              [&](auto cast) -> std::optional<LaneForm> {
                const LaneForm &in = of(cast.getIn());
                IntRange all = typeRange(width);
                bool widens = integerWidth(cast.getIn().getType()) <= width;
                if (widens || range(in).within(all.lo, all.hi))
                  return in;
                return std::nullopt;
              })
          .Case<arith::ExtUIOp, arith::IndexCastUIOp>([&](auto ext) -> std::optional<LaneForm> {
            LaneForm in = of(ext.getIn());
            if (range(in).lo >= 0)
              return in;
            if (in.isUniform() && in.opaque.empty()) {
              in.offset = context.zeroExtended(in.offset, integerWidth(ext.getIn().getType()));
              return in;
            }
            if (in.opaque.size() != 1 || in.opaque[0].value != ext.getIn())
              return std::nullopt;
            in.opaque[0].isSigned = false;
            return in;
          })
          .Case<arith::AddIOp>([&](auto add) { return sum(add.getLhs(), add.getRhs(), 1); })
          .Case<arith::SubIOp>([&](auto sub) { return sum(sub.getLhs(), sub.getRhs(), -1); })
          .Case<arith::MulIOp>(
              [&](auto mul) { return multiply(of(mul.getLhs()), of(mul.getRhs())); })
          .Case<arith::ShLIOp>([&](auto shift) -> std::optional<LaneForm> {
            int64_t factor = shiftFactor(shift.getRhs());
            return factor ? std::optional(scale(of(shift.getLhs()), factor)) : std::nullopt;
          })
          .Case<arith::ShRSIOp>([&](auto shift) {
            return divide(of(shift.getLhs()), shiftFactor(shift.getRhs()), false, false);
          })
          .Case<arith::ShRUIOp>([&](auto shift) {
            return divide(of(shift.getLhs()), shiftFactor(shift.getRhs()), false, true);
          })
          .Case<arith::DivSIOp, arith::DivUIOp>(
              [&](auto div) { return byConstant(div.getLhs(), div.getRhs(), false, true); })
          .Case<arith::FloorDivSIOp>(
              [&](auto div) { return byConstant(div.getLhs(), div.getRhs(), false, false); })
          .Case<arith::RemSIOp, arith::RemUIOp>(
              [&](auto rem) { return byConstant(rem.getLhs(), rem.getRhs(), true, true); })
          .Case<arith::AndIOp>([&](auto mask) -> std::optional<LaneForm> {
            std::optional<int64_t> bits = constant(mask.getRhs());
            if (!bits || *bits < 0 || *bits >= (int64_t(1) << 62) || (*bits & (*bits + 1)))
              return std::nullopt;
            return divide(of(mask.getLhs()), *bits + 1, true, false);
          })
          .Case<arith::SelectOp>([&](auto select) {
            return analyzeSelect(select.getCondition(), select.getTrueValue(),
                                 select.getFalseValue());
          })
          .Case<triton::PtrToIntOp>([&](auto cast) -> std::optional<LaneForm> {
            LaneForm in = of(cast.getSrc());
            auto pointer = dyn_cast<triton::PointerType>(
                getElementTypeOrSelf(cast.getSrc().getType()));
            int64_t bytes = pointer ? elementBytes(pointer.getPointeeType()) : 0;
            if (in.baseKind == LaneForm::Base::Opaque || bytes == 0)
              return std::nullopt;
            Expr base = in.baseKind == LaneForm::Base::Address ? in.address
                                                               : context.symbol(in.base);
            in.baseKind = LaneForm::Base::None;
            in.base = {};
            in = scale(in, bytes);
            in.offset = in.offset + base;
            return in;
          })
          .Default([](Operation *) { return std::nullopt; });
  if (!form || isa<arith::ConstantOp>(op))
    return form;
  IntRange lanes = range(*form), all = typeRange(width);
  bool fits = lanes.within(all.lo, all.hi);
  bool never = lanes.lo > all.hi || lanes.hi < all.lo;
  bool exactlyKnown = form->opaque.empty() && form->offset.constant() &&
                      llvm::all_of(form->dims, [](auto &pieces) {
                        return llvm::all_of(pieces,
                                            [](Piece &p) { return p.stride.constant(); });
                      });
  if (!fits && (width < 32 || never || exactlyKnown))
    return std::nullopt;
  return form;
}

std::optional<LaneForm> LaneAnalysis::analyzeSelect(Value condition, Value a, Value b) {
  if (!condition.getType().isInteger(1))
    return std::nullopt;
  LaneForm x = of(a);
  const LaneForm &y = of(b);
  Expr chosen = context.leaf(condition, false);
  if (x.samePattern(y)) {
    x.offset = context.select(chosen, x.offset, y.offset);
    return x;
  }
  // Other bases, equal distances: choose the address of the first lane.
  auto type = dyn_cast<triton::PointerType>(getElementTypeOrSelf(a.getType()));
  int64_t bytes = type ? elementBytes(type.getPointeeType()) : 0;
  auto plain = [](const LaneForm &form) {
    return form.baseKind == LaneForm::Base::Pointer || form.baseKind == LaneForm::Base::Address;
  };
  if (!bytes || !plain(x) || !plain(y) || !samePieces(x, y))
    return std::nullopt;
  auto address = [&](const LaneForm &form) {
    Expr base = form.baseKind == LaneForm::Base::Address ? form.address
                                                         : context.symbol(form.base);
    return base + form.offset.scaled(bytes);
  };
  x.address = context.select(chosen, address(x), address(y));
  x.baseKind = LaneForm::Base::Address;
  x.base = {};
  x.offset = 0;
  return x;
}

std::optional<LaneForm> LaneAnalysis::analyzePointer(Operation *op, Value value) {
  auto type = cast<triton::PointerType>(getElementTypeOrSelf(value.getType()));
  int64_t bytes = elementBytes(type.getPointeeType());
  if (auto add = dyn_cast<triton::AddPtrOp>(op))
    return this->add(of(add.getPtr()), of(add.getOffset()));
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return analyzeSelect(select.getCondition(), select.getTrueValue(), select.getFalseValue());

  /// Multiplies every distance of `form` by `num` / `den`, where that is exact.
  auto rescale = [&](LaneForm form, int64_t num, int64_t den) -> std::optional<LaneForm> {
    auto exact = [&](Expr &expr) {
      if (context.divisor(expr.scaled(num)) % den != 0)
        return false;
      expr = context.floorDiv(expr.scaled(num), den);
      return true;
    };
    if (!exact(form.offset))
      return std::nullopt;
    for (auto &pieces : form.dims)
      for (Piece &piece : pieces)
        if (!exact(piece.stride))
          return std::nullopt;
    for (OpaqueTerm &term : form.opaque)
      if (!exact(term.factor))
        return std::nullopt;
    return form;
  };
  if (auto cast = dyn_cast<triton::BitcastOp>(op)) {
    auto from = dyn_cast<triton::PointerType>(getElementTypeOrSelf(cast.getSrc().getType()));
    int64_t fromBytes = from ? elementBytes(from.getPointeeType()) : 0;
    const LaneForm &form = of(cast.getSrc());
    if (!bytes || !fromBytes || form.baseKind == LaneForm::Base::Opaque)
      return std::nullopt;
    return rescale(form, fromBytes, bytes);
  }
  if (auto cast = dyn_cast<triton::IntToPtrOp>(op)) {
    LaneForm form = of(cast.getSrc());
    if (!bytes)
      return std::nullopt;
    Expr address = form.offset;
    form.offset = 0;
    std::optional<LaneForm> result = rescale(form, 1, bytes);
    if (!result)
      return std::nullopt;
    result->baseKind = LaneForm::Base::Address;
    result->address = address;
    return result;
  }
  return std::nullopt;
}

} // namespace piton
