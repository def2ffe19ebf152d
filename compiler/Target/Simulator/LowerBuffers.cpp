// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// sim-lower-buffers: memref.copy as row loops (the stock lowering calls an interpretive
// copy function), dots as calls of the tile product.
#include "compiler/Target/Simulator/Overlap.h"
#include "compiler/Target/Simulator/Utils.h"
#include "compiler/Transforms/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace piton {
#define GEN_PASS_DEF_SIMLOWERBUFFERS
#include "compiler/Transforms/Passes.h.inc"
} // namespace piton

using namespace mlir;
using namespace piton;
using namespace piton::simulator;

namespace {

constexpr int64_t kCopyBytes = 128; ///< one step of a row copy: four AVX2 registers

bool hasUnitInnerStride(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  return type.getRank() > 0 && succeeded(type.getStridesAndOffset(strides, offset)) &&
         strides.back() == 1;
}

/// Emits rows of `length` elements: whole vectors, then one masked step or single elements.
struct RowWriter {
  Location loc;
  Value target;
  Type element;
  int64_t lanes;
  bool mayMask;
  /// The value of a whole vector, of a masked one (mask not null), of an element (lanes 1).
  std::function<Value(OpBuilder &, ValueRange, VectorType, Value)> value;

  SmallVector<Value> at(ValueRange outer, Value position) {
    SmallVector<Value> indices(outer);
    indices.push_back(position);
    return indices;
  }

  void emitRow(OpBuilder &b, ValueRange outer, Value length) {
    OpBuilder::InsertionGuard guard(b);
    std::optional<int64_t> constant = getConstantIntValue(length);
    auto vector = VectorType::get({lanes}, element);
    Value zero = indexConstant(b, loc, 0), step = indexConstant(b, loc, lanes), end;
    if (constant)
      end = indexConstant(b, loc, *constant - *constant % lanes);
    else
      end = arith::SubIOp::create(b, loc, length, arith::RemUIOp::create(b, loc, length, step));
    if (!constant || *constant >= lanes) {
      auto main = scf::ForOp::create(b, loc, zero, end, step);
      OpBuilder inner = OpBuilder::atBlockBegin(main.getBody());
      SmallVector<Value> indices = at(outer, main.getInductionVar());
      vector::StoreOp::create(inner, loc, value(inner, indices, vector, Value()), target, indices);
    }
    if (constant && *constant % lanes == 0)
      return;
    auto tail = scf::ForOp::create(b, loc, end, length, mayMask ? step : indexConstant(b, loc, 1));
    OpBuilder inner = OpBuilder::atBlockBegin(tail.getBody());
    SmallVector<Value> indices = at(outer, tail.getInductionVar());
    if (!mayMask) {
      memref::StoreOp::create(inner, loc, value(inner, indices, VectorType(), Value()), target,
                              indices);
      return;
    }
    Value left = arith::SubIOp::create(inner, loc, length, tail.getInductionVar());
    Value mask = vector::CreateMaskOp::create(inner, loc, VectorType::get({lanes}, b.getI1Type()),
                                              ValueRange(left));
    vector::MaskedStoreOp::create(inner, loc, target, indices, mask,
                                  value(inner, indices, vector, mask));
  }
};

/// Elements that vectors hold as they lie in memory.
bool isVectorElement(Type element) {
  return VectorType::isValidElementType(element) && element.isIntOrFloat() &&
         element.getIntOrFloatBitWidth() % 8 == 0 &&
         (isa<IntegerType>(element) || element.getIntOrFloatBitWidth() > 8);
}

/// Row by row; contiguous rows in wide steps. Source and destination never overlap: one of
/// them is local.
void lowerCopy(memref::CopyOp copy, bool maskNarrow) {
  OpBuilder b(copy);
  Location loc = copy.getLoc();
  Value source = copy.getSource(), target = copy.getTarget();
  auto type = cast<MemRefType>(target.getType());
  SmallVector<Value> sizes = memrefSizes(b, loc, target);
  Type element = type.getElementType();
  if (!hasUnitInnerStride(type) || !hasUnitInnerStride(cast<MemRefType>(source.getType())) ||
      !isVectorElement(element)) {
    emitLoopNest(b, loc, sizes, [&](OpBuilder &b, ValueRange indices) {
      Value value = memref::LoadOp::create(b, loc, source, indices);
      memref::StoreOp::create(b, loc, value, target, indices);
    });
    copy.erase();
    return;
  }
  int64_t width = elementByteWidth(element);
  if (copy->hasAttr(kRareAttr)) {
    Value length = sizes.pop_back_val();
    emitLoopNest(b, loc, sizes, [&](OpBuilder &b, ValueRange outer) {
      SmallVector<Value> at(outer);
      at.push_back(indexConstant(b, loc, 0));
      Value bytes = arith::MulIOp::create(b, loc, length, indexConstant(b, loc, width));
      LLVM::MemcpyOp::create(b, loc, elementPointer(b, loc, target, at),
                             elementPointer(b, loc, source, at),
                             arith::IndexCastOp::create(b, loc, b.getI64Type(), bytes),
                             /*isVolatile=*/false);
    });
    copy.erase();
    return;
  }
  RowWriter writer{
      loc,
      target,
      element,
      kCopyBytes / width,
      maskNarrow || width >= 4,
      [&](OpBuilder &b, ValueRange at, VectorType vector, Value mask) -> Value {
        if (!vector)
          return memref::LoadOp::create(b, loc, source, at);
        if (!mask)
          return vector::LoadOp::create(b, loc, vector, source, at).getResult();
        Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(vector));
        return vector::MaskedLoadOp::create(b, loc, vector, source, at, mask, zero).getResult();
      }};
  Value length = sizes.pop_back_val();
  emitLoopNest(b, loc, sizes,
               [&](OpBuilder &b, ValueRange outer) { writer.emitRow(b, outer, length); });
  copy.erase();
}

