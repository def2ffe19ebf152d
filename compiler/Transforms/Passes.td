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
    descriptor load becomes a descriptor load of lower rank; an exchange of the two elements
    of a dimension spelled with exclusive ors becomes `ascend.flip`, and flips of all pieces
    of a dimension one flip of it (Triton's library spells `tl.flip` and `tl.sort` so).

    Requires: nothing.

    Ensures: no new op kind but `ascend.flip` appears. Offsets are added only where the sum
    cannot wrap differently: offsets of 64 bits, or constants whose sum fits.

    Example: test/compiler/Transforms/TritonCombine/example.mlir

    Limits: stock Triton also turns a sum of products into a dot of tf32 precision, which
    silently loses bits, and marks reshapes before reductions as reorderable, which
    gains nothing here; both are absent. A float addition moves into a dot only when
    the dot promises exact accumulation (`maxNumImpreciseAcc = 0`).
  }];
  let dependentDialects = ["::mlir::triton::ascend::AscendDialect"];
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

    Limits: loops that compare unsigned are not unrolled, nor those that would have more
    than 100,000 operations (a warning at the loop). Index arithmetic is left as the
    unrolling makes it; the next canonicalisation tidies it.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

//===-- stage ttadapter: control flow and addresses ----------------------===//

def TestAddressAnalysisPass : Pass<"test-address-analysis"> {
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

def RewriteTensorPointerPass : Pass<"rewrite-tensor-pointer", "::mlir::ModuleOp"> {
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

def TritonToStructuredPass : Pass<"triton-to-structured", "::mlir::ModuleOp"> {
  let summary = "Addresses and masks become strided boxes";
  let description = [{
    Does: (RewriteFor, RewriteWhile) a tensor of pointers or integers that a loop moves
    by one amount for all lanes, or that a branch chooses, is carried as one i64 and
    rebuilt where it is used; bounds and steps may be anything. Integer ops on splats
    are computed once. (RewriteAddPtrOp, CreateAddPtr, RewriteLoadOp, BuildMask,
    CreateLoad, RewriteStoreOp, CreateStore, RewriteAtomicRWMOp, RewriteAtomicCASOp)
    an access whose address or mask divides a range, or takes it modulo a constant,
    gets a dimension for every part: `p + x / 8 * 32 + x % 8` over 64 lanes is read as
    8 x 8 with strides 32 and 1, and `tt.reshape`d. A load that reads the same lanes
    along a dimension becomes a smaller load and a broadcast. A custom call that gives a
    tensor of pointers back as it is (`SrcPtrIndex`, made for consume_token) is replaced
    by that tensor.
    Requires: `rewrite-tensor-pointer`.
    Ensures: values and memory effects are unchanged; what cannot be structured is
    left as it is.
    Example: test/compiler/Transforms/TritonToStructured/example.mlir.
    Limits: a range is split where the parts nest (the block is a multiple or a
    divisor of the divisor) and its first lane is a known multiple of the divisor or
    the sum of both stays below it; other divisions take the general path of
    `triton-to-unstructured`.
  }];
  let options = [Option<"enableLinearize", "enable-linearize", "bool", "true",
                        "Split divisions and remainders into dimensions">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::triton::TritonDialect",
                           "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

def DiscreteMaskAccessConversionPass
    : Pass<"discrete-mask-access-conversion", "::mlir::ModuleOp"> {
  let summary = "Accesses whose mask is no box";
  let description = [{
    Does: an access with a structured address whose mask is no box is rewritten.
    `exact`: loops over the lanes (or rows) inside the mask's box, each access under
    `scf.if` of the rest of its mask; a masked-off lane is never touched.
    `documented`, the form of the architecture page: a load reads the box and selects;
    a store reads the box, selects, and writes the box back {DiscreteMask}; an atomic
    runs on all lanes with a value that changes nothing where the mask is off.
    Requires: `triton-to-structured`.
    Ensures: every access with a structured address has a box mask.
    Example: test/compiler/Transforms/DiscreteMaskAccessConversion/example.mlir.
    Limits: `documented` touches lanes that the program masked off, and loses updates
    that other blocks make to them; an atomic exchange takes the exact form always.
  }];
  let options = [Option<"maskForm", "mask-form", "std::string", "\"exact\"",
                        "exact | documented">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::triton::TritonDialect",
                           "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

def TritonToUnstructuredPass : Pass<"triton-to-unstructured", "::mlir::ModuleOp"> {
  let summary = "Accesses that are no strided box become loops over lanes or rows";
  let description = [{
    Does: first, no pointer crosses a region boundary, is selected or lies in memory
    any more: loops and branches carry i64 offsets from a base they share, or
    addresses (`tt.ptr_to_int`, `tt.int_to_ptr`). Then each load, store and atomic
    whose address is no affine function of the lane, or whose mask is no box, becomes
    `scf.for` loops {ExtractedLoadOrStore} over the dimensions where it is not; rows
    that remain stay vectors. The box of the mask bounds the loops, every other
    condition is an `scf.if` around the access {DiscreteMemAccess}. Lanes are visited
    in row-major order. A masked scalar access goes under `scf.if`.
    Requires: `rewrite-tensor-pointer`.
    Ensures: a tensor access has a structured address and a box mask; no pointer is a
    loop argument or a result of a region op.
    Example: test/compiler/Transforms/TritonToUnstructured/example.mlir.
    Limits: reductions and scans over pointers are refused.
  }];
  let options = [Option<"forceScalarizeMode", "force-scalarize-mode", "bool", "false",
                        "Access every tensor lane by lane">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::triton::TritonDialect",
                           "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

def BubbleUpOperationPass : Pass<"bubble-up-operation", "::mlir::ModuleOp"> {
  let summary = "Extract before computing";
  let description = [{
    Does: moves `tensor.extract`, and `tensor.extract_slice` of whole dimensions or
    single lanes, above elementwise ops and splats, ranges, broadcasts, expand_dims,
    transposes and reshapes, and above another slice: only the lane that is needed is
    computed.
    Requires: nothing. Ensures: values are unchanged.
    Example: test/compiler/Transforms/BubbleUpOperation/example.mlir.
    Limits: float arithmetic is crossed only where it has no other use and runs as
    often as the extract.
  }];
  let options = [Option<"enableAggressiveMode", "enable-aggressive-mode", "bool", "true",
                        "Cross ops that have other uses too">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::triton::TritonDialect",
                           "::mlir::tensor::TensorDialect"];
}

//===-- simulator back end -----------------------------------------------===//

def SimPrepare : Pass<"sim-prepare", "mlir::ModuleOp"> {
  let summary = "Hand-over module to one self-contained kernel function";
  let description = [{
    Does: finds the kernel, lifts multi-block bodies to scf, inlines every call that has a body,
    appends the block context argument, and lowers what stock passes do not know: atomics,
    `triton_*` helper calls, prints, asserts, integer addresses, marks.

    Requires: hand-over IR with one kernel (attribute `global_kernel`, or the only public
    function with a body).

    Ensures: the kernel carries `piton.kernel`; its last argument is the context; no hint or
    helper op is left.

    Example: test/compiler/Target/Simulator/prepare.mlir

    Limits: recursive calls are errors.
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect", "mlir::memref::MemRefDialect",
                           "mlir::scf::SCFDialect", "mlir::arith::ArithDialect",
                           "mlir::tensor::TensorDialect", "mlir::linalg::LinalgDialect",
                           "mlir::bufferization::BufferizationDialect"];
}

def SimFuseElementwise : Pass<"sim-fuse-elementwise", "mlir::func::FuncOp"> {
  let summary = "Tensor ops to few linalg.generic ops";
  let description = [{
    Does: turns arith and math on tensors and the named linalg ops except fills and dots into
    linalg.generic, folds transposes into dots, fuses elementwise producers into their consumers
    (fills from any block, as scalars), a producer with several uses into the reduction that
    reads it, and the only reader of such a result into the reduction as well. Tests on 1xN are
    made on N. Reductions by floating-point addition or multiplication may be reassociated.

    Requires: a prepared kernel.

    Ensures: an expensive producer (division, math) is computed once.

    Example: test/compiler/Target/Simulator/fuse-elementwise.mlir

    Limits: producers and consumers in different blocks are not fused.
  }];
  let dependentDialects = ["mlir::linalg::LinalgDialect", "mlir::arith::ArithDialect",
                           "mlir::tensor::TensorDialect"];
}

def SimTieLoopTensors : Pass<"sim-tie-loop-tensors", "mlir::func::FuncOp"> {
  let summary = "Give every loop-carried tensor one fixed buffer";
  let description = [{
    Does: makes the value that a loop yields be computed in the buffer of its iteration
    argument: through the `outs` of the last elementwise op, or of the one that computes what a
    last dot adds to, else by a copy. A
    `scf.while` is first given equal argument lists in both regions.

    Requires: tensors with static shapes; runs directly before bufferization.

    Ensures: one-shot bufferization neither refuses a loop nor allocates per iteration.

    Example: test/compiler/Target/Simulator/tie-loop-tensors.mlir

    Limits: arguments that trade places within an iteration are copied twice.
  }];
  let dependentDialects = ["mlir::linalg::LinalgDialect",
                           "mlir::bufferization::BufferizationDialect",
                           "mlir::tensor::TensorDialect", "mlir::arith::ArithDialect"];
}

def SimVectorize : Pass<"sim-vectorize", "mlir::func::FuncOp"> {
  let summary = "Vector loops that read and write memory directly";
  let description = [{
    Does: emits each elementwise or reducing linalg.generic with a contiguous innermost
    dimension as loops over vectors, with one masked loop for the rest of a row. A local
    buffer that only holds a masked load is replaced by the load, one that is only stored by
    the store. A store that may overlap a load of the same op, or lies between a load and its
    readers, is tested at run time; on overlap the load is copied first. A dot reads memory
    itself where its tile is whole, else a padded copy. Rows of a kernel
    without atomics and calls are stored past the cache, from the first cache line on, when the
    launch moves more bytes than `BlockContext::streamBytes`.

    Requires: a bufferized kernel whose copies are still memref.copy.

    Ensures: every lane outside of a load's box has the pad value; memory outside of a box is
    neither read nor written.

    Example: test/compiler/Target/Simulator/vectorize.mlir

    Limits: i1 and 8-bit floats in memory, bodies with control flow, and reductions with several
    ops other than a choice by comparison (argmax) stay linalg ops and become scalar loops.
  }];
  let options = [
    Option<"lanes", "lanes", "int64_t", /*default=*/"32", "lanes of one vector step">,
    Option<"registerBytes", "register-bytes", "int64_t", /*default=*/"32",
           "bytes of a vector register of the host">,
    Option<"maskNarrow", "mask-narrow", "bool", /*default=*/"true",
           "the host masks 8- and 16-bit lanes (AVX-512 BW); else rests of such rows are scalar">
  ];
  let dependentDialects = ["mlir::vector::VectorDialect", "mlir::scf::SCFDialect",
                           "mlir::arith::ArithDialect", "mlir::memref::MemRefDialect"];
}

def SimLowerBuffers : Pass<"sim-lower-buffers", "mlir::func::FuncOp"> {
  let summary = "Copies to loops, dots to the tile product service";
  let description = [{
    Does: turns memref.copy and fills into vector loops over rows, and linalg.matmul / batch_matmul (also with
    transposed operands) on memrefs into calls of the GEMM service of the block context.

    Requires: a bufferized kernel with the context argument.

    Ensures: no memref.copy is left, so nothing calls a copy function; dots of types that the
    service lacks stay linalg ops and become loops.

    Example: test/compiler/Target/Simulator/lower-buffers.mlir

    Limits: a dot whose result columns are not contiguous stays a loop.
  }];
  let options = [
    Option<"maskNarrow", "mask-narrow", "bool", /*default=*/"true",
           "the host masks 8- and 16-bit lanes (AVX-512 BW)">
  ];
  let dependentDialects = ["mlir::LLVM::LLVMDialect", "mlir::memref::MemRefDialect",
                           "mlir::scf::SCFDialect", "mlir::arith::ArithDialect",
                           "mlir::vector::VectorDialect"];
}

def SimAssignArena : Pass<"sim-assign-arena", "mlir::func::FuncOp"> {
  let summary = "Local buffers to static offsets of the block's arena";
  let description = [{
    Does: gives every memref.alloc a 64-byte aligned range, reusing ranges of buffers that are
    never live together; small totals become stack slots of the entry block.

    Requires: a bufferized kernel; sizes that are static or have a provable upper bound.

    Ensures: no heap allocation is left; `piton.arena_bytes` and `piton.stack_bytes` hold the
    sizes.

    Example: test/compiler/Target/Simulator/assign-arena.mlir

    Limits: a buffer whose size has no bound is an error.
  }];
  let options = [
    Option<"stackLimit", "stack-limit", "int64_t", /*default=*/"16384",
           "largest total size, in bytes, that goes to the stack instead of the arena">
  ];
  let dependentDialects = ["mlir::memref::MemRefDialect", "mlir::arith::ArithDialect"];
}

def SimLowerScalars : Pass<"sim-lower-scalars", "mlir::func::FuncOp"> {
  let summary = "Narrow floats, math and division to what the host has";
  let description = [{
    Does: bf16 and 8-bit float arithmetic through f32, bf16 casts as integer arithmetic, 8-bit
    casts as calls of the device library, math of narrow floats in f32, exp as an inline
    polynomial; integer division by zero gives 0 instead of a trap, because lanes outside of a
    mask hold anything.

    Requires: scalar or vector code (no tensors).

    Ensures: what is left converts to LLVM without soft-float calls per element.

    Example: test/compiler/Target/Simulator/lower-scalars.mlir

    Limits: results of exp below the smallest normal number become 0.
  }];
  let options = [
    Option<"avx512", "avx512", "bool", /*default=*/"false",
           "use AVX-512 instructions that have no other spelling">
  ];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::math::MathDialect",
                           "mlir::func::FuncDialect", "mlir::vector::VectorDialect",
                           "mlir::LLVM::LLVMDialect"];
}

def SimMakeEntry : Pass<"sim-make-entry", "mlir::ModuleOp"> {
  let summary = "Bare pointers in the kernel, and the entry that the machine calls";
  let description = [{
    Does: turns memref arguments of the kernel into pointers and adds the function
    `piton_entry_<kernel>(args, context)` that unpacks the argument block.

    Requires: a kernel after sim-assign-arena.

    Ensures: the entry is the only public function; scalars have the types of the ABI (f16 and
    bf16 arrive as f32).

    Example: test/compiler/Target/Simulator/make-entry.mlir

    Limits: none.
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect", "mlir::arith::ArithDialect"];
}

#endif // PITON_COMPILER_TRANSFORMS_PASSES
