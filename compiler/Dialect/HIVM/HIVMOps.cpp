// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops of the `hivm` dialect: effects, verifiers and the slots with a syntax of
// their own. Labels C1, C2 ... as in the .td.
#include "compiler/Dialect/DestinationEffects.h"
#include "compiler/Dialect/HIVM/HIVM.h"

#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using piton::addDpsEffects;
using namespace mlir::hivm;

//===-- slots that hold an attribute or a value --------------------------===//

/// A number known when compiling, or the value that holds it.
static ParseResult parseOperandOr(OpAsmParser &parser,
                                  std::optional<OpAsmParser::UnresolvedOperand> &dynamic,
                                  llvm::function_ref<ParseResult()> parseConstant) {
  OpAsmParser::UnresolvedOperand operand;
  OptionalParseResult parsed = parser.parseOptionalOperand(operand);
  if (!parsed.has_value())
    return parseConstant();
  dynamic = operand;
  return *parsed;
}

static ParseResult parseEventId(OpAsmParser &parser, EventAttr &event,
                                std::optional<OpAsmParser::UnresolvedOperand> &dynamic) {
  return parseOperandOr(parser, dynamic,
                        [&] { return parser.parseCustomAttributeWithFallback(event); });
}

static void printEventId(OpAsmPrinter &printer, Operation *, EventAttr event, Value dynamic) {
  if (dynamic)
    printer << dynamic;
  else
    printer.printStrippedAttrOrType(event);
}

static ParseResult parseFlagId(OpAsmParser &parser, IntegerAttr &flag,
                               std::optional<OpAsmParser::UnresolvedOperand> &dynamic) {
  return parseOperandOr(parser, dynamic, [&] { return parser.parseAttribute(flag); });
}

static void printFlagId(OpAsmPrinter &printer, Operation *, IntegerAttr flag, Value dynamic) {
  if (dynamic)
    printer << dynamic;
  else if (flag.getType().isInteger(64)) // the NPU compiler reads no type behind it
    printer << flag.getValue();
  else
    printer << flag.getValue().getSExtValue();
}

#define GET_OP_CLASSES
#include "compiler/Dialect/HIVM/HIVMOps.cpp.inc"

//===-- data movement and atomics ----------------------------------------===//

/// C1 of the destination-style ops.
static LogicalResult verifyDps(Operation *op, Value dst, Value result) {
  bool tensor = isa<RankedTensorType>(dst.getType());
  if (tensor && !result)
    return op->emitOpError("writes a tensor and must give the updated tensor");
  if (!tensor && result)
    return op->emitOpError("writes a memref in place and gives no result");
  if (result && result.getType() != dst.getType())
    return op->emitOpError() << "result type " << result.getType()
                             << " is not the destination's type " << dst.getType();
  return success();
}

/// C2: one element type and rank.
static LogicalResult verifySameElementAndRank(Operation *op, Value src, Value dst) {
  auto from = cast<ShapedType>(src.getType()), to = cast<ShapedType>(dst.getType());
  if (from.getElementType() != to.getElementType() || from.getRank() != to.getRank())
    return op->emitOpError() << "source " << from << " and destination " << to
                             << " differ in element type or rank";
  return success();
}

static bool extentsAgree(int64_t a, int64_t b) {
  return ShapedType::isDynamic(a) || ShapedType::isDynamic(b) || a == b;
}

LogicalResult LoadOp::verify() {
  if (failed(verifyDps(*this, getDst(), getResult())) ||
      failed(verifySameElementAndRank(*this, getSrc(), getDst())))
    return failure();
  auto from = cast<ShapedType>(getSrc().getType()), to = cast<ShapedType>(getDst().getType());
  for (auto [i, a, b] : llvm::enumerate(from.getShape(), to.getShape())) { // C3
    bool last = static_cast<int64_t>(i) + 1 == from.getRank();
    bool grows = getPadMode() && last && !ShapedType::isDynamic(a) && a <= b;
    if (!extentsAgree(a, b) && !grows)
      return emitOpError() << "dimension " << i << " is " << a << " in the source and " << b
                           << " in the destination";
  }
  if (getPadMode() == PadMode::PadValue && !getPadValue()) // C4
    return emitOpError("pad mode PadValue needs a pad_value");
  return success();
}

LogicalResult StoreOp::verify() {
  if (failed(verifyDps(*this, getDst(), getResult())))
    return failure();
  return verifySameElementAndRank(*this, getSrc(), getDst());
}

LogicalResult CopyOp::verify() {
  if (failed(verifyDps(*this, getDst(), getResult())))
    return failure();
  if (getCollapseReassociation())
    return success();
  return verifySameElementAndRank(*this, getSrc(), getDst());
}

LogicalResult FixpipeOp::verify() { return verifyDps(*this, getDst(), getResult()); }

