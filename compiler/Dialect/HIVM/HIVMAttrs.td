// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attributes of the `hivm` dialect. Values and spellings are those of AscendNPU IR;
// an attribute prints as `#hivm.mnemonic<case>` and, in a slot of an op, as `<case>`.
#ifndef PITON_COMPILER_DIALECT_HIVM_HIVMATTRS_TD
#define PITON_COMPILER_DIALECT_HIVM_HIVMATTRS_TD

include "compiler/Dialect/HIVM/HIVMDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

class HIVM_Enum<string name, string text, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, text, cases> {
  let cppNamespace = "::mlir::hivm";
  let genSpecializedAttr = 0;
}
class HIVM_EnumAttr<EnumAttrInfo info, string mnemonic> : EnumAttr<HIVM_Dialect, info, mnemonic> {
  let assemblyFormat = "`<` $value `>`";
}

//===-- memory, pipes, cores ---------------------------------------------===//

def HIVM_AddressSpaceEnum : HIVM_Enum<"AddressSpace", "which memory", [
  I32EnumAttrCase<"Zero", 0, "zero">, I32EnumAttrCase<"GM", 1, "gm">,
  I32EnumAttrCase<"L1", 2, "cbuf">, I32EnumAttrCase<"L0A", 3, "ca">,
  I32EnumAttrCase<"L0B", 4, "cb">, I32EnumAttrCase<"L0C", 5, "cc">,
  I32EnumAttrCase<"UB", 6, "ub">, I32EnumAttrCase<"SSBUF", 11, "ssbuf">]>;
def HIVM_AddressSpaceAttr : HIVM_EnumAttr<HIVM_AddressSpaceEnum, "address_space">;

def HIVM_PipeEnum : HIVM_Enum<"Pipe", "hardware pipe", [
  I32EnumAttrCase<"PIPE_S", 0>, I32EnumAttrCase<"PIPE_V", 1>, I32EnumAttrCase<"PIPE_M", 2>,
  I32EnumAttrCase<"PIPE_MTE1", 3>, I32EnumAttrCase<"PIPE_MTE2", 4>,
  I32EnumAttrCase<"PIPE_MTE3", 5>, I32EnumAttrCase<"PIPE_ALL", 6>,
  I32EnumAttrCase<"PIPE_MTE4", 7>, I32EnumAttrCase<"PIPE_MTE5", 8>,
  I32EnumAttrCase<"PIPE_V2", 9>, I32EnumAttrCase<"PIPE_FIX", 10>,
  I32EnumAttrCase<"VIRTUAL_PIPE_MTE2_L1A", 11>, I32EnumAttrCase<"VIRTUAL_PIPE_MTE2_L1B", 12>,
  I32EnumAttrCase<"PIPE_NUM", 13>, I32EnumAttrCase<"PIPE_UNASSIGNED", 99>]>;
def HIVM_PipeAttr : HIVM_EnumAttr<HIVM_PipeEnum, "pipe">;

def HIVM_EventAttr : HIVM_EnumAttr<HIVM_Enum<"Event", "event id of a pipe pair", [
  I32EnumAttrCase<"EVENT_ID0", 0>, I32EnumAttrCase<"EVENT_ID1", 1>,
  I32EnumAttrCase<"EVENT_ID2", 2>, I32EnumAttrCase<"EVENT_ID3", 3>,
  I32EnumAttrCase<"EVENT_ID4", 4>, I32EnumAttrCase<"EVENT_ID5", 5>,
  I32EnumAttrCase<"EVENT_ID6", 6>, I32EnumAttrCase<"EVENT_ID7", 7>]>, "event">;

def HIVM_UnitFlagAttr : HIVM_EnumAttr<HIVM_Enum<"UnitFlag", "cube and fixpipe hand-shake", [
  I32EnumAttrCase<"DISABLED", 0>, I32EnumAttrCase<"RESERVED", 1>,
  I32EnumAttrCase<"ENABLED_WITHOUT_UPDATE", 2>, I32EnumAttrCase<"ENABLED_WITH_UPDATE", 3>]>,
  "unit_flag">;

