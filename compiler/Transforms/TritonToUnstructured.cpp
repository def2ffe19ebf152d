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

/// The user's hint that an access is unstructured along all axes.
constexpr StringLiteral kDiscreteHint = "mayDiscretememaccess";

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
    for (Operation *op : accesses) {
      bool discrete = takeHint(op);
      rewriteAccess(op, forceScalarizeMode || discrete);
    }
  }

private:
  /// True when a mark on the loaded or stored tensor says that the access is unstructured; the
  /// mark has done its work then.
  static bool takeHint(Operation *access) {
    Value tensor = access->getNumResults() ? access->getResult(0) : access->getOperand(1);
    for (Operation *user : llvm::make_early_inc_range(tensor.getUsers())) {
      if (user->getName().getStringRef() != "annotation.mark" || !user->hasAttr(kDiscreteHint))
        continue;
      user->removeAttr(kDiscreteHint);
      if (user->getAttrs().empty())
        user->erase();
      return true;
    }
    return false;
  }
};

} // namespace
} // namespace piton
