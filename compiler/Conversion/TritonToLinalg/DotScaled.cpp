// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tt.dot_scaled: operands are decoded to bf16 (f32 when a side is f16, whose values bf16
// cannot hold), multiplied by their block scales, and go through a plain matrix product.
// Scales are E8M0 bytes (2^(byte - 127), 255 is NaN) or f8E4M3FN values.
#include "compiler/Conversion/TritonToLinalg/Dot.h"

using namespace mlir;

namespace piton::linalglowering {

namespace {
/// One side of the product: decoded values, and the dimension that is contracted.
struct Side {
  Value value, scale;
  triton::ScaleDotElemType format;
  bool packedAlongK;
  int64_t kDim; ///< of `value`: the last one for a, the last but one for b
};
} // namespace

/// (.., n, ..) of even and odd elements to (.., 2n, ..) along `dim`.
static Value interleave(OpBuilder &b, Location loc, Value even, Value odd, int64_t dim) {
  auto type = cast<RankedTensorType>(even.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] *= 2;
  Value result = emptyTensor(b, loc, shape, type.getElementType());
  SmallVector<OpFoldResult> offsets(shape.size(), b.getIndexAttr(0)), sizes;
  SmallVector<OpFoldResult> strides(shape.size(), b.getIndexAttr(1));
  for (int64_t size : type.getShape())
    sizes.push_back(b.getIndexAttr(size));
  strides[dim] = b.getIndexAttr(2);
  result = tensor::InsertSliceOp::create(b, loc, even, result, offsets, sizes, strides);
  offsets[dim] = b.getIndexAttr(1);
  return tensor::InsertSliceOp::create(b, loc, odd, result, offsets, sizes, strides);
}

/// Four bits s e e m in the low half of i16 lanes to bf16: 0, 0.5, 1, 1.5, 2, 3, 4, 6.
static Value decodeE2M1(OpBuilder &b, Location loc, Value nibble) {
  Type type = nibble.getType();
  auto constant = [&](int64_t value) { return splatInt(b, loc, type, value); };
  Value sign = arith::ShLIOp::create(b, loc, arith::AndIOp::create(b, loc, nibble, constant(8)),
                                     constant(12));
  Value magnitude = arith::AndIOp::create(b, loc, nibble, constant(7));
  // Normal numbers: the three bits, moved to bf16's exponent and mantissa, with the bias
  // raised from 1 to 127. 1 is the only subnormal: 0.5. 0 is 0.
  Value normal = arith::AddIOp::create(
      b, loc, arith::ShLIOp::create(b, loc, magnitude, constant(6)), constant(126 << 7));
  Value isHalf = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, magnitude, constant(1));
  Value isZero = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, magnitude, constant(0));
  Value bits = arith::SelectOp::create(b, loc, isHalf, constant(126 << 7), normal);
  bits = arith::SelectOp::create(b, loc, isZero, constant(0), bits);
  bits = arith::OrIOp::create(b, loc, bits, sign);
  return arith::BitcastOp::create(b, loc, withElement(type, b.getBF16Type()), bits);
}

