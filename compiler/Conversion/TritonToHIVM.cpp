// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Block synchronisation of the language extension -> hivm operations.
#include "compiler/Conversion/Passes.h"
#include "compiler/Dialect/Ascend/Ascend.h"
#include "compiler/Dialect/HIVM/HIVM.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace piton {
#define GEN_PASS_DEF_TRITONTOHIVMPASS
#include "compiler/Conversion/Passes.h.inc"
} // namespace piton

#define DEBUG_TYPE "triton-to-hivm"

using namespace mlir;
using namespace mlir::hivm;

namespace {

/// The two arguments of a synchronisation: who, and which flag.
struct SyncArguments {
  StringRef who;
  IntegerAttr flag;
};

FailureOr<SyncArguments> readArguments(triton::ascend::CustomOp op) {
  ArrayAttr args = op.getStrArgs();
  auto who = args.size() == 2 ? dyn_cast<StringAttr>(args[0]) : StringAttr();
  auto flag = args.size() == 2 ? dyn_cast<IntegerAttr>(args[1]) : IntegerAttr();
  if (!who || !flag)
    return op.emitOpError() << "'" << op.getOpName() << "' takes [mode or sender, event id], but "
                            << "has " << args;
  int64_t id = flag.getValue().getSExtValue();
  if (id < 0 || id > kMaxFlagId)
    return op.emitOpError() << "event id " << id << " is outside 0 to " << kMaxFlagId;
  return SyncArguments{who.getValue(), flag};
}

PipeAttr pipe(MLIRContext *context, Pipe which) { return PipeAttr::get(context, which); }

LogicalResult convertAll(triton::ascend::CustomOp op, const SyncArguments &args) {
  MLIRContext *context = op.getContext();
  std::optional<SyncBlockMode> mode = llvm::StringSwitch<std::optional<SyncBlockMode>>(args.who)
                                          .Case("all_cube", SyncBlockMode::ALL_CUBE)
                                          .Case("all_vector", SyncBlockMode::ALL_VECTOR)
                                          .Case("all", SyncBlockMode::ALL)
                                          .Case("all_sub_vector", SyncBlockMode::ALL_SUB_VECTOR)
                                          .Default(std::nullopt);
  if (!mode)
    return op.emitOpError() << "mode '" << args.who
                            << "' is none of all_cube, all_vector, all and all_sub_vector";
  PipeAttr cube, vector;
  if (*mode == SyncBlockMode::ALL_CUBE || *mode == SyncBlockMode::ALL)
    cube = pipe(context, Pipe::PIPE_FIX);
  if (*mode != SyncBlockMode::ALL_CUBE)
    vector = pipe(context, Pipe::PIPE_MTE3);
  OpBuilder builder(op);
  SyncBlockOp::create(builder, op.getLoc(), SyncBlockModeAttr::get(context, *mode),
                      builder.getI16IntegerAttr(args.flag.getInt()), /*ffts_base_addr=*/Value(),
                      cube, /*cube_pipe=*/PipeAttr(), vector, /*vector_pipe=*/PipeAttr());
  return success();
}

LogicalResult convertFlag(triton::ascend::CustomOp op, const SyncArguments &args, bool set) {
  MLIRContext *context = op.getContext();
  if (args.who != "cube" && args.who != "vector")
    return op.emitOpError() << "sender '" << args.who << "' is neither cube nor vector";
  bool cubeSends = args.who == "cube";
  // The sender raises; the receiver, which is the other side, waits.
  bool onCube = cubeSends == set;
  auto core = TCoreTypeAttr::get(context, onCube ? TCoreType::CUBE : TCoreType::VECTOR);
  PipeAttr from = pipe(context, cubeSends ? Pipe::PIPE_FIX : Pipe::PIPE_MTE3);
  PipeAttr to = pipe(context, Pipe::PIPE_MTE2);
  OpBuilder builder(op);
  IntegerAttr flag = builder.getI64IntegerAttr(args.flag.getInt());
  if (set)
    SyncBlockSetOp::create(builder, op.getLoc(), core, from, to, flag, Value(), Value(),
                           SyncBlockInstrModeAttr());
  else
    SyncBlockWaitOp::create(builder, op.getLoc(), core, from, to, flag, Value(),
                            SyncBlockInstrModeAttr());
  return success();
}

LogicalResult convert(triton::ascend::CustomOp op) {
  StringRef name = op.getOpName();
  if (name != "sync_block_all" && name != "sync_block_set" && name != "sync_block_wait")
    return op.emitOpError() << "Unknown custom operation: " << name
                            << " (known are sync_block_all, sync_block_set and sync_block_wait)";
  FailureOr<SyncArguments> args = readArguments(op);
  if (failed(args))
    return failure();
  if (failed(name == "sync_block_all" ? convertAll(op, *args)
                                      : convertFlag(op, *args, name == "sync_block_set")))
    return failure();
  op.erase();
  return success();
}

/// tl.debug_barrier: a block is one program, so what orders its memory operations on the
/// NPU is draining all pipes. There are no other threads to wait for.
void convertBarrier(gpu::BarrierOp op) {
  OpBuilder builder(op);
  PipeBarrierOp::create(builder, op.getLoc(), pipe(op.getContext(), Pipe::PIPE_ALL));
  op.erase();
}

struct TritonToHIVM : piton::impl::TritonToHIVMPassBase<TritonToHIVM> {
  void runOnOperation() override {
    bool ok = true; // report every wrong op, not only the first
    getOperation().walk([&](triton::ascend::CustomOp op) { ok &= succeeded(convert(op)); });
    getOperation().walk(convertBarrier);
    if (!ok)
      signalPassFailure();
  }
};

} // namespace
