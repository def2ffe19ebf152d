// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations of the `hfusion` dialect. Order: named structured ops, reductions and
// generators, reorderings, tests, memory, debug. Add an op with its template from the
// fact sheet and a line in test/compiler/Dialect/HFusion/ops.mlir.
#ifndef PITON_COMPILER_DIALECT_HFUSION_HFUSIONOPS_TD
#define PITON_COMPILER_DIALECT_HFUSION_HFUSIONOPS_TD

include "compiler/Dialect/HFusion/HFusionAttrs.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class HFusion_Op<string mnemonic, list<Trait> traits = []>
    : Op<HFusion_Dialect, mnemonic, traits>;

def HFusion_Shaped : AnyTypeOf<[AnyRankedTensor, AnyMemRef]>;
def HFusion_I1Tensor : RankedTensorOf<[I1]>;

//===-- named structured ops ---------------------------------------------===//

/// ins / outs in destination-passing style, all tensors or all memrefs, scalars aside.
/// C1: as many results as tensor destinations, of their types. C2: tensors and
/// memrefs are not mixed.
class HFusion_StructuredOp<string mnemonic, list<Trait> traits = []> : HFusion_Op<mnemonic,
    !listconcat([AttrSizedOperandSegments, DestinationStyleOpInterface,
                 DeclareOpInterfaceMethods<MemoryEffectsOpInterface>], traits)> {
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    attr-dict (`ins` `(` $inputs^ `:` type($inputs) `)`)? `outs` `(` $outputs `:` type($outputs) `)`
    (`->` type($results)^)?
  }];
  let extraClassDeclaration = "MutableOperandRange getDpsInitsMutable() { return getOutputsMutable(); }";
  let hasVerifier = 1;
}
class HFusion_ElemwiseOp<string mnemonic, Attr fun, string default>
    : HFusion_StructuredOp<mnemonic> {
  let arguments = (ins Variadic<AnyType>:$inputs, Variadic<HFusion_Shaped>:$outputs,
                       DefaultValuedOptionalAttr<fun, default>:$fun,
                       OptionalAttr<HFusion_TypeFnAttr>:$cast);
}
def HFusion_ElemwiseUnaryOp : HFusion_ElemwiseOp<"elemwise_unary", HFusion_UnaryFnAttr,
                                                 "::mlir::hfusion::UnaryFn::sqrt"> {
  let summary = "a unary function per element";
  let description = "C3: one input.";
}
def HFusion_ElemwiseBinaryOp : HFusion_ElemwiseOp<"elemwise_binary", HFusion_BinaryFnAttr,
                                                  "::mlir::hfusion::BinaryFn::vand"> {
  let summary = "a binary function per element";
  let description = "C3: two inputs.";
}
def HFusion_ElemwiseTernaryOp : HFusion_ElemwiseOp<"elemwise_ternary", HFusion_TernaryFnAttr,
                                                   "::mlir::hfusion::TernaryFn::fma"> {
  let summary = "a ternary function per element";
  let description = "C3: three inputs.";
}
def HFusion_CompareOp : HFusion_StructuredOp<"compare"> {
  let summary = "comparison per element";
  let description = "C3: two inputs. C4: the destination's elements are i1.";
  let arguments = (ins Variadic<AnyType>:$inputs, Variadic<HFusion_Shaped>:$outputs,
                       DefaultValuedOptionalAttr<HFusion_CompareFnAttr,
                         "::mlir::hfusion::CompareFn::veq">:$compare_fn);
}
def HFusion_SelectOp : HFusion_StructuredOp<"select"> {
  let summary = "condition ? x : y per element";
  let description = "C3: three inputs.";
  let arguments = (ins Variadic<AnyType>:$inputs, Variadic<HFusion_Shaped>:$outputs);
}
def HFusion_CastOp : HFusion_StructuredOp<"cast"> {
  let summary = "conversion between element types";
  let description = "C3: one input.";
  let arguments = (ins Variadic<AnyType>:$inputs, Variadic<HFusion_Shaped>:$outputs,
                       DefaultValuedOptionalAttr<HFusion_RoundModeAttr,
                         "::mlir::hfusion::RoundMode::RINT">:$round_mode,
                       OptionalAttr<HFusion_TypeFnAttr>:$cast,
                       OptionalAttr<HFusion_UnsignedModeAttr>:$unsigned_mode,
                       OptionalAttr<BoolAttr>:$enable_overflow,
                       OptionalAttr<BoolAttr>:$enable_saturate);
}
def HFusion_BitcastOp : HFusion_StructuredOp<"bitcast"> {
  let summary = "the same bits as another element type";
  let description = "C3: one input. C4: element types of one width.";
  let arguments = (ins Variadic<AnyType>:$inputs, Variadic<HFusion_Shaped>:$outputs);
}
def HFusion_LoadOp : HFusion_StructuredOp<"load"> {
  let summary = "global memory to local memory";
  let description = "C3: one input.";
  let arguments = (ins Variadic<AnyType>:$inputs, Variadic<HFusion_Shaped>:$outputs);
}
def HFusion_StoreOp : HFusion_StructuredOp<"store"> {
  let summary = "local memory to global memory, optionally as an atomic update";
  let description = "C3: one input.";
  let arguments = (ins Variadic<AnyType>:$inputs, Variadic<HFusion_Shaped>:$outputs,
                       DefaultValuedOptionalAttr<HFusion_AtomicKindAttr,
                         "::mlir::hfusion::AtomicKind::NONE">:$atomic_kind);
}
def HFusion_MatmulMxOp : HFusion_StructuredOp<"matmul_mx"> {
  let summary = "matrix product of operands with E8M0 block scales (register-based targets)";
  let description = "C3: four inputs: lhs, rhs, scale of lhs, scale of rhs; the destination is the accumulator.";
  let arguments = (ins Variadic<AnyType>:$inputs, Variadic<HFusion_Shaped>:$outputs);
}

