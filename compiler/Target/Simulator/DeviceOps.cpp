// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// hivm, hfusion and annotation ops and helper calls of the hand-over IR. Ops are looked at
// by name and attribute text, so that this file depends on no dialect of the device.
#include "compiler/Target/Simulator/DeviceOps.h"
#include "compiler/Target/Simulator/Utils.h"
#include "compiler/Target/SimulatorCodegen.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace piton;

namespace piton::simulator {

namespace {

std::string attributeText(Attribute attribute) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  attribute.print(stream);
  return text;
}

/// "add" of `#hivm.atomic_kind<add>`; empty when the attribute is missing.
std::string enumCase(Operation *op, ArrayRef<StringRef> names) {
  for (StringRef name : names) {
    Attribute attribute = op->getAttr(name);
    if (!attribute)
      continue;
    std::string text = attributeText(attribute);
    size_t begin = text.find('<'), end = text.rfind('>');
    if (begin != std::string::npos && end != std::string::npos && begin < end)
      return text.substr(begin + 1, end - begin - 1);
  }
  return "";
}

LogicalResult storeTo(OpBuilder &b, Operation *op, Value source, Value target) {
  Location loc = op->getLoc();
  if (isa<RankedTensorType>(source.getType())) {
    auto store = bufferization::MaterializeInDestinationOp::create(b, loc, source, target);
    store.setWritable(true);
    return success();
  }
  memref::CopyOp::create(b, loc, source, target);
  return success();
}

LogicalResult lowerHivmStore(Operation *op) {
  OpBuilder b(op);
  if (op->getNumOperands() != 2 || !isa<MemRefType>(op->getOperand(1).getType()))
    return op->emitError("a store needs one source and one memref in memory");
  std::string kind = enumCase(op, {"atomic_kind", "atomic"});
  LogicalResult result = kind.empty() || kind == "none"
                             ? storeTo(b, op, op->getOperand(0), op->getOperand(1))
                             : emitAtomic(op, kind, "", op->getOperand(1), Value(),
                                          op->getOperand(0), Value(), Value());
  if (succeeded(result))
    op->erase();
  return result;
}

LogicalResult lowerPointerCast(Operation *op) {
  auto type = dyn_cast<MemRefType>(op->getResult(0).getType());
  if (!type || !op->getOperand(0).getType().isInteger(64))
    return op->emitError("an address cast needs an i64 address and a memref result");
  OpBuilder b(op);
  Value pointer = LLVM::IntToPtrOp::create(
      b, op->getLoc(), LLVM::LLVMPointerType::get(b.getContext()), op->getOperand(0));
  SmallVector<Value> sizes(op->getOperands().drop_front());
  op->getResult(0).replaceAllUsesWith(memrefFromPointer(b, op->getLoc(), pointer, type, sizes));
  op->erase();
  return success();
}

LogicalResult lowerHfusionAtomic(Operation *op, StringRef name) {
  if (op->getNumResults() != 0)
    return op->emitError("the old value of this atomic is not available; use the form with two "
                         "outs");
  SmallVector<Value> operands(op->getOperands());
  LogicalResult result = failure();
  if (name == "cas" && operands.size() == 3)
    result = emitAtomic(op, "cas", "", operands[2], operands[0], operands[1], Value(), Value());
  else if (name == "xchg" && operands.size() >= 2)
    result = emitAtomic(op, "xchg", "", operands[1], Value(), operands[0],
                        operands.size() > 2 ? operands[2] : Value(), Value());
  else if (name == "rmw" && operands.size() == 2)
    result = emitAtomic(op, enumCase(op, {"atomic_kind"}), "", operands[1], Value(), operands[0],
                        Value(), Value());
  else
    return op->emitError("unexpected number of operands: ") << operands.size();
  if (succeeded(result))
    op->erase();
  return result;
}

Value newBuffer(OpBuilder &b, Location loc, RankedTensorType type) {
  return memref::AllocOp::create(b, loc, MemRefType::get(type.getShape(), type.getElementType()));
}

Value bufferAsTensor(OpBuilder &b, Location loc, Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  return bufferization::ToTensorOp::create(
      b, loc, RankedTensorType::get(type.getShape(), type.getElementType()), buffer,
      /*restrict=*/true, /*writable=*/true);
}

/// hfusion.histogram %x, bins[, %mask] : counts of 0..bins-1; other values are dropped.
LogicalResult lowerHistogram(Operation *op) {
  OpBuilder b(op);
  Location loc = op->getLoc();
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (!type.hasStaticShape() || type.getRank() != 1)
    return op->emitError("a histogram needs a result of rank 1 with a static size");
  Value source = asReadOnlyBuffer(b, loc, op->getOperand(0));
  Value mask = op->getNumOperands() > 1 ? asReadOnlyBuffer(b, loc, op->getOperand(1)) : Value();
  Value counts = newBuffer(b, loc, type);
  Type element = type.getElementType();
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(element));
  Value one = arith::ConstantOp::create(b, loc, b.getIntegerAttr(element, 1));
  linalg::FillOp::create(b, loc, zero, counts);
  emitLoopNest(b, loc, memrefSizes(b, loc, source), [&](OpBuilder &b, ValueRange indices) {
    Value value = memref::LoadOp::create(b, loc, source, indices);
    Value bin = arith::IndexCastOp::create(b, loc, b.getIndexType(), value);
    Value limit = indexConstant(b, loc, type.getDimSize(0));
    Value active = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, bin, limit);
    if (mask) {
      Value set = memref::LoadOp::create(b, loc, mask, indices);
      if (!set.getType().isInteger(1))
        set = arith::TruncIOp::create(b, loc, b.getI1Type(), set);
      active = arith::AndIOp::create(b, loc, active, set);
    }
    auto branch = scf::IfOp::create(b, loc, active, false);
    OpBuilder inner = OpBuilder::atBlockBegin(branch.thenBlock());
    Value old = memref::LoadOp::create(inner, loc, counts, bin);
    Value sum = arith::AddIOp::create(inner, loc, old, one);
    memref::StoreOp::create(inner, loc, sum, counts, bin);
  });
  op->getResult(0).replaceAllUsesWith(bufferAsTensor(b, loc, counts));
  op->erase();
  return success();
}

