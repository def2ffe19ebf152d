// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `ascend` dialect: what the Ascend language extension adds to Triton IR. The
// front end makes these ops and stage ttadapter lowers every one of them; see
// docs/dialects/ascend.md. C labels reappear in the verifiers and tests.
#ifndef PITON_COMPILER_DIALECT_ASCEND_ASCENDOPS_TD
#define PITON_COMPILER_DIALECT_ASCEND_ASCENDOPS_TD

include "compiler/Dialect/Triton/TritonTypes.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/CommonTypeConstraints.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Ascend_Dialect : Dialect {
  let name = "ascend";
  let cppNamespace = "::mlir::triton::ascend";
  let summary = "Triton operations of the Ascend language extension";
  let dependentDialects = ["::mlir::triton::TritonDialect"];
}

def Ascend_GlobalMemory : Resource<"::mlir::triton::GlobalMemory">;
def Ascend_Hints : Resource<"::mlir::triton::ascend::Hints">;
def Ascend_Int : AnyTypeOf<[I32, I64], "i32 or i64">;

class Ascend_Op<string mnemonic, list<Trait> traits = []> : Op<Ascend_Dialect, mnemonic, traits>;

//===-- hints and synchronisation ----------------------------------------===//

def Ascend_AnnotationOp : Ascend_Op<"annotation", [MemoryEffects<[MemWrite<Ascend_Hints>]>]> {
  let summary = "compile hints on a value";
  let description = [{
    Every attribute is a hint and is forwarded by triton-to-annotation. The write to
    a resource of its own keeps the op alive and orders it against nothing else.
  }];
  let arguments = (ins AnyType:$src);
  let assemblyFormat = "$src attr-dict `:` type($src)";
}
def Ascend_CustomOp : Ascend_Op<"custom", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "an operation named by a string: the block synchronisations";
  let description = [{
    triton-to-hivm knows sync_block_all, sync_block_set and sync_block_wait, with
    str_args [mode or sender, event id].
  }];
  let arguments = (ins StrAttr:$op_name, ArrayAttr:$str_args, Variadic<AnyType>:$args);
  let assemblyFormat = "$op_name attr-dict (`args` `(` $args^ `:` type($args) `)`)?";
}

//===-- elementwise and reorderings --------------------------------------===//

