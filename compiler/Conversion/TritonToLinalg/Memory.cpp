// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads and stores. A load copies the admitted box into a buffer whose other lanes were
// filled before; a store materializes the admitted box of its value. Lanes outside the
// mask are never touched in memory.
#include "compiler/Conversion/TritonToLinalg/Box.h"
#include "compiler/Conversion/TritonToLinalg/NpuOps.h"
#include "compiler/Dialect/Annotation/Annotation.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace piton::linalglowering {

/// Block pointers are gone by now; says so where one is left.
static LogicalResult refuseBlockPointer(Operation *op, Value pointer) {
  if (!triton::isTensorPointerType(pointer.getType()))
    return success();
  return op->emitOpError("accesses memory through a block pointer; run triton-to-structured "
                         "first, which rewrites it to pointers and a mask");
}

static StringAttr volatileName(MLIRContext *context) {
  return StringAttr::get(context, "volatile");
}

/// Element 0 of the one-element view `memref`. A plain load is dead where its value is not used,
/// and so is a loop that only waits for a value; the mark keeps both.
static Value loadElement(Value memref, bool isVolatile, OpBuilder &b, Location loc) {
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  auto load = memref::LoadOp::create(b, loc, memref, zero);
  if (isVolatile) {
    NamedAttribute flag(volatileName(b.getContext()), b.getUnitAttr());
    load->setAttr(flag.getName(), flag.getValue());
    annotation::MarkOp::create(b, loc, load, flag);
  }
  return load;
}

/// A scalar of type `type` read from `address` when `condition` (null: always) holds.
static Value conditionalLoad(Lowering &lowering, const StructuredAddress &address, Type type,
                             Value condition, Value other, bool isVolatile, OpBuilder &b,
                             Location loc) {
  auto read = [&](OpBuilder &nested) {
    Value one = lowering.view(address, {1}, {nested.getIndexAttr(1)}, nested, loc);
    return fromMemory(loadElement(one, isVolatile, nested, loc), type, nested, loc);
  };
  if (!condition)
    return read(b);
  auto branch = scf::IfOp::create(
      b, loc, condition,
      [&](OpBuilder &nested, Location at) { scf::YieldOp::create(nested, at, read(nested)); },
      [&](OpBuilder &nested, Location at) {
        Value value = other;
        if (!value)
          value = fromMemory(zeroOf(nested, at, memoryElementType(type)), type, nested, at);
        scf::YieldOp::create(nested, at, value);
      });
  return branch.getResult(0);
}

/// Fills the lanes of `buffer` that the copy will leave out. `other` is the lanes' value, in
/// memory form and the buffer's shape: a scalar, a tensor, or null for zero.
static void fillOutside(Value buffer, ArrayRef<OpFoldResult> extents, Value other, OpBuilder &b,
                        Location loc) {
  auto type = cast<MemRefType>(buffer.getType());
  Value isShort; // some lane is left out
  bool always = false;
  for (auto [extent, size] : llvm::zip_equal(extents, type.getShape())) {
    if (auto constant = getConstantIntValue(extent)) {
      always |= *constant < size;
      continue;
    }
    Value less = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, asIndex(b, loc, extent),
                                       arith::ConstantIndexOp::create(b, loc, size));
    isShort = isShort ? arith::OrIOp::create(b, loc, isShort, less).getResult() : less;
  }
  if (!always && !isShort)
    return;
  bool isTensor = other && isa<RankedTensorType>(other.getType());
  if (!other)
    other = zeroOf(b, loc, type.getElementType());
  auto fill = [&](OpBuilder &nested, Location at) {
    if (isTensor) {
      auto write = bufferization::MaterializeInDestinationOp::create(nested, at, Type(), other,
                                                                     buffer, false, true);
      (void)write;
      return;
    }
    linalg::FillOp::create(nested, at, ValueRange{other}, ValueRange{buffer});
  };
  if (always)
    return fill(b, loc);
  auto branch = scf::IfOp::create(b, loc, isShort, [&](OpBuilder &nested, Location at) {
    fill(nested, at);
    scf::YieldOp::create(nested, at);
  });
  branch->setAttr("hivm.unlikely_condition", b.getUnitAttr());
}

/// The order of dimensions in which memory is contiguous: a dimension of stride 1 goes last
/// when the innermost moving one has another stride. Empty when nothing has to move.
static SmallVector<int64_t> memoryOrder(const StructuredAddress &address) {
  int64_t unit = -1, rank = address.sizes.size();
  for (int64_t dim = rank - 1; dim >= 0; --dim) {
    if (address.sizes[dim] == 1 || isConstantIntValue(address.strides[dim], 0))
      continue; // does not move
    if (isConstantIntValue(address.strides[dim], 1)) {
      unit = dim;
      break;
    }
  }
  if (unit < 0)
    return {};
  bool isInnermost = true;
  for (int64_t dim = unit + 1; dim < rank; ++dim)
    isInnermost &= address.sizes[dim] == 1 || isConstantIntValue(address.strides[dim], 0);
  if (isInnermost)
    return {};
  SmallVector<int64_t> order;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (dim != unit)
      order.push_back(dim);
  order.push_back(unit);
  return order;
}

