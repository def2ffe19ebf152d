// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The last look at a module before it goes to the Ascend compiler: only ops that the
// compiler was seen to take, and none of the forms that it refuses, crashes on or
// compiles to something else. What each check is about stands in docs/howto/bisheng.md.
#include "compiler/Target/BishengForms.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace piton::bisheng {
namespace {

/// Ops by name, since some belong to dialects that MLIR 22 or Piton spell differently. A name
/// that ends in a dot stands for everything below it.
const llvm::StringSet<> &acceptedOps() {
  static const llvm::StringSet<> ops = {
      "builtin.module", "builtin.unrealized_conversion_cast", "func.func", "func.call",
      "func.return", "ub.poison",
      // arith
      "arith.constant", "arith.addi", "arith.subi", "arith.muli", "arith.divsi", "arith.divui",
      "arith.remsi", "arith.remui", "arith.floordivsi", "arith.ceildivsi", "arith.ceildivui",
      "arith.andi", "arith.ori", "arith.xori", "arith.shli", "arith.shrsi", "arith.shrui",
      "arith.maxsi", "arith.minsi", "arith.maxui", "arith.minui", "arith.cmpi", "arith.cmpf",
      "arith.select", "arith.addf", "arith.subf", "arith.mulf", "arith.divf", "arith.remf",
      "arith.negf", "arith.maximumf", "arith.minimumf", "arith.maxnumf", "arith.minnumf",
      "arith.extsi", "arith.extui", "arith.trunci", "arith.extf", "arith.truncf", "arith.sitofp",
      "arith.uitofp", "arith.fptosi", "arith.fptoui", "arith.bitcast", "arith.index_cast",
      "arith.index_castui", "arith.mulsi_extended", "arith.mului_extended",
      // math
      "math.absf", "math.absi", "math.ceil", "math.floor", "math.exp", "math.exp2", "math.expm1",
      "math.log", "math.log2", "math.log10", "math.log1p", "math.sqrt", "math.rsqrt", "math.sin",
      "math.cos", "math.tan", "math.tanh", "math.atan", "math.erf", "math.powf", "math.fma",
      // linalg
      "linalg.fill", "linalg.reduce", "linalg.broadcast", "linalg.transpose", "linalg.matmul",
      "linalg.batch_matmul", "linalg.copy", "linalg.generic", "linalg.map", "linalg.yield",
      "linalg.index",
      // tensor, memref, bufferization
      "tensor.empty", "tensor.extract", "tensor.insert", "tensor.extract_slice",
      "tensor.insert_slice", "tensor.expand_shape", "tensor.collapse_shape", "tensor.reshape",
      "tensor.concat", "tensor.pad", "tensor.from_elements", "tensor.splat", "tensor.cast",
      "tensor.dim", "tensor.yield", "memref.alloc", "memref.copy", "memref.subview",
      "memref.reinterpret_cast", "memref.cast", "memref.load", "memref.store", "memref.dim",
      "memref.extract_aligned_pointer_as_index", "memref.collapse_shape", "memref.expand_shape",
      "memref.extract_strided_metadata", "bufferization.to_tensor", "bufferization.to_buffer",
      "bufferization.alloc_tensor", "bufferization.materialize_in_destination",
      // control flow
      "scf.for", "scf.if", "scf.while", "scf.condition", "scf.yield", "cf.br", "cf.cond_br",
      "affine.apply", "affine.min", "affine.max",
      // addresses and inline assembly
      "llvm.inline_asm", "llvm.inttoptr", "llvm.load", "llvm.store", "llvm.bitcast",
      // the compiler's own
      "annotation.mark", "scope.scope", "scope.return", "hivm.", "hfusion."};
  return ops;
}

bool isAccepted(Operation *op) {
  StringRef name = op->getName().getStringRef();
  if (acceptedOps().contains(name))
    return true;
  auto [dialect, rest] = name.split('.');
  return acceptedOps().contains((dialect + ".").str());
}

bool isTensor(Type type) { return isa<RankedTensorType>(type); }

struct Verifier {
  BishengFamily family;

