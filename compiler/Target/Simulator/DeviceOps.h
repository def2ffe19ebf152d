// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowering of device-specific ops and helper calls, used by sim-prepare.
#ifndef PITON_COMPILER_TARGET_SIMULATOR_DEVICEOPS_H
#define PITON_COMPILER_TARGET_SIMULATOR_DEVICEOPS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace piton::simulator {

/// Replaces every atomic, helper call, hint and hivm/hfusion op of the kernel.
mlir::LogicalResult lowerDeviceOps(mlir::func::FuncOp kernel);

/// Lets what depends on the vector core of an AI core happen for both. The kernel has its context.
mlir::LogicalResult runBothSubVectors(mlir::func::FuncOp kernel);

/// A call of a device function by name (hivm.hir.custom).
mlir::LogicalResult lowerCustom(mlir::Operation *op);

/// `_mlir_ciface_<symbol>`; in a kernel for both cores with the suffix of the core that `op` is
/// for.
std::string deviceLinkName(mlir::Operation *op, llvm::StringRef symbol);

/// Device functions that may wait for another PE, block or vector core; barriers are among them.
bool mayWaitForOthers(llvm::StringRef symbol);
bool isBarrier(llvm::StringRef symbol);

/// A call of a `triton_*` helper or of another declared function.
mlir::LogicalResult lowerHelperCall(mlir::func::CallOp call, mlir::func::FuncOp callee);

/// An atomic in one of its forms; returns failure with an error when a kind is unknown.
mlir::LogicalResult lowerAtomicGeneric(mlir::linalg::GenericOp op);

/// Emits the loop of an atomic: memory[i] = kind(memory[i], value[i]), optionally under
/// `mask`, with the previous values in `old`. `compare` is for kind "cas".
mlir::LogicalResult emitAtomic(mlir::Operation *op, llvm::StringRef kind, llvm::StringRef ordering,
                               mlir::Value memory, mlir::Value compare, mlir::Value value,
                               mlir::Value mask, mlir::Value old);

/// Loads and copies with the attribute `volatile` become volatile accesses.
void lowerVolatile(mlir::func::FuncOp kernel);

/// Loops that read memory or do an atomic in their condition wait for other blocks: they
/// yield on the back edge, and their loads become volatile. Sets `piton.can_block`.
void markWaitingLoops(mlir::func::FuncOp kernel);

} // namespace piton::simulator

#endif // PITON_COMPILER_TARGET_SIMULATOR_DEVICEOPS_H
