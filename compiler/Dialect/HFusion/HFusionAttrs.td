// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attributes of the `hfusion` dialect; values and spellings are those of AscendNPU IR.
// The lists of functions end where the published compiler's do: it refuses to parse
// a case it does not know.
#ifndef PITON_COMPILER_DIALECT_HFUSION_HFUSIONATTRS_TD
#define PITON_COMPILER_DIALECT_HFUSION_HFUSIONATTRS_TD

include "compiler/Dialect/HFusion/HFusionDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

class HFusion_Enum<string name, string text, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, text, cases> {
  let cppNamespace = "::mlir::hfusion";
  let genSpecializedAttr = 0;
}
class HFusion_EnumAttr<EnumAttrInfo info, string mnemonic>
    : EnumAttr<HFusion_Dialect, info, mnemonic> {
  let assemblyFormat = "`<` $value `>`";
}

def HFusion_UnaryFnAttr : HFusion_EnumAttr<HFusion_Enum<"UnaryFn", "unary function", [
  I32EnumAttrCase<"relu", 0>, I32EnumAttrCase<"sqrt", 1>, I32EnumAttrCase<"rsqrt", 2>,
  I32EnumAttrCase<"rec", 3>, I32EnumAttrCase<"vnot", 4>, I32EnumAttrCase<"tanh", 5>,
  I32EnumAttrCase<"sin", 6>, I32EnumAttrCase<"cos", 7>, I32EnumAttrCase<"atan", 8>,
  I32EnumAttrCase<"tan", 9>, I32EnumAttrCase<"absi", 10>, I32EnumAttrCase<"erf", 11>,
  I32EnumAttrCase<"log2", 12>, I32EnumAttrCase<"log10", 13>, I32EnumAttrCase<"log1p", 14>,
  I32EnumAttrCase<"exp2", 15>, I32EnumAttrCase<"expm1", 16>, I32EnumAttrCase<"ilogb", 17>,
  I32EnumAttrCase<"asin", 18>, I32EnumAttrCase<"acos", 19>, I32EnumAttrCase<"asinh", 20>,
  I32EnumAttrCase<"acosh", 21>, I32EnumAttrCase<"atanh", 22>, I32EnumAttrCase<"sinh", 23>,
  I32EnumAttrCase<"lgamma", 24>]>, "unary_fn">;
def HFusion_BinaryFnAttr : HFusion_EnumAttr<HFusion_Enum<"BinaryFn", "binary function", [
  I32EnumAttrCase<"vor", 0>, I32EnumAttrCase<"vand", 1>, I32EnumAttrCase<"vxor", 2>,
  I32EnumAttrCase<"minf", 3>, I32EnumAttrCase<"maxf", 4>, I32EnumAttrCase<"powf", 5>,
  I32EnumAttrCase<"mod", 6>, I32EnumAttrCase<"modui", 7>, I32EnumAttrCase<"shli", 8>,
  I32EnumAttrCase<"shrsi", 9>, I32EnumAttrCase<"shrui", 10>, I32EnumAttrCase<"ldexp", 11>,
  I32EnumAttrCase<"ceildivsi", 12>, I32EnumAttrCase<"ceildivui", 13>,
  I32EnumAttrCase<"floordivsi", 14>, I32EnumAttrCase<"powi", 15>,
  I32EnumAttrCase<"minnumf", 16>, I32EnumAttrCase<"maxnumf", 17>]>, "binary_fn">;
def HFusion_TernaryFnAttr : HFusion_EnumAttr<HFusion_Enum<"TernaryFn", "ternary function", [
  I32EnumAttrCase<"select", 0>, I32EnumAttrCase<"fma", 1>]>, "ternary_fn">;
def HFusion_CompareFnAttr : HFusion_EnumAttr<HFusion_Enum<"CompareFn", "comparison", [
  I32EnumAttrCase<"veq", 0>, I32EnumAttrCase<"vne", 1>, I32EnumAttrCase<"vle", 2>,
  I32EnumAttrCase<"vlt", 3>, I32EnumAttrCase<"vge", 4>, I32EnumAttrCase<"vgt", 5>,
  I32EnumAttrCase<"vule", 6>, I32EnumAttrCase<"vult", 7>, I32EnumAttrCase<"vuge", 8>,
  I32EnumAttrCase<"vugt", 9>]>, "compare_fn">;
