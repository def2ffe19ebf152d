// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// arith and math on tensors, in forms that the Ascend compiler takes and gets right.
// Scalars outside of linalg bodies stay as they are: LLVM compiles those. Each function
// below gives the replacement of one op; what it builds is looked at again, so a
// replacement may use ops that have replacements themselves.
#include "compiler/Target/BishengForms.h"

using namespace mlir;

namespace piton::bisheng {
namespace {

using Results = SmallVector<Value>;

unsigned widthOf(Value value) { return getElementTypeOrSelf(value).getIntOrFloatBitWidth(); }

Value cast(OpBuilder &b, Location loc, Value value, Type element, bool isSigned = true) {
  Type from = getElementTypeOrSelf(value), to = withElement(value.getType(), element);
  if (from == element)
    return value;
  unsigned fromWidth = from.getIntOrFloatBitWidth(), toWidth = element.getIntOrFloatBitWidth();
  if (from.isInteger() && element.isInteger()) {
    if (fromWidth > toWidth)
      return arith::TruncIOp::create(b, loc, to, value);
    if (isSigned)
      return arith::ExtSIOp::create(b, loc, to, value);
    return arith::ExtUIOp::create(b, loc, to, value);
  }
  if (from.isInteger())
    return arith::SIToFPOp::create(b, loc, to, value);
  if (element.isInteger())
    return arith::FPToSIOp::create(b, loc, to, value);
  if (fromWidth > toWidth)
    return arith::TruncFOp::create(b, loc, to, value);
  return arith::ExtFOp::create(b, loc, to, value);
}

Value compare(OpBuilder &b, Location loc, arith::CmpIPredicate predicate, Value x, Value y) {
  return arith::CmpIOp::create(b, loc, predicate, x, y);
}

Value compare(OpBuilder &b, Location loc, arith::CmpFPredicate predicate, Value x, Value y) {
  return arith::CmpFOp::create(b, loc, predicate, x, y);
}

Value select(OpBuilder &b, Location loc, Value condition, Value x, Value y) {
  return arith::SelectOp::create(b, loc, condition, x, y);
}

//===-- Shifts, maxima, compares ------------------------------------------===//

/// Unsigned ops on bytes are widened by the compiler itself, rightly.
bool isByte(Value value) { return widthOf(value) == 8; }

/// shrui compiles to an arithmetic shift: clear the copies of the sign bit behind it.
Value logicalShift(OpBuilder &b, arith::ShRUIOp op) {
  if (isByte(op.getResult()))
    return {};
  Location loc = op.getLoc();
  Type type = op.getType();
  unsigned width = widthOf(op.getResult());
  Value shifted = arith::ShRSIOp::create(b, loc, op.getLhs(), op.getRhs());
  if (auto amount = dyn_cast_or_null<IntegerAttr>(constantFillOf(op.getRhs()))) {
    uint64_t bits = amount.getValue().getLimitedValue(width);
    Value mask = splatInt(b, loc, APInt::getLowBitsSet(width, width - bits), type);
    return arith::AndIOp::create(b, loc, shifted, mask);
  }
  // The mask by the same amount: MAX >> s has width - 1 - s ones, then one more.
  Value one = splatInt(b, loc, 1, type);
  Value most = splatInt(b, loc, APInt::getSignedMaxValue(width), type);
  Value mask = arith::ShRSIOp::create(b, loc, most, op.getRhs());
  mask = arith::OrIOp::create(b, loc, arith::ShLIOp::create(b, loc, mask, one), one);
  return arith::AndIOp::create(b, loc, shifted, mask);
}

/// Unsigned maximum or minimum: the signed one of values with the sign bit flipped.
template <typename SignedOp> Value unsignedExtremum(OpBuilder &b, Operation *op) {
  if (isByte(op->getResult(0)))
    return {};
  Location loc = op->getLoc();
  Value x = flipSign(b, loc, op->getOperand(0)), y = flipSign(b, loc, op->getOperand(1));
  return flipSign(b, loc, SignedOp::create(b, loc, x, y));
}

std::optional<arith::CmpIPredicate> signedPredicate(arith::CmpIPredicate predicate) {
  switch (predicate) {
  case arith::CmpIPredicate::ult:
    return arith::CmpIPredicate::slt;
  case arith::CmpIPredicate::ule:
    return arith::CmpIPredicate::sle;
  case arith::CmpIPredicate::ugt:
    return arith::CmpIPredicate::sgt;
  case arith::CmpIPredicate::uge:
    return arith::CmpIPredicate::sge;
  default:
    return std::nullopt;
  }
}

/// i1 as a number: compares know bytes and up.
Value widenBool(OpBuilder &b, Location loc, Value value) {
  return arith::ExtUIOp::create(b, loc, withElement(value.getType(), b.getI8Type()), value);
}

Value integerCompare(OpBuilder &b, arith::CmpIOp op) {
  Location loc = op.getLoc();
  Value x = op.getLhs(), y = op.getRhs();
  arith::CmpIPredicate predicate = op.getPredicate();
  unsigned width = widthOf(x);
  if (width == 1) {
    // As bytes 0 and 1 unsigned order is signed order; signed order of i1 (-1, 0) is its reverse.
    bool isSigned = predicate != arith::CmpIPredicate::eq &&
                    predicate != arith::CmpIPredicate::ne && !signedPredicate(predicate);
    Value wideX = widenBool(b, loc, x), wideY = widenBool(b, loc, y);
    if (isSigned)
      std::swap(wideX, wideY);
    return compare(b, loc, signedPredicate(predicate).value_or(predicate), wideX, wideY);
  }
  std::optional<arith::CmpIPredicate> signedForm = signedPredicate(predicate);
  if (signedForm && !isByte(x))
    return compare(b, loc, *signedForm, flipSign(b, loc, x), flipSign(b, loc, y));
  // `ne` of computed i16 values is negated in place, which the library gets wrong.
  if (predicate == arith::CmpIPredicate::ne && width == 16) {
    Type i32 = b.getI32Type();
    return compare(b, loc, predicate, cast(b, loc, x, i32), cast(b, loc, y, i32));
  }
  return {};
}

/// Ordered relations, `oeq` and `une` mean what they say; the others are built of them.
Value floatCompare(OpBuilder &b, arith::CmpFOp op) {
  using P = arith::CmpFPredicate;
  Location loc = op.getLoc();
  Value x = op.getLhs(), y = op.getRhs();
  auto either = [&](P first, Value a, Value c, P second, Value d, Value e) -> Value {
    return arith::OrIOp::create(b, loc, compare(b, loc, first, a, c),
                                compare(b, loc, second, d, e));
  };
  switch (op.getPredicate()) {
  case P::ULT:
    return negate(b, loc, compare(b, loc, P::OGE, x, y));
  case P::ULE:
    return negate(b, loc, compare(b, loc, P::OGT, x, y));
  case P::UGT:
    return negate(b, loc, compare(b, loc, P::OLE, x, y));
  case P::UGE:
    return negate(b, loc, compare(b, loc, P::OLT, x, y));
  case P::ONE:
    return either(P::OLT, x, y, P::OGT, x, y);
  case P::UEQ:
    return negate(b, loc, either(P::OLT, x, y, P::OGT, x, y));
  case P::UNO:
    return either(P::UNE, x, x, P::UNE, y, y);
  case P::ORD:
    return arith::AndIOp::create(b, loc, compare(b, loc, P::OEQ, x, x),
                                 compare(b, loc, P::OEQ, y, y));
  case P::AlwaysFalse:
  case P::AlwaysTrue: {
    auto type = cast<ShapedType>(op.getType());
    bool value = op.getPredicate() == P::AlwaysTrue;
    return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, value));
  }
  default:
    return {};
  }
}

