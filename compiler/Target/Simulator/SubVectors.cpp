// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that ask which vector core of an AI core they run on (hivm.hir.get_sub_block_idx). What
// depends on the answer happens for both, everything else once. Where no side can wait, one
// simulated core stands for both: what depends on the side is written out twice, for 0 and for 1,
// right after each other; loops and branches whose own control does not depend on it keep their
// shape. Where a side may wait the sides run at the same time (SubVectorSides.cpp).
#include "compiler/Target/Simulator/SubVectors.h"
#include "compiler/Target/Simulator/DeviceOps.h"
#include "compiler/Target/Simulator/Transfers.h"
#include "compiler/Target/Simulator/Utils.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <array>

using namespace mlir;

namespace piton::simulator {

bool isSideQuery(Operation *op) {
  return op->getName().getStringRef() == "hivm.hir.get_sub_block_idx";
}

bool isStructure(Operation *op) {
  return isa<scf::ForOp, scf::WhileOp, func::FuncOp>(op) || isBranch(op);
}

bool isBranch(Operation *op) { return isa<scf::IfOp, scf::IndexSwitchOp>(op); }

Operation *branchLike(OpBuilder &b, Operation *branch, TypeRange results, Value control) {
  OperationState state(branch->getLoc(), branch->getName(), control, results, branch->getAttrs());
  for (unsigned i = 0, e = branch->getNumRegions(); i < e; ++i)
    state.addRegion();
  return b.create(state);
}

namespace {

/// The op that holds `op` (or is it) and stands directly in a block of the structure.
Operation *pieceOf(Operation *op) {
  while (!isStructure(op->getParentOp()))
    op = op->getParentOp();
  return op;
}

bool isOnlyRead(Operation *op, Value memref) {
  if (auto copy = dyn_cast<memref::CopyOp>(op))
    return copy.getTarget() != memref;
  return isa<memref::LoadOp, memref::SubViewOp, memref::CastOp, memref::ReinterpretCastOp,
             bufferization::ToTensorOp>(op);
}

} // namespace

SideDependence::SideDependence(ArrayRef<Operation *> roots) {
  for (Operation *root : roots)
    addPiece(root);
  while (!work.empty()) {
    Value value = work.pop_back_val();
    for (OpOperand &use : llvm::make_early_inc_range(value.getUses()))
      visitUse(use);
  }
}

void SideDependence::addValue(Value value) {
  if (values.insert(value).second)
    work.push_back(value);
}

void SideDependence::addHolder(Operation *op) {
  for (; op; op = op->getParentOp())
    holders.insert(op);
}

void SideDependence::addPiece(Operation *op) {
  if (!pieces.insert(op))
    return;
  addHolder(op->getParentOp());
  for (Value result : op->getResults())
    addValue(result);
  // Local memory that a side writes is its own.
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (isa<MemRefType>(operand.getType()) && !isOnlyRead(inner, operand))
        if (auto buffer = viewSource(operand).getDefiningOp<memref::AllocOp>();
            buffer && !op->isProperAncestor(buffer))
          addPiece(buffer);
  });
}

void SideDependence::visitUse(OpOperand &use) {
  Operation *user = use.getOwner();
  Operation *parent = user->getParentOp();
  const unsigned number = use.getOperandNumber();
  if (auto condition = dyn_cast<scf::ConditionOp>(user)) {
    if (number == 0)
      return addPiece(parent);
    addHolder(parent);
    addValue(parent->getResult(number - 1));
    return addValue(cast<scf::WhileOp>(parent).getAfterArguments()[number - 1]);
  }
  if (isa<scf::YieldOp>(user) && isStructure(parent)) {
    if (auto loop = dyn_cast<scf::WhileOp>(parent)) {
      addHolder(parent);
      return addValue(loop.getBeforeArguments()[number]);
    }
    return addCarried(parent, number);
  }
  if (auto loop = dyn_cast<scf::WhileOp>(user)) {
    addHolder(user);
    return addValue(loop.getBeforeArguments()[number]);
  }
  if (auto loop = dyn_cast<scf::ForOp>(user)) {
    unsigned controls = loop.getNumControlOperands();
    if (number < controls)
      return addPiece(user);
    return addCarried(user, number - controls);
  }
  Operation *piece = pieceOf(user);
  if (!piece->hasTrait<OpTrait::IsTerminator>())
    addPiece(piece);
}

