// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes that stay in their dialect, in pipeline order. Each text has five parts:
// does, requires, ensures, example (a tested file), limits.
#ifndef PITON_COMPILER_TRANSFORMS_PASSES
#define PITON_COMPILER_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

//===-- stage ttir -------------------------------------------------------===//

def LiftControlFlowPass : Pass<"lift-control-flow", "::mlir::ModuleOp"> {
  let summary = "branches between blocks become scf.if and scf.while";
  let description = [{
    Does: turns every function body and map_elementwise region of several blocks into
    one block. `cf.cond_br` becomes `scf.if`, backward branches become `scf.while`;
    an early return becomes the empty arm of an `scf.if`. Unreachable blocks go.

    Requires: branches of the `cf` dialect only.

    Ensures: no `tt.func` has more than one block, so that every helper can be inlined
    anywhere and no later pass meets a branch.

    Example: test/compiler/Transforms/LiftControlFlow/example.mlir

    Limits: a value that some path leaves undefined becomes `ub.poison`; a loop without
    an exit ends in a return of poison, which is never reached.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
                           "::mlir::scf::SCFDialect", "::mlir::ub::UBDialect"];
}

def TritonCombinePass : Pass<"triton-combine", "::mlir::ModuleOp"> {
  let summary = "peephole rewrites of Triton IR";
  let description = [{
    Does: an addition to a dot with a zero accumulator becomes its accumulator; two
    pointer additions become one; a select of a fully masked load by the same scalar
    becomes the load's `other`; a reshape that drops leading unit dimensions of a
    descriptor load becomes a descriptor load of lower rank.

    Requires: nothing.

    Ensures: no new op kind appears. Offsets are added only where the sum cannot wrap
    differently: offsets of 64 bits, or constants whose sum fits.

    Example: test/compiler/Transforms/TritonCombine/example.mlir

    Limits: stock Triton also turns a sum of products into a dot of tf32 precision, which
    silently loses bits, and marks reshapes before reductions as reorderable, which
    gains nothing here; both are absent. A float addition moves into a dot only when
    the dot promises exact accumulation (`maxNumImpreciseAcc = 0`).
  }];
}

def TritonReorderBroadcastPass : Pass<"triton-reorder-broadcast", "::mlir::ModuleOp"> {
  let summary = "elementwise ops move before splats and broadcasts";
  let description = [{
    Does: an elementwise op without effects whose tensor operands are all splats becomes
    the scalar op and one splat; one whose tensor operands are broadcasts from one shape,
    or splats, becomes the op on the small shape and one broadcast.

    Requires: nothing.

    Ensures: every result has the same value; work per element goes down.

    Example: test/compiler/Transforms/TritonReorderBroadcast/example.mlir

    Limits: inline assembly stays where it is, because its packing depends on the shape.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::triton::TritonDialect"];
}

def TritonLicmPass : Pass<"triton-licm", "::mlir::ModuleOp"> {
  let summary = "loop-invariant code leaves loops, loads too";
  let description = [{
    Does: moves ops without effects whose operands do not change out of loops, and in an
    `scf.for` whose body writes nothing also loads that are not volatile: their mask gets
    `lower < upper` as a conjunct, so that a loop that runs zero times loads nothing.

    Requires: nothing.

    Ensures: a load is never executed where it was not before.

    Example: test/compiler/Transforms/TritonLicm/example.mlir

    Limits: a loop whose `llvm.loop_annotation` disables the motion is left alone, as
    `tl.range(disable_licm=True)` asks. Block-pointer and descriptor loads stay.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::triton::TritonDialect"];
}

def TritonLoopUnrollPass : Pass<"triton-loop-unroll", "::mlir::ModuleOp"> {
  let summary = "loops marked tt.loop_unroll_factor are unrolled";
  let description = [{
    Does: unrolls each `scf.for` with `tt.loop_unroll_factor` above 1 by that factor and
    removes the attribute. The loop of the remaining iterations gets `tt.num_stages = 1`;
    the other attributes are kept.

    Requires: nothing.

    Ensures: the same iterations in the same order, none when upper <= lower.

    Example: test/compiler/Transforms/TritonLoopUnroll/example.mlir

    Limits: loops that compare unsigned are not unrolled. Index arithmetic is left as the
    unrolling makes it; the next canonicalisation tidies it.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

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

def RewriteTensorPointer : Pass<"rewrite-tensor-pointer", "::mlir::ModuleOp"> {
  let summary = "Block pointers and tensor descriptors become tensors of pointers";
  let description = [{
    Does: replaces a block pointer by its base, shape, strides and offsets and a
    descriptor by its base, shape, strides and padding, also in loops and branches;
    an access becomes one through a tensor of pointers with 64-bit offsets, masked
    along the checked dimensions (a descriptor's: all), with the padding as `other`.
    A descriptor argument becomes its base pointer; sizes and strides are the
    arguments behind it. Descriptor reductions become atomics, gather and scatter
    rows become masked loads and stores.
    Requires: functions of structured control flow.
    Ensures: no value has a block pointer or descriptor type.
    Example: test/compiler/Transforms/RewriteTensorPointer/example.mlir.
    Limits: descriptor reductions inc and dec, and block pointers or descriptors
    returned by a function that is not inlined, are refused. A descriptor argument
    pads with zero.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::triton::TritonDialect",
                           "::mlir::scf::SCFDialect"];
}

//===-- simulator back end -----------------------------------------------===//

#endif // PITON_COMPILER_TRANSFORMS_PASSES
