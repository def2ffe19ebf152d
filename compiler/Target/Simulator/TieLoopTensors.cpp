// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// sim-tie-loop-tensors: one buffer per loop-carried tensor. Bufferization refuses a loop
// whose yielded tensor lies elsewhere than its argument; this pass computes or copies it
// there first.
#include "compiler/Transforms/Passes.h"

#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

namespace piton {
#define GEN_PASS_DEF_SIMTIELOOPTENSORS
#include "compiler/Transforms/Passes.h.inc"
} // namespace piton

using namespace mlir;

namespace {

bool isTensor(Value value) { return isa<RankedTensorType>(value.getType()); }

/// The value whose buffer an op chain writes into, as far as it is visible.
Value destinationRoot(Value value) {
  while (Operation *def = value.getDefiningOp()) {
    if (auto dps = dyn_cast<DestinationStyleOpInterface>(def))
      value = dps.getTiedOpOperand(cast<OpResult>(value))->get();
    else if (auto insert = dyn_cast<tensor::InsertSliceOp>(def))
      value = insert.getDest();
    else if (auto insert = dyn_cast<tensor::InsertOp>(def))
      value = insert.getDest();
    else if (auto conversion = dyn_cast<tensor::CastOp>(def))
      value = conversion.getSource();
    else if (auto loop = dyn_cast<scf::ForOp>(def))
      value = loop.getInitArgs()[cast<OpResult>(value).getResultNumber()];
    else
      break;
  }
  return value;
}

/// Views of one buffer: what a copy out of it must not overtake.
Value viewRoot(Value value) {
  while (Operation *def = value.getDefiningOp()) {
    if (isa<tensor::CastOp, tensor::ExtractSliceOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp,
            tensor::ReshapeOp>(def))
      value = def->getOperand(0);
    else
      break;
  }
  return value;
}

/// Reads of `argument` in `block` after `op`, nested regions included.
bool isReadAfter(Value argument, Operation *op) {
  for (Operation *user : argument.getUsers()) {
    Operation *ancestor = op->getBlock()->findAncestorOpInBlock(*user);
    if (!ancestor || (ancestor != op && op->isBeforeInBlock(ancestor)))
      return true;
  }
  // Views of the argument may be read later than the argument itself.
  for (Operation *user : argument.getUsers())
    if (isa<tensor::ExtractSliceOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp,
            tensor::ReshapeOp, tensor::CastOp, scf::ForOp, scf::IfOp, scf::WhileOp>(user) ||
        (user != op && isa<DestinationStyleOpInterface>(user) &&
         llvm::is_contained(cast<DestinationStyleOpInterface>(user).getDpsInits(), argument)))
      return true;
  return false;
}

/// Makes `argument` the destination of the elementwise op that computes `value`, or what a dot
/// adds to in order to compute it.
bool retargetProducer(Value value, Value argument) {
  while (auto dot = value.getDefiningOp<linalg::LinalgOp>()) {
    if (!isa<linalg::MatmulOp, linalg::BatchMatmulOp>(dot.getOperation()))
      break;
    Value start = dot.getDpsInits().front();
    if (!start.hasOneUse() || start.getType() != argument.getType())
      return false;
    value = start;
  }
  auto generic = value.getDefiningOp<linalg::GenericOp>();
  if (!generic || generic->getBlock() != cast<BlockArgument>(argument).getOwner() ||
      isReadAfter(argument, generic))
    return false;
  unsigned number = cast<OpResult>(value).getResultNumber();
  OpOperand *init = generic.getDpsInitOperand(number);
  if (!init->get().getDefiningOp<tensor::EmptyOp>() || generic.payloadUsesValueFromOperand(init) ||
      init->get().getType() != argument.getType())
    return false;
  AffineMap outMap = generic.getMatchingIndexingMap(init);
  for (OpOperand *input : generic.getDpsInputOperands()) {
    if (viewRoot(input->get()) != argument)
      continue;
    // Read and written element by element in the same order.
    if (input->get() != argument || generic.getNumReductionLoops() != 0 ||
        generic.getMatchingIndexingMap(input) != outMap || !outMap.isPermutation())
      return false;
  }
  if (generic.getNumReductionLoops() != 0)
    return false;
  init->set(argument);
  return true;
}

Value copyInto(OpBuilder &b, Location loc, Value value, Value destination) {
  return linalg::CopyOp::create(b, loc, value, destination).getResult(0);
}

Value freshCopy(OpBuilder &b, Location loc, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  Value empty = tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType());
  return copyInto(b, loc, value, empty);
}