def HIVM_FuncCoreTypeAttr : HIVM_EnumAttr<HIVM_Enum<"FuncCoreType", "core a function runs on", [
  I32EnumAttrCase<"AIC", 1>, I32EnumAttrCase<"AIV", 2>, I32EnumAttrCase<"MIX", 3>,
  I32EnumAttrCase<"AIC_OR_AIV", 4>]>, "func_core_type">;
def HIVM_ModuleCoreTypeAttr : HIVM_EnumAttr<HIVM_Enum<"ModuleCoreType", "cores a module uses", [
  I32EnumAttrCase<"AIC", 1>, I32EnumAttrCase<"AIV", 2>, I32EnumAttrCase<"MIX", 3>]>,
  "module_core_type">;
def HIVM_TCoreTypeEnum : HIVM_Enum<"TCoreType", "core an op runs on", [
  I32EnumAttrCase<"CUBE", 1>, I32EnumAttrCase<"VECTOR", 2>, I32EnumAttrCase<"CUBE_OR_VECTOR", 3>,
  I32EnumAttrCase<"CUBE_AND_VECTOR", 4>]>;
def HIVM_TCoreTypeAttr : HIVM_EnumAttr<HIVM_TCoreTypeEnum, "tcore_type">;
def HIVM_TCoreTypeMarkerAttr : HIVM_EnumAttr<HIVM_TCoreTypeEnum, "tcore_type_marker"> {
  let cppClassName = "TCoreTypeMarkerAttr";
  let storageClass = "TCoreTypeMarkerAttrStorage";
}
def HIVM_VFModeAttr : HIVM_EnumAttr<HIVM_Enum<"VFMode", "execution of vector functions", [
  I32EnumAttrCase<"SIMD", 0>, I32EnumAttrCase<"SIMT", 1>, I32EnumAttrCase<"MIX", 2>]>, "vf_mode">;

//===-- synchronisation --------------------------------------------------===//

def HIVM_SyncBlockModeAttr : HIVM_EnumAttr<HIVM_Enum<"SyncBlockMode", "who meets", [
  I32EnumAttrCase<"ALL_CUBE", 0>, I32EnumAttrCase<"ALL_VECTOR", 1>,
  I32EnumAttrCase<"ALL_SUB_VECTOR", 2>, I32EnumAttrCase<"BARRIER_CUBE", 3>,
  I32EnumAttrCase<"BARRIER_VECTOR", 4>, I32EnumAttrCase<"ALL", 5>]>, "sync_block_mode">;
def HIVM_SyncBlockInstrModeAttr : HIVM_EnumAttr<HIVM_Enum<"SyncBlockInstrMode", "reach of a flag", [
  I32EnumAttrCase<"INTER_BLOCK_SYNCHRONIZATION", 0>,
  I32EnumAttrCase<"INTER_SUBBLOCK_SYNCHRONIZATION", 1>,
  I32EnumAttrCase<"INTRA_BLOCK_SYNCHRONIZATION", 2>]>, "sync_block_instr_mode">;

//===-- arithmetic -------------------------------------------------------===//

def HIVM_RoundModeAttr : HIVM_EnumAttr<HIVM_Enum<"RoundMode", "rounding of a cast", [
  I32EnumAttrCase<"RINT", 0, "rint">, I32EnumAttrCase<"ROUND", 1, "round">,
  I32EnumAttrCase<"FLOOR", 2, "floor">, I32EnumAttrCase<"CEIL", 3, "ceil">,
  I32EnumAttrCase<"TRUNC", 4, "trunc">, I32EnumAttrCase<"ODD", 5, "odd">,
  I32EnumAttrCase<"TRUNCWITHOVERFLOW", 6, "truncwithoverflow">]>, "round_mode">;
