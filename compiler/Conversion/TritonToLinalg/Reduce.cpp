// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tt.reduce. One commutative op: linalg.reduce from its neutral element. An index
// reduction (argmax, argmin): linalg.reduce over both operands, marked for the back ends.
// Any other combine region: slice 0 along the axis starts, a loop combines the rest.
#include "compiler/Conversion/TritonToLinalg/Lowering.h"
#include "compiler/Conversion/TritonToLinalg/Slices.h"

using namespace mlir;

namespace piton::linalglowering {

/// The value that leaves the other operand of `combiner` as it is, or null when there is none.
static TypedAttr neutralElement(Operation *combiner) {
  Type type = combiner->getResult(0).getType();
  OpBuilder b(combiner);
  auto integer = [&](auto make) -> TypedAttr {
    return b.getIntegerAttr(type, make(type.getIntOrFloatBitWidth()));
  };
  auto infinity = [&](bool negative) -> TypedAttr {
    auto real = cast<FloatType>(type);
    const llvm::fltSemantics &semantics = real.getFloatSemantics();
    // Formats without infinity (f8E4M3FN) have a largest value.
    APFloat value = APFloat::semanticsHasInf(semantics) ? APFloat::getInf(semantics, negative)
                                                        : APFloat::getLargest(semantics, negative);
    return FloatAttr::get(real, value);
  };
  auto notANumber = [&]() -> TypedAttr {
    auto real = cast<FloatType>(type);
    return FloatAttr::get(real, APFloat::getNaN(real.getFloatSemantics()));
  };
  return TypeSwitch<Operation *, TypedAttr>(combiner)
      // Back ends expect 0.0; only a sum of nothing but -0.0 tells it from the exact -0.0.
      .Case<arith::AddFOp>([&](auto) { return b.getFloatAttr(type, 0.0); })
      .Case<arith::MulFOp>([&](auto) { return b.getFloatAttr(type, 1.0); })
      .Case<arith::AddIOp, arith::OrIOp, arith::XOrIOp, arith::MaxUIOp>(
          [&](auto) { return integer([](unsigned width) { return APInt::getZero(width); }); })
      .Case<arith::MulIOp>([&](auto) { return integer([](unsigned w) { return APInt(w, 1); }); })
      .Case<arith::AndIOp, arith::MinUIOp>(
          [&](auto) { return integer([](unsigned w) { return APInt::getAllOnes(w); }); })
      .Case<arith::MaxSIOp>(
          [&](auto) { return integer([](unsigned w) { return APInt::getSignedMinValue(w); }); })
      .Case<arith::MinSIOp>(
          [&](auto) { return integer([](unsigned w) { return APInt::getSignedMaxValue(w); }); })
      .Case<arith::MaximumFOp>([&](auto) { return infinity(true); })
      .Case<arith::MinimumFOp>([&](auto) { return infinity(false); })
      // maxnum(NaN, x) is x, and NaN stays NaN when every element is: an infinity would show.
      .Case<arith::MaxNumFOp, arith::MinNumFOp>([&](auto) { return notANumber(); })
      .Default([](Operation *) { return TypedAttr(); });
}

Operation *commutativeCombiner(Region &region) {
  if (!region.hasOneBlock())
    return nullptr;
  Block &block = region.front();
  Operation *terminator = block.getTerminator();
  if (block.getNumArguments() != 2 || terminator->getNumOperands() != 1)
    return nullptr;
  Operation *op = terminator->getOperand(0).getDefiningOp();
  if (!op || op->getBlock() != &block || op->getNumOperands() != 2)
    return nullptr;
  Value lhs = block.getArgument(0), rhs = block.getArgument(1);
  bool inOrder = op->getOperand(0) == lhs && op->getOperand(1) == rhs;
  bool swapped = op->getOperand(0) == rhs && op->getOperand(1) == lhs;
  // Dead ops beside it are of no account; any other use of the arguments is.
  bool isAlone = lhs.hasOneUse() && rhs.hasOneUse();
  return (inOrder || swapped) && isAlone ? op : nullptr;
}

namespace {
/// What an index reduction looks for and which of two equal values it takes.
struct IndexReduction {
  bool isMax = false, isUnsigned = false;
  bool isLeft = true; ///< the lower index wins a tie (also when the region says nothing)
};
} // namespace

/// 1 for greater, -1 for less, 0 for anything else.
static int direction(Value value, Value lhs, Value rhs, bool &isUnsigned) {
  if (auto cmp = value.getDefiningOp<arith::CmpIOp>()) {
    if (cmp.getLhs() != lhs || cmp.getRhs() != rhs)
      return 0;
    switch (cmp.getPredicate()) {
    case arith::CmpIPredicate::ugt:
      isUnsigned = true;
      [[fallthrough]];
    case arith::CmpIPredicate::sgt:
      return 1;
    case arith::CmpIPredicate::ult:
      isUnsigned = true;
      [[fallthrough]];
    case arith::CmpIPredicate::slt:
      return -1;
    default:
      return 0;
    }
  }
  auto cmp = value.getDefiningOp<arith::CmpFOp>();
  if (!cmp || cmp.getLhs() != lhs || cmp.getRhs() != rhs)
    return 0;
  if (cmp.getPredicate() == arith::CmpFPredicate::OGT)
    return 1;
  return cmp.getPredicate() == arith::CmpFPredicate::OLT ? -1 : 0;
}

static bool isEquality(Value value, Value lhs, Value rhs) {
  auto matches = [&](Operation *op) {
    return (op->getOperand(0) == lhs && op->getOperand(1) == rhs) ||
           (op->getOperand(0) == rhs && op->getOperand(1) == lhs);
  };
  if (auto cmp = value.getDefiningOp<arith::CmpIOp>())
    return cmp.getPredicate() == arith::CmpIPredicate::eq && matches(cmp);
  auto cmp = value.getDefiningOp<arith::CmpFOp>();
  return cmp && cmp.getPredicate() == arith::CmpFPredicate::OEQ && matches(cmp);
}

/// Recognises exactly: take = better [or (equal and lower/higher index)], then two selects.
/// Everything else goes the general way, so nothing is misread.
static std::optional<IndexReduction> matchIndexReduction(Region &region) {
  if (!region.hasOneBlock() || region.getNumArguments() != 4)
    return std::nullopt;
  Block &block = region.front();
  Value value = block.getArgument(0), index = block.getArgument(1);
  Value newValue = block.getArgument(2), newIndex = block.getArgument(3);
  if (!isa<IntegerType>(index.getType()) || !value.getType().isIntOrFloat())
    return std::nullopt;
  Operation *terminator = block.getTerminator();
  auto first = terminator->getOperand(0).getDefiningOp<arith::SelectOp>();
  auto second = terminator->getOperand(1).getDefiningOp<arith::SelectOp>();
  if (!first || !second || first.getCondition() != second.getCondition() ||
      first.getTrueValue() != value || first.getFalseValue() != newValue ||
      second.getTrueValue() != index || second.getFalseValue() != newIndex)
    return std::nullopt;

  IndexReduction result;
  Value take = first.getCondition();
  Value better = take, tie;
  if (auto either = take.getDefiningOp<arith::OrIOp>()) {
    better = either.getLhs(), tie = either.getRhs();
    if (better.getDefiningOp<arith::AndIOp>())
      std::swap(better, tie);
  }
  int sense = direction(better, value, newValue, result.isUnsigned);
  if (sense == 0)
    return std::nullopt;
  result.isMax = sense > 0;
  if (!tie)
    return result;
  auto both = tie.getDefiningOp<arith::AndIOp>();
  if (!both)
    return std::nullopt;
  Value equal = both.getLhs(), order = both.getRhs();
  if (!isEquality(equal, value, newValue))
    std::swap(equal, order);
  bool unsignedIndex = false;
  int indexSense = direction(order, index, newIndex, unsignedIndex);
  if (!isEquality(equal, value, newValue) || indexSense == 0 || unsignedIndex)
    return std::nullopt;
  result.isLeft = indexSense < 0;
  return result;
}

/// The value that loses every comparison, so that the first element replaces it.
static TypedAttr losingValue(Type type, const IndexReduction &what, OpBuilder &b) {
  if (auto real = dyn_cast<FloatType>(type)) {
    const llvm::fltSemantics &semantics = real.getFloatSemantics();
    if (APFloat::semanticsHasInf(semantics))
      return FloatAttr::get(real, APFloat::getInf(semantics, what.isMax));
    return FloatAttr::get(real, APFloat::getLargest(semantics, what.isMax));
  }
  unsigned width = type.getIntOrFloatBitWidth();
  APInt value = what.isUnsigned ? (what.isMax ? APInt::getZero(width) : APInt::getMaxValue(width))
                                : (what.isMax ? APInt::getSignedMinValue(width)
                                              : APInt::getSignedMaxValue(width));
  return b.getIntegerAttr(type, value);
}

/// linalg.reduce with the combine region as its body: the accumulator is the out argument.
static SmallVector<Value> reduceWith(triton::ReduceOp op, ValueRange sources, ValueRange inits,
                                     ArrayRef<NamedAttribute> marks, OpBuilder &b) {
  auto reduce = linalg::ReduceOp::create(
      b, op.getLoc(), sources, inits, ArrayRef<int64_t>{static_cast<int64_t>(op.getAxis())},
      [&](OpBuilder &nested, Location at, ValueRange arguments) {
        size_t count = sources.size();
        SmallVector<Value> ordered(arguments.drop_front(count));
        llvm::append_range(ordered, arguments.take_front(count));
        linalg::YieldOp::create(nested, at, applyRegion(nested, op.getCombineOp(), ordered));
      },
      marks);
  SmallVector<Value> results(reduce.getResults());
  for (auto [result, old] : llvm::zip_equal(results, op.getResults()))
    if (!isa<RankedTensorType>(old.getType()))
      result = tensor::ExtractOp::create(b, op.getLoc(), result, ValueRange{});
  return results;
}

/// The shape of the results: the sources' without the axis.
static SmallVector<int64_t> reducedShape(triton::ReduceOp op) {
  SmallVector<int64_t> shape(cast<RankedTensorType>(op.getSrcs().front().getType()).getShape());
  shape.erase(shape.begin() + op.getAxis());
  return shape;
}

static Value filledInit(triton::ReduceOp op, TypedAttr value, OpBuilder &b) {
  auto type = RankedTensorType::get(reducedShape(op), value.getType());
  return filled(b, op.getLoc(), type, constantOf(b, op.getLoc(), value));
}

/// Any region: starts from slice 0 and needs no neutral element.
static SmallVector<Value> reduceBySlices(triton::ReduceOp op, OpBuilder &b) {
  Location loc = op.getLoc();
  SmallVector<Value> sources(op.getSrcs());
  auto type = cast<RankedTensorType>(sources.front().getType());
  int64_t axis = op.getAxis(), size = type.getDimSize(axis);
  SmallVector<Value> start;
  for (Value source : sources)
    start.push_back(sliceAt(b, loc, source, axis, b.getIndexAttr(0)));
  if (size == 1)
    return start;
  if (type.getRank() > 1 && !isElementwiseRegion(op.getCombineOp())) {
    // Not applicable to whole slices: linalg.reduce of the rest onto slice 0.
    SmallVector<Value> rest;
    for (Value source : sources)
      rest.push_back(sliceFrom(b, loc, source, axis, 1));
    return reduceWith(op, rest, start, {}, b);
  }
  Value lower = arith::ConstantIndexOp::create(b, loc, 1);
  Value upper = arith::ConstantIndexOp::create(b, loc, size);
  auto loop = scf::ForOp::create(
      b, loc, lower, upper, lower, start,
      [&](OpBuilder &nested, Location at, Value lane, ValueRange carried) {
        SmallVector<Value> arguments(carried);
        for (Value source : sources)
          arguments.push_back(sliceAt(nested, at, source, axis, lane));
        scf::YieldOp::create(nested, at, applyRegion(nested, op.getCombineOp(), arguments));
      });
  return SmallVector<Value>(loop.getResults());
}

LogicalResult Lowering::lowerReduce(triton::ReduceOp op) {
  OpBuilder b(op);
  SmallVector<Value> results;
  Region &region = op.getCombineOp();
  Operation *combiner = commutativeCombiner(region);
  TypedAttr neutral = combiner ? neutralElement(combiner) : TypedAttr();
  std::optional<IndexReduction> indexed;
  if (neutral) {
    results = reduceWith(op, op.getSrcs(), filledInit(op, neutral, b), {}, b);
  } else if (op.getSrcs().size() == 2 && (indexed = matchIndexReduction(region))) {
    Type valueType = region.getArgument(0).getType(), indexType = region.getArgument(1).getType();
    unsigned width = indexType.getIntOrFloatBitWidth();
    APInt losingIndex =
        indexed->isLeft ? APInt::getSignedMaxValue(width) : APInt::getAllOnes(width);
    Value inits[] = {filledInit(op, losingValue(valueType, *indexed, b), b),
                     filledInit(op, b.getIntegerAttr(indexType, losingIndex), b)};
    auto text = [&](StringRef name, StringRef value) {
      return b.getNamedAttr(name, b.getStringAttr(value));
    };
    NamedAttribute marks[] = {
        text("reduce_mode", indexed->isMax ? "max_with_index" : "min_with_index"),
        text("tie_break_left", indexed->isLeft ? "true" : "false"),
        text("unsigned_src", indexed->isUnsigned ? "true" : "false")};
    results = reduceWith(op, op.getSrcs(), inits, marks, b);
  } else {
    results = reduceBySlices(op, b);
  }
  op->replaceAllUsesWith(results);
  op.erase();
  return success();
}

} // namespace piton::linalglowering
