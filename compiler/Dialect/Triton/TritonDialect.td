// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `tt` dialect: Triton IR, text-compatible with the stock triton 3.6 wheel.
// Why it exists and where it departs: docs/dialects/triton.md.
#ifndef PITON_COMPILER_DIALECT_TRITON_TRITONDIALECT_TD
#define PITON_COMPILER_DIALECT_TRITON_TRITONDIALECT_TD

include "mlir/IR/OpBase.td"

def Triton_Dialect : Dialect {
  let name = "tt";
  let cppNamespace = "::mlir::triton";
  let summary = "Triton IR";
  let description = [{
    Block-level programs over tensors and tensors of pointers, as the Triton
    front end writes them. Text and generic form are those of triton 3.6; the
    power-of-two rule of the stock verifier is absent, the limit of 1,048,576
    elements a tensor is kept.
  }];
  let dependentDialects = [
    "arith::ArithDialect", "math::MathDialect", "scf::SCFDialect",
    "cf::ControlFlowDialect", "ub::UBDialect"
  ];
  let useDefaultTypePrinterParser = 1;
  let hasConstantMaterializer = 1;
  // Discardable attributes with the tt prefix (tt.divisibility, tt.num_stages,
  // hints of other front ends) live on ops of any dialect and are never refused.
  let hasOperationAttrVerify = 0;
  let extraClassDeclaration = [{
    void registerTypes();
  }];
}

#endif // PITON_COMPILER_DIALECT_TRITON_TRITONDIALECT_TD