LogicalResult lowerBlockLock(Operation *op, int64_t service) {
  OpBuilder b(op);
  Location loc = op->getLoc();
  Value context = blockContext(op);
  Value word;
  if (op->getNumOperands() == 1 && isa<MemRefType>(op->getOperand(0).getType())) {
    auto type = cast<MemRefType>(op->getOperand(0).getType());
    SmallVector<Value> zeros(type.getRank(), indexConstant(b, loc, 0));
    word = elementPointer(b, loc, op->getOperand(0), zeros);
  } else {
    return op->emitError("a block lock takes the memref that create_sync_block_lock made");
  }
  callService(b, loc, context, service, word);
  op->getParentOfType<func::FuncOp>()->setAttr(kCanBlockAttr, b.getUnitAttr());
  op->erase();
  return success();
}

/// The lock variable: the first words of the launch's lock buffer.
LogicalResult lowerCreateLock(Operation *op) {
  OpBuilder b(op);
  Location loc = op->getLoc();
  auto type = dyn_cast<MemRefType>(op->getResult(0).getType());
  if (!type || !type.hasStaticShape() || !type.getElementType().isInteger(64))
    return op->emitError("a lock variable is a memref of i64 with a static size");
  auto function = op->getParentOfType<func::FuncOp>();
  int64_t used = 0;
  if (auto words = function->getAttrOfType<IntegerAttr>("piton.lock_words"))
    used = words.getInt();
  auto pointerType = LLVM::LLVMPointerType::get(b.getContext());
  Value base = loadAt(b, loc, pointerType, blockContext(op), offsetof(BlockContext, lockBuffer));
  Value word = LLVM::GEPOp::create(b, loc, pointerType, b.getI64Type(), base,
                                   ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(int32_t(used))});
  function->setAttr("piton.lock_words", b.getI64IntegerAttr(used + type.getNumElements()));
  op->getResult(0).replaceAllUsesWith(memrefFromPointer(b, loc, word, type, {}));
  op->erase();
  return success();
}

/// x rounded to an integral value of its own type.
Value roundValue(OpBuilder &b, Location loc, StringRef mode, Value x) {
  if (mode == "round")
    return math::RoundOp::create(b, loc, x);
  if (mode == "floor")
    return math::FloorOp::create(b, loc, x);
  if (mode == "ceil")
    return math::CeilOp::create(b, loc, x);
  if (mode == "trunc" || mode == "truncwithoverflow")
    return math::TruncOp::create(b, loc, x);
  return math::RoundEvenOp::create(b, loc, x);
}

