// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads that come out wrong, and the ones that stand for them.
//
//   * Padding in front of the data: the library fills it on the vector pipe, while the
//     compiler orders only the load against what follows, so a lane may be stale.
//   * Padding of elements that lie apart in memory is left out.
//   * Rows of elements that lie apart, when a row is no multiple of 32 bytes: nothing
//     arrives where the rest of the kernel looks for it.
//
// The first two are loaded without padding; what it was to be is selected afterwards. The
// third gets a buffer with rows of full 32 bytes, of which the tile is a slice.
#include "compiler/Target/BishengForms.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace piton::bisheng {
namespace {

constexpr int64_t kBlockBits = 32 * 8;

/// One load of a tile and everything that touches its buffer.
struct TileLoad {
  memref::CopyOp copy;
  memref::AllocOp buffer;
  memref::SubViewOp view; ///< the part that is loaded, null = all
  linalg::FillOp fill;    ///< the padding, or null
  Operation *fillOrGuard = nullptr;
  bufferization::ToTensorOp whole;
  bool isAlone = true; ///< nothing else uses the buffer
};

Value withoutCasts(Value value) {
  while (auto cast = value.getDefiningOp<memref::CastOp>())
    value = cast.getSource();
  return value;
}

/// The fill itself, or the scf.if that holds nothing else.
Operation *guardOf(linalg::FillOp fill) {
  auto guard = dyn_cast<scf::IfOp>(fill->getParentOp());
  bool isOnly = guard && !guard.elseBlock() &&
                llvm::hasSingleElement(guard.thenBlock()->without_terminator());
  return isOnly ? guard.getOperation() : fill.getOperation();
}

/// The load that `copy` is, without a buffer if it is none of a static tile.
TileLoad tileLoadOf(memref::CopyOp copy) {
  TileLoad load;
  load.copy = copy;
  Value target = withoutCasts(copy.getTarget());
  load.view = target.getDefiningOp<memref::SubViewOp>();
  if (load.view)
    target = withoutCasts(load.view.getSource());
  load.buffer = target.getDefiningOp<memref::AllocOp>();
  if (!load.buffer || !load.buffer.getType().hasStaticShape())
    return {};
  for (Operation *user : load.buffer->getUsers()) {
    auto fill = dyn_cast<linalg::FillOp>(user);
    auto whole = dyn_cast<bufferization::ToTensorOp>(user);
    if (fill && !load.fill)
      load.fill = fill;
    else if (whole && !load.whole)
      load.whole = whole;
    else if (user != load.view && user != copy)
      load.isAlone = false;
  }
  if (load.view && !llvm::all_of(load.view->getUsers(), [&](Operation *user) {
        return user == copy || isa<memref::CastOp>(user);
      }))
    load.isAlone = false;
  if (load.fill)
    load.fillOrGuard = guardOf(load.fill);
  return load;
}

/// Whether data may start more than 32 bytes into a row.
bool startsLate(memref::SubViewOp view) {
  if (!view)
    return false;
  std::optional<int64_t> known = getConstantIntValue(view.getMixedOffsets().back());
  return !known || *known * view.getType().getElementTypeBitWidth() > kBlockBits;
}

/// Whether the elements of a row may lie apart in memory.
bool isSpread(TileLoad &load) {
  auto type = cast<MemRefType>(load.copy.getSource().getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (type.getRank() == 0 || failed(type.getStridesAndOffset(strides, offset)))
    return false;
  return strides.back() != 1 && load.buffer.getType().getShape().back() != 1;
}

bool hasPartialRows(TileLoad &load) {
  MemRefType type = load.buffer.getType();
  int64_t row = type.getShape().back();
  return type.getNumElements() != row && row * type.getElementTypeBitWidth() % kBlockBits != 0;
}

LoadFault faultOf(TileLoad &load) {
  if (!load.buffer)
    return LoadFault::None;
  bool spread = isSpread(load);
  if (spread && hasPartialRows(load))
    return LoadFault::PartialRows;
  if (load.fill && load.view && spread)
    return LoadFault::SpreadPadding;
  if (load.fill && startsLate(load.view))
    return LoadFault::LatePadding;
  return LoadFault::None;
}

/// Lanes of `shape` inside of the box at `offsets` with `sizes`; null for all.
Value insideBox(OpBuilder &b, Location loc, ArrayRef<int64_t> shape, ArrayRef<OpFoldResult> offsets,
                ArrayRef<OpFoldResult> sizes) {
  Value inside;
  auto asI32 = [&](Value index) -> Value {
    return arith::IndexCastOp::create(b, loc, b.getI32Type(), index);
  };
  auto both = [&](Value x) {
    inside = inside ? Value(arith::AndIOp::create(b, loc, inside, x)) : x;
  };
  for (int64_t d = 0; d < int64_t(shape.size()); ++d) {
    std::optional<int64_t> offset = getConstantIntValue(offsets[d]);
    std::optional<int64_t> size = getConstantIntValue(sizes[d]);
    if (offset == 0 && size == shape[d])
      continue;
    Value lanes = indicesAlong(b, loc, shape, d);
    Value first = getValueOrCreateConstantIndexOp(b, loc, offsets[d]);
    Value count = getValueOrCreateConstantIndexOp(b, loc, sizes[d]);
    Value end = arith::AddIOp::create(b, loc, first, count);
    if (offset != 0) {
      Value low = splat(b, loc, asI32(first), lanes.getType());
      both(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, lanes, low));
    }
    Value high = splat(b, loc, asI32(end), lanes.getType());
    both(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, lanes, high));
  }
  return inside;
}