//===-- Conversions --------------------------------------------------------===//

/// By sign extension and a mask; i1 and bytes are right as they are.
Value zeroExtend(OpBuilder &b, arith::ExtUIOp op) {
  unsigned from = widthOf(op.getIn()), to = widthOf(op.getResult());
  if (from <= 8)
    return {};
  Location loc = op.getLoc();
  Value wide = arith::ExtSIOp::create(b, loc, op.getType(), op.getIn());
  Value mask = splatInt(b, loc, APInt::getLowBitsSet(to, from), op.getType());
  return arith::AndIOp::create(b, loc, wide, mask);
}

/// An i1 counts as 1, whatever the sign of the conversion: pick -1 or 0.
Value signExtendBool(OpBuilder &b, arith::ExtSIOp op) {
  if (widthOf(op.getIn()) != 1)
    return {};
  Location loc = op.getLoc();
  return select(b, loc, op.getIn(), splatInt(b, loc, -1, op.getType()),
                splatInt(b, loc, 0, op.getType()));
}

Value truncateToBool(OpBuilder &b, arith::TruncIOp op) {
  if (widthOf(op.getResult()) != 1)
    return {};
  Location loc = op.getLoc();
  Type type = op.getIn().getType();
  Value low = arith::AndIOp::create(b, loc, op.getIn(), splatInt(b, loc, 1, type));
  return compare(b, loc, arith::CmpIPredicate::eq, low, splatInt(b, loc, 1, type));
}

