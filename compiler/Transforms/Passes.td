// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes that stay in their dialect, in pipeline order. Each text has five parts:
// does, requires, ensures, example (a tested file), limits.
#ifndef PITON_COMPILER_TRANSFORMS_PASSES
#define PITON_COMPILER_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

//===-- stage ttir -------------------------------------------------------===//

//===-- stage ttadapter: control flow and addresses ----------------------===//

//===-- simulator back end -----------------------------------------------===//

#endif // PITON_COMPILER_TRANSFORMS_PASSES
