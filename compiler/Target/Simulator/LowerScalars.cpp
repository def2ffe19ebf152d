// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// sim-lower-scalars: what x86 does not have. Casts of bf16 and 8-bit floats, exp and exp2
// as inline polynomials (a call per element, or libmvec's slow path for -inf, costs more),
// other math functions as libm calls or their vector forms, division that cannot trap.
#include "compiler/Target/Simulator/Utils.h"
#include "compiler/Transforms/Passes.h"

#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/IR/Matchers.h"

namespace piton {
#define GEN_PASS_DEF_SIMLOWERSCALARS
#include "compiler/Transforms/Passes.h.inc"
} // namespace piton

using namespace mlir;
using namespace piton;
using namespace piton::simulator;

namespace {

/// `element`, or a vector of it shaped as `like`.
Type likeType(Type like, Type element) {
  if (auto vector = dyn_cast<VectorType>(like))
    return VectorType::get(vector.getShape(), element, vector.getScalableDims());
  return element;
}

/// Builds arithmetic on scalars or vectors of one shape.
struct Emitter {
  OpBuilder &b;
  Location loc;
  Type like;
  bool avx512 = false;

  Value real(double value) {
    Type type = likeType(like, b.getF32Type());
    TypedAttr attribute = b.getF32FloatAttr(float(value));
    if (auto vector = dyn_cast<VectorType>(type))
      attribute = DenseElementsAttr::get(vector, Attribute(attribute));
    return arith::ConstantOp::create(b, loc, attribute);
  }
  Value integer(unsigned width, int64_t value) {
    Type type = likeType(like, b.getIntegerType(width));
    TypedAttr attribute = b.getIntegerAttr(b.getIntegerType(width), value);
    if (auto vector = dyn_cast<VectorType>(type))
      attribute = DenseElementsAttr::get(vector, Attribute(attribute));
    return arith::ConstantOp::create(b, loc, attribute);
  }
  Value bitcast(Type element, Value x) {
    return arith::BitcastOp::create(b, loc, likeType(like, element), x);
  }
  Value fma(Value x, Value y, Value z) { return math::FmaOp::create(b, loc, x, y, z); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, loc, x, y); }
  /// x < limit ? limit : x, which keeps NaN and is one instruction.
  Value atLeast(Value x, Value limit) {
    Value below = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, x, limit);
    return arith::SelectOp::create(b, loc, below, limit, x);
  }
  Value atMost(Value x, Value limit) {
    Value above = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT, x, limit);
    return arith::SelectOp::create(b, loc, above, limit, x);
  }
  /// 2^n for an i32 n within the exponent range.
  Value powerOfTwo(Value n) {
    Value biased = arith::AddIOp::create(b, loc, n, integer(32, 127));
    return bitcast(b.getF32Type(), arith::ShLIOp::create(b, loc, biased, integer(32, 23)));
  }
  /// p * 2^n by the instruction that AVX-512 has for it.
  Value scaleByInstruction(Value p, Value n, VectorType type) {
    constexpr int64_t width = 16;
    auto chunk = VectorType::get({width}, b.getF32Type());
    Value mask = arith::ConstantOp::create(b, loc, b.getI16IntegerAttr(-1));
    Value rounding = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(4));
    Value result = p;
    for (int64_t at = 0; at < type.getDimSize(0); at += width) {
      auto part = [&](Value x) -> Value {
        return vector::ExtractStridedSliceOp::create(b, loc, x, {at}, {width}, {1});
      };
      Value x = part(p);
      auto call = LLVM::CallIntrinsicOp::create(
          b, loc, chunk, b.getStringAttr("llvm.x86.avx512.mask.scalef.ps.512"),
          ValueRange{x, part(n), x, mask, rounding});
      result = vector::InsertStridedSliceOp::create(b, loc, call.getResult(0), result,
                                                    ArrayRef<int64_t>{at}, ArrayRef<int64_t>{1});
    }
    return result;
  }

  /// p * 2^n in two steps, so that the result may be denormal or infinite.
  Value scale(Value p, Value n) {
    if (auto type = dyn_cast<VectorType>(like);
        type && avx512 && type.getRank() == 1 && type.getDimSize(0) % 16 == 0)
      return scaleByInstruction(p, n, type);
    Value whole = arith::FPToSIOp::create(b, loc, likeType(like, b.getI32Type()), n);
    Value half = arith::ShRSIOp::create(b, loc, whole, integer(32, 1));
    Value rest = arith::SubIOp::create(b, loc, whole, half);
    return mul(mul(p, powerOfTwo(half)), powerOfTwo(rest));
  }
  Value horner(Value x, ArrayRef<double> coefficients) {
    Value sum = real(coefficients.back());
    for (double c : llvm::reverse(coefficients.drop_back()))
      sum = fma(sum, x, real(c));
    return sum;
  }
};

