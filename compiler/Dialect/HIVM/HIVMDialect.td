// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `hivm` dialect: the part of AscendNPU IR's hardware-intrinsic dialect that
// hand-over modules use, in its text. docs/dialects/hivm.md says what is left out.
#ifndef PITON_COMPILER_DIALECT_HIVM_HIVMDIALECT_TD
#define PITON_COMPILER_DIALECT_HIVM_HIVMDIALECT_TD

include "mlir/IR/OpBase.td"

def HIVM_Dialect : Dialect {
  let name = "hivm";
  let cppNamespace = "::mlir::hivm";
  let summary = "NPU data movement, synchronisation and custom calls";
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = "void registerAttributes();";
}

#endif // PITON_COMPILER_DIALECT_HIVM_HIVMDIALECT_TD