def HIVM_TypeFnAttr : HIVM_EnumAttr<HIVM_Enum<"TypeFn", "signedness of a cast", [
  I32EnumAttrCase<"cast_signed", 0>, I32EnumAttrCase<"cast_unsigned", 1>,
  I32EnumAttrCase<"bitcast", 2>]>, "cast">;
def HIVM_UnsignedModeAttr : HIVM_EnumAttr<HIVM_Enum<"UnsignedMode", "signedness of both sides", [
  I32EnumAttrCase<"SI2SI", 0, "si2si">, I32EnumAttrCase<"SI2UI", 1, "si2ui">,
  I32EnumAttrCase<"UI2SI", 2, "ui2si">, I32EnumAttrCase<"UI2UI", 3, "ui2ui">]>, "unsigned_mode">;
def HIVM_CompareModeAttr : HIVM_EnumAttr<HIVM_Enum<"CompareMode", "comparison", [
  I32EnumAttrCase<"EQ", 0, "eq">, I32EnumAttrCase<"NE", 1, "ne">, I32EnumAttrCase<"LT", 2, "lt">,
  I32EnumAttrCase<"GT", 3, "gt">, I32EnumAttrCase<"GE", 4, "ge">, I32EnumAttrCase<"LE", 5, "le">]>,
  "compare_mode">;
def HIVM_ReduceOpAttr : HIVM_EnumAttr<HIVM_Enum<"ReduceOperation", "reduction", [
  I32EnumAttrCase<"none", 0>, I32EnumAttrCase<"sum", 1>, I32EnumAttrCase<"prod", 2>,
  I32EnumAttrCase<"max", 3>, I32EnumAttrCase<"min", 4>,
  I32EnumAttrCase<"max_with_index_left", 5>, I32EnumAttrCase<"max_with_index_right", 6>,
  I32EnumAttrCase<"min_with_index_left", 7>, I32EnumAttrCase<"min_with_index_right", 8>,
  I32EnumAttrCase<"max_with_index", 9>, I32EnumAttrCase<"min_with_index", 10>,
  I32EnumAttrCase<"any", 11>, I32EnumAttrCase<"all", 12>, I32EnumAttrCase<"xori", 13>,
  I32EnumAttrCase<"ori", 14>, I32EnumAttrCase<"andi", 15>]>, "reduce_op">;
// Kinds 7 and 8 share the spelling of `or` and `xor` in the original, so text cannot
// carry them; they are absent here and never printed (exchange and compare-and-swap
// have ops of their own).
def HIVM_AtomicKindEnum : HIVM_Enum<"AtomicKind", "atomic update", [
  I32EnumAttrCase<"NONE", 0, "none">, I32EnumAttrCase<"ADD", 1, "add">,
  I32EnumAttrCase<"MAX", 2, "max">, I32EnumAttrCase<"MIN", 3, "min">,
  I32EnumAttrCase<"AND", 4, "and">, I32EnumAttrCase<"OR", 5, "or">,
  I32EnumAttrCase<"XOR", 6, "xor">, I32EnumAttrCase<"UMAX", 9, "umax">,
  I32EnumAttrCase<"UMIN", 10, "umin">]>;
def HIVM_AtomicKindAttr : HIVM_EnumAttr<HIVM_AtomicKindEnum, "atomic_kind">;

//===-- data movement ----------------------------------------------------===//

def HIVM_PadModeAttr : HIVM_EnumAttr<HIVM_Enum<"PadMode", "what fills the padding", [
  I32EnumAttrCase<"PadNull", 0>, I32EnumAttrCase<"PadFirstElem", 1>,
  I32EnumAttrCase<"PadValue", 2>]>, "padmode">;
def HIVM_DMAModeAttr : HIVM_EnumAttr<HIVM_Enum<"DMAMode", "layout change of a fixpipe", [
  I32EnumAttrCase<"NZ2ND", 0, "nz2nd">, I32EnumAttrCase<"NZ2DN", 1, "nz2dn">,
  I32EnumAttrCase<"NORMAL", 2, "normal">]>, "dma_mode">;
