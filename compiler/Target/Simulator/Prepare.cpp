// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// sim-prepare: one kernel function without calls, helper ops and hints. Everything that
// touches memory in its own way (atomics, prints, integer addresses) is lowered here,
// on memrefs, so that bufferization meets only ops that it knows.
#include "compiler/Target/Simulator/DeviceOps.h"
#include "compiler/Target/Simulator/Utils.h"
#include "compiler/Transforms/Passes.h"

#include "mlir/Conversion/ControlFlowToSCF/ControlFlowToSCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Dominance.h"

namespace piton {
#define GEN_PASS_DEF_SIMPREPARE
#include "compiler/Transforms/Passes.h.inc"
} // namespace piton

using namespace mlir;
using namespace piton;
using namespace piton::simulator;

namespace {

FailureOr<func::FuncOp> chooseKernel(ModuleOp module) {
  SmallVector<func::FuncOp> marked, candidates;
  for (func::FuncOp function : module.getOps<func::FuncOp>()) {
    if (function.isExternal())
      continue;
    if (function->hasAttr("global_kernel") || function->hasAttr("hacc.entry"))
      marked.push_back(function);
    else if (!function.isPrivate())
      candidates.push_back(function);
  }
  SmallVector<func::FuncOp> &found = marked.empty() ? candidates : marked;
  if (found.size() == 1)
    return found.front();
  if (found.empty())
    return module.emitError("the module holds no kernel: no function with a body has the "
                            "attribute `global_kernel`");
  return found[1].emitError("second kernel in one module; the first is '")
         << found[0].getSymName() << "'";
}

LogicalResult liftControlFlow(func::FuncOp function) {
  if (function.isExternal() || function.getBody().hasOneBlock())
    return success();
  ControlFlowToSCFTransformation transformation;
  DominanceInfo dominance(function);
  if (failed(transformCFGToSCF(function.getBody(), transformation, dominance)))
    return function.emitError("its control flow cannot be lifted to structured loops");
  return success();
}

/// Replaces one call by a copy of its callee's single block.
void inlineOne(func::CallOp call, func::FuncOp callee) {
  OpBuilder b(call);
  IRMapping mapping;
  Block &body = callee.getBody().front();
  mapping.map(body.getArguments(), call.getOperands());
  for (Operation &op : body.without_terminator())
    b.clone(op, mapping);
  SmallVector<Value> results;
  for (Value value : body.getTerminator()->getOperands())
    results.push_back(mapping.lookupOrDefault(value));
  call.replaceAllUsesWith(results);
  call.erase();
}

LogicalResult inlineCalls(ModuleOp module, func::FuncOp kernel) {
  SymbolTable symbols(module);
  // Each round inlines one level; a chain longer than the number of functions recurs.
  unsigned rounds = llvm::range_size(module.getOps<func::FuncOp>()) + 1;
  for (unsigned round = 0;; ++round) {
    SmallVector<std::pair<func::CallOp, func::FuncOp>> calls;
    kernel.walk([&](func::CallOp call) {
      auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
      if (callee && !callee.isExternal())
        calls.push_back({call, callee});
    });
    if (calls.empty())
      return success();
    if (round > rounds)
      return calls.front().first.emitError("recursive call of '")
             << calls.front().second.getSymName() << "'; kernels cannot recurse";
    for (auto [call, callee] : calls)
      inlineOne(call, callee);
  }
}

/// Uninitialised tensors: a ub.poison made by control-flow lifting has no buffer form.
void replacePoisonTensors(func::FuncOp kernel) {
  kernel.walk([](ub::PoisonOp op) {
    auto type = dyn_cast<RankedTensorType>(op.getType());
    if (!type || !type.hasStaticShape())
      return;
    OpBuilder b(op);
    Value empty = tensor::EmptyOp::create(b, op.getLoc(), type.getShape(), type.getElementType());
    op.replaceAllUsesWith(empty);
    op.erase();
  });
}

struct SimPreparePass : piton::impl::SimPrepareBase<SimPreparePass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<func::FuncOp> kernel = chooseKernel(module);
    if (failed(kernel))
      return signalPassFailure();
    for (func::FuncOp function : module.getOps<func::FuncOp>())
      if (failed(liftControlFlow(function)))
        return signalPassFailure();
    if (failed(inlineCalls(module, *kernel)))
      return signalPassFailure();
    for (func::FuncOp function : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
      if (function != *kernel && !function.isExternal())
        function.erase();
    replacePoisonTensors(*kernel);

    MLIRContext *context = &getContext();
    (*kernel)->setAttr(kKernelAttr, UnitAttr::get(context));
    unsigned index = kernel->getNumArguments();
    auto attributes = DictionaryAttr::get(
        context, NamedAttribute(StringAttr::get(context, kContextAttr), UnitAttr::get(context)));
    if (failed(kernel->insertArgument(index, LLVM::LLVMPointerType::get(context), attributes,
                                      kernel->getLoc())))
      return signalPassFailure();
    if (failed(runBothSubVectors(*kernel)) || failed(lowerDeviceOps(*kernel)))
      return signalPassFailure();
    markWaitingLoops(*kernel);
    lowerVolatile(*kernel);
    // Declarations of helpers would not convert: their types are tensors.
    for (func::FuncOp function : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
      if (function.isExternal() && SymbolTable::symbolKnownUseEmpty(function, module))
        function.erase();
  }
};

} // namespace
