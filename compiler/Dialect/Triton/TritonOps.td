// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations of the `tt` dialect. Order: functions, program ids and ranges,
// elementwise, memory, block pointers, descriptors, atomics, shapes, dots, region
// ops, debug. Constraint labels C1, C2 ... reappear in the verifiers and tests.
#ifndef PITON_COMPILER_DIALECT_TRITON_TRITONOPS_TD
#define PITON_COMPILER_DIALECT_TRITON_TRITONOPS_TD

include "compiler/Dialect/Triton/TritonDialect.td"
include "compiler/Dialect/Triton/TritonTypes.td"
include "compiler/Dialect/Triton/TritonEnums.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/CommonTypeConstraints.td"
include "mlir/Interfaces/CallInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def TT_GlobalMemory : Resource<"::mlir::triton::GlobalMemory">;
def TT_TensorSizeTrait : NativeOpTrait<"TensorSizeTrait">;

class TT_Op<string mnemonic, list<Trait> traits = []>
    : Op<Triton_Dialect, mnemonic, !listconcat(traits, [TT_TensorSizeTrait])>;

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

def TT_FuncOp : TT_Op<"func", [AffineScope, AutomaticAllocationScope, FunctionOpInterface,
                               IsolatedFromAbove, OpAsmOpInterface, HasParent<"ModuleOp">]> {
  let summary = "a kernel or a device helper";
  let description = [{
    The kernel is the first function whose visibility is public or not given;
    helpers are private. A function without a body is a declaration.
    C1: a declaration is private or nested.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
                       OptionalAttr<StrAttr>:$sym_visibility,
                       OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region AnyRegion:$body);
  let builders = [OpBuilder<(ins "StringRef":$name, "FunctionType":$type,
                                 CArg<"ArrayRef<NamedAttribute>", "{}">:$attrs,
                                 CArg<"ArrayRef<DictionaryAttr>", "{}">:$argAttrs)>];
  let extraClassDeclaration = [{
    Region *getCallableRegion() { return isExternal() ? nullptr : &getBody(); }
    /// Of SymbolOpInterface, which then refuses public declarations (C1).
    bool isDeclaration() { return isExternal(); }
    ArrayRef<Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ArrayRef<Type> getResultTypes() { return getFunctionType().getResults(); }
  }];
  let hasCustomAssemblyFormat = 1;
  let skipDefaultBuilders = 1;
}

def TT_CallOp : TT_Op<"call", [CallOpInterface, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "call of a helper function";
  let description = [{
    C1: the callee is a `tt.func` visible from here. C2: operand and result types
    equal the function's. A call has unknown effects: no generic pass moves,
    merges or deletes it.
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyType>:$operands,
                       OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs);
  let results = (outs Variadic<AnyType>);
  let builders = [OpBuilder<(ins "FuncOp":$callee, CArg<"ValueRange", "{}">:$operands), [{
    $_state.addOperands(operands);
    $_state.addAttribute("callee", SymbolRefAttr::get(callee));
    $_state.addTypes(callee.getFunctionType().getResults());
  }]>];
  let extraClassDeclaration = [{
    operand_range getArgOperands() { return getOperands(); }
    MutableOperandRange getArgOperandsMutable() { return getOperandsMutable(); }
    CallInterfaceCallable getCallableForCallee() {
      return (*this)->getAttrOfType<SymbolRefAttr>("callee");
    }
    void setCalleeFromCallable(CallInterfaceCallable callee) {
      (*this)->setAttr("callee", llvm::cast<SymbolRefAttr>(callee));
    }
  }];
  let assemblyFormat = "$callee `(` $operands `)` attr-dict `:` functional-type($operands, results)";
}

def TT_ReturnOp : TT_Op<"return", [HasParent<"FuncOp">, Pure, ReturnLike, Terminator]> {
  let summary = "return from a function";
  let description = "C1: operand count and types equal the function's results.";
  let arguments = (ins Variadic<AnyType>:$srcs);
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ValueRange()); }]>];
  let assemblyFormat = "attr-dict ($srcs^ `:` type($srcs))?";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Program ids, ranges, casts
//===----------------------------------------------------------------------===//

class TT_ProgramOp<string mnemonic> : TT_Op<mnemonic, [Pure]> {
  let arguments = (ins TT_ProgramIDDimAttr:$axis);
  let results = (outs I32:$result);
  let assemblyFormat = "$axis attr-dict `:` type($result)";
  let builders = [OpBuilder<(ins "int":$axis), [{
    build($_builder, $_state, $_builder.getI32Type(), static_cast<ProgramIDDim>(axis));
  }]>];
}
def TT_GetProgramIdOp : TT_ProgramOp<"get_program_id"> {
  let summary = "index of this program along a grid axis";
}
def TT_GetNumProgramsOp : TT_ProgramOp<"get_num_programs"> {
  let summary = "extent of the grid along an axis";
}

