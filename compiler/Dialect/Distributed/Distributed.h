// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `distributed` dialect in C++. Knows Triton's types and no platform.
#ifndef PITON_COMPILER_DIALECT_DISTRIBUTED_DISTRIBUTED_H
#define PITON_COMPILER_DIALECT_DISTRIBUTED_DISTRIBUTED_H

#include "compiler/Dialect/Triton/Triton.h"

#include "compiler/Dialect/Distributed/DistributedDialect.h.inc"
#include "compiler/Dialect/Distributed/DistributedEnums.h.inc"

namespace mlir::triton::distributed {

/// What a wait writes: the order of waits and of everything around them. No memory stands
/// behind it; without a write, MLIR may delete a wait whose token is unused, and merge two.
struct WaitOrder : public SideEffects::Resource::Base<WaitOrder> {
  StringRef getName() final { return "<DistributedWaitOrder>"; }
};

} // namespace mlir::triton::distributed

#define GET_OP_CLASSES
#include "compiler/Dialect/Distributed/DistributedOps.h.inc"

#endif // PITON_COMPILER_DIALECT_DISTRIBUTED_DISTRIBUTED_H
