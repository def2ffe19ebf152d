// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `ascend` dialect in C++.
#ifndef PITON_COMPILER_DIALECT_ASCEND_ASCEND_H
#define PITON_COMPILER_DIALECT_ASCEND_ASCEND_H

#include "compiler/Dialect/Triton/Triton.h"

#include "compiler/Dialect/Ascend/AscendDialect.h.inc"

namespace mlir::triton::ascend {

/// What hints write to: a resource of its own, so that they live and order nothing.
struct Hints : public SideEffects::Resource::Base<Hints> {
  StringRef getName() final { return "<AscendHints>"; }
};

} // namespace mlir::triton::ascend

#define GET_OP_CLASSES
#include "compiler/Dialect/Ascend/AscendOps.h.inc"

#endif // PITON_COMPILER_DIALECT_ASCEND_ASCEND_H
