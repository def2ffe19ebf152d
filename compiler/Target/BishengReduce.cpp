// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// linalg.reduce. The Ascend compiler reduces one tensor by one op from the neutral
// value, and finds the position of a maximum or minimum; of any longer body it compiles
// the last op alone. What fits is given that form, everything else becomes a loop over
// slices, which needs no neutral value.
#include "compiler/Target/BishengForms.h"

using namespace mlir;

namespace piton::bisheng {

TypedAttr neutralOf(Operation *combiner) {
  Builder b(combiner->getContext());
  Type type = combiner->getResult(0).getType();
  auto extreme = [&](bool negative) -> TypedAttr {
    auto number = cast<FloatType>(type);
    return FloatAttr::get(number, APFloat::getInf(number.getFloatSemantics(), negative));
  };
  unsigned width = type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 64;
  return TypeSwitch<Operation *, TypedAttr>(combiner)
      .Case<arith::AddFOp>([&](Operation *) { return b.getFloatAttr(type, 0.0); })
      .Case<arith::MulFOp>([&](Operation *) { return b.getFloatAttr(type, 1.0); })
      .Case<arith::MaxNumFOp, arith::MaximumFOp>([&](Operation *) { return extreme(true); })
      .Case<arith::MinNumFOp, arith::MinimumFOp>([&](Operation *) { return extreme(false); })
      .Case<arith::AddIOp, arith::OrIOp, arith::XOrIOp, arith::MaxUIOp>(
          [&](Operation *) { return b.getIntegerAttr(type, 0); })
      .Case<arith::MulIOp>([&](Operation *) { return b.getIntegerAttr(type, 1); })
      .Case<arith::AndIOp, arith::MinUIOp>(
          [&](Operation *) { return b.getIntegerAttr(type, APInt::getAllOnes(width)); })
      .Case<arith::MaxSIOp>(
          [&](Operation *) { return b.getIntegerAttr(type, APInt::getSignedMinValue(width)); })
      .Case<arith::MinSIOp>(
          [&](Operation *) { return b.getIntegerAttr(type, APInt::getSignedMaxValue(width)); })
      .Default([](Operation *) { return TypedAttr(); });
}

Operation *soleCombiner(linalg::ReduceOp op) {
  Block &body = op.getCombiner().front();
  if (op.getInputs().size() != 1 || body.getOperations().size() != 2)
    return nullptr;
  Operation *first = &body.front();
  bool takesBoth = first->getNumOperands() == 2 && first->getNumResults() == 1 &&
                   first->getOperand(0) != first->getOperand(1) &&
                   llvm::all_of(first->getOperands(), llvm::IsaPred<BlockArgument>) &&
                   body.getTerminator()->getOperand(0) == first->getResult(0);
  return takesBoth && neutralOf(first) ? first : nullptr;
}

namespace {

bool isUndefined(Value value) {
  if (auto alloc = value.getDefiningOp<bufferization::AllocTensorOp>())
    return !alloc.getCopy();
  return value.getDefiningOp<tensor::EmptyOp>() != nullptr;
}

Value constantFill(OpBuilder &b, Location loc, TypedAttr value, RankedTensorType type) {
  Value scalar = arith::ConstantOp::create(b, loc, value);
  return splat(b, loc, scalar, type);
}

/// A reduction by one op over `dims`, from the neutral value.
template <typename CombinerOp>
Value reduceBy(OpBuilder &b, Location loc, Value in, RankedTensorType type, ArrayRef<int64_t> dims,
               TypedAttr neutral) {
  Value init = constantFill(b, loc, neutral, type);
  auto reduce = linalg::ReduceOp::create(b, loc, ValueRange{in}, ValueRange{init}, dims,
                                         [](OpBuilder &inner, Location innerLoc, ValueRange args) {
                                           Value value = CombinerOp::create(inner, innerLoc,
                                                                            args[0], args[1]);
                                           linalg::YieldOp::create(inner, innerLoc, value);
                                         });
  return reduce.getResult(0);
}

/// `op` by its one combiner, starting from the neutral value; the start value comes after.
struct SingleReduction {
  OpBuilder &b;
  linalg::ReduceOp op;
  Operation *combiner;

