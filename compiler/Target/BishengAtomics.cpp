// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Atomic updates: linalg.generic on buffers, marked GenericAtomicRMW, as the middle end
// makes them. Three forms come out:
//
//   * an atomic store (hivm.hir.store) where the hardware has the kind and nobody wants
//     the old value;
//   * a plain store for an exchange whose old value nobody wants;
//   * else load, compute, store under the block lock of the kernel.
//
// The lock of the Ascend compiler is a ticket: each block passes it once, in the order of
// the blocks. Two locks do not exclude each other and one cannot be taken twice, so one
// lock is held from before the first update that needs it until after the last one, and
// over every other update of the same argument, such as the exchange that releases a mutex.
// A compare-and-swap of one element writes only when it succeeds.
#include "compiler/Target/BishengForms.h"

#include "compiler/Dialect/HIVM/HIVM.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace piton::bisheng {
namespace {

/// Where the elements of one operand buffer come from.
struct Source {
  Value whole;            ///< tensor (static) or scalar that was put into the buffer
  memref::SubViewOp view; ///< the part that takes part in the update, null = all
  memref::AllocOp buffer;
  Operation *write = nullptr; ///< what put it there
};

Value withoutCasts(Value value) {
  while (auto cast = value.getDefiningOp<memref::CastOp>())
    value = cast.getSource();
  return value;
}

/// The local buffer behind `value`, and the part of it that `value` is.
Source bufferOf(Value value) {
  Source source;
  value = withoutCasts(value);
  source.view = value.getDefiningOp<memref::SubViewOp>();
  if (source.view)
    value = withoutCasts(source.view.getSource());
  source.buffer = value.getDefiningOp<memref::AllocOp>();
  return source;
}

/// bufferOf, with what was put into the buffer.
Source sourceOf(Value value) {
  Source source = bufferOf(value);
  if (!source.buffer)
    return source;
  for (Operation *user : source.buffer->getUsers()) {
    if (auto put = dyn_cast<bufferization::MaterializeInDestinationOp>(user))
      std::tie(source.whole, source.write) = std::pair(put.getSource(), user);
    else if (auto put = dyn_cast<memref::StoreOp>(user))
      std::tie(source.whole, source.write) = std::pair(put.getValueToStore(), user);
  }
  return source;
}

/// One atomic generic with its parts.
struct Update {
  linalg::GenericOp op;
  StringRef kind;
  Value target;
  SmallVector<Source> operands;
  Value old; ///< buffer for the old value, or null

  Type element() { return cast<MemRefType>(target.getType()).getElementType(); }
  bool isRelease() {
    auto semantic = op->getAttrOfType<StringAttr>("MemSemantic");
    return !semantic || semantic == "release" || semantic == "acq_rel";
  }
  bool isAcquire() {
    auto semantic = op->getAttrOfType<StringAttr>("MemSemantic");
    return !semantic || semantic == "acquire" || semantic == "acq_rel";
  }
};

using AtomicKind = mlir::hivm::AtomicKind;

/// The atomic store for this kind and type, if the hardware has one.
std::optional<AtomicKind> hardwareKind(StringRef kind, Type element) {
  unsigned width = element.getIntOrFloatBitWidth();
  bool isNumber = element.isF16() || element.isBF16() || element.isF32() ||
                  (element.isInteger() && width >= 8 && width <= 32);
  if (!isNumber)
    return std::nullopt;
  if (kind == "add" || kind == "fadd")
    return AtomicKind::ADD;
  if (kind == "max" || kind == "fmax")
    return AtomicKind::MAX;
  if (kind == "min" || kind == "fmin")
    return AtomicKind::MIN;
  return std::nullopt;
}

struct AtomicLowering {
  Context &context;
  OpBuilder b;
  /// Updates that must lie inside of the lock, and what they update.
  SmallVector<Operation *> locked;
  llvm::SmallPtrSet<Value, 4> lockedBases;
  /// Stores that are atomic by themselves, and what they update.
  SmallVector<std::pair<Operation *, Value>> stores;

