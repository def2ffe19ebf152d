// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tt.scan and tt.map_elementwise. Running sums and products are helper calls that the
// back ends know by name; any other scan carries a slice (or an element) along the axis.
#include "compiler/Conversion/TritonToLinalg/Lowering.h"
#include "compiler/Conversion/TritonToLinalg/Slices.h"

#include "mlir/Conversion/ControlFlowToSCF/ControlFlowToSCF.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CFGToSCF.h"

using namespace mlir;

namespace piton::linalglowering {

/// Offsets and sizes of the part of `type` that starts at `lane` along `axis`.
static void sliceBounds(OpBuilder &b, RankedTensorType type, int64_t axis, OpFoldResult lane,
                        int64_t count, SmallVector<OpFoldResult> &offsets,
                        SmallVector<OpFoldResult> &sizes) {
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    offsets.push_back(dim == axis ? lane : OpFoldResult(b.getIndexAttr(0)));
    sizes.push_back(b.getIndexAttr(dim == axis ? count : type.getDimSize(dim)));
  }
}

Value sliceAt(OpBuilder &b, Location loc, Value tensor, int64_t axis, OpFoldResult lane) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (type.getRank() == 1)
    return tensor::ExtractOp::create(b, loc, tensor, asIndex(b, loc, lane));
  SmallVector<OpFoldResult> offsets, sizes, strides(type.getRank(), b.getIndexAttr(1));
  sliceBounds(b, type, axis, lane, 1, offsets, sizes);
  SmallVector<int64_t> shape(type.getShape());
  shape.erase(shape.begin() + axis);
  return tensor::ExtractSliceOp::create(b, loc, RankedTensorType::get(shape, type.getElementType()),
                                        tensor, offsets, sizes, strides);
}

Value withSlice(OpBuilder &b, Location loc, Value slice, Value tensor, int64_t axis,
                OpFoldResult lane) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (type.getRank() == 1)
    return tensor::InsertOp::create(b, loc, slice, tensor, asIndex(b, loc, lane));
  SmallVector<OpFoldResult> offsets, sizes, strides(type.getRank(), b.getIndexAttr(1));
  sliceBounds(b, type, axis, lane, 1, offsets, sizes);
  return tensor::InsertSliceOp::create(b, loc, slice, tensor, offsets, sizes, strides);
}

Value sliceFrom(OpBuilder &b, Location loc, Value tensor, int64_t axis, int64_t start) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<OpFoldResult> offsets, sizes, strides(type.getRank(), b.getIndexAttr(1));
  sliceBounds(b, type, axis, b.getIndexAttr(start), type.getDimSize(axis) - start, offsets, sizes);
  return tensor::ExtractSliceOp::create(b, loc, tensor, offsets, sizes, strides);
}

/// Scans every line along `axis` of `sources` onto `results`, which have the same shape and
/// hold nothing yet.
static SmallVector<Value> scanSlices(OpBuilder &b, Location loc, Region &region, ValueRange sources,
                                     ValueRange results, int64_t axis, bool reverse) {
  int64_t size = cast<RankedTensorType>(sources.front().getType()).getDimSize(axis);
  OpFoldResult first = b.getIndexAttr(reverse ? size - 1 : 0);
  SmallVector<Value> carried, start;
  for (auto [source, result] : llvm::zip_equal(sources, results)) {
    start.push_back(sliceAt(b, loc, source, axis, first));
    carried.push_back(withSlice(b, loc, start.back(), result, axis, first));
  }
  if (size == 1)
    return carried;
  size_t count = sources.size();
  llvm::append_range(carried, start);
  Value lower = arith::ConstantIndexOp::create(b, loc, 1);
  Value upper = arith::ConstantIndexOp::create(b, loc, size);
  Value last = reverse ? arith::ConstantIndexOp::create(b, loc, size - 1).getResult() : Value();
  auto loop = scf::ForOp::create(
      b, loc, lower, upper, lower, carried,
      [&](OpBuilder &nested, Location at, Value step, ValueRange values) {
        Value lane = reverse ? arith::SubIOp::create(nested, at, last, step).getResult() : step;
        SmallVector<Value> arguments(values.drop_front(count));
        for (Value source : sources)
          arguments.push_back(sliceAt(nested, at, source, axis, lane));
        SmallVector<Value> next = applyRegion(nested, region, arguments), yielded;
        for (auto [value, result] : llvm::zip_equal(next, values.take_front(count)))
          yielded.push_back(withSlice(nested, at, value, result, axis, lane));
        llvm::append_range(yielded, next);
        scf::YieldOp::create(nested, at, yielded);
      });
  return SmallVector<Value>(loop.getResults().take_front(count));
}

