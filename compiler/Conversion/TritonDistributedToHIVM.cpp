// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass convert-triton-distributed-to-hivm: each op of the `distributed` dialect becomes one
// call of a device function, `hivm.hir.custom`, which the back end links. Only names and attributes
// are decided here; what the functions do is in device/.
#include "compiler/Conversion/DistributedPasses.h"
#include "compiler/Dialect/Annotation/Annotation.h"
#include "compiler/Dialect/Distributed/Distributed.h"
#include "compiler/Dialect/HIVM/HIVM.h"

#include "abi/DeviceState.h"

namespace piton {
#define GEN_PASS_DEF_CONVERTTRITONDISTRIBUTEDTOHIVMPASS
#include "compiler/Conversion/DistributedPasses.h.inc"
} // namespace piton

using namespace mlir;
using namespace mlir::triton;
namespace dist = mlir::triton::distributed;

namespace {

/// The library has consume_token wrappers for pointers of up to this many dimensions.
constexpr int64_t kMaxPointerRank = 5;

/// "float" for f32: the type's name in the device library; empty if it has none.
std::string typeName(Type type) {
  if (type.isBF16())
    return "bfloat16";
  if (type.isF16())
    return "half";
  if (type.isF32())
    return "float";
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer || !llvm::is_contained({8u, 16u, 32u, 64u}, integer.getWidth()))
    return "";
  return (integer.isUnsigned() ? "uint" : "int") + std::to_string(integer.getWidth());
}

/// Name of a value's type: of a scalar; of a pointer, "float_ptr_1d"; of a tensor of pointers.
std::string valueTypeName(Type type) {
  if (auto pointer = dyn_cast<PointerType>(type)) {
    std::string pointee = typeName(pointer.getPointeeType());
    return pointee.empty() ? "" : pointee + "_ptr_1d";
  }
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return typeName(type);
  auto pointer = dyn_cast<PointerType>(tensor.getElementType());
  std::string pointee = pointer ? typeName(pointer.getPointeeType()) : "";
  if (pointee.empty() || tensor.getRank() < 1 || tensor.getRank() > kMaxPointerRank)
    return "";
  return pointee + "_ptr_" + std::to_string(tensor.getRank()) + "d";
}

std::string pointeeName(Value pointer) {
  auto type = dyn_cast<PointerType>(pointer.getType());
  return type ? typeName(type.getPointeeType()) : "";
}

InFlightDiagnostic refuseType(Operation *op, Type type, StringRef allowed) {
  return op->emitOpError() << "has no device function for " << type << "; " << allowed;
}

constexpr char kDataTypes[] =
    "use a type of 8, 16, 32 or 64 bit integers, float16, bfloat16 or float32";

//===-- What to call ------------------------------------------------------===//

/// A device function and its operands; `failed` once an error was reported.
struct Callee {
  std::string symbol;
  SmallVector<Value> operands;
};

FailureOr<Callee> calleeOf(dist::SymmAtOp op, OpBuilder &) {
  std::string name = pointeeName(op.getSymmAddr());
  if (name.empty())
    return refuseType(op, op.getSymmAddr().getType(), kDataTypes);
  return Callee{"aclshmem_ptr_" + name, llvm::to_vector_of<Value>(op->getOperands())};
}

FailureOr<Callee> calleeOf(dist::GetRankOp, OpBuilder &) { return Callee{"aclshmem_my_pe", {}}; }

FailureOr<Callee> calleeOf(dist::GetNumRanksOp, OpBuilder &) {
  return Callee{"aclshmem_n_pes", {}};
}

/// A 32 bit word has a function that sets and adds; a 64 bit word can only be set.
FailureOr<Callee> calleeOf(dist::NotifyOp op, OpBuilder &b) {
  Location loc = op.getLoc();
  std::string name = pointeeName(op.getSigAddr());
  if (name == "int32" || name == "uint32") {
    const bool isAdd = op.getSigOp() == dist::SignalOp::ADD;
    Value value = arith::TruncIOp::create(b, loc, b.getI32Type(), op.getSignalVal());
    Value how = arith::ConstantIntOp::create(b, loc, b.getI32Type(),
                                             isAdd ? piton::kSignalAdd : piton::kSignalSet);
    return Callee{"aclshmemx_signal_op", {op.getSigAddr(), value, how, op.getRank()}};
  }
  if (name != "int64" && name != "uint64")
    return refuseType(op, op.getSigAddr().getType(), "signal words are int32, int64 or uint64");
  if (op.getSigOp() == dist::SignalOp::ADD)
    return op.emitOpError("adds to a 64 bit signal word, which can only be set; use an int32 word");
  return Callee{"aclshmem_" + name + "_p", llvm::to_vector_of<Value>(op->getOperands())};
}