// Near-minimax polynomials with p(0) = 1, of 2^x on [-0.5, 0.5] and e^x on ln 2 times that.
constexpr double kExp2[] = {1.0,
                            0.6931471824645996,
                            0.24022650718688965,
                            0.055503569543361664,
                            0.009618056938052177,
                            0.0013390866806730628,
                            0.00015461447765119374};
constexpr double kExp[] = {1.0,
                           1.0,
                           0.5,
                           0.16666504740715027,
                           0.04166635125875473,
                           0.008369152434170246,
                           0.0013941113138571382};

struct LowerExp2 : OpRewritePattern<math::Exp2Op> {
  LowerExp2(MLIRContext *context, bool avx512) : OpRewritePattern(context), avx512(avx512) {}
  bool avx512;
  LogicalResult matchAndRewrite(math::Exp2Op op, PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return failure();
    Emitter e{rewriter, op.getLoc(), op.getType(), avx512};
    Value x = e.atMost(e.atLeast(op.getOperand(), e.real(-151.0)), e.real(129.0));
    Value n = math::RoundEvenOp::create(rewriter, op.getLoc(), x);
    Value f = arith::SubFOp::create(rewriter, op.getLoc(), x, n);
    rewriter.replaceOp(op, e.scale(e.horner(f, kExp2), n));
    return success();
  }
};

struct LowerExp : OpRewritePattern<math::ExpOp> {
  LowerExp(MLIRContext *context, bool avx512) : OpRewritePattern(context), avx512(avx512) {}
  bool avx512;
  LogicalResult matchAndRewrite(math::ExpOp op, PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return failure();
    Emitter e{rewriter, op.getLoc(), op.getType(), avx512};
    Value x = e.atMost(e.atLeast(op.getOperand(), e.real(-105.0)), e.real(89.5));
    Value n = math::RoundEvenOp::create(rewriter, op.getLoc(), e.mul(x, e.real(1.44269504088896)));
    // ln 2 in two parts: the first has few enough bits for an exact product.
    Value r = e.fma(n, e.real(-0.693359375), x);
    r = e.fma(n, e.real(2.12194440054690583e-4), r);
    rewriter.replaceOp(op, e.scale(e.horner(r, kExp), n));
    return success();
  }
};

