// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes that stay in their dialect, in pipeline order. Each text has five parts:
// does, requires, ensures, example (a tested file), limits.
#ifndef PITON_COMPILER_TRANSFORMS_PASSES
#define PITON_COMPILER_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

//===-- stage ttir -------------------------------------------------------===//

//===-- stage ttadapter: control flow and addresses ----------------------===//

def TestAddressAnalysis : Pass<"test-address-analysis"> {
  let summary = "Say what the address and mask analyses make of each access";
  let description = [{
    Does: gives a remark at every load, store and atomic with the base, offset and
    strides of its address and the bounds and residual of its mask, and materialises
    them in front of it (`unrealized_conversion_cast` keeps them alive).
    Requires: nothing. Ensures: the accesses themselves are unchanged.
    Example: test/compiler/Analysis/AddressAnalysis/example.mlir.
    Limits: for tests only.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::triton::TritonDialect"];
}

//===-- simulator back end -----------------------------------------------===//

#endif // PITON_COMPILER_TRANSFORMS_PASSES
