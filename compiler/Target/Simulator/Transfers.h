// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies between memory and local buffers, and which of them a vector loop can do itself:
// a buffer that only holds a (masked) load is read from memory directly, a buffer that is
// only stored is written there directly.
#ifndef PITON_COMPILER_TARGET_SIMULATOR_TRANSFERS_H
#define PITON_COMPILER_TARGET_SIMULATOR_TRANSFERS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/ADT/MapVector.h"

namespace piton::simulator {

/// A local buffer filled by one copy: buffer[i] = i inside the box ? memory[i] : pad.
struct Load {
  mlir::memref::AllocOp buffer;
  mlir::memref::CopyOp copy;
  mlir::Value memory;                 ///< a view with the buffer's shape, innermost stride 1
  llvm::SmallVector<mlir::Value> box; ///< extents; null where the dimension is full
  mlir::Value pad;                    ///< scalar, or null: anything
  llvm::SmallPtrSet<mlir::OpOperand *, 4> readers; ///< operands that read the memory instead
  mlir::Operation *fill = nullptr; ///< erased with the copy; a guarding scf.if included
  /// The memory serves only when the box is full; else the buffer does, pad included. After the
  /// test no reader sees a box.
  bool wholeOnly = false;
  /// Views that are stored between the copy and a reader, in other memory or not; they exist
  /// at the copy. A reader may use the memory only if none overlaps the box.
  llvm::SmallVector<mlir::Value> crossed;
};

/// A local buffer written by one op and copied to memory inside a box.
struct Store {
  mlir::memref::AllocOp buffer;
  mlir::OpOperand *writer = nullptr; ///< writes the memory instead
  mlir::memref::CopyOp copy;
  mlir::Value memory;
  llvm::SmallVector<mlir::Value> box;
};

struct Transfers {
  llvm::MapVector<mlir::Value, Load> loads;         ///< by buffer
  llvm::MapVector<mlir::OpOperand *, Store> stores; ///< by writer

  /// The load that this operand reads from memory; null when there is none.
  const Load *loadOf(mlir::OpOperand &operand) const {
    auto load = loads.find(operand.get());
    return load != loads.end() && load->second.readers.contains(&operand) ? &load->second : nullptr;
  }
};

/// What a memref is a view of, through subviews and casts.
mlir::Value viewSource(mlir::Value memref);

/// True for memory of this block that no pointer argument reaches.
bool isLocalMemory(mlir::Value memref);

/// True when `op` may write memory outside of the block's local buffers, or synchronises.
bool mayWriteSharedMemory(mlir::Operation *op);

/// Finds the transfers whose only readers and writers satisfy `isVectorized`, or are dots
/// that can read memory (see readDotsFromMemory).
Transfers findTransfers(mlir::func::FuncOp function,
                        llvm::function_ref<bool(mlir::Operation *)> isVectorized);

/// Lets dots read the memory of loads instead of local copies. An end of the summed
/// dimension that both operands have limits the sum.
void readDotsFromMemory(mlir::func::FuncOp function, Transfers &transfers);

} // namespace piton::simulator

#endif // PITON_COMPILER_TARGET_SIMULATOR_TRANSFERS_H
