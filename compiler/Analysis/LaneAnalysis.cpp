// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules of LaneAnalysis, one function a kind of op. A lane is taken to be exact:
// i32 sums that wrap on the way to an address are a fault of the kernel, while types
// narrower than 32 bits must be shown not to wrap.
#include "compiler/Analysis/LaneAnalysis.h"

#include "compiler/Dialect/Triton/Triton.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace piton {

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
        if (isa<RankedTensorType, triton::PointerType>(operand.getType()) && !known.count(operand))
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

LaneForm LaneAnalysis::opaqueForm(Value value, const llvm::SmallBitVector &varying) {
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
          .Case<arith::IndexCastOp, arith::TruncIOp>([&](auto cast) -> std::optional<LaneForm> {
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
            auto pointer =
                dyn_cast<triton::PointerType>(getElementTypeOrSelf(cast.getSrc().getType()));
            int64_t bytes = pointer ? elementBytes(pointer.getPointeeType()) : 0;
            if (in.baseKind == LaneForm::Base::Opaque || bytes == 0)
              return std::nullopt;
            Expr base =
                in.baseKind == LaneForm::Base::Address ? in.address : context.symbol(in.base);
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
  bool exactlyKnown =
      form->opaque.empty() && form->offset.constant() && llvm::all_of(form->dims, [](auto &pieces) {
        return llvm::all_of(pieces, [](Piece &p) { return p.stride.constant(); });
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
    Expr base = form.baseKind == LaneForm::Base::Address ? form.address : context.symbol(form.base);
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
