// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Atomics: a linalg.generic on memrefs whose body is the update and whose attributes
// (GenericAtomicRMW, MemSemantic, MemSyncScope) make it atomic, element by element. When
// the old value is wanted a second output receives it, in the same step as the update.
#include "compiler/Conversion/TritonToLinalg/Box.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace piton::linalglowering {

namespace {
/// One atomic op: its kind and ordering as attributes, and the scalar update.
struct AtomicKind {
  std::string name;
  triton::MemSemantic semantic;
  triton::MemSyncScope scope;
  bool isSoftware; ///< no instruction does this
  bool wantsOld;
  /// New element from the old one and the operands.
  std::function<Value(OpBuilder &, Location, Value, ValueRange)> update;
};
} // namespace

static Value combine(triton::RMWOp kind, OpBuilder &b, Location loc, Value old, Value value) {
  switch (kind) {
  case triton::RMWOp::AND:
    return arith::AndIOp::create(b, loc, old, value);
  case triton::RMWOp::OR:
    return arith::OrIOp::create(b, loc, old, value);
  case triton::RMWOp::XOR:
    return arith::XOrIOp::create(b, loc, old, value);
  case triton::RMWOp::ADD:
    return arith::AddIOp::create(b, loc, old, value);
  case triton::RMWOp::FADD:
    return arith::AddFOp::create(b, loc, old, value);
  case triton::RMWOp::MAX:
    return arith::MaxSIOp::create(b, loc, old, value);
  case triton::RMWOp::MIN:
    return arith::MinSIOp::create(b, loc, old, value);
  case triton::RMWOp::UMAX:
    return arith::MaxUIOp::create(b, loc, old, value);
  case triton::RMWOp::UMIN:
    return arith::MinUIOp::create(b, loc, old, value);
  case triton::RMWOp::XCHG:
    return value;
  }
  llvm_unreachable("every RMWOp is listed");
}

/// add, max and min of at most 32 bits are instructions of the NPU.
static bool hasHardwareForm(triton::RMWOp kind, Type element) {
  bool isNarrow = element.getIntOrFloatBitWidth() <= 32;
  bool isKnown = kind == triton::RMWOp::ADD || kind == triton::RMWOp::FADD ||
                 kind == triton::RMWOp::MAX || kind == triton::RMWOp::MIN;
  return isNarrow && isKnown;
}