/// bf16 is the high half of an f32.
struct WidenBf16 : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::ExtFOp op, PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getIn().getType()).isBF16())
      return failure();
    Location loc = op.getLoc();
    Emitter e{rewriter, loc, op.getType()};
    Value bits = e.bitcast(rewriter.getI16Type(), op.getIn());
    Value wide =
        arith::ExtUIOp::create(rewriter, loc, likeType(op.getType(), rewriter.getI32Type()), bits);
    Value high = arith::ShLIOp::create(rewriter, loc, wide, e.integer(32, 16));
    Value result = e.bitcast(rewriter.getF32Type(), high);
    if (!getElementTypeOrSelf(op.getType()).isF32())
      result = arith::ExtFOp::create(rewriter, loc, op.getType(), result);
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// Round to nearest even in i32; the NaN select is on i32 too, because AVX2 has no select
/// of 16-bit floats.
struct NarrowBf16 : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::TruncFOp op, PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isBF16())
      return failure();
    Type from = getElementTypeOrSelf(op.getIn().getType());
    Location loc = op.getLoc();
    Emitter e{rewriter, loc, op.getType()};
    if (from.isF64())
      return failure(); // one rounding only: the soft helper does it
    Value x = op.getIn();
    Value bits = e.bitcast(rewriter.getI32Type(), x);
    auto mode = op.getRoundingmode();
    if (!mode || *mode == arith::RoundingMode::to_nearest_even) {
      Value odd = arith::AndIOp::create(
          rewriter, loc, arith::ShRUIOp::create(rewriter, loc, bits, e.integer(32, 16)),
          e.integer(32, 1));
      Value bias = arith::AddIOp::create(rewriter, loc, odd, e.integer(32, 0x7fff));
      Value rounded = arith::AddIOp::create(rewriter, loc, bits, bias);
      Value quiet = arith::OrIOp::create(rewriter, loc, bits, e.integer(32, 0x400000));
      Value isNan = arith::CmpFOp::create(rewriter, loc, arith::CmpFPredicate::UNO, x, x);
      bits = arith::SelectOp::create(rewriter, loc, isNan, quiet, rounded);
    } else if (*mode == arith::RoundingMode::toward_zero) {
      Value quiet = arith::OrIOp::create(rewriter, loc, bits, e.integer(32, 0x400000));
      Value isNan = arith::CmpFOp::create(rewriter, loc, arith::CmpFPredicate::UNO, x, x);
      bits = arith::SelectOp::create(rewriter, loc, isNan, quiet, bits);
    } else {
      return failure();
    }
    Value high = arith::ShRUIOp::create(rewriter, loc, bits, e.integer(32, 16));
    Value narrow =
        arith::TruncIOp::create(rewriter, loc, likeType(op.getType(), rewriter.getI16Type()), high);
    rewriter.replaceOp(op, e.bitcast(rewriter.getBF16Type(), narrow));
    return success();
  }
};

bool isFloat8(Type type) { return isa<FloatType>(type) && type.getIntOrFloatBitWidth() == 8; }

std::string float8Name(StringRef direction, Type type) {
  std::string text = ("piton_" + direction + "_").str();
  llvm::raw_string_ostream(text) << type;
  return text;
}

struct WidenFloat8 : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::ExtFOp op, PatternRewriter &rewriter) const override {
    Type from = op.getIn().getType();
    if (!isFloat8(from) || isa<VectorType>(op.getType()))
      return failure();
    Location loc = op.getLoc();
    auto function =
        declareFunction(rewriter, op, float8Name("widen", from),
                        rewriter.getFunctionType(rewriter.getI8Type(), rewriter.getF32Type()));
    Value bits = arith::BitcastOp::create(rewriter, loc, rewriter.getI8Type(), op.getIn());
    Value wide = func::CallOp::create(rewriter, loc, function, bits).getResult(0);
    unsigned width = op.getType().getIntOrFloatBitWidth();
    if (width > 32)
      wide = arith::ExtFOp::create(rewriter, loc, op.getType(), wide);
    else if (width < 32)
      wide = arith::TruncFOp::create(rewriter, loc, op.getType(), wide);
    rewriter.replaceOp(op, wide);
    return success();
  }
};