  bool isC220() const { return family == BishengFamily::C220; }
  LogicalResult no(Operation *op, const Twine &why, const Twine &change) {
    return refuse(op, family, why, change);
  }

  LogicalResult type(Operation *op, Type type);
  LogicalResult types(Operation *op);
  LogicalResult arithmetic(Operation *op);
  LogicalResult comparison(Operation *op);
  LogicalResult conversion(Operation *op);
  LogicalResult structured(Operation *op);
  LogicalResult reduce(linalg::ReduceOp op);
  LogicalResult generic(linalg::GenericOp op);
  LogicalResult matmul(Operation *op);
  LogicalResult atomicStore(Operation *op);
  LogicalResult call(func::CallOp op);
  LogicalResult load(memref::CopyOp op);
  LogicalResult other(Operation *op);
  LogicalResult one(Operation *op);
};

LogicalResult Verifier::type(Operation *op, Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped)
    return success();
  Type element = shaped.getElementType();
  if (element.isF64())
    return no(op, "the NPU has no vector arithmetic or loads of fp64", "use fp32");
  auto number = dyn_cast<FloatType>(element);
  if (number && number.getWidth() == 8 && isC220())
    return no(op, "A2 and A3 have no fp8", "use fp16 or bf16, or a 950 target");
  if (number && number.getWidth() < 8)
    return no(op, "its parser knows no floats below 8 bits", "unpack them to a wider type");
  if (number && number.getWidth() == 8 && !isa<Float8E4M3FNType, Float8E5M2Type>(number))
    return no(op, "its parser does not know this fp8 type", "use fp8e4nv or fp8e5");
  if (isa<MemRefType>(type) && element.isInteger(1))
    return no(op, "a buffer of i1 crashes it", "carry truth values in memory as i8");
  return success();
}

LogicalResult Verifier::types(Operation *op) {
  for (Type t : op->getResultTypes())
    if (failed(type(op, t)))
      return failure();
  for (Value operand : op->getOperands())
    if (failed(type(op, operand.getType())))
      return failure();
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (BlockArgument arg : block.getArguments())
        if (failed(type(op, arg.getType())))
          return failure();
  return success();
}

LogicalResult Verifier::arithmetic(Operation *op) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (!type.hasStaticShape())
    return no(op, "it refuses arithmetic on tensors of dynamic shape",
              "keep tiles static and mask their edges");
  if (type.getElementType().isIndex())
    return no(op, "it has no vectors of index", "use i32 or i64");
  unsigned width = type.getElementTypeBitWidth();
  if (isa<arith::ShRUIOp>(op) && width > 8)
    return no(op, "an unsigned shift is compiled as an arithmetic one", "use shrsi and a mask");
  if (isa<arith::MaxUIOp, arith::MinUIOp>(op) && width > 8)
    return no(op, "it is compiled as the signed one", "flip the sign bits");
  if (isa<arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp>(op) && width > 8)
    return no(op, "it has no unsigned division of this width", "divide as a wider signed type");
  if (isa<arith::DivSIOp, arith::FloorDivSIOp, arith::CeilDivSIOp>(op) && width == 32)
    return no(op, "i32 is divided as f32, inexact beyond 2^24", "divide as i64");
  if (isa<arith::FloorDivSIOp, arith::CeilDivSIOp, arith::IndexCastOp, arith::IndexCastUIOp>(op))
    return no(op, "it has no accepted vector form", "build it of signed division and compares");
  if (auto product = dyn_cast<arith::MulSIExtendedOp>(op))
    if (!product.getLow().use_empty())
      return no(op, "its low half comes out as the high half", "multiply again for the low half");
  if (auto product = dyn_cast<arith::MulUIExtendedOp>(op))
    if (!product.getLow().use_empty())
      return no(op, "its low half comes out as the high half", "multiply again for the low half");
  if (isa<arith::MulSIExtendedOp, arith::MulUIExtendedOp>(op) && width != 32)
    return no(op, "only i32 has a high half", "multiply in a wider type");
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    if (!isa<SplatElementsAttr>(constant.getValue()) &&
        !llvm::all_of(op->getUsers(), llvm::IsaPred<tensor::ReshapeOp>))
      return no(op, "a constant of several values crashes it", "build it with tensor.insert");
  return success();
}

