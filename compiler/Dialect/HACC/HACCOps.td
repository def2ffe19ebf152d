// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `hacc` dialect: attributes about host and device functions. It has no ops.
// Text of AscendNPU IR; see docs/dialects/hacc.md. Unit markers (hacc.entry,
// hacc.always_inline, ...) are plain discardable attributes and need no definition.
#ifndef PITON_COMPILER_DIALECT_HACC_HACCOPS_TD
#define PITON_COMPILER_DIALECT_HACC_HACCOPS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def HACC_Dialect : Dialect {
  let name = "hacc";
  let cppNamespace = "::mlir::hacc";
  let summary = "attributes of host and device functions";
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = "void registerAttributes();";
}

class HACC_Enum<string name, string text, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, text, cases> {
  let cppNamespace = "::mlir::hacc";
  let genSpecializedAttr = 0;
}
class HACC_EnumAttr<EnumAttrInfo info, string mnemonic> : EnumAttr<HACC_Dialect, info, mnemonic> {
  let assemblyFormat = "`<` $value `>`";
}

def HACC_FunctionKindAttr : HACC_EnumAttr<HACC_Enum<"FunctionKind", "where a function runs", [
  I32EnumAttrCase<"HOST", 1>, I32EnumAttrCase<"DEVICE", 2>]>, "function_kind">;

def HACC_ArgTypeAttr : HACC_EnumAttr<HACC_Enum<"ArgType", "what a kernel argument is for", [
  I32EnumAttrCase<"FFTSBaseAddress", 0, "ffts_base_address">,
  I32EnumAttrCase<"Input", 1, "input">, I32EnumAttrCase<"Output", 2, "output">,
  I32EnumAttrCase<"InputAndOutput", 3, "input_and_output">,
  I32EnumAttrCase<"Workspace", 4, "workspace">,
  I32EnumAttrCase<"SyncBlockLock", 5, "sync_block_lock">,
  I32EnumAttrCase<"TilingKey", 6, "tiling_key">, I32EnumAttrCase<"TilingData", 7, "tiling_data">,
  I32EnumAttrCase<"TilingStruct", 8, "tiling_struct">, I32EnumAttrCase<"MeshArg", 9, "mesh_arg">,
  I32EnumAttrCase<"SanitizerAddr", 10, "sanitizer_addr">,
  I32EnumAttrCase<"GMAddr", 11, "gm_addr">,
  I32EnumAttrCase<"SubWorkspace", 12, "sub_workspace">]>, "arg_type">;

def HACC_HostFuncTypeAttr : HACC_EnumAttr<HACC_Enum<"HostFuncType", "role of a host helper", [
  I32EnumAttrCase<"Entry", 1, "host_entry">, I32EnumAttrCase<"Tiling", 2, "tiling_function">,
  I32EnumAttrCase<"InferOutputShape", 3, "infer_output_shape_function">,
  I32EnumAttrCase<"InferWorkspaceShape", 4, "infer_workspace_shape_function">,
  I32EnumAttrCase<"InferSyncBlockLockNum", 5, "infer_sync_block_lock_num_function">,
  I32EnumAttrCase<"InferSyncBlockLockInit", 6, "infer_sync_block_lock_init_function">,
  I32EnumAttrCase<"GetTilingStructSize", 7, "get_tiling_struct_size_function">,
  I32EnumAttrCase<"InferTaskType", 8, "infer_task_type_function">,
  I32EnumAttrCase<"InferVFMode", 9, "infer_vf_mode_function">]>, "host_func_type">;

class HACC_Attr<string name, string mnem, string text> : AttrDef<HACC_Dialect, name> {
  let mnemonic = mnem;
  let summary = text;
}
class HACC_IndexAttr<string name, string mnem, string text> : HACC_Attr<name, mnem, text> {
  let parameters = (ins "unsigned":$argIdx);
  let assemblyFormat = "`<` $argIdx `>`";
}
def HACC_InputIdxAttr : HACC_IndexAttr<"InputIdx", "input_idx", "position among the inputs">;
def HACC_OutputIdxAttr : HACC_IndexAttr<"OutputIdx", "output_idx", "position among the outputs">;

class HACC_SymbolAttr<string name, string mnem, string text> : HACC_Attr<name, mnem, text> {
  let parameters = (ins "FlatSymbolRefAttr":$funcName);
  let assemblyFormat = "`<` $funcName `>`";
}
def HACC_TilingFunctionAttr : HACC_SymbolAttr<"TilingFunction", "tiling_function", "tiling helper of a device function">;
def HACC_InferOutputShapeAttr : HACC_SymbolAttr<"InferOutputShape", "infer_output_shape_function", "output shape helper">;
def HACC_InferWorkspaceShapeAttr : HACC_SymbolAttr<"InferWorkspaceShape", "infer_workspace_shape_function", "workspace size helper">;
def HACC_InferSyncBlockLockNumAttr : HACC_SymbolAttr<"InferSyncBlockLockNum", "infer_sync_block_lock_num_function", "lock count helper">;
def HACC_InferSyncBlockLockInitAttr : HACC_SymbolAttr<"InferSyncBlockLockInit", "infer_sync_block_lock_init_function", "lock start value helper">;
def HACC_InferTaskTypeAttr : HACC_SymbolAttr<"InferTaskType", "infer_task_type_function", "task type helper">;
def HACC_RenameFuncAttr : HACC_SymbolAttr<"RenameFunc", "rename_func", "name a function gets later">;

class HACC_StringAttr<string name, string mnem, string text> : HACC_Attr<name, mnem, text> {
  let parameters = (ins "StringAttr":$value);
  let assemblyFormat = "`<` $value `>`";
}
def HACC_TargetAttr : HACC_StringAttr<"Target", "target", "SoC a module is compiled for">;
def HACC_HIVMCVersionAttr : HACC_StringAttr<"HIVMCVersion", "hivmc_version", "version of the final tool">;

#endif // PITON_COMPILER_DIALECT_HACC_HACCOPS_TD
