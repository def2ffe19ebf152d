// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that ask which vector core of an AI core they run on (hivm.hir.get_sub_block_idx). One
// simulated core stands for both: what depends on the answer is written out twice, for 0 and for 1,
// right after each other, and everything else stays once. Loops and branches whose own control does
// not depend on it keep their shape, so that a barrier inside them is met once.
//
// The two sides do not run at the same time: one that waits for the other inside its own code would
// wait for ever.
#include "compiler/Target/Simulator/DeviceOps.h"
#include "compiler/Target/Simulator/Transfers.h"
#include "compiler/Target/Simulator/Utils.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SmallPtrSet.h"

#include <array>

using namespace mlir;

namespace piton::simulator {

namespace {

constexpr int64_t kSides = 2;

/// Loops and branches that can be taken apart; any other op with regions is one piece.
bool isStructure(Operation *op) { return isa<scf::ForOp, scf::IfOp, func::FuncOp>(op); }

/// The op that holds `op` (or is it) and stands directly in a block of the structure.
Operation *pieceOf(Operation *op) {
  while (!isStructure(op->getParentOp()))
    op = op->getParentOp();
  return op;
}

/// What depends on the side.
class Dependence {
public:
  explicit Dependence(ArrayRef<Operation *> queries) {
    for (Operation *query : queries)
      addPiece(query);
    while (!work.empty()) {
      Value value = work.pop_back_val();
      for (OpOperand &use : llvm::make_early_inc_range(value.getUses()))
        visitUse(use);
    }
  }

  bool isDependent(Value value) const { return values.contains(value); }
  /// A piece that each side has its own copy of.
  bool isDoubled(Operation *op) const { return pieces.contains(op); }
  /// A structure with something inside that is doubled.
  bool holdsDoubled(Operation *op) const { return holders.contains(op); }

private:
  void addValue(Value value) {
    if (values.insert(value).second)
      work.push_back(value);
  }

  void addPiece(Operation *op) {
    if (!pieces.insert(op).second)
      return;
    for (Operation *parent = op->getParentOp(); parent; parent = parent->getParentOp())
      holders.insert(parent);
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

  static bool isOnlyRead(Operation *op, Value memref) {
    if (auto copy = dyn_cast<memref::CopyOp>(op))
      return copy.getTarget() != memref;
    return isa<memref::LoadOp, memref::SubViewOp, memref::CastOp, memref::ReinterpretCastOp,
               bufferization::ToTensorOp>(op);
  }

  void visitUse(OpOperand &use) {
    Operation *user = use.getOwner();
    Operation *parent = user->getParentOp();
    if (auto yield = dyn_cast<scf::YieldOp>(user); yield && isStructure(parent)) {
      holders.insert(parent);
      addCarried(parent, use.getOperandNumber());
      return;
    }
    if (auto loop = dyn_cast<scf::ForOp>(user)) {
      unsigned controls = loop.getNumControlOperands();
      if (use.getOperandNumber() < controls)
        addPiece(user);
      else
        addCarried(user, use.getOperandNumber() - controls);
      return;
    }
    Operation *piece = pieceOf(user);
    if (!piece->hasTrait<OpTrait::IsTerminator>())
      addPiece(piece);
  }

  /// A result of a structure, and where it comes round again.
  void addCarried(Operation *op, unsigned index) {
    holders.insert(op);
    for (Operation *parent = op->getParentOp(); parent; parent = parent->getParentOp())
      holders.insert(parent);
    addValue(op->getResult(index));
    if (auto loop = dyn_cast<scf::ForOp>(op))
      addValue(loop.getRegionIterArg(index));
  }

  llvm::DenseSet<Value> values;
  llvm::SmallPtrSet<Operation *, 32> pieces, holders;
  SmallVector<Value> work;
};

class Doubler {
public:
  Doubler(const Dependence &dependence) : dependence(dependence) {}

  void processBlock(Block &block) {
    SmallVector<Operation *> ops;
    for (Operation &op : block.without_terminator())
      ops.push_back(&op);
    for (Operation *op : ops) {
      if (dependence.isDoubled(op))
        cloneForBoth(op);
      else if (auto loop = dyn_cast<scf::ForOp>(op); loop && dependence.holdsDoubled(op))
        rebuild(loop);
      else if (auto branch = dyn_cast<scf::IfOp>(op); branch && dependence.holdsDoubled(op))
        rebuild(branch);
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
      if (op->getName().getStringRef() == "hivm.hir.get_sub_block_idx") {
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

  SmallVector<bool> dependentResults(Operation *op) {
    return llvm::map_to_vector(op->getResults(),
                               [&](Value v) { return dependence.isDependent(v); });
  }

  void rebuildYield(Block &block, ArrayRef<bool> dependent) {
    Operation *yield = block.getTerminator();
    SmallVector<Value> values;
    for (auto [value, isDependent] : llvm::zip_equal(yield->getOperands(), dependent))
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

  void rebuild(scf::IfOp branch) {
    OpBuilder b(branch);
    SmallVector<bool> dependent = dependentResults(branch);
    SmallVector<Type> types;
    for (auto [type, isDependent] : llvm::zip_equal(branch.getResultTypes(), dependent))
      types.append(isDependent ? kSides : 1, type);
    auto wide = scf::IfOp::create(b, branch.getLoc(), types, branch.getCondition(),
                                  /*addThenBlock=*/false, /*addElseBlock=*/false);
    wide->setDiscardableAttrs(branch->getDiscardableAttrDictionary());
    wide.getThenRegion().takeBody(branch.getThenRegion());
    wide.getElseRegion().takeBody(branch.getElseRegion());
    for (Region *region : {&wide.getThenRegion(), &wide.getElseRegion()}) {
      if (region->empty())
        continue;
      processBlock(region->front());
      rebuildYield(region->front(), dependent);
    }
    mapValues(branch.getResults(), dependent, wide.getResults());
    originals.push_back(branch);
  }

  const Dependence &dependence;
  std::array<IRMapping, kSides> sides;
  SmallVector<Operation *> originals;
};

} // namespace

void runBothSubVectors(func::FuncOp kernel) {
  SmallVector<Operation *> queries;
  kernel.walk([&](Operation *op) {
    StringRef name = op->getName().getStringRef();
    if (name == "hivm.hir.get_sub_block_idx")
      queries.push_back(op);
    if (name != "hivm.hir.get_sub_block_num")
      return;
    OpBuilder b(op);
    op->getResult(0).replaceAllUsesWith(i64Constant(b, op->getLoc(), kSides));
    op->erase();
  });
  if (queries.empty())
    return;
  Dependence dependence(queries);
  Doubler doubler(dependence);
  doubler.processBlock(kernel.getBody().front());
  doubler.eraseOriginals();
}

} // namespace piton::simulator
