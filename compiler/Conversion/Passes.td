// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes that change the dialect, in pipeline order. Each text has five parts:
// does, requires, ensures, example (a tested file), limits.
#ifndef PITON_COMPILER_CONVERSION_PASSES
#define PITON_COMPILER_CONVERSION_PASSES

include "mlir/Pass/PassBase.td"

#endif // PITON_COMPILER_CONVERSION_PASSES