/// The atomic generic over `target` and buffers of the same shape; `old` may be null.
static void emitAtomic(OpBuilder &b, Location loc, const AtomicKind &kind, Value target,
                       ValueRange operands, Value old) {
  int64_t rank = cast<MemRefType>(target.getType()).getRank();
  SmallVector<Value> inputs{target}, outputs{target};
  llvm::append_range(inputs, operands);
  if (old)
    outputs.push_back(old);
  SmallVector<AffineMap> maps(inputs.size() + outputs.size(), b.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  SmallVector<NamedAttribute> marks{
      b.getNamedAttr("GenericAtomicRMW", b.getStringAttr(kind.name)),
      b.getNamedAttr("MemSemantic", b.getStringAttr(stringifyMemSemantic(kind.semantic))),
      b.getNamedAttr("MemSyncScope", b.getStringAttr(stringifyMemSyncScope(kind.scope)))};
  if (kind.isSoftware)
    marks.push_back(b.getNamedAttr("Software", b.getUnitAttr()));
  linalg::GenericOp::create(
      b, loc, inputs, outputs, maps, loops,
      [&](OpBuilder &nested, Location at, ValueRange arguments) {
        Value before = arguments.front();
        SmallVector<Value> yielded{
            kind.update(nested, at, before, arguments.slice(1, operands.size()))};
        if (old)
          yielded.push_back(before);
        linalg::YieldOp::create(nested, at, yielded);
      },
      marks);
}

/// A scalar atomic: [1] buffers around the operands; the old value comes back as a scalar.
static Value emitScalar(Lowering &lowering, const AtomicKind &kind,
                        const StructuredAddress &address, ValueRange operands, OpBuilder &b,
                        Location loc) {
  Type element = operands.front().getType();
  auto type = MemRefType::get({1}, element);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  SmallVector<Value> buffers;
  for (Value operand : operands) {
    buffers.push_back(memref::AllocOp::create(b, loc, type));
    memref::StoreOp::create(b, loc, operand, buffers.back(), zero);
  }
  Value old = kind.wantsOld ? memref::AllocOp::create(b, loc, type).getResult() : Value();
  Value target = lowering.view(address, {1}, {b.getIndexAttr(1)}, b, loc);
  emitAtomic(b, loc, kind, target, buffers, old);
  return old ? memref::LoadOp::create(b, loc, old, zero).getResult() : Value();
}

/// The kept dimensions of `buffer` inside the box, at `lanes` of the dropped ones.
static Value laneView(Value buffer, const Box &box, ArrayRef<OpFoldResult> extents,
                      ValueRange lanes, OpBuilder &b, Location loc) {
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<OpFoldResult> offsets(box.lo), sizes(type.getRank(), b.getIndexAttr(1));
  SmallVector<OpFoldResult> strides(type.getRank(), b.getIndexAttr(1));
  SmallVector<int64_t> shape;
  for (auto [dim, lane] : llvm::zip_equal(box.dropped, lanes))
    offsets[dim] = lane;
  for (auto [dim, extent] : llvm::zip_equal(box.kept, extents)) {
    sizes[dim] = extent;
    shape.push_back(getConstantIntValue(extent).value_or(ShapedType::kDynamic));
  }
  if (shape.empty())
    shape.push_back(1); // one element: a rank-1 view, as scalars have
  if (box.dropped.empty())
    return subview(buffer, offsets, sizes, b, loc);
  auto reduced =
      memref::SubViewOp::inferRankReducedResultType(shape, type, offsets, sizes, strides);
  return memref::SubViewOp::create(b, loc, cast<MemRefType>(reduced), buffer, offsets, sizes,
                                   strides);
}

/// A tensor atomic under a box mask. Lanes that share an element (dropped dimensions) go one
/// after the other.
static Value emitTensor(Lowering &lowering, const AtomicKind &kind,
                        const StructuredAddress &address, const MaskInfo &mask, ValueRange operands,
                        OpBuilder &b, Location loc) {
  auto tensorType = cast<RankedTensorType>(operands.front().getType());
  auto type = MemRefType::get(tensorType.getShape(), tensorType.getElementType());
  Box box = makeBox(address, mask, b, loc);
  SmallVector<Value> buffers;
  for (Value operand : operands) {
    buffers.push_back(memref::AllocOp::create(b, loc, type));
    bufferization::MaterializeInDestinationOp::create(b, loc, Type(), operand, buffers.back(),
                                                      /*restrict=*/false, /*writable=*/true);
  }
  Value old;
  if (kind.wantsOld) {
    old = memref::AllocOp::create(b, loc, type);
    // Masked-off lanes return 0 rather than whatever the buffer held.
    if (!box.areWhole(box.kept) || !box.areWhole(box.dropped))
      linalg::FillOp::create(b, loc, ValueRange{zeroOf(b, loc, type.getElementType())},
                             ValueRange{old});
  }
  SmallVector<int64_t> sizes(box.keptSizes);
  SmallVector<OpFoldResult> strides(box.keptStrides), extents;
  for (int64_t dim : box.kept)
    extents.push_back(box.extent[dim]);
  if (box.kept.empty()) {
    sizes.push_back(1);
    strides.push_back(b.getIndexAttr(1));
  }
  Value target = lowering.view(address, sizes, strides, b, loc);
  if (!box.kept.empty())
    target = subview(target, box.keptOffsets(), extents, b, loc);

  auto body = [&](OpBuilder &nested, Location at, ValueRange lanes) {
    SmallVector<Value> views;
    for (Value buffer : buffers)
      views.push_back(laneView(buffer, box, extents, lanes, nested, at));
    Value oldView = old ? laneView(old, box, extents, lanes, nested, at) : Value();
    emitAtomic(nested, at, kind, target, views, oldView);
  };
  SmallVector<Value> lower, upper, step;
  for (int64_t dim : box.dropped) {
    lower.push_back(asIndex(b, loc, box.lo[dim]));
    upper.push_back(asIndex(b, loc, addIndex(b, loc, box.lo[dim], box.extent[dim])));
    step.push_back(arith::ConstantIndexOp::create(b, loc, 1));
  }
  if (box.dropped.empty())
    body(b, loc, {});
  else
    scf::buildLoopNest(b, loc, lower, upper, step, body);
  if (!old)
    return {};
  return bufferization::ToTensorOp::create(b, loc, tensorType, old, /*restrict=*/true,
                                           /*writable=*/true);
}

/// Common to both ops. `operands` are in memory form; gives the old value in that form, null
/// when nobody wants it.
static FailureOr<Value> lowerAtomic(Lowering &lowering, Operation *op, const AtomicKind &kind,
                                    const StructuredAddress &address, Value mask,
                                    ValueRange operands, OpBuilder &b) {
  Location loc = op->getLoc();
  auto type = dyn_cast<RankedTensorType>(operands.front().getType());
  if (!type) {
    if (!mask || matchPattern(mask, m_One()))
      return emitScalar(lowering, kind, address, operands, b, loc);
    if (!kind.wantsOld) {
      scf::IfOp::create(b, loc, mask, [&](OpBuilder &nested, Location at) {
        emitScalar(lowering, kind, address, operands, nested, at);
        scf::YieldOp::create(nested, at);
      });
      return Value();
    }
    auto branch = scf::IfOp::create(
        b, loc, mask,
        [&](OpBuilder &nested, Location at) {
          scf::YieldOp::create(nested, at,
                               emitScalar(lowering, kind, address, operands, nested, at));
        },
        [&](OpBuilder &nested, Location at) {
          scf::YieldOp::create(nested, at, zeroOf(nested, at, operands.front().getType()));
        });
    return branch.getResult(0);
  }
  FailureOr<MaskInfo> info = analyzeMask(mask, type.getShape(), b);
  if (failed(info) || info->residual)
    return op->emitOpError("updates under a mask that is no box of lanes; run "
                           "discrete-mask-access-conversion first, which updates lane by lane");
  return emitTensor(lowering, kind, address, *info, operands, b, loc);
}

LogicalResult Lowering::lowerAtomicRMW(triton::AtomicRMWOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  FailureOr<StructuredAddress> address = analyze(op, op.getPtr(), b);
  if (failed(address))
    return failure();
  noteAccess(address->base, kUpdates);
  Value value = toMemory(op.getVal(), b, loc);
  triton::RMWOp rmw = op.getAtomicRmwOp();
  AtomicKind kind{stringifyRMWOp(rmw).str(),
                  op.getSem(),
                  op.getScope(),
                  !hasHardwareForm(rmw, getElementTypeOrSelf(value.getType())),
                  !op->use_empty(),
                  [rmw](OpBuilder &nested, Location at, Value old, ValueRange operands) {
                    return combine(rmw, nested, at, old, operands.front());
                  }};
  FailureOr<Value> old = lowerAtomic(*this, op, kind, *address, op.getMask(), value, b);
  if (failed(old))
    return failure();
  if (*old)
    op.replaceAllUsesWith(fromMemory(*old, op.getType(), b, loc));
  op.erase();
  return success();
}

/// The same address with elements of another type of the same width.
static StructuredAddress retyped(StructuredAddress address, Type element, OpBuilder &b,
                                 Location loc) {
  auto type = cast<triton::PointerType>(address.base.getType());
  if (type.getPointeeType() == element)
    return address;
  auto wanted = triton::PointerType::get(element, type.getAddressSpace());
  address.base = triton::BitcastOp::create(b, loc, wanted, address.base);
  return address;
}

LogicalResult Lowering::lowerAtomicCAS(triton::AtomicCASOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  FailureOr<StructuredAddress> address = analyze(op, op.getPtr(), b);
  if (failed(address))
    return failure();
  noteAccess(address->base, kUpdates);
  // Floats are compared bit by bit: -0.0 is not 0.0 and NaN equals itself.
  Value compare = toMemory(op.getCmp(), b, loc), value = toMemory(op.getVal(), b, loc);
  Type type = compare.getType(), element = getElementTypeOrSelf(type);
  Type bits = b.getIntegerType(element.getIntOrFloatBitWidth());
  if (element != bits) {
    compare = arith::BitcastOp::create(b, loc, withElement(type, bits), compare);
    value = arith::BitcastOp::create(b, loc, withElement(type, bits), value);
    *address = retyped(*address, bits, b, loc);
  }
  AtomicKind kind{"cas",
                  op.getSem(),
                  op.getScope(),
                  /*isSoftware=*/true,
                  !op->use_empty(),
                  [](OpBuilder &nested, Location at, Value old, ValueRange operands) -> Value {
                    Value equal = arith::CmpIOp::create(nested, at, arith::CmpIPredicate::eq, old,
                                                        operands[0]);
                    return arith::SelectOp::create(nested, at, equal, operands[1], old);
                  }};
  FailureOr<Value> old =
      lowerAtomic(*this, op, kind, *address, Value(), ValueRange{compare, value}, b);
  if (failed(old))
    return failure();
  if (*old) {
    Value result = *old;
    if (element != bits)
      result = arith::BitcastOp::create(b, loc, type, result);
    op.replaceAllUsesWith(fromMemory(result, op.getType(), b, loc));
  }
  op.erase();
  return success();
}

} // namespace piton::linalglowering
