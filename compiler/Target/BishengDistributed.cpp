// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls of the communication library. The compiler orders nothing between a store and a following
// signal on another argument, and takes consume_token for pointers only. The 950 compiler does not
// know distributed ops: those without results that run on one kind of core pass as ordinary custom
// ops, the others become calls, and an address on another PE is computed here.
#include "compiler/Target/BishengForms.h"

#include "abi/DeviceState.h"
#include "compiler/Conversion/TritonToLinalg/NpuOps.h"
#include "compiler/Dialect/HACC/HACC.h"
#include "compiler/Dialect/HIVM/HIVM.h"

using namespace mlir;

namespace piton::bisheng {
namespace {

/// Functions whose effect another PE may see at once: what was stored before must be in memory.
bool publishes(StringRef symbol) {
  return symbol.ends_with("_p") || symbol.contains("signal") || symbol.contains("barrier") ||
         symbol.contains("putmem") || symbol.contains("_atomic_");
}

/// Signals, which other PEs take for news of the data before them. A barrier joins all cores.
bool isSignal(StringRef symbol) {
  return publishes(symbol) && !symbol.contains("barrier") && !symbol.contains("wait");
}

bool isConsumeToken(StringRef symbol) { return symbol.starts_with("aclshmem_consume_token_"); }

void fold(hivm::CustomOp op) {
  op->getResult(0).replaceAllUsesWith(op->getOperand(0));
  op->erase();
}

Value i64(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantIntOp::create(b, loc, b.getI64Type(), value);
}

/// The integer in global memory at an address. Its memory has a static shape: the compiler for 950
/// asserts on a dynamic one whose size nothing else uses.
Value loadWord(OpBuilder &b, Location loc, Value address, unsigned width = 64) {
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  auto type = MemRefType::get({1}, b.getIntegerType(width));
  Value memory = linalglowering::createPointerCast(b, loc, address, /*size=*/nullptr, type);
  return memref::LoadOp::create(b, loc, memory, zero);
}

/// aclshmem_ptr: the offset in this PE's heap plus the other PE's heap, from the device state.
void expandAddress(hivm::CustomOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  auto type = cast<MemRefType>(op->getResult(0).getType());
  Value local = memref::ExtractAlignedPointerAsIndexOp::create(b, loc, op->getOperand(0));
  local = arith::IndexCastOp::create(b, loc, b.getI64Type(), local);
  auto field = [&](uint64_t offset) {
    return loadWord(b, loc, i64(b, loc, static_cast<int64_t>(kDeviceStateAddress + offset)));
  };
  Value heap = field(offsetof(DeviceState, heapBase));
  Value table = field(offsetof(DeviceState, p2pHeapBase));
  Value pe = arith::ExtSIOp::create(b, loc, b.getI64Type(), op->getOperand(1));
  Value slot =
      arith::AddIOp::create(b, loc, table, arith::MulIOp::create(b, loc, pe, i64(b, loc, 8)));
  Value remote = arith::AddIOp::create(b, loc, loadWord(b, loc, slot),
                                       arith::SubIOp::create(b, loc, local, heap));
  Value size = arith::ConstantIndexOp::create(b, loc, 1);
  op->getResult(0).replaceAllUsesWith(
      linalglowering::createPointerCast(b, loc, remote, size, type));
  op->erase();
}

/// my_pe and n_pes: a field of the device state.
void expandField(hivm::CustomOp op, uint64_t offset) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  Value address = i64(b, loc, static_cast<int64_t>(kDeviceStateAddress + offset));
  op->getResult(0).replaceAllUsesWith(loadWord(b, loc, address, 32));
  op->erase();
}

/// A wait's token has done its work; nobody needs the number.
hivm::CustomOp withoutResult(hivm::CustomOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  auto bare = hivm::CustomOp::create(b, loc, TypeRange(), op.getNameAttr(), op.getInputs(),
                                     op.getOutputs(), op.getTemps());
  bare->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  Type type = op->getResult(0).getType();
  op->getResult(0).replaceAllUsesWith(arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, 0)));
  op->erase();
  return bare;
}

/// A call on both kinds of core as one on each that the kernel has.
void splitByCore(hivm::CustomOp op) {
  auto mode = op->getParentOfType<func::FuncOp>()->getAttrOfType<StringAttr>("mix_mode");
  StringRef kind = mode ? mode.getValue() : "aiv";
  auto setCore = [](Operation *call, hivm::TCoreType core) {
    call->setDiscardableAttr("hivm.tcore_type", hivm::TCoreTypeAttr::get(call->getContext(), core));
  };
  if (kind == "mix") {
    OpBuilder b(op);
    setCore(b.clone(*op), hivm::TCoreType::CUBE);
  }
  setCore(op, kind == "aic" ? hivm::TCoreType::CUBE : hivm::TCoreType::VECTOR);
}

