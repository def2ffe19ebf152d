// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Histograms, rounding toward zero and remainders -> hfusion operations.
#include "compiler/Conversion/Passes.h"
#include "compiler/Dialect/Ascend/Ascend.h"
#include "compiler/Dialect/HFusion/HFusion.h"

namespace piton {
#define GEN_PASS_DEF_TRITONTOHFUSIONPASS
#include "compiler/Conversion/Passes.h.inc"
} // namespace piton

#define DEBUG_TYPE "triton-to-hfusion"

using namespace mlir;

namespace {

/// A destination of `type` without contents.
Value createEmpty(OpBuilder &builder, Location loc, RankedTensorType type) {
  return tensor::EmptyOp::create(builder, loc, type.getShape(), type.getElementType());
}

Value createSplat(OpBuilder &builder, Location loc, RankedTensorType type, int64_t value) {
  Attribute scalar = builder.getIntegerAttr(type.getElementType(), value);
  return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, scalar));
}

/// Moves masked lanes to bin `bins`, one past the end. A type too narrow for that number
/// is widened without sign: its values from the middle on can only be meant unsigned.
Value redirectMaskedLanes(OpBuilder &builder, Location loc, Value src, Value mask, int64_t bins) {
  auto type = cast<RankedTensorType>(src.getType());
  unsigned width = type.getElementTypeBitWidth();
  if (width < 64 && bins >= (int64_t(1) << (width - 1))) {
    type = type.clone(builder.getIntegerType(width < 32 ? 32 : 64));
    src = arith::ExtUIOp::create(builder, loc, type, src);
  }
  Value extra = createSplat(builder, loc, type, bins);
  return arith::SelectOp::create(builder, loc, mask, src, extra);
}

void convertHistogram(triton::HistogramOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op.getType());
  int64_t bins = type.getDimSize(0);
  if (!op.getMask()) {
    auto counts = hfusion::HistogramOp::create(builder, loc, type, op.getSrc(), bins, Value());
    op.replaceAllUsesWith(counts.getOutput());
    return op.erase();
  }
  Value src = redirectMaskedLanes(builder, loc, op.getSrc(), op.getMask(), bins);
  auto wide = RankedTensorType::get({bins + 1}, type.getElementType());
  auto counts = hfusion::HistogramOp::create(builder, loc, wide, src, bins + 1, Value());
  OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
  auto slice = tensor::ExtractSliceOp::create(builder, loc, type, counts.getOutput(), zero,
                                              OpFoldResult(builder.getIndexAttr(bins)), one);
  op.replaceAllUsesWith(slice.getResult());
  op.erase();
}

/// Runs `body` on one-element tensors when `op` works on scalars.
template <typename BodyT>
Value onTensors(OpBuilder &builder, Operation *op, ValueRange operands, BodyT body) {
  Location loc = op->getLoc();
  Type type = op->getResult(0).getType();
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return body(operands, tensor);
  SmallVector<Value> wrapped;
  for (Value operand : operands)
    wrapped.push_back(tensor::FromElementsOp::create(
        builder, loc, RankedTensorType::get({1}, operand.getType()), operand));
  Value result = body(wrapped, RankedTensorType::get({1}, type));
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  return tensor::ExtractOp::create(builder, loc, result, zero);
}

void convertRoundToZero(triton::FpToFpOp op) {
  OpBuilder builder(op);
  Value result =
      onTensors(builder, op, op.getSrc(), [&](ValueRange operands, RankedTensorType type) -> Value {
        Value init = createEmpty(builder, op.getLoc(), type);
        auto mode = hfusion::RoundModeAttr::get(op.getContext(), hfusion::RoundMode::TRUNC);
        auto cast = hfusion::CastOp::create(builder, op.getLoc(), TypeRange(type), operands,
                                            ValueRange(init), mode, hfusion::TypeFnAttr(),
                                            hfusion::UnsignedModeAttr(), BoolAttr(), BoolAttr());
        return cast.getResult(0);
      });
  op.replaceAllUsesWith(result);
  op.erase();
}

void convertMod(triton::ascend::ModOp op) {
  OpBuilder builder(op);
  Value result = onTensors(
      builder, op, op->getOperands(), [&](ValueRange operands, RankedTensorType type) -> Value {
        Value init = createEmpty(builder, op.getLoc(), type);
        auto mod = hfusion::BinaryFnAttr::get(op.getContext(), hfusion::BinaryFn::mod);
        auto binary =
            hfusion::ElemwiseBinaryOp::create(builder, op.getLoc(), TypeRange(type), operands,
                                              ValueRange(init), mod, hfusion::TypeFnAttr());
        return binary.getResult(0);
      });
  op.replaceAllUsesWith(result);
  op.erase();
}

struct TritonToHFusion : piton::impl::TritonToHFusionPassBase<TritonToHFusion> {
  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      if (auto histogram = dyn_cast<triton::HistogramOp>(op))
        return convertHistogram(histogram);
      if (auto mod = dyn_cast<triton::ascend::ModOp>(op))
        return convertMod(mod);
      auto cast = dyn_cast<triton::FpToFpOp>(op);
      if (cast && cast.getRounding() == triton::RoundingMode::RTZ)
        convertRoundToZero(cast);
    });
  }
};

} // namespace
