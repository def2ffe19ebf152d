// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls of the communication library. The compiler orders nothing between a store and a following
// signal on another argument, and takes consume_token for pointers only. What the 950 compiler gets
// stands in BishengDistributedA5.cpp.
#include "compiler/Target/BishengForms.h"

using namespace mlir;

namespace piton::bisheng {
namespace {

/// Functions whose effect another PE may see at once, and those that overwrite memory by
/// themselves: what was stored before must be in memory, what was loaded must have arrived.
bool publishes(StringRef symbol) {
  return symbol.ends_with("_p") || symbol.contains("signal") || symbol.contains("barrier") ||
         symbol.contains("putmem") || symbol.contains("getmem") || symbol.contains("_atomic_");
}

/// Functions that other PEs take for news of the data before them, but for barriers of all cores.
bool isNews(StringRef symbol) {
  return publishes(symbol) && !symbol.starts_with("aclshmem_barrier") && !symbol.contains("wait") &&
         !symbol.contains("getmem");
}

/// A token that folds to what it guards: data is there already, and the 950 compiler takes no such
/// call.
bool isSpentToken(hivm::CustomOp op, StringRef symbol, Context &context) {
  return symbol.starts_with("aclshmem_consume_token_") &&
         (!context.isC220() || isa<RankedTensorType>(op->getOperand(0).getType()));
}

/// A kernel without a dot has vector cores only. The compiler would make one for both kinds of
/// cores of it because of a barrier of all, and crashes where addresses on other PEs are loaded
/// from.
void keepOnVectorCores(hivm::CustomOp op) {
  auto mode = op->getParentOfType<func::FuncOp>()->getAttrOfType<StringAttr>("mix_mode");
  auto core = op->getAttrOfType<hivm::TCoreTypeAttr>("hivm.tcore_type");
  if (mode && mode.getValue() == "aiv" && core &&
      core.getValue() == hivm::TCoreType::CUBE_AND_VECTOR)
    op->setDiscardableAttr("hivm.tcore_type",
                           hivm::TCoreTypeAttr::get(op.getContext(), hivm::TCoreType::VECTOR));
}

} // namespace

LogicalResult legalizeDistributed(ModuleOp module, Context &context) {
  SmallVector<hivm::CustomOp> calls;
  module.walk([&](hivm::CustomOp op) {
    if (op->hasAttr("hivm.is_distributed"))
      calls.push_back(op);
  });
  for (hivm::CustomOp op : calls) {
    auto attribute = op->getAttrOfType<StringAttr>("symbol");
    StringRef symbol = attribute ? attribute.getValue() : "";
    if (isSpentToken(op, symbol, context)) {
      op->getResult(0).replaceAllUsesWith(op->getOperand(0));
      op->erase();
      continue;
    }
    keepOnVectorCores(op);
    if (isNews(symbol))
      sendFromOneCore(op);
    if (publishes(symbol)) {
      OpBuilder b(op);
      pipeBarrier(b, op.getLoc(), hivm::Pipe::PIPE_ALL);
    }
    if (!context.isC220() && failed(legalizeDistributedA5(op, symbol, context)))
      return failure();
  }
  return success();
}

} // namespace piton::bisheng
