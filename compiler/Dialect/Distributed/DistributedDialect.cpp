// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `distributed` dialect: registration, and what its ops do to memory, which decides what
// generic passes may delete, merge and move.
#include "compiler/Dialect/Distributed/Distributed.h"

#include "mlir/Transforms/InliningUtils.h"

using namespace mlir;
using namespace mlir::triton::distributed;

#include "compiler/Dialect/Distributed/DistributedDialect.cpp.inc"
#include "compiler/Dialect/Distributed/DistributedEnums.cpp.inc"

#define GET_OP_CLASSES
#include "compiler/Dialect/Distributed/DistributedOps.cpp.inc"

namespace {
struct DistributedInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final { return true; }
};
} // namespace

void DistributedDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "compiler/Dialect/Distributed/DistributedOps.cpp.inc"
      >();
  addInterfaces<DistributedInlinerInterface>();
}

using Effects = SmallVectorImpl<MemoryEffects::EffectInstance>;

/// Reads the signal words. Other PEs write these behind the compiler's back, so that reading
/// alone says too little: see WaitOrder.
void WaitOp::getEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Read::get());
  effects.emplace_back(MemoryEffects::Write::get(), WaitOrder::get());
}

/// None: it only ties its users to the token.
void ConsumeTokenOp::getEffects(Effects &) {}

/// Reads the table of heap addresses.
void SymmAtOp::getEffects(Effects &effects) { effects.emplace_back(MemoryEffects::Read::get()); }

void NotifyOp::getEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Read::get());
  effects.emplace_back(MemoryEffects::Write::get());
}

void ExternCallOp::getEffects(Effects &effects) {
  if (getPure())
    return;
  effects.emplace_back(MemoryEffects::Write::get());
  effects.emplace_back(MemoryEffects::Read::get());
}

Speculation::Speculatability ExternCallOp::getSpeculatability() {
  return getPure() ? Speculation::Speculatable : Speculation::NotSpeculatable;
}
