// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops of the Ascend language extension. Sort and flip are helper calls. The indexed
// accesses (index_put, gather_out_to_ub, scatter_ub_to_out) are written as element offsets
// and a mask over triton_indirect_load and triton_indirect_store, which every back end has;
// index_select_simd is a loop of box copies.
#include "compiler/Conversion/TritonToLinalg/Box.h"
#include "compiler/Conversion/TritonToLinalg/NpuOps.h"

#include "compiler/Dialect/Ascend/Ascend.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace piton::linalglowering {

/// Integers of any width as i64, signed; scalars and tensors.
static Value asI64(OpBuilder &b, Location loc, Value value) {
  Type type = withElement(value.getType(), b.getI64Type());
  if (value.getType() == type)
    return value;
  return arith::ExtSIOp::create(b, loc, type, value);
}

/// A call of a new helper `name` that gives `results`.
static Operation *callHelper(Lowering &lowering, OpBuilder &b, Location loc, StringRef name,
                             ValueRange operands, TypeRange results) {
  auto type = b.getFunctionType(operands.getTypes(), results);
  return func::CallOp::create(b, loc, lowering.declareHelper(name, type, loc), operands);
}

/// The helper sorts the last dimension only, and no narrow integers: those go through the
/// float type that holds their values.
static Value sorted(Lowering &lowering, triton::ascend::SortOp op, OpBuilder &b) {
  Location loc = op.getLoc();
  Value value = op.getSrc();
  auto type = cast<RankedTensorType>(value.getType());
  int64_t last = type.getRank() - 1, dim = op.getDim();
  SmallVector<int64_t> permutation = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  std::swap(permutation[dim], permutation[last]);
  if (dim != last)
    value = transposed(b, loc, value, permutation);
  Type narrow = value.getType();
  bool isNarrow = type.getElementType().isInteger(8) || type.getElementType().isInteger(16);
  if (isNarrow) {
    Type real = type.getElementType().isInteger(8) ? Type(b.getF16Type()) : Type(b.getF32Type());
    value = arith::SIToFPOp::create(b, loc, withElement(narrow, real), value);
  }
  Value dimValue = constantOf(b, loc, b.getI64IntegerAttr(last));
  Value descending = constantOf(b, loc, op.getDescendingAttr());
  value =
      callHelper(lowering, b, loc, "triton_sort", {value, dimValue, descending}, value.getType())
          ->getResult(0);
  if (isNarrow)
    value = arith::FPToSIOp::create(b, loc, narrow, value);
  return dim == last ? value : transposed(b, loc, value, permutation);
}

namespace {
/// Element offsets of an indexed access and the lanes that lie inside it.
class IndexedLanes {
public:
  IndexedLanes(OpBuilder &b, Location loc, ArrayRef<int64_t> shape)
      : b(b), loc(loc), type(RankedTensorType::get(shape, b.getI64Type())) {}

  /// 0, 1, ... along `dim`, plus the scalar `start`.
  Value coordinate(int64_t dim, Value start) {
    auto line = RankedTensorType::get({type.getDimSize(dim)}, b.getI32Type());
    Value lanes = triton::MakeRangeOp::create(b, loc, line, 0, line.getDimSize(0));
    lanes = spread(asI64(b, loc, lanes), dim);
    return add(lanes, splat(start));
  }
  /// A rank-1 tensor along `dim`.
  Value spread(Value line, int64_t dim) {
    SmallVector<int64_t> others;
    for (int64_t other = 0; other < type.getRank(); ++other)
      if (other != dim)
        others.push_back(other);
    return broadcastInto(b, loc, line, type.getShape(), others);
  }
  Value splat(Value scalar) { return filled(b, loc, type, asI64(b, loc, scalar)); }
  Value add(Value lhs, Value rhs) { return arith::AddIOp::create(b, loc, lhs, rhs); }

  /// Adds coordinate * stride to the offsets.
  void step(Value coordinate, Value stride) {
    Value term = arith::MulIOp::create(b, loc, coordinate, splat(stride));
    offsets = offsets ? add(offsets, term) : term;
  }
  /// Admits the lanes with value < bound only.
  void below(Value value, Value bound) {
    admit(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, value, splat(bound)));
  }
  /// Admits the lanes with value >= 0 only.
  void notNegative(Value value) {
    Value zero = zeroOf(b, loc, type);
    admit(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, value, zero));
  }

  Value offsets, mask;

private:
  void admit(Value lanes) {
    mask = mask ? arith::AndIOp::create(b, loc, mask, lanes).getResult() : lanes;
  }

  OpBuilder &b;
  Location loc;
  RankedTensorType type;
};
} // namespace

/// Memory of an indirect access: the whole base, and `offsets` (i64) moved by the pointer's own
/// offset.
static Value indirectBase(Lowering &lowering, Value pointer, Value &offsets, unsigned kind,
                          OpBuilder &b, Location loc) {
  lowering.noteAccess(pointer, kind);
  auto [base, offset] = splitScalar(pointer, b, loc);
  offsets = asI64(b, loc, offsets);
  if (!isConstantIntValue(offset, 0)) {
    Value moved = arith::IndexCastOp::create(b, loc, b.getI64Type(), asIndex(b, loc, offset));
    offsets = arith::AddIOp::create(b, loc, offsets, filled(b, loc, offsets.getType(), moved));
  }
  return lowering.wholeMemref(base, b, loc);
}

