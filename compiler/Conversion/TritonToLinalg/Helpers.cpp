// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops that become calls of private functions which the back ends know by name: print,
// assert, gather, and library functions applied per element.
#include "compiler/Conversion/TritonToLinalg/Lowering.h"

using namespace mlir;

namespace piton::linalglowering {

func::FuncOp Lowering::declareHelper(StringRef name, FunctionType type, Location loc) {
  // name, name_0, name_1, ...: one declaration a call, because attributes differ.
  std::string symbol = name.str();
  unsigned &count = helperCount[name];
  if (count > 0)
    symbol += "_" + std::to_string(count - 1);
  while (module.lookupSymbol(symbol))
    symbol = name.str() + "_" + std::to_string(count++);
  ++count;
  OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
  auto helper = func::FuncOp::create(b, loc, symbol, type);
  helper.setPrivate();
  return helper;
}

LogicalResult Lowering::lowerPrint(triton::PrintOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  SmallVector<Value> operands;
  for (Value value : op.getArgs()) {
    if (isa<triton::PointerType>(value.getType()))
      value = addressOf(value, b, loc);
    operands.push_back(value);
  }
  func::FuncOp helper =
      declareHelper("triton_print", b.getFunctionType(ValueRange(operands).getTypes(), {}), loc);
  helper->setAttr("prefix", op.getPrefixAttr());
  helper->setAttr("hex", op.getHexAttr());
  helper->setAttr("is_signed", op.getIsSignedAttr());
  func::CallOp::create(b, loc, helper, operands);
  op.erase();
  return success();
}

LogicalResult Lowering::lowerAssert(triton::AssertOp op) {
  OpBuilder b(op);
  // The front end adds these on its own; the NPU has no use for them.
  if (!op.getMessage().contains("overflow detected for operation")) {
    Value condition = op.getCondition();
    func::FuncOp helper =
        declareHelper("triton_assert", b.getFunctionType({condition.getType()}, {}), op.getLoc());
    helper->setAttr("msg", op.getMessageAttr());
    func::CallOp::create(b, op.getLoc(), helper, ValueRange{condition});
  }
  op.erase();
  return success();
}

LogicalResult Lowering::lowerGather(triton::GatherOp op) {
  OpBuilder b(op);
  Value axis = constantOf(b, op.getLoc(), b.getI32IntegerAttr(op.getAxis()));
  SmallVector<Value> operands{op.getSrc(), op.getIndices(), axis};
  auto type = b.getFunctionType(ValueRange(operands).getTypes(), {op.getType()});
  func::FuncOp helper = declareHelper("triton_gather", type, op.getLoc());
  op.replaceAllUsesWith(func::CallOp::create(b, op.getLoc(), helper, operands).getResult(0));
  op.erase();
  return success();
}

/// The name inside `__nv_<name>f`, `__hmf_<name>Dh`, `__hmf_<name>_fp32` and the like.
static StringRef plainName(StringRef symbol) {
  bool isCuda = symbol.consume_front("__nv_");
  bool isNpu = !isCuda && symbol.consume_front("__hmf_");
  if (isNpu && (symbol.consume_back("_fp32") || symbol.consume_back("_fp16")))
    return symbol;
  if (isNpu && (symbol.consume_back("Dh") || symbol.consume_back("Db")))
    return symbol;
  return symbol;
}

/// math or arith ops for a library function, or null. `name` may end in the f of C's floats.
static Value mathCall(StringRef name, ValueRange args, Type type, OpBuilder &b, Location loc) {
  auto unary = [&](auto tag) -> Value {
    using Op = decltype(tag);
    return Op::create(b, loc, args[0]);
  };
  auto binary = [&](auto tag) -> Value {
    using Op = decltype(tag);
    return Op::create(b, loc, args[0], args[1]);
  };
  using Builder = std::function<Value()>;
  auto find = [&](StringRef key) -> Builder {
    if (args.size() == 1)
      return llvm::StringSwitch<Builder>(key)
          .Case("exp", [&] { return unary(math::ExpOp()); })
          .Case("exp2", [&] { return unary(math::Exp2Op()); })
          .Case("expm1", [&] { return unary(math::ExpM1Op()); })
          .Case("log", [&] { return unary(math::LogOp()); })
          .Case("log2", [&] { return unary(math::Log2Op()); })
          .Case("log10", [&] { return unary(math::Log10Op()); })
          .Case("log1p", [&] { return unary(math::Log1pOp()); })
          .Case("sin", [&] { return unary(math::SinOp()); })
          .Case("cos", [&] { return unary(math::CosOp()); })
          .Case("tan", [&] { return unary(math::TanOp()); })
          .Case("asin", [&] { return unary(math::AsinOp()); })
          .Case("acos", [&] { return unary(math::AcosOp()); })
          .Case("atan", [&] { return unary(math::AtanOp()); })
          .Case("sinh", [&] { return unary(math::SinhOp()); })
          .Case("cosh", [&] { return unary(math::CoshOp()); })
          .Case("tanh", [&] { return unary(math::TanhOp()); })
          .Case("asinh", [&] { return unary(math::AsinhOp()); })
          .Case("acosh", [&] { return unary(math::AcoshOp()); })
          .Case("atanh", [&] { return unary(math::AtanhOp()); })
          .Case("erf", [&] { return unary(math::ErfOp()); })
          .Case("sqrt", [&] { return unary(math::SqrtOp()); })
          .Case("sqrt_rn", [&] { return unary(math::SqrtOp()); })
          .Case("fsqrt_rn", [&] { return unary(math::SqrtOp()); })
          .Case("rsqrt", [&] { return unary(math::RsqrtOp()); })
          .Case("cbrt", [&] { return unary(math::CbrtOp()); })
          .Case("ceil", [&] { return unary(math::CeilOp()); })
          .Case("floor", [&] { return unary(math::FloorOp()); })
          .Case("trunc", [&] { return unary(math::TruncOp()); })
          .Case("round", [&] { return unary(math::RoundOp()); })
          .Case("rint", [&] { return unary(math::RoundEvenOp()); })
          .Case("nearbyint", [&] { return unary(math::RoundEvenOp()); })
          .Case("fabs", [&] { return unary(math::AbsFOp()); })
          .Case("recip",
                [&]() -> Value {
                  Value one = splatFloat(b, loc, args[0].getType(), 1.0);
                  return arith::DivFOp::create(b, loc, one, args[0]);
                })
          .Case("relu",
                [&]() -> Value {
                  return arith::MaximumFOp::create(b, loc, args[0],
                                                   zeroOf(b, loc, args[0].getType()));
                })
          .Case("isnan",
                [&]() -> Value {
                  return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, args[0], args[0]);
                })
          .Case("isinf",
                [&]() -> Value {
                  Value size = math::AbsFOp::create(b, loc, args[0]);
                  Value infinity = splatFloat(b, loc, args[0].getType(),
                                              std::numeric_limits<double>::infinity());
                  return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, size, infinity);
                })
          .Case("float_as_int",
                [&]() -> Value { return arith::BitcastOp::create(b, loc, type, args[0]); })
          .Default(Builder());
    if (args.size() == 2)
      return llvm::StringSwitch<Builder>(key)
          .Case("pow", [&] { return binary(math::PowFOp()); })
          .Case("atan2", [&] { return binary(math::Atan2Op()); })
          .Case("copysign", [&] { return binary(math::CopySignOp()); })
          .Case("fmod", [&] { return binary(arith::RemFOp()); })
          .Case("fmin", [&] { return binary(arith::MinNumFOp()); })
          .Case("fmax", [&] { return binary(arith::MaxNumFOp()); })
          .Case("fdiv_rn", [&] { return binary(arith::DivFOp()); })
          .Case("div_rn", [&] { return binary(arith::DivFOp()); })
          .Default(Builder());
    if (args.size() == 3 && key == "fma")
      return [&]() -> Value { return math::FmaOp::create(b, loc, args[0], args[1], args[2]); };
    return {};
  };
  Builder build = find(name);
  if (!build && name.consume_back("f"))
    build = find(name);
  return build ? build() : Value();
}