Value signedToFloat(OpBuilder &b, arith::SIToFPOp op) {
  if (widthOf(op.getIn()) != 1)
    return {};
  Location loc = op.getLoc();
  return select(b, loc, op.getIn(), splatFloat(b, loc, -1.0, op.getType()),
                splatFloat(b, loc, 0.0, op.getType()));
}

/// Through a signed type that holds every value; u64 by halves of the range.
Value unsignedToFloat(OpBuilder &b, arith::UIToFPOp op) {
  Location loc = op.getLoc();
  Value in = op.getIn();
  Type element = getElementTypeOrSelf(op.getType());
  unsigned width = widthOf(in);
  if (width == 1)
    return {};
  if (width < 64) {
    Type wider = b.getIntegerType(width < 32 ? 32 : 64);
    return cast(b, loc, cast(b, loc, in, wider, /*isSigned=*/false), element);
  }
  // Above the signed range: halve, keeping the lost bit sticky, convert, double.
  Type type = in.getType();
  Value one = splatInt(b, loc, 1, type), zero = splatInt(b, loc, 0, type);
  Value half = arith::OrIOp::create(b, loc, arith::ShRUIOp::create(b, loc, in, one),
                                    arith::AndIOp::create(b, loc, in, one));
  Value small = cast(b, loc, in, b.getF32Type());
  Value large = cast(b, loc, half, b.getF32Type());
  large = arith::AddFOp::create(b, loc, large, large);
  Value isLarge = compare(b, loc, arith::CmpIPredicate::slt, in, zero);
  return cast(b, loc, select(b, loc, isLarge, large, small), element);
}

/// Half types and bytes go through f32 and i32: direct f16 -> i8 rounds to f16 on its way.
Value floatToSigned(OpBuilder &b, arith::FPToSIOp op) {
  Location loc = op.getLoc();
  Type from = getElementTypeOrSelf(op.getIn()), to = getElementTypeOrSelf(op.getType());
  bool toByte = to.getIntOrFloatBitWidth() <= 8;
  if (!toByte && from.getIntOrFloatBitWidth() >= 32)
    return {};
  if (!toByte && from.isF16() && to.getIntOrFloatBitWidth() <= 32)
    return {};
  Value wide = cast(b, loc, op.getIn(), b.getF32Type());
  return cast(b, loc, cast(b, loc, wide, toByte ? b.getI32Type() : to), to);
}

Value floatToUnsigned(OpBuilder &b, arith::FPToUIOp op) {
  Location loc = op.getLoc();
  Type to = getElementTypeOrSelf(op.getType());
  unsigned width = to.getIntOrFloatBitWidth();
  Value in = cast(b, loc, op.getIn(), b.getF32Type());
  if (width < 64) {
    Type wider = b.getIntegerType(width < 32 ? 32 : 64);
    return cast(b, loc, cast(b, loc, in, wider), to);
  }
  Value limit = splatFloat(b, loc, 0x1p63, in.getType());
  Value isLarge = compare(b, loc, arith::CmpFPredicate::OGE, in, limit);
  Value small = cast(b, loc, in, to);
  Value large = flipSign(b, loc, cast(b, loc, arith::SubFOp::create(b, loc, in, limit), to));
  return select(b, loc, isLarge, large, small);
}

//===-- Division -------------------------------------------------------------===//