/// Brings the dimensions of an access into `order`.
static void permuteAccess(StructuredAddress &address, MaskInfo &mask, ArrayRef<int64_t> order) {
  StructuredAddress oldAddress = address;
  MaskInfo oldMask = mask;
  for (auto [to, from] : llvm::enumerate(order)) {
    address.sizes[to] = oldAddress.sizes[from];
    address.strides[to] = oldAddress.strides[from];
    mask.lo[to] = oldMask.lo[from];
    mask.hi[to] = oldMask.hi[from];
  }
}

/// What a tensor load has besides its address and box.
namespace {
struct LoadParts {
  Type memoryType;
  Value other; ///< lanes outside the box, or null for zero
  bool isVolatile;
  bool &choose; ///< set when a select over the whole tensor has to follow
};
} // namespace

/// The lanes of the box in memory form. Lanes outside hold `other` unless `choose` is set.
static Value loadBox(Lowering &lowering, const StructuredAddress &address, const Box &box,
                     LoadParts parts, OpBuilder &b, Location loc) {
  auto type = RankedTensorType::get(box.shape, parts.memoryType);
  if (box.kept.empty()) {
    Value scalar = conditionalLoad(lowering, address, parts.memoryType, box.anyDroppedLane(b, loc),
                                   Value(), parts.isVolatile, b, loc);
    return filled(b, loc, type, scalar);
  }
  auto bufferType = MemRefType::get(box.keptSizes, parts.memoryType);
  Value source = lowering.view(address, box.keptSizes, box.keptStrides, b, loc);
  Value buffer = memref::AllocOp::create(b, loc, bufferType);
  if (lowering.hasDot && !isConstantIntValue(box.keptStrides.back(), 1) &&
      box.keptSizes.back() != 1)
    markImplicitTranspose(b, loc, buffer);
  SmallVector<OpFoldResult> offsets = box.keptOffsets(), extents = box.keptExtents(b, loc);
  Value outside;
  if (parts.other && !parts.choose) {
    outside = scalarOf(parts.other, b, loc);
    if (!outside && box.dropped.empty())
      outside = parts.other;
    if (outside)
      outside = toMemory(outside, b, loc);
    else if (!box.areWhole(box.kept))
      parts.choose = true; // a full-size `other` over a reduced buffer
  }
  fillOutside(buffer, extents, outside, b, loc);
  auto copy = memref::CopyOp::create(b, loc, subview(source, offsets, extents, b, loc),
                                     subview(buffer, offsets, extents, b, loc));
  if (parts.isVolatile)
    copy->setAttr(volatileName(b.getContext()), b.getUnitAttr());
  Value tensor = bufferization::ToTensorOp::create(
      b, loc, RankedTensorType::get(box.keptSizes, parts.memoryType), buffer, /*restrict=*/true,
      /*writable=*/true);
  return broadcastInto(b, loc, tensor, box.shape, box.dropped);
}

LogicalResult Lowering::lowerLoad(triton::LoadOp op) {
  if (failed(refuseBlockPointer(op, op.getPtr())))
    return failure();
  OpBuilder b(op);
  Location loc = op.getLoc();
  FailureOr<StructuredAddress> address = analyze(op, op.getPtr(), b);
  if (failed(address))
    return failure();
  noteAccess(address->base, kReads);
  auto type = dyn_cast<RankedTensorType>(op.getType());
  if (!type) {
    op.replaceAllUsesWith(conditionalLoad(*this, *address, op.getType(), op.getMask(),
                                          op.getOther(), op.getIsVolatile(), b, loc));
    op.erase();
    return success();
  }

  FailureOr<MaskInfo> mask = analyzeMask(op.getMask(), type.getShape(), b);
  if (failed(mask))
    return op.emitOpError("has a mask that cannot be analysed");
  Value other = op.getOther(), outside = other;
  SmallVector<int64_t> order = memoryOrder(*address);
  if (!order.empty()) {
    permuteAccess(*address, *mask, order);
    if (other)
      outside = scalarOf(other, b, loc);
    if (other && !outside)
      outside = transposed(b, loc, other, order);
  }
  Box box = makeBox(*address, *mask, b, loc);
  // Lanes of dropped dimensions share their element, and a residual is no box: both read
  // what the box admits and choose per lane afterwards.
  bool choose = mask->residual || !box.areWhole(box.dropped);
  LoadParts parts{memoryElementType(type.getElementType()), outside, op.getIsVolatile(), choose};
  Value result = loadBox(*this, *address, box, parts, b, loc);
  if (!order.empty())
    result = transposed(b, loc, result, invertPermutationVector(order));
  result = fromMemory(result, type, b, loc);
  if (choose)
    result =
        arith::SelectOp::create(b, loc, op.getMask(), result, other ? other : zeroOf(b, loc, type));
  op.replaceAllUsesWith(result);
  op.erase();
  return success();
}