struct SimTieLoopTensorsPass : piton::impl::SimTieLoopTensorsBase<SimTieLoopTensorsPass> {
  /// Ties operands of a terminator to block arguments of the same numbers. `forceCopy` also
  /// copies what only looks as if it were computed in place.
  void tie(Operation *terminator, OperandRange operands, ArrayRef<BlockArgument> arguments,
           const llvm::DenseSet<Value> *notEquivalent = nullptr) {
    if (arguments.empty())
      return;
    OpBuilder b(terminator);
    Location loc = terminator->getLoc();
    llvm::DenseSet<Value> all(arguments.begin(), arguments.end());
    unsigned base = operands.getBeginOperandIndex();
    SmallVector<std::tuple<unsigned, Value, Value>> copies;
    llvm::DenseSet<Value> retargeted;
    for (auto [i, argument] : llvm::enumerate(arguments)) {
      Value value = terminator->getOperand(base + i);
      if (!isTensor(value) || value == argument)
        continue;
      if (!notEquivalent) {
        if (destinationRoot(value) == argument)
          continue;
        if (retargeted.insert(value).second && retargetProducer(value, argument))
          continue;
      } else if (!notEquivalent->contains(argument)) {
        continue;
      }
      copies.push_back({base + i, value, argument});
    }
    // Arguments that trade places: read all of them before the first is overwritten.
    for (auto &[index, value, argument] : copies) {
      Value root = viewRoot(value);
      Value written = destinationRoot(value);
      if ((all.contains(root) && root != argument) ||
          (all.contains(written) && written != argument))
        value = freshCopy(b, loc, value);
    }
    for (auto [index, value, argument] : copies)
      terminator->setOperand(index, copyInto(b, loc, value, argument));
  }

  static SmallVector<BlockArgument> blockArguments(ArrayRef<BlockArgument> arguments) {
    return SmallVector<BlockArgument>(arguments);
  }

  void tieFor(scf::ForOp loop, const llvm::DenseSet<Value> *notEquivalent) {
    Operation *yield = loop.getBody()->getTerminator();
    tie(yield, yield->getOperands(), blockArguments(loop.getRegionIterArgs()), notEquivalent);
  }

  void tieWhile(scf::WhileOp loop, const llvm::DenseSet<Value> *notEquivalent) {
    scf::ConditionOp condition = loop.getConditionOp();
    tie(condition, condition.getArgs(), blockArguments(loop.getBeforeArguments()), notEquivalent);
    Operation *yield = loop.getYieldOp();
    tie(yield, yield->getOperands(), blockArguments(loop.getAfterArguments()), notEquivalent);
  }