//===-- reductions and generators ----------------------------------------===//

def HFusion_ReduceWithIndexOp : HFusion_Op<"reduce_with_index", [AttrSizedOperandSegments,
    DestinationStyleOpInterface, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "extremum along dimensions, with its index";
  let description = "C1: one input, or two with the index input. C2: two destinations: value and index.";
  let arguments = (ins HFusion_ReduceWithIndexKindAttr:$reduce_kind,
                       DefaultValuedOptionalAttr<BoolAttr, "true">:$tie_break_left,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$unsigned_src,
                       Variadic<HFusion_Shaped>:$inputs, Variadic<HFusion_Shaped>:$inits,
                       DenseI64ArrayAttr:$dimensions);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    attr-dict $reduce_kind `ins` `(` $inputs `:` type($inputs) `)`
    `outs` `(` $inits `:` type($inits) `)` `dimensions` `=` custom<IndexList>($dimensions)
    (`->` type($results)^)?
  }];
  let extraClassDeclaration = "MutableOperandRange getDpsInitsMutable() { return getInitsMutable(); }";
  let hasVerifier = 1;
}
def HFusion_ArangeOp : HFusion_Op<"arange", [AttrSizedOperandSegments, DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "offset + sum of index * stride";
  let description = "C1: one stride a dimension.";
  let arguments = (ins Optional<Index>:$offset, Variadic<Index>:$strides, HFusion_Shaped:$init);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = [{
    attr-dict (`offset` `[` $offset^ `]`)? `strides` `[` $strides `]`
    `outs` `(` $init `:` type($init) `)` (`->` type($result)^)?
  }];
  let extraClassDeclaration = "MutableOperandRange getDpsInitsMutable() { return getInitMutable(); }";
  let hasVerifier = 1;
}
class HFusion_CumOp<string mnemonic, string text> : HFusion_Op<mnemonic, [Pure,
    TypesMatchWith<"result type matches the input", "input", "result", "$_self">]> {
  let summary = text;
  let description = "C1: the dimensions lie inside the rank.";
  let arguments = (ins AnyRankedTensor:$input, DenseI64ArrayAttr:$cum_dims, BoolAttr:$reverse);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $input `:` type($input) `cum_dims` `=` custom<IndexList>($cum_dims) `reverse` `=` $reverse
    attr-dict `->` type($result)
  }];
  let hasVerifier = 1;
}
def HFusion_CumsumOp : HFusion_CumOp<"cumsum", "running sum">;
def HFusion_CumprodOp : HFusion_CumOp<"cumprod", "running product">;
def HFusion_CummaxOp : HFusion_CumOp<"cummax", "running maximum">;
def HFusion_CumminOp : HFusion_CumOp<"cummin", "running minimum">;

