// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes of the bisheng back end. Each text has five parts: does, requires, ensures,
// example (a tested file), limits.
#ifndef PITON_COMPILER_TARGET_BISHENGPASSES
#define PITON_COMPILER_TARGET_BISHENGPASSES

include "mlir/Pass/PassBase.td"

def LegalizeForBisheng : Pass<"legalize-for-bisheng", "mlir::ModuleOp"> {
  let summary = "Replace hand-over forms that the real Ascend compiler takes wrongly";
  let description = [{
    Does: replaces every form of the hand-over IR that `bishengir-compile` 1.2.0 refuses,
    crashes on or compiles to something else by one that it takes and that means the
    same. Unsigned shifts, maxima, compares, extensions and conversions become signed
    ones with masks or a flipped sign bit; unordered compares become negations of
    ordered ones; reductions whose body is more than one op become loops over slices;
    a reduction's start value is applied behind it; elementwise linalg.generic becomes
    tensor arithmetic; i32 division is done in i64; transposed matmuls get an explicit
    linalg.transpose; padding in front of loaded data becomes a select; atomics get the
    form that fits their kind and type. The pipes are drained before a call that shows
    stores to another PE, which one core of a kernel for both kinds makes; for the 950 compiler
    no distributed op with a result is left.
    Requires: hand-over IR as triton-to-linalg leaves it, tensors of static shape.
    Ensures: none of the known bad forms is left; `verify-for-bisheng` runs at the end.
    Example: test/compiler/Target/Bisheng/unsigned.mlir.
    Limits: a form without an accepted equivalent (f64, fp8 on A2/A3, tensors of dynamic
    shape) is an error at its line. The 950 compiler is right for some of the replaced
    forms; it gets the same replacements, since both take them.
  }];
  let options = [Option<"family", "family", "std::string", "\"c220\"",
                        "the compiler: c220 (A2/A3) or a5 (950)">];
  let dependentDialects = [
    "mlir::arith::ArithDialect", "mlir::math::MathDialect", "mlir::linalg::LinalgDialect",
    "mlir::tensor::TensorDialect", "mlir::scf::SCFDialect", "mlir::memref::MemRefDialect",
    "mlir::bufferization::BufferizationDialect", "mlir::hivm::HIVMDialect",
    "mlir::hacc::HACCDialect", "mlir::annotation::AnnotationDialect"
  ];
}

def VerifyForBisheng : Pass<"verify-for-bisheng", "mlir::ModuleOp"> {
  let summary = "Refuse hand-over forms that the real Ascend compiler takes wrongly";
  let description = [{
    Does: checks every op against what `bishengir-compile` 1.2.0 was seen to take, and
    reports each one that it refuses, crashes on or miscompiles.
    Requires: hand-over IR.
    Ensures: success means that no known bad form is left.
    Example: test/compiler/Target/Bisheng/verify.mlir.
    Limits: knows forms, not sizes: on-chip memory is the real compiler's to plan.
  }];
  let options = [Option<"family", "family", "std::string", "\"c220\"",
                        "the compiler: c220 (A2/A3) or a5 (950)">];
}

#endif // PITON_COMPILER_TARGET_BISHENGPASSES
