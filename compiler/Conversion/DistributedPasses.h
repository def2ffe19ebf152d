// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Generated constructors, options and registration of the passes in DistributedPasses.td.
#ifndef PITON_COMPILER_CONVERSION_DISTRIBUTEDPASSES_H
#define PITON_COMPILER_CONVERSION_DISTRIBUTEDPASSES_H

#include "mlir/Pass/Pass.h"

namespace piton {

#define GEN_PASS_DECL
#include "compiler/Conversion/DistributedPasses.h.inc"

#define GEN_PASS_REGISTRATION
#include "compiler/Conversion/DistributedPasses.h.inc"

} // namespace piton

#endif // PITON_COMPILER_CONVERSION_DISTRIBUTEDPASSES_H
