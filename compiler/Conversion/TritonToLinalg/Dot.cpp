// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tt.dot to linalg.matmul or batch_matmul, the accumulator as init.
#include "compiler/Conversion/TritonToLinalg/Dot.h"
#include "compiler/Conversion/TritonToLinalg/NpuOps.h"

using namespace mlir;

namespace piton::linalglowering {

Value multiply(OpBuilder &b, Location loc, Value lhs, Value rhs, Value accumulator,
               StringRef precision) {
  auto type = cast<RankedTensorType>(accumulator.getType());
  // Narrow floats accumulate in f32 and are rounded once, at the end.
  auto real = dyn_cast<FloatType>(type.getElementType());
  bool isNarrow = real && real.getWidth() < 32;
  if (isNarrow)
    accumulator = arith::ExtFOp::create(b, loc, withElement(type, b.getF32Type()), accumulator);
  NamedAttribute mark = b.getNamedAttr("input_precision", b.getStringAttr(precision));
  SmallVector<Value> inputs{lhs, rhs};
  Operation *product = nullptr;
  if (type.getRank() == 2)
    product = linalg::MatmulOp::create(b, loc, TypeRange{accumulator.getType()}, inputs,
                                       ValueRange{accumulator});
  else
    product = linalg::BatchMatmulOp::create(b, loc, TypeRange{accumulator.getType()}, inputs,
                                            ValueRange{accumulator});
  product->setDiscardableAttr(mark.getName(), mark.getValue());
  if (!isNarrow)
    return product->getResult(0);
  auto narrowed = arith::TruncFOp::create(b, loc, type, product->getResult(0));
  markRoundToNearest(narrowed);
  return narrowed;
}

LogicalResult Lowering::lowerDot(triton::DotOp op) {
  OpBuilder b(op);
  // hf32 exists only on the NPU: its front end writes it beside the op.
  StringRef precision = triton::stringifyInputPrecision(op.getInputPrecision());
  if (auto named = op->getAttrOfType<StringAttr>("input_precision"))
    precision = named.getValue();
  op.replaceAllUsesWith(multiply(b, op.getLoc(), op.getA(), op.getB(), op.getC(), precision));
  op.erase();
  return success();
}

} // namespace piton::linalglowering
