// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations of the `hivm` dialect that hand-over modules hold. Order: data
// movement, atomics, synchronisation, custom calls, the rest. Vector and matrix ops
// are made by the NPU compiler itself and are not here. Add an op with its template
// from the fact sheet and a line in test/compiler/Dialect/HIVM/ops.mlir.
#ifndef PITON_COMPILER_DIALECT_HIVM_HIVMOPS_TD
#define PITON_COMPILER_DIALECT_HIVM_HIVMOPS_TD

include "compiler/Dialect/HIVM/HIVMAttrs.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class HIVM_Op<string mnemonic, list<Trait> traits = []>
    : Op<HIVM_Dialect, "hir." # mnemonic, traits>;

def HIVM_Shaped : AnyTypeOf<[AnyRankedTensor, AnyMemRef]>;

/// Reads memref sources, writes memref destinations; a tensor form has no effect.
/// C1 of every such op: there is a result exactly when the destination is a tensor,
/// and it has the destination's type.
class HIVM_DpsOp<string mnemonic, list<Trait> traits = []> : HIVM_Op<mnemonic, !listconcat([
    DestinationStyleOpInterface, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>], traits)> {
  let extraClassDeclaration = "MutableOperandRange getDpsInitsMutable() { return getDstMutable(); }";
  let hasVerifier = 1;
}

// An integer of any width; the text `3` is an i64.
def HIVM_IntegerAttr : Attr<CPred<"::llvm::isa<::mlir::IntegerAttr>($_self)">, "integer attribute"> {
  let storageType = "::mlir::IntegerAttr";
  let returnType = "::mlir::IntegerAttr";
  let convertFromStorage = "$_self";
}

//===-- data movement ----------------------------------------------------===//

def HIVM_LoadOp : HIVM_DpsOp<"load", [AttrSizedOperandSegments]> {
  let summary = "global memory to local memory";
  let description = [{
    C2: source and destination have one element type and rank. C3: shapes agree, or
    with a pad mode the last dimension may grow. C4: PadValue needs `pad_value`.
  }];
  let arguments = (ins HIVM_Shaped:$src, HIVM_Shaped:$dst, OptionalAttr<HIVM_PadModeAttr>:$pad_mode,
                       Optional<AnyType>:$pad_value, Optional<Index>:$left_padding_num,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$init_out_buffer,
                       Optional<AnyType>:$right_padding_num, Optional<I1>:$init_condition,
                       OptionalAttr<HIVM_EvictionPolicyAttr>:$eviction_policy);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = [{
    `ins` `(` $src `:` type($src) `)` `outs` `(` $dst `:` type($dst) `)` attr-dict
    (`pad_mode` `=` $pad_mode^)? (`pad_value` `=` $pad_value^ `:` type($pad_value))?
    (`left_padding_num` `=` $left_padding_num^ `:` type($left_padding_num))?
    (`init_out_buffer` `=` $init_out_buffer^)?
    (`right_padding_num` `=` $right_padding_num^ `:` type($right_padding_num))?
    (`init_condition` `=` $init_condition^ `:` type($init_condition))?
    (`eviction_policy` `=` $eviction_policy^)? (`->` type($result)^)?
  }];
}
def HIVM_StoreOp : HIVM_DpsOp<"store"> {
  let summary = "local memory to global memory, optionally as an atomic update";
  let description = "C2: source and destination have one element type and rank.";
  let arguments = (ins HIVM_Shaped:$src, HIVM_Shaped:$dst, OptionalAttr<HIVM_AtomicKindAttr>:$atomic_kind);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = [{
    `ins` `(` $src `:` type($src) `)` `outs` `(` $dst `:` type($dst) `)` attr-dict
    (`atomic` `=` $atomic_kind^)? (`->` type($result)^)?
  }];
}
def HIVM_CopyOp : HIVM_DpsOp<"copy"> {
  let summary = "local to local memory";
  let description = "C2: source and destination have one element type and rank.";
  let arguments = (ins HIVM_Shaped:$src, HIVM_Shaped:$dst, OptionalAttr<HIVM_PadModeAttr>:$pad_mode,
                       Optional<AnyType>:$pad_value, OptionalAttr<ArrayAttr>:$collapse_reassociation);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = [{
    `ins` `(` $src `:` type($src) `)` `outs` `(` $dst `:` type($dst) `)` attr-dict
    (`pad_mode` `=` $pad_mode^)? (`pad_value` `=` $pad_value^ `:` type($pad_value))?
    (`collapse_reassociation` `=` $collapse_reassociation^)? (`->` type($result)^)?
  }];
}
def HIVM_FixpipeOp : HIVM_DpsOp<"fixpipe", [AttrSizedOperandSegments]> {
  let summary = "the accumulator out of the cube, with layout change, conversion and relu";
  let description = "C2: equal rank unless the layout changes (`dma_mode`).";
  let arguments = (ins HIVM_Shaped:$src, HIVM_Shaped:$dst, Optional<I1>:$unit_flag_cond,
                       Optional<AnyType>:$quant_scale, OptionalAttr<HIVM_DMAModeAttr>:$dma_mode,
                       OptionalAttr<HIVM_PreQuantAttr>:$pre_quant,
                       OptionalAttr<HIVM_PreReluAttr>:$pre_relu,
                       OptionalAttr<HIVM_DualDstAttr>:$dual_dst_mode);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = [{
    attr-dict `ins` `(` $src `:` type($src) `)` `outs` `(` $dst `:` type($dst) `)`
    (`quant_scale` `=` $quant_scale^ `:` type($quant_scale))?
    (`dual_dst_mode` `=` $dual_dst_mode^)?
    (`unit_flag_cond` `(` $unit_flag_cond^ `)`)? (`->` type($result)^)?
  }];
}

