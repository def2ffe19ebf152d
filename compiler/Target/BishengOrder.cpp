// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Order of memory accesses that the Ascend compiler does not keep: it takes two pointer
// arguments for two buffers, so that a load through one does not wait for a store through the
// other. A tensor that is passed twice makes them one. Where such a load follows such a store in
// straight-line code, all pipes are drained in between. From one trip of a loop to the next
// nothing is added: it would undo the overlap of loads and stores in every loop over tiles.
// The compiler also drops loops that only read, marked or not: a volatile load gets a barrier of
// the scalar pipe, which no loop that waits by such loads is dropped with.
#include "compiler/Target/BishengForms.h"

#include "compiler/Dialect/Annotation/Annotation.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"

using namespace mlir;

namespace piton::bisheng {
namespace {

/// Pointer arguments and addresses.
using Bases = llvm::SmallPtrSet<Value, 4>;

/// The pointer argument or address behind a view, or null for local memory.
Value globalBaseOf(Value value) {
  if (!isa<BaseMemRefType>(value.getType()))
    return {};
  Value base = baseOf(value);
  return base.getDefiningOp<memref::AllocOp>() ? Value() : base;
}

void add(Bases &bases, Value memory) {
  if (Value base = globalBaseOf(memory))
    bases.insert(base);
}

/// What `op` by itself reads and writes of global memory.
void accessesOf(Operation *op, Bases &reads, Bases &writes) {
  if (auto copy = dyn_cast<memref::CopyOp>(op)) {
    add(reads, copy.getSource());
    add(writes, copy.getTarget());
  } else if (auto load = dyn_cast<memref::LoadOp>(op)) {
    add(reads, load.getMemRef());
  } else if (auto store = dyn_cast<memref::StoreOp>(op)) {
    add(writes, store.getMemRef());
  } else if (auto put = dyn_cast<bufferization::MaterializeInDestinationOp>(op)) {
    add(writes, put.getDest());
  } else if (auto store = dyn_cast<mlir::hivm::StoreOp>(op)) {
    add(writes, store.getDst());
  }
}

/// Whether memory behind one of `stored` may be what is read through one of `read`.
bool mayMeet(const Bases &stored, const Bases &read) {
  return llvm::any_of(
      stored, [&](Value out) { return llvm::any_of(read, [&](Value in) { return in != out; }); });
}

bool isFullBarrier(Operation &op) {
  auto barrier = dyn_cast<mlir::hivm::PipeBarrierOp>(op);
  return barrier && barrier.getPipe() == mlir::hivm::Pipe::PIPE_ALL;
}

void orderBlock(Block &block) {
  Bases stored;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (isFullBarrier(op)) {
      stored.clear();
      continue;
    }
    Bases reads, writes;
    op.walk([&](Operation *inner) { accessesOf(inner, reads, writes); });
    if (mayMeet(stored, reads)) {
      OpBuilder b(&op);
      pipeBarrier(b, op.getLoc(), mlir::hivm::Pipe::PIPE_ALL);
      stored.clear();
    }
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        orderBlock(inner);
    stored.insert(writes.begin(), writes.end());
  }
}

void keepVolatile(ModuleOp module) {
  SmallVector<annotation::MarkOp> marks;
  module.walk([&](annotation::MarkOp mark) {
    if (mark->hasAttr("volatile"))
      marks.push_back(mark);
  });
  for (annotation::MarkOp mark : marks) {
    OpBuilder b(mark);
    pipeBarrier(b, mark.getLoc(), mlir::hivm::Pipe::PIPE_S);
    mark.erase();
  }
}

} // namespace

LogicalResult legalizeOrder(ModuleOp module, Context &) {
  keepVolatile(module);
  for (auto function : module.getOps<func::FuncOp>())
    for (Block &block : function.getBody())
      orderBlock(block);
  return success();
}

} // namespace piton::bisheng
