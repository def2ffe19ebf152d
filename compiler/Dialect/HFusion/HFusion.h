// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `hfusion` dialect in C++: one header for dialect, attributes and ops.
#ifndef PITON_COMPILER_DIALECT_HFUSION_HFUSION_H
#define PITON_COMPILER_DIALECT_HFUSION_HFUSION_H

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

#include "compiler/Dialect/HFusion/HFusionDialect.h.inc"
#include "compiler/Dialect/HFusion/HFusionEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "compiler/Dialect/HFusion/HFusionAttrs.h.inc"

#define GET_OP_CLASSES
#include "compiler/Dialect/HFusion/HFusionOps.h.inc"

#endif // PITON_COMPILER_DIALECT_HFUSION_HFUSION_H