LogicalResult Verifier::comparison(Operation *op) {
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    Type operand = compare.getLhs().getType();
    if (!isTensor(operand))
      return success();
    unsigned width = getElementTypeOrSelf(operand).getIntOrFloatBitWidth();
    using P = arith::CmpIPredicate;
    bool isUnsigned = llvm::is_contained({P::ult, P::ule, P::ugt, P::uge}, compare.getPredicate());
    if (isUnsigned && width > 8)
      return no(op, "it refuses unsigned compares", "flip the sign bits");
    if (width == 1)
      return no(op, "it compares no i1", "extend to i8 first");
    if (compare.getPredicate() == P::ne && width == 16 && isC220())
      return no(op, "ne of computed i16 values is negated in place, wrongly", "compare as i32");
  }
  if (auto compare = dyn_cast<arith::CmpFOp>(op)) {
    if (!isTensor(compare.getLhs().getType()))
      return success();
    using P = arith::CmpFPredicate;
    if (!llvm::is_contained({P::OEQ, P::OGT, P::OGE, P::OLT, P::OLE, P::UNE},
                            compare.getPredicate()))
      return no(op, "it loses what this relation says about NaN, or crashes",
                "combine ordered relations");
  }
  return success();
}

LogicalResult Verifier::conversion(Operation *op) {
  if (!isa<CastOpInterface>(op) || !isTensor(op->getResult(0).getType()))
    return success();
  Type from = getElementTypeOrSelf(op->getOperand(0)), to = getElementTypeOrSelf(op->getResult(0));
  if (!from.isIntOrFloat() || !to.isIntOrFloat())
    return success();
  unsigned fromWidth = from.getIntOrFloatBitWidth(), toWidth = to.getIntOrFloatBitWidth();
  if (isa<arith::ExtUIOp>(op) && fromWidth > 8)
    return no(op, "it extends the sign instead", "use extsi and a mask");
  if (isa<arith::ExtSIOp, arith::SIToFPOp>(op) && fromWidth == 1)
    return no(op, "it takes true as 1 instead of -1", "select between -1 and 0");
  if (isa<arith::TruncIOp>(op) && toWidth == 1)
    return no(op, "it tests for zero instead of taking the low bit", "use andi and a compare");
  if (isa<arith::UIToFPOp>(op) && fromWidth > 8)
    return no(op, "it has no conversion from unsigned", "convert a wider signed value");
  if (isa<arith::FPToUIOp>(op))
    return no(op, "it has no conversion to unsigned", "convert to a wider signed type");
  if (isa<arith::FPToSIOp>(op) && from.isF16() && (toWidth == 8 || toWidth == 64))
    return no(op, "f16 has no right direct conversion to it", "go through f32");
  if (auto trunc = dyn_cast<arith::TruncFOp>(op))
    if (trunc.getRoundingmode().value_or(arith::RoundingMode::to_nearest_even) !=
        arith::RoundingMode::to_nearest_even)
      return no(op, "it rounds to nearest even whatever the mode says",
                "use fp_to_fp with rtne, or bf16 for rtz");
  return success();
}

LogicalResult Verifier::reduce(linalg::ReduceOp op) {
  if (op.getInputs().size() == 2 && op->hasAttr("reduce_mode"))
    return success();
  if (op.getInputs().size() != 1)
    return no(op, "it takes reductions of one tensor, argmax and argmin only",
              "reduce the tensors one by one");
  Operation *combiner = soleCombiner(op);
  if (!combiner)
    return no(op, "of a longer body it compiles only the last op",
              "combine with one add, mul, max, min, and, or, xor");
  if (isa<arith::MaxUIOp, arith::MinUIOp>(combiner))
    return no(op, "an unsigned maximum or minimum crashes it", "flip the sign bits");
  if (isa<arith::MaximumFOp, arith::MinimumFOp>(combiner))
    return no(op, "it skips NaN", "reduce by maxnumf or minnumf and look for NaN beside it");
  if (constantFillOf(op.getInits().front()) != neutralOf(combiner))
    return no(op, "it drops the start value", "start from the neutral value");
  return success();
}