/// A narrowing float cast towards zero: the nearest value, one step back where that grew the
/// magnitude. A step back from infinity is the largest finite value; NaN compares false.
Value truncateTowardsZero(OpBuilder &b, Location loc, Type target, Value x) {
  auto withElement = [](Type like, Type element) -> Type {
    auto shaped = dyn_cast<ShapedType>(like);
    return shaped ? Type(shaped.clone(element)) : element;
  };
  Value nearest = arith::TruncFOp::create(b, loc, target, x);
  Value back = arith::ExtFOp::create(b, loc, x.getType(), nearest);
  Value grew =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT, math::AbsFOp::create(b, loc, back),
                            math::AbsFOp::create(b, loc, x));
  Type bits =
      withElement(target, b.getIntegerType(getElementTypeOrSelf(target).getIntOrFloatBitWidth()));
  Value pattern = arith::BitcastOp::create(b, loc, bits, nearest);
  Value step = arith::ExtUIOp::create(b, loc, bits, grew);
  return arith::BitcastOp::create(b, loc, target, arith::SubIOp::create(b, loc, pattern, step));
}

/// hfusion.cast: between element types, or rounding within one float type.
LogicalResult lowerCast(Operation *op) {
  if (op->getNumOperands() != 2 || op->getNumResults() != 1)
    return op->emitOpError("has no simulator lowering on memrefs");
  OpBuilder b(op);
  Location loc = op->getLoc();
  std::string mode = enumCase(op, {"round_mode"});
  if (mode == "odd")
    return op->emitOpError("round mode 'odd' has no simulator lowering");
  const bool isUnsigned = enumCase(op, {"cast"}) == "cast_unsigned" ||
                          StringRef(enumCase(op, {"unsigned_mode"})).starts_with("ui2");
  Value x = op->getOperand(0);
  Type target = op->getResult(0).getType();
  Type from = getElementTypeOrSelf(x.getType()), to = getElementTypeOrSelf(target);
  Value result;
  if (isa<FloatType>(from) && isa<FloatType>(to)) {
    unsigned a = from.getIntOrFloatBitWidth(), c = to.getIntOrFloatBitWidth();
    if (from == to)
      result = roundValue(b, loc, mode, x);
    else if (a < c)
      result = arith::ExtFOp::create(b, loc, target, x);
    else if (a > c && (mode == "rint" || mode.empty()))
      result = arith::TruncFOp::create(b, loc, target, x);
    else if (a > c && mode == "trunc")
      result = truncateTowardsZero(b, loc, target, x);
    else
      return op->emitOpError("round mode '")
             << mode << "' from " << from << " to " << to << " has no simulator lowering";
  } else if (isa<FloatType>(from)) {
    Value whole = roundValue(b, loc, mode, x);
    result = isUnsigned ? arith::FPToUIOp::create(b, loc, target, whole).getResult()
                        : arith::FPToSIOp::create(b, loc, target, whole).getResult();
  } else if (isa<FloatType>(to)) {
    result = isUnsigned || from.isInteger(1)
                 ? arith::UIToFPOp::create(b, loc, target, x).getResult()
                 : arith::SIToFPOp::create(b, loc, target, x).getResult();
  } else if (from.getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth()) {
    result = isUnsigned || from.isInteger(1)
                 ? arith::ExtUIOp::create(b, loc, target, x).getResult()
                 : arith::ExtSIOp::create(b, loc, target, x).getResult();
  } else {
    result = from == to ? x : arith::TruncIOp::create(b, loc, target, x).getResult();
  }
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
  return success();
}

/// Cube and vector parts of a block run in program order, so a wait whose flag is set earlier
/// in the program is met when it is reached. Anything else needs concurrent sides.
LogicalResult lowerFlag(Operation *op, bool isWait) {
  if (isWait) {
    Attribute flag =
        op->getAttr("static_flag_id") ? op->getAttr("static_flag_id") : op->getAttr("flag");
    bool isSet = false;
    auto function = op->getParentOfType<func::FuncOp>();
    function.walk<WalkOrder::PreOrder>([&](Operation *other) {
      if (other == op)
        return WalkResult::interrupt();
      if (other->getName().getStringRef() == "hivm.hir.sync_block_set")
        isSet |=
            !flag || other->getAttr("static_flag_id") == flag || other->getAttr("flag") == flag;
      return WalkResult::advance();
    });
    if (!isSet)
      return op->emitOpError("waits for a flag that is set later in the program; the two sides "
                             "of a core run one after the other here");
  }
  return success();
}