//===-- atomics ----------------------------------------------------------===//

def HIVM_AtomicCASOp : HIVM_DpsOp<"atomic_cas"> {
  let summary = "compare and swap per element";
  let arguments = (ins HIVM_Shaped:$expected, HIVM_Shaped:$src, HIVM_Shaped:$dst);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = [{
    `ins` `(` $expected `,` $src `:` type($expected) `,` type($src) `)`
    `outs` `(` $dst `:` type($dst) `)` attr-dict (`->` type($result)^)?
  }];
}
def HIVM_AtomicXchgOp : HIVM_DpsOp<"atomic_xchg"> {
  let summary = "exchange per element";
  let arguments = (ins HIVM_Shaped:$src, HIVM_Shaped:$dst, Optional<HIVM_Shaped>:$mask);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = [{
    `ins` `(` $src `:` type($src) `)` `outs` `(` $dst `:` type($dst) `)` attr-dict
    (`mask` `(` $mask^ `:` type($mask) `)`)? (`->` type($result)^)?
  }];
}

//===-- synchronisation --------------------------------------------------===//

class HIVM_SyncOp<string mnemonic, list<Trait> traits = []> : HIVM_Op<mnemonic,
    !listconcat([MemoryEffects<[MemRead, MemWrite]>], traits)>;