/// Quotients of up to 24 bits are exact as f32 divisions, which is what the compiler makes of
/// them; an i32 one goes through i64, which it divides element by element.
Value signedQuotient(OpBuilder &b, arith::DivSIOp op) {
  if (widthOf(op.getResult()) != 32)
    return {};
  Location loc = op.getLoc();
  Type i64 = b.getI64Type();
  Value wide = arith::DivSIOp::create(b, loc, cast(b, loc, op.getLhs(), i64),
                                      cast(b, loc, op.getRhs(), i64));
  return cast(b, loc, wide, b.getI32Type());
}

/// Zero-extended operands make the signed op right; 64 bits have no wider type.
template <typename SignedOp> Value unsignedByWidening(OpBuilder &b, Operation *op) {
  Location loc = op->getLoc();
  Type element = getElementTypeOrSelf(op->getResult(0));
  unsigned width = element.getIntOrFloatBitWidth();
  if (width >= 64)
    return scalarLoop(b, op).front();
  Type wider = b.getIntegerType(width < 32 ? 32 : 64);
  Value x = cast(b, loc, op->getOperand(0), wider, false);
  Value y = cast(b, loc, op->getOperand(1), wider, false);
  return cast(b, loc, SignedOp::create(b, loc, x, y), element);
}

/// Quotient rounded to -inf (floor) or +inf (ceil) from the truncated one.
Value roundedQuotient(OpBuilder &b, Operation *op, bool isFloor) {
  Location loc = op->getLoc();
  Value x = op->getOperand(0), y = op->getOperand(1);
  Type type = x.getType();
  Value zero = splatInt(b, loc, 0, type), one = splatInt(b, loc, 1, type);
  Value quotient = arith::DivSIOp::create(b, loc, x, y);
  Value rest = arith::RemSIOp::create(b, loc, x, y);
  using P = arith::CmpIPredicate;
  Value restNegative = compare(b, loc, P::slt, rest, zero);
  Value divisorNegative = compare(b, loc, P::slt, y, zero);
  Value differ = arith::XOrIOp::create(b, loc, restNegative, divisorNegative);
  Value adjust = isFloor ? differ : negate(b, loc, differ);
  adjust = arith::AndIOp::create(b, loc, adjust, compare(b, loc, P::ne, rest, zero));
  Value moved = isFloor ? Value(arith::SubIOp::create(b, loc, quotient, one))
                        : Value(arith::AddIOp::create(b, loc, quotient, one));
  return select(b, loc, adjust, moved, quotient);
}

/// The compiler's vmulext gives the high half in both results.
template <typename ExtendedOp> Results extendedProduct(OpBuilder &b, ExtendedOp op) {
  Location loc = op.getLoc();
  unsigned width = widthOf(op.getLow());
  if (width == 32 && op.getLow().use_empty())
    return {};
  if (width == 64)
    return scalarLoop(b, op);
  Value low = arith::MulIOp::create(b, loc, op.getLhs(), op.getRhs());
  if (width == 32) {
    auto high = ExtendedOp::create(b, loc, op.getLhs(), op.getRhs());
    return {low, high.getHigh()};
  }
  constexpr bool isSigned = std::is_same_v<ExtendedOp, arith::MulSIExtendedOp>;
  Type wide = b.getIntegerType(2 * width), narrow = getElementTypeOrSelf(op.getLow());
  Value product = arith::MulIOp::create(b, loc, cast(b, loc, op.getLhs(), wide, isSigned),
                                        cast(b, loc, op.getRhs(), wide, isSigned));
  Value amount = splatInt(b, loc, width, product.getType());
  return {low, cast(b, loc, arith::ShRSIOp::create(b, loc, product, amount), narrow)};
}

//===-- Floating point -----------------------------------------------------===//

/// Computes in f32 where the operands are half types.
template <typename Build> Value inF32(OpBuilder &b, Location loc, Value in, Build build) {
  Type element = getElementTypeOrSelf(in);
  return cast(b, loc, build(cast(b, loc, in, b.getF32Type())), element);
}

/// The compiler computes x - trunc(x / y) y, and quotients of half precision overflow.
Value wideRemainder(OpBuilder &b, arith::RemFOp op) {
  if (widthOf(op.getResult()) != 16)
    return {};
  Location loc = op.getLoc();
  Type narrow = getElementTypeOrSelf(op.getType());
  Value x = cast(b, loc, op.getLhs(), b.getF32Type()),
        y = cast(b, loc, op.getRhs(), b.getF32Type());
  return cast(b, loc, arith::RemFOp::create(b, loc, x, y), narrow);
}

