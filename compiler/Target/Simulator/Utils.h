// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Helpers shared by the simulator's passes: addresses of memref elements, loop nests,
// calls of the machine's services.
#ifndef PITON_COMPILER_TARGET_SIMULATOR_UTILS_H
#define PITON_COMPILER_TARGET_SIMULATOR_UTILS_H

#include "abi/KernelAbi.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

#include <functional>

namespace piton::simulator {

/// Argument attribute of the kernel's BlockContext pointer, added by sim-prepare.
inline constexpr char kContextAttr[] = "piton.context";
/// Argument attribute of the block's arena, added by sim-assign-arena.
inline constexpr char kArenaAttr[] = "piton.arena";
/// Function attributes of the kernel that end up in the image metadata.
inline constexpr char kKernelAttr[] = "piton.kernel";
inline constexpr char kArenaBytesAttr[] = "piton.arena_bytes";
inline constexpr char kStackBytesAttr[] = "piton.stack_bytes";
inline constexpr char kCanBlockAttr[] = "piton.can_block";
inline constexpr char kDistributedAttr[] = "piton.distributed";
/// Kernels whose two sides run at the same time: bytes that the sides of a block share.
inline constexpr char kSharedBytesAttr[] = "piton.shared_bytes";

/// The kernel of a prepared module; null when there is none.
mlir::func::FuncOp findKernel(mlir::ModuleOp module);

/// The BlockContext argument of the kernel that holds `op`; null outside a kernel.
mlir::Value blockContext(mlir::Operation *op);

mlir::Value indexConstant(mlir::OpBuilder &b, mlir::Location loc, int64_t value);
mlir::Value i64Constant(mlir::OpBuilder &b, mlir::Location loc, int64_t value);
mlir::Value i32Constant(mlir::OpBuilder &b, mlir::Location loc, int32_t value);

/// The !llvm.ptr of memref[indices].
mlir::Value elementPointer(mlir::OpBuilder &b, mlir::Location loc, mlir::Value memref,
                           mlir::ValueRange indices);

/// A memref over a pointer: sizes as given for dynamic dims, strides of the row-major
/// layout, offset 0.
mlir::Value memrefFromPointer(mlir::OpBuilder &b, mlir::Location loc, mlir::Value pointer,
                              mlir::MemRefType type, mlir::ValueRange dynamicSizes);

/// Extents of a memref as index values.
llvm::SmallVector<mlir::Value> memrefSizes(mlir::OpBuilder &b, mlir::Location loc,
                                           mlir::Value memref);

/// A nest of scf.for from 0 to `sizes`; `body` gets the induction variables.
void emitLoopNest(mlir::OpBuilder &b, mlir::Location loc, mlir::ValueRange sizes,
                  llvm::function_ref<void(mlir::OpBuilder &, mlir::ValueRange)> body);

/// A tensor as a read-only memref of any layout; a memref as it is.
mlir::Value asReadOnlyBuffer(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value);

/// A global, NUL terminated string of the module; gives its address.
mlir::Value stringConstant(mlir::OpBuilder &b, mlir::Location loc, mlir::ModuleOp module,
                           llvm::StringRef text);

/// Calls the service at `offset` of BlockServices with (context, arguments...).
void callService(mlir::OpBuilder &b, mlir::Location loc, mlir::Value context, int64_t offset,
                 mlir::ValueRange arguments);

/// A stack slot in the entry block of the function that holds the insertion point.
mlir::Value entryAlloca(mlir::OpBuilder &b, mlir::Location loc, mlir::Type type, int64_t count = 1);

/// Stores `value` at `base` + `offset` bytes.
void storeAt(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value, mlir::Value base,
             int64_t offset);

/// Loads a `type` from `base` + `offset` bytes.
mlir::Value loadAt(mlir::OpBuilder &b, mlir::Location loc, mlir::Type type, mlir::Value base,
                   int64_t offset);

/// The private declaration of a function in the module that holds `at`.
mlir::func::FuncOp declareFunction(mlir::OpBuilder &b, mlir::Operation *at, llvm::StringRef name,
                                   mlir::FunctionType type);

/// The ABI's name of an element type; nothing for types it does not know.
std::optional<ElementType> abiElementType(mlir::Type type, bool isSigned = true);

/// Bytes of one element in memory (i1 takes one).
int64_t elementByteWidth(mlir::Type type);

} // namespace piton::simulator

#endif // PITON_COMPILER_TARGET_SIMULATOR_UTILS_H
