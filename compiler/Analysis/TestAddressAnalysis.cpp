// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test pass: shows what the address and the mask analysis make of every access, as
// remarks and as the ops they materialise.
#include "compiler/Analysis/AddressAnalysis.h"
#include "compiler/Analysis/MaskAnalysis.h"
#include "compiler/Dialect/Triton/Triton.h"
#include "compiler/Transforms/Passes.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace piton {
#define GEN_PASS_DEF_TESTADDRESSANALYSISPASS
#include "compiler/Transforms/Passes.h.inc"

namespace {

std::string text(ArrayRef<OpFoldResult> values) {
  std::string result;
  llvm::raw_string_ostream os(result);
  os << "[";
  llvm::interleaveComma(values, os, [&](OpFoldResult value) {
    if (std::optional<int64_t> number = getConstantIntValue(value))
      os << *number;
    else
      os << "?";
  });
  os << "]";
  return result;
}

struct TestAddressAnalysis : impl::TestAddressAnalysisPassBase<TestAddressAnalysis> {
  void keep(OpBuilder &builder, Location loc, StringRef name, ArrayRef<OpFoldResult> values) {
    SmallVector<Value> dynamic;
    for (OpFoldResult value : values)
      if (auto scalar = dyn_cast<Value>(value))
        dynamic.push_back(scalar);
    if (dynamic.empty())
      return;
    auto cast =
        UnrealizedConversionCastOp::create(builder, loc, TypeRange{builder.getNoneType()}, dynamic);
    cast->setAttr("name", builder.getStringAttr(name));
  }

  void runOnOperation() override {
    getOperation()->walk([&](Operation *op) {
      Value ptr, mask;
      if (auto load = dyn_cast<triton::LoadOp>(op))
        ptr = load.getPtr(), mask = load.getMask();
      else if (auto store = dyn_cast<triton::StoreOp>(op))
        ptr = store.getPtr(), mask = store.getMask();
      else if (auto rmw = dyn_cast<triton::AtomicRMWOp>(op))
        ptr = rmw.getPtr(), mask = rmw.getMask();
      else if (auto cas = dyn_cast<triton::AtomicCASOp>(op))
        ptr = cas.getPtr();
      else
        return;
      OpBuilder builder(op);
      std::string reason;
      FailureOr<StructuredAddress> address = analyzeAddress(ptr, builder, &reason);
      if (failed(address)) {
        op->emitRemark() << "address: not structured, " << reason;
      } else {
        SmallVector<OpFoldResult> scalars(address->strides);
        scalars.push_back(address->offset);
        keep(builder, op->getLoc(), "strides_offset", scalars);
        op->emitRemark() << "address: offset " << text(address->offset) << " strides "
                         << text(address->strides);
      }
      auto type = dyn_cast<RankedTensorType>(ptr.getType());
      if (!type)
        return;
      FailureOr<MaskInfo> info = analyzeMask(mask, type.getShape(), builder);
      keep(builder, op->getLoc(), "lo", info->lo);
      keep(builder, op->getLoc(), "hi", info->hi);
      if (info->residual)
        keep(builder, op->getLoc(), "residual", OpFoldResult(info->residual));
      op->emitRemark() << "mask: lo " << text(info->lo) << " hi " << text(info->hi)
                       << (info->residual ? " residual" : "")
                       << (info->isFull(type.getShape()) ? " full" : "");
    });
  }
};

} // namespace
} // namespace piton
