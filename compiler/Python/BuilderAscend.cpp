// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builder bindings, part 5: what the language extension of Ascend makes.
#include "compiler/Python/IR.h"

#include "compiler/Dialect/HIVM/HIVM.h"

namespace nb = nanobind;
using namespace mlir;

namespace piton::python {

void bindBuilderAscend(nb::class_<Builder> &cls) {
  cls.def("create_get_sub_vec_id", [](Builder &self) {
    MLIRContext *context = self.ops.getContext();
    context->loadDialect<hivm::HIVMDialect>();
    // The kernel says itself what each vector core does: the compiler must not divide its tiles.
    Operation *parent = self.ops.getInsertionBlock()->getParentOp();
    if (auto module = parent->getParentOfType<ModuleOp>())
      module->setAttr("hivm.disable_auto_tile_and_bind_subblock", UnitAttr::get(context));
    return self.value<hivm::GetSubBlockIdxOp>(self.ops.getI64Type());
  });
}

} // namespace piton::python
