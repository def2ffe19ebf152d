// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// hivm.hir.custom: a call of a function of the device library by its link name. The name follows
// the real compiler's rule, so that one symbol means the same function in both back ends.
#include "compiler/Target/Simulator/DeviceOps.h"
#include "compiler/Target/Simulator/Utils.h"
#include "compiler/Target/SimulatorCodegen.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace piton;

namespace piton::simulator {

namespace {

bool isMixed(func::FuncOp kernel) {
  auto mode = kernel->getAttrOfType<StringAttr>("mix_mode");
  return mode && mode.getValue() == "mix";
}

} // namespace

std::string deviceLinkName(Operation *op, StringRef symbol) {
  std::string name = ("_mlir_ciface_" + symbol).str();
  if (!isMixed(op->getParentOfType<func::FuncOp>()))
    return name;
  std::string core;
  if (Attribute attribute = op->getAttr("hivm.tcore_type"))
    llvm::raw_string_ostream(core) << attribute;
  return name + (StringRef(core).ends_with("<CUBE>") ? ".cube" : ".vector");
}

bool isBarrier(StringRef symbol) {
  return symbol.contains("_barrier") || symbol.starts_with("aclshmem_sync");
}

bool mayWaitForOthers(StringRef symbol) { return symbol.contains("_wait") || isBarrier(symbol); }

namespace {

/// A memref's descriptor on the stack: the element at index 0 with offset 0, sizes and strides.
Value makeDescriptor(OpBuilder &b, Location loc, Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  const int64_t rank = type.getRank();
  Value slot = entryAlloca(b, loc, b.getI8Type(), 24 + 16 * rank);
  SmallVector<Value> zeros(rank, indexConstant(b, loc, 0));
  Value first = elementPointer(b, loc, memref, zeros);
  storeAt(b, loc, first, slot, 0);
  storeAt(b, loc, first, slot, 8);
  storeAt(b, loc, i64Constant(b, loc, 0), slot, 16);
  auto metadata = memref::ExtractStridedMetadataOp::create(b, loc, memref);
  SmallVector<Value> sizes = memrefSizes(b, loc, memref);
  for (int64_t d = 0; d < rank; ++d) {
    auto field = [&](Value index, int64_t at) {
      storeAt(b, loc, arith::IndexCastOp::create(b, loc, b.getI64Type(), index), slot, at);
    };
    field(sizes[d], 24 + 8 * d);
    field(metadata.getStrides()[d], 24 + 8 * rank + 8 * d);
  }
  return slot;
}

/// A type as LLVM writes it, for comparing with the library's signatures.
std::string llvmName(Type type) {
  if (isa<LLVM::LLVMPointerType>(type))
    return "ptr";
  if (type.isF16())
    return "half";
  if (type.isBF16())
    return "bfloat";
  if (type.isF32())
    return "float";
  if (type.isF64())
    return "double";
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

std::string signatureOf(FunctionType type) {
  std::string text = type.getNumResults() ? llvmName(type.getResult(0)) : "void";
  text += " (";
  for (auto [i, input] : llvm::enumerate(type.getInputs()))
    text += (i ? ", " : "") + llvmName(input);
  return text + ")";
}

/// What the function is called with, in the library's order: a memref result first.
LogicalResult collectArguments(Operation *op, OpBuilder &b, SmallVector<Value> &arguments) {
  Location loc = op->getLoc();
  for (Value operand : op->getOperands()) {
    Type type = operand.getType();
    if (isa<MemRefType>(type))
      arguments.push_back(makeDescriptor(b, loc, operand));
    else if (isa<IndexType>(type))
      arguments.push_back(arith::IndexCastOp::create(b, loc, b.getI64Type(), operand));
    else if (isa<IntegerType, FloatType>(type))
      arguments.push_back(operand);
    else
      return op->emitOpError() << "passes " << type
                               << " to a device function, which takes pointers and scalars";
  }
  return success();
}

/// The dependency on a token has done its work once the order of operations is fixed.
LogicalResult foldConsumeToken(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumOperands() < 1 ||
      op->getOperand(0).getType() != op->getResult(0).getType())
    return op->emitOpError("gives another type than it takes");
  op->getResult(0).replaceAllUsesWith(op->getOperand(0));
  op->erase();
  return success();
}

} // namespace

LogicalResult lowerCustom(Operation *op) {
  auto attribute = op->getAttrOfType<StringAttr>("symbol");
  if (!attribute)
    return op->emitOpError("is a builtin of the NPU that the simulator does not have");
  StringRef symbol = attribute.getValue();
  auto function = op->getParentOfType<func::FuncOp>();
  function->setAttr(kDistributedAttr, UnitAttr::get(op->getContext()));
  if (symbol.starts_with("aclshmem_consume_token_"))
    return foldConsumeToken(op);
  std::string name = deviceLinkName(op, symbol);
  std::optional<std::string> signature = shmemLibrarySignature(name);
  if (!signature || symbol.starts_with("piton_"))
    return op->emitOpError() << "calls '" << symbol << "', which the device library does not have";
  if (op->getNumResults() > 1)
    return op->emitOpError() << "takes " << op->getNumResults() << " results from '" << symbol
                             << "'; functions of the device library give one at most";

  OpBuilder b(op);
  Location loc = op->getLoc();
  SmallVector<Value> arguments;
  Value result;
  auto memref = op->getNumResults() ? dyn_cast<MemRefType>(op->getResult(0).getType()) : nullptr;
  if (memref) {
    result = entryAlloca(b, loc, b.getI8Type(), 24 + 16 * memref.getRank());
    arguments.push_back(result);
  }
  if (failed(collectArguments(op, b, arguments)))
    return failure();
  SmallVector<Type> results;
  if (op->getNumResults() && !memref)
    results.push_back(op->getResult(0).getType());
  auto type = b.getFunctionType(ValueRange(arguments).getTypes(), results);
  if (signatureOf(type) != *signature)
    return op->emitOpError() << "calls '" << symbol << "' as " << signatureOf(type)
                             << ", but the device library has it as " << *signature;
  auto callee = declareFunction(b, op, name, type);
  auto call = func::CallOp::create(b, loc, callee, arguments);
  if (memref) {
    Value address = loadAt(b, loc, result.getType(), result, 8);
    op->getResult(0).replaceAllUsesWith(memrefFromPointer(b, loc, address, memref, {}));
  } else if (op->getNumResults()) {
    op->getResult(0).replaceAllUsesWith(call.getResult(0));
  }
  if (mayWaitForOthers(symbol))
    function->setAttr(kCanBlockAttr, b.getUnitAttr());
  op->erase();
  return success();
}

} // namespace piton::simulator