Value truncated(OpBuilder &b, Location loc, Value x) {
  Value zero = splatFloat(b, loc, 0.0, x.getType());
  Value isNegative = compare(b, loc, arith::CmpFPredicate::OLT, x, zero);
  return select(b, loc, isNegative, math::CeilOp::create(b, loc, x),
                math::FloorOp::create(b, loc, x));
}

/// Half away from zero: the fraction is exact, so the compare is.
Value roundedAway(OpBuilder &b, Location loc, Value x) {
  Type type = x.getType();
  using P = arith::CmpFPredicate;
  Value whole = truncated(b, loc, x);
  Value fraction = arith::SubFOp::create(b, loc, x, whole);
  Value one = splatFloat(b, loc, 1.0, type);
  Value up = arith::AddFOp::create(b, loc, whole, one);
  Value down = arith::SubFOp::create(b, loc, whole, one);
  Value isUp = compare(b, loc, P::OGE, fraction, splatFloat(b, loc, 0.5, type));
  Value isDown = compare(b, loc, P::OLE, fraction, splatFloat(b, loc, -0.5, type));
  return select(b, loc, isUp, up, select(b, loc, isDown, down, whole));
}

/// Half to even: above the floor by more than a half, or by a half from an odd one.
Value roundedEven(OpBuilder &b, Location loc, Value x) {
  Type type = x.getType();
  using P = arith::CmpFPredicate;
  Value low = math::FloorOp::create(b, loc, x);
  Value fraction = arith::SubFOp::create(b, loc, x, low);
  Value half = splatFloat(b, loc, 0.5, type);
  Value halved = arith::MulFOp::create(b, loc, low, half);
  Value isOdd = compare(b, loc, P::UNE, halved, math::FloorOp::create(b, loc, halved));
  Value tie = arith::AndIOp::create(b, loc, compare(b, loc, P::OEQ, fraction, half), isOdd);
  Value isUp = arith::OrIOp::create(b, loc, compare(b, loc, P::OGT, fraction, half), tie);
  Value up = arith::AddFOp::create(b, loc, low, splatFloat(b, loc, 1.0, type));
  return select(b, loc, isUp, up, low);
}

/// The sign bit of `from` on the magnitude of `value`.
Value withSignOf(OpBuilder &b, Location loc, Value value, Value from) {
  unsigned width = widthOf(value);
  Type bits = withElement(value.getType(), b.getIntegerType(width));
  Value magnitude = arith::BitcastOp::create(b, loc, bits, value);
  Value sign = arith::BitcastOp::create(b, loc, bits, from);
  magnitude = arith::AndIOp::create(b, loc, magnitude,
                                    splatInt(b, loc, APInt::getSignedMaxValue(width), bits));
  sign = arith::AndIOp::create(b, loc, sign, splatInt(b, loc, APInt::getSignMask(width), bits));
  Value both = arith::OrIOp::create(b, loc, magnitude, sign);
  return arith::BitcastOp::create(b, loc, value.getType(), both);
}

/// |x| against infinity.
Value compareMagnitude(OpBuilder &b, Location loc, Value x, arith::CmpFPredicate predicate) {
  auto element = cast<FloatType>(getElementTypeOrSelf(x));
  Value infinity = arith::ConstantOp::create(
      b, loc, FloatAttr::get(element, APFloat::getInf(element.getFloatSemantics())));
  return compare(b, loc, predicate, math::AbsFOp::create(b, loc, x),
                 splat(b, loc, infinity, x.getType()));
}

/// f32 -> narrower, towards zero: clear what does not fit, then the conversion is exact.
Value truncatedTowardsZero(OpBuilder &b, arith::TruncFOp op) {
  auto mode = op.getRoundingmode();
  if (!mode || *mode != arith::RoundingMode::toward_zero)
    return {};
  Type to = getElementTypeOrSelf(op.getType());
  if (!getElementTypeOrSelf(op.getIn()).isF32() || !to.isBF16())
    return {};
  Location loc = op.getLoc();
  Type bits = withElement(op.getType(), b.getI32Type());
  Value raw = arith::BitcastOp::create(b, loc, bits, op.getIn());
  // A NaN whose payload lies in the cleared bits alone would become an infinity.
  Value isNan = compare(b, loc, arith::CmpFPredicate::UNE, op.getIn(), op.getIn());
  Value kept = arith::AndIOp::create(b, loc, raw, splatInt(b, loc, -65536, bits));
  Value exact = arith::BitcastOp::create(b, loc, op.getIn().getType(), kept);
  return arith::TruncFOp::create(b, loc, op.getType(), select(b, loc, isNan, op.getIn(), exact));
}