/// One loop a dimension other than the axis, innermost a scan of one line of elements.
static SmallVector<Value> scanLines(OpBuilder &b, Location loc, Region &region, ValueRange sources,
                                    ValueRange results, int64_t axis, bool reverse) {
  auto type = cast<RankedTensorType>(sources.front().getType());
  if (type.getRank() == 1)
    return scanSlices(b, loc, region, sources, results, axis, reverse);
  // Dimension 0 unless that is the axis: loop over it and scan what is left.
  int64_t dim = axis == 0 ? 1 : 0;
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value upper = arith::ConstantIndexOp::create(b, loc, type.getDimSize(dim));
  auto loop =
      scf::ForOp::create(b, loc, zero, upper, one, results,
                         [&](OpBuilder &nested, Location at, Value lane, ValueRange values) {
                           SmallVector<Value> inner, init, yielded;
                           for (auto [source, value] : llvm::zip_equal(sources, values)) {
                             inner.push_back(sliceAt(nested, at, source, dim, lane));
                             init.push_back(sliceAt(nested, at, value, dim, lane));
                           }
                           SmallVector<Value> lines = scanLines(nested, at, region, inner, init,
                                                                axis == 0 ? 0 : axis - 1, reverse);
                           for (auto [line, value] : llvm::zip_equal(lines, values))
                             yielded.push_back(withSlice(nested, at, line, value, dim, lane));
                           scf::YieldOp::create(nested, at, yielded);
                         });
  return SmallVector<Value>(loop.getResults());
}

LogicalResult Lowering::lowerScan(triton::ScanOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  Region &region = op.getCombineOp();
  Operation *combiner = commutativeCombiner(region);
  bool isSum = isa_and_nonnull<arith::AddFOp, arith::AddIOp>(combiner);
  if (isSum || isa_and_nonnull<arith::MulFOp, arith::MulIOp>(combiner)) {
    Value axis = constantOf(b, loc, b.getI32IntegerAttr(op.getAxis()));
    Value reverse = constantOf(b, loc, b.getBoolAttr(op.getReverse()));
    Value source = op.getSrcs().front();
    auto type = b.getFunctionType({source.getType(), axis.getType(), reverse.getType()},
                                  {op->getResult(0).getType()});
    func::FuncOp helper = declareHelper(isSum ? "triton_cumsum" : "triton_cumprod", type, loc);
    auto call = func::CallOp::create(b, loc, helper, ValueRange{source, axis, reverse});
    op->replaceAllUsesWith(call.getResults());
    op.erase();
    return success();
  }
  SmallVector<Value> empty;
  for (Value source : op.getSrcs()) {
    auto type = cast<RankedTensorType>(source.getType());
    empty.push_back(emptyTensor(b, loc, type.getShape(), type.getElementType()));
  }
  auto scan = isElementwiseRegion(region) ? scanSlices : scanLines;
  op->replaceAllUsesWith(scan(b, loc, region, op.getSrcs(), empty, op.getAxis(), op.getReverse()));
  op.erase();
  return success();
}

LogicalResult Lowering::lowerMapElementwise(triton::MapElementwiseOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  Region &region = op.getScalarOp();
  if (!region.hasOneBlock()) {
    ControlFlowToSCFTransformation lift;
    DominanceInfo dominance(op);
    if (failed(transformCFGToSCF(region, lift, dominance)) || !region.hasOneBlock())
      return op.emitOpError("has control flow that cannot be written as loops and branches");
  }
  int64_t pack = op.getPack();
  if (pack == 1 && isElementwiseRegion(region)) {
    op->replaceAllUsesWith(applyRegion(b, region, op.getSrcs()));
    op.erase();
    return success();
  }

  // Packs of neighbours in row-major order, one a turn.
  auto type = cast<RankedTensorType>(op.getSrcs().front().getType());
  int64_t count = type.getNumElements();
  if (count % pack != 0)
    return op.emitOpError("has ") << count << " elements, which are no whole packs of " << pack
                                  << "; choose a pack that divides the tensor";
  SmallVector<Value> sources, results;
  for (Value source : op.getSrcs())
    sources.push_back(reshaped(b, loc, source, {count}));
  for (Type result : op.getResultTypes())
    results.push_back(emptyTensor(b, loc, {count}, getElementTypeOrSelf(result)));
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value step = arith::ConstantIndexOp::create(b, loc, pack);
  Value upper = arith::ConstantIndexOp::create(b, loc, count);
  auto loop = scf::ForOp::create(
      b, loc, zero, upper, step, results,
      [&](OpBuilder &nested, Location at, Value start, ValueRange values) {
        SmallVector<Value> lanes{start}, arguments, yielded;
        for (int64_t lane = 1; lane < pack; ++lane) {
          Value distance = arith::ConstantIndexOp::create(nested, at, lane);
          lanes.push_back(arith::AddIOp::create(nested, at, start, distance));
        }
        for (Value source : sources)
          for (Value lane : lanes)
            arguments.push_back(tensor::ExtractOp::create(nested, at, source, lane));
        SmallVector<Value> out = applyRegion(nested, region, arguments);
        for (auto [number, value] : llvm::enumerate(values)) {
          Value result = value;
          for (auto [lane, index] : llvm::enumerate(lanes))
            result = tensor::InsertOp::create(nested, at, out[number * pack + lane], result, index);
          yielded.push_back(result);
        }
        scf::YieldOp::create(nested, at, yielded);
      });
  SmallVector<Value> shaped;
  for (auto [value, old] : llvm::zip_equal(loop.getResults(), op.getResults()))
    shaped.push_back(reshaped(b, loc, value, cast<RankedTensorType>(old.getType()).getShape()));
  op->replaceAllUsesWith(shaped);
  op.erase();
  return success();
}

} // namespace piton::linalglowering
