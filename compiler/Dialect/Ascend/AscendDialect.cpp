// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `ascend` dialect: registration and verifiers. Labels as in the .td.
#include "compiler/Dialect/Ascend/Ascend.h"

#include "mlir/Transforms/InliningUtils.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::ascend;

#include "compiler/Dialect/Ascend/AscendDialect.cpp.inc"

#define GET_OP_CLASSES
#include "compiler/Dialect/Ascend/AscendOps.cpp.inc"

namespace {
struct AscendInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final { return true; }
};
} // namespace

void AscendDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "compiler/Dialect/Ascend/AscendOps.cpp.inc"
      >();
  addInterfaces<AscendInlinerInterface>();
}

static LogicalResult verifyDim(Operation *op, int64_t dim, int64_t rank) {
  if (dim >= 0 && dim < rank)
    return success();
  return op->emitOpError() << "dim " << dim << " is outside the rank " << rank;
}

static int64_t rankOf(Value value) { return cast<RankedTensorType>(value.getType()).getRank(); }

LogicalResult FlipOp::verify() { return verifyDim(*this, getDim(), rankOf(getSrc())); }
LogicalResult SortOp::verify() { return verifyDim(*this, getDim(), rankOf(getSrc())); }

/// C1: one shape for everything that has lanes.
static LogicalResult verifyLanes(Operation *op, Value offsets, ArrayRef<Value> others) {
  auto shape = cast<RankedTensorType>(offsets.getType()).getShape();
  for (Value other : others)
    if (other && cast<RankedTensorType>(other.getType()).getShape() != shape)
      return op->emitOpError() << other.getType() << " has not the shape of the offsets "
                               << offsets.getType();
  return success();
}

/// C3: `value` holds elements of the type that `ptr` points to.
static LogicalResult verifyPointee(Operation *op, Value ptr, Value value) {
  Type pointee = cast<PointerType>(ptr.getType()).getPointeeType();
  if (!value || cast<RankedTensorType>(value.getType()).getElementType() == pointee)
    return success();
  return op->emitOpError() << value.getType() << " does not hold elements of " << ptr.getType();
}

LogicalResult IndirectLoadOp::verify() {
  if (failed(verifyLanes(*this, getOffsets(), {getMask(), getOther(), getResult()})))
    return failure();
  if (getOther() && !getMask()) // C2
    return emitOpError("'other' needs 'mask'");
  if (failed(verifyPointee(*this, getSrc(), getResult())))
    return failure();
  return verifyPointee(*this, getSrc(), getOther());
}

LogicalResult IndirectStoreOp::verify() {
  if (failed(verifyLanes(*this, getOffsets(), {getValue(), getMask()})))
    return failure();
  return verifyPointee(*this, getDst(), getValue());
}

/// C1 and C2 of the ops with one offset pair and stride a dimension.
static LogicalResult verifyBox(Operation *op, int64_t rank, int64_t dim, OperandRange end,
                               OperandRange start, OperandRange strides) {
  std::pair<StringRef, OperandRange> lists[] = {
      {"end offsets", end}, {"start offsets", start}, {"strides", strides}};
  for (auto [what, list] : lists)
    if (static_cast<int64_t>(list.size()) != rank) // C1
      return op->emitOpError() << "has " << list.size() << " " << what << " for rank " << rank;
  return verifyDim(op, dim, rank); // C2
}

LogicalResult IndexPutOp::verify() {
  return verifyBox(*this, rankOf(getValue()), getDim(), getEndOffsets(), getStartOffsets(),
                   getStrides());
}
LogicalResult GatherOutToUbOp::verify() {
  return verifyBox(*this, rankOf(getIndex()), getDim(), getEndOffsets(), getStartOffsets(),
                   getStrides());
}
LogicalResult ScatterUbToOutOp::verify() {
  return verifyBox(*this, rankOf(getIndex()), getDim(), getEndOffsets(), getStartOffsets(),
                   getStrides());
}

LogicalResult IndexSelectSimdOp::verify() {
  size_t rank = rankOf(getResult());
  if (getSrcShape().size() != rank || getSrcOffset().size() != rank ||
      getReadShape().size() != rank) // C1
    return emitOpError() << "has " << getSrcShape().size() << " sizes, " << getSrcOffset().size()
                         << " offsets and a read_shape of " << getReadShape().size()
                         << " for a result of rank " << rank;
  return verifyDim(*this, getDim(), rank); // C2
}