def HFusion_HistogramOp : HFusion_Op<"histogram", [Pure]> {
  let summary = "counts of the values 0 .. bins - 1";
  let description = "C1: the bin count is positive and the result's length. C2: the mask has the input's shape.";
  let arguments = (ins RankedTensorOf<[AnyInteger]>:$input, I64Attr:$num_bins,
                       Optional<HFusion_I1Tensor>:$mask);
  let results = (outs RankedTensorOf<[AnyInteger]>:$output);
  let assemblyFormat = [{
    $input `,` $num_bins (`,` $mask^)? attr-dict `:` type($input) (`,` type($mask)^)? `->` type($output)
  }];
  let hasVerifier = 1;
}

//===-- reorderings ------------------------------------------------------===//

def HFusion_GatherOp : HFusion_Op<"gather", [DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "elements picked along an axis by an index tensor";
  let description = "C1: the axis lies inside the rank.";
  let arguments = (ins HFusion_Shaped:$src, HFusion_Shaped:$index, HFusion_Shaped:$init, I64Attr:$axis);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = [{
    attr-dict `ins` `(` $src `,` $index `:` type($src) `,` type($index) `)`
    `outs` `(` $init `:` type($init) `)` `axis` `=` $axis (`->` type($result)^)?
  }];
  let extraClassDeclaration = "MutableOperandRange getDpsInitsMutable() { return getInitMutable(); }";
  let hasVerifier = 1;
}
def HFusion_SortOp : HFusion_Op<"sort", [Pure]> {
  let summary = "sorted values along an axis, and optionally where they came from";
  let description = "C1: the axis lies inside the rank. C2: one or two results of the input's shape.";
  let arguments = (ins AnyRankedTensor:$src, BoolAttr:$descending, I64Attr:$sort_axis);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    attr-dict `ins` `(` $src `:` type($src) `)` `descending` `=` $descending
    `sort_axis` `=` $sort_axis `->` type($results)
  }];
  let hasVerifier = 1;
}
def HFusion_FlipOp : HFusion_Op<"flip", [Pure,
    TypesMatchWith<"result type matches the input", "input", "result", "$_self">]> {
  let summary = "reversal along an axis";
  let description = "C1: the axis lies inside the rank.";
  let arguments = (ins AnyRankedTensor:$input, I64Attr:$flip_axis);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `:` type($input) `flip_axis` `=` $flip_axis attr-dict `->` type($result)";
  let hasVerifier = 1;
}
def HFusion_InterleaveOp : HFusion_Op<"interleave", [Pure]> {
  let summary = "elements of several tensors in turn along the last dimension";
  let description = "C1: the last dimension grows by the number of inputs.";
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs);
  let results = (outs AnyRankedTensor:$output);
  let assemblyFormat = "$inputs attr-dict `:` type($inputs) `->` type($output)";
  let hasVerifier = 1;
}
def HFusion_DeinterleaveOp : HFusion_Op<"deinterleave", [Pure]> {
  let summary = "every second element of the last dimension";
  let description = "C1: the channel is 0 or 1, with one result, or -1 (`all`), with two.";
  let arguments = (ins AnyRankedTensor:$input, I64Attr:$channel);
  let results = (outs Variadic<AnyRankedTensor>:$outputs);
  let assemblyFormat = [{
    $input `channel` `<` custom<Channel>($channel) `>` attr-dict `:` type($input) `->` type($outputs)
  }];
  let hasVerifier = 1;
}

