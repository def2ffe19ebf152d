// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `annotation` dialect: registration, effects and verification of the mark.
#include "compiler/Dialect/Annotation/Annotation.h"

using namespace mlir;
using namespace mlir::annotation;

#include "compiler/Dialect/Annotation/AnnotationDialect.cpp.inc"

#define GET_OP_CLASSES
#include "compiler/Dialect/Annotation/AnnotationOps.cpp.inc"

void AnnotationDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "compiler/Dialect/Annotation/AnnotationOps.cpp.inc"
      >();
}

void MarkOp::build(OpBuilder &builder, OperationState &state, Value src,
                   ArrayRef<NamedAttribute> hints) {
  state.addOperands(src);
  state.addAttributes(hints);
}

LogicalResult MarkOp::verify() {
  size_t keys = getKeys() ? getKeys()->size() : 0;
  if (keys != getValues().size()) // C1
    return emitOpError() << "needs one key a value, but has " << keys << " keys and "
                         << getValues().size() << " values";
  if (!getEffects())
    return success();
  for (auto effect : getEffects()->getAsRange<StringAttr>()) // C2
    if (effect.getValue() != "read" && effect.getValue() != "write")
      return emitOpError() << "effect '" << effect.getValue() << "' is neither read nor write";
  return success();
}

void MarkOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  auto add = [&](StringRef kind) {
    if (kind == "read")
      effects.emplace_back(MemoryEffects::Read::get(), &getSrcMutable());
    else
      effects.emplace_back(MemoryEffects::Write::get(), &getSrcMutable());
  };
  if (!getEffects())
    return add("write");
  for (auto effect : getEffects()->getAsRange<StringAttr>())
    add(effect.getValue());
}