  Value build() {
    auto type = cast<RankedTensorType>(op.getResult(0).getType());
    Value in = op.getInputs().front(), init = op.getInits().front();
    bool isUnsigned = isa<arith::MaxUIOp, arith::MinUIOp>(combiner);
    Value reduced = isUnsigned ? unsignedExtremum(in, type) : plain(in, type);
    if (isa<arith::MaximumFOp, arith::MinimumFOp>(combiner))
      reduced = orNaN(in, reduced, type);
    TypedAttr start = constantFillOf(init);
    if (isUndefined(init) || (start && isNeutral(start)))
      return reduced;
    IRMapping map;
    Block &body = op.getCombiner().front();
    map.map(body.getArgument(0), reduced);
    map.map(body.getArgument(1), init);
    return cloneBodyOnTensors(b, body, type.getShape(), map).front();
  }

  bool isNeutral(TypedAttr start) {
    if (start == neutralOf(combiner))
      return true;
    auto number = dyn_cast<FloatAttr>(start);
    return number && number.getValue().isNaN() && isa<arith::MaxNumFOp, arith::MinNumFOp>(combiner);
  }

  Value plain(Value in, RankedTensorType type) {
    Value init = constantFill(b, op.getLoc(), neutralOf(combiner), type);
    if (isa<arith::MaximumFOp>(combiner))
      return reduceBy<arith::MaxNumFOp>(b, op.getLoc(), in, type, op.getDimensions(),
                                        neutralOf(combiner));
    if (isa<arith::MinimumFOp>(combiner))
      return reduceBy<arith::MinNumFOp>(b, op.getLoc(), in, type, op.getDimensions(),
                                        neutralOf(combiner));
    auto made = cast<linalg::ReduceOp>(b.clone(*op));
    made.getInitsMutable().assign(init);
    return made.getResult(0);
  }

  /// The library's maximum and minimum skip NaN: NaN where any element is.
  Value orNaN(Value in, Value reduced, RankedTensorType type) {
    Location loc = op.getLoc();
    Type f32 = b.getF32Type();
    Type wide = withElement(in.getType(), f32);
    auto wideResult = cast<RankedTensorType>(withElement(type, f32));
    Value one = splatFloat(b, loc, 1.0, wide), zero = splatFloat(b, loc, 0.0, wide);
    Value isNaN = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNE, in, in);
    Value count = arith::SelectOp::create(b, loc, isNaN, one, zero);
    Value any = reduceBy<arith::AddFOp>(b, loc, count, wideResult, op.getDimensions(),
                                        b.getF32FloatAttr(0.0));
    Value hasNaN = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT, any,
                                         splatFloat(b, loc, 0.0, wideResult));
    auto element = cast<FloatType>(type.getElementType());
    Value nan = constantFill(
        b, loc, FloatAttr::get(element, APFloat::getNaN(element.getFloatSemantics())), type);
    return arith::SelectOp::create(b, loc, hasNaN, nan, reduced);
  }

  Value unsignedExtremum(Value in, RankedTensorType type) {
    Location loc = op.getLoc();
    unsigned width = type.getElementTypeBitWidth();
    Value flipped = flipSign(b, loc, in);
    auto limit = [&](const APInt &value) { return b.getIntegerAttr(type.getElementType(), value); };
    Value reduced = isa<arith::MaxUIOp>(combiner)
                        ? reduceBy<arith::MaxSIOp>(b, loc, flipped, type, op.getDimensions(),
                                                   limit(APInt::getSignedMinValue(width)))
                        : reduceBy<arith::MinSIOp>(b, loc, flipped, type, op.getDimensions(),
                                                   limit(APInt::getSignedMaxValue(width)));
    return flipSign(b, loc, reduced);
  }
};

/// Any other body: the slices along one dimension after another, combined in order.
struct SliceLoops {
  OpBuilder &b;
  linalg::ReduceOp op;

  SmallVector<Value> build() {
    SmallVector<int64_t> dims(op.getDimensions());
    llvm::sort(dims);
    SmallVector<Value> values(op.getInputs());
    // From the last dimension, so that the others keep their numbers.
    bool startsInside = dims.size() == 1 && llvm::none_of(op.getInits(), isUndefined);
    for (int64_t dim : llvm::reverse(dims))
      values = along(dim, values,
                     startsInside ? SmallVector<Value>(op.getInits()) : SmallVector<Value>());
    if (!startsInside && llvm::none_of(op.getInits(), isUndefined))
      values = combine(values, op.getInits());
    return values;
  }

  /// The results for `values` and accumulators `accs`, of equal shapes.
  SmallVector<Value> combine(ValueRange values, ValueRange accs) {
    Block &body = op.getCombiner().front();
    IRMapping map;
    for (auto [arg, value] : llvm::zip(body.getArguments().take_front(values.size()), values))
      map.map(arg, value);
    for (auto [arg, acc] : llvm::zip(body.getArguments().drop_front(values.size()), accs))
      map.map(arg, acc);
    auto type = dyn_cast<RankedTensorType>(values.front().getType());
    if (!type)
      return cloneBodyOnScalars(b, body, map);
    return cloneBodyOnTensors(b, body, type.getShape(), map);
  }

