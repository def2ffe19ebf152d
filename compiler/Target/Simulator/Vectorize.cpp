// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// sim-vectorize: linalg.generic on buffers to vector loops (RowEmitter.h). Loads and stores found
// by findTransfers address memory itself instead of a local copy.
#include "compiler/Target/Simulator/Overlap.h"
#include "compiler/Target/Simulator/RowEmitter.h"
#include "compiler/Target/Simulator/Streaming.h"
#include "compiler/Transforms/Passes.h"

namespace piton {
#define GEN_PASS_DEF_SIMVECTORIZE
#include "compiler/Transforms/Passes.h.inc"
} // namespace piton

using namespace mlir;
using namespace piton;
using namespace piton::simulator;

namespace {

struct SimVectorizePass : piton::impl::SimVectorizeBase<SimVectorizePass> {
  using SimVectorizeBase::SimVectorizeBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function->hasAttr(kKernelAttr))
      return;
    llvm::MapVector<Operation *, Plan> plans;
    function.walk([&](linalg::GenericOp op) {
      if (std::optional<Plan> plan = planFor(op))
        plans.insert({op, *plan});
    });
    Transfers transfers =
        findTransfers(function, [&](Operation *op) { return plans.contains(op); });
    for (auto &[buffer, load] : transfers.loads)
      guardLoad(load);
    const Host host{lanes, registerBytes, maskNarrow};
    Value stream = transfers.stores.empty() ? Value() : emitStreamFlag(function, transfers);
    for (auto &[op, plan] : plans)
      RowEmitter(plan, transfers, host, stream).emit();
    readDotsFromMemory(function, transfers);
    for (auto &[buffer, load] : transfers.loads)
      eraseTransfer(load.copy, load.fill, load.buffer);
    for (auto &[writer, store] : transfers.stores)
      eraseTransfer(store.copy, nullptr, store.buffer);
  }

  static void eraseTransfer(memref::CopyOp copy, Operation *fill, memref::AllocOp buffer) {
    SmallVector<Value> sides{copy.getSource(), copy.getTarget()};
    copy.erase();
    if (fill)
      fill->erase();
    for (Value side : sides)
      while (Operation *def = side.getDefiningOp()) {
        if (!isa<memref::SubViewOp, memref::CastOp>(def) || !def->use_empty())
          break;
        side = def->getOperand(0);
        def->erase();
      }
    if (buffer->use_empty())
      buffer.erase();
  }
};

} // namespace