def Ascend_ModOp : Ascend_Op<"mod", [Pure, SameOperandsAndResultType]> {
  let summary = "remainder per element, with the sign of the dividend";
  let arguments = (ins AnyTypeOf<[TT_FloatLike, TT_IntLike]>:$lhs,
                       AnyTypeOf<[TT_FloatLike, TT_IntLike]>:$rhs);
  let results = (outs AnyTypeOf<[TT_FloatLike, TT_IntLike]>:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
}
def Ascend_FlipOp : Ascend_Op<"flip", [Pure, SameOperandsAndResultType]> {
  let summary = "reversal along a dimension";
  let description = "C1: the dimension lies inside the rank.";
  let arguments = (ins TT_Tensor:$src, I64Attr:$dim);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = "$src attr-dict `:` type($result)";
  let hasVerifier = 1;
}
def Ascend_SortOp : Ascend_Op<"sort", [Pure, SameOperandsAndResultType]> {
  let summary = "values sorted along a dimension";
  let description = "C1: the dimension lies inside the rank.";
  let arguments = (ins TT_FpIntTensor:$src, I64Attr:$dim, BoolAttr:$descending);
  let results = (outs TT_FpIntTensor:$result);
  let assemblyFormat = "$src attr-dict `:` type($result)";
  let hasVerifier = 1;
}

//===-- indirect memory --------------------------------------------------===//

def Ascend_IndirectLoadOp : Ascend_Op<"indirect_load", [AttrSizedOperandSegments]> {
  let summary = "load src[offsets] lane by lane; offsets count elements";
  let description = [{
    C1: offsets, mask, other and result have one shape. C2: `other` needs `mask`. C3:
    other and result have the pointee's type.
  }];
  let arguments = (ins Arg<TT_Ptr, "", [MemRead<Ascend_GlobalMemory>]>:$src, TT_IntTensor:$offsets,
                       Optional<TT_BoolTensor>:$mask, Optional<TT_Tensor>:$other,
                       DefaultValuedAttr<BoolAttr, "false">:$isVolatile);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = [{
    $src `[` $offsets `]` (`mask` `(` $mask^ `)`)? (`other` `(` $other^ `)`)? attr-dict `:`
    functional-type(operands, $result)
  }];
  let hasVerifier = 1;
}
def Ascend_IndirectStoreOp : Ascend_Op<"indirect_store"> {
  let summary = "store value to dst[offsets] lane by lane; offsets count elements";
  let description = "C1: offsets, value and mask have one shape. C3: the value has the pointee's type.";
  let arguments = (ins Arg<TT_Ptr, "", [MemWrite<Ascend_GlobalMemory>]>:$dst, TT_IntTensor:$offsets,
                       TT_Tensor:$value, Optional<TT_BoolTensor>:$mask);
  let assemblyFormat = [{
    $dst `[` $offsets `]` `,` $value (`mask` `(` $mask^ `)`)? attr-dict `:` type(operands)
  }];
  let hasVerifier = 1;
}
def Ascend_IndexPutOp : Ascend_Op<"index_put", [AttrSizedOperandSegments]> {
  let summary = "store slices of value at the rows that index names along dim";
  let description = [{
    An index outside 0 .. bound is skipped. C1: end_offsets, start_offsets and strides
    have the rank of value. C2: dim lies inside that rank.
  }];
  let arguments = (ins Arg<TT_Ptr, "", [MemWrite<Ascend_GlobalMemory>]>:$dst, TT_IntTensor:$index,
                       TT_Tensor:$value, I32Attr:$dim, Ascend_Int:$bound,
                       Variadic<Ascend_Int>:$end_offsets, Variadic<Ascend_Int>:$start_offsets,
                       Variadic<Ascend_Int>:$strides);
  let assemblyFormat = [{
    $dst `[` $index `]` `,` $value `bound` $bound `end` `[` $end_offsets `]` `start` `[` $start_offsets `]`
    `strides` `[` $strides `]` attr-dict `:` type(operands)
  }];
  let hasVerifier = 1;
}
def Ascend_GatherOutToUbOp : Ascend_Op<"gather_out_to_ub", [AttrSizedOperandSegments]> {
  let summary = "gather elements of global memory along dim";
  let description = [{
    An index outside 0 .. bound gives `other`. C1: end_offsets, start_offsets and strides
    have the rank of the index. C2: dim lies inside that rank.
  }];
  let arguments = (ins Arg<TT_Ptr, "", [MemRead<Ascend_GlobalMemory>]>:$src, TT_IntTensor:$index,
                       Ascend_Int:$bound, I32Attr:$dim, Variadic<Ascend_Int>:$strides,
                       Variadic<Ascend_Int>:$end_offsets, Variadic<Ascend_Int>:$start_offsets,
                       Optional<AnyTypeOf<[TT_Float, TT_Int]>>:$other);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = [{
    $src `[` $index `]` `bound` $bound `strides` `[` $strides `]` `end` `[` $end_offsets `]`
    `start` `[` $start_offsets `]` (`other` `(` $other^ `)`)? attr-dict `:`
    functional-type(operands, $result)
  }];
  let hasVerifier = 1;
}
def Ascend_ScatterUbToOutOp : Ascend_Op<"scatter_ub_to_out", [AttrSizedOperandSegments]> {
  let summary = "scatter elements to global memory along dim";
  let description = [{
    An index outside 0 .. bound is skipped. C1: end_offsets, start_offsets and strides
    have the rank of the index. C2: dim lies inside that rank.
  }];
  let arguments = (ins Arg<TT_Ptr, "", [MemWrite<Ascend_GlobalMemory>]>:$dst, TT_Tensor:$value,
                       TT_IntTensor:$index, Ascend_Int:$bound, I32Attr:$dim,
                       Variadic<Ascend_Int>:$strides, Variadic<Ascend_Int>:$end_offsets,
                       Variadic<Ascend_Int>:$start_offsets);
  let assemblyFormat = [{
    $dst `,` $value `[` $index `]` `bound` $bound `strides` `[` $strides `]` `end` `[` $end_offsets `]`
    `start` `[` $start_offsets `]` attr-dict `:` type(operands)
  }];
  let hasVerifier = 1;
}
def Ascend_IndexSelectSimdOp : Ascend_Op<"index_select_simd", [AttrSizedOperandSegments]> {
  let summary = "slices of global memory that index names along dim";
  let description = [{
    Slice i of the result is the read_shape box at src_offset, with index[i] along dim, of a
    row-major tensor of src_shape. C1: src_shape, src_offset and read_shape have one rank,
    the result's. C2: dim lies inside it.
  }];
  let arguments = (ins Arg<TT_Ptr, "", [MemRead<Ascend_GlobalMemory>]>:$src, TT_IntTensor:$index,
                       I32Attr:$dim, Variadic<Ascend_Int>:$src_shape, Variadic<Ascend_Int>:$src_offset,
                       DenseI32ArrayAttr:$read_shape);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = [{
    $src `[` $index `]` `shape` `[` $src_shape `]` `offset` `[` $src_offset `]` attr-dict `:`
    functional-type(operands, $result)
  }];
  let hasVerifier = 1;
}

#endif // PITON_COMPILER_DIALECT_ASCEND_ASCENDOPS_TD
