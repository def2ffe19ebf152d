// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `distributed` dialect: communication between processing elements (PEs), the
// same for every platform. Which platform it runs on is decided by one conversion.
#ifndef PITON_COMPILER_DIALECT_DISTRIBUTED_DISTRIBUTEDDIALECT_TD
#define PITON_COMPILER_DIALECT_DISTRIBUTED_DISTRIBUTEDDIALECT_TD

include "mlir/IR/OpBase.td"

def Distributed_Dialect : Dialect {
  let name = "distributed";
  let cppNamespace = "::mlir::triton::distributed";
  let summary = "communication between the processing elements of a job";
  let description = [{
    Seven ops that kernels use to find, read, write and wait for memory of other
    PEs. The list of dependent dialects is empty on purpose: the dialect lowers to
    HIVM here and could lower to any other platform, without needing either.
  }];
  let dependentDialects = [];
}

#endif // PITON_COMPILER_DIALECT_DISTRIBUTED_DISTRIBUTEDDIALECT_TD