Value replaceMath(OpBuilder &b, Operation *op) {
  Location loc = op->getLoc();
  Value x = op->getNumOperands() ? op->getOperand(0) : Value();
  using P = arith::CmpFPredicate;
  return TypeSwitch<Operation *, Value>(op)
      .Case([&](math::TruncOp) {
        return inF32(b, loc, x, [&](Value v) { return truncated(b, loc, v); });
      })
      .Case([&](math::RoundOp) {
        return inF32(b, loc, x, [&](Value v) { return roundedAway(b, loc, v); });
      })
      .Case([&](math::RoundEvenOp) {
        return inF32(b, loc, x, [&](Value v) { return roundedEven(b, loc, v); });
      })
      .Case([&](math::CopySignOp) { return withSignOf(b, loc, x, op->getOperand(1)); })
      .Case([&](math::IsNaNOp) { return compare(b, loc, P::UNE, x, x); })
      .Case([&](math::IsInfOp) { return compareMagnitude(b, loc, x, P::OEQ); })
      .Case([&](math::IsFiniteOp) { return compareMagnitude(b, loc, x, P::OLT); })
      .Case([&](math::ClampFOp clamp) -> Value {
        Value low = arith::MaximumFOp::create(b, loc, x, clamp.getMin());
        return arith::MinimumFOp::create(b, loc, low, clamp.getMax());
      })
      .Default([](Operation *) { return Value(); });
}

//===-- Elements of i1 tensors -------------------------------------------===//

/// i1 tensors are packed, and the compiler takes an element's number for its byte: elements and
/// slices go through bytes.
Value asBytes(OpBuilder &b, Location loc, Value value) {
  if (value.getDefiningOp<tensor::EmptyOp>()) {
    auto type = cast<RankedTensorType>(value.getType());
    return tensor::EmptyOp::create(b, loc, type.getShape(), b.getI8Type());
  }
  // Where the value is made, not in the loop that reads its elements.
  OpBuilder::InsertionGuard guard(b);
  if (isa<RankedTensorType>(value.getType()))
    b.setInsertionPointAfterValue(value);
  return widenBool(b, loc, value);
}

Value asBools(OpBuilder &b, Location loc, Value bytes) {
  return compare(b, loc, arith::CmpIPredicate::ne, bytes, splatInt(b, loc, 0, bytes.getType()));
}

bool isBoolElement(Operation *op) {
  return isa<tensor::ExtractOp, tensor::InsertOp, tensor::ExtractSliceOp, tensor::InsertSliceOp>(
             op) &&
         getElementTypeOrSelf(op->getResult(0)).isInteger(1);
}

/// `op` with every i1 operand and result widened.
Value boolElement(OpBuilder &b, Operation *op) {
  Location loc = op->getLoc();
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(getElementTypeOrSelf(operand).isInteger(1) ? asBytes(b, loc, operand)
                                                                  : operand);
  Type type = withElement(op->getResult(0).getType(), b.getI8Type());
  OperationState state(loc, op->getName(), operands, {type}, op->getAttrs());
  return asBools(b, loc, b.create(state)->getResult(0));
}

//===-- Dispatch -------------------------------------------------------------===//

bool isNarrowUnsigned(Operation *op) { return widthOf(op->getResult(0)) == 1; }

/// i1 arithmetic as logic. Addition and subtraction are exclusive or, multiplication is and.
Value booleanArithmetic(OpBuilder &b, Operation *op) {
  Location loc = op->getLoc();
  Value x = op->getNumOperands() == 2 ? op->getOperand(0) : Value();
  Value y = op->getNumOperands() == 2 ? op->getOperand(1) : Value();
  return TypeSwitch<Operation *, Value>(op)
      .Case<arith::AddIOp, arith::SubIOp>(
          [&](Operation *) -> Value { return arith::XOrIOp::create(b, loc, x, y); })
      // Signed i1 counts true as -1, so the signed maximum is the unsigned minimum.
      .Case<arith::MulIOp, arith::MinUIOp, arith::MaxSIOp>(
          [&](Operation *) -> Value { return arith::AndIOp::create(b, loc, x, y); })
      .Case<arith::MaxUIOp, arith::MinSIOp>(
          [&](Operation *) -> Value { return arith::OrIOp::create(b, loc, x, y); })
      .Default([](Operation *) { return Value(); });
}

