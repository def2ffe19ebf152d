// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `tt` dialect object: registration, types, inliner hooks, shared type helpers.
#include "compiler/Dialect/Triton/Triton.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::triton;

#include "compiler/Dialect/Triton/TritonDialect.cpp.inc"
#include "compiler/Dialect/Triton/TritonEnums.cpp.inc"
#include "compiler/Dialect/Triton/TritonInterfaces.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "compiler/Dialect/Triton/TritonTypes.cpp.inc"

namespace {
/// Calls of helpers inline unless the helper says `noinline = true`; every region and op may move.
struct TritonInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *call, Operation *callable, bool) const final {
    auto func = dyn_cast<triton::FuncOp>(callable);
    if (!func)
      return true;
    auto noinline = func->getAttrOfType<BoolAttr>("noinline");
    return !noinline || !noinline.getValue();
  }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final { return true; }
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final { return true; }

  void handleTerminator(Operation *op, Block *newDest) const final {
    auto ret = dyn_cast<triton::ReturnOp>(op);
    if (!ret)
      return;
    OpBuilder builder(op);
    cf::BranchOp::create(builder, op->getLoc(), newDest, ret.getSrcs());
    op->erase();
  }
  void handleTerminator(Operation *op, ValueRange valuesToRepl) const final {
    auto ret = cast<triton::ReturnOp>(op);
    for (auto [from, to] : llvm::zip_equal(valuesToRepl, ret.getSrcs()))
      from.replaceAllUsesWith(to);
  }
};
} // namespace

void TritonDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "compiler/Dialect/Triton/TritonTypes.cpp.inc"
      >();
}

void TritonDialect::initialize() {
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "compiler/Dialect/Triton/TritonOps.cpp.inc"
      >();
  addInterfaces<TritonInlinerInterface>();
}

Operation *TritonDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type,
                                              Location loc) {
  if (auto poison = dyn_cast<ub::PoisonAttr>(value))
    return ub::PoisonOp::create(builder, loc, type, poison);
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

//===-- types ------------------------------------------------------------===//

Type PointerType::parse(AsmParser &parser) {
  Type pointee;
  int addressSpace = 1;
  if (parser.parseLess() || parser.parseType(pointee))
    return {};
  if (succeeded(parser.parseOptionalComma()) && parser.parseInteger(addressSpace))
    return {};
  if (parser.parseGreater())
    return {};
  return PointerType::get(pointee, addressSpace);
}

void PointerType::print(AsmPrinter &printer) const {
  printer << "<" << getPointeeType();
  if (getAddressSpace() != 1)
    printer << ", " << getAddressSpace();
  printer << ">";
}

RankedTensorType TensorDescType::getSignlessBlockType() const {
  RankedTensorType block = getBlockType();
  auto integer = dyn_cast<IntegerType>(block.getElementType());
  if (!integer || integer.isSignless())
    return block;
  return block.clone(IntegerType::get(getContext(), integer.getWidth()));
}

bool triton::isBlockPointerPointee(Type pointee) {
  auto tensor = dyn_cast<RankedTensorType>(pointee);
  if (!tensor)
    return false;
  Type element = tensor.getElementType();
  return isa<IntegerType, FloatType, triton::PointerType>(element);
}

Type triton::getPointerTypeLike(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return tensor.clone(PointerType::get(tensor.getElementType(), 1));
  return PointerType::get(type, 1);
}

Type triton::getPointeeTypeOf(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    auto pointer = dyn_cast<PointerType>(tensor.getElementType());
    return pointer ? tensor.clone(pointer.getPointeeType()) : Type();
  }
  auto pointer = dyn_cast<PointerType>(type);
  return pointer ? pointer.getPointeeType() : Type();
}

static Type withElement(Type type, Type element) {
  if (auto tensor = dyn_cast_or_null<RankedTensorType>(type))
    return tensor.clone(element);
  return element;
}

Type triton::getI1SameShape(Type type) {
  return type ? withElement(type, IntegerType::get(type.getContext(), 1)) : Type();
}

Type triton::getI32SameShape(Type type) {
  return type ? withElement(type, IntegerType::get(type.getContext(), 32)) : Type();
}

bool triton::isTensorPointerType(Type type) {
  auto pointer = dyn_cast<PointerType>(type);
  return pointer && isa<RankedTensorType>(pointer.getPointeeType());
}

bool triton::isPointerLike(Type type) { return isa<PointerType>(getElementTypeOrSelf(type)); }

LogicalResult OpTrait::impl::verifyTensorSize(Operation *op) {
  auto check = [&](Type type, StringRef what, unsigned index) -> LogicalResult {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.hasStaticShape())
      return success();
    int64_t elements = 1;
    for (int64_t dim : tensor.getShape()) {
      elements *= dim;
      if (elements > kMaxTensorElements)
        return op->emitOpError() << what << " " << index << " has more than " << kMaxTensorElements
                                 << " elements (" << type
                                 << "), the limit of one tensor; use a smaller block";
    }
    return success();
  };
  for (auto [i, type] : llvm::enumerate(op->getOperandTypes()))
    if (failed(check(type, "operand", i)))
      return failure();
  for (auto [i, type] : llvm::enumerate(op->getResultTypes()))
    if (failed(check(type, "result", i)))
      return failure();
  return success();
}
