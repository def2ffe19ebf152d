// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `annotation` dialect in C++.
#ifndef PITON_COMPILER_DIALECT_ANNOTATION_ANNOTATION_H
#define PITON_COMPILER_DIALECT_ANNOTATION_ANNOTATION_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "compiler/Dialect/Annotation/AnnotationDialect.h.inc"

#define GET_OP_CLASSES
#include "compiler/Dialect/Annotation/AnnotationOps.h.inc"

#endif // PITON_COMPILER_DIALECT_ANNOTATION_ANNOTATION_H