/// Whether everything is where a rewrite needs it: in one block, in order.
bool canRewrite(TileLoad &load) {
  if (!load.isAlone || !load.whole || load.whole->getBlock() != load.copy->getBlock() ||
      !load.copy->isBeforeInBlock(load.whole))
    return false;
  if (!load.fill)
    return true;
  Operation *definition = load.fill.getInputs().front().getDefiningOp();
  return load.view && !(definition && load.fillOrGuard->isProperAncestor(definition));
}

/// Loads into rows of full blocks; the tile is the front of each row.
void widenRows(TileLoad &load) {
  OpBuilder b(load.buffer);
  Location loc = load.copy.getLoc();
  MemRefType type = load.buffer.getType();
  int64_t perBlock = kBlockBits / type.getElementTypeBitWidth();
  SmallVector<int64_t> shape(type.getShape());
  shape.back() = llvm::divideCeil(shape.back(), perBlock) * perBlock;
  auto wide = memref::AllocOp::create(b, loc, MemRefType::get(shape, type.getElementType()));

  SmallVector<OpFoldResult> zeros(type.getRank(), b.getIndexAttr(0));
  SmallVector<OpFoldResult> ones(type.getRank(), b.getIndexAttr(1)), sizes;
  for (int64_t extent : type.getShape())
    sizes.push_back(b.getIndexAttr(extent));
  b.setInsertionPoint(load.copy);
  Value target = load.view ? memref::SubViewOp::create(b, loc, wide, load.view.getMixedOffsets(),
                                                       load.view.getMixedSizes(), ones)
                           : memref::SubViewOp::create(b, loc, wide, zeros, sizes, ones);
  memref::CopyOp::create(b, loc, load.copy.getSource(), target);

  b.setInsertionPoint(load.whole);
  auto wideTensor = RankedTensorType::get(shape, type.getElementType());
  Value rows = bufferization::ToTensorOp::create(b, loc, wideTensor, wide, true, true);
  auto tile = cast<RankedTensorType>(load.whole.getResult().getType());
  Value slice = tensor::ExtractSliceOp::create(b, loc, tile, rows, zeros, sizes, ones);
  load.whole.getResult().replaceAllUsesWith(slice);
  load.whole->erase();
  load.copy->erase();
  while (!load.buffer->use_empty())
    (*load.buffer->user_begin())->erase();
  load.buffer->erase();
}

/// What the buffer was filled with, outside of what is loaded.
void padBehind(TileLoad &load) {
  OpBuilder b(load.whole);
  b.setInsertionPointAfter(load.whole);
  Location loc = load.copy.getLoc();
  auto type = cast<RankedTensorType>(load.whole.getResult().getType());
  Value inside =
      insideBox(b, loc, type.getShape(), load.view.getMixedOffsets(), load.view.getMixedSizes());
  if (inside) {
    Value other = splat(b, loc, load.fill.getInputs().front(), type);
    auto select = arith::SelectOp::create(b, loc, inside, load.whole.getResult(), other);
    load.whole.getResult().replaceAllUsesExcept(select, select);
  }
  load.fillOrGuard->erase();
  load.fill = nullptr;
}

} // namespace

LoadFault loadFaultOf(memref::CopyOp copy) {
  TileLoad load = tileLoadOf(copy);
  return faultOf(load);
}

LogicalResult legalizeLoads(ModuleOp module, Context &context) {
  SmallVector<memref::CopyOp> copies;
  module.walk([&](memref::CopyOp copy) { copies.push_back(copy); });
  for (memref::CopyOp copy : copies) {
    TileLoad load = tileLoadOf(copy);
    LoadFault fault = faultOf(load);
    // What cannot be rewritten is refused by the verifier, at the same line.
    if (fault == LoadFault::None || !canRewrite(load))
      continue;
    if (load.fill)
      padBehind(load);
    if (fault == LoadFault::PartialRows)
      widenRows(load);
  }
  return success();
}

} // namespace piton::bisheng