/// A fill of contiguous rows as vector stores; of one element as a store.
void lowerFill(linalg::FillOp fill, bool maskNarrow) {
  auto type = dyn_cast<MemRefType>(fill.getDpsInits().front().getType());
  if (!type || !isVectorElement(type.getElementType()))
    return;
  OpBuilder b(fill);
  Location loc = fill.getLoc();
  Value target = fill.getDpsInits().front(), scalar = fill.getInputs().front();
  if (scalar.getType() != type.getElementType())
    return;
  if (type.getRank() == 0) {
    memref::StoreOp::create(b, loc, scalar, target);
    fill.erase();
    return;
  }
  if (!hasUnitInnerStride(type))
    return;
  Type element = type.getElementType();
  int64_t width = elementByteWidth(element);
  RowWriter writer{loc,
                   target,
                   element,
                   kCopyBytes / width,
                   maskNarrow || width >= 4,
                   [&](OpBuilder &b, ValueRange, VectorType vector, Value) -> Value {
                     return vector ? vector::BroadcastOp::create(b, loc, vector, scalar).getResult()
                                   : scalar;
                   }};
  SmallVector<Value> sizes = memrefSizes(b, loc, target);
  Value length = sizes.pop_back_val();
  emitLoopNest(b, loc, sizes,
               [&](OpBuilder &b, ValueRange outer) { writer.emitRow(b, outer, length); });
  fill.erase();
}

