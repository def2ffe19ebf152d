// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From pointers to memrefs. While ops are lowered the pointers stay: a base is linked to
// its future memref by a placeholder cast, so the shared address analysis always sees
// Triton IR. Placeholders are resolved when no op needs pointers any more.
#include "compiler/Conversion/TritonToLinalg/Lowering.h"

#include "compiler/Conversion/TritonToLinalg/NpuOps.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;

namespace piton::linalglowering {

static Type pointeeOf(Value pointer) {
  return cast<triton::PointerType>(pointer.getType()).getPointeeType();
}

static MemRefType wholeType(Value pointer) {
  return MemRefType::get({ShapedType::kDynamic}, memoryElementType(pointeeOf(pointer)));
}

static int64_t elementBytes(Value pointer) {
  Type element = memoryElementType(pointeeOf(pointer));
  return (element.getIntOrFloatBitWidth() + 7) / 8;
}

/// The i64 (or narrower, signed) offset of an addptr as an index.
static OpFoldResult offsetOf(Value offset, OpBuilder &b, Location loc) {
  APInt constant;
  if (matchPattern(offset, m_ConstantInt(&constant)))
    return b.getIndexAttr(constant.sextOrTrunc(64).getSExtValue());
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), offset).getResult();
}

std::pair<Value, OpFoldResult> splitScalar(Value pointer, OpBuilder &b, Location loc) {
  OpFoldResult offset = b.getIndexAttr(0);
  while (auto add = pointer.getDefiningOp<triton::AddPtrOp>()) {
    offset = addIndex(b, loc, offsetOf(add.getOffset(), b, loc), offset);
    pointer = add.getPtr();
  }
  return {pointer, offset};
}

/// True for a pointer that exists only as a number.
static bool isNumericPointer(Value base) {
  return isa_and_nonnull<triton::IntToPtrOp, arith::SelectOp>(base.getDefiningOp());
}

void Lowering::noteAccess(Value pointer, unsigned kind) {
  SmallVector<Value> todo{pointer};
  llvm::SmallPtrSet<Operation *, 8> seen;
  while (!todo.empty()) {
    Value value = todo.pop_back_val();
    if (isa<BlockArgument>(value)) {
      if (isa<triton::PointerType>(value.getType()))
        kinds[value] |= kind;
      continue;
    }
    Operation *def = value.getDefiningOp();
    if (!seen.insert(def).second)
      continue;
    if (isa<arith::SelectOp>(def)) {
      todo.append({def->getOperand(1), def->getOperand(2)});
    } else if (isa<arith::AddIOp, arith::SubIOp>(def)) {
      todo.append({def->getOperand(0), def->getOperand(1)});
    } else if (isa<triton::AddPtrOp, triton::BitcastOp, triton::IntToPtrOp, triton::PtrToIntOp,
                   triton::SplatOp, triton::BroadcastOp, triton::ExpandDimsOp, arith::IndexCastOp,
                   memref::ExtractAlignedPointerAsIndexOp, UnrealizedConversionCastOp>(def)) {
      todo.push_back(def->getOperand(0));
    } else if (isa<triton::PointerType>(value.getType()) && def->getNumOperands() > 0) {
      todo.push_back(def->getOperand(0)); // symm_at, consume_token: the pointer comes first
    }
  }
}

Value Lowering::placeholder(Value pointer, OpBuilder &b) {
  auto it = placeholders.find(pointer);
  if (it != placeholders.end())
    return it->second.getResult(0);
  if (auto cast = pointer.getDefiningOp<UnrealizedConversionCastOp>())
    if (cast.getNumOperands() == 1 && isa<MemRefType>(cast.getOperand(0).getType()))
      return cast.getOperand(0);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfterValue(pointer);
  auto cast = UnrealizedConversionCastOp::create(b, pointer.getLoc(), wholeType(pointer), pointer);
  placeholders[pointer] = cast;
  return cast.getResult(0);
}

Value Lowering::addressOf(Value pointer, OpBuilder &b, Location loc) {
  auto [base, offset] = splitScalar(pointer, b, loc);
  Value address;
  if (auto cast = base.getDefiningOp<triton::IntToPtrOp>()) {
    address = cast.getSrc();
  } else if (auto cast = base.getDefiningOp<triton::BitcastOp>()) {
    address = addressOf(cast.getSrc(), b, loc);
  } else if (auto select = base.getDefiningOp<arith::SelectOp>()) {
    address = arith::SelectOp::create(b, loc, select.getCondition(),
                                      addressOf(select.getTrueValue(), b, loc),
                                      addressOf(select.getFalseValue(), b, loc));
  } else {
    Value memref = placeholder(base, b);
    Value index = memref::ExtractAlignedPointerAsIndexOp::create(b, loc, memref);
    address = arith::IndexCastOp::create(b, loc, b.getI64Type(), index);
  }
  OpFoldResult bytes = mulIndex(b, loc, offset, b.getIndexAttr(elementBytes(pointer)));
  if (isConstantIntValue(bytes, 0))
    return address;
  Value moved =
      arith::IndexCastOp::create(b, loc, b.getI64Type(), asIndex(b, loc, bytes)).getResult();
  return arith::AddIOp::create(b, loc, address, moved);
}