LogicalResult inlineScope(Operation *op) {
  if (op->getNumRegions() != 1 || !op->getRegion(0).hasOneBlock())
    return op->emitOpError("needs one region with one block");
  Block &body = op->getRegion(0).front();
  Operation *terminator = body.getTerminator();
  SmallVector<Value> results(terminator->getOperands());
  terminator->erase();
  op->getBlock()->getOperations().splice(op->getIterator(), body.getOperations());
  op->replaceAllUsesWith(results);
  op->erase();
  return success();
}

LogicalResult lowerNamedOp(Operation *op) {
  StringRef name = op->getName().getStringRef();
  // Hints, and the order of pipes, which one thread keeps by itself.
  if (name == "annotation.mark" || name == "hivm.hir.pipe_barrier") {
    op->erase();
    return success();
  }
  if (name == "scope.scope")
    return inlineScope(op);
  if (name == "hfusion.cast")
    return lowerCast(op);
  if (name == "hivm.hir.store" || name == "hfusion.store")
    return lowerHivmStore(op);
  if (name == "hivm.hir.pointer_cast")
    return lowerPointerCast(op);
  if (name == "hivm.hir.create_sync_block_lock")
    return lowerCreateLock(op);
  if (name == "hivm.hir.sync_block_lock")
    return lowerBlockLock(op, offsetof(BlockServices, lock));
  if (name == "hivm.hir.sync_block_unlock")
    return lowerBlockLock(op, offsetof(BlockServices, unlock));
  if (name.consume_front("hfusion.atomic_"))
    return lowerHfusionAtomic(op, name);
  if (name == "hivm.hir.custom")
    return lowerCustom(op);
  if (name == "hfusion.histogram")
    return lowerHistogram(op);
  return op->emitOpError("has no simulator lowering");
}

bool isDeviceDialect(StringRef dialect) {
  return dialect == "hivm" || dialect == "hfusion" || dialect == "annotation" ||
         dialect == "scope" || dialect == "hacc";
}

} // namespace

LogicalResult lowerDeviceOps(func::FuncOp kernel) {
  auto module = kernel->getParentOfType<ModuleOp>();
  SymbolTable symbols(module);
  SmallVector<Operation *> named;
  SmallVector<linalg::GenericOp> atomics;
  SmallVector<func::CallOp> calls;
  kernel.walk([&](Operation *op) {
    if (auto generic = dyn_cast<linalg::GenericOp>(op);
        generic && generic->hasAttr("GenericAtomicRMW"))
      atomics.push_back(generic);
    else if (auto call = dyn_cast<func::CallOp>(op)) {
      if (!call.getCallee().starts_with("_mlir_ciface_piton_")) // ours already
        calls.push_back(call);
    } else if (isDeviceDialect(op->getName().getDialectNamespace()))
      named.push_back(op);
  });
  bool failedAny = false;
  // LLVM's assembler would end the process on text that is not this host's assembly, and
  // run what happens to be, so nothing reaches it that was not written for the simulator.
  kernel.walk([&](LLVM::InlineAsmOp op) {
    op.emitError() << "the simulator does not execute the inline assembly \"" << op.getAsmString()
                   << "\"; write the operation in tl, or compile for the bisheng back end";
    failedAny = true;
  });
  if (failedAny)
    return failure();
  // Flags first, while all of them are in place; then they have done their work.
  auto isFlag = [](Operation *op) {
    StringRef name = op->getName().getStringRef();
    return name == "hivm.hir.sync_block_set" || name == "hivm.hir.sync_block_wait";
  };
  for (Operation *op : named)
    if (isFlag(op))
      failedAny |= failed(lowerFlag(op, op->getName().getStringRef().ends_with("wait")));
  if (failedAny)
    return failure();
  llvm::erase_if(named, [&](Operation *op) {
    if (isFlag(op))
      op->erase();
    else if (op->getName().getStringRef() != "scope.return")
      return false;
    return true;
  });
  for (linalg::GenericOp op : atomics)
    failedAny |= failed(lowerAtomicGeneric(op));
  for (Operation *op : named)
    failedAny |= failed(lowerNamedOp(op));
  for (func::CallOp call : calls)
    failedAny |= failed(lowerHelperCall(call, symbols.lookup<func::FuncOp>(call.getCallee())));
  return failure(failedAny);
}

} // namespace piton::simulator
