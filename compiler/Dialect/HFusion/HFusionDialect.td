// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `hfusion` dialect: the part of AscendNPU IR's tensor-level dialect that
// hand-over modules use, in its text. docs/dialects/hfusion.md says what is left out.
#ifndef PITON_COMPILER_DIALECT_HFUSION_HFUSIONDIALECT_TD
#define PITON_COMPILER_DIALECT_HFUSION_HFUSIONDIALECT_TD

include "mlir/IR/OpBase.td"

def HFusion_Dialect : Dialect {
  let name = "hfusion";
  let cppNamespace = "::mlir::hfusion";
  let summary = "tensor operations of the NPU that upstream dialects lack";
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = "void registerAttributes();";
}

#endif // PITON_COMPILER_DIALECT_HFUSION_HFUSIONDIALECT_TD