static Value convertTo(OpBuilder &b, Location loc, Value value, Type element) {
  Type from = getElementTypeOrSelf(value.getType());
  if (from == element)
    return value;
  Type type = withElement(value.getType(), element);
  if (from.getIntOrFloatBitWidth() < element.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(b, loc, type, value);
  return arith::TruncFOp::create(b, loc, type, value);
}

/// The values of one side in `compute`, or null for a format that has no decoding.
static Value decode(OpBuilder &b, Location loc, const Side &side, Type compute) {
  auto type = cast<RankedTensorType>(side.value.getType());
  Type bits = type.getElementType();
  Type real;
  switch (side.format) {
  case triton::ScaleDotElemType::E4M3:
    real = Float8E4M3FNType::get(b.getContext());
    break;
  case triton::ScaleDotElemType::E5M2:
    real = Float8E5M2Type::get(b.getContext());
    break;
  case triton::ScaleDotElemType::BF16:
    real = b.getBF16Type();
    break;
  case triton::ScaleDotElemType::FP16:
    real = b.getF16Type();
    break;
  case triton::ScaleDotElemType::E2M1: {
    Value wide = arith::ExtUIOp::create(b, loc, withElement(type, b.getI16Type()), side.value);
    Value four = splatInt(b, loc, wide.getType(), 4);
    Value low = decodeE2M1(b, loc, wide);
    Value high = decodeE2M1(b, loc, arith::ShRUIOp::create(b, loc, wide, four));
    int64_t otherDim = type.getRank() * 2 - 3 - side.kDim;
    int64_t dim = side.packedAlongK ? side.kDim : otherDim;
    return convertTo(b, loc, interleave(b, loc, low, high, dim), compute);
  }
  default:
    return {};
  }
  Value value = side.value;
  if (bits.isInteger())
    value = arith::BitcastOp::create(b, loc, withElement(type, real), value);
  return convertTo(b, loc, value, compute);
}

/// Block scales (.., rows, K / f) as values of `compute`.
static Value decodeScale(OpBuilder &b, Location loc, Value scale, bool fastMath, Type compute) {
  auto type = cast<RankedTensorType>(scale.getType());
  if (!type.getElementType().isInteger(8))
    return convertTo(b, loc, scale, compute);
  // The byte is bf16's exponent field; 0 stands for 2^-127, which is subnormal there.
  Type wide = withElement(type, b.getI16Type());
  Value byte = arith::ExtUIOp::create(b, loc, wide, scale);
  auto constant = [&](int64_t value) { return splatInt(b, loc, wide, value); };
  Value bits = arith::ShLIOp::create(b, loc, byte, constant(7));
  Value isZero = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, byte, constant(0));
  bits = arith::SelectOp::create(b, loc, isZero, constant(0x0040), bits);
  if (!fastMath) {
    Value isNan = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, byte, constant(255));
    bits = arith::SelectOp::create(b, loc, isNan, constant(0x7FC0), bits);
  }
  Value real = arith::BitcastOp::create(b, loc, withElement(wide, b.getBF16Type()), bits);
  return convertTo(b, loc, real, compute);
}

/// Repeats each scale over its block along K and brings K to where `side` has it.
static Value spreadScale(OpBuilder &b, Location loc, Value scale, const Side &side,
                         RankedTensorType values) {
  auto type = cast<RankedTensorType>(scale.getType());
  int64_t rank = type.getRank(), blocks = type.getDimSize(rank - 1);
  int64_t depth = values.getDimSize(side.kDim);
  SmallVector<int64_t> split(type.getShape());
  split.push_back(depth / blocks);
  Value wide = broadcastInto(b, loc, scale, split, {rank});
  SmallVector<int64_t> shape(type.getShape());
  shape.back() = depth;
  wide = reshaped(b, loc, wide, shape);
  if (side.kDim == rank - 1)
    return wide;
  SmallVector<int64_t> permutation = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::swap(permutation[rank - 1], permutation[rank - 2]);
  return transposed(b, loc, wide, permutation);
}

LogicalResult Lowering::lowerDotScaled(triton::DotScaledOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  int64_t rank = cast<RankedTensorType>(op.getA().getType()).getRank();
  Side sides[] = {{op.getA(), op.getAScale(), op.getAElemType(), op.getLhsKPack(), rank - 1},
                  {op.getB(), op.getBScale(), op.getBElemType(), op.getRhsKPack(), rank - 2}};
  bool isHalf = llvm::any_of(
      sides, [](const Side &side) { return side.format == triton::ScaleDotElemType::FP16; });
  Type compute = isHalf ? Type(b.getF32Type()) : Type(b.getBF16Type());
  Value operands[2];
  for (auto [side, operand] : llvm::zip_equal(sides, operands)) {
    operand = decode(b, loc, side, compute);
    if (!operand)
      return op.emitOpError("has an operand in format ")
             << triton::stringifyScaleDotElemType(side.format)
             << ", for which no decoding exists; use e4m3, e5m2, e2m1, bf16 or fp16";
    if (!side.scale)
      continue;
    Value scale = decodeScale(b, loc, side.scale, op.getFastMath(), compute);
    scale = spreadScale(b, loc, scale, side, cast<RankedTensorType>(operand.getType()));
    operand = arith::MulFOp::create(b, loc, operand, scale);
  }
  op.replaceAllUsesWith(multiply(b, loc, operands[0], operands[1], op.getC(), "ieee"));
  op.erase();
  return success();
}

} // namespace piton::linalglowering