def HIVM_PreQuantAttr : HIVM_EnumAttr<HIVM_Enum<"FixpipePreQuantMode", "conversion of a fixpipe", [
  I32EnumAttrCase<"NO_QUANT", 0>, I32EnumAttrCase<"F322F16", 1>, I32EnumAttrCase<"S322I8", 9>,
  I32EnumAttrCase<"QF322F32_PRE", 15>, I32EnumAttrCase<"F322BF16", 16>]>,
  "fixpipe_pre_quant_mode">;
def HIVM_PreReluAttr : HIVM_EnumAttr<HIVM_Enum<"FixpipePreReluMode", "relu of a fixpipe", [
  I32EnumAttrCase<"NO_RELU", 0>, I32EnumAttrCase<"NORMAL_RELU", 1>,
  I32EnumAttrCase<"LEAKY_RELU", 2>, I32EnumAttrCase<"P_RELU", 3>]>, "fixpipe_pre_relu_mode">;
def HIVM_DualDstAttr : HIVM_EnumAttr<HIVM_Enum<"FixpipeDualDstMode", "split over two vector cores", [
  I32EnumAttrCase<"NO_DUAL", 0>, I32EnumAttrCase<"ROW_SPLIT", 1>,
  I32EnumAttrCase<"COLUMN_SPLIT", 2>]>, "fixpipe_dual_dst_mode">;
def HIVM_FixpipeSubBlockAttr : HIVM_EnumAttr<HIVM_Enum<"FixpipeSubBlock", "receiving vector core", [
  I32EnumAttrCase<"sub_block_0", 0>, I32EnumAttrCase<"sub_block_1", 1>]>, "fixpipe_sub_block">;
def HIVM_DeinterleaveModeAttr : HIVM_EnumAttr<HIVM_Enum<"DeinterleaveMode", "channels kept", [
  I32EnumAttrCase<"CHANNEL_0", 0>, I32EnumAttrCase<"CHANNEL_1", 1>,
  I32EnumAttrCase<"ALL_CHANNELS", 999>]>, "deinterleave_mode">;
def HIVM_DCacheKindAttr : HIVM_EnumAttr<HIVM_Enum<"DataCacheKind", "what dcci flushes", [
  I32EnumAttrCase<"all", 0>, I32EnumAttrCase<"ub", 1>, I32EnumAttrCase<"out", 2>,
  I32EnumAttrCase<"atomic", 3>]>, "data_cache_kind">;
def HIVM_DCacheModeAttr : HIVM_EnumAttr<HIVM_Enum<"DataCacheMode", "how much dcci flushes", [
  I32EnumAttrCase<"single_cache_line", 0>, I32EnumAttrCase<"all_cache_lines", 1>]>,
  "data_cache_mode">;
def HIVM_EvictionPolicyAttr : HIVM_EnumAttr<HIVM_Enum<"EvictionPolicy", "cache hint", [
  I32EnumAttrCase<"EvictNormal", 1>, I32EnumAttrCase<"EvictFirst", 2>,
  I32EnumAttrCase<"EvictLast", 3>]>, "eviction_policy">;
def HIVM_InlineModeAttr : HIVM_EnumAttr<HIVM_Enum<"InlineMode", "inlining of custom calls", [
  I32EnumAttrCase<"always_inline", 0>, I32EnumAttrCase<"no_inline", 1>]>, "inline_mode">;
def HIVM_MemoryEffectAttr : HIVM_EnumAttr<HIVM_Enum<"MemoryEffect", "effect of a custom op", [
  I32EnumAttrCase<"read", 0>, I32EnumAttrCase<"write", 1>, I32EnumAttrCase<"read_write", 2>]>,
  "memory_effect">;