FailureOr<Callee> calleeOf(dist::ConsumeTokenOp op, OpBuilder &) {
  return Callee{"aclshmem_consume_token_" + valueTypeName(op.getInput().getType()),
                llvm::to_vector_of<Value>(op->getOperands())};
}

FailureOr<Callee> calleeOf(dist::WaitOp op, OpBuilder &) {
  std::string name = pointeeName(op.getBarrierPtr());
  if (!StringRef(name).starts_with("int"))
    return refuseType(op, op.getBarrierPtr().getType(),
                      "signal words are integers of 8, 16, 32 or 64 bits");
  return Callee{"aclshmem_wait_" + name, llvm::to_vector_of<Value>(op->getOperands())};
}

FailureOr<Callee> calleeOf(dist::ExternCallOp op, OpBuilder &) {
  std::string symbol = op.getSymbol().str();
  if (symbol.empty()) // the op's own name stands for it
    symbol = op->getName().stripDialect().str();
  if (symbol != "aclshmem_ptr")
    return Callee{symbol, llvm::to_vector_of<Value>(op->getOperands())};
  std::string name = op->getNumOperands() ? pointeeName(op->getOperand(0)) : "";
  if (name.empty())
    return op.emitOpError("of 'aclshmem_ptr' needs a pointer first; ") << kDataTypes;
  return Callee{"aclshmem_ptr_" + name, llvm::to_vector_of<Value>(op->getOperands())};
}

//===-- Attributes --------------------------------------------------------===//

/// "putmem_nbi" of aclshmem_half_putmem_nbi: the family, without library prefix and type.
StringRef familyOf(StringRef symbol) {
  if (!symbol.consume_front("aclshmem_"))
    return "";
  for (StringRef type : {"bfloat16_", "half_", "float_", "int8_", "int16_", "int32_", "int64_",
                         "uint8_", "uint16_", "uint32_", "uint64_", "char_"})
    if (symbol.consume_front(type))
      break;
  return symbol;
}

/// Known families first. Otherwise a kernel without a dot is one for vector cores alone, and any
/// other call may be needed on both sides.
hivm::TCoreType coreTypeOf(StringRef symbol, bool existDot) {
  if (symbol.starts_with("aclshmemx_barrier_all_vec") ||
      symbol.starts_with("aclshmemx_barrier_vec"))
    return hivm::TCoreType::VECTOR;
  StringRef family = familyOf(symbol);
  // The barrier stays in both halves of a split kernel: that is how computation and communication
  // overlap and still meet.
  if (family.starts_with("barrier"))
    return hivm::TCoreType::CUBE_AND_VECTOR;
  if (family.starts_with("putmem") || family.starts_with("getmem"))
    return hivm::TCoreType::VECTOR;
  return existDot ? hivm::TCoreType::CUBE_AND_VECTOR : hivm::TCoreType::VECTOR;
}

/// Positions of the pointers that the kernel got as arguments.
SmallVector<int32_t> pointerArguments(Operation *source, ValueRange operands) {
  SmallVector<int32_t> indices;
  auto function = source->getParentOfType<FuncOp>();
  for (auto [index, operand] : llvm::enumerate(operands)) {
    auto argument = dyn_cast<BlockArgument>(operand);
    if (argument && isa<PointerType>(argument.getType()) && function &&
        argument.getOwner() == &function.getBody().front())
      indices.push_back(index);
  }
  return indices;
}

void setAttributes(hivm::CustomOp custom, Operation *source, StringRef symbol, bool existDot) {
  OpBuilder b(custom);
  MLIRContext *context = b.getContext();
  // Inherent attributes (scope, sigOp, pure, ...) are of no op of hivm: all become discardable.
  for (NamedAttribute attribute : source->getAttrDictionary())
    custom->setDiscardableAttr(attribute.getName(), attribute.getValue());
  auto set = [&](StringRef name, Attribute value) { custom->setDiscardableAttr(name, value); };
  set("hivm.tcore_type", hivm::TCoreTypeAttr::get(context, coreTypeOf(symbol, existDot)));
  // There is no table of symbols to pipes yet: everything runs on the scalar unit.
  set("hivm.pipe", hivm::PipeAttr::get(context, hivm::Pipe::PIPE_S));
  set("hivm.vf_mode", hivm::VFModeAttr::get(context, hivm::VFMode::SIMD));
  set("hivm.is_distributed", b.getUnitAttr());
  set("symbol", b.getStringAttr(symbol));
  set("gm_addr_args_indices", b.getDenseI32ArrayAttr(pointerArguments(source, custom.getInputs())));
  if (isMemoryEffectFree(source))
    set("no_side_effect", b.getUnitAttr());
}