Lowering::Memory Lowering::memoryOf(Value base, OpBuilder &b, Location loc) {
  if (isNumericPointer(base))
    return {Value(), b.getIndexAttr(0)};
  auto cast = base.getDefiningOp<triton::BitcastOp>();
  if (!cast)
    return {placeholder(base, b), b.getIndexAttr(0)};
  Value source = cast.getSrc();
  Type from = memoryElementType(pointeeOf(source)), to = memoryElementType(pointeeOf(base));
  if (from.getIntOrFloatBitWidth() != to.getIntOrFloatBitWidth())
    return {Value(), b.getIndexAttr(0)};
  auto [inner, offset] = splitScalar(source, b, loc);
  Memory memory = memoryOf(inner, b, loc);
  if (!memory.memref)
    return memory;
  if (from != to)
    memory.memref = arith::BitcastOp::create(b, loc, wholeType(base), memory.memref);
  memory.offset = addIndex(b, loc, memory.offset, offset);
  return memory;
}

Value Lowering::wholeMemref(Value pointer, OpBuilder &b, Location loc) {
  auto [base, offset] = splitScalar(pointer, b, loc);
  if (isConstantIntValue(offset, 0)) {
    Memory memory = memoryOf(base, b, loc);
    if (memory.memref && isConstantIntValue(memory.offset, 0))
      return memory.memref;
  }
  // The callee may address any element: the extent is not known here.
  Value size = arith::ConstantIndexOp::create(b, loc, 1);
  return createPointerCast(b, loc, addressOf(pointer, b, loc), size, wholeType(pointer));
}

Value Lowering::view(const StructuredAddress &address, ArrayRef<int64_t> sizes,
                     ArrayRef<OpFoldResult> strides, OpBuilder &b, Location loc) {
  Memory memory = memoryOf(address.base, b, loc);
  OpFoldResult offset = addIndex(b, loc, memory.offset, address.offset);
  // A memref view takes no negative constant offset (the pointer may lie inside its buffer, or
  // the lanes before it are masked off): such a start is a number too.
  auto constantOffset = getConstantIntValue(offset);
  if (!memory.memref || (constantOffset && *constantOffset < 0)) {
    Value start = addressOf(address.base, b, loc);
    OpFoldResult bytes =
        mulIndex(b, loc, address.offset, b.getIndexAttr(elementBytes(address.base)));
    if (!isConstantIntValue(bytes, 0)) {
      Value moved = arith::IndexCastOp::create(b, loc, b.getI64Type(), asIndex(b, loc, bytes));
      start = arith::AddIOp::create(b, loc, start, moved);
    }
    OpFoldResult extent = b.getIndexAttr(1);
    for (auto [size, stride] : llvm::zip_equal(sizes, strides))
      extent = addIndex(b, loc, extent, mulIndex(b, loc, stride, b.getIndexAttr(size - 1)));
    memory.memref =
        createPointerCast(b, loc, start, asIndex(b, loc, extent), wholeType(address.base));
    offset = b.getIndexAttr(0);
  }
  SmallVector<OpFoldResult> mixedSizes;
  SmallVector<int64_t> staticStrides;
  SmallVector<OpFoldResult> mixedStrides;
  for (auto [size, stride] : llvm::zip_equal(sizes, strides)) {
    mixedSizes.push_back(b.getIndexAttr(size));
    auto constant = getConstantIntValue(stride);
    staticStrides.push_back(constant.value_or(ShapedType::kDynamic));
    mixedStrides.push_back(constant ? OpFoldResult(b.getIndexAttr(*constant)) : stride);
  }
  auto constant = getConstantIntValue(offset);
  auto layout = StridedLayoutAttr::get(b.getContext(), constant.value_or(ShapedType::kDynamic),
                                       staticStrides);
  Type element = cast<MemRefType>(memory.memref.getType()).getElementType();
  return memref::ReinterpretCastOp::create(
      b, loc, MemRefType::get(sizes, element, layout), memory.memref,
      constant ? OpFoldResult(b.getIndexAttr(*constant)) : offset, mixedSizes, mixedStrides);
}

FailureOr<StructuredAddress> Lowering::analyze(Operation *op, Value pointer, OpBuilder &b) {
  if (isa<triton::PointerType>(pointer.getType())) {
    auto [base, offset] = splitScalar(pointer, b, op->getLoc());
    return StructuredAddress{base, offset, {}, {}};
  }
  std::string reason;
  FailureOr<StructuredAddress> address = analyzeAddress(pointer, b, &reason);
  if (failed(address))
    return op->emitOpError("addresses no strided box: ")
           << reason << "; run triton-to-unstructured first, which loops over such accesses";
  return address;
}