/// True when one `type` serves every operand and the result, bool results apart.
static bool isUniformFloat(triton::ExternElementwiseOp op, StringRef name) {
  Type element = getElementTypeOrSelf(op.getSrcs().front().getType());
  bool hasOwnResult = name.starts_with("is") || name.starts_with("float_as_int");
  if (!isa<FloatType>(element))
    return false;
  for (Value source : op.getSrcs())
    if (getElementTypeOrSelf(source.getType()) != element)
      return false;
  return hasOwnResult || getElementTypeOrSelf(op.getType()) == element;
}

LogicalResult Lowering::lowerExtern(triton::ExternElementwiseOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  auto type = dyn_cast<RankedTensorType>(op.getType());
  for (Value source : op.getSrcs())
    if (triton::isPointerLike(source.getType()))
      return op.emitOpError("passes a pointer to library function '")
             << op.getSymbol() << "'; pass values, or use a custom op";

  StringRef name = plainName(op.getSymbol());
  if (!op.getSrcs().empty() && isUniformFloat(op, name)) {
    SmallVector<Value> sources;
    for (Value source : op.getSrcs())
      sources.push_back(type && !isa<RankedTensorType>(source.getType())
                            ? filled(b, loc, withElement(type, source.getType()), source)
                            : source);
    Type resultType =
        name.starts_with("is") ? triton::getI1SameShape(sources[0].getType()) : op.getType();
    if (Value result = mathCall(name, sources, resultType, b, loc)) {
      if (result.getType() != op.getType()) // isnan and isinf declared with an integer result
        result = arith::ExtUIOp::create(b, loc, op.getType(), result);
      op.replaceAllUsesWith(result);
      op.erase();
      return success();
    }
  }

  // Any other symbol: one scalar declaration, name unchanged, called per element.
  SmallVector<Type> inputs;
  for (Value source : op.getSrcs())
    inputs.push_back(getElementTypeOrSelf(source.getType()));
  Type element = getElementTypeOrSelf(op.getType());
  auto signature = b.getFunctionType(inputs, {element});
  func::FuncOp callee = module.lookupSymbol<func::FuncOp>(op.getSymbol());
  if (!callee) {
    if (module.lookupSymbol(op.getSymbol()))
      return op.emitOpError("calls library function '")
             << op.getSymbol() << "', but the module has a symbol of that name";
    OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
    callee = func::FuncOp::create(top, loc, op.getSymbol(), signature);
    callee.setPrivate();
    if (op.getPure())
      callee->setAttr("llvm.readnone", b.getUnitAttr());
  } else if (callee.getFunctionType() != signature) {
    return op.emitOpError("calls library function '")
           << op.getSymbol() << "' as " << signature << ", elsewhere it is called as "
           << callee.getFunctionType() << "; use one symbol a signature";
  }
  if (!type) {
    op.replaceAllUsesWith(func::CallOp::create(b, loc, callee, op.getSrcs()).getResult(0));
    op.erase();
    return success();
  }
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  SmallVector<Value> lower(type.getRank(), zero), step(type.getRank(), one), upper;
  for (int64_t size : type.getShape())
    upper.push_back(arith::ConstantIndexOp::create(b, loc, size));
  Value init = emptyTensor(b, loc, type.getShape(), element);
  scf::LoopNest nest = scf::buildLoopNest(
      b, loc, lower, upper, step, ValueRange{init},
      [&](OpBuilder &nested, Location at, ValueRange lanes, ValueRange carried) {
        SmallVector<Value> arguments;
        for (Value source : op.getSrcs())
          arguments.push_back(isa<RankedTensorType>(source.getType())
                                  ? tensor::ExtractOp::create(nested, at, source, lanes).getResult()
                                  : source);
        Value value = func::CallOp::create(nested, at, callee, arguments).getResult(0);
        return scf::ValueVector{
            tensor::InsertOp::create(nested, at, value, carried.front(), lanes)};
      });
  op.replaceAllUsesWith(nest.results.front());
  op.erase();
  return success();
}

} // namespace piton::linalglowering
