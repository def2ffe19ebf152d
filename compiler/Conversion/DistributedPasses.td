// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass of the distributed part, which a compiler may be built without. Text as in Passes.td.
#ifndef PITON_COMPILER_CONVERSION_DISTRIBUTEDPASSES
#define PITON_COMPILER_CONVERSION_DISTRIBUTEDPASSES

include "mlir/Pass/PassBase.td"

def ConvertTritonDistributedToHIVMPass
    : Pass<"convert-triton-distributed-to-hivm", "::mlir::ModuleOp"> {
  let summary = "communication between PEs becomes calls of device functions";
  let description = [{
    Does: turns each op of the `distributed` dialect into one `hivm.hir.custom` that names a
    function of the device library (`aclshmem_my_pe`, `aclshmem_ptr_float`, ...) and the core it
    runs on. A kernel without a dot is one for vector cores alone. Attributes of the source op
    are kept.

    Requires: nothing; runs before every other pass of its stage, so that no analysis after it
    needs to know the `distributed` dialect.

    Ensures: no op of that dialect is left and every other op is as it was. A call has
    `no_side_effect` exactly if its source had no memory effect: a wait never has.

    Example: test/compiler/Conversion/TritonDistributedToHIVM/example.mlir

    Limits: pointers to types that the library does not have (float64, fp8, i1) are errors at
    their line. consume_token of such a type, of a tensor of data, of a descriptor or of a block
    pointer is replaced by its operand.
  }];
  let options = [Option<"benefit", "pattern-benefit-prioritize-over-llvm-conversions", "unsigned",
                        "10", "benefit of the patterns">];
  let dependentDialects = [
    "::mlir::hivm::HIVMDialect", "::mlir::triton::distributed::DistributedDialect",
    "::mlir::annotation::AnnotationDialect", "::mlir::arith::ArithDialect",
    "::mlir::tensor::TensorDialect"];
}

#endif // PITON_COMPILER_CONVERSION_DISTRIBUTEDPASSES
