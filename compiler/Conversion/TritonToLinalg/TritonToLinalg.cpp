// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass triton-to-linalg: Triton IR to the hand-over IR. Two sweeps over each function.
// The first turns every op that touches memory into memrefs, while the pointer and mask
// arithmetic that the analyses read is still there; that arithmetic is then dead and goes.
// The second turns what is left, tensor values, into linalg, tensor, arith and math.
#include "compiler/Conversion/Passes.h"
#include "compiler/Conversion/TritonToLinalg/Lowering.h"
#include "compiler/Dialect/Annotation/Annotation.h"
#include "compiler/Dialect/Ascend/Ascend.h"
#include "compiler/Dialect/HFusion/HFusion.h"
#include "compiler/Dialect/HIVM/HIVM.h"

#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace piton {
#define GEN_PASS_DEF_TRITONTOLINALG
#include "compiler/Conversion/Passes.h.inc"
} // namespace piton

using namespace mlir;
using piton::linalglowering::Lowering;

namespace {

/// True for ops that only compute addresses or masks and die with the accesses.
bool isPointerValued(Operation *op) {
  return llvm::any_of(op->getResultTypes(), triton::isPointerLike);
}

/// True for an op of no dialect of Triton or of the upstream ones that Triton IR is mixed with,
/// such as hivm.hir.custom: its pointer operands become memrefs.
bool isForeign(Operation *op) {
  Dialect *dialect = op->getDialect();
  if (!dialect)
    return true;
  return !isa<triton::TritonDialect, arith::ArithDialect, scf::SCFDialect, tensor::TensorDialect,
              ub::UBDialect, cf::ControlFlowDialect, BuiltinDialect>(dialect);
}

bool hasPointer(Operation *op) {
  return llvm::any_of(op->getOperandTypes(), triton::isPointerLike) || isPointerValued(op);
}

/// First sweep: whatever touches pointers.
LogicalResult lowerMemoryOp(Lowering &lowering, Operation *op) {
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](triton::LoadOp load) { return lowering.lowerLoad(load); })
      .Case([&](triton::StoreOp store) { return lowering.lowerStore(store); })
      .Case([&](triton::AtomicRMWOp rmw) { return lowering.lowerAtomicRMW(rmw); })
      .Case([&](triton::AtomicCASOp cas) { return lowering.lowerAtomicCAS(cas); })
      .Case([&](triton::PtrToIntOp cast) { return lowering.lowerPtrToInt(cast); })
      .Case([&](triton::CallOp call) { return lowering.lowerCall(call); })
      .Case([&](triton::PrintOp print) { return lowering.lowerPrint(print); })
      .Case([&](triton::ReturnOp ret) {
        OpBuilder b(ret);
        for (OpOperand &operand : ret->getOpOperands())
          if (isa<triton::PointerType>(operand.get().getType()))
            operand.set(lowering.addressOf(operand.get(), b, ret.getLoc()));
        return success();
      })
      .Default([&](Operation *other) {
        if (isa_and_nonnull<triton::ascend::AscendDialect>(other->getDialect()))
          return lowering.lowerAscend(other);
        if (isForeign(other) && hasPointer(other))
          return lowering.lowerForeignPointers(other);
        return success();
      });
}

/// What to say about an op that has no lowering here.
LogicalResult refuse(Operation *op) {
  StringRef advice =
      TypeSwitch<Operation *, StringRef>(op)
          .Case<triton::HistogramOp>([](auto) { return "run triton-to-hfusion first"; })
          .Case<triton::ElementwiseInlineAsmOp>([](auto) { return "run triton-to-llvm first"; })
          .Case<triton::MakeTensorPtrOp, triton::AdvanceOp, triton::MakeTensorDescOp,
                triton::DescriptorLoadOp, triton::DescriptorStoreOp, triton::DescriptorReduceOp,
                triton::DescriptorGatherOp, triton::DescriptorScatterOp>(
              [](auto) { return "run triton-to-structured first"; })
          .Default([](Operation *) { return StringRef(); });
  if (!advice.empty())
    return op->emitOpError("has no form below Triton IR; ") << advice;
  if (isPointerValued(op)) {
    InFlightDiagnostic error = op->emitOpError("makes a pointer that is not only used to address "
                                               "loads, stores and atomics");
    for (Operation *user : op->getUsers())
      error.attachNote(user->getLoc()) << "used by '" << user->getName() << "' here";
    return error;
  }
  return op->emitOpError("has no form below Triton IR");
}

