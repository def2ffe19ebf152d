// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Masks as boxes. A mask is read as a tree of conjunctions down to comparisons of
// lane forms; each comparison bounds one dimension, or none (a scalar condition), or
// ends in the residual. Bounds are computed in 64 bits and cannot overflow.
#include "compiler/Analysis/MaskAnalysis.h"

#include "compiler/Analysis/LaneAnalysis.h"
#include "compiler/Dialect/Triton/Triton.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using Predicate = arith::CmpIPredicate;

namespace piton {

bool MaskInfo::isFull(ArrayRef<int64_t> shape) const {
  if (residual)
    return false;
  for (auto [low, high, size] : llvm::zip(lo, hi, shape))
    if (!isConstantIntValue(low, 0) || !isConstantIntValue(high, size))
      return false;
  return true;
}

namespace {

class BoxBuilder {
public:
  explicit BoxBuilder(LaneAnalysis &lanes) : lanes(lanes), context(lanes.expressions()) {}

  static ArrayRef<int64_t> shapeOf(Value value) {
    return cast<RankedTensorType>(value.getType()).getShape();
  }

  MaskBox full(ArrayRef<int64_t> shape) {
    MaskBox box;
    for (int64_t size : shape) {
      box.lo.push_back(0);
      box.hi.push_back(size);
    }
    return box;
  }

  MaskBox residual(Value mask, bool negated) {
    MaskBox box = full(shapeOf(mask));
    box.residuals.push_back({mask, {}, negated});
    return box;
  }

  /// A mask all of whose lanes equal `condition` (an expression of value 0 or 1).
  std::optional<MaskBox> uniform(const Expr &condition, ArrayRef<int64_t> shape) {
    MaskBox box = full(shape);
    if (condition.isConstant(1))
      return box;
    if (shape.empty())
      return std::nullopt;
    box.hi[0] = context.select(condition, shape[0], 0);
    return box;
  }

  MaskBox intersect(const MaskBox &a, const MaskBox &b, ArrayRef<int64_t> shape) {
    MaskBox box;
    for (unsigned dim = 0; dim < shape.size(); ++dim) {
      box.lo.push_back(context.max(a.lo[dim], b.lo[dim]));
      box.hi.push_back(context.max(context.min(a.hi[dim], b.hi[dim]), box.lo[dim]));
    }
    box.residuals = a.residuals;
    box.residuals.append(b.residuals.begin(), b.residuals.end());
    return box;
  }

  MaskBox analyze(Value mask, bool negated) {
    auto key = std::pair(mask, negated ? 1u : 0u);
    auto it = known.find(key);
    if (it != known.end())
      return it->second;
    // A tree deeper than any program writes is taken as it is, not followed down the stack.
    constexpr unsigned maxDepth = 500;
    if (depth > maxDepth)
      return residual(mask, negated);
    ++depth;
    MaskBox box = compute(mask, negated);
    --depth;
    return known[key] = box;
  }

private:
  MaskBox compute(Value mask, bool negated);

  MaskBox conjunction(Value a, Value b, bool negated) {
    return intersect(analyze(a, negated), analyze(b, negated), shapeOf(a));
  }

  bool isFull(const MaskBox &box, ArrayRef<int64_t> shape) {
    for (unsigned dim = 0; dim < shape.size(); ++dim)
      if (!box.lo[dim].isZero() || !box.hi[dim].isConstant(shape[dim]))
        return false;
    return box.residuals.empty();
  }
  bool isEmpty(const MaskBox &box) {
    for (unsigned dim = 0; dim < box.lo.size(); ++dim)
      if (box.lo[dim] == box.hi[dim])
        return true;
    return false;
  }

  /// The union of two masks where it is a box: one is everything or nothing, or both bound one
  /// dimension from the same side.
  std::optional<MaskBox> disjunction(Value left, Value right, bool negated) {
    ArrayRef<int64_t> shape = shapeOf(left);
    MaskBox a = analyze(left, negated), b = analyze(right, negated);
    if (isFull(a, shape) || isEmpty(b))
      return a;
    if (isFull(b, shape) || isEmpty(a))
      return b;
    if (!a.residuals.empty() || !b.residuals.empty())
      return std::nullopt;
    int differs = -1;
    for (unsigned dim = 0; dim < shape.size(); ++dim) {
      if (a.lo[dim] == b.lo[dim] && a.hi[dim] == b.hi[dim])
        continue;
      if (differs >= 0)
        return std::nullopt;
      differs = dim;
    }
    if (differs < 0)
      return a;
    // An empty box keeps its bound on the shared side only if that side is the tensor's edge.
    if (a.lo[differs].isZero() && b.lo[differs].isZero())
      a.hi[differs] = context.max(a.hi[differs], b.hi[differs]);
    else if (a.hi[differs].isConstant(shape[differs]) && b.hi[differs].isConstant(shape[differs]))
      a.lo[differs] = context.min(a.lo[differs], b.lo[differs]);
    else
      return std::nullopt;
    return a;
  }