/// A result of a structure, and where it comes round again.
void SideDependence::addCarried(Operation *op, unsigned index) {
  addHolder(op);
  addValue(op->getResult(index));
  if (auto loop = dyn_cast<scf::ForOp>(op))
    addValue(loop.getRegionIterArg(index));
}

namespace {

class Doubler {
public:
  explicit Doubler(const SideDependence &dependence) : dependence(dependence) {}

  void processBlock(Block &block) {
    SmallVector<Operation *> ops;
    for (Operation &op : block.without_terminator())
      ops.push_back(&op);
    for (Operation *op : ops) {
      if (dependence.isPiece(op))
        cloneForBoth(op);
      else if (auto loop = dyn_cast<scf::ForOp>(op); loop && dependence.holdsPiece(op))
        rebuild(loop);
      else if (isBranch(op) && dependence.holdsPiece(op))
        rebuildBranch(op);
      else if (auto loop = dyn_cast<scf::WhileOp>(op); loop && dependence.holdsPiece(op))
        rebuild(loop);
    }
  }

  void eraseOriginals() {
    // They use each other, also across the bodies of loops that were taken apart.
    for (Operation *op : originals)
      op->dropAllReferences();
    for (Operation *op : llvm::reverse(originals)) {
      op->dropAllUses();
      op->erase();
    }
  }

private:
  void cloneForBoth(Operation *op) {
    OpBuilder b(op);
    for (int64_t side = 0; side < kSides; ++side) {
      if (isSideQuery(op)) {
        sides[side].map(op->getResult(0), i64Constant(b, op->getLoc(), side));
        continue;
      }
      b.clone(*op, sides[side]);
    }
    originals.push_back(op);
  }

  /// The values that stand for one: two where it depends on the side.
  void appendBoth(Value value, bool dependent, SmallVector<Value> &out) {
    if (!dependent) {
      out.push_back(value);
      return;
    }
    for (IRMapping &side : sides)
      out.push_back(side.lookupOrDefault(value));
  }

  /// Maps `old` values to what a rebuilt op or block has for them.
  void mapValues(ValueRange old, ArrayRef<bool> dependent, ValueRange rebuilt) {
    unsigned next = 0;
    for (auto [value, isDependent] : llvm::zip_equal(old, dependent)) {
      if (!isDependent) {
        Value(value).replaceAllUsesWith(rebuilt[next++]);
        continue;
      }
      for (IRMapping &side : sides)
        side.map(value, rebuilt[next++]);
    }
  }

  SmallVector<bool> dependentOf(ValueRange values) {
    return llvm::map_to_vector(values, [&](Value v) { return dependence.isDependent(v); });
  }
  SmallVector<bool> dependentResults(Operation *op) { return dependentOf(op->getResults()); }

  /// The terminator's operands from `first` on become those of the rebuilt op.
  void rebuildYield(Block &block, ArrayRef<bool> dependent, unsigned first = 0) {
    Operation *yield = block.getTerminator();
    SmallVector<Value> values(yield->operand_begin(), yield->operand_begin() + first);
    for (auto [value, isDependent] :
         llvm::zip_equal(yield->getOperands().drop_front(first), dependent))
      appendBoth(value, isDependent, values);
    yield->setOperands(values);
  }

  void rebuild(scf::ForOp loop) {
    OpBuilder b(loop);
    SmallVector<bool> dependent = dependentResults(loop);
    SmallVector<Value> inits;
    for (auto [init, isDependent] : llvm::zip_equal(loop.getInitArgs(), dependent))
      appendBoth(init, isDependent, inits);
    auto wide = scf::ForOp::create(b, loop.getLoc(), loop.getLowerBound(), loop.getUpperBound(),
                                   loop.getStep(), inits);
    wide->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
    Block &body = *wide.getBody();
    if (!body.empty())
      body.getTerminator()->erase();
    Block &old = *loop.getBody();
    loop.getInductionVar().replaceAllUsesWith(wide.getInductionVar());
    mapValues(loop.getRegionIterArgs(), dependent, wide.getRegionIterArgs());
    body.getOperations().splice(body.end(), old.getOperations());
    processBlock(body);
    rebuildYield(body, dependent);
    mapValues(loop.getResults(), dependent, wide.getResults());
    // The emptied body needs a terminator until the loop goes.
    b.setInsertionPointToEnd(&old);
    scf::YieldOp::create(b, loop.getLoc(), loop.getRegionIterArgs());
    originals.push_back(loop);
  }