LogicalResult Verifier::generic(linalg::GenericOp op) {
  if (op->hasAttr("GenericAtomicRMW"))
    return no(op, "an atomic update must have a form of its own",
              "use hivm.hir.store with atomic, or a block lock");
  if (isArange(op))
    return success();
  return no(op, "it refuses linalg.generic", "use arith and math on tensors");
}

LogicalResult Verifier::matmul(Operation *op) {
  if (auto plain = dyn_cast<linalg::MatmulOp>(op))
    if (plain.hasUserDefinedMaps())
      return no(op, "its indexing maps are lost", "transpose with linalg.transpose");
  if (auto batch = dyn_cast<linalg::BatchMatmulOp>(op))
    if (batch.hasUserDefinedMaps())
      return no(op, "its indexing maps are lost", "transpose with linalg.transpose");
  Type left = getElementTypeOrSelf(op->getOperand(0)),
       acc = getElementTypeOrSelf(op->getOperand(2));
  bool halves =
      left.isF16() || left.isBF16() || left.isF32() || isa<Float8E4M3FNType, Float8E5M2Type>(left);
  bool isRight = (halves && acc.isF32()) || (left.isInteger(8) && acc.isInteger(32));
  if (!isRight)
    return op->emitOpError() << "cannot be handed to " << compilerName(family)
                             << ": the cube unit multiplies f16, bf16 and f32 into f32 and i8 into "
                                "i32, not "
                             << left << " into " << acc << "; convert the operands of the dot";
  return success();
}

LogicalResult Verifier::structured(Operation *op) {
  if (auto reduction = dyn_cast<linalg::ReduceOp>(op))
    return reduce(reduction);
  if (auto g = dyn_cast<linalg::GenericOp>(op))
    return generic(g);
  if (isa<linalg::MatmulOp, linalg::BatchMatmulOp>(op))
    return matmul(op);
  if (isa<linalg::MapOp>(op))
    return no(op, "MLIR 19 cannot read linalg.map as MLIR 22 prints it",
              "use arith, math or a loop with func.call");
  return success();
}

LogicalResult Verifier::atomicStore(Operation *op) {
  Attribute attr = op->getAttr("atomic_kind");
  if (!attr)
    return success();
  std::string text;
  llvm::raw_string_ostream(text) << attr;
  StringRef kind = StringRef(text).split('<').second.rtrim('>');
  if (kind == "none" || kind.empty())
    return success();
  Type element = getElementTypeOrSelf(op->getOperand(0));
  unsigned width = element.getIntOrFloatBitWidth();
  bool isUnsigned = kind == "umax" || kind == "umin";
  if (isC220() && isUnsigned && width > 8)
    return no(op, "an unsigned atomic of this width is refused or compiled as signed",
              "use a signed type or update under a block lock");
  if (!isC220() && width == 64)
    return no(op, "64-bit atomic stores fail in its library", "use 32 bits");
  if (!isC220() && (kind == "and" || kind == "or" || kind == "xor"))
    return no(op, "its library has no logical atomic stores", "update under a block lock");
  return success();
}

