// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compile hints of the language extension -> annotation marks.
#include "compiler/Conversion/Passes.h"
#include "compiler/Dialect/Annotation/Annotation.h"
#include "compiler/Dialect/Ascend/Ascend.h"

namespace piton {
#define GEN_PASS_DEF_TRITONTOANNOTATIONPASS
#include "compiler/Conversion/Passes.h.inc"
} // namespace piton

#define DEBUG_TYPE "triton-to-annotation"

using namespace mlir;

namespace {

struct TritonToAnnotation : piton::impl::TritonToAnnotationPassBase<TritonToAnnotation> {
  void runOnOperation() override {
    getOperation().walk([](triton::ascend::AnnotationOp hint) {
      OpBuilder builder(hint);
      annotation::MarkOp::create(builder, hint.getLoc(), hint.getSrc(),
                                 hint->getDiscardableAttrDictionary().getValue());
      hint.erase();
    });
  }
};

} // namespace