def HFusion_RoundModeAttr : HFusion_EnumAttr<HFusion_Enum<"RoundMode", "rounding of a cast", [
  I32EnumAttrCase<"RINT", 0, "rint">, I32EnumAttrCase<"ROUND", 1, "round">,
  I32EnumAttrCase<"FLOOR", 2, "floor">, I32EnumAttrCase<"CEIL", 3, "ceil">,
  I32EnumAttrCase<"TRUNC", 4, "trunc">, I32EnumAttrCase<"ODD", 5, "odd">,
  I32EnumAttrCase<"TRUNCWITHOVERFLOW", 6, "truncwithoverflow">]>, "round_mode">;
def HFusion_TypeFnAttr : HFusion_EnumAttr<HFusion_Enum<"TypeFn", "signedness of a cast", [
  I32EnumAttrCase<"cast_signed", 0>, I32EnumAttrCase<"cast_unsigned", 1>,
  I32EnumAttrCase<"bitcast", 2>]>, "type_fn">;
def HFusion_UnsignedModeAttr : HFusion_EnumAttr<HFusion_Enum<"UnsignedMode", "signedness of both sides", [
  I32EnumAttrCase<"SI2SI", 0, "si2si">, I32EnumAttrCase<"SI2UI", 1, "si2ui">,
  I32EnumAttrCase<"UI2SI", 2, "ui2si">, I32EnumAttrCase<"UI2UI", 3, "ui2ui">]>, "unsigned_mode">;
def HFusion_AtomicKindAttr : HFusion_EnumAttr<HFusion_Enum<"AtomicKind", "atomic update", [
  I32EnumAttrCase<"NONE", 0, "none">, I32EnumAttrCase<"ADD", 1, "add">,
  I32EnumAttrCase<"MAX", 2, "max">, I32EnumAttrCase<"MIN", 3, "min">,
  I32EnumAttrCase<"AND", 4, "and">, I32EnumAttrCase<"OR", 5, "or">,
  I32EnumAttrCase<"XOR", 6, "xor">, I32EnumAttrCase<"CAS", 7, "cas">,
  I32EnumAttrCase<"XCHG", 8, "xchg">, I32EnumAttrCase<"UMAX", 9, "umax">,
  I32EnumAttrCase<"UMIN", 10, "umin">]>, "atomic_kind">;
def HFusion_ReduceWithIndexKindAttr : HFusion_EnumAttr<HFusion_Enum<"ReduceWithIndexKind", "extremum", [
  I32EnumAttrCase<"MIN", 0, "min">, I32EnumAttrCase<"MAX", 1, "max">,
  I32EnumAttrCase<"MINUI", 2, "minui">, I32EnumAttrCase<"MAXUI", 3, "maxui">]>,
  "reduce_with_index_kind">;
def HFusion_FusionKindAttr : HFusion_EnumAttr<HFusion_Enum<"FusionKind", "what a function fuses", [
  I32EnumAttrCase<"PureElemwise", 1, "PURE_ELEMWISE">, I32EnumAttrCase<"AnyPB", 2, "ANY_PB">,
  I32EnumAttrCase<"LastAxisPBR", 3, "LAST_AXIS_PBR">, I32EnumAttrCase<"AnyPBR", 4, "ANY_PBR">,
  I32EnumAttrCase<"SingleCube", 5, "SINGLE_CUBE">, I32EnumAttrCase<"ShallowCV", 6, "SHALLOW_CV">,
  I32EnumAttrCase<"ShallowVV", 7, "SHALLOW_VV">, I32EnumAttrCase<"MixCV", 8, "MIX_CV">,
  I32EnumAttrCase<"MixC2", 9, "MIX_C2">, I32EnumAttrCase<"Unknown", 10, "UNKNOWN">]>,
  "fusion_kind">;

#endif // PITON_COMPILER_DIALECT_HFUSION_HFUSIONATTRS_TD