//===-- tests and wide products ------------------------------------------===//

class HFusion_TestOp<string mnemonic, string text> : HFusion_Op<mnemonic, [Pure, SameOperandsAndResultShape]> {
  let summary = text;
  let arguments = (ins RankedTensorOf<[AnyFloat]>:$input);
  let results = (outs HFusion_I1Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
}
def HFusion_IsNanOp : HFusion_TestOp<"isnan", "whether an element is NaN">;
def HFusion_IsInfOp : HFusion_TestOp<"isinf", "whether an element is infinite">;
def HFusion_IsFiniteOp : HFusion_TestOp<"isfinite", "whether an element is finite">;

class HFusion_MulExtBase<string mnemonic, string text> : HFusion_Op<mnemonic, [Pure, SameOperandsAndResultType]> {
  let summary = text;
  let arguments = (ins RankedTensorOf<[AnyInteger]>:$lhs, RankedTensorOf<[AnyInteger]>:$rhs);
  let results = (outs RankedTensorOf<[AnyInteger]>:$low, RankedTensorOf<[AnyInteger]>:$high);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs)";
}
def HFusion_MulExtOp : HFusion_MulExtBase<"mulext", "both halves of the signed product">;
def HFusion_MulExtUIOp : HFusion_MulExtBase<"mulextui", "both halves of the unsigned product">;

//===-- memory -----------------------------------------------------------===//

def HFusion_AtomicCASOp : HFusion_StructuredOp<"atomic_cas"> {
  let summary = "compare and swap per element";
  let description = "C3: two inputs: expected and new.";
  let arguments = (ins Variadic<HFusion_Shaped>:$inputs, Variadic<HFusion_Shaped>:$outputs);
  let assemblyFormat = [{
    `ins` `(` $inputs `:` type($inputs) `)` `outs` `(` $outputs `:` type($outputs) `)` attr-dict
    (`->` type($results)^)?
  }];
}
def HFusion_AtomicXchgOp : HFusion_Op<"atomic_xchg", [DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "exchange per element";
  let arguments = (ins HFusion_Shaped:$src, HFusion_Shaped:$dst, Optional<HFusion_Shaped>:$mask);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = [{
    `ins` `(` $src `:` type($src) `)` `outs` `(` $dst `:` type($dst) `)` attr-dict
    (`mask` `(` $mask^ `:` type($mask) `)`)? (`->` type($result)^)?
  }];
  let extraClassDeclaration = "MutableOperandRange getDpsInitsMutable() { return getDstMutable(); }";
}
def HFusion_AtomicRMWOp : HFusion_Op<"atomic_rmw", [DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "read-modify-write per element";
  let arguments = (ins HFusion_Shaped:$src, HFusion_Shaped:$dst, HFusion_AtomicKindAttr:$atomic_kind);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = [{
    `ins` `(` $src `:` type($src) `)` `outs` `(` $dst `:` type($dst) `)` attr-dict
    `atomic_kind` `=` $atomic_kind (`->` type($result)^)?
  }];
  let extraClassDeclaration = "MutableOperandRange getDpsInitsMutable() { return getDstMutable(); }";
}

//===-- debug ------------------------------------------------------------===//

def HFusion_PrintOp : HFusion_Op<"print", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "device print";
  let arguments = (ins StrAttr:$prefix, BoolAttr:$hex, AnyType:$arg);
  let assemblyFormat = "$prefix attr-dict $arg `:` type($arg)";
}
def HFusion_AssertOp : HFusion_Op<"assert", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "device assertion";
  let arguments = (ins StrAttr:$msg, AnyType:$cond);
  let assemblyFormat = "$msg attr-dict $cond `:` type($cond)";
}
def HFusion_BarrierOp : HFusion_Op<"barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "order everything before against everything after";
  let assemblyFormat = "attr-dict";
}

#endif // PITON_COMPILER_DIALECT_HFUSION_HFUSIONOPS_TD
