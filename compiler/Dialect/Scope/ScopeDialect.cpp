// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `scope` dialect: registration, syntax and verification.
#include "compiler/Dialect/Scope/Scope.h"

#include "mlir/Transforms/InliningUtils.h"

using namespace mlir;
using namespace mlir::scope;

#include "compiler/Dialect/Scope/ScopeDialect.cpp.inc"

#define GET_OP_CLASSES
#include "compiler/Dialect/Scope/ScopeOps.cpp.inc"

namespace {
/// A scope may be inlined into, and moved with, the function around it.
struct ScopeInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final { return true; }
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final { return true; }
};
} // namespace

void ScopeDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "compiler/Dialect/Scope/ScopeOps.cpp.inc"
      >();
  addInterfaces<ScopeInlinerInterface>();
}

ParseResult ScopeOp::parse(OpAsmParser &parser, OperationState &state) {
  FunctionType type;
  SMLoc loc;
  Region *body = state.addRegion();
  if (parser.parseColon() || parser.getCurrentLocation(&loc) || parser.parseType(type))
    return failure();
  if (type.getNumInputs() != 0)
    return parser.emitError(loc, "a scope has no operands");
  state.addTypes(type.getResults());
  return failure(parser.parseRegion(*body) || parser.parseOptionalAttrDict(state.attributes));
}

void ScopeOp::print(OpAsmPrinter &printer) {
  printer << " : () -> (" << getResultTypes() << ") ";
  printer.printRegion(getRegion(), /*printEntryBlockArgs=*/false);
  printer.printOptionalAttrDict((*this)->getAttrs());
}

LogicalResult ScopeOp::verifyRegions() {
  Block &body = getRegion().front();
  if (body.getNumArguments() != 0) // C1
    return emitOpError() << "region has " << body.getNumArguments() << " arguments, expected none";
  if (body.empty() || !isa<ReturnOp>(body.back()))
    return emitOpError("region must end in 'scope.return'");
  // C2 is the contract of RegionBranchOpInterface, which verifies it.
  return success();
}

void ScopeOp::getSuccessorRegions(RegionBranchPoint point,
                                  SmallVectorImpl<RegionSuccessor> &regions) {
  if (point.isParent())
    regions.push_back(RegionSuccessor(&getRegion()));
  else
    regions.push_back(RegionSuccessor(getOperation(), getResults()));
}