  LogicalResult read(linalg::GenericOp op, Update &update);
  LogicalResult lower(Update &update);
  LogicalResult lowerUnderLock(Update &update, SmallVector<Value> wholes);
  Value wholeTensor(Source &source, Location loc);
  Value part(Value whole, memref::SubViewOp view, Location loc);
  LogicalResult placeLock(func::FuncOp function);
};

LogicalResult AtomicLowering::read(linalg::GenericOp op, Update &update) {
  update.op = op;
  update.kind = op->getAttrOfType<StringAttr>("GenericAtomicRMW").getValue();
  auto inputs = op.getInputs();
  bool isCas = update.kind == "cas";
  if (!op.hasPureBufferSemantics() || inputs.size() != (isCas ? 3u : 2u))
    return refuse(op, context.family, "an atomic update of this shape", "report this module");
  update.target = inputs.front();
  for (Value operand : inputs.drop_front()) {
    Source source = sourceOf(operand);
    if (!source.buffer)
      return refuse(op, context.family, "the operand of an atomic must be a value of the kernel",
                    "load it before");
    update.operands.push_back(source);
  }
  if (op.getOutputs().size() > 1)
    update.old = op.getOutputs()[1];
  return success();
}

/// What the buffer holds, as a tensor of its shape.
Value AtomicLowering::wholeTensor(Source &source, Location loc) {
  MemRefType type = source.buffer.getType();
  if (!source.whole) // loaded into it
    return bufferization::ToTensorOp::create(
        b, loc, RankedTensorType::get(type.getShape(), type.getElementType()), source.buffer, true,
        true);
  if (isa<RankedTensorType>(source.whole.getType()))
    return source.whole;
  return splat(b, loc, source.whole, RankedTensorType::get(type.getShape(), type.getElementType()));
}

/// The part of `whole` that `view` is of its buffer.
Value AtomicLowering::part(Value whole, memref::SubViewOp view, Location loc) {
  if (!view)
    return whole;
  auto type = RankedTensorType::get(view.getType().getShape(), view.getType().getElementType());
  return tensor::ExtractSliceOp::create(b, loc, type, whole, view.getMixedOffsets(),
                                        view.getMixedSizes(), view.getMixedStrides());
}

LogicalResult AtomicLowering::lower(Update &update) {
  Location loc = update.op.getLoc();
  b.setInsertionPoint(update.op);
  auto barrier = [&] { pipeBarrier(b, loc, mlir::hivm::Pipe::PIPE_ALL); };
  SmallVector<Value> wholes;
  for (Source &source : update.operands)
    wholes.push_back(wholeTensor(source, loc));
  std::optional<AtomicKind> hardware = hardwareKind(update.kind, update.element());
  // Stores of this block reach memory before the update is seen.
  if (update.isRelease())
    barrier();
  if (!update.old && hardware) {
    Value value = part(wholes.front(), update.operands.front().view, loc);
    auto kind = mlir::hivm::AtomicKindAttr::get(b.getContext(), *hardware);
    auto store = mlir::hivm::StoreOp::create(b, loc, Type(), value, update.target, kind);
    stores.push_back({store, baseOf(update.target)});
  } else if (!update.old && update.kind == "exch") {
    Value value = part(wholes.front(), update.operands.front().view, loc);
    auto store = bufferization::MaterializeInDestinationOp::create(b, loc, Type(), value,
                                                                   update.target, false, true);
    stores.push_back({store, baseOf(update.target)});
  } else if (failed(lowerUnderLock(update, wholes))) {
    return failure();
  }
  if (update.isAcquire() && (update.old || update.kind == "cas" || update.kind == "exch"))
    barrier();
  for (Source &source : update.operands) {
    if (source.view && source.view->use_empty())
      source.view->erase();
  }
  update.op->erase();
  for (Source &source : update.operands) {
    if (source.view && source.view->use_empty())
      source.view->erase();
    if (source.write && source.buffer->hasOneUse()) {
      source.write->erase();
      source.buffer->erase();
    }
  }
  return success();
}

LogicalResult AtomicLowering::lowerUnderLock(Update &update, SmallVector<Value> wholes) {
  Location loc = update.op.getLoc();
  auto targetType = cast<MemRefType>(update.target.getType());
  memref::SubViewOp view = update.operands.front().view;
  bool isStatic = targetType.hasStaticShape();
  auto wholeType = cast<RankedTensorType>(wholes.front().getType());
  if (!isStatic && (!view || view.getType().getRank() != wholeType.getRank()))
    return refuse(update.op, context.family, "an atomic update of a part of unknown extent",
                  "update whole tiles");

  // Compute on the part where its extent is known, else on the whole tile.
  auto type = isStatic ? RankedTensorType::get(targetType.getShape(), update.element()) : wholeType;
  Value landing, landingView;
  Source old = update.old ? bufferOf(update.old) : Source();
  if (old.buffer && !old.view && old.buffer.getType().getShape() == type.getShape()) {
    landing = landingView = old.buffer;
  } else if (old.buffer && old.view && !isStatic) {
    landing = old.buffer;
    landingView = old.view;
  } else {
    auto bufferType = MemRefType::get(type.getShape(), update.element());
    landing = landingView = memref::AllocOp::create(b, loc, bufferType);
    if (!isStatic)
      landingView = memref::SubViewOp::create(b, loc, landing, view.getMixedOffsets(),
                                              view.getMixedSizes(), view.getMixedStrides());
  }
  auto first = memref::CopyOp::create(b, loc, update.target, landingView);
  Value before = bufferization::ToTensorOp::create(b, loc, type, landing, true, true);

  Block &body = *update.op.getBody();
  IRMapping map;
  map.map(body.getArgument(0), before);
  for (unsigned i = 0; i < wholes.size(); ++i)
    map.map(body.getArgument(i + 1),
            isStatic ? part(wholes[i], update.operands[i].view, loc) : wholes[i]);
  // The old value is also what the output held.
  map.map(body.getArgument(update.op.getInputs().size()), before);
  if (!isElementwiseBody(body))
    return refuse(update.op, context.family, "the update is more than arithmetic",
                  "report this module");

  Operation *last;
  if (update.kind == "cas" && type.getNumElements() == 1) {
    SmallVector<Value> origin(type.getRank(), arith::ConstantIndexOp::create(b, loc, 0));
    auto element = [&](Value tensor) -> Value {
      return tensor::ExtractOp::create(b, loc, tensor, origin);
    };
    auto bits = [&](Value scalar) -> Value {
      if (!isa<FloatType>(scalar.getType()))
        return scalar;
      Type integer = b.getIntegerType(scalar.getType().getIntOrFloatBitWidth());
      return arith::BitcastOp::create(b, loc, integer, scalar);
    };
    Value wanted = element(map.lookup(body.getArgument(1)));
    Value value = element(map.lookup(body.getArgument(2)));
    Value equal = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, bits(element(before)),
                                        bits(wanted));
    // The 950 compiler wants the tensor made inside of the branch.
    last = scf::IfOp::create(b, loc, equal, [&](OpBuilder &then, Location at) {
      Value made = splat(then, at, value, type);
      bufferization::MaterializeInDestinationOp::create(then, at, Type(), made, update.target,
                                                        false, true);
      scf::YieldOp::create(then, at);
    });
  } else {
    Value after = cloneBodyOnTensors(b, body, type.getShape(), map).front();
    Value value = isStatic ? after : part(after, view, loc);
    last = bufferization::MaterializeInDestinationOp::create(b, loc, Type(), value, update.target,
                                                             false, true);
  }
  lockedBases.insert(baseOf(update.target));
  locked.push_back(first);
  locked.push_back(last);