struct NarrowFloat8 : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::TruncFOp op, PatternRewriter &rewriter) const override {
    if (!isFloat8(op.getType()))
      return failure();
    Location loc = op.getLoc();
    Value x = op.getIn();
    unsigned width = x.getType().getIntOrFloatBitWidth();
    if (width < 32)
      x = arith::ExtFOp::create(rewriter, loc, rewriter.getF32Type(), x);
    else if (width > 32)
      x = arith::TruncFOp::create(rewriter, loc, rewriter.getF32Type(), x);
    auto function =
        declareFunction(rewriter, op, float8Name("narrow", op.getType()),
                        rewriter.getFunctionType(rewriter.getF32Type(), rewriter.getI8Type()));
    Value bits = func::CallOp::create(rewriter, loc, function, x).getResult(0);
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, op.getType(), bits);
    return success();
  }
};

/// x / 0 = 0 and x % 0 = 0, MIN / -1 = MIN: lanes outside of a mask hold anything, and the
/// CPU would trap on them.
template <typename Op, bool kSigned> struct GuardDivision : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    if (op->hasAttr("piton.guarded"))
      return failure();
    APInt divisor;
    if (matchPattern(op.getRhs(), m_ConstantInt(&divisor)) && !divisor.isZero() &&
        !(kSigned && divisor.isAllOnes()))
      return failure();
    Location loc = op.getLoc();
    Type type = op.getType();
    Type element = getElementTypeOrSelf(type);
    unsigned width = isa<IndexType>(element) ? 64 : element.getIntOrFloatBitWidth();
    auto constant = [&](const APInt &value) -> Value {
      TypedAttr attribute = rewriter.getIntegerAttr(element, value);
      if (auto vector = dyn_cast<VectorType>(type))
        attribute = DenseElementsAttr::get(vector, Attribute(attribute));
      return arith::ConstantOp::create(rewriter, loc, attribute);
    };
    Value zero = constant(APInt::getZero(width)), one = constant(APInt(width, 1));
    Value isZero =
        arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq, op.getRhs(), zero);
    Value unsafe = isZero;
    if constexpr (kSigned) {
      Value minusOne = constant(APInt::getAllOnes(width));
      Value smallest = constant(APInt::getSignedMinValue(width));
      Value overflow = arith::AndIOp::create(
          rewriter, loc,
          arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq, op.getRhs(), minusOne),
          arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq, op.getLhs(), smallest));
      unsafe = arith::OrIOp::create(rewriter, loc, isZero, overflow);
    }
    Value safe = arith::SelectOp::create(rewriter, loc, unsafe, one, op.getRhs());
    auto quotient = Op::create(rewriter, loc, op.getLhs(), safe);
    quotient->setAttr("piton.guarded", rewriter.getUnitAttr());
    rewriter.replaceOpWithNewOp<arith::SelectOp>(op, isZero, zero, quotient.getResult());
    return success();
  }
};

/// libm's name of a math op, without the suffix of the type; empty for what x86 has.
StringRef libmName(Operation *op) {
  return llvm::TypeSwitch<Operation *, StringRef>(op)
      .Case<math::AcosOp>([](auto) { return "acos"; })
      .Case<math::AcoshOp>([](auto) { return "acosh"; })
      .Case<math::AsinOp>([](auto) { return "asin"; })
      .Case<math::AsinhOp>([](auto) { return "asinh"; })
      .Case<math::AtanOp>([](auto) { return "atan"; })
      .Case<math::Atan2Op>([](auto) { return "atan2"; })
      .Case<math::AtanhOp>([](auto) { return "atanh"; })
      .Case<math::CbrtOp>([](auto) { return "cbrt"; })
      .Case<math::CosOp>([](auto) { return "cos"; })
      .Case<math::CoshOp>([](auto) { return "cosh"; })
      .Case<math::ErfOp>([](auto) { return "erf"; })
      .Case<math::ErfcOp>([](auto) { return "erfc"; })
      .Case<math::ExpOp>([](auto) { return "exp"; })
      .Case<math::Exp2Op>([](auto) { return "exp2"; })
      .Case<math::ExpM1Op>([](auto) { return "expm1"; })
      .Case<math::LogOp>([](auto) { return "log"; })
      .Case<math::Log10Op>([](auto) { return "log10"; })
      .Case<math::Log1pOp>([](auto) { return "log1p"; })
      .Case<math::Log2Op>([](auto) { return "log2"; })
      .Case<math::PowFOp>([](auto) { return "pow"; })
      .Case<math::SinOp>([](auto) { return "sin"; })
      .Case<math::SinhOp>([](auto) { return "sinh"; })
      .Case<math::TanOp>([](auto) { return "tan"; })
      .Case<math::TanhOp>([](auto) { return "tanh"; })
      .Default([](auto) { return StringRef(); });
}