  /// Slice `at` of `value` along `dim`, without that dimension.
  Value slice(Value value, int64_t dim, OpFoldResult at) {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0));
    SmallVector<OpFoldResult> strides(type.getRank(), b.getIndexAttr(1)), sizes;
    SmallVector<int64_t> shape;
    for (int64_t d = 0; d < type.getRank(); ++d) {
      sizes.push_back(b.getIndexAttr(d == dim ? 1 : type.getDimSize(d)));
      if (d != dim)
        shape.push_back(type.getDimSize(d));
    }
    offsets[dim] = at;
    auto sliceType = RankedTensorType::get(shape, type.getElementType());
    return tensor::ExtractSliceOp::create(b, op.getLoc(), sliceType, value, offsets, sizes,
                                          strides);
  }

  /// Element `at` of a vector, as the body computes with it: half types as a one-element tensor,
  /// for which the scalar unit has no arithmetic.
  Value element(Value value, Value at) {
    auto type = cast<RankedTensorType>(value.getType());
    Value scalar = tensor::ExtractOp::create(b, op.getLoc(), value, at);
    return isHalf(type.getElementType())
               ? splat(b, op.getLoc(), scalar, RankedTensorType::get({1}, type.getElementType()))
               : scalar;
  }

  static bool isHalf(Type type) {
    return isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32;
  }

  SmallVector<Value> part(ValueRange values, int64_t dim, Value at) {
    bool isVector = cast<RankedTensorType>(values.front().getType()).getRank() == 1;
    bool anyHalf = llvm::any_of(values, [](Value v) { return isHalf(getElementTypeOrSelf(v)); });
    SmallVector<Value> parts;
    for (Value value : values) {
      if (!isVector) {
        parts.push_back(slice(value, dim, getAsOpFoldResult(at)));
        continue;
      }
      Value one = element(value, at);
      if (anyHalf && !isa<RankedTensorType>(one.getType()))
        one = splat(b, op.getLoc(), one, RankedTensorType::get({1}, one.getType()));
      parts.push_back(one);
    }
    return parts;
  }

  /// A start value (of the result's shape) in the form in which the loop carries it.
  Value start(Value init, Type carried) {
    Location loc = op.getLoc();
    if (init.getType() == carried)
      return init;
    Value scalar = fillValueOf(init);
    if (!scalar)
      scalar = tensor::ExtractOp::create(b, loc, init, ValueRange{});
    return splat(b, loc, scalar, carried);
  }

  /// What the loop carried, as a tensor of the result's type.
  Value finish(Value carried, Type type) {
    Location loc = op.getLoc();
    if (carried.getType() == type)
      return carried;
    Value scalar = carried;
    if (isa<RankedTensorType>(carried.getType()))
      scalar = tensor::ExtractOp::create(b, loc, carried,
                                         ValueRange{arith::ConstantIndexOp::create(b, loc, 0)});
    return splat(b, loc, scalar, type);
  }

  SmallVector<Value> along(int64_t dim, SmallVector<Value> values, SmallVector<Value> inits) {
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(values.front().getType());
    SmallVector<int64_t> shape(type.getShape());
    shape.erase(shape.begin() + dim);
    Value zero = arith::ConstantIndexOp::create(b, loc, 0);
    Value one = arith::ConstantIndexOp::create(b, loc, 1);
    Value extent = arith::ConstantIndexOp::create(b, loc, type.getDimSize(dim));
    SmallVector<Value> carried = part(values, dim, zero);
    for (auto [index, init] : llvm::enumerate(inits))
      carried[index] = start(init, carried[index].getType());
    auto loop = scf::ForOp::create(b, loc, inits.empty() ? one : zero, extent, one, carried);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> parts = part(values, dim, loop.getInductionVar());
    SmallVector<Value> next = combine(parts, loop.getRegionIterArgs());
    scf::YieldOp::create(b, loc, next);
    b.setInsertionPointAfter(loop);
    SmallVector<Value> results;
    for (auto [value, in] : llvm::zip(loop.getResults(), values))
      results.push_back(
          finish(value, RankedTensorType::get(shape, getElementTypeOrSelf(in.getType()))));
    return results;
  }
};

//===-- Position of the maximum or minimum ------------------------------------===//

bool isUnsignedCompare(Operation &op) {
  auto compare = dyn_cast<arith::CmpIOp>(op);
  using P = arith::CmpIPredicate;
  return compare && llvm::is_contained({P::ult, P::ule, P::ugt, P::uge}, compare.getPredicate());
}

