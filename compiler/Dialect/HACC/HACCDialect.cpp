// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `hacc` dialect: registration of its attributes.
#include "compiler/Dialect/HACC/HACC.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::hacc;

#include "compiler/Dialect/HACC/HACCDialect.cpp.inc"
#include "compiler/Dialect/HACC/HACCEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "compiler/Dialect/HACC/HACCAttrs.cpp.inc"

void HACCDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "compiler/Dialect/HACC/HACCAttrs.cpp.inc"
      >();
}

void HACCDialect::initialize() { registerAttributes(); }
