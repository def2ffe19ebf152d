// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes that change the dialect, in pipeline order. Each text has five parts:
// does, requires, ensures, example (a tested file), limits.
#ifndef PITON_COMPILER_CONVERSION_PASSES
#define PITON_COMPILER_CONVERSION_PASSES

include "mlir/Pass/PassBase.td"

def TritonToLinalg : Pass<"triton-to-linalg", "mlir::ModuleOp"> {
  let summary = "Triton IR to the hand-over IR: linalg, tensor, memref, scf, arith, math";
  let description = [{
    Does: pointers become memrefs, accesses copies of strided boxes, tensor ops linalg and
    tensor ops; elementwise arith and math stay on tensors. Kernels get the launcher's
    signature: lock and workspace first, then the user's arguments, then six i32 (number of
    programs x y z, program id x y z), with the attributes that the NPU back ends read.

    Requires: structured control flow only; no block pointer, descriptor, or pointer that
    crosses a region; every tensor address strided, every mask of a store or atomic a box
    (triton-to-structured, discrete-mask-access-conversion and triton-to-unstructured see
    to that). Scalar accesses may use any address.

    Ensures: no op and no type of Triton is left. Lanes outside a mask are not touched in
    memory; a masked load without `other` gives zero there. Every op keeps its location.

    Example: test/compiler/Conversion/TritonToLinalg/example.mlir

    Limits: an op without lowering is an error at its line that says which pass should have
    removed it. Element types of less than 8 bits live in memory only as i1 (a byte).
    enable-nd2nz-on-vector is accepted and changes nothing: the original shape that it hands
    on is known only while block pointers exist.
  }];
  let dependentDialects = [
    "mlir::arith::ArithDialect", "mlir::bufferization::BufferizationDialect",
    "mlir::func::FuncDialect", "mlir::linalg::LinalgDialect", "mlir::math::MathDialect",
    "mlir::memref::MemRefDialect", "mlir::scf::SCFDialect", "mlir::tensor::TensorDialect",
    "mlir::annotation::AnnotationDialect", "mlir::hfusion::HFusionDialect",
    "mlir::hivm::HIVMDialect"
  ];
  let options = [
    Option<"globalKernel", "global-kernel", "bool", "false",
           "write global_kernel = \"\" instead of \"local\"">,
    Option<"namedOps", "named-ops", "bool", "true",
           "keep elementwise arith and math on tensors instead of linalg.generic">,
    Option<"enableNd2nzOnVector", "enable-nd2nz-on-vector", "bool", "false",
           "accepted for compatibility">,
    Option<"enableSelectAnalysis", "enable-select-analysis", "bool", "true",
           "accepted for compatibility">,
    Option<"compileOn91095", "compile-on-910-95", "bool", "false",
           "accepted for compatibility">
  ];
}

#endif // PITON_COMPILER_CONVERSION_PASSES
