// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NPU ops that triton-to-linalg emits: see NpuOps.h.
#include "compiler/Conversion/TritonToLinalg/NpuOps.h"

#include "compiler/Dialect/Annotation/Annotation.h"
#include "compiler/Dialect/HFusion/HFusion.h"
#include "compiler/Dialect/HIVM/HIVM.h"

using namespace mlir;

namespace piton::linalglowering {

Value createPointerCast(OpBuilder &b, Location loc, Value address, Value size, MemRefType type) {
  Value memory = hivm::PointerCastOp::create(b, loc, type, ValueRange{address},
                                             size ? ValueRange{size} : ValueRange{});
  auto global = hivm::AddressSpaceAttr::get(b.getContext(), hivm::AddressSpace::GM);
  annotation::MarkOp::create(b, loc, memory, b.getNamedAttr("address_space", global));
  return memory;
}

void markImplicitTranspose(OpBuilder &b, Location loc, Value memory) {
  NamedAttribute hint = b.getNamedAttr("MayImplicitTransposeWithLastAxis", b.getUnitAttr());
  annotation::MarkOp::create(b, loc, memory, hint);
}

void markStrideAlignment(OpBuilder &b, Location loc, Value memory, int64_t dim) {
  NamedAttribute hints[] = {
      b.getNamedAttr("hfusion.stride_align_dims",
                     b.getDenseI32ArrayAttr({static_cast<int32_t>(dim)})),
      b.getNamedAttr("hfusion.stride_align_value_in_byte", b.getDenseI32ArrayAttr({32}))};
  annotation::MarkOp::create(b, loc, memory, hints);
}

void markRoundToNearest(Operation *cast) {
  auto mode = hfusion::RoundModeAttr::get(cast->getContext(), hfusion::RoundMode::RINT);
  cast->setDiscardableAttr("round_mode", mode);
}

} // namespace piton::linalglowering
