// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `hfusion` dialect: registration.
#include "compiler/Dialect/HFusion/HFusion.h"

#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::hfusion;

#include "compiler/Dialect/HFusion/HFusionDialect.cpp.inc"
#include "compiler/Dialect/HFusion/HFusionEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "compiler/Dialect/HFusion/HFusionAttrs.cpp.inc"

namespace {
struct HFusionInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final { return true; }
};
} // namespace

void HFusionDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "compiler/Dialect/HFusion/HFusionAttrs.cpp.inc"
      >();
}

void HFusionDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "compiler/Dialect/HFusion/HFusionOps.cpp.inc"
      >();
  addInterfaces<HFusionInlinerInterface>();
}