class HIVM_FlagOp<string mnemonic> : HIVM_SyncOp<mnemonic> {
  let arguments = (ins HIVM_PipeAttr:$set_pipe, HIVM_PipeAttr:$wait_pipe,
                       OptionalAttr<HIVM_EventAttr>:$static_event_id, Optional<I64>:$dynamic_event_id);
  let assemblyFormat = [{
    `[` $set_pipe `,` $wait_pipe `,` custom<EventId>($static_event_id, $dynamic_event_id) `]` attr-dict
  }];
  let description = "C1: exactly one of the static and the dynamic event id is given.";
  let hasVerifier = 1;
}
def HIVM_SetFlagOp : HIVM_FlagOp<"set_flag"> {
  let summary = "raise an event when the first pipe is done";
}
def HIVM_WaitFlagOp : HIVM_FlagOp<"wait_flag"> {
  let summary = "hold the second pipe until the event is raised, then clear it";
}
def HIVM_PipeBarrierOp : HIVM_SyncOp<"pipe_barrier"> {
  let summary = "drain a pipe, or the core with PIPE_ALL";
  let arguments = (ins HIVM_PipeAttr:$pipe);
  let assemblyFormat = "`[` $pipe `]` attr-dict";
}
def HIVM_SyncBlockOp : HIVM_SyncOp<"sync_block"> {
  let summary = "rendezvous of cores";
  let description = "C1: the flag id is 0 to 15 and present unless the mode is BARRIER_*.";
  let arguments = (ins HIVM_SyncBlockModeAttr:$sync_block_mode, OptionalAttr<HIVM_IntegerAttr>:$flag_id,
                       Optional<I64>:$ffts_base_addr,
                       OptionalAttr<HIVM_PipeAttr>:$tcube_pipe, OptionalAttr<HIVM_PipeAttr>:$cube_pipe,
                       OptionalAttr<HIVM_PipeAttr>:$tvector_pipe,
                       OptionalAttr<HIVM_PipeAttr>:$vector_pipe);
  let assemblyFormat = [{
    attr-dict `[` $sync_block_mode (`,` $flag_id^)? `]` (`ffts_base_addr` `=` $ffts_base_addr^)?
    (`tcube_pipe` `=` $tcube_pipe^)? (`cube_pipe` `=` $cube_pipe^)?
    (`tvector_pipe` `=` $tvector_pipe^)? (`vector_pipe` `=` $vector_pipe^)?
  }];
  let hasVerifier = 1;
}
def HIVM_SyncBlockSetOp : HIVM_SyncOp<"sync_block_set", [AttrSizedOperandSegments]> {
  let summary = "raise a cross-core flag";
  let description = "C1: exactly one of the static and the dynamic flag is given. C2: a static flag is 0 to 15.";
  let arguments = (ins HIVM_TCoreTypeAttr:$tcore_type, HIVM_PipeAttr:$tpipe, HIVM_PipeAttr:$pipe,
                       OptionalAttr<HIVM_IntegerAttr>:$static_flag_id, Optional<I64>:$dynamic_flag_id,
                       Optional<I64>:$ffts_base_addr,
                       OptionalAttr<HIVM_SyncBlockInstrModeAttr>:$sync_instr_mode);
  let assemblyFormat = [{
    attr-dict `[` $tcore_type `,` $tpipe `,` $pipe `]`
    `flag` `=` custom<FlagId>($static_flag_id, $dynamic_flag_id)
    (`ffts_base_addr` `=` $ffts_base_addr^)? (`sync_instr_mode` `=` $sync_instr_mode^)?
  }];
  let hasVerifier = 1;
}
def HIVM_SyncBlockWaitOp : HIVM_SyncOp<"sync_block_wait"> {
  let summary = "wait for a cross-core flag";
  let description = "C1, C2: as sync_block_set.";
  let arguments = (ins HIVM_TCoreTypeAttr:$tcore_type, HIVM_PipeAttr:$tpipe, HIVM_PipeAttr:$pipe,
                       OptionalAttr<HIVM_IntegerAttr>:$static_flag_id, Optional<I64>:$dynamic_flag_id,
                       OptionalAttr<HIVM_SyncBlockInstrModeAttr>:$sync_instr_mode);
  let assemblyFormat = [{
    attr-dict `[` $tcore_type `,` $tpipe `,` $pipe `]`
    `flag` `=` custom<FlagId>($static_flag_id, $dynamic_flag_id)
    (`sync_instr_mode` `=` $sync_instr_mode^)?
  }];
  let hasVerifier = 1;
}
def HIVM_CreateSyncBlockLockOp : HIVM_Op<"create_sync_block_lock", [
    MemoryEffects<[MemAlloc]>]> {
  let summary = "one lock of the kernel's lock buffer";
  let description = "C1: the lock is one static i64.";
  let arguments = (ins Optional<AnyMemRef>:$lockArg);
  let results = (outs AnyMemRef:$memref);
  let assemblyFormat = [{
    (`from` $lockArg^)? attr-dict `:` (`from` type($lockArg)^ `to`)? type($memref)
  }];
  let hasVerifier = 1;
}
class HIVM_LockOp<string mnemonic> : HIVM_SyncOp<mnemonic> {
  let description = "C1: the lock is one static i64.";
  let arguments = (ins AnyMemRef:$lock_var);
  let assemblyFormat = "attr-dict `lock_var` `(` $lock_var `:` type($lock_var) `)`";
  let hasVerifier = 1;
}
def HIVM_SyncBlockLockOp : HIVM_LockOp<"sync_block_lock"> {
  let summary = "enter a section that blocks enter one after another";
}
def HIVM_SyncBlockUnlockOp : HIVM_LockOp<"sync_block_unlock"> {
  let summary = "leave such a section";
}
def HIVM_FreeLockVarOp : HIVM_LockOp<"free_lock_var"> {
  let summary = "pass a section that this block does not enter";
}