  // An old value that did not land in its own buffer.
  if (update.old && landing != old.buffer)
    memref::CopyOp::create(b, loc, landingView, update.old);
  return success();
}

/// One lock from before the first to after the last of the updates that need it.
LogicalResult AtomicLowering::placeLock(func::FuncOp function) {
  Block &entry = function.getBody().front();
  for (auto [store, base] : stores)
    if (lockedBases.contains(base) || !isa<BlockArgument>(base))
      locked.push_back(store);
  Operation *first = nullptr, *last = nullptr;
  for (Operation *op : locked) {
    Operation *outer = entry.findAncestorOpInBlock(*op);
    if (!outer)
      return refuse(op, context.family, "an update behind an early return needs a block lock",
                    "let every program reach it");
    if (!first || outer->isBeforeInBlock(first))
      first = outer;
    if (!last || last->isBeforeInBlock(outer))
      last = outer;
  }
  auto index = function->getAttrOfType<IntegerAttr>("SyncBlockLockArgIdx");
  if (!index || index.getInt() < 0 || index.getInt() >= function.getNumArguments())
    return refuse(first, context.family, "the kernel has no argument for block locks",
                  "report this module");
  Location loc = first->getLoc();
  b.setInsertionPoint(first);
  auto lockType = MemRefType::get({1}, b.getI64Type());
  Value lock = mlir::hivm::CreateSyncBlockLockOp::create(b, loc, lockType,
                                                         function.getArgument(index.getInt()));
  mlir::hivm::SyncBlockLockOp::create(b, loc, lock);
  b.setInsertionPointAfter(last);
  mlir::hivm::SyncBlockUnlockOp::create(b, loc, lock);
  return success();
}

} // namespace

LogicalResult legalizeAtomics(ModuleOp module, Context &context) {
  for (auto function : module.getOps<func::FuncOp>()) {
    SmallVector<linalg::GenericOp> ops;
    function.walk([&](linalg::GenericOp op) {
      if (op->hasAttr("GenericAtomicRMW"))
        ops.push_back(op);
    });
    AtomicLowering lowering{context, OpBuilder(module.getContext()), {}, {}, {}};
    for (linalg::GenericOp op : ops) {
      Update update;
      if (failed(lowering.read(op, update)) || failed(lowering.lower(update)))
        return failure();
    }
    if (!lowering.locked.empty() && failed(lowering.placeLock(function)))
      return failure();
  }
  return success();
}

} // namespace piton::bisheng
