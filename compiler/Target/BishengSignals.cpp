// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which core of a kernel for both kinds raises a signal. The compiler keeps such a call in both
// halves of the kernel, so that the half that stores nothing would raise it too early, and an ADD
// would count twice. Here the half that made the data raises it, after the other one where both
// stored something. Products go from the cube core to memory, everything else from the vector
// cores.
#include "compiler/Target/BishengForms.h"

#include "compiler/Dialect/HIVM/HIVM.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"

using namespace mlir;

namespace piton::bisheng {
namespace {

using hivm::Pipe;
using hivm::TCoreType;

/// Cross-core flag for the order of the halves before a signal. The compiler takes its own from 0
/// up, users are told to stay below 11.
constexpr int64_t kSignalFlag = 14;

bool isBarrier(Operation *op) {
  auto custom = dyn_cast<hivm::CustomOp>(op);
  auto symbol = custom ? op->getAttrOfType<StringAttr>("symbol") : StringAttr();
  return symbol && symbol.getValue().starts_with("aclshmem_barrier");
}

/// Whether the cube core writes this tensor to memory: a product, also one that a loop adds up or
/// that is converted or cut on its way.
bool isProduct(Value tensor) {
  while (Operation *op = tensor.getDefiningOp()) {
    if (isa<linalg::MatmulOp, linalg::BatchMatmulOp>(op))
      return true;
    if (isa<arith::TruncFOp, tensor::ExtractSliceOp>(op))
      tensor = op->getOperand(0);
    else if (auto loop = dyn_cast<scf::ForOp>(op))
      tensor = loop.getTiedLoopYieldedValue(
                       loop.getRegionIterArg(cast<OpResult>(tensor).getResultNumber()))
                   ->get();
    else
      return false;
  }
  return false;
}

/// The core that stores, if `op` by itself stores to global memory.
std::optional<TCoreType> storingCore(Operation *op) {
  if (auto put = dyn_cast<bufferization::MaterializeInDestinationOp>(op))
    return isProduct(put.getSource()) ? TCoreType::CUBE : TCoreType::VECTOR;
  if (auto store = dyn_cast<hivm::StoreOp>(op))
    return isProduct(store.getSrc()) ? TCoreType::CUBE : TCoreType::VECTOR;
  if (isa<memref::StoreOp>(op))
    return TCoreType::VECTOR;
  return std::nullopt;
}

/// Who has stored since the last barrier in front of a signal; `nearest` was the last one.
struct Stores {
  std::optional<TCoreType> nearest;
  bool cube = false, vector = false;

  void add(TCoreType core) {
    if (!nearest)
      nearest = core;
    (core == TCoreType::CUBE ? cube : vector) = true;
  }

  /// Takes in `op` and what is inside of it, the last first.
  void scan(Operation *op) {
    if (std::optional<TCoreType> core = storingCore(op))
      add(*core);
    for (Region &region : llvm::reverse(op->getRegions()))
      for (Block &block : llvm::reverse(region))
        for (Operation &inner : llvm::reverse(block))
          scan(&inner);
  }

  /// Takes in everything in front of `op`, out to the function.
  void scanBefore(Operation *op) {
    for (; !isa<func::FuncOp>(op); op = op->getParentOp()) {
      for (Operation *before = op->getPrevNode(); before; before = before->getPrevNode()) {
        if (isBarrier(before))
          return;
        scan(before);
      }
    }
  }
};

/// Whether only one of the vector cores comes here: it is behind a condition on its number.
bool isForOneVectorCore(Operation *op) {
  for (; !isa<func::FuncOp>(op); op = op->getParentOp()) {
    auto branch = dyn_cast<scf::IfOp>(op->getParentOp());
    if (!branch)
      continue;
    SetVector<Operation *> behind;
    SmallVector<Value> worklist{branch.getCondition()};
    while (!worklist.empty())
      if (Operation *definer = worklist.pop_back_val().getDefiningOp();
          definer && behind.insert(definer)) {
        if (isa<hivm::GetSubBlockIdxOp>(definer))
          return true;
        llvm::append_range(worklist, definer->getOperands());
      }
  }
  return false;
}

/// `waiter` goes on once `sender` has stored everything.
void orderCores(OpBuilder &b, Location loc, TCoreType sender, TCoreType waiter) {
  MLIRContext *context = b.getContext();
  auto pipe = [&](Pipe which) { return hivm::PipeAttr::get(context, which); };
  hivm::PipeAttr stores = pipe(sender == TCoreType::CUBE ? Pipe::PIPE_FIX : Pipe::PIPE_MTE3);
  IntegerAttr flag = b.getI64IntegerAttr(kSignalFlag);
  hivm::SyncBlockSetOp::create(b, loc, hivm::TCoreTypeAttr::get(context, sender), stores,
                               pipe(Pipe::PIPE_S), flag, Value(), Value(),
                               hivm::SyncBlockInstrModeAttr());
  hivm::SyncBlockWaitOp::create(b, loc, hivm::TCoreTypeAttr::get(context, waiter), stores,
                                pipe(Pipe::PIPE_S), flag, Value(), hivm::SyncBlockInstrModeAttr());
}

} // namespace

void raiseOnOneCore(hivm::CustomOp signal) {
  auto mode = signal->getParentOfType<func::FuncOp>()->getAttrOfType<StringAttr>("mix_mode");
  auto core = signal->getAttrOfType<hivm::TCoreTypeAttr>("hivm.tcore_type");
  if (!mode || mode.getValue() != "mix" || !core || core.getValue() != TCoreType::CUBE_AND_VECTOR)
    return;
  const bool forOne = isForOneVectorCore(signal);
  Stores stores;
  stores.scanBefore(signal);
  TCoreType raises = forOne ? TCoreType::VECTOR : stores.nearest.value_or(TCoreType::VECTOR);
  // Flags between the halves need both vector cores.
  if (!forOne && stores.cube && stores.vector) {
    OpBuilder b(signal);
    orderCores(b, signal.getLoc(), raises == TCoreType::CUBE ? TCoreType::VECTOR : TCoreType::CUBE,
               raises);
  }
  signal->setDiscardableAttr("hivm.tcore_type",
                             hivm::TCoreTypeAttr::get(signal.getContext(), raises));
}

} // namespace piton::bisheng
