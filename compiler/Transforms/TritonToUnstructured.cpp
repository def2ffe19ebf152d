// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accesses whose address is no affine function of the lane, or whose mask is no box,
// become loops over single lanes or over rows. A lane outside its mask is never
// touched. What the structured passes left is handled here, whatever it is.
#include "compiler/Analysis/AddressAnalysis.h"
#include "compiler/Analysis/LaneAnalysis.h"
#include "compiler/Analysis/MaskAnalysis.h"
#include "compiler/Dialect/Triton/Triton.h"
#include "compiler/Transforms/AccessLoops.h"
#include "compiler/Transforms/AccessUtils.h"
#include "compiler/Transforms/Passes.h"
#include "compiler/Transforms/PointerCarrying.h"
#include "compiler/Transforms/ValueSlicer.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace piton {
#define GEN_PASS_DEF_TRITONTOUNSTRUCTUREDPASS
#include "compiler/Transforms/Passes.h.inc"

namespace {

struct TritonToUnstructured : impl::TritonToUnstructuredPassBase<TritonToUnstructured> {
  using Base::Base;

  void runOnOperation() override {
    if (failed(pointersToIntegers(getOperation())))
      return signalPassFailure();
    SmallVector<Operation *> accesses;
    getOperation()->walk([&](Operation *op) {
      if (isAccess(op) && !op->hasAttr(kDiscreteMemAccess))
        accesses.push_back(op);
    });
    for (Operation *op : accesses)
      rewriteAccess(op, forceScalarizeMode);
  }
};

} // namespace
} // namespace piton
