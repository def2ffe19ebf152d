// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Generated constructors, options and registration of the passes in Passes.td.
#ifndef PITON_COMPILER_CONVERSION_PASSES_H
#define PITON_COMPILER_CONVERSION_PASSES_H

#include "mlir/Pass/Pass.h"

namespace piton {

#define GEN_PASS_DECL
#include "compiler/Conversion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "compiler/Conversion/Passes.h.inc"

} // namespace piton

#endif // PITON_COMPILER_CONVERSION_PASSES_H