LogicalResult AtomicCASOp::verify() { return verifyDps(*this, getDst(), getResult()); }

LogicalResult AtomicXchgOp::verify() { return verifyDps(*this, getDst(), getResult()); }

void LoadOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  addDpsEffects(*this, false, effects);
}
void StoreOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  addDpsEffects(*this, getAtomicKind() && *getAtomicKind() != AtomicKind::NONE, effects);
}
void CopyOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  addDpsEffects(*this, false, effects);
}
void FixpipeOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  addDpsEffects(*this, false, effects);
}
void AtomicCASOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  addDpsEffects(*this, true, effects);
}
void AtomicXchgOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  addDpsEffects(*this, true, effects);
}

//===-- synchronisation --------------------------------------------------===//

/// C1 of ops with a static or dynamic id.
static LogicalResult verifyOneId(Operation *op, bool isStatic, bool isDynamic, StringRef what) {
  if (isStatic != isDynamic)
    return success();
  return op->emitOpError() << "needs exactly one of a static and a dynamic " << what;
}

static LogicalResult verifyFlag(Operation *op, IntegerAttr flag) {
  if (!flag)
    return success();
  int64_t id = flag.getValue().getSExtValue();
  if (id >= 0 && id <= kMaxFlagId)
    return success();
  return op->emitOpError() << "flag id " << id << " is outside 0 to " << kMaxFlagId;
}

LogicalResult SetFlagOp::verify() {
  return verifyOneId(*this, !!getStaticEventIdAttr(), !!getDynamicEventId(), "event id");
}
LogicalResult WaitFlagOp::verify() {
  return verifyOneId(*this, !!getStaticEventIdAttr(), !!getDynamicEventId(), "event id");
}

LogicalResult SyncBlockOp::verify() {
  bool barrier = getSyncBlockMode() == SyncBlockMode::BARRIER_CUBE ||
                 getSyncBlockMode() == SyncBlockMode::BARRIER_VECTOR;
  if (!barrier && !getFlagIdAttr()) // C1
    return emitOpError() << "mode " << stringifySyncBlockMode(getSyncBlockMode())
                         << " needs a flag id";
  return verifyFlag(*this, getFlagIdAttr());
}

LogicalResult SyncBlockSetOp::verify() {
  if (failed(verifyOneId(*this, !!getStaticFlagIdAttr(), !!getDynamicFlagId(), "flag")))
    return failure();
  return verifyFlag(*this, getStaticFlagIdAttr()); // C2
}
LogicalResult SyncBlockWaitOp::verify() {
  if (failed(verifyOneId(*this, !!getStaticFlagIdAttr(), !!getDynamicFlagId(), "flag")))
    return failure();
  return verifyFlag(*this, getStaticFlagIdAttr()); // C2
}

/// C1 of the lock ops.
static LogicalResult verifyLock(Operation *op, Type type) {
  auto memref = cast<MemRefType>(type);
  if (memref.hasStaticShape() && memref.getNumElements() == 1 &&
      memref.getElementType().isInteger(64))
    return success();
  return op->emitOpError() << "lock must be a memref of one i64, but is " << type;
}

LogicalResult CreateSyncBlockLockOp::verify() { return verifyLock(*this, getType()); }
LogicalResult SyncBlockLockOp::verify() { return verifyLock(*this, getLockVar().getType()); }
LogicalResult SyncBlockUnlockOp::verify() { return verifyLock(*this, getLockVar().getType()); }
LogicalResult FreeLockVarOp::verify() { return verifyLock(*this, getLockVar().getType()); }

//===-- custom calls and the rest ----------------------------------------===//

LogicalResult CustomOp::verify() {
  if (getName().starts_with("__builtin_"))
    return success();
  for (StringRef key : {"symbol", "hivm.tcore_type", "hivm.pipe"}) // C1
    if (!(*this)->hasAttr(key))
      return emitOpError() << "'" << getName() << "' is no builtin and needs the attribute '" << key
                           << "'";
  return success();
}

void CustomOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  if ((*this)->hasAttr(kNoSideEffectAttrName))
    return;
  effects.emplace_back(MemoryEffects::Read::get());
  effects.emplace_back(MemoryEffects::Write::get());
}

LogicalResult PointerCastOp::verify() {
  auto type = cast<MemRefType>(getType());
  if (getDynamicSizes().size() != static_cast<size_t>(type.getNumDynamicDims())) // C1
    return emitOpError() << "has " << getDynamicSizes().size() << " sizes for "
                         << type.getNumDynamicDims() << " dynamic dimensions";
  if (getAddrs().empty()) // C2
    return emitOpError("needs at least one address");
  return success();
}

LogicalResult DebugOp::verify() {
  if (getDebugtype() == "print" || getDebugtype() == "assert") // C1
    return success();
  return emitOpError() << "debugtype '" << getDebugtype() << "' is neither print nor assert";
}