arith::CmpIPredicate signedOf(arith::CmpIPredicate predicate) {
  using P = arith::CmpIPredicate;
  switch (predicate) {
  case P::ult:
    return P::slt;
  case P::ule:
    return P::sle;
  case P::ugt:
    return P::sgt;
  case P::uge:
    return P::sge;
  default:
    return predicate;
  }
}

/// argmax and argmin: bf16 is compared as f32, unsigned values as signed ones.
LogicalResult legalizeArgReduction(OpBuilder &b, linalg::ReduceOp op, Context &context) {
  Location loc = op.getLoc();
  auto valueType = cast<RankedTensorType>(op.getInputs().front().getType());
  Type element = valueType.getElementType();
  Block &body = op.getCombiner().front();
  if (!op->hasAttr("unsigned_src"))
    op->setAttr("unsigned_src", b.getStringAttr("false"));
  if (element.isBF16()) {
    // The value's part of the body is compares and selects, which only change type.
    Type f32 = b.getF32Type();
    Value wideIn = arith::ExtFOp::create(b, loc, withElement(valueType, f32), op.getInputs()[0]);
    Value init = op.getInits().front();
    Value wideInit =
        arith::ExtFOp::create(b, loc, withElement(init.getType(), f32), init).getResult();
    if (auto start = dyn_cast_or_null<FloatAttr>(constantFillOf(init))) {
      APFloat value = start.getValue();
      bool lost;
      value.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &lost);
      wideInit = constantFill(b, loc, b.getFloatAttr(f32, value),
                              cast<RankedTensorType>(wideInit.getType()));
    }
    op->setOperand(0, wideIn);
    op->setOperand(2, wideInit);
    body.getArgument(0).setType(f32);
    body.getArgument(2).setType(f32);
    for (Operation &inner : body)
      for (Value result : inner.getResults())
        if (result.getType().isBF16())
          result.setType(f32);
    auto oldType = op.getResult(0).getType();
    op.getResult(0).setType(cast<RankedTensorType>(wideInit.getType()));
    b.setInsertionPointAfter(op);
    auto narrow = arith::TruncFOp::create(b, loc, oldType, op.getResult(0));
    op.getResult(0).replaceAllUsesExcept(narrow, narrow);
    return success();
  }
  bool isUnsigned = llvm::any_of(body, [&](Operation &inner) {
    return isUnsignedCompare(inner) && inner.getOperand(0).getType() == element;
  });
  if (!isUnsigned || !element.isInteger())
    return success();
  op->setOperand(0, flipSign(b, loc, op.getInputs().front()));
  op->setOperand(2, flipSign(b, loc, op.getInits().front()));
  for (Operation &inner : body)
    if (auto compare = dyn_cast<arith::CmpIOp>(inner))
      compare.setPredicate(signedOf(compare.getPredicate()));
  op->setAttr("unsigned_src", b.getStringAttr("false"));
  b.setInsertionPointAfter(op);
  Value restored = flipSign(b, loc, op.getResult(0));
  op.getResult(0).replaceAllUsesExcept(restored, restored.getDefiningOp());
  return success();
}

bool isArgReduction(linalg::ReduceOp op) {
  return op.getInputs().size() == 2 && op->hasAttr("reduce_mode") &&
         op.getDimensions().size() == 1 && llvm::all_of(op.getInits(), [](Value init) {
           return isUndefined(init) || constantFillOf(init);
         });
}

LogicalResult legalizeOne(linalg::ReduceOp op, Context &context) {
  if (!op.hasPureTensorSemantics())
    return success();
  OpBuilder b(op);
  if (isArgReduction(op))
    return legalizeArgReduction(b, op, context);
  SmallVector<Value> results;
  if (Operation *combiner = soleCombiner(op)) {
    results = {SingleReduction{b, op, combiner}.build()};
  } else {
    if (!isElementwiseBody(op.getCombiner().front()))
      return refuse(op, context.family, "its combiner is more than arithmetic",
                    "combine without branches and calls");
    results = SliceLoops{b, op}.build();
  }
  op->replaceAllUsesWith(results);
  op->erase();
  return success();
}

} // namespace

LogicalResult legalizeReductions(ModuleOp module, Context &context) {
  SmallVector<linalg::ReduceOp> ops;
  module.walk([&](linalg::ReduceOp op) { ops.push_back(op); });
  for (linalg::ReduceOp op : ops)
    if (failed(legalizeOne(op, context)))
      return failure();
  return success();
}

} // namespace piton::bisheng
