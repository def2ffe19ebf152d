// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Atomics of the hand-over IR as element loops of LLVM atomics, and the loops that wait
// on them. Both must be visible as memory operations before bufferization and fusion.
#include "compiler/Target/Simulator/DeviceOps.h"
#include "compiler/Target/Simulator/Utils.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace piton;

namespace piton::simulator {

namespace {

std::optional<LLVM::AtomicBinOp> binaryKind(StringRef kind, Type type) {
  using Op = LLVM::AtomicBinOp;
  const bool isFloat = isa<FloatType>(type);
  if (kind == "exch" || kind == "xchg")
    return Op::xchg;
  if (isFloat)
    return llvm::StringSwitch<std::optional<Op>>(kind)
        .Cases({"add", "fadd"}, Op::fadd)
        .Cases({"max", "fmax"}, Op::fmax)
        .Cases({"min", "fmin"}, Op::fmin)
        .Default(std::nullopt);
  return llvm::StringSwitch<std::optional<Op>>(kind)
      .Case("add", Op::add)
      .Case("max", Op::max)
      .Case("min", Op::min)
      .Case("umax", Op::umax)
      .Case("umin", Op::umin)
      .Case("and", Op::_and)
      .Case("or", Op::_or)
      .Case("xor", Op::_xor)
      .Default(std::nullopt);
}

LLVM::AtomicOrdering orderingOf(StringRef name) {
  return llvm::StringSwitch<LLVM::AtomicOrdering>(name)
      .Case("relaxed", LLVM::AtomicOrdering::monotonic)
      .Case("acquire", LLVM::AtomicOrdering::acquire)
      .Case("release", LLVM::AtomicOrdering::release)
      .Default(LLVM::AtomicOrdering::acq_rel);
}

/// Atomics work on a power-of-two number of bytes; floats other than f16, bf16, f32 and f64
/// and every compared value travel as integers, so that comparison is of bits.
Value toInteger(OpBuilder &b, Location loc, Value value) {
  Type type = value.getType();
  if (isa<IntegerType>(type))
    return value;
  return arith::BitcastOp::create(b, loc, b.getIntegerType(type.getIntOrFloatBitWidth()), value);
}

Value fromInteger(OpBuilder &b, Location loc, Value value, Type type) {
  if (value.getType() == type)
    return value;
  return arith::BitcastOp::create(b, loc, type, value);
}

Value loadElement(OpBuilder &b, Location loc, Value source, ValueRange indices) {
  if (!isa<MemRefType>(source.getType()))
    return source;
  return memref::LoadOp::create(b, loc, source, indices);
}

} // namespace

LogicalResult emitAtomic(Operation *op, StringRef kind, StringRef ordering, Value memory,
                         Value compare, Value value, Value mask, Value old) {
  auto type = dyn_cast<MemRefType>(memory.getType());
  if (!type)
    return op->emitError("an atomic needs a memref in memory as its target");
  Type element = type.getElementType();
  const bool isCas = kind == "cas";
  std::optional<LLVM::AtomicBinOp> binary = binaryKind(kind, element);
  if (!isCas && !binary)
    return op->emitError("atomic kind '") << kind << "' is not defined for " << element;
  if (element.isInteger(1))
    return op->emitError("atomics on i1 are not defined; use i8");
  OpBuilder b(op);
  Location loc = op->getLoc();
  value = asReadOnlyBuffer(b, loc, value);
  if (compare)
    compare = asReadOnlyBuffer(b, loc, compare);
  if (mask)
    mask = asReadOnlyBuffer(b, loc, mask);
  LLVM::AtomicOrdering order = orderingOf(ordering);
  emitLoopNest(b, loc, memrefSizes(b, loc, memory), [&](OpBuilder &b, ValueRange indices) {
    OpBuilder::InsertionGuard guard(b);
    if (mask) {
      Value active = loadElement(b, loc, mask, indices);
      if (!active.getType().isInteger(1))
        active = arith::CmpIOp::create(
            b, loc, arith::CmpIPredicate::ne, active,
            arith::ConstantOp::create(b, loc, b.getZeroAttr(active.getType())));
      auto branch = scf::IfOp::create(b, loc, active, /*withElse=*/false);
      b.setInsertionPointToStart(branch.thenBlock());
    }
    Value pointer = elementPointer(b, loc, memory, indices);
    Value operand = loadElement(b, loc, value, indices);
    Value previous;
    if (isCas) {
      Value expected = toInteger(b, loc, loadElement(b, loc, compare, indices));
      auto exchange = LLVM::AtomicCmpXchgOp::create(
          b, loc, pointer, expected, toInteger(b, loc, operand), order,
          order == LLVM::AtomicOrdering::acq_rel || order == LLVM::AtomicOrdering::acquire
              ? LLVM::AtomicOrdering::acquire
              : LLVM::AtomicOrdering::monotonic);
      Value result = LLVM::ExtractValueOp::create(b, loc, exchange.getRes(), 0);
      previous = fromInteger(b, loc, result, element);
    } else {
      const bool asInteger = *binary == LLVM::AtomicBinOp::xchg;
      Value argument = asInteger ? toInteger(b, loc, operand) : operand;
      Value result = LLVM::AtomicRMWOp::create(b, loc, *binary, pointer, argument, order);
      previous = asInteger ? fromInteger(b, loc, result, element) : result;
    }
    if (old)
      memref::StoreOp::create(b, loc, previous, old, indices);
  });
  return success();
}

LogicalResult lowerAtomicGeneric(linalg::GenericOp op) {
  auto kindAttr = op->getAttrOfType<StringAttr>("GenericAtomicRMW");
  StringRef kind = kindAttr.getValue();
  StringRef ordering;
  if (auto semantic = op->getAttrOfType<StringAttr>("MemSemantic"))
    ordering = semantic.getValue();
  for (AffineMap map : op.getIndexingMapsArray())
    if (!map.isIdentity())
      return op.emitError("an atomic needs identity indexing maps");
  const bool isCas = kind == "cas";
  if (op.getNumDpsInputs() != (isCas ? 3 : 2))
    return op.emitError("atomic '")
           << kind << "' takes " << (isCas ? 3 : 2) << " inputs, got " << op.getNumDpsInputs();
  if (op.getNumDpsInits() > 2 || op->getNumResults() != 0)
    return op.emitError("an atomic works on memrefs and has one or two outs");
  Value memory = op.getDpsInputs()[0];
  Value old = op.getNumDpsInits() == 2 ? op.getDpsInits()[1] : Value();
  if (failed(emitAtomic(op, kind, ordering, memory, isCas ? op.getDpsInputs()[1] : Value(),
                        op.getDpsInputs()[isCas ? 2 : 1], Value(), old)))
    return failure();
  op.erase();
  return success();
}

namespace {

/// Memory that other blocks can write: what is not traced to a local allocation.
bool isLocal(Value memref) {
  while (Operation *def = memref.getDefiningOp()) {
    if (isa<memref::AllocOp, memref::AllocaOp, memref::GetGlobalOp>(def))
      return true;
    if (auto view = dyn_cast<ViewLikeOpInterface>(def)) {
      memref = view.getViewSource();
      continue;
    }
    return false;
  }
  return false;
}

bool opReadsShared(Operation *op) {
  if (isa<LLVM::AtomicRMWOp, LLVM::AtomicCmpXchgOp>(op))
    return true;
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return !isLocal(load.getMemRef());
  if (auto copy = dyn_cast<memref::CopyOp>(op))
    return !isLocal(copy.getSource());
  return false;
}

/// Whether the loop goes on depending on memory that another block may write: a walk back
/// from the condition, through the loop's own arguments and through local buffers.
bool conditionReadsShared(scf::WhileOp loop) {
  SmallVector<Value> work{loop.getConditionOp().getCondition()};
  llvm::DenseSet<Value> seen;
  llvm::DenseSet<Operation *> seenOps;
  bool shared = false;
  auto push = [&](Value value) {
    if (seen.insert(value).second)
      work.push_back(value);
  };
  auto visit = [&](Operation *op) {
    if (!loop->isProperAncestor(op) || !seenOps.insert(op).second)
      return;
    op->walk([&](Operation *inner) {
      shared |= opReadsShared(inner);
      llvm::for_each(inner->getOperands(), push);
    });
    // An element of a nest (an atomic's loop) is reached from its result's buffer.
    for (Operation *parent = op->getParentOp(); parent != loop.getOperation();
         parent = parent->getParentOp())
      if (seenOps.insert(parent).second)
        parent->walk([&](Operation *inner) {
          shared |= opReadsShared(inner);
          llvm::for_each(inner->getOperands(), push);
        });
  };
  while (!work.empty() && !shared) {
    Value value = work.pop_back_val();
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (argument.getOwner() == loop.getBeforeBody())
        push(loop.getYieldOp().getOperand(argument.getArgNumber()));
      else if (argument.getOwner() == loop.getAfterBody())
        push(loop.getConditionOp().getArgs()[argument.getArgNumber()]);
      else if (Operation *parent = argument.getOwner()->getParentOp())
        visit(parent);
    } else {
      visit(value.getDefiningOp());
    }
    if (isa<MemRefType>(value.getType()) && isLocal(value))
      for (Operation *user : value.getUsers())
        visit(user);
  }
  return shared;
}

/// The load as one that is done each time, and that later accesses do not overtake.
void makeVolatile(memref::LoadOp load) {
  OpBuilder b(load);
  Location loc = load.getLoc();
  Value pointer = elementPointer(b, loc, load.getMemRef(), load.getIndices());
  Type type = load.getType();
  Type carrier = b.getIntegerType(elementByteWidth(type) * 8);
  unsigned bytes = elementByteWidth(type);
  Value bits = LLVM::LoadOp::create(b, loc, carrier, pointer, /*alignment=*/bytes,
                                    /*isVolatile=*/true, /*isNonTemporal=*/false,
                                    /*isInvariant=*/false, /*isInvariantGroup=*/false,
                                    LLVM::AtomicOrdering::acquire);
  Value result = bits;
  if (type.isInteger(1))
    result = arith::TruncIOp::create(b, loc, type, bits);
  else if (type != carrier)
    result = isa<IndexType>(type) ? arith::IndexCastOp::create(b, loc, type, bits).getResult()
                                  : arith::BitcastOp::create(b, loc, type, bits).getResult();
  load.replaceAllUsesWith(result);
  load.erase();
}

void makeLoadsVolatile(Region &region) {
  SmallVector<memref::LoadOp> loads;
  region.walk([&](memref::LoadOp load) {
    if (!isLocal(load.getMemRef()))
      loads.push_back(load);
  });
  llvm::for_each(loads, makeVolatile);
}

/// A waiting loop whose load goes through a local copy: the copy must be read afresh.
void makeCopiesFresh(Region &region) {
  region.walk([&](memref::CopyOp copy) {
    if (isLocal(copy.getSource()))
      return;
    OpBuilder b(copy);
    LLVM::FenceOp::create(b, copy.getLoc(), LLVM::AtomicOrdering::acquire, StringRef());
  });
}

} // namespace