  std::optional<MaskBox> compare(arith::CmpIOp op, bool negated);
  /// The lanes where the form a - b + shift is >= 0.
  std::optional<MaskBox> difference(const LaneForm &a, const LaneForm &b, int64_t shift,
                                    ArrayRef<int64_t> shape);
  std::optional<MaskBox> throughShape(Operation *op, bool negated);
  MaskBox constant(DenseElementsAttr attr, Value mask, bool negated);

  LaneAnalysis &lanes;
  ExprContext &context;
  DenseMap<std::pair<Value, unsigned>, MaskBox> known;
  unsigned depth = 0;
};

Predicate toSigned(Predicate predicate) {
  switch (predicate) {
  case Predicate::ult:
    return Predicate::slt;
  case Predicate::ule:
    return Predicate::sle;
  case Predicate::ugt:
    return Predicate::sgt;
  case Predicate::uge:
    return Predicate::sge;
  default:
    return predicate;
  }
}

} // namespace

std::optional<MaskBox> BoxBuilder::difference(const LaneForm &a, const LaneForm &b, int64_t shift,
                                              ArrayRef<int64_t> shape) {
  LaneForm left = a, right = b;
  left.offset = right.offset = 0;
  std::optional<LaneForm> form = lanes.add(left, lanes.scale(right, -1));
  if (!form || form->baseKind != LaneForm::Base::None || !form->opaque.empty())
    return std::nullopt;
  Expr offset = context.satSub(a.offset, b.offset) + Expr(shift);
  int varying = -1;
  for (unsigned dim = 0; dim < shape.size(); ++dim) {
    const Expr *stride = form->stride(dim);
    if (!stride)
      return std::nullopt;
    if (stride->isZero())
      continue;
    if (varying >= 0)
      return std::nullopt;
    varying = dim;
  }
  if (varying < 0)
    return uniform(context.nonNegative(offset), shape);
  std::optional<int64_t> stride = form->stride(varying)->constant();
  if (!stride || *stride == INT64_MIN)
    return std::nullopt;
  MaskBox box = full(shape);
  int64_t size = shape[varying];
  auto clamp = [&](const Expr &bound) { return context.min(context.max(bound, 0), size); };
  // offset + stride * i >= 0
  if (*stride > 0)
    box.lo[varying] = clamp(context.ceilDiv(offset.scaled(-1), *stride));
  else
    box.hi[varying] = clamp(context.floorDiv(offset, -*stride) + Expr(1));
  return box;
}

std::optional<MaskBox> BoxBuilder::compare(arith::CmpIOp op, bool negated) {
  Value lhs = op.getLhs(), rhs = op.getRhs();
  Predicate predicate = negated ? arith::invertPredicate(op.getPredicate()) : op.getPredicate();
  ArrayRef<int64_t> shape = shapeOf(op.getResult());
  Type element = getElementTypeOrSelf(lhs.getType());
  unsigned width = isa<IndexType>(element) ? 64 : element.getIntOrFloatBitWidth();

  // A condition kept as an integer: (zext m) != 0, (m ? 1 : 0) == 1 and their like.
  if (predicate == Predicate::ne || predicate == Predicate::eq) {
    DenseElementsAttr number;
    Value inner;
    bool one = false, known = false;
    if (matchPattern(rhs, m_Constant(&number)) && number.isSplat() && width <= 64) {
      APInt value = number.getSplatValue<APInt>();
      known = value.isZero() || value.isOne();
      one = value.isOne();
    }
    if (auto ext = lhs.getDefiningOp<arith::ExtUIOp>())
      if (getElementTypeOrSelf(ext.getIn().getType()).isInteger(1))
        inner = ext.getIn();
    if (element.isInteger(1)) {
      inner = lhs;
      one = known && !number.getSplatValue<APInt>().isZero();
    }
    if (auto select = lhs.getDefiningOp<arith::SelectOp>())
      if (matchPattern(select.getTrueValue(), m_One()) &&
          matchPattern(select.getFalseValue(), m_Zero()) &&
          isa<RankedTensorType>(select.getCondition().getType()))
        inner = select.getCondition();
    if (known && inner)
      return analyze(inner, (predicate == Predicate::eq) != one);
  }

  LaneForm a = lanes.of(lhs), b = lanes.of(rhs);
  IntRange rangeA = lanes.range(a), rangeB = lanes.range(b);
  bool isUnsigned = predicate != toSigned(predicate);
  std::optional<MaskBox> atLeastZero;
  if (isUnsigned) {
    // x <u y with 0 <= y is 0 <= x < y, whatever the sign of x.
    bool below = predicate == Predicate::ult || predicate == Predicate::ule;
    bool above = predicate == Predicate::ugt || predicate == Predicate::uge;
    auto zeroExtend = [&](LaneForm &form, IntRange &range) {
      if (range.lo >= 0 || !form.isUniform() || !form.opaque.empty())
        return;
      form.offset = context.zeroExtended(form.offset, width);
      range = context.range(form.offset);
    };
    bool fitsA = rangeA.lo >= 0, fitsB = rangeB.lo >= 0;
    if (!fitsA && fitsB && below)
      atLeastZero = difference(a, lanes.scale(b, 0), 0, shape);
    else if (!fitsB && fitsA && above)
      atLeastZero = difference(b, lanes.scale(a, 0), 0, shape);
    else if (!fitsA || !fitsB) {
      zeroExtend(a, rangeA);
      zeroExtend(b, rangeB);
      if (rangeA.lo < 0 || rangeB.lo < 0)
        return std::nullopt;
    }
    if (!atLeastZero && (rangeA.lo < 0 || rangeB.lo < 0))
      return std::nullopt;
    predicate = toSigned(predicate);
  }

  std::optional<MaskBox> box;
  switch (predicate) {
  case Predicate::slt:
    box = difference(b, a, -1, shape);
    break;
  case Predicate::sle:
    box = difference(b, a, 0, shape);
    break;
  case Predicate::sgt:
    box = difference(a, b, -1, shape);
    break;
  case Predicate::sge:
    box = difference(a, b, 0, shape);
    break;
  case Predicate::eq: {
    std::optional<MaskBox> low = difference(a, b, 0, shape), high = difference(b, a, 0, shape);
    if (low && high)
      box = intersect(*low, *high, shape);
    break;
  }
  case Predicate::ne: {
    // A box only at the edges: all lanes but a first or last run, or all, or none.
    std::optional<MaskBox> less = difference(b, a, -1, shape), more = difference(a, b, -1, shape);
    if (!less || !more)
      break;
    if (isEmpty(*less))
      box = more;
    else if (isEmpty(*more))
      box = less;
    break;
  }
  default:
    break;
  }
  if (!box || !atLeastZero)
    return box;
  return intersect(*box, *atLeastZero, shape);
}

/// Dimension of `source` that each dimension of `result` comes from, -1 for a new unit one;
/// nothing if the reshape does more than add and drop unit dimensions.
static std::optional<SmallVector<int>> unitReshape(ArrayRef<int64_t> source,
                                                   ArrayRef<int64_t> result) {
  SmallVector<int> map;
  unsigned from = 0;
  for (int64_t size : result) {
    while (from < source.size() && source[from] == 1 && size != 1)
      ++from;
    if (from < source.size() && source[from] == size)
      map.push_back(from++);
    else if (size == 1)
      map.push_back(-1);
    else
      return std::nullopt;
  }
  for (; from < source.size(); ++from)
    if (source[from] != 1)
      return std::nullopt;
  return map;
}

std::optional<MaskBox> BoxBuilder::throughShape(Operation *op, bool negated) {
  Value source = op->getOperand(0), result = op->getResult(0);
  ArrayRef<int64_t> from = shapeOf(source), to = shapeOf(result);
  SmallVector<int> map;
  if (auto trans = dyn_cast<triton::TransOp>(op)) {
    map.assign(trans.getOrder().begin(), trans.getOrder().end());
  } else if (auto expand = dyn_cast<triton::ExpandDimsOp>(op)) {
    for (int dim = 0; dim < static_cast<int>(to.size()); ++dim)
      map.push_back(dim == static_cast<int>(expand.getAxis())  ? -1
                    : dim > static_cast<int>(expand.getAxis()) ? dim - 1
                                                               : dim);
  } else if (isa<triton::BroadcastOp>(op)) {
    for (unsigned dim = 0; dim < to.size(); ++dim)
      map.push_back(dim);
  } else {
    std::optional<SmallVector<int>> units = unitReshape(from, to);
    if (!units)
      return std::nullopt;
    map = *units;
  }
  MaskBox inner = analyze(source, negated), box = full(to);
  Expr dropped = 1; // 0 where a dimension that the result lacks is masked off
  llvm::SmallBitVector used(from.size());
  for (unsigned dim = 0; dim < to.size(); ++dim) {
    if (map[dim] < 0)
      continue;
    used.set(map[dim]);
    box.lo[dim] = inner.lo[map[dim]];
    box.hi[dim] = inner.hi[map[dim]];
    if (from[map[dim]] == to[dim])
      continue;
    // One lane seen `to[dim]` times: all or nothing.
    Expr kept = inner.hi[map[dim]] - inner.lo[map[dim]];
    box.lo[dim] = 0;
    box.hi[dim] = kept.scaled(to[dim]);
  }
  for (unsigned dim = 0; dim < from.size(); ++dim)
    if (!used.test(dim))
      dropped = context.mul(dropped, inner.hi[dim] - inner.lo[dim]);
  if (!dropped.isConstant(1)) {
    if (to.empty())
      return std::nullopt;
    box.hi[0] = context.select(dropped, box.hi[0], box.lo[0]);
  }
  for (MaskBox::Residual entry : inner.residuals) {
    entry.shape.push_back(op);
    box.residuals.push_back(std::move(entry));
  }
  return box;
}

MaskBox BoxBuilder::constant(DenseElementsAttr attr, Value mask, bool negated) {
  ArrayRef<int64_t> shape = shapeOf(mask);
  if (attr.isSplat())
    if (auto box = uniform(attr.getSplatValue<bool>() != negated ? 1 : 0, shape))
      return *box;
  if (shape.size() != 1)
    return residual(mask, negated);
  int64_t first = -1, last = -1, count = 0;
  for (auto [index, value] : llvm::enumerate(attr.getValues<bool>())) {
    if (value == negated)
      continue;
    first = first < 0 ? index : first;
    last = index;
    ++count;
  }
  MaskBox box = full(shape);
  box.lo[0] = count ? first : 0;
  box.hi[0] = count ? last + 1 : 0;
  return count == (count ? last + 1 - first : 0) ? box : residual(mask, negated);
}

MaskBox BoxBuilder::compute(Value mask, bool negated) {
  Operation *op = mask.getDefiningOp();
  ArrayRef<int64_t> shape = shapeOf(mask);
  if (!op)
    return residual(mask, negated);
  DenseElementsAttr attr;
  if (matchPattern(mask, m_Constant(&attr)))
    return constant(attr, mask, negated);
  std::optional<MaskBox> box;
  if (isa<arith::AndIOp, arith::MulIOp>(op)) {
    if (!negated)
      return conjunction(op->getOperand(0), op->getOperand(1), false);
    box = disjunction(op->getOperand(0), op->getOperand(1), true);
  } else if (isa<arith::OrIOp>(op)) {
    if (negated)
      return conjunction(op->getOperand(0), op->getOperand(1), true);
    box = disjunction(op->getOperand(0), op->getOperand(1), false);
  } else if (isa<arith::XOrIOp, arith::AddIOp, arith::SubIOp>(op)) {
    // On i1 all three are exclusive or; with a constant, a negation.
    if (matchPattern(op->getOperand(1), m_Constant(&attr)) && attr.isSplat())
      return analyze(op->getOperand(0), negated != attr.getSplatValue<bool>());
  } else if (auto select = dyn_cast<arith::SelectOp>(op)) {
    // condition and value, where the other arm is false
    Value condition = select.getCondition();
    if (!negated && matchPattern(select.getFalseValue(), m_Zero())) {
      MaskBox value = analyze(select.getTrueValue(), false);
      if (isa<RankedTensorType>(condition.getType()))
        return intersect(analyze(condition, false), value, shape);
      if (auto all = uniform(context.leaf(condition, false), shape))
        return intersect(*all, value, shape);
    }
  } else if (auto splat = dyn_cast<triton::SplatOp>(op)) {
    if (splat.getSrc().getType().isInteger(1)) {
      Expr condition = context.leaf(splat.getSrc(), false);
      box = uniform(negated ? Expr(1) - condition : condition, shape);
    }
  } else if (auto cmp = dyn_cast<arith::CmpIOp>(op)) {
    box = compare(cmp, negated);
  } else if (isa<triton::BroadcastOp, triton::ExpandDimsOp, triton::TransOp, triton::ReshapeOp>(
                 op)) {
    box = throughShape(op, negated);
  } else if (OpTrait::hasElementwiseMappableTraits(op) && lanes.of(mask).isUniform() &&
             lanes.of(mask).opaque.empty()) {
    // Equal lanes, whatever computes them: the first stands for all.
    Expr condition = context.leaf(mask, false);
    box = uniform(negated ? Expr(1) - condition : condition, shape);
  }
  return box ? *box : residual(mask, negated);
}

MaskBox analyzeMaskBox(LaneAnalysis &lanes, Value mask, ArrayRef<int64_t> shape) {
  BoxBuilder builder(lanes);
  return mask ? builder.analyze(mask, false) : builder.full(shape);
}

Value materializeResiduals(OpBuilder &builder, Location loc,
                           ArrayRef<MaskBox::Residual> residuals) {
  Value result;
  for (const MaskBox::Residual &entry : residuals) {
    Value value = entry.value;
    for (Operation *op : entry.shape) {
      // The op itself, where it already is what we need.
      if (op->getOperand(0) == value) {
        value = op->getResult(0);
        continue;
      }
      IRMapping mapping;
      mapping.map(op->getOperand(0), value);
      value = builder.clone(*op, mapping)->getResult(0);
    }
    if (entry.negated) {
      auto type = cast<RankedTensorType>(value.getType());
      Value ones = arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, true));
      value = arith::XOrIOp::create(builder, loc, value, ones);
    }
    result = result ? arith::AndIOp::create(builder, loc, result, value).getResult() : value;
  }
  return result;
}

