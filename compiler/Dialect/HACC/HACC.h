// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `hacc` dialect in C++: attributes only.
#ifndef PITON_COMPILER_DIALECT_HACC_HACC_H
#define PITON_COMPILER_DIALECT_HACC_HACC_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"

#include "compiler/Dialect/HACC/HACCDialect.h.inc"
#include "compiler/Dialect/HACC/HACCEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "compiler/Dialect/HACC/HACCAttrs.h.inc"

namespace mlir::hacc {
/// Module attribute that names the SoC: `hacc.target = #hacc.target<"Ascend910B3">`.
inline constexpr llvm::StringLiteral kTargetAttrName = "hacc.target";
} // namespace mlir::hacc

#endif // PITON_COMPILER_DIALECT_HACC_HACC_H
