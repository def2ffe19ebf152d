// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which core of a kernel for both kinds raises a signal or sends data. The compiler keeps a signal
// in both halves of the kernel, so that the half that stores nothing would raise it too early, and
// an ADD would count twice. Here the half that made the data raises it, after the other one where
// both stored something. Products go from the cube core to memory, everything else from the vector
// cores. What follows a condition on the number of the vector core is that core's alone: there the
// user orders the halves, with a barrier.
#include "compiler/Target/BishengForms.h"

#include "compiler/Dialect/HIVM/HIVM.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"

using namespace mlir;

namespace piton::bisheng {
namespace {

using hivm::Pipe;
using hivm::TCoreType;

/// Cross-core flags for the order of the halves before a signal, and for that of the vector cores.
/// The compiler takes its own from 0 up.
constexpr int64_t kHalvesFlag = 14;
constexpr int16_t kVectorsFlag = 15;

/// A barrier of all cores. Its symbol may be the link name already.
bool isBarrier(Operation *op) {
  auto custom = dyn_cast<hivm::CustomOp>(op);
  return custom && custom.getName().starts_with("dist.aclshmem_barrier");
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
  IntegerAttr flag = b.getI64IntegerAttr(kHalvesFlag);
  hivm::SyncBlockSetOp::create(b, loc, hivm::TCoreTypeAttr::get(context, sender), stores,
                               pipe(Pipe::PIPE_S), flag, Value(), Value(),
                               hivm::SyncBlockInstrModeAttr());
  hivm::SyncBlockWaitOp::create(b, loc, hivm::TCoreTypeAttr::get(context, waiter), stores,
                                pipe(Pipe::PIPE_S), flag, Value(), hivm::SyncBlockInstrModeAttr());
}

/// Both vector cores have stored everything.
void joinVectorCores(OpBuilder &b, Location loc) {
  MLIRContext *context = b.getContext();
  hivm::SyncBlockOp::create(
      b, loc, hivm::SyncBlockModeAttr::get(context, hivm::SyncBlockMode::ALL_SUB_VECTOR),
      b.getI16IntegerAttr(kVectorsFlag), /*ffts_base_addr=*/Value(),
      /*tcube_pipe=*/hivm::PipeAttr(),
      /*cube_pipe=*/hivm::PipeAttr(), hivm::PipeAttr::get(context, Pipe::PIPE_MTE3),
      /*vector_pipe=*/hivm::PipeAttr());
}

/// One vector core makes the call, once both have stored; data that it sends has left before the
/// other one goes on.
void sendFromFirstVectorCore(hivm::CustomOp call) {
  OpBuilder b(call);
  Location loc = call.getLoc();
  joinVectorCores(b, loc);
  Value number = hivm::GetSubBlockIdxOp::create(b, loc, b.getI64Type());
  Value zero = arith::ConstantIntOp::create(b, loc, b.getI64Type(), 0);
  Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, number, zero);
  auto branch = scf::IfOp::create(b, loc, isFirst, /*withElseRegion=*/false);
  call->moveBefore(branch.thenBlock(), branch.thenBlock()->begin());
  if (call.getName().contains("putmem")) {
    b.setInsertionPointAfter(branch);
    joinVectorCores(b, loc);
  }
}

} // namespace

void sendFromOneCore(hivm::CustomOp call) {
  auto mode = call->getParentOfType<func::FuncOp>()->getAttrOfType<StringAttr>("mix_mode");
  auto core = call->getAttrOfType<hivm::TCoreTypeAttr>("hivm.tcore_type");
  if (!mode || mode.getValue() != "mix" || !core)
    return;
  const bool forOne = isForOneVectorCore(call);
  Stores stores;
  stores.scanBefore(call);
  TCoreType sender = core.getValue();
  if (sender == TCoreType::CUBE_AND_VECTOR)
    sender = forOne ? TCoreType::VECTOR : stores.nearest.value_or(TCoreType::VECTOR);
  const bool fromCube = sender == TCoreType::CUBE;
  // Flags between the halves need both vector cores.
  if (!forOne && (fromCube ? stores.vector : stores.cube)) {
    OpBuilder b(call);
    orderCores(b, call.getLoc(), fromCube ? TCoreType::VECTOR : TCoreType::CUBE, sender);
  }
  call->setDiscardableAttr("hivm.tcore_type", hivm::TCoreTypeAttr::get(call.getContext(), sender));
  // All vector cores take part in a barrier of theirs.
  if (!forOne && !fromCube && call->getNumResults() == 0 && !call.getName().contains("barrier"))
    sendFromFirstVectorCore(call);
}

} // namespace piton::bisheng
