// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory effects that the destination-style ops of the NPU dialects share.
#ifndef PITON_COMPILER_DIALECT_DESTINATIONEFFECTS_H
#define PITON_COMPILER_DIALECT_DESTINATIONEFFECTS_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace piton {

/// Reads of the memref inputs of `op` and writes of its memref destinations, which are read too
/// when `readsDestination` is set. Tensor operands have no effects.
inline void addDpsEffects(mlir::DestinationStyleOpInterface op, bool readsDestination,
                          mlir::SmallVectorImpl<mlir::MemoryEffects::EffectInstance> &effects) {
  for (mlir::OpOperand &operand : op->getOpOperands()) {
    if (!mlir::isa<mlir::MemRefType>(operand.get().getType()))
      continue;
    bool init = op.isDpsInit(&operand);
    if (!init || readsDestination)
      effects.emplace_back(mlir::MemoryEffects::Read::get(), &operand);
    if (init)
      effects.emplace_back(mlir::MemoryEffects::Write::get(), &operand);
  }
}

} // namespace piton

#endif // PITON_COMPILER_DIALECT_DESTINATIONEFFECTS_H
