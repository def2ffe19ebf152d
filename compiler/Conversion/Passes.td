// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes that change the dialect, in pipeline order. Each text has five parts:
// does, requires, ensures, example (a tested file), limits.
#ifndef PITON_COMPILER_CONVERSION_PASSES
#define PITON_COMPILER_CONVERSION_PASSES

include "mlir/Pass/PassBase.td"

//===-- ttadapter: extensions of the language -----------------------------===//

def TritonToAnnotationPass : Pass<"triton-to-annotation", "::mlir::ModuleOp"> {
  let summary = "compile hints become annotation marks";
  let description = [{
    Does: turns `ascend.annotation` into `annotation.mark` on the same value.

    Requires: nothing.

    Ensures: every attribute of the hint is on the mark; no `ascend.annotation` is left.

    Example: test/compiler/Conversion/TritonToAnnotation/example.mlir

    Limits: none; what a hint means is decided by the passes that read it.
  }];
  let dependentDialects = ["::mlir::annotation::AnnotationDialect"];
}

def TritonToHIVMPass : Pass<"triton-to-hivm", "::mlir::ModuleOp"> {
  let summary = "block synchronisation becomes hivm operations";
  let description = [{
    Does: turns `ascend.custom` named sync_block_all, sync_block_set and sync_block_wait
    into `hivm.hir.sync_block`, `sync_block_set` and `sync_block_wait`. A flag that the
    cube raises goes from PIPE_FIX to PIPE_MTE2, one of the vector cores from PIPE_MTE3
    to PIPE_MTE2; the waiting core is the other one. `gpu.barrier` (tl.debug_barrier)
    becomes a `hivm.hir.pipe_barrier` of all pipes.

    Requires: str_args of [mode or sender, event id 0 to 15].

    Ensures: no `ascend.custom` and no `gpu.barrier` is left.

    Example: test/compiler/Conversion/TritonToHIVM/example.mlir

    Limits: other names are errors at the user's line.
  }];
  let dependentDialects = ["::mlir::hivm::HIVMDialect"];
}

def TritonToHFusionPass : Pass<"triton-to-hfusion", "::mlir::ModuleOp"> {
  let summary = "histograms, rounding toward zero and remainders become hfusion operations";
  let description = [{
    Does: turns `tt.histogram` into `hfusion.histogram`; `tt.fp_to_fp` with rounding rtz
    into `hfusion.cast` with round mode trunc; `ascend.mod` into `hfusion.elemwise_binary`
    with function mod. Masked lanes of a histogram are counted in an extra bin, which
    is then cut off.

    Requires: static shapes.

    Ensures: none of these is left; lanes that the mask excludes count nowhere.

    Example: test/compiler/Conversion/TritonToHFusion/example.mlir

    Limits: conversions with rounding rtne are left for triton-to-linalg.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::hfusion::HFusionDialect",
                           "::mlir::tensor::TensorDialect"];
}

def TritonToLLVMPass : Pass<"triton-to-llvm", "::mlir::ModuleOp"> {
  let summary = "inline assembly becomes llvm.inline_asm on packs of elements";
  let description = [{
    Does: turns `tt.elementwise_inline_asm` into one `llvm.inline_asm` a pack of
    `packed_element` elements. Elements narrower than 32 bits share a register, lowest
    element in the lowest bits. Up to `unroll-limit` packs are written out; more run in
    a loop, so that the code does not grow with the block.

    Requires: static shapes; elements that are integers or floats.

    Ensures: no `tt.elementwise_inline_asm` is left; side effects happen once a pack, in
    row-major order, unless the assembly is pure.

    Example: test/compiler/Conversion/TritonToLLVM/example.mlir

    Limits: pointer elements are refused. Scalar operands take packs of one element.
  }];
  let options = [Option<"unrollLimit", "unroll-limit", "int64_t", "16",
                        "largest number of packs that is written out">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::triton::TritonDialect"];
}

//===-- ttadapter: the hand-over IR ---------------------------------------===//

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
