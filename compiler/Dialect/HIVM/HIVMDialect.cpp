// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `hivm` dialect: registration and the attributes with a syntax of their own.
#include "compiler/Dialect/HIVM/HIVM.h"

#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::hivm;

#include "compiler/Dialect/HIVM/HIVMDialect.cpp.inc"
#include "compiler/Dialect/HIVM/HIVMEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "compiler/Dialect/HIVM/HIVMAttrs.cpp.inc"

namespace {
struct HIVMInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final { return true; }
};
} // namespace

void HIVMDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "compiler/Dialect/HIVM/HIVMAttrs.cpp.inc"
      >();
}

void HIVMDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "compiler/Dialect/HIVM/HIVMOps.cpp.inc"
      >();
  addInterfaces<HIVMInlinerInterface>();
}

//===-- data layout ------------------------------------------------------===//

Attribute DataLayoutAttr::parse(AsmParser &parser, Type) {
  StringRef keyword;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseKeyword(&keyword))
    return {};
  std::optional<DataLayout> kind = symbolizeDataLayout(keyword);
  if (!kind) {
    parser.emitError(loc) << "unknown data layout '" << keyword << "'";
    return {};
  }
  std::optional<bool> transpose;
  DenseI64ArrayAttr fractalSizes;
  while (succeeded(parser.parseOptionalComma())) {
    StringRef field;
    if (parser.parseKeyword(&field) || parser.parseEqual())
      return {};
    if (field == "transpose") {
      if (succeeded(parser.parseOptionalKeyword("true")))
        transpose = true;
      else if (succeeded(parser.parseKeyword("false")))
        transpose = false;
      else
        return {};
    } else if (field == "fractalSizes") {
      SmallVector<int64_t> sizes;
      if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                         [&] { return parser.parseInteger(sizes.emplace_back()); }))
        return {};
      fractalSizes = DenseI64ArrayAttr::get(parser.getContext(), sizes);
    } else {
      parser.emitError(parser.getCurrentLocation()) << "unknown field '" << field << "'";
      return {};
    }
  }
  if (parser.parseGreater())
    return {};
  return DataLayoutAttr::getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                                    *kind, transpose, fractalSizes);
}

void DataLayoutAttr::print(AsmPrinter &printer) const {
  printer << "<" << stringifyDataLayout(getDataLayout());
  if (getTranspose())
    printer << ", transpose = " << (*getTranspose() ? "true" : "false");
  if (getFractalSizes()) {
    printer << ", fractalSizes = [";
    llvm::interleaveComma(getFractalSizes().asArrayRef(), printer);
    printer << "]";
  }
  printer << ">";
}

LogicalResult DataLayoutAttr::verify(function_ref<InFlightDiagnostic()> emitError, DataLayout kind,
                                     std::optional<bool> transpose, DenseI64ArrayAttr) {
  bool operand = kind == DataLayout::DOTA_ND || kind == DataLayout::DOTB_ND;
  if (operand && !transpose) // C1
    return emitError() << "data layout " << stringifyDataLayout(kind) << " needs 'transpose'";
  if (!operand && transpose && kind != DataLayout::ND)
    return emitError() << "data layout " << stringifyDataLayout(kind) << " takes no 'transpose'";
  return success();
}