Value buildBoxMask(OpBuilder &builder, Location loc, ArrayRef<OpFoldResult> lo,
                   ArrayRef<OpFoldResult> hi, ArrayRef<int64_t> shape) {
  Value result;
  auto type = RankedTensorType::get(shape, builder.getI1Type());
  auto bound = [&](unsigned dim, OpFoldResult limit, Predicate predicate) {
    auto line = RankedTensorType::get({shape[dim]}, builder.getI32Type());
    Value range = triton::MakeRangeOp::create(builder, loc, line, 0, shape[dim]);
    Value scalar = getValueOrCreateConstantIndexOp(builder, loc, limit);
    scalar = builder.createOrFold<arith::IndexCastOp>(loc, builder.getI32Type(), scalar);
    Value limits = builder.createOrFold<triton::SplatOp>(loc, line, scalar);
    Value mask = arith::CmpIOp::create(builder, loc, predicate, range, limits);
    for (unsigned axis = 0; axis < shape.size(); ++axis)
      if (axis != dim)
        mask = triton::ExpandDimsOp::create(builder, loc, mask, axis);
    mask = builder.createOrFold<triton::BroadcastOp>(loc, type, mask);
    result = result ? arith::AndIOp::create(builder, loc, result, mask).getResult() : mask;
  };
  for (unsigned dim = 0; dim < shape.size(); ++dim) {
    if (!isConstantIntValue(lo[dim], 0))
      bound(dim, lo[dim], Predicate::sge);
    if (!isConstantIntValue(hi[dim], shape[dim]))
      bound(dim, hi[dim], Predicate::slt);
  }
  return result;
}

FailureOr<MaskInfo> analyzeMask(Value mask, ArrayRef<int64_t> shape, OpBuilder &builder,
                                bool boxOnly) {
  LaneAnalysis lanes;
  MaskBox box = analyzeMaskBox(lanes, mask, shape);
  if (boxOnly && !box.residuals.empty())
    return failure();
  MaskInfo info;
  Location loc = mask ? mask.getLoc() : builder.getUnknownLoc();
  bool bounded = false;
  for (unsigned dim = 0; dim < shape.size(); ++dim) {
    bounded |= !box.lo[dim].isZero() || !box.hi[dim].isConstant(shape[dim]);
    info.lo.push_back(lanes.expressions().materialize(builder, loc, box.lo[dim]));
    info.hi.push_back(lanes.expressions().materialize(builder, loc, box.hi[dim]));
  }
  if (!box.residuals.empty())
    info.residual = bounded ? materializeResiduals(builder, loc, box.residuals) : mask;
  return info;
}

} // namespace piton