//===-- custom calls -----------------------------------------------------===//

def HIVM_CustomOp : HIVM_Op<"custom", [AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "call of a device function by name";
  let description = [{
    What is called and where it runs are attributes (`symbol`, `hivm.tcore_type`,
    `hivm.pipe`, `hivm.vf_mode`, ...). Without `no_side_effect` it reads and writes.
    C1: a name that does not start with `__builtin_` has `symbol`, `hivm.tcore_type`
    and `hivm.pipe`.
  }];
  let arguments = (ins StrAttr:$name, Variadic<AnyType>:$inputs, Variadic<AnyType>:$outputs,
                       Variadic<AnyType>:$temps);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = [{
    attr-dict $name (`ins` `(` $inputs^ `:` type($inputs) `)`)?
    (`outs` `(` $outputs^ `:` type($outputs) `)`)?
    (`tmps` `(` $temps^ `:` type($temps) `)`)? (`->` type($results)^)?
  }];
  let hasVerifier = 1;
}

//===-- the rest ---------------------------------------------------------===//

class HIVM_IdOp<string mnemonic, string text> : HIVM_Op<mnemonic, [Pure]> {
  let summary = text;
  let results = (outs I64:$result);
  let assemblyFormat = "attr-dict `->` type($result)";
}
def HIVM_GetBlockIdxOp : HIVM_IdOp<"get_block_idx", "index of this block">;
def HIVM_GetBlockNumOp : HIVM_IdOp<"get_block_num", "number of blocks">;
def HIVM_GetSubBlockIdxOp : HIVM_IdOp<"get_sub_block_idx", "which vector core of the AI core">;
def HIVM_GetSubBlockNumOp : HIVM_IdOp<"get_sub_block_num", "vector cores an AI core">;

def HIVM_PointerCastOp : HIVM_Op<"pointer_cast", [AttrSizedOperandSegments, Pure]> {
  let summary = "memory at integer addresses";
  let description = "C1: as many sizes as the type has dynamic dimensions. C2: at least one address.";
  let arguments = (ins Variadic<I64>:$addrs, Variadic<Index>:$dynamicSizes);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = "`(` $addrs `)` (`[` $dynamicSizes^ `]`)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}
def HIVM_ConvertLayoutOp : HIVM_Op<"convert_layout", [Pure]> {
  let summary = "the same tile in another layout";
  let arguments = (ins HIVM_Shaped:$source, HIVM_DataLayoutAttr:$srcLayout, HIVM_DataLayoutAttr:$dstLayout,
                       Variadic<Index>:$output_shape,
                       DenseI64ArrayAttr:$static_output_shape);
  let results = (outs HIVM_Shaped:$result);
  let assemblyFormat = [{
    $source `output_shape` custom<DynamicIndexList>($output_shape, $static_output_shape)
    attr-dict `:` functional-type($source, $result)
  }];
}
def HIVM_BitcastOp : HIVM_Op<"bitcast", [Pure]> {
  let summary = "the same bits as another element type";
  let arguments = (ins HIVM_Shaped:$src);
  let results = (outs HIVM_Shaped:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
}
def HIVM_DebugOp : HIVM_Op<"debug", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "device print or assertion";
  let description = "C1: debugtype is \"print\" or \"assert\".";
  let arguments = (ins StrAttr:$debugtype, StrAttr:$prefix, BoolAttr:$hex, AnyType:$arg,
                       OptionalAttr<HIVM_TCoreTypeAttr>:$tcoretype,
                       OptionalAttr<HIVM_AddressSpaceAttr>:$memscope);
  let assemblyFormat = "attr-dict $arg `:` type($arg)";
  let hasVerifier = 1;
}

#endif // PITON_COMPILER_DIALECT_HIVM_HIVMOPS_TD
