// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `hivm` dialect in C++: one header for dialect, attributes and ops.
#ifndef PITON_COMPILER_DIALECT_HIVM_HIVM_H
#define PITON_COMPILER_DIALECT_HIVM_HIVM_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <optional>

#include "compiler/Dialect/HIVM/HIVMDialect.h.inc"
#include "compiler/Dialect/HIVM/HIVMEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "compiler/Dialect/HIVM/HIVMAttrs.h.inc"

#define GET_OP_CLASSES
#include "compiler/Dialect/HIVM/HIVMOps.h.inc"

namespace mlir::hivm {

/// The largest cross-core flag id; the hardware has 16 flags.
inline constexpr int64_t kMaxFlagId = 15;

/// Unit attribute of a custom op that promises it neither reads nor writes memory.
inline constexpr llvm::StringLiteral kNoSideEffectAttrName = "no_side_effect";

} // namespace mlir::hivm

#endif // PITON_COMPILER_DIALECT_HIVM_HIVM_H