def TT_MakeRangeOp : TT_Op<"make_range", [Pure]> {
  let summary = "start, start + 1, ..., end - 1";
  let description = "C1: the result is rank 1 of i32. C2: start < end. C3: its length is end - start.";
  let arguments = (ins I32Attr:$start, I32Attr:$end);
  let results = (outs TT_IntTensor:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

class TT_CastOp<string mnemonic, list<Trait> traits = []>
    : TT_Op<mnemonic, !listconcat([Pure, Elementwise, SameOperandsAndResultShape], traits)> {
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
}
def TT_IntToPtrOp : TT_CastOp<"int_to_ptr"> {
  let summary = "address to pointer";
  let arguments = (ins TT_I64Like:$src);
  let results = (outs TT_PtrLike:$result);
}
def TT_PtrToIntOp : TT_CastOp<"ptr_to_int"> {
  let summary = "pointer to address";
  let arguments = (ins TT_PtrLike:$src);
  let results = (outs TT_I64Like:$result);
}
def TT_BitcastOp : TT_CastOp<"bitcast"> {
  let summary = "same bits, other type";
  let description = [{
    C1: pointers cast only to pointers of the same address space, values only to
    values. C2: values have equal bit width.
  }];
  let arguments = (ins TT_AnyTT:$src);
  let results = (outs TT_AnyTT:$result);
  let hasVerifier = 1;
}
def TT_FpToFpOp : TT_Op<"fp_to_fp", [Pure, Elementwise, SameOperandsAndResultShape]> {
  let summary = "conversion between float formats";
  let description = "C1: narrowing needs a rounding mode.";
  let arguments = (ins TT_FloatLike:$src, OptionalAttr<TT_RoundingModeAttr>:$rounding);
  let results = (outs TT_FloatLike:$result);
  let assemblyFormat = "$src attr-dict (`,` `rounding` `=` $rounding^)? `:` type($src) `->` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

def TT_ClampFOp : TT_Op<"clampf", [Pure, Elementwise, SameOperandsAndResultType]> {
  let summary = "min(max(x, min), max)";
  let arguments = (ins TT_FloatLike:$x, TT_FloatLike:$min, TT_FloatLike:$max,
                       TT_PropagateNanAttr:$propagateNan);
  let results = (outs TT_FloatLike:$result);
  let assemblyFormat = "$x `,` $min `,` $max `,` `propagateNan` `=` $propagateNan attr-dict `:` type($result)";
}
def TT_PreciseSqrtOp : TT_Op<"precise_sqrt", [Pure, Elementwise, SameOperandsAndResultType]> {
  let summary = "correctly rounded square root";
  let arguments = (ins TT_FloatLike:$x);
  let results = (outs TT_FloatLike:$result);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}
def TT_PreciseDivFOp : TT_Op<"precise_divf", [Pure, Elementwise, SameOperandsAndResultType]> {
  let summary = "correctly rounded division";
  let arguments = (ins TT_FloatLike:$x, TT_FloatLike:$y);
  let results = (outs TT_FloatLike:$result);
  let assemblyFormat = "$x `,` $y attr-dict `:` type($x)";
}
def TT_MulhiUIOp : TT_Op<"mulhiui", [Pure, Elementwise, SameOperandsAndResultType]> {
  let summary = "high half of the unsigned double-width product";
  let arguments = (ins TT_IntLike:$x, TT_IntLike:$y);
  let results = (outs TT_IntLike:$result);
  let assemblyFormat = "$x `,` $y attr-dict `:` type($x)";
}

class TT_ExternLikeOp<string mnemonic> : TT_Op<mnemonic, [
    Elementwise, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<ConditionallySpeculatable>]>;
def TT_ExternElementwiseOp : TT_ExternLikeOp<"extern_elementwise"> {
  let summary = "library function applied per element";
  let arguments = (ins Variadic<TT_AnyTT>:$srcs, StrAttr:$libname, StrAttr:$libpath,
                       StrAttr:$symbol, BoolAttr:$pure);
  let results = (outs TT_AnyTT:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, $result)";
}
def TT_ElementwiseInlineAsmOp : TT_ExternLikeOp<"elementwise_inline_asm"> {
  let summary = "inline assembly applied to packs of elements";
  let description = "C1: the element count of operand 0 is a multiple of packed_element, which is positive.";
  let arguments = (ins StrAttr:$asm_string, StrAttr:$constraints, BoolAttr:$pure,
                       I32Attr:$packed_element, Variadic<TT_AnyTT>:$args);
  let results = (outs Variadic<TT_AnyTT>:$result);
  let assemblyFormat = "$asm_string attr-dict ($args^ `:` type($args))? `->` type($result)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

def TT_AddPtrOp : TT_Op<"addptr", [Pure, Elementwise, SameOperandsAndResultShape,
    TypesMatchWith<"result type matches ptr type", "result", "ptr", "$_self">]> {
  let summary = "pointer plus offset in elements of the pointee (signed)";
  let arguments = (ins TT_PtrLike:$ptr, TT_IntLike:$offset);
  let results = (outs TT_PtrLike:$result);
  let assemblyFormat = "$ptr `,` $offset attr-dict `:` type($result) `,` type($offset)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def TT_LoadOp : TT_Op<"load", [AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    TypesMatchWith<"result matches ptr type", "ptr", "result", "getPointeeTypeOf($_self)">,
    TypesMatchWith<"mask type matches ptr type", "ptr", "mask", "getI1SameShape(getPointeeTypeOf($_self))",
                   "($_op.getOperands().size() <= 1) || std::equal_to<>()">,
    TypesMatchWith<"other matches ptr type", "ptr", "other", "getPointeeTypeOf($_self)",
                   "($_op.getOperands().size() <= 2) || std::equal_to<>()">]> {
  let summary = "load through a pointer, a tensor of pointers or a block pointer";
  let description = [{
    A lane whose mask is false gives `other`, or an undefined value without
    `other`. C1: `other` needs `mask`. C2: boundaryCheck and padding belong to
    block pointers, and the dimensions lie inside the block's rank.
  }];
  let arguments = (ins AnyTypeOf<[TT_PtrLike, TT_BlockPtr]>:$ptr, Optional<TT_BoolLike>:$mask,
                       Optional<TT_AnyTT>:$other,
                       DefaultValuedAttr<DenseI32ArrayAttr, "::llvm::ArrayRef<int32_t>{}">:$boundaryCheck,
                       OptionalAttr<TT_PaddingOptionAttr>:$padding,
                       DefaultValuedAttr<TT_CacheModifierAttr, "::mlir::triton::CacheModifier::NONE">:$cache,
                       DefaultValuedAttr<TT_EvictionPolicyAttr, "::mlir::triton::EvictionPolicy::NORMAL">:$evict,
                       DefaultValuedAttr<BoolAttr, "false">:$isVolatile);
  let results = (outs TT_AnyTT:$result);
  let builders = [
    OpBuilder<(ins "Value":$ptr, CArg<"Value", "{}">:$mask, CArg<"Value", "{}">:$other), [{
      build($_builder, $_state, getPointeeTypeOf(ptr.getType()), ptr, mask, other,
            $_builder.getDenseI32ArrayAttr({}), PaddingOptionAttr(), CacheModifier::NONE,
            EvictionPolicy::NORMAL, false);
    }]>];
  let assemblyFormat = [{
    $ptr (`,` $mask^)? (`,` $other^)?
    oilist(`cacheModifier` `=` $cache | `evictionPolicy` `=` $evict)
    attr-dict `:` type($ptr)
  }];
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}

def TT_StoreOp : TT_Op<"store", [
    TypesMatchWith<"value type matches ptr type", "ptr", "value", "getPointeeTypeOf($_self)">,
    TypesMatchWith<"mask type matches ptr type", "ptr", "mask", "getI1SameShape(getPointeeTypeOf($_self))",
                   "($_op.getOperands().size() <= 2) || std::equal_to<>()">]> {
  let summary = "store through a pointer, a tensor of pointers or a block pointer";
  let description = "Lanes whose mask is false are not touched. C1: as C2 of load.";
  let arguments = (ins Arg<AnyTypeOf<[TT_PtrLike, TT_BlockPtr]>, "", [MemWrite<TT_GlobalMemory>]>:$ptr,
                       TT_AnyTT:$value, Optional<TT_BoolLike>:$mask,
                       DefaultValuedAttr<DenseI32ArrayAttr, "::llvm::ArrayRef<int32_t>{}">:$boundaryCheck,
                       DefaultValuedAttr<TT_CacheModifierAttr, "::mlir::triton::CacheModifier::NONE">:$cache,
                       DefaultValuedAttr<TT_EvictionPolicyAttr, "::mlir::triton::EvictionPolicy::NORMAL">:$evict);
  let assemblyFormat = [{
    $ptr `,` $value (`,` $mask^)?
    oilist(`cacheModifier` `=` $cache | `evictionPolicy` `=` $evict)
    attr-dict `:` type($ptr)
  }];
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Block pointers
//===----------------------------------------------------------------------===//

def TT_MakeTensorPtrOp : TT_Op<"make_tensor_ptr", [Pure, SameVariadicOperandSize,
    TypesMatchWith<"base points to the element of the block", "result", "base",
      "PointerType::get(getElementTypeOrSelf(::llvm::cast<PointerType>($_self).getPointeeType()), ::llvm::cast<PointerType>($_self).getAddressSpace())">]> {
  let summary = "block pointer from base, shape, strides and offsets";
  let description = [{
    Element (i0, ...) of the block lies at base + sum (offset_d + i_d) * stride_d
    elements. order[0] is the fastest dimension. C1: shape, strides, offsets and
    order have the block's rank. C2: order is a permutation.
  }];
  let arguments = (ins TT_Ptr:$base, Variadic<I64>:$shape, Variadic<I64>:$strides,
                       Variadic<I32>:$offsets, DenseI32ArrayAttr:$order);
  let results = (outs TT_BlockPtr:$result);
  let assemblyFormat = "$base `,` `[` $shape `]` `,` `[` $strides `]` `,` `[` $offsets `]` attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def TT_AdvanceOp : TT_Op<"advance", [Pure,
    TypesMatchWith<"result type matches ptr type", "result", "ptr", "$_self">]> {
  let summary = "move a block pointer";
  let description = "C1: one offset a dimension.";
  let arguments = (ins TT_BlockPtr:$ptr, Variadic<I32>:$offsets);
  let results = (outs TT_BlockPtr:$result);
  let assemblyFormat = "$ptr `,` `[` $offsets `]` attr-dict `:` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Tensor descriptors
//===----------------------------------------------------------------------===//

def TT_DescOpInterface : OpInterface<"DescriptorOpInterface"> {
  let cppNamespace = "::mlir::triton";
  let description = "An op that accesses memory through a tensor descriptor.";
  let methods = [InterfaceMethod<"The descriptor.", "::mlir::TypedValue<::mlir::triton::TensorDescType>", "getDesc">];
}
def TT_DescStoreLikeOpInterface : OpInterface<"DescriptorStoreLikeOpInterface", [TT_DescOpInterface]> {
  let cppNamespace = "::mlir::triton";
  let description = "A descriptor op that writes a tensor.";
  let methods = [InterfaceMethod<"The tensor.", "::mlir::TypedValue<::mlir::RankedTensorType>", "getSrc">];
}

def TT_MakeTensorDescOp : TT_Op<"make_tensor_descriptor", [Pure, SameVariadicOperandSize]> {
  let summary = "tensor descriptor from base, shape and strides";
  let description = [{
    C1: shape and strides have the block's rank. C2: the base's pointee is the
    block's element type, signedness apart.
  }];
  let arguments = (ins TT_Ptr:$base, Variadic<I32>:$shape, Variadic<I64>:$strides,
                       DefaultValuedAttr<TT_PaddingOptionAttr, "::mlir::triton::PaddingOption::PAD_ZERO">:$padding);
  let results = (outs TT_TensorDesc:$result);
  let builders = [OpBuilder<(ins "Value":$base, "ValueRange":$shape, "ValueRange":$strides,
                                 "ArrayRef<int32_t>":$blockShape, "bool":$isSigned,
                                 "PaddingOption":$padding)>];
  let assemblyFormat = "$base `,` `[` $shape `]` `,` `[` $strides `]` attr-dict `:` type($base) `,` type($result)";
  let hasVerifier = 1;
}

def TT_DescriptorLoadOp : TT_Op<"descriptor_load", [DeclareOpInterfaceMethods<TT_DescOpInterface>]> {
  let summary = "load the block at the given indices; out of bounds gives the padding";
  let description = "C1: the result is the signless block type, leading unit dims may be dropped. C2: one index a dimension.";
  let arguments = (ins Arg<TT_TensorDesc, "", [MemRead<TT_GlobalMemory>]>:$desc, Variadic<I32>:$indices,
                       DefaultValuedAttr<TT_CacheModifierAttr, "::mlir::triton::CacheModifier::NONE">:$cache,
                       DefaultValuedAttr<TT_EvictionPolicyAttr, "::mlir::triton::EvictionPolicy::NORMAL">:$evict);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = [{
    $desc `[` $indices `]` oilist(`cacheModifier` `=` $cache | `evictionPolicy` `=` $evict)
    attr-dict `:` qualified(type($desc)) `->` type($result)
  }];
  let hasVerifier = 1;
}
class TT_DescWriteOp<string mnemonic> : TT_Op<mnemonic, [DeclareOpInterfaceMethods<TT_DescStoreLikeOpInterface>]>;
def TT_DescriptorStoreOp : TT_DescWriteOp<"descriptor_store"> {
  let summary = "store a block; out-of-bounds lanes are dropped";
  let description = "C1, C2: as descriptor_load.";
  let arguments = (ins Arg<TT_TensorDesc, "", [MemRead<TT_GlobalMemory>, MemWrite<TT_GlobalMemory>]>:$desc,
                       TT_Tensor:$src, Variadic<I32>:$indices);
  let assemblyFormat = "$desc `[` $indices `]` `,` $src attr-dict `:` qualified(type($desc)) `,` type($src)";
  let hasVerifier = 1;
}
def TT_DescriptorReduceOp : TT_DescWriteOp<"descriptor_reduce"> {
  let summary = "atomically combine a block into memory";
  let description = "C1, C2: as descriptor_load.";
  let arguments = (ins TT_DescriptorReduceKindAttr:$kind,
                       Arg<TT_TensorDesc, "", [MemRead<TT_GlobalMemory>, MemWrite<TT_GlobalMemory>]>:$desc,
                       TT_Tensor:$src, Variadic<I32>:$indices);
  let assemblyFormat = "$kind `,` $desc `[` $indices `]` `,` $src attr-dict `:` qualified(type($desc)) `,` type($src)";
  let hasVerifier = 1;
}
def TT_DescriptorGatherOp : TT_Op<"descriptor_gather", [DeclareOpInterfaceMethods<TT_DescOpInterface>]> {
  let summary = "load rows x_offsets[r], columns from y_offset";
  let description = [{
    C1: the block is 1xC. C2: the result is NxC with N the length of x_offsets and
    the block's signless element type. C3: N >= 8, C >= 8 * 32 / bit width, bit
    width <= 32.
  }];
  let arguments = (ins Arg<TT_TensorDesc, "", [MemRead<TT_GlobalMemory>]>:$desc,
                       RankedTensorOf<[I32]>:$x_offsets, I32:$y_offset);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = "$desc `[` $x_offsets `,` $y_offset `]` attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}
def TT_DescriptorScatterOp : TT_DescWriteOp<"descriptor_scatter"> {
  let summary = "store rows to x_offsets[r], columns from y_offset";
  let description = "C1 to C3: as descriptor_gather, on src.";
  let arguments = (ins Arg<TT_TensorDesc, "", [MemRead<TT_GlobalMemory>, MemWrite<TT_GlobalMemory>]>:$desc,
                       RankedTensorOf<[I32]>:$x_offsets, I32:$y_offset, TT_Tensor:$src);
  let assemblyFormat = "$desc `[` $x_offsets `,` $y_offset `]` `,` $src attr-dict `:` type(operands)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Atomics
//===----------------------------------------------------------------------===//

def TT_AtomicRMWOp : TT_Op<"atomic_rmw", [SameOperandsAndResultShape,
    TypesMatchWith<"ptr type matches value type", "val", "ptr", "getPointerTypeLike($_self)">,
    TypesMatchWith<"mask type matches value type", "val", "mask", "getI1SameShape($_self)",
                   "($_op.getOperands().size() <= 2) || std::equal_to<>()">]> {
  let summary = "atomic read-modify-write; gives the old value";
  let description = "C1: fadd needs floats; and, or, xor, add, max, min, umax, umin need integers.";
  let arguments = (ins TT_RMWOpAttr:$atomic_rmw_op,
                       Arg<TT_PtrLike, "", [MemRead<TT_GlobalMemory>, MemWrite<TT_GlobalMemory>]>:$ptr,
                       TT_AnyTT:$val, Optional<TT_BoolLike>:$mask, TT_MemSemanticAttr:$sem,
                       TT_MemSyncScopeAttr:$scope);
  let results = (outs TT_AnyTT:$result);
  let assemblyFormat = [{
    $atomic_rmw_op `,` $sem `,` $scope `,` $ptr `,` $val (`,` $mask^)? attr-dict `:`
    functional-type(operands, $result)
  }];
  let hasVerifier = 1;
}
def TT_AtomicCASOp : TT_Op<"atomic_cas", [SameOperandsAndResultShape,
    TypesMatchWith<"ptr type matches cmp type", "cmp", "ptr", "getPointerTypeLike($_self)">,
    TypesMatchWith<"ptr type matches value type", "val", "ptr", "getPointerTypeLike($_self)">]> {
  let summary = "atomic compare and swap; gives the old value";
  let arguments = (ins Arg<TT_PtrLike, "", [MemRead<TT_GlobalMemory>, MemWrite<TT_GlobalMemory>]>:$ptr,
                       TT_AnyTT:$cmp, TT_AnyTT:$val, TT_MemSemanticAttr:$sem,
                       TT_MemSyncScopeAttr:$scope);
  let results = (outs TT_AnyTT:$result);
  let assemblyFormat = "$sem `,` $scope `,` $ptr `,` $cmp `,` $val attr-dict `:` functional-type(operands, $result)";
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

def TT_SplatOp : TT_Op<"splat", [Pure, SameOperandsAndResultElementType]> {
  let summary = "tensor filled with one value";
  let arguments = (ins TT_AnyTT:$src);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasFolder = 1;
}
def TT_UnsplatOp : TT_Op<"unsplat", [Pure, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "the element of a one-element tensor";
  let description = "C1: the source has one element.";
  let arguments = (ins TT_Tensor:$src);
  let results = (outs TT_AnyTT:$result);
  let assemblyFormat = "$src attr-dict `:` type($src)";
  let hasVerifier = 1;
}
def TT_ExpandDimsOp : TT_Op<"expand_dims", [Pure, DeclareOpInterfaceMethods<InferTypeOpInterface>,
                                           SameOperandsAndResultElementType]> {
  let summary = "insert a unit dimension";
  let description = "C1: 0 <= axis <= rank of the source.";
  let arguments = (ins TT_Tensor:$src, I32Attr:$axis);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasCanonicalizer = 1;
  let hasFolder = 1;
}
def TT_BroadcastOp : TT_Op<"broadcast", [Pure, SameOperandsAndResultElementType]> {
  let summary = "repeat along unit dimensions";
  let description = "C1: equal ranks. C2: a source dimension is 1 or equals the result's.";
  let arguments = (ins TT_Tensor:$src);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasCanonicalizer = 1;
  let hasFolder = 1;
  let hasVerifier = 1;
}
def TT_ReshapeOp : TT_Op<"reshape", [Pure, SameOperandsAndResultElementType]> {
  let summary = "row-major reinterpretation of the shape";
  let description = "C1: equal element counts.";
  let arguments = (ins TT_Tensor:$src, UnitAttr:$allow_reorder, UnitAttr:$efficient_layout);
  let results = (outs TT_Tensor:$result);
  let builders = [OpBuilder<(ins "ArrayRef<int64_t>":$shape, "Value":$src,
                                 CArg<"bool", "false">:$allowReorder)>];
  let assemblyFormat = [{
    $src (`allow_reorder` $allow_reorder^)? (`efficient_layout` $efficient_layout^)? attr-dict `:`
    type($src) `->` type($result)
  }];
  let hasCanonicalizer = 1;
  let hasFolder = 1;
  let hasVerifier = 1;
}
def TT_TransOp : TT_Op<"trans", [Pure, DeclareOpInterfaceMethods<InferTypeOpInterface>,
                                SameOperandsAndResultElementType]> {
  let summary = "permute dimensions: result dim k is source dim order[k]";
  let description = "C1: order is a permutation of the source's dimensions.";
  let arguments = (ins TT_Tensor:$src, DenseI32ArrayAttr:$order);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}
def TT_JoinOp : TT_Op<"join", [Pure, SameTypeOperands]> {
  let summary = "interleave two tensors along a new last dimension of 2";
  let description = "C1: the result has the operands' shape and a trailing 2.";
  let arguments = (ins TT_Tensor:$lhs, TT_Tensor:$rhs);
  let results = (outs TT_Tensor:$result);
  let builders = [OpBuilder<(ins "Value":$lhs, "Value":$rhs)>];
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)";
  let hasVerifier = 1;
}
def TT_SplitOp : TT_Op<"split", [Pure, DeclareOpInterfaceMethods<InferTypeOpInterface>,
    TypesMatchWith<"both results have one type", "outLHS", "outRHS", "$_self">]> {
  let summary = "the two halves of a last dimension of 2";
  let description = "C1: the last dimension is 2.";
  let arguments = (ins TT_Tensor:$src);
  let results = (outs TT_Tensor:$outLHS, TT_Tensor:$outRHS);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($outLHS)";
}
def TT_CatOp : TT_Op<"cat", [NoMemoryEffect, SameTypeOperands, SameOperandsAndResultElementType]> {
  let summary = "concatenate along dimension 0; the element order is not promised";
  let description = "C1: the result has the operands' shape, dimension 0 doubled.";
  let arguments = (ins TT_Tensor:$lhs, TT_Tensor:$rhs);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)";
  let hasVerifier = 1;
}
def TT_GatherOp : TT_Op<"gather", [Pure, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "result[.., i, ..] = src[.., indices[.., i, ..], ..] along an axis";
  let description = [{
    C1: equal ranks. C2: axis inside the rank. C3: dimensions other than axis agree.
  }];
  let arguments = (ins TT_Tensor:$src, TT_IntTensor:$indices, I32Attr:$axis,
                       UnitAttr:$efficient_layout);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = "$src `[` $indices `]` attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}
def TT_HistogramOp : TT_Op<"histogram", [Pure,
    TypesMatchWith<"mask type matches src type", "src", "mask", "getI1SameShape($_self)",
                   "($_op.getOperands().size() <= 1) || std::equal_to<>()">]> {
  let summary = "counts of values 0 .. bins-1";
  let description = "C1: the result is rank 1.";
  let arguments = (ins TT_IntTensor:$src, Optional<TT_BoolLike>:$mask);
  let results = (outs TT_IntTensor:$result);
  let assemblyFormat = "$src (`,` $mask^)? attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Dot products
//===----------------------------------------------------------------------===//

def TT_DotOp : TT_Op<"dot", [Pure, DeclareOpInterfaceMethods<InferTypeOpInterface>,
    TypesMatchWith<"result type matches accumulator", "d", "c", "$_self">]> {
  let summary = "d = a * b + c";
  let description = [{
    C1: rank 2 or 3, all equal. C2: shapes MxK, KxN, MxN, equal batch. C3: a and b
    have elements of one bit width.
  }];
  let arguments = (ins TT_FpIntTensor:$a, TT_FpIntTensor:$b, TT_FpIntTensor:$c,
                       DefaultValuedAttr<TT_InputPrecisionAttr, "::mlir::triton::InputPrecision::IEEE">:$inputPrecision,
                       DefaultValuedAttr<I32Attr, "0">:$maxNumImpreciseAcc);
  let results = (outs TT_FpIntTensor:$d);
  let assemblyFormat = [{
    $a `,` $b `,` $c (`,` `inputPrecision` `=` $inputPrecision^)? attr-dict `:`
    type($a) `*` type($b) `->` type($d)
  }];
  let hasVerifier = 1;
}
def TT_DotScaledOp : TT_Op<"dot_scaled", [Pure, AttrSizedOperandSegments,
    TypesMatchWith<"result type matches accumulator", "d", "c", "$_self">]> {
  let summary = "d = (a * scale_a) * (b * scale_b) + c with block scales";
  let description = [{
    C1: rank 2 or 3, all equal, equal batch. C2: unpacked K agrees and unpacked M,
    N match c. C3: scales are MxK/f and NxK/f, f = 16 for f8E4M3FN scales, else 32.
    C4: the packing flags are true except for e2m1.
  }];
  let arguments = (ins RankedTensorOf<[TT_Float, I8]>:$a, RankedTensorOf<[TT_Float, I8]>:$b,
                       TT_FloatTensor:$c, Optional<RankedTensorOf<[TT_Float, I8]>>:$a_scale,
                       Optional<RankedTensorOf<[TT_Float, I8]>>:$b_scale,
                       TT_ScaleDotElemTypeAttr:$a_elem_type, TT_ScaleDotElemTypeAttr:$b_elem_type,
                       BoolAttr:$fastMath, DefaultValuedAttr<BoolAttr, "true">:$lhs_k_pack,
                       DefaultValuedAttr<BoolAttr, "true">:$rhs_k_pack);
  let results = (outs TT_FloatTensor:$d);
  let assemblyFormat = [{
    $a (`scale` $a_scale^)? `,` $b (`scale` $b_scale^)? `,` $c
    `lhs` `=` $a_elem_type `rhs` `=` $b_elem_type attr-dict `:`
    type($a) (`,` type($a_scale)^)? `*` type($b) (`,` type($b_scale)^)? `->` type($d)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Region ops
//===----------------------------------------------------------------------===//

def TT_ReduceOp : TT_Op<"reduce", [Pure, SameOperandsShape, SingleBlock,
                                  DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "reduce tensors along an axis with a combine region";
  let description = [{
    C1: at least one source. C2: axis inside the rank. C3: the block has 2N scalar
    arguments, N accumulated then N incoming, and returns N scalars. A rank-1
    source gives a scalar.
  }];
  let arguments = (ins Variadic<TT_Tensor>:$srcs, I32Attr:$axis);
  let results = (outs Variadic<TT_AnyTT>:$result);
  let regions = (region SizedRegion<1>:$combineOp);
  let builders = [OpBuilder<(ins "ValueRange":$srcs, "int":$axis)>];
  let extraClassDeclaration = [{
    /// The op of a region that is one binary op on the two arguments in order, or null.
    Operation *getSingleCombiner();
  }];
  let hasRegionVerifier = 1;
  let hasVerifier = 1;
}
def TT_ReduceReturnOp : TT_Op<"reduce.return", [HasParent<"ReduceOp">, Pure, Terminator, ReturnLike]> {
  let summary = "results of a combine region";
  let arguments = (ins Variadic<AnyType>:$result);
  let assemblyFormat = "$result attr-dict `:` type($result)";
}
def TT_ScanOp : TT_Op<"scan", [Pure, SameOperandsAndResultShape, SingleBlock,
                              DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "inclusive scan along an axis, from the high end when reverse";
  let description = "C1 to C3: as reduce.";
  let arguments = (ins Variadic<TT_Tensor>:$srcs, I32Attr:$axis, BoolAttr:$reverse);
  let results = (outs Variadic<TT_Tensor>:$result);
  let regions = (region SizedRegion<1>:$combineOp);
  let builders = [OpBuilder<(ins "ValueRange":$srcs, "int":$axis, "bool":$reverse)>];
  let extraClassDeclaration = [{
    /// As ReduceOp::getSingleCombiner.
    Operation *getSingleCombiner();
  }];
  let hasRegionVerifier = 1;
  let hasVerifier = 1;
}
def TT_ScanReturnOp : TT_Op<"scan.return", [HasParent<"ScanOp">, Pure, Terminator, ReturnLike]> {
  let summary = "results of a combine region";
  let arguments = (ins Variadic<AnyType>:$result);
  let assemblyFormat = "$result attr-dict `:` type($result)";
}
def TT_MapElementwiseOp : TT_Op<"map_elementwise", [SameOperandsAndResultShape,
                                                   RecursiveMemoryEffects]> {
  let summary = "a scalar region applied to packs of elements";
  let description = [{
    C1: pack is a positive power of two. C2: the entry block takes `pack`
    consecutive arguments an operand and every return gives `pack` values a result.
    C3: no op inside writes memory.
  }];
  let arguments = (ins Variadic<TT_Tensor>:$srcs, I32Attr:$pack);
  let results = (outs Variadic<TT_Tensor>:$result);
  let regions = (region AnyRegion:$scalarOp);
  let hasRegionVerifier = 1;
  let hasVerifier = 1;
}
def TT_MapElementwiseReturnOp : TT_Op<"map_elementwise.return",
    [HasParent<"MapElementwiseOp">, Pure, Terminator, ReturnLike]> {
  let summary = "results of a map_elementwise region";
  let arguments = (ins Variadic<AnyType>:$result);
  let assemblyFormat = "attr-dict ($result^ `:` type($result))?";
}

//===----------------------------------------------------------------------===//
// Debug
//===----------------------------------------------------------------------===//

def TT_PrintOp : TT_Op<"print", [SameVariadicOperandSize, MemoryEffects<[MemWrite<TT_GlobalMemory>]>]> {
  let summary = "device print";
  let description = "C1: isSigned has one entry an operand.";
  let arguments = (ins StrAttr:$prefix, BoolAttr:$hex, Variadic<TT_AnyTT>:$args,
                       DenseI32ArrayAttr:$isSigned);
  let assemblyFormat = "$prefix attr-dict (`:` $args^ `:` type($args))?";
  let hasVerifier = 1;
}
def TT_AssertOp : TT_Op<"assert", [MemoryEffects<[MemWrite<TT_GlobalMemory>]>]> {
  let summary = "device assertion";
  let arguments = (ins AnyTypeOf<[I1, TT_BoolTensor]>:$condition, StrAttr:$message);
  let assemblyFormat = "$condition `,` $message attr-dict `:` type($condition)";
}

#endif // PITON_COMPILER_DIALECT_TRITON_TRITONOPS_TD