/// The ABI type of a dot that the service computes.
std::optional<ElementType> gemmType(linalg::LinalgOp op) {
  Type a = getElementTypeOrSelf(op->getOperand(0).getType());
  Type b = getElementTypeOrSelf(op->getOperand(1).getType());
  Type c = getElementTypeOrSelf(op->getOperand(2).getType());
  if (a != b)
    return std::nullopt;
  std::optional<ElementType> type = abiElementType(a);
  if (!type)
    return std::nullopt;
  switch (*type) {
  case ElementType::F64:
    return c.isF64() ? type : std::nullopt;
  case ElementType::I8:
    return c.isInteger(32) ? type : std::nullopt;
  case ElementType::F16:
  case ElementType::BF16:
  case ElementType::F32:
  case ElementType::F8E4M3FN:
  case ElementType::F8E5M2:
  case ElementType::F8E4M3FNUZ:
  case ElementType::F8E5M2FNUZ:
    return c.isF32() ? type : std::nullopt;
  default:
    return std::nullopt;
  }
}

/// Where dimensions m, n, k lie in an operand: positions of the two iteration dims.
struct DotLayout {
  int64_t aRow, aCol, bRow, bCol;
};

std::optional<DotLayout> layoutOf(linalg::LinalgOp op, bool batched) {
  MLIRContext *context = op.getContext();
  const unsigned first = batched ? 1 : 0;
  AffineExpr m = getAffineDimExpr(first, context), n = getAffineDimExpr(first + 1, context),
             k = getAffineDimExpr(first + 2, context);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  auto position = [](AffineMap map, AffineExpr dim) -> int64_t {
    for (auto [i, expression] : llvm::enumerate(map.getResults()))
      if (expression == dim)
        return i;
    return -1;
  };
  for (AffineMap map : maps) {
    if (map.getNumResults() != first + 2)
      return std::nullopt;
    if (batched && map.getResult(0) != getAffineDimExpr(0, context))
      return std::nullopt;
  }
  DotLayout layout{position(maps[0], m), position(maps[0], k), position(maps[1], k),
                   position(maps[1], n)};
  if (layout.aRow < 0 || layout.aCol < 0 || layout.bRow < 0 || layout.bCol < 0 ||
      position(maps[2], m) != int64_t(first) || position(maps[2], n) != int64_t(first + 1))
    return std::nullopt;
  return layout;
}

/// `zeroInit`: the fill of C with zero directly before the dot becomes a flag.
bool takeZeroFill(linalg::LinalgOp op) {
  Value c = op->getOperand(2);
  for (Operation *previous = op->getPrevNode(); previous; previous = previous->getPrevNode()) {
    if (auto fill = dyn_cast<linalg::FillOp>(previous); fill && fill.getDpsInits().front() == c) {
      Attribute value;
      if (!matchPattern(fill.getInputs().front(), m_Constant(&value)))
        return false;
      auto isZero = [&] {
        if (auto real = dyn_cast<FloatAttr>(value))
          return real.getValue().isPosZero();
        auto integer = dyn_cast<IntegerAttr>(value);
        return integer && integer.getValue().isZero();
      };
      if (!isZero())
        return false;
      fill.erase();
      return true;
    }
    // Anything that may look at the buffer in between keeps the fill.
    if (!isMemoryEffectFree(previous) && !isa<memref::AllocOp>(previous))
      return false;
  }
  return false;
}

