// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `scope` dialect in C++.
#ifndef PITON_COMPILER_DIALECT_SCOPE_SCOPE_H
#define PITON_COMPILER_DIALECT_SCOPE_SCOPE_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "compiler/Dialect/Scope/ScopeDialect.h.inc"

#define GET_OP_CLASSES
#include "compiler/Dialect/Scope/ScopeOps.h.inc"

#endif // PITON_COMPILER_DIALECT_SCOPE_SCOPE_H