/// A scalar becomes a call of libm (LLVM's vectoriser knows its vector form, see
/// SimulatorCodegen.cpp), a vector calls of libmvec in the widths it has.
struct CallLibm : RewritePattern {
  explicit CallLibm(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    StringRef name = libmName(op);
    if (name.empty() || op->getNumResults() != 1)
      return failure();
    Type type = op->getResult(0).getType();
    Type element = getElementTypeOrSelf(type);
    if (!element.isF32() && !element.isF64())
      return failure();
    if (element.isF32() && isa<math::ExpOp, math::Exp2Op>(op))
      return failure();
    std::string scalar = (name + (element.isF32() ? "f" : "")).str();
    if (!isa<VectorType>(type)) {
      auto function = declareFunction(
          rewriter, op, scalar,
          rewriter.getFunctionType(SmallVector<Type>(op->getNumOperands(), type), type));
      rewriter.replaceOpWithNewOp<func::CallOp>(op, function, op->getOperands());
      return success();
    }
    return callVector(op, scalar, cast<VectorType>(type), rewriter);
  }

  static LogicalResult callVector(Operation *op, StringRef scalar, VectorType type,
                                  PatternRewriter &rewriter) {
    int64_t width = 256 / type.getElementTypeBitWidth();
    if (type.getRank() != 1 || type.getDimSize(0) % width)
      return rewriter.notifyMatchFailure(op, "not a multiple of the vector width");
    Location loc = op->getLoc();
    auto chunk = VectorType::get({width}, type.getElementType());
    std::string name =
        ("_ZGVdN" + Twine(width) + std::string(op->getNumOperands(), 'v') + "_" + scalar).str();
    auto function = declareFunction(
        rewriter, op, name,
        rewriter.getFunctionType(SmallVector<Type>(op->getNumOperands(), chunk), chunk));
    Value result = arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(type));
    for (int64_t at = 0; at < type.getDimSize(0); at += width) {
      SmallVector<Value> parts;
      for (Value operand : op->getOperands())
        parts.push_back(
            vector::ExtractStridedSliceOp::create(rewriter, loc, operand, {at}, {width}, {1}));
      Value part = func::CallOp::create(rewriter, loc, function, parts).getResult(0);
      result = vector::InsertStridedSliceOp::create(rewriter, loc, part, result,
                                                    ArrayRef<int64_t>{at}, ArrayRef<int64_t>{1});
    }
    rewriter.replaceOp(op, result);
    return success();
  }
};

struct SimLowerScalarsPass : piton::impl::SimLowerScalarsBase<SimLowerScalarsPass> {
  using SimLowerScalarsBase::SimLowerScalarsBase;

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    arith::populateCeilFloorDivExpandOpsPatterns(patterns);
    math::populateExpansionPatterns(patterns, {"fpowi", "clampf"});
    patterns.add<LowerExp, LowerExp2>(context, avx512);
    patterns.add<CallLibm, WidenBf16, NarrowBf16, WidenFloat8, NarrowFloat8,
                 GuardDivision<arith::DivSIOp, true>, GuardDivision<arith::RemSIOp, true>,
                 GuardDivision<arith::DivUIOp, false>, GuardDivision<arith::RemUIOp, false>>(
        context);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