/// Functions without a body that the compiler knows, by prefix.
LogicalResult Verifier::call(func::CallOp op) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, op.getCalleeAttr());
  if (!callee || !callee.isDeclaration() || callee->hasAttr("hacc.function_kind"))
    return success();
  StringRef name = callee.getName();
  auto startsWith = [&](StringRef prefix) { return name.starts_with(prefix); };
  static constexpr StringRef both[] = {"triton_print",  "triton_assert",  "triton_gather",
                                       "triton_cumsum", "triton_cumprod", "triton_sort",
                                       "triton_flip",   "__hmf_",         "_mlir_ciface_"};
  static constexpr StringRef a5Only[] = {"triton_cummax",           "triton_cummin",
                                         "triton_embedding_gather", "triton_indirect_load",
                                         "triton_indirect_store",   "triton_stride_load",
                                         "triton_stride_store"};
  if (name.starts_with("triton_sort") && isC220()) {
    Type element = getElementTypeOrSelf(op.getOperand(0));
    if (!element.isF16() && !element.isF32() && !element.isBF16())
      return no(op, "A2 and A3 sort f16, bf16 and f32", "convert the values");
  }
  if (llvm::any_of(both, startsWith) || (!isC220() && llvm::any_of(a5Only, startsWith)))
    return success();
  return no(op, "it knows no function '" + name + "'", "write the kernel without it");
}

LogicalResult Verifier::load(memref::CopyOp op) {
  switch (loadFaultOf(op)) {
  case LoadFault::None:
    return success();
  case LoadFault::LatePadding:
    return no(op, "padding in front of loaded data races with the load",
              "load without `other` and use tl.where");
  case LoadFault::SpreadPadding:
    return no(op, "elements that lie apart are loaded without their padding",
              "load without `other` and use tl.where");
  case LoadFault::PartialRows:
    return no(op, "rows of elements that lie apart must be multiples of 32 bytes",
              "load whole rows, or the transposed tile");
  }
  llvm_unreachable("every fault is listed");
}

LogicalResult Verifier::other(Operation *op) {
  StringRef name = op->getName().getStringRef();
  if (auto callOp = dyn_cast<func::CallOp>(op))
    return call(callOp);
  if (isa<tensor::ExtractOp, tensor::InsertOp, tensor::ExtractSliceOp, tensor::InsertSliceOp>(op) &&
      getElementTypeOrSelf(op->getResult(0)).isInteger(1))
    return no(op, "it takes the number of an i1 for its byte", "go through i8");
  if (name == "scope.scope" && op->getNumResults() != 0) {
    std::string core;
    if (Attribute attr = op->getAttr("hivm.tcore_type"))
      llvm::raw_string_ostream(core) << attr;
    if (StringRef(core).contains("CUBE"))
      return no(op, "a cube scope that returns a tensor crashes it", "end the scope with a store");
  }
  if (name == "hivm.hir.store")
    return atomicStore(op);
  if (name == "hivm.hir.custom" && op->getNumResults() == 0 && op->hasAttr("no_side_effect"))
    return no(op, "a call without results marked free of effects is removed", "drop the mark");
  if (name.starts_with("hfusion.atomic_") && llvm::any_of(op->getOperandTypes(), isTensor))
    return no(op, "an atomic on tensors crashes it", "give it buffers");
  if (auto copy = dyn_cast<memref::CopyOp>(op))
    return load(copy);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    if (loop.getUnsignedCmp())
      return no(op, "MLIR 19 has no unsigned loops", "use a signed bound");
  return success();
}

LogicalResult Verifier::one(Operation *op) {
  if (!isAccepted(op))
    return no(op, "it does not know this op, or no form of it was seen to be taken",
              "write the kernel without it");
  if (failed(types(op)))
    return failure();
  if (op->getNumResults() != 0 && isTensor(op->getResult(0).getType()) &&
      isa<arith::ArithDialect, math::MathDialect>(op->getDialect()))
    if (failed(arithmetic(op)) || failed(comparison(op)) || failed(conversion(op)))
      return failure();
  if (failed(structured(op)))
    return failure();
  return other(op);
}

} // namespace

LogicalResult verifyForms(ModuleOp module, BishengFamily family) {
  Verifier verifier{family};
  bool ok = true;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    ok &= succeeded(verifier.one(op));
    // Bodies of structured ops hold scalars that stand for vectors; the op was judged whole.
    return isa<linalg::LinalgOp>(op) ? WalkResult::skip() : WalkResult::advance();
  });
  return success(ok);
}

} // namespace piton::bisheng
