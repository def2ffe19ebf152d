// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Byte ranges of boxes and their comparison; see Overlap.h.
#include "compiler/Target/Simulator/Overlap.h"

#include "compiler/Target/Simulator/Utils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace piton::simulator {

namespace {

struct Tester {
  OpBuilder &b;
  Location loc;

  Value index(int64_t value) { return indexConstant(b, loc, value); }

  Value compare(arith::CmpIPredicate predicate, Value x, Value y) {
    return arith::CmpIOp::create(b, loc, predicate, x, y);
  }

  Value extent(Region region, int64_t d) {
    if (region.box[d])
      return region.box[d];
    auto type = cast<MemRefType>(region.memory.getType());
    if (type.isDynamicDim(d))
      return memref::DimOp::create(b, loc, region.memory, d);
    return index(type.getDimSize(d));
  }

  /// First and one past the last byte of the box.
  std::pair<Value, Value> byteRange(Region region) {
    auto type = cast<MemRefType>(region.memory.getType());
    auto metadata = memref::ExtractStridedMetadataOp::create(b, loc, region.memory);
    Value bytes = index(elementByteWidth(type.getElementType()));
    Value base = memref::ExtractAlignedPointerAsIndexOp::create(b, loc, region.memory);
    Value start = arith::AddIOp::create(b, loc, base,
                                        arith::MulIOp::create(b, loc, metadata.getOffset(), bytes));
    Value span = index(1), one = index(1), zero = index(0);
    for (int64_t d = 0; d < type.getRank(); ++d) {
      Value last = arith::MaxSIOp::create(
          b, loc, arith::SubIOp::create(b, loc, extent(region, d), one), zero);
      span = arith::AddIOp::create(b, loc, span,
                                   arith::MulIOp::create(b, loc, last, metadata.getStrides()[d]));
    }
    Value end = arith::AddIOp::create(b, loc, start, arith::MulIOp::create(b, loc, span, bytes));
    return {start, end};
  }
};

} // namespace

Value emitOverlapTest(OpBuilder &b, Location loc, Region load, Region store, bool inPlace) {
  using P = arith::CmpIPredicate;
  Tester test{b, loc};
  auto loadType = cast<MemRefType>(load.memory.getType());
  auto storeType = cast<MemRefType>(store.memory.getType());
  auto [loadStart, loadEnd] = test.byteRange(load);
  auto [storeStart, storeEnd] = test.byteRange(store);
  Value before = test.compare(P::ule, loadEnd, storeStart);
  Value after = test.compare(P::ule, storeEnd, loadStart);
  Value safe = arith::OrIOp::create(b, loc, before, after);
  auto loadMeta = memref::ExtractStridedMetadataOp::create(b, loc, load.memory);
  auto storeMeta = memref::ExtractStridedMetadataOp::create(b, loc, store.memory);
  // A negative or overlapping stride breaks the ranges: such a view is never "disjoint".
  Value zero = test.index(0);
  for (auto metadata : {&loadMeta, &storeMeta})
    for (Value stride : metadata->getStrides().drop_back())
      safe = arith::AndIOp::create(b, loc, safe, test.compare(P::sge, stride, zero));
  if (!inPlace || loadType.getRank() != storeType.getRank() ||
      elementByteWidth(loadType.getElementType()) != elementByteWidth(storeType.getElementType()))
    return safe;
  // In place: an element is read before it is written, if no two indices share it.
  Value same = test.compare(P::eq, loadStart, storeStart);
  Value needed = test.index(1);
  for (int64_t d = loadType.getRank() - 1; d >= 0; --d) {
    Value stride = loadMeta.getStrides()[d];
    if (loadType.getDimSize(d) == 1)
      continue;
    same =
        arith::AndIOp::create(b, loc, same, test.compare(P::eq, stride, storeMeta.getStrides()[d]));
    same = arith::AndIOp::create(b, loc, same, test.compare(P::sge, stride, needed));
    needed = arith::MulIOp::create(b, loc, stride, test.index(loadType.getDimSize(d)));
  }
  return arith::OrIOp::create(b, loc, safe, same);
}

static Value emitFullTest(OpBuilder &b, Location loc, const Load &load) {
  Tester test{b, loc};
  auto type = cast<MemRefType>(load.memory.getType());
  Value full = arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
  for (auto [d, size] : llvm::enumerate(load.box))
    if (size)
      full = arith::AndIOp::create(
          b, loc, full,
          test.compare(arith::CmpIPredicate::eq, size, test.index(type.getDimSize(d))));
  return full;
}

Value emitGuardedCopy(OpBuilder &b, Location loc, const Load &load, Value safe) {
  auto type = cast<MemRefType>(load.memory.getType());
  SmallVector<int64_t> strides(type.getRank(), ShapedType::kDynamic);
  strides.back() = 1;
  auto layout = StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic, strides);
  auto common = MemRefType::get(type.getShape(), type.getElementType(), layout);
  auto branch = scf::IfOp::create(b, loc, TypeRange{common}, safe, /*withElse=*/true);
  OpBuilder then = OpBuilder::atBlockBegin(branch.thenBlock());
  scf::YieldOp::create(then, loc,
                       memref::CastOp::create(then, loc, common, load.memory).getResult());
  OpBuilder other = OpBuilder::atBlockBegin(branch.elseBlock());
  memref::AllocOp buffer = load.buffer;
  if (load.wholeOnly && load.pad)
    linalg::FillOp::create(other, loc, load.pad, buffer.getResult());
  SmallVector<OpFoldResult> offsets(type.getRank(), other.getIndexAttr(0)), sizes,
      ones(type.getRank(), other.getIndexAttr(1));
  for (auto [d, size] : llvm::enumerate(load.box))
    sizes.push_back(size ? OpFoldResult(size) : other.getIndexAttr(type.getDimSize(d)));
  Value from = memref::SubViewOp::create(other, loc, load.memory, offsets, sizes, ones);
  Value into = memref::SubViewOp::create(other, loc, buffer, offsets, sizes, ones);
  memref::CopyOp::create(other, loc, from, into)->setAttr(kRareAttr, other.getUnitAttr());
  scf::YieldOp::create(other, loc, memref::CastOp::create(other, loc, common, buffer).getResult());
  return branch.getResult(0);
}

void guardLoad(Load &load) {
  OpBuilder b(load.copy);
  Location loc = load.copy.getLoc();
  Value safe;
  if (load.wholeOnly && llvm::any_of(load.box, [](Value size) { return bool(size); }))
    safe = emitFullTest(b, loc, load);
  for (Value stored : load.crossed) {
    SmallVector<Value> box(cast<MemRefType>(stored.getType()).getRank());
    Value pair = emitOverlapTest(b, loc, {load.memory, load.box}, {stored, box}, /*inPlace=*/false);
    safe = safe ? arith::AndIOp::create(b, loc, safe, pair).getResult() : pair;
  }
  if (safe)
    load.memory = emitGuardedCopy(b, loc, load, safe);
  if (load.wholeOnly)
    load.box.assign(load.box.size(), Value());
}

} // namespace piton::simulator