def HIVM_IteratorTypeAttr : HIVM_EnumAttr<HIVM_Enum<"IteratorType", "kind of a loop dimension", [
  I32EnumAttrCase<"parallel", 0>, I32EnumAttrCase<"broadcast", 1>,
  I32EnumAttrCase<"transpose", 2>, I32EnumAttrCase<"reduction", 3>,
  I32EnumAttrCase<"interleave", 4>, I32EnumAttrCase<"deinterleave", 5>,
  I32EnumAttrCase<"inverse", 6>, I32EnumAttrCase<"pad", 7>, I32EnumAttrCase<"concat", 8>,
  I32EnumAttrCase<"gather", 9>, I32EnumAttrCase<"cumulative", 10>,
  I32EnumAttrCase<"opaque", 99>]>, "iterator_type">;

//===-- layouts and marks ------------------------------------------------===//

def HIVM_DataLayoutEnum : HIVM_Enum<"DataLayout", "layout of a tile", [
  I32EnumAttrCase<"DOTA_ND", 1, "dotA_ND">, I32EnumAttrCase<"DOTB_ND", 2, "dotB_ND">,
  I32EnumAttrCase<"DOTC_ND", 3, "dotC_ND">, I32EnumAttrCase<"nZ", 4, "nZ">,
  I32EnumAttrCase<"zN", 5, "zN">, I32EnumAttrCase<"ND", 6, "ND">,
  I32EnumAttrCase<"Fractal", 7, "Fractal">, I32EnumAttrCase<"NCHW", 8, "NCHW">,
  I32EnumAttrCase<"NC1HWC0", 9, "NC1HWC0">, I32EnumAttrCase<"C1HWNC0", 10, "C1HWNC0">,
  I32EnumAttrCase<"SCALEA_ND", 11, "SCALEA_ND">, I32EnumAttrCase<"SCALEB_DN", 12, "SCALEB_DN">,
  I32EnumAttrCase<"SCALEA_zZ", 13, "SCALEA_zZ">, I32EnumAttrCase<"SCALEB_nN", 14, "SCALEB_nN">]>;

class HIVM_Attr<string name, string mnem, string text> : AttrDef<HIVM_Dialect, name> {
  let mnemonic = mnem;
  let summary = text;
}
def HIVM_DataLayoutAttr : HIVM_Attr<"DataLayout", "data_layout", "layout of a tile"> {
  let description = "C1: dotA_ND and dotB_ND carry `transpose`; of the others only ND may.";
  let parameters = (ins EnumParameter<HIVM_DataLayoutEnum>:$data_layout,
                        OptionalParameter<"std::optional<bool>">:$transpose,
                        OptionalParameter<"DenseI64ArrayAttr">:$fractalSizes);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}
def HIVM_TightlyCoupledBufferAttr : HIVM_Attr<"TightlyCoupledBuffer", "tightly_coupled_buffer",
                                              "buffer shared by cube and vector core"> {
  let parameters = (ins "int64_t":$id);
  let assemblyFormat = "`<` $id `>`";
}
def HIVM_RemainInL0CAttr : HIVM_Attr<"RemainInL0C", "remain_in_l0c", "accumulators kept in L0C"> {
  let parameters = (ins "int64_t":$count);
  let assemblyFormat = "`<` $count `>`";
}
class HIVM_PathAttr<string name, string mnem> : HIVM_Attr<name, mnem, "bitcode to link"> {
  let parameters = (ins "StringAttr":$path);
  let assemblyFormat = "`<` $path `>`";
}
def HIVM_AICBitcodeAttr : HIVM_PathAttr<"AICBitcode", "aic_bitcode">;
def HIVM_AIVBitcodeAttr : HIVM_PathAttr<"AIVBitcode", "aiv_bitcode">;
def HIVM_MixAICBitcodeAttr : HIVM_PathAttr<"MixAICBitcode", "mix_aic_bitcode">;
def HIVM_MixAIVBitcodeAttr : HIVM_PathAttr<"MixAIVBitcode", "mix_aiv_bitcode">;
def HIVM_HostBitcodeAttr : HIVM_PathAttr<"HostBitcode", "host_bitcode">;

#endif // PITON_COMPILER_DIALECT_HIVM_HIVMATTRS_TD
