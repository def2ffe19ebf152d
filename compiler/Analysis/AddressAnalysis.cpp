// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Structured addresses: lane forms whose dimensions have one stride each, with the
// scalar arithmetic materialised.
#include "compiler/Analysis/AddressAnalysis.h"

#include "compiler/Analysis/LaneAnalysis.h"
#include "compiler/Dialect/Triton/Triton.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"

using namespace mlir;

namespace piton {

/// Why `form` is no structured address.
static std::string explain(const LaneForm &form) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (form.baseKind == LaneForm::Base::Opaque)
    os << "the pointers are no common base plus offsets";
  else if (!form.opaque.empty())
    os << "the offsets depend on values that are no affine function of the lane";
  else
    os << "a dimension needs more than one stride";
  return text;
}

Value materializeBase(LaneAnalysis &lanes, const LaneForm &form, Type pointerType,
                      OpBuilder &builder, Location loc, const DenseMap<Value, Value> *replaced) {
  ExprContext &context = lanes.expressions();
  Value base = form.base;
  if (replaced && base)
    if (Value other = replaced->lookup(base))
      base = other;
  if (form.baseKind == LaneForm::Base::Address) {
    Value address = getValueOrCreateConstantIndexOp(
        builder, loc, context.materialize(builder, loc, form.address, replaced));
    address = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), address);
    return triton::IntToPtrOp::create(builder, loc, pointerType, address);
  }
  if (base.getType() != pointerType)
    base = triton::BitcastOp::create(builder, loc, pointerType, base);
  return base;
}

FailureOr<StructuredAddress> analyzeAddress(Value ptr, OpBuilder &builder, std::string *reason) {
  Type pointerType = getElementTypeOrSelf(ptr.getType());
  if (!isa<triton::PointerType>(pointerType)) {
    if (reason)
      *reason = "not a pointer";
    return failure();
  }
  LaneAnalysis lanes;
  const LaneForm &form = lanes.of(ptr);
  if (!form.isStructured()) {
    if (reason)
      *reason = explain(form);
    return failure();
  }
  ExprContext &context = lanes.expressions();
  Location loc = ptr.getLoc();
  StructuredAddress result;
  result.base = materializeBase(lanes, form, pointerType, builder, loc, nullptr);
  result.offset = context.materialize(builder, loc, form.offset);
  if (auto type = dyn_cast<RankedTensorType>(ptr.getType()))
    result.sizes.assign(type.getShape().begin(), type.getShape().end());
  for (unsigned dim = 0; dim < form.dims.size(); ++dim)
    result.strides.push_back(context.materialize(builder, loc, *form.stride(dim)));
  return result;
}

bool isStructuredAddress(Value ptr) {
  if (!isa<triton::PointerType>(getElementTypeOrSelf(ptr.getType())))
    return false;
  LaneAnalysis lanes;
  return lanes.of(ptr).isStructured();
}

} // namespace piton