static Value indirectLoad(Lowering &lowering, Value pointer, Value offsets, Value mask, Value other,
                          Type type, OpBuilder &b, Location loc) {
  Value base = indirectBase(lowering, pointer, offsets, kReads, b, loc);
  SmallVector<Value> operands{base, offsets};
  if (mask)
    operands.push_back(mask);
  if (other)
    operands.push_back(toMemory(other, b, loc));
  Type memory = withElement(type, memoryElementType(getElementTypeOrSelf(type)));
  Operation *call = callHelper(lowering, b, loc, "triton_indirect_load", operands, memory);
  return fromMemory(call->getResult(0), type, b, loc);
}

static void indirectStore(Lowering &lowering, Value pointer, Value offsets, Value value, Value mask,
                          OpBuilder &b, Location loc) {
  Value base = indirectBase(lowering, pointer, offsets, kWrites, b, loc);
  SmallVector<Value> operands{base, offsets, toMemory(value, b, loc)};
  if (mask)
    operands.push_back(mask);
  callHelper(lowering, b, loc, "triton_indirect_store", operands, {});
}

/// Lanes of gather_out_to_ub and scatter_ub_to_out: the index along dim, counted from the
/// start offset, and the lane's own position elsewhere.
static IndexedLanes indexLanes(OpBuilder &b, Location loc, Value index, int64_t dim, Value bound,
                               ValueRange strides, ValueRange ends, ValueRange starts) {
  IndexedLanes lanes(b, loc, cast<RankedTensorType>(index.getType()).getShape());
  for (int64_t d = 0, rank = strides.size(); d < rank; ++d) {
    Value coordinate;
    if (d == dim) {
      Value wide = asI64(b, loc, index);
      lanes.notNegative(wide);
      lanes.below(wide, bound);
      coordinate = lanes.add(wide, lanes.splat(starts[d]));
    } else {
      coordinate = lanes.coordinate(d, starts[d]);
      lanes.below(coordinate, ends[d]);
    }
    lanes.step(coordinate, strides[d]);
  }
  return lanes;
}

/// index_put: slice k of the value goes to row index[k].
static void indexPut(Lowering &lowering, triton::ascend::IndexPutOp op, OpBuilder &b) {
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op.getValue().getType());
  int64_t dim = op.getDim();
  IndexedLanes lanes(b, loc, type.getShape());
  for (int64_t d = 0; d < type.getRank(); ++d) {
    Value coordinate;
    if (d == dim) {
      Value line = reshaped(b, loc, asI64(b, loc, op.getIndex()), {type.getDimSize(dim)});
      coordinate = lanes.spread(line, dim);
      lanes.notNegative(coordinate);
      lanes.below(coordinate, op.getBound());
    } else {
      coordinate = lanes.coordinate(d, op.getStartOffsets()[d]);
      lanes.below(coordinate, op.getEndOffsets()[d]);
    }
    lanes.step(coordinate, op.getStrides()[d]);
  }
  indirectStore(lowering, op.getDst(), lanes.offsets, op.getValue(), lanes.mask, b, loc);
}