/// A private declaration of a device function; its name carries the C prefix by hand unless a
/// memref makes the compiler add it.
func::FuncOp declare(hivm::CustomOp op, StringRef symbol) {
  const bool hasMemref = llvm::any_of(op->getOperandTypes(), llvm::IsaPred<MemRefType>);
  auto module = op->getParentOfType<ModuleOp>();
  std::string name = (hasMemref ? "" : "_mlir_ciface_") + symbol.str();
  if (auto existing = module.lookupSymbol<func::FuncOp>(name))
    return existing;
  OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
  MLIRContext *context = op.getContext();
  auto function = func::FuncOp::create(
      b, op.getLoc(), name, b.getFunctionType(op->getOperandTypes(), op->getResultTypes()));
  function.setPrivate();
  auto core = hivm::FuncCoreType::AIV;
  if (auto type = op->getAttrOfType<hivm::TCoreTypeAttr>("hivm.tcore_type"))
    if (type.getValue() != hivm::TCoreType::VECTOR)
      core = type.getValue() == hivm::TCoreType::CUBE ? hivm::FuncCoreType::AIC
                                                      : hivm::FuncCoreType::AIC_OR_AIV;
  function->setAttr("hivm.func_core_type", hivm::FuncCoreTypeAttr::get(context, core));
  function->setAttr("hacc.function_kind",
                    hacc::FunctionKindAttr::get(context, hacc::FunctionKind::DEVICE));
  if (hasMemref)
    function->setAttr("llvm.emit_c_interface", b.getUnitAttr());
  return function;
}

/// The form for the 950 compiler.
LogicalResult legalizeA5(hivm::CustomOp op, StringRef symbol, Context &context) {
  op->removeAttr("hivm.is_distributed");
  if (isConsumeToken(symbol)) {
    fold(op);
    return success();
  }
  if (symbol.starts_with("aclshmem_ptr_") && op->getNumResults() == 1 &&
      isa<MemRefType>(op->getResult(0).getType())) {
    expandAddress(op);
    return success();
  }
  if (llvm::any_of(op->getResultTypes(), llvm::IsaPred<ShapedType>))
    return refuse(op, context.family, "a device function that gives memory",
                  "let it give the address as an integer");
  if (symbol == "aclshmem_my_pe" || symbol == "aclshmem_n_pes") {
    expandField(op, symbol == "aclshmem_my_pe" ? offsetof(DeviceState, myPe)
                                               : offsetof(DeviceState, peCount));
    return success();
  }
  if (symbol.starts_with("aclshmem_wait_") && op->getNumResults() == 1)
    op = withoutResult(op);
  if (op->getNumResults() == 0) {
    auto core = op->getAttrOfType<hivm::TCoreTypeAttr>("hivm.tcore_type");
    if (core && core.getValue() == hivm::TCoreType::CUBE_AND_VECTOR)
      splitByCore(op);
    return success();
  }
  OpBuilder b(op);
  auto call = func::CallOp::create(b, op.getLoc(), declare(op, symbol), op->getOperands());
  op->replaceAllUsesWith(call.getResults());
  op->erase();
  return success();
}

} // namespace

LogicalResult legalizeDistributed(ModuleOp module, Context &context) {
  SmallVector<hivm::CustomOp> calls;
  module.walk([&](hivm::CustomOp op) {
    if (op->hasAttr("hivm.is_distributed"))
      calls.push_back(op);
  });
  for (hivm::CustomOp op : calls) {
    auto attribute = op->getAttrOfType<StringAttr>("symbol");
    StringRef symbol = attribute ? attribute.getValue() : "";
    if (isConsumeToken(symbol) && isa<RankedTensorType>(op->getOperand(0).getType())) {
      fold(op); // data that is there already
      continue;
    }
    if (isSignal(symbol))
      raiseOnOneCore(op);
    if (publishes(symbol)) {
      OpBuilder b(op);
      hivm::PipeBarrierOp::create(b, op.getLoc(),
                                  hivm::PipeAttr::get(op.getContext(), hivm::Pipe::PIPE_ALL));
    }
    if (!context.isC220() && failed(legalizeA5(op, symbol, context)))
      return failure();
  }
  return success();
}

} // namespace piton::bisheng