//===-- The pass ----------------------------------------------------------===//

/// The library has no function for tensors of data, descriptors, block pointers and rare types.
/// Such a value is no address that was read too early: the call before it, which waits, keeps
/// its place by itself.
bool needsNoCall(Operation *op) {
  auto consume = dyn_cast<dist::ConsumeTokenOp>(op);
  return consume && valueTypeName(consume.getInput().getType()).empty();
}

template <typename OpTy> struct ToCustom : OpRewritePattern<OpTy> {
  ToCustom(MLIRContext *context, PatternBenefit benefit, bool existDot)
      : OpRewritePattern<OpTy>(context, benefit), existDot(existDot) {}

  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    if (needsNoCall(op)) {
      rewriter.replaceOp(op, op->getOperand(0));
      return success();
    }
    Location loc = op.getLoc();
    FailureOr<Callee> callee = calleeOf(op, rewriter);
    if (failed(callee))
      return failure();
    SmallVector<Value> outputs;
    for (Type type : op->getResultTypes())
      if (auto tensor = dyn_cast<RankedTensorType>(type))
        outputs.push_back(
            tensor::EmptyOp::create(rewriter, loc, tensor.getShape(), tensor.getElementType()));
    auto custom = hivm::CustomOp::create(rewriter, loc, op->getResultTypes(),
                                         rewriter.getStringAttr("dist." + callee->symbol),
                                         callee->operands, outputs, /*temps=*/ValueRange());
    setAttributes(custom, op, callee->symbol, existDot);
    if (isa<dist::ConsumeTokenOp>(op) && !outputs.empty()) {
      // The analysis of addresses looks through the call to this operand.
      custom->setDiscardableAttr("SrcPtrIndex", rewriter.getDenseI32ArrayAttr({0}));
      auto mark = annotation::MarkOp::create(rewriter, loc, custom->getResult(0));
      mark->setAttr("ContinuousMemAccess", rewriter.getUnitAttr());
    }
    if (op->getNumResults() == 0)
      rewriter.eraseOp(op);
    else
      rewriter.replaceOp(op, custom->getResults());
    return success();
  }

  bool existDot;
};

struct ConvertTritonDistributedToHIVM
    : piton::impl::ConvertTritonDistributedToHIVMPassBase<ConvertTritonDistributedToHIVM> {
  using ConvertTritonDistributedToHIVMPassBase::ConvertTritonDistributedToHIVMPassBase;

  bool hasDot() {
    return getOperation()
        .walk([](Operation *op) {
          return isa<DotOp, DotScaledOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  }

  /// Patterns report what they cannot convert; the driver would try such an op again and again.
  LogicalResult check() {
    bool ok = true;
    getOperation().walk([&](Operation *op) { ok &= succeeded(checkOne(op)); });
    return success(ok);
  }

  LogicalResult checkOne(Operation *op) {
    return TypeSwitch<Operation *, LogicalResult>(op)
        .Case<dist::NotifyOp, dist::SymmAtOp, dist::WaitOp, dist::ExternCallOp>([&](auto each) {
          // What naming a callee creates goes again.
          OwningOpRef<ModuleOp> scratch = ModuleOp::create(op->getLoc());
          OpBuilder b = OpBuilder::atBlockEnd(scratch->getBody());
          return LogicalResult(calleeOf(each, b));
        })
        .Default([](Operation *) { return success(); });
  }

  void runOnOperation() override {
    if (failed(check()))
      return signalPassFailure();
    const bool existDot = hasDot();
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    patterns.add<ToCustom<dist::WaitOp>, ToCustom<dist::ConsumeTokenOp>, ToCustom<dist::GetRankOp>,
                 ToCustom<dist::GetNumRanksOp>, ToCustom<dist::SymmAtOp>, ToCustom<dist::NotifyOp>,
                 ToCustom<dist::ExternCallOp>>(context, PatternBenefit(benefit), existDot);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns)))) {
      getOperation().emitError("the distributed ops of this module do not converge");
      signalPassFailure();
    }
  }
};

} // namespace