/// Second sweep: values.
LogicalResult lowerValueOp(Lowering &lowering, Operation *op) {
  if (isa<arith::ConstantOp, ub::PoisonOp>(op))
    return isa<RankedTensorType>(op->getResult(0).getType()) ? lowering.lowerElementwise(op)
                                                             : success();
  if (!isa_and_nonnull<triton::TritonDialect>(op->getDialect()))
    return success();
  if (isPointerValued(op))
    return refuse(op);
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case<triton::FpToFpOp, triton::ClampFOp, triton::BitcastOp, triton::PreciseDivFOp,
            triton::PreciseSqrtOp, triton::MulhiUIOp>(
          [&](Operation *each) { return lowering.lowerElementwise(each); })
      .Case<triton::MakeRangeOp, triton::SplatOp, triton::UnsplatOp, triton::ExpandDimsOp,
            triton::BroadcastOp, triton::ReshapeOp, triton::TransOp, triton::JoinOp,
            triton::SplitOp, triton::CatOp>(
          [&](Operation *each) { return lowering.lowerShape(each); })
      .Case([&](triton::ReduceOp reduce) { return lowering.lowerReduce(reduce); })
      .Case([&](triton::ScanOp scan) { return lowering.lowerScan(scan); })
      .Case([&](triton::MapElementwiseOp map) { return lowering.lowerMapElementwise(map); })
      .Case([&](triton::DotOp dot) { return lowering.lowerDot(dot); })
      .Case([&](triton::DotScaledOp dot) { return lowering.lowerDotScaled(dot); })
      .Case([&](triton::AssertOp check) { return lowering.lowerAssert(check); })
      .Case([&](triton::GatherOp gather) { return lowering.lowerGather(gather); })
      .Case([&](triton::ExternElementwiseOp call) { return lowering.lowerExtern(call); })
      .Case<triton::FuncOp, triton::ReturnOp, triton::ReduceReturnOp, triton::ScanReturnOp,
            triton::MapElementwiseReturnOp>([](Operation *) { return success(); })
      .Default([](Operation *other) { return refuse(other); });
}

/// Applies `lower` to the ops that are there now, uses before definitions or not; every op may
/// add ops but removes no other one.
template <WalkOrder Order, typename Fn> LogicalResult sweep(ModuleOp module, Fn lower) {
  SmallVector<Operation *> ops;
  module.walk<Order>([&](Operation *op) { ops.push_back(op); });
  bool ok = true;
  for (Operation *op : ops)
    ok &= succeeded(lower(op)); // go on: each error stands at its own line
  return success(ok);
}

struct TritonToLinalg : piton::impl::TritonToLinalgBase<TritonToLinalg> {
  using TritonToLinalgBase::TritonToLinalgBase;

  LogicalResult checkInput() {
    for (auto func : getOperation().getOps<triton::FuncOp>())
      if (!func.isExternal() && !func.getBody().hasOneBlock())
        return func.emitOpError("has several blocks; its control flow must be lifted to scf first");
    // Pointers that cross a region would need a memref whose layout changes at run time.
    WalkResult carried = getOperation().walk([](Operation *op) {
      if (!isa_and_nonnull<scf::SCFDialect>(op->getDialect()) || !isPointerValued(op))
        return WalkResult::advance();
      op->emitOpError("carries a pointer out of its region; run triton-to-unstructured first, "
                      "which carries the offset instead");
      return WalkResult::interrupt();
    });
    return failure(carried.wasInterrupted());
  }

  /// simt parts change how the launcher runs the kernel.
  bool usesSimt() {
    bool found = false;
    getOperation().walk([&](Operation *op) {
      found |= isa<triton::ascend::IndirectLoadOp, triton::ascend::IndirectStoreOp,
                   triton::ascend::IndexPutOp, triton::ascend::GatherOutToUbOp,
                   triton::ascend::ScatterUbToOutOp>(op);
      Attribute mode = op->getAttr("hivm.vf_mode");
      if (!mode)
        return;
      std::string text;
      llvm::raw_string_ostream(text) << mode;
      found |= StringRef(text).contains("SIMT");
    });
    return found;
  }

  LogicalResult convert() {
    ModuleOp module = getOperation();
    if (failed(checkInput()))
      return failure();
    bool hasDot = module
                      .walk([](Operation *op) {
                        return isa<triton::DotOp, triton::DotScaledOp>(op) ? WalkResult::interrupt()
                                                                           : WalkResult::advance();
                      })
                      .wasInterrupted();
    bool hasSimt = usesSimt();
    Lowering lowering(module, hasDot);
    lowering.appendProgramArguments();
    auto memory = [&](Operation *op) { return lowerMemoryOp(lowering, op); };
    if (failed(sweep<WalkOrder::PreOrder>(module, memory)))
      return failure();
    // Loads and stores of pointers themselves left conversions behind. Program ids became arguments
    // only now: that they are not negative is what some addresses and masks rest on.
    auto leftCasts = [&](Operation *op) {
      if (isa<triton::GetProgramIdOp, triton::GetNumProgramsOp>(op))
        return lowering.lowerProgramInfo(op);
      auto cast = dyn_cast<triton::PtrToIntOp>(op);
      return cast ? lowering.lowerPtrToInt(cast) : success();
    };
    if (failed(sweep<WalkOrder::PreOrder>(module, leftCasts)))
      return failure();
    lowering.finishAccesses();
    auto value = [&](Operation *op) { return lowerValueOp(lowering, op); };
    if (failed(sweep<WalkOrder::PostOrder>(module, value)))
      return failure();
    lowering.eraseDead();
    if (failed(lowering.resolvePointers()))
      return failure();
    return lowering.convertFunctions(globalKernel, hasSimt);
  }

  void runOnOperation() override {
    if (failed(convert()))
      return signalPassFailure();
    if (namedOps)
      return;
    RewritePatternSet patterns(&getContext());
    linalg::populateElementwiseToLinalgConversionPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