void lowerVolatile(func::FuncOp kernel) {
  SmallVector<memref::LoadOp> loads;
  SmallVector<memref::CopyOp> copies;
  kernel.walk([&](Operation *op) {
    if (!op->hasAttr("volatile"))
      return;
    if (auto load = dyn_cast<memref::LoadOp>(op))
      loads.push_back(load);
    else if (auto copy = dyn_cast<memref::CopyOp>(op))
      copies.push_back(copy);
  });
  for (memref::CopyOp copy : copies) {
    OpBuilder b(copy);
    Location loc = copy.getLoc();
    emitLoopNest(b, loc, memrefSizes(b, loc, copy.getSource()),
                 [&](OpBuilder &b, ValueRange indices) {
                   auto load = memref::LoadOp::create(b, loc, copy.getSource(), indices);
                   memref::StoreOp::create(b, loc, load.getResult(), copy.getTarget(), indices);
                   loads.push_back(load);
                 });
    copy.erase();
  }
  llvm::for_each(loads, makeVolatile);
}

void markWaitingLoops(func::FuncOp kernel) {
  Value context = blockContext(kernel.getBody().front().getTerminator());
  bool canBlock = kernel->hasAttr(kCanBlockAttr);
  kernel.walk([&](scf::WhileOp loop) {
    if (!conditionReadsShared(loop))
      return;
    canBlock = true;
    for (Region *region : {&loop.getBefore(), &loop.getAfter()}) {
      makeLoadsVolatile(*region);
      makeCopiesFresh(*region);
    }
    OpBuilder b(loop.getAfter().front().getTerminator());
    callService(b, loop.getLoc(), context, offsetof(BlockServices, yield), {});
  });
  if (canBlock)
    kernel->setAttr(kCanBlockAttr, UnitAttr::get(kernel.getContext()));
}

} // namespace piton::simulator