  /// Equal argument lists for both regions: the before arguments, then one more per forwarded
  /// value that is not one of them.
  scf::WhileOp normaliseWhile(scf::WhileOp loop) {
    scf::ConditionOp condition = loop.getConditionOp();
    unsigned before = loop.getBeforeArguments().size();
    SmallVector<Value> inits(loop.getInits());
    SmallVector<unsigned> place; // of each old result in the new list
    OpBuilder b(loop);
    Location loc = loop.getLoc();
    for (Value value : condition.getArgs()) {
      auto argument = dyn_cast<BlockArgument>(value);
      if (argument && argument.getOwner() == loop.getBeforeBody()) {
        place.push_back(argument.getArgNumber());
        continue;
      }
      place.push_back(inits.size());
      if (auto type = dyn_cast<RankedTensorType>(value.getType()))
        inits.push_back(tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType()));
      else
        inits.push_back(arith::ConstantOp::create(b, loc, b.getZeroAttr(value.getType())));
    }
    SmallVector<Type> types;
    SmallVector<Location> locations(inits.size(), loc);
    for (Value value : inits)
      types.push_back(value.getType());
    auto result = scf::WhileOp::create(b, loc, types, inits);
    result->setAttrs(loop->getAttrs());
    Block *newBefore = b.createBlock(&result.getBefore(), {}, types, locations);
    Block *newAfter = b.createBlock(&result.getAfter(), {}, types, locations);
    // Before: the old body; condition forwards the arguments, then the extra values.
    for (unsigned i = 0; i < before; ++i)
      loop.getBeforeArguments()[i].replaceAllUsesWith(newBefore->getArgument(i));
    newBefore->getOperations().splice(newBefore->end(), loop.getBeforeBody()->getOperations());
    SmallVector<Value> forwarded(newBefore->getArguments().take_front(before));
    for (auto [i, value] : llvm::enumerate(condition.getArgs()))
      if (place[i] >= before)
        forwarded.push_back(value);
    b.setInsertionPoint(condition);
    scf::ConditionOp::create(b, condition.getLoc(), condition.getCondition(), forwarded);
    condition.erase();
    // After: its arguments are taken from the new list; the extra ones go round unchanged.
    for (auto [i, argument] : llvm::enumerate(loop.getAfterArguments()))
      argument.replaceAllUsesWith(newAfter->getArgument(place[i]));
    newAfter->getOperations().splice(newAfter->end(), loop.getAfterBody()->getOperations());
    auto yield = cast<scf::YieldOp>(newAfter->getTerminator());
    SmallVector<Value> yielded(yield.getOperands());
    llvm::append_range(yielded, newAfter->getArguments().drop_front(before));
    b.setInsertionPoint(yield);
    scf::YieldOp::create(b, yield.getLoc(), yielded);
    yield.erase();
    for (auto [i, old] : llvm::enumerate(loop.getResults()))
      old.replaceAllUsesWith(result.getResult(place[i]));
    loop.erase();
    return result;
  }

  /// One fill per destination: a shared one would be stored once and then copied.
  void unshareFills(func::FuncOp function) {
    SmallVector<linalg::FillOp> fills;
    function.walk([&](linalg::FillOp fill) {
      if (fill->getNumResults() == 1 && !fill->hasOneUse())
        fills.push_back(fill);
    });
    for (linalg::FillOp fill : fills) {
      for (OpOperand &use : llvm::make_early_inc_range(fill->getUses())) {
        auto user = dyn_cast<linalg::LinalgOp>(use.getOwner());
        if (!(user && user.isDpsInit(&use)) && !isa<scf::ForOp, scf::WhileOp>(use.getOwner()))
          continue;
        OpBuilder b(use.getOwner());
        auto type = cast<RankedTensorType>(fill->getResult(0).getType());
        if (!type.hasStaticShape())
          continue;
        Value empty =
            tensor::EmptyOp::create(b, fill.getLoc(), type.getShape(), type.getElementType());
        use.set(linalg::FillOp::create(b, fill.getLoc(), fill.getInputs(), ValueRange(empty))
                    .getResult(0));
      }
      if (fill->use_empty())
        fill.erase();
    }
  }

  /// Arguments whose yielded value the analysis puts elsewhere in spite of its shape.
  llvm::DenseSet<Value> findNotEquivalent(func::FuncOp function) {
    bufferization::OneShotBufferizationOptions options;
    options.allowReturnAllocsFromLoops = true;
    options.allowUnknownOps = true;
    bufferization::OneShotAnalysisState state(function, options);
    llvm::DenseSet<Value> result;
    if (failed(bufferization::analyzeOp(function, state)))
      return result;
    auto check = [&](OperandRange operands, ArrayRef<BlockArgument> arguments) {
      for (auto [value, argument] : llvm::zip(operands, arguments))
        if (isTensor(value) && !state.areEquivalentBufferizedValues(value, argument))
          result.insert(argument);
    };
    function.walk([&](Operation *op) {
      if (auto loop = dyn_cast<scf::ForOp>(op)) {
        check(loop.getBody()->getTerminator()->getOperands(),
              blockArguments(loop.getRegionIterArgs()));
      } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
        check(loop.getConditionOp().getArgs(), blockArguments(loop.getBeforeArguments()));
        check(loop.getYieldOp()->getOperands(), blockArguments(loop.getAfterArguments()));
      }
    });
    return result;
  }

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    SmallVector<Operation *> loops;
    function.walk([&](Operation *op) {
      if (isa<scf::ForOp, scf::WhileOp>(op))
        loops.push_back(op);
    });
    bool anyTied = false;
    for (Operation *&op : loops) {
      if (auto loop = dyn_cast<scf::WhileOp>(op);
          loop &&
          (llvm::any_of(loop.getInits(), isTensor) || llvm::any_of(loop.getResults(), isTensor)))
        op = normaliseWhile(loop);
      anyTied |= llvm::any_of(op->getResults(), isTensor);
    }
    unshareFills(function);
    if (!anyTied)
      return;
    for (Operation *op : loops) {
      if (auto loop = dyn_cast<scf::ForOp>(op))
        tieFor(loop, nullptr);
      else
        tieWhile(cast<scf::WhileOp>(op), nullptr);
    }
    llvm::DenseSet<Value> rest = findNotEquivalent(function);
    if (rest.empty())
      return;
    for (Operation *op : loops) {
      if (auto loop = dyn_cast<scf::ForOp>(op))
        tieFor(loop, &rest);
      else
        tieWhile(cast<scf::WhileOp>(op), &rest);
    }
  }
};

} // namespace
