// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The helper functions of the hand-over IR (`triton_cumsum`, `triton_gather`, ...): each
// call becomes loops on buffers, a call of the device library, or a service call.
#include "compiler/Target/Simulator/DeviceOps.h"
#include "compiler/Target/Simulator/Utils.h"
#include "compiler/Target/SimulatorCodegen.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace piton;

namespace piton::simulator {

namespace {

Value newBuffer(OpBuilder &b, Location loc, RankedTensorType type) {
  return memref::AllocOp::create(b, loc, MemRefType::get(type.getShape(), type.getElementType()));
}

Value bufferAsTensor(OpBuilder &b, Location loc, Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  return bufferization::ToTensorOp::create(
      b, loc, RankedTensorType::get(type.getShape(), type.getElementType()), buffer, true, true);
}

LogicalResult constantOperand(func::CallOp call, unsigned index, StringRef what, int64_t &value) {
  if (index >= call.getNumOperands())
    return call.emitError("misses the operand ") << what;
  APInt constant;
  if (!matchPattern(call.getOperand(index), m_ConstantInt(&constant)))
    return call.emitError(what) << " must be a constant";
  value = constant.getBitWidth() == 1 ? int64_t(constant.getZExtValue()) : constant.getSExtValue();
  return success();
}

LogicalResult axisOperand(func::CallOp call, unsigned index, RankedTensorType type, int64_t &axis) {
  if (failed(constantOperand(call, index, "the axis", axis)))
    return failure();
  if (axis < 0)
    axis += type.getRank();
  if (axis < 0 || axis >= type.getRank())
    return call.emitError("axis ") << axis << " is outside of the rank " << type.getRank();
  return success();
}

FailureOr<RankedTensorType> tensorOperand(func::CallOp call, unsigned index) {
  if (index < call.getNumOperands())
    if (auto type = dyn_cast<RankedTensorType>(call.getOperand(index).getType());
        type && type.hasStaticShape())
      return type;
  return call.emitError("operand ") << index << " must be a tensor of static shape";
}

void finish(func::CallOp call, ValueRange results) {
  call.replaceAllUsesWith(results);
  call.erase();
}

Value combine(OpBuilder &b, Location loc, StringRef kind, Value a, Value x) {
  const bool isFloat = isa<FloatType>(a.getType());
  if (kind == "cumsum")
    return isFloat ? arith::AddFOp::create(b, loc, a, x).getResult()
                   : arith::AddIOp::create(b, loc, a, x).getResult();
  if (kind == "cumprod")
    return isFloat ? arith::MulFOp::create(b, loc, a, x).getResult()
                   : arith::MulIOp::create(b, loc, a, x).getResult();
  if (kind == "cummax")
    return isFloat ? arith::MaximumFOp::create(b, loc, a, x).getResult()
                   : arith::MaxSIOp::create(b, loc, a, x).getResult();
  return isFloat ? arith::MinimumFOp::create(b, loc, a, x).getResult()
                 : arith::MinSIOp::create(b, loc, a, x).getResult();
}

/// out[first] = in[first]; out[k] = out[k-1] (op) in[k], from the end when reversed. The
/// scanned loop is outermost, so that the loops inside it can be vectorised.
LogicalResult lowerScan(func::CallOp call, StringRef kind) {
  FailureOr<RankedTensorType> type = tensorOperand(call, 0);
  int64_t axis = 0, reverse = 0;
  if (failed(type) || failed(axisOperand(call, 1, *type, axis)) ||
      failed(constantOperand(call, 2, "the reverse flag", reverse)))
    return failure();
  OpBuilder b(call);
  Location loc = call.getLoc();
  Value in = asReadOnlyBuffer(b, loc, call.getOperand(0));
  Value out = newBuffer(b, loc, *type);
  int64_t length = type->getDimSize(axis);
  SmallVector<Value> others;
  for (int64_t d = 0; d < type->getRank(); ++d)
    if (d != axis)
      others.push_back(indexConstant(b, loc, type->getDimSize(d)));
  auto at = [&](ValueRange rest, Value position) {
    SmallVector<Value> indices(rest);
    indices.insert(indices.begin() + axis, position);
    return indices;
  };
  Value first = indexConstant(b, loc, reverse ? length - 1 : 0);
  emitLoopNest(b, loc, others, [&](OpBuilder &b, ValueRange rest) {
    Value value = memref::LoadOp::create(b, loc, in, at(rest, first));
    memref::StoreOp::create(b, loc, value, out, at(rest, first));
  });
  Value one = indexConstant(b, loc, 1);
  auto loop = scf::ForOp::create(b, loc, one, indexConstant(b, loc, length), one);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value k = loop.getInductionVar(), previous = arith::SubIOp::create(b, loc, k, one);
    if (reverse) {
      k = arith::SubIOp::create(b, loc, first, k);
      previous = arith::AddIOp::create(b, loc, k, one);
    }
    emitLoopNest(b, loc, others, [&](OpBuilder &b, ValueRange rest) {
      Value sum = memref::LoadOp::create(b, loc, out, at(rest, previous));
      Value value = memref::LoadOp::create(b, loc, in, at(rest, k));
      memref::StoreOp::create(b, loc, combine(b, loc, kind, sum, value), out, at(rest, k));
    });
  }
  finish(call, bufferAsTensor(b, loc, out));
  return success();
}

/// A result computed element by element from its own indices.
LogicalResult lowerElementwise(func::CallOp call,
                               llvm::function_ref<Value(OpBuilder &, ValueRange)> element) {
  auto type = dyn_cast<RankedTensorType>(call.getResult(0).getType());
  if (!type || !type.hasStaticShape())
    return call.emitError("the result must be a tensor of static shape");
  OpBuilder b(call);
  Location loc = call.getLoc();
  Value out = newBuffer(b, loc, type);
  emitLoopNest(b, loc, memrefSizes(b, loc, out), [&](OpBuilder &b, ValueRange indices) {
    memref::StoreOp::create(b, loc, element(b, indices), out, indices);
  });
  finish(call, bufferAsTensor(b, loc, out));
  return success();
}

Value asIndex(OpBuilder &b, Location loc, Value value) {
  return isa<IndexType>(value.getType())
             ? value
             : arith::IndexCastOp::create(b, loc, b.getIndexType(), value).getResult();
}

LogicalResult lowerGather(func::CallOp call) {
  FailureOr<RankedTensorType> source = tensorOperand(call, 0), index = tensorOperand(call, 1);
  int64_t axis = 0;
  if (failed(source) || failed(index) || failed(axisOperand(call, 2, *source, axis)))
    return failure();
  OpBuilder b(call);
  Location loc = call.getLoc();
  Value from = asReadOnlyBuffer(b, loc, call.getOperand(0));
  Value indices = asReadOnlyBuffer(b, loc, call.getOperand(1));
  return lowerElementwise(call, [&](OpBuilder &b, ValueRange position) -> Value {
    SmallVector<Value> at(position);
    at[axis] = asIndex(b, loc, memref::LoadOp::create(b, loc, indices, position));
    return memref::LoadOp::create(b, loc, from, at);
  });
}

LogicalResult lowerFlip(func::CallOp call) {
  FailureOr<RankedTensorType> source = tensorOperand(call, 0);
  int64_t axis = 0;
  if (failed(source) || failed(axisOperand(call, 1, *source, axis)))
    return failure();
  OpBuilder b(call);
  Location loc = call.getLoc();
  Value from = asReadOnlyBuffer(b, loc, call.getOperand(0));
  Value last = indexConstant(b, loc, source->getDimSize(axis) - 1);
  return lowerElementwise(call, [&](OpBuilder &b, ValueRange position) -> Value {
    SmallVector<Value> at(position);
    at[axis] = arith::SubIOp::create(b, loc, last, position[axis]);
    return memref::LoadOp::create(b, loc, from, at);
  });
}

std::string typeName(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

LogicalResult lowerSort(func::CallOp call) {
  FailureOr<RankedTensorType> type = tensorOperand(call, 0);
  int64_t axis = 0, descending = 0;
  if (failed(type) || failed(axisOperand(call, 1, *type, axis)) ||
      failed(constantOperand(call, 2, "the descending flag", descending)))
    return failure();
  std::string name = "piton_sort_" + typeName(type->getElementType());
  if (!deviceLibraryDefines(name))
    return call.emitError("sorting ") << type->getElementType() << " is not supported";
  OpBuilder b(call);
  Location loc = call.getLoc();
  Value out = newBuffer(b, loc, *type);
  memref::CopyOp::create(b, loc, asReadOnlyBuffer(b, loc, call.getOperand(0)), out);
  int64_t outer = 1, inner = 1, count = type->getDimSize(axis);
  for (int64_t d = 0; d < type->getRank(); ++d)
    (d < axis ? outer : inner) *= d == axis ? 1 : type->getDimSize(d);
  Value scratch = newBuffer(b, loc, RankedTensorType::get({2 * count}, type->getElementType()));
  auto pointerType = LLVM::LLVMPointerType::get(b.getContext());
  Type i64 = b.getI64Type();
  auto function = declareFunction(
      b, call, name,
      b.getFunctionType({pointerType, pointerType, i64, i64, i64, b.getI32Type()}, {}));
  SmallVector<Value> zeros(type->getRank(), indexConstant(b, loc, 0));
  func::CallOp::create(
      b, loc, function,
      ValueRange{elementPointer(b, loc, out, zeros), elementPointer(b, loc, scratch, zeros.front()),
                 i64Constant(b, loc, outer), i64Constant(b, loc, count), i64Constant(b, loc, inner),
                 i32Constant(b, loc, int32_t(descending))});
  finish(call, bufferAsTensor(b, loc, out));
  return success();
}

/// triton_indirect_load(base, offsets[, mask[, other]]): masked-off lanes read nothing.
LogicalResult lowerIndirectLoad(func::CallOp call) {
  OpBuilder b(call);
  Location loc = call.getLoc();
  if (call.getNumOperands() < 2 || !isa<MemRefType>(call.getOperand(0).getType()))
    return call.emitError("an indirect load takes a memref and offsets");
  Value base = call.getOperand(0);
  Value offsets = asReadOnlyBuffer(b, loc, call.getOperand(1));
  Value mask, other;
  if (call.getNumOperands() > 2)
    mask = asReadOnlyBuffer(b, loc, call.getOperand(2));
  if (call.getNumOperands() > 3)
    other = asReadOnlyBuffer(b, loc, call.getOperand(3));
  return lowerElementwise(call, [&](OpBuilder &b, ValueRange position) -> Value {
    auto load = [&](OpBuilder &b) -> Value {
      Value offset = asIndex(b, loc, memref::LoadOp::create(b, loc, offsets, position));
      return memref::LoadOp::create(b, loc, base, offset);
    };
    if (!mask)
      return load(b);
    Value active = memref::LoadOp::create(b, loc, mask, position);
    Type element = cast<MemRefType>(base.getType()).getElementType();
    auto branch = scf::IfOp::create(b, loc, TypeRange{element}, active, true);
    OpBuilder then = OpBuilder::atBlockBegin(branch.thenBlock());
    scf::YieldOp::create(then, loc, load(then));
    OpBuilder otherwise = OpBuilder::atBlockBegin(branch.elseBlock());
    Value fallback =
        other
            ? memref::LoadOp::create(otherwise, loc, other, position).getResult()
            : arith::ConstantOp::create(otherwise, loc, otherwise.getZeroAttr(element)).getResult();
    scf::YieldOp::create(otherwise, loc, fallback);
    return branch.getResult(0);
  });
}

LogicalResult lowerIndirectStore(func::CallOp call) {
  OpBuilder b(call);
  Location loc = call.getLoc();
  if (call.getNumOperands() < 3 || !isa<MemRefType>(call.getOperand(0).getType()))
    return call.emitError("an indirect store takes a memref, offsets and values");
  Value offsets = asReadOnlyBuffer(b, loc, call.getOperand(1));
  Value values = asReadOnlyBuffer(b, loc, call.getOperand(2));
  Value mask = call.getNumOperands() > 3 ? asReadOnlyBuffer(b, loc, call.getOperand(3)) : Value();
  emitLoopNest(b, loc, memrefSizes(b, loc, values), [&](OpBuilder &b, ValueRange position) {
    OpBuilder::InsertionGuard guard(b);
    if (mask) {
      Value active = memref::LoadOp::create(b, loc, mask, position);
      auto branch = scf::IfOp::create(b, loc, active, false);
      b.setInsertionPointToStart(branch.thenBlock());
    }
    Value value = memref::LoadOp::create(b, loc, values, position);
    Value offset = asIndex(b, loc, memref::LoadOp::create(b, loc, offsets, position));
    memref::StoreOp::create(b, loc, value, call.getOperand(0), offset);
  });
  call.erase();
  return success();
}

/// triton_print: one service call with an operand record per value.
LogicalResult lowerPrint(func::CallOp call, func::FuncOp callee) {
  OpBuilder b(call);
  Location loc = call.getLoc();
  StringRef prefix;
  if (auto attribute = callee->getAttrOfType<StringAttr>("prefix"))
    prefix = attribute.getValue();
  bool hex = false;
  if (auto attribute = callee->getAttrOfType<BoolAttr>("hex"))
    hex = attribute.getValue();
  SmallVector<bool> isSigned(call.getNumOperands(), true);
  Attribute signs = callee->getAttr("is_signed");
  for (unsigned i = 0, e = call.getNumOperands(); i < e; ++i) {
    if (auto array = dyn_cast_or_null<DenseI32ArrayAttr>(signs); array && i < array.size())
      isSigned[i] = array[i] != 0;
    else if (auto flags = dyn_cast_or_null<DenseBoolArrayAttr>(signs); flags && i < flags.size())
      isSigned[i] = flags[i];
    else if (auto list = dyn_cast_or_null<ArrayAttr>(signs); list && i < list.size())
      if (auto integer = dyn_cast<IntegerAttr>(list[i]))
        isSigned[i] = integer.getValue() != 0;
  }
  unsigned count = call.getNumOperands();
  Value records =
      entryAlloca(b, loc, b.getI8Type(), std::max<int64_t>(1, count) * sizeof(PrintOperand));
  for (unsigned i = 0; i < count; ++i) {
    Value operand = call.getOperand(i);
    Type element = getElementTypeOrSelf(operand.getType());
    std::optional<ElementType> type = abiElementType(element, isSigned[i]);
    if (!type || isa<LLVM::LLVMPointerType>(element))
      return call.emitError("values of type ") << operand.getType() << " cannot be printed";
    Value data;
    SmallVector<int64_t> shape;
    int64_t elements = 1;
    if (auto tensor = dyn_cast<RankedTensorType>(operand.getType())) {
      if (!tensor.hasStaticShape())
        return call.emitError("tensors of dynamic shape cannot be printed");
      shape.assign(tensor.getShape().begin(), tensor.getShape().end());
      elements = tensor.getNumElements();
      Value buffer = bufferization::ToBufferOp::create(
          b, loc, MemRefType::get(tensor.getShape(), element), operand, /*read_only=*/true);
      data = elementPointer(b, loc, buffer,
                            SmallVector<Value>(shape.size(), indexConstant(b, loc, 0)));
    } else if (isa<MemRefType>(operand.getType())) {
      Value address = memref::ExtractAlignedPointerAsIndexOp::create(b, loc, operand);
      data = entryAlloca(b, loc, b.getI64Type());
      LLVM::StoreOp::create(b, loc, arith::IndexCastOp::create(b, loc, b.getI64Type(), address),
                            data);
      type = ElementType::Pointer;
    } else {
      if (element.isInteger(1)) {
        operand = arith::ExtUIOp::create(b, loc, b.getI8Type(), operand);
        element = b.getI8Type();
      }
      if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 8)
        operand = arith::BitcastOp::create(b, loc, b.getI8Type(), operand);
      data = entryAlloca(b, loc, operand.getType());
      LLVM::StoreOp::create(b, loc, operand, data);
    }
    Value shapeArray = entryAlloca(b, loc, b.getI64Type(), std::max<int64_t>(1, shape.size()));
    for (auto [d, size] : llvm::enumerate(shape))
      storeAt(b, loc, i64Constant(b, loc, size), shapeArray, d * 8);
    int64_t at = i * sizeof(PrintOperand);
    storeAt(b, loc, data, records, at + offsetof(PrintOperand, data));
    storeAt(b, loc, i64Constant(b, loc, elements), records, at + offsetof(PrintOperand, count));
    storeAt(b, loc, i32Constant(b, loc, int32_t(*type)), records,
            at + offsetof(PrintOperand, type));
    storeAt(b, loc, i32Constant(b, loc, shape.size()), records, at + offsetof(PrintOperand, rank));
    storeAt(b, loc, shapeArray, records, at + offsetof(PrintOperand, shape));
  }
  Value text = stringConstant(b, loc, call->getParentOfType<ModuleOp>(), prefix);
  callService(b, loc, blockContext(call), offsetof(BlockServices, print),
              {text, i32Constant(b, loc, hex), records, i32Constant(b, loc, count)});
  call.erase();
  return success();
}

/// The innermost file position of a location, for messages at the user's line.
void sourcePosition(Location loc, std::string &file, int64_t &line) {
  file.clear();
  line = 0;
  loc->walk([&](Location part) {
    auto position = dyn_cast<FileLineColLoc>(part);
    if (!position)
      return WalkResult::advance();
    file = position.getFilename().str();
    line = position.getLine();
    return WalkResult::interrupt();
  });
}

LogicalResult lowerAssert(func::CallOp call, func::FuncOp callee) {
  OpBuilder b(call);
  Location loc = call.getLoc();
  if (call.getNumOperands() != 1 || !getElementTypeOrSelf(call.getOperand(0).getType()).isInteger())
    return call.emitError("an assertion takes one condition");
  StringRef message;
  if (auto attribute = callee->getAttrOfType<StringAttr>("msg"))
    message = attribute.getValue();
  std::string file;
  int64_t line;
  sourcePosition(loc, file, line);
  auto module = call->getParentOfType<ModuleOp>();
  Value context = blockContext(call);
  Value condition = asReadOnlyBuffer(b, loc, call.getOperand(0));
  SmallVector<Value> sizes;
  if (isa<MemRefType>(condition.getType()))
    sizes = memrefSizes(b, loc, condition);
  Value text = stringConstant(b, loc, module, message);
  Value fileText = stringConstant(b, loc, module, file);
  emitLoopNest(b, loc, sizes, [&](OpBuilder &b, ValueRange indices) {
    Value value = isa<MemRefType>(condition.getType())
                      ? memref::LoadOp::create(b, loc, condition, indices).getResult()
                      : condition;
    Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(value.getType()));
    Value bad = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, value, zero);
    auto branch = scf::IfOp::create(b, loc, bad, false);
    OpBuilder then = OpBuilder::atBlockBegin(branch.thenBlock());
    callService(then, loc, context, offsetof(BlockServices, assertFail),
                {text, fileText, i32Constant(then, loc, int32_t(line))});
  });
  call.erase();
  return success();
}

} // namespace

LogicalResult lowerHelperCall(func::CallOp call, func::FuncOp callee) {
  StringRef name = call.getCallee();
  if (!callee)
    return call.emitError("calls '") << name << "', which the module does not declare";
  if (name.starts_with("triton_print"))
    return lowerPrint(call, callee);
  if (name.starts_with("triton_assert"))
    return lowerAssert(call, callee);
  for (StringRef scan : {"cumsum", "cumprod", "cummax", "cummin"})
    if (name.starts_with(("triton_" + scan).str()))
      return lowerScan(call, scan);
  if (name.starts_with("triton_gather"))
    return lowerGather(call);
  if (name.starts_with("triton_sort"))
    return lowerSort(call);
  if (name.starts_with("triton_flip"))
    return lowerFlip(call);
  if (name.starts_with("triton_indirect_load"))
    return lowerIndirectLoad(call);
  if (name.starts_with("triton_indirect_store"))
    return lowerIndirectStore(call);
  if (deviceLibraryDefines(name))
    return success();
  return call.emitError("calls '") << name << "', which the device library does not have";
}

} // namespace piton::simulator