LogicalResult Lowering::lowerPtrToInt(triton::PtrToIntOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  if (isa<triton::PointerType>(op.getSrc().getType())) {
    op.replaceAllUsesWith(addressOf(op.getSrc(), b, loc));
    op.erase();
    return success();
  }
  // A tensor of pointers: base + offset + sum i_d * stride_d, in bytes, as i64 lanes.
  auto type = cast<RankedTensorType>(op.getType());
  if (auto cast = op.getSrc().getDefiningOp<triton::IntToPtrOp>()) {
    op.replaceAllUsesWith(cast.getSrc());
    op.erase();
    return success();
  }
  FailureOr<StructuredAddress> address = analyze(op, op.getSrc(), b);
  if (failed(address))
    return failure();
  int64_t bytes = elementBytes(address->base);
  auto toI64 = [&](OpFoldResult value) -> Value {
    return arith::IndexCastOp::create(b, loc, b.getI64Type(), asIndex(b, loc, value));
  };
  Value start = addressOf(address->base, b, loc);
  start = arith::AddIOp::create(b, loc, start,
                                toI64(mulIndex(b, loc, address->offset, b.getIndexAttr(bytes))));
  Value sum = filled(b, loc, type, start);
  for (auto [dim, stride] : llvm::enumerate(address->strides)) {
    if (isConstantIntValue(stride, 0))
      continue;
    auto line = RankedTensorType::get({type.getDimSize(dim)}, b.getI32Type());
    Value lanes = triton::MakeRangeOp::create(b, loc, line, 0, line.getDimSize(0));
    lanes = arith::ExtSIOp::create(b, loc, withElement(line, b.getI64Type()), lanes);
    SmallVector<int64_t> others;
    for (int64_t other = 0; other < type.getRank(); ++other)
      if (other != static_cast<int64_t>(dim))
        others.push_back(other);
    lanes = broadcastInto(b, loc, lanes, type.getShape(), others);
    Value step = filled(b, loc, type, toI64(mulIndex(b, loc, stride, b.getIndexAttr(bytes))));
    sum = arith::AddIOp::create(b, loc, sum, arith::MulIOp::create(b, loc, lanes, step));
  }
  op.replaceAllUsesWith(sum);
  op.erase();
  return success();
}

LogicalResult Lowering::lowerForeignPointers(Operation *op) {
  OpBuilder b(op);
  for (OpOperand &operand : op->getOpOperands()) {
    Type type = operand.get().getType();
    if (!triton::isPointerLike(type))
      continue;
    auto pointer = dyn_cast<triton::PointerType>(type);
    if (!pointer || isa<RankedTensorType>(pointer.getPointeeType()))
      return op->emitOpError("takes operand #")
             << operand.getOperandNumber() << " of type " << type
             << ", which has no form below Triton IR; pass a scalar pointer";
    noteAccess(operand.get(), kUpdates);
    operand.set(wholeMemref(operand.get(), b, op->getLoc()));
  }
  for (Value result : op->getResults())
    if (isa<triton::PointerType>(result.getType()))
      placeholder(result, b);
  return success();
}

void Lowering::eraseDead() {
  SmallVector<Value> unused;
  for (auto [pointer, cast] : placeholders) {
    // A call with effects stays, and its result must still become a memref.
    Operation *def = pointer.getDefiningOp();
    if (cast.use_empty() && (!def || wouldOpBeTriviallyDead(def)))
      unused.push_back(pointer);
  }
  for (Value pointer : unused) {
    placeholders[pointer].erase();
    placeholders.erase(pointer);
  }
  // Users come after their operands, and the ops of a region after the op that has it, so one sweep
  // from the end is enough.
  SmallVector<Operation *> ops;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : llvm::reverse(ops)) {
    if (isa<UnrealizedConversionCastOp>(op) || !isOpTriviallyDead(op))
      continue;
    op->walk([&](UnrealizedConversionCastOp cast) { placeholders.erase(cast.getOperand(0)); });
    op->erase();
  }
}

void Lowering::finishAccesses() {
  spreadKinds();
  eraseDead();
}

LogicalResult Lowering::resolvePointers() {
  SmallVector<std::pair<Value, UnrealizedConversionCastOp>> open;
  for (auto [pointer, cast] : placeholders)
    open.emplace_back(pointer, cast);
  for (auto [pointer, cast] : open) {
    if (isa<BlockArgument>(pointer))
      continue; // the signature changes with the function
    for (Operation *user : pointer.getUsers())
      if (user != cast)
        return user->emitOpError("uses a pointer in a way that has no form below Triton IR");
    Type type = cast.getResult(0).getType();
    cast.getResult(0).replaceAllUsesWith(pointer);
    cast.erase();
    pointer.setType(type);
    placeholders.erase(pointer);
  }
  return success();
}

} // namespace piton::linalglowering