/// Replacement of `op`, empty where it may stay.
Results replacementOf(OpBuilder &b, Operation *op) {
  if (isBoolElement(op))
    return {boolElement(b, op)};
  if (isNarrowUnsigned(op))
    if (Value logic = booleanArithmetic(b, op))
      return {logic};
  if (auto product = dyn_cast<arith::MulSIExtendedOp>(op))
    return extendedProduct(b, product);
  if (auto product = dyn_cast<arith::MulUIExtendedOp>(op))
    return extendedProduct(b, product);
  Value value =
      TypeSwitch<Operation *, Value>(op)
          .Case([&](arith::ShRUIOp o) { return logicalShift(b, o); })
          .Case([&](arith::MaxUIOp o) { return unsignedExtremum<arith::MaxSIOp>(b, o); })
          .Case([&](arith::MinUIOp o) { return unsignedExtremum<arith::MinSIOp>(b, o); })
          .Case([&](arith::CmpIOp o) { return integerCompare(b, o); })
          .Case([&](arith::CmpFOp o) { return floatCompare(b, o); })
          .Case([&](arith::ExtUIOp o) { return zeroExtend(b, o); })
          .Case([&](arith::ExtSIOp o) { return signExtendBool(b, o); })
          .Case([&](arith::TruncIOp o) { return truncateToBool(b, o); })
          .Case([&](arith::SIToFPOp o) { return signedToFloat(b, o); })
          .Case([&](arith::UIToFPOp o) { return unsignedToFloat(b, o); })
          .Case([&](arith::FPToSIOp o) { return floatToSigned(b, o); })
          .Case([&](arith::FPToUIOp o) { return floatToUnsigned(b, o); })
          .Case([&](arith::RemFOp o) { return wideRemainder(b, o); })
          .Case([&](arith::TruncFOp o) { return truncatedTowardsZero(b, o); })
          .Case([&](arith::DivSIOp o) { return signedQuotient(b, o); })
          .Case([&](arith::DivUIOp o) { return unsignedByWidening<arith::DivSIOp>(b, o); })
          .Case([&](arith::RemUIOp o) { return unsignedByWidening<arith::RemSIOp>(b, o); })
          .Case([&](arith::CeilDivUIOp o) { return scalarLoop(b, o).front(); })
          .Case([&](arith::FloorDivSIOp o) { return roundedQuotient(b, o, true); })
          .Case([&](arith::CeilDivSIOp o) { return roundedQuotient(b, o, false); })
          .Default([&](Operation *o) { return replaceMath(b, o); });
  return value ? Results{value} : Results();
}

bool isTensorArithmetic(Operation *op) {
  if (isBoolElement(op))
    return true;
  if (op->getNumResults() == 0 || !isa<RankedTensorType>(op->getResult(0).getType()))
    return false;
  return isa<arith::ArithDialect, math::MathDialect>(op->getDialect());
}

/// Queues ops as they are built, so that replacements are looked at too.
struct Queue : OpBuilder::Listener {
  SmallVector<Operation *> ops;
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override {
    if (isTensorArithmetic(op))
      ops.push_back(op);
  }
};

} // namespace

LogicalResult legalizeElementwise(ModuleOp module, Context &context) {
  Queue queue;
  module.walk([&](Operation *op) {
    if (isTensorArithmetic(op))
      queue.ops.push_back(op);
  });
  OpBuilder b(module.getContext());
  b.setListener(&queue);
  while (!queue.ops.empty()) {
    Operation *op = queue.ops.pop_back_val();
    b.setInsertionPoint(op);
    Results replacement = replacementOf(b, op);
    if (replacement.empty())
      continue;
    op->replaceAllUsesWith(replacement);
    op->erase();
  }
  return success();
}

} // namespace piton::bisheng
