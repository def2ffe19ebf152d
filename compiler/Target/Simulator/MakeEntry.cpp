// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// sim-make-entry: the kernel with bare pointers, and `piton_entry_<kernel>`, which unpacks
// the argument block that the launcher packed (abi/KernelAbi.h).
#include "compiler/Target/Simulator/Utils.h"
#include "compiler/Transforms/Passes.h"

#include "abi/KernelImage.h"

namespace piton {
#define GEN_PASS_DEF_SIMMAKEENTRY
#include "compiler/Transforms/Passes.h.inc"
} // namespace piton

using namespace mlir;
using namespace piton;
using namespace piton::simulator;

namespace {

struct SimMakeEntryPass : piton::impl::SimMakeEntryBase<SimMakeEntryPass> {
  /// One argument from the packed block at its slot.
  Value unpack(OpBuilder &b, Location loc, Type type, Value block, int64_t offset) {
    if (type.isF16() || type.isBF16()) {
      Value wide = loadAt(b, loc, b.getF32Type(), block, offset);
      if (type.isF16())
        return arith::TruncFOp::create(b, loc, type, wide);
      // The launcher widened a bfloat16, so its low half is zero: no rounding.
      Value bits = arith::BitcastOp::create(b, loc, b.getI32Type(), wide);
      Value high = arith::ShRUIOp::create(b, loc, bits, i32Constant(b, loc, 16));
      Value narrow = arith::TruncIOp::create(b, loc, b.getI16Type(), high);
      return arith::BitcastOp::create(b, loc, type, narrow);
    }
    if (auto integer = dyn_cast<IntegerType>(type); integer && integer.getWidth() < 32) {
      Value wide = loadAt(b, loc, b.getI32Type(), block, offset);
      return arith::TruncIOp::create(b, loc, type, wide);
    }
    if (isa<IndexType>(type))
      return arith::IndexCastOp::create(b, loc, type,
                                        loadAt(b, loc, b.getI64Type(), block, offset));
    return loadAt(b, loc, type, block, offset);
  }

  /// memref arguments become pointers; a descriptor is rebuilt at the start of the body.
  LogicalResult usePointers(func::FuncOp kernel) {
    MLIRContext *context = &getContext();
    auto pointerType = LLVM::LLVMPointerType::get(context);
    OpBuilder b(context);
    b.setInsertionPointToStart(&kernel.getBody().front());
    SmallVector<Type> inputs;
    for (unsigned i = 0, e = kernel.getNumArguments(); i < e; ++i) {
      BlockArgument argument = kernel.getArgument(i);
      auto type = dyn_cast<MemRefType>(argument.getType());
      if (!type) {
        inputs.push_back(argument.getType());
        continue;
      }
      if (type.getRank() > 0 && type.getNumDynamicDims() + (type.getRank() > 1) > 1)
        return kernel.emitError("argument ")
               << i << " has type " << type << "; a kernel takes memref<?xT>";
      inputs.push_back(pointerType);
      argument.setType(pointerType);
      if (argument.use_empty())
        continue;
      Value descriptor = memrefFromPointer(b, kernel.getLoc(), argument, type, {});
      argument.replaceUsesWithIf(
          descriptor, [&](OpOperand &use) { return !isa<LLVM::InsertValueOp>(use.getOwner()); });
    }
    kernel.setFunctionType(FunctionType::get(context, inputs, {}));
    return success();
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    MLIRContext *context = &getContext();
    func::FuncOp kernel = findKernel(module);
    if (!kernel) {
      module.emitError("no prepared kernel in this module");
      return signalPassFailure();
    }
    if (kernel.getNumResults() != 0) {
      kernel.emitError("a kernel returns nothing");
      return signalPassFailure();
    }
    Location loc = kernel.getLoc();
    auto lockIndex = kernel->getAttrOfType<IntegerAttr>("SyncBlockLockArgIdx");
    auto workspaceIndex = kernel->getAttrOfType<IntegerAttr>("WorkspaceArgIdx");
    unsigned count = kernel.getNumArguments();
    unsigned contextIndex = count - 2, gridBegin = contextIndex - 6;
    if (count < 8 || !kernel.getArgAttr(contextIndex, kContextAttr)) {
      kernel.emitError("a kernel ends with six i32 program values");
      return signalPassFailure();
    }
    SmallVector<Type> types;
    for (BlockArgument argument : kernel.getArguments())
      types.push_back(argument.getType());
    if (failed(usePointers(kernel)))
      return signalPassFailure();

    auto pointerType = LLVM::LLVMPointerType::get(context);
    OpBuilder b(context);
    b.setInsertionPointToEnd(module.getBody());
    std::string name = (kEntryPrefix + kernel.getSymName()).str();
    auto entry =
        func::FuncOp::create(b, loc, name, b.getFunctionType({pointerType, pointerType}, {}));
    Block *body = entry.addEntryBlock();
    b.setInsertionPointToStart(body);
    Value block = body->getArgument(0), blockContext = body->getArgument(1);
    SmallVector<Value> operands;
    SmallVector<Attribute> layout; // pairs (argument index, offset)
    int64_t offset = 0;
    for (unsigned i = 0; i < count; ++i) {
      Type type = types[i];
      if (lockIndex && i == lockIndex.getInt()) {
        operands.push_back(
            loadAt(b, loc, pointerType, blockContext, offsetof(BlockContext, lockBuffer)));
      } else if (workspaceIndex && i == workspaceIndex.getInt()) {
        operands.push_back(
            loadAt(b, loc, pointerType, blockContext, offsetof(BlockContext, workspace)));
      } else if (i == contextIndex) {
        operands.push_back(blockContext);
      } else if (i == contextIndex + 1) {
        operands.push_back(
            loadAt(b, loc, pointerType, blockContext, offsetof(BlockContext, arena)));
      } else if (i >= gridBegin) {
        unsigned axis = i - gridBegin;
        int64_t at = axis < 3 ? offsetof(BlockContext, grid) + 4 * axis
                              : offsetof(BlockContext, pid) + 4 * (axis - 3);
        operands.push_back(loadAt(b, loc, b.getI32Type(), blockContext, at));
      } else {
        std::optional<ElementType> abi = abiElementType(type);
        if (!abi) {
          kernel.emitError("argument ")
              << i << " has type " << type << ", which no launch can pass";
          return signalPassFailure();
        }
        int64_t slot = argumentSlotBytes(*abi);
        offset = (offset + slot - 1) / slot * slot;
        operands.push_back(
            unpack(b, loc, isa<MemRefType>(type) ? Type(pointerType) : type, block, offset));
        layout.push_back(b.getI64IntegerAttr(i));
        layout.push_back(b.getI64IntegerAttr(offset));
        layout.push_back(TypeAttr::get(type));
        offset += slot;
      }
    }
    func::CallOp::create(b, loc, kernel, operands);
    func::ReturnOp::create(b, loc);
    kernel->setAttr("piton.arguments", b.getArrayAttr(layout));
    kernel->setAttr("piton.arg_bytes", b.getI64IntegerAttr((offset + 7) / 8 * 8));
    kernel.setPrivate();
    // The arena is this block's own: nothing else points into it.
    kernel.setArgAttr(contextIndex + 1, "llvm.noalias", UnitAttr::get(context));
    kernel.setArgAttr(contextIndex + 1, "llvm.align", b.getI64IntegerAttr(64));
    kernel->setAttr("passthrough", b.getArrayAttr({b.getStringAttr("noinline")}));
  }
};

} // namespace