/// One box copy an index: rows of a row-major tensor of src_shape, clipped at its end. Lanes
/// that are clipped off read as zero.
static Value indexSelect(Lowering &lowering, triton::ascend::IndexSelectSimdOp op, OpBuilder &b) {
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op.getType());
  int64_t rank = type.getRank(), dim = op.getDim();
  Type element = memoryElementType(type.getElementType());
  auto fold = [&](Value value) -> OpFoldResult {
    APInt constant;
    if (matchPattern(value, m_ConstantInt(&constant)))
      return b.getIndexAttr(constant.getSExtValue());
    return arith::IndexCastOp::create(b, loc, b.getIndexType(), value).getResult();
  };
  SmallVector<OpFoldResult> shape, strides(rank, b.getIndexAttr(1)), extents;
  for (Value size : op.getSrcShape())
    shape.push_back(fold(size));
  for (int64_t d = rank - 2; d >= 0; --d)
    strides[d] = mulIndex(b, loc, strides[d + 1], shape[d + 1]);

  SmallVector<int64_t> sizes(type.getShape());
  sizes[dim] = 1;
  auto [base, offset] = splitScalar(op.getSrc(), b, loc);
  bool isWhole = true;
  for (int64_t d = 0; d < rank; ++d) {
    if (d == dim) {
      extents.push_back(b.getIndexAttr(1));
      continue;
    }
    OpFoldResult start = fold(op.getSrcOffset()[d]);
    offset = addIndex(b, loc, offset, mulIndex(b, loc, start, strides[d]));
    OpFoldResult left = subIndex(b, loc, shape[d], start);
    if (auto constant = getConstantIntValue(left)) {
      extents.push_back(b.getIndexAttr(std::clamp<int64_t>(*constant, 0, sizes[d])));
    } else {
      Value zero = arith::ConstantIndexOp::create(b, loc, 0);
      Value size = arith::ConstantIndexOp::create(b, loc, sizes[d]);
      Value some = arith::MaxSIOp::create(b, loc, asIndex(b, loc, left), zero);
      extents.push_back(arith::MinSIOp::create(b, loc, some, size).getResult());
    }
    isWhole &= isConstantIntValue(extents.back(), sizes[d]);
  }
  lowering.noteAccess(base, kReads);

  Value buffer = memref::AllocOp::create(b, loc, MemRefType::get(type.getShape(), element));
  if (!isWhole)
    linalg::FillOp::create(b, loc, ValueRange{zeroOf(b, loc, element)}, ValueRange{buffer});
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value count = arith::ConstantIndexOp::create(b, loc, type.getDimSize(dim));
  auto loop = scf::ForOp::create(
      b, loc, zero, count, one, ValueRange{},
      [&](OpBuilder &nested, Location at, Value lane, ValueRange) {
        Value index = tensor::ExtractOp::create(nested, at, op.getIndex(), lane);
        Value row = arith::IndexCastOp::create(nested, at, nested.getIndexType(), index);
        StructuredAddress address{
            base, addIndex(nested, at, offset, mulIndex(nested, at, row, strides[dim])), {}, {}};
        SmallVector<OpFoldResult> origin(rank, nested.getIndexAttr(0)), target(origin);
        SmallVector<OpFoldResult> ones(rank, nested.getIndexAttr(1));
        target[dim] = lane;
        Value source = lowering.view(address, sizes, strides, nested, at);
        source = subview(source, origin, extents, nested, at);
        Value slot = memref::SubViewOp::create(nested, at, buffer, target, extents, ones);
        markStrideAlignment(nested, at, slot, dim);
        memref::CopyOp::create(nested, at, source, slot);
        scf::YieldOp::create(nested, at);
      });
  loop->setAttr("hivm.parallel_loop", b.getUnitAttr());
  auto tensor = bufferization::ToTensorOp::create(
      b, loc, RankedTensorType::get(type.getShape(), element), buffer, /*restrict=*/true,
      /*writable=*/true);
  tensor->setDiscardableAttr("index_select_simd", b.getUnitAttr());
  return fromMemory(tensor, type, b, loc);
}

LogicalResult Lowering::lowerAscend(Operation *op) {
  OpBuilder b(op);
  Location loc = op->getLoc();
  Value result;
  LogicalResult known =
      TypeSwitch<Operation *, LogicalResult>(op)
          .Case([&](triton::ascend::SortOp sort) {
            result = sorted(*this, sort, b);
            return success();
          })
          .Case([&](triton::ascend::FlipOp flip) {
            Value dim = constantOf(b, loc, b.getI64IntegerAttr(flip.getDim()));
            result = callHelper(*this, b, loc, "triton_flip", {flip.getSrc(), dim}, flip.getType())
                         ->getResult(0);
            return success();
          })
          .Case([&](triton::ascend::IndirectLoadOp load) {
            result = indirectLoad(*this, load.getSrc(), load.getOffsets(), load.getMask(),
                                  load.getOther(), load.getType(), b, loc);
            return success();
          })
          .Case([&](triton::ascend::IndirectStoreOp store) {
            indirectStore(*this, store.getDst(), store.getOffsets(), store.getValue(),
                          store.getMask(), b, loc);
            return success();
          })
          .Case([&](triton::ascend::IndexPutOp put) {
            indexPut(*this, put, b);
            return success();
          })
          .Case([&](triton::ascend::GatherOutToUbOp gather) {
            IndexedLanes lanes =
                indexLanes(b, loc, gather.getIndex(), gather.getDim(), gather.getBound(),
                           gather.getStrides(), gather.getEndOffsets(), gather.getStartOffsets());
            Value other = gather.getOther() ? filled(b, loc, gather.getType(), gather.getOther())
                                            : zeroOf(b, loc, gather.getType());
            result = indirectLoad(*this, gather.getSrc(), lanes.offsets, lanes.mask, other,
                                  gather.getType(), b, loc);
            return success();
          })
          .Case([&](triton::ascend::ScatterUbToOutOp scatter) {
            IndexedLanes lanes = indexLanes(b, loc, scatter.getIndex(), scatter.getDim(),
                                            scatter.getBound(), scatter.getStrides(),
                                            scatter.getEndOffsets(), scatter.getStartOffsets());
            indirectStore(*this, scatter.getDst(), lanes.offsets, scatter.getValue(), lanes.mask, b,
                          loc);
            return success();
          })
          .Case([&](triton::ascend::IndexSelectSimdOp select) {
            result = indexSelect(*this, select, b);
            return success();
          })
          .Default([](Operation *other) {
            return other->emitOpError("has no form below Triton IR; the pass that lowers it "
                                      "(triton-to-annotation, triton-to-hivm, triton-to-hfusion) "
                                      "must run first");
          });
  if (failed(known))
    return failure();
  if (result)
    op->getResult(0).replaceAllUsesWith(result);
  op->erase();
  return success();
}

} // namespace piton::linalglowering