/// Writes the scalar `value` (in memory form) to `address` under `condition` (null: always).
static void conditionalStore(Lowering &lowering, const StructuredAddress &address, Value value,
                             Value condition, OpBuilder &b, Location loc) {
  auto write = [&](OpBuilder &nested, Location at) {
    Value one = lowering.view(address, {1}, {nested.getIndexAttr(1)}, nested, at);
    auto type = RankedTensorType::get({1}, value.getType());
    Value tensor = tensor::FromElementsOp::create(nested, at, type, value);
    bufferization::MaterializeInDestinationOp::create(nested, at, Type(), tensor, one,
                                                      /*restrict=*/false, /*writable=*/true);
  };
  if (!condition)
    return write(b, loc);
  scf::IfOp::create(b, loc, condition, [&](OpBuilder &nested, Location at) {
    write(nested, at);
    scf::YieldOp::create(nested, at);
  });
}

/// The part of `value` that reaches memory: the box of the kept dimensions and, along each
/// dropped one, the last admitted lane, because the lanes of one element store in order.
static Value storedSlice(Value value, const Box &box, ArrayRef<OpFoldResult> extents, OpBuilder &b,
                         Location loc) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<OpFoldResult> offsets(type.getRank()), sizes(type.getRank(), b.getIndexAttr(1));
  SmallVector<OpFoldResult> strides(type.getRank(), b.getIndexAttr(1));
  SmallVector<int64_t> shape;
  for (int64_t dim : box.dropped)
    offsets[dim] = box.lastLane(dim, b, loc);
  bool whole = box.dropped.empty();
  for (auto [dim, extent] : llvm::zip_equal(box.kept, extents)) {
    offsets[dim] = box.lo[dim];
    sizes[dim] = extent;
    auto constant = getConstantIntValue(extent);
    shape.push_back(constant.value_or(ShapedType::kDynamic));
    whole &= isConstantIntValue(box.lo[dim], 0) && constant == type.getDimSize(dim);
  }
  if (whole)
    return value;
  return tensor::ExtractSliceOp::create(b, loc, RankedTensorType::get(shape, type.getElementType()),
                                        value, offsets, sizes, strides);
}

LogicalResult Lowering::lowerStore(triton::StoreOp op) {
  if (failed(refuseBlockPointer(op, op.getPtr())))
    return failure();
  OpBuilder b(op);
  Location loc = op.getLoc();
  FailureOr<StructuredAddress> address = analyze(op, op.getPtr(), b);
  if (failed(address))
    return failure();
  noteAccess(address->base, kWrites);
  Value value = toMemory(op.getValue(), b, loc);
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type) {
    conditionalStore(*this, *address, value, op.getMask(), b, loc);
    op.erase();
    return success();
  }

  FailureOr<MaskInfo> mask = analyzeMask(op.getMask(), type.getShape(), b);
  if (failed(mask) || mask->residual)
    return op.emitOpError("stores under a mask that is no box of lanes; run "
                          "discrete-mask-access-conversion first, which stores lane by lane");
  if (SmallVector<int64_t> order = memoryOrder(*address); !order.empty()) {
    permuteAccess(*address, *mask, order);
    value = transposed(b, loc, value, order);
  }
  Box box = makeBox(*address, *mask, b, loc);
  if (box.kept.empty()) {
    SmallVector<Value> lanes;
    for (int64_t dim : box.dropped)
      lanes.push_back(asIndex(b, loc, box.lastLane(dim, b, loc)));
    Value last = tensor::ExtractOp::create(b, loc, value, lanes);
    conditionalStore(*this, *address, last, box.anyDroppedLane(b, loc), b, loc);
    op.erase();
    return success();
  }
  Value target = view(*address, box.keptSizes, box.keptStrides, b, loc);
  SmallVector<OpFoldResult> extents = box.keptExtents(b, loc);
  Value slice = storedSlice(value, box, extents, b, loc);
  target = subview(target, box.keptOffsets(), extents, b, loc);
  bufferization::MaterializeInDestinationOp::create(b, loc, Type(), slice, target,
                                                    /*restrict=*/false, /*writable=*/true);
  op.erase();
  return success();
}

} // namespace piton::linalglowering