  /// A block of a rebuilt loop: arguments of both sides, and what the old block held.
  Block *moveBlock(Block &old, Region &region, ArrayRef<bool> dependent) {
    SmallVector<Type> types;
    SmallVector<Location> locations;
    for (auto [argument, isDependent] : llvm::zip_equal(old.getArguments(), dependent)) {
      types.append(isDependent ? kSides : 1, argument.getType());
      locations.append(isDependent ? kSides : 1, argument.getLoc());
    }
    auto *block = new Block;
    region.push_back(block);
    block->addArguments(types, locations);
    mapValues(ValueRange(old.getArguments()), dependent, ValueRange(block->getArguments()));
    block->getOperations().splice(block->end(), old.getOperations());
    return block;
  }

  void rebuild(scf::WhileOp loop) {
    OpBuilder b(loop);
    SmallVector<bool> carried = dependentOf(ValueRange(loop.getBeforeArguments()));
    SmallVector<bool> results = dependentResults(loop);
    SmallVector<Value> inits;
    for (auto [init, isDependent] : llvm::zip_equal(loop.getInits(), carried))
      appendBoth(init, isDependent, inits);
    SmallVector<Type> types;
    for (auto [type, isDependent] : llvm::zip_equal(loop.getResultTypes(), results))
      types.append(isDependent ? kSides : 1, type);
    auto wide = scf::WhileOp::create(b, loop.getLoc(), types, inits);
    wide->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
    Block *before = moveBlock(*loop.getBeforeBody(), wide.getBefore(), carried);
    processBlock(*before);
    rebuildYield(*before, results, /*first=*/1);
    Block *after = moveBlock(*loop.getAfterBody(), wide.getAfter(), results);
    processBlock(*after);
    rebuildYield(*after, carried);
    mapValues(loop.getResults(), results, wide.getResults());
    originals.push_back(loop);
  }

  void rebuildBranch(Operation *branch) {
    OpBuilder b(branch);
    SmallVector<bool> dependent = dependentResults(branch);
    SmallVector<Type> types;
    for (auto [type, isDependent] : llvm::zip_equal(branch->getResultTypes(), dependent))
      types.append(isDependent ? kSides : 1, type);
    Operation *wide = branchLike(b, branch, types, branch->getOperand(0));
    for (auto [from, to] : llvm::zip_equal(branch->getRegions(), wide->getRegions())) {
      to.takeBody(from);
      if (to.empty())
        continue;
      processBlock(to.front());
      rebuildYield(to.front(), dependent);
    }
    mapValues(branch->getResults(), dependent, wide->getResults());
    originals.push_back(branch);
  }

  const SideDependence &dependence;
  std::array<IRMapping, kSides> sides;
  SmallVector<Operation *> originals;
};

/// Device functions that each side has to call: they wait for all sides, or for what their own
/// core has done.
bool isForEachSide(Operation *op) {
  if (op->getName().getStringRef() != "hivm.hir.custom")
    return false;
  auto symbol = op->getAttrOfType<StringAttr>("symbol");
  return symbol && (isBarrier(symbol) || symbol.getValue() == "aclshmem_quiet" ||
                    symbol.getValue() == "aclshmem_fence");
}

/// True if running the op may take until somebody else has done something.
bool mayWait(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        bool waits = false;
        if (auto loop = dyn_cast<scf::WhileOp>(inner))
          for (Operation &each : loop.getBeforeBody()->without_terminator())
            waits |= !isMemoryEffectFree(&each);
        else if (inner->getName().getStringRef() == "hivm.hir.custom")
          if (auto symbol = inner->getAttrOfType<StringAttr>("symbol"))
            waits = mayWaitForOthers(symbol);
        return waits ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

} // namespace

LogicalResult runBothSubVectors(func::FuncOp kernel) {
  SmallVector<Operation *> queries, forEachSide;
  kernel.walk([&](Operation *op) {
    if (isSideQuery(op))
      queries.push_back(op);
    else if (isForEachSide(op))
      forEachSide.push_back(op);
    if (op->getName().getStringRef() != "hivm.hir.get_sub_block_num")
      return;
    OpBuilder b(op);
    op->getResult(0).replaceAllUsesWith(i64Constant(b, op->getLoc(), kSides));
    op->erase();
  });
  if (queries.empty())
    return success();
  SideDependence dependence(queries);
  if (llvm::any_of(dependence.allPieces(), mayWait)) {
    llvm::append_range(queries, forEachSide);
    return runSidesTogether(kernel, SideDependence(queries));
  }
  Doubler doubler(dependence);
  doubler.processBlock(kernel.getBody().front());
  doubler.eraseOriginals();
  return success();
}

} // namespace piton::simulator