void lowerDot(linalg::LinalgOp op, bool batched) {
  std::optional<ElementType> type = gemmType(op);
  std::optional<DotLayout> layout = layoutOf(op, batched);
  auto cType = cast<MemRefType>(op->getOperand(2).getType());
  if (!type || !layout || !hasUnitInnerStride(cType))
    return; // becomes loops
  const bool zeroInit = takeZeroFill(op);
  OpBuilder b(op);
  Location loc = op->getLoc();
  Value context = blockContext(op);
  Value request = entryAlloca(b, loc, b.getI8Type(), sizeof(GemmRequest));
  Value a = op->getOperand(0), bb = op->getOperand(1), c = op->getOperand(2);
  Type i64 = b.getI64Type();
  auto toI64 = [&](Value index) -> Value { return arith::IndexCastOp::create(b, loc, i64, index); };
  auto sizesA = memrefSizes(b, loc, a), sizesC = memrefSizes(b, loc, c);
  auto metaA = memref::ExtractStridedMetadataOp::create(b, loc, a);
  auto metaB = memref::ExtractStridedMetadataOp::create(b, loc, bb);
  auto metaC = memref::ExtractStridedMetadataOp::create(b, loc, c);
  const unsigned first = batched ? 1 : 0;
  auto field = [&](Value value, int64_t offset) { storeAt(b, loc, value, request, offset); };
  field(toI64(sizesC[first]), offsetof(GemmRequest, m));
  field(toI64(sizesC[first + 1]), offsetof(GemmRequest, n));
  field(toI64(sizesA[layout->aCol]), offsetof(GemmRequest, k));
  field(toI64(metaA.getStrides()[layout->aRow]), offsetof(GemmRequest, aRow));
  field(toI64(metaA.getStrides()[layout->aCol]), offsetof(GemmRequest, aCol));
  field(toI64(metaB.getStrides()[layout->bRow]), offsetof(GemmRequest, bRow));
  field(toI64(metaB.getStrides()[layout->bCol]), offsetof(GemmRequest, bCol));
  field(toI64(metaC.getStrides()[first]), offsetof(GemmRequest, cRow));
  field(i32Constant(b, loc, int32_t(*type)), offsetof(GemmRequest, type));
  field(i32Constant(b, loc, zeroInit ? kGemmZeroInit : 0), offsetof(GemmRequest, flags));
  SmallVector<Value> batch;
  if (batched)
    batch.push_back(sizesC[0]);
  emitLoopNest(b, loc, batch, [&](OpBuilder &b, ValueRange outer) {
    SmallVector<Value> at(outer);
    at.append(2, indexConstant(b, loc, 0));
    storeAt(b, loc, elementPointer(b, loc, a, at), request, offsetof(GemmRequest, a));
    storeAt(b, loc, elementPointer(b, loc, bb, at), request, offsetof(GemmRequest, b));
    storeAt(b, loc, elementPointer(b, loc, c, at), request, offsetof(GemmRequest, c));
    callService(b, loc, context, offsetof(BlockServices, gemm), request);
  });
  op->erase();
}

struct SimLowerBuffersPass : piton::impl::SimLowerBuffersBase<SimLowerBuffersPass> {
  using SimLowerBuffersBase::SimLowerBuffersBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function->hasAttr(kKernelAttr))
      return;
    SmallVector<linalg::LinalgOp> dots;
    SmallVector<memref::CopyOp> copies;
    SmallVector<linalg::FillOp> fills;
    function.walk([&](Operation *op) {
      if (isa<linalg::MatmulOp, linalg::BatchMatmulOp>(op) &&
          cast<linalg::LinalgOp>(op).hasPureBufferSemantics())
        dots.push_back(cast<linalg::LinalgOp>(op));
      else if (auto copy = dyn_cast<memref::CopyOp>(op))
        copies.push_back(copy);
      else if (auto copy = dyn_cast<linalg::CopyOp>(op); copy && copy.hasPureBufferSemantics()) {
        OpBuilder b(copy);
        copies.push_back(memref::CopyOp::create(b, copy.getLoc(), copy.getInputs().front(),
                                                copy.getDpsInits().front()));
      }
    });
    for (linalg::LinalgOp dot : dots)
      lowerDot(dot, isa<linalg::BatchMatmulOp>(dot.getOperation()));
    for (memref::CopyOp copy : copies) {
      if (auto named = dyn_cast_or_null<linalg::CopyOp>(copy->getNextNode());
          named && named.getInputs().front() == copy.getSource() &&
          named.getDpsInits().front() == copy.getTarget())
        named.erase();
      lowerCopy(copy, maskNarrow);
    }
    function.walk([&](linalg::FillOp fill) { fills.push_back(fill); });
    for (linalg::FillOp fill : fills)
      lowerFill(fill, maskNarrow);
  }
};

} // namespace
