// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bytes of all blocks against the limit in the block context; see Streaming.h.
#include "compiler/Target/Simulator/Streaming.h"

#include "compiler/Target/Simulator/Utils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace piton::simulator {

static bool synchronises(func::FuncOp function) {
  WalkResult result = function.walk([](Operation *op) {
    bool plain = !isa<CallOpInterface, memref::AtomicRMWOp, memref::GenericAtomicRMWOp>(op) &&
                 !op->hasAttr("GenericAtomicRMW") &&
                 (!isa<LLVM::LLVMDialect>(op->getDialect()) || isMemoryEffectFree(op) ||
                  isa<LLVM::LoadOp, LLVM::StoreOp>(op));
    return plain ? WalkResult::advance() : WalkResult::interrupt();
  });
  return result.wasInterrupted();
}

Value emitStreamFlag(func::FuncOp function, const Transfers &transfers) {
  Value context = blockContext(&function.getBody().front().front());
  if (!context || cast<BlockArgument>(context).getArgNumber() < 6 || synchronises(function))
    return Value();
  int64_t bytes = 0;
  auto count = [&](memref::AllocOp buffer) {
    bytes +=
        buffer.getType().getNumElements() * elementByteWidth(buffer.getType().getElementType());
  };
  for (auto &[buffer, load] : transfers.loads)
    count(load.buffer);
  for (auto &[writer, store] : transfers.stores)
    count(store.buffer);
  OpBuilder b = OpBuilder::atBlockBegin(&function.getBody().front());
  Location loc = function.getLoc();
  Value total = i64Constant(b, loc, bytes);
  unsigned grid = cast<BlockArgument>(context).getArgNumber() - 6;
  for (unsigned axis = 0; axis < 3; ++axis)
    total = arith::MulIOp::create(
        b, loc, total,
        arith::ExtUIOp::create(b, loc, b.getI64Type(), function.getArgument(grid + axis)));
  Value limit = loadAt(b, loc, b.getI64Type(), context, offsetof(BlockContext, streamBytes));
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ugt, total, limit);
}

} // namespace piton::simulator
