// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Types of the `tt` dialect and the type constraints its ops use.
#ifndef PITON_COMPILER_DIALECT_TRITON_TRITONTYPES_TD
#define PITON_COMPILER_DIALECT_TRITON_TRITONTYPES_TD

include "compiler/Dialect/Triton/TritonDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinTypeInterfaces.td"

class Triton_Type<string name, string mnem> : TypeDef<Triton_Dialect, name> {
  let mnemonic = mnem;
}

def Triton_PointerType : Triton_Type<"Pointer", "ptr"> {
  let summary = "pointer into global memory, or block pointer when the pointee is a tensor";
  let description = [{
    `!tt.ptr<f32>` addresses one element, `!tt.ptr<tensor<16x32xf16>>` is a block
    pointer. Pointers are 64 bits wide. Address space 1 (global memory) is the
    default and is not printed.
  }];
  let parameters = (ins "Type":$pointeeType, "int":$addressSpace);
  let builders = [TypeBuilderWithInferredContext<(ins "Type":$pointeeType, "int":$addressSpace), [{
    return $_get(pointeeType.getContext(), pointeeType, addressSpace);
  }]>];
  let hasCustomAssemblyFormat = 1;
  let skipDefaultBuilders = 1;
}

def Triton_TensorDescType : Triton_Type<"TensorDesc", "tensordesc"> {
  let summary = "tensor descriptor: base, shape and strides of a tensor read in blocks";
  let parameters = (ins "RankedTensorType":$blockType);
  let builders = [TypeBuilderWithInferredContext<(ins "RankedTensorType":$blockType), [{
    return $_get(blockType.getContext(), blockType);
  }]>];
  let assemblyFormat = "`<` $blockType `>`";
  let extraClassDeclaration = [{
    /// The block type with signed and unsigned integers made signless: the type of
    /// values that are loaded or stored through the descriptor.
    RankedTensorType getSignlessBlockType() const;
  }];
}

// -- constraints (exactly these elements; see the verifier tests) --
def TT_Float : AnyTypeOf<[F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F16, BF16, F32, F64], "float">;
def TT_Int : AnyTypeOf<[I1, I<4>, I8, I16, I32, I64], "integer">;
def TT_Ptr : DialectType<Triton_Dialect, CPred<"::llvm::isa<::mlir::triton::PointerType>($_self)">,
                         "Triton pointer", "::mlir::triton::PointerType">;
def TT_ScalarPtr : Type<And<[TT_Ptr.predicate,
    CPred<"!::llvm::isa<::mlir::RankedTensorType>(::llvm::cast<::mlir::triton::PointerType>($_self).getPointeeType())">]>,
    "pointer to a scalar", "::mlir::triton::PointerType">;
def TT_BlockPtr : DialectType<Triton_Dialect, And<[TT_Ptr.predicate,
    CPred<"::mlir::triton::isBlockPointerPointee(::llvm::cast<::mlir::triton::PointerType>($_self).getPointeeType())">]>,
    "block pointer", "::mlir::triton::PointerType">;
def TT_TensorDesc : DialectType<Triton_Dialect,
    CPred<"::llvm::isa<::mlir::triton::TensorDescType>($_self)">, "tensor descriptor",
    "::mlir::triton::TensorDescType">;

def TT_FloatTensor : RankedTensorOf<[TT_Float]>;
def TT_IntTensor : RankedTensorOf<[TT_Int]>;
def TT_PtrTensor : RankedTensorOf<[TT_Ptr]>;
def TT_BoolTensor : RankedTensorOf<[I1]>;
def TT_FloatLike : AnyTypeOf<[TT_Float, TT_FloatTensor]>;
def TT_IntLike : AnyTypeOf<[TT_Int, TT_IntTensor]>;
def TT_PtrLike : AnyTypeOf<[TT_Ptr, TT_PtrTensor]>;
def TT_BoolLike : AnyTypeOf<[I1, TT_BoolTensor]>;
def TT_I32Like : AnyTypeOf<[I32, RankedTensorOf<[I32]>]>;
def TT_I64Like : AnyTypeOf<[I64, RankedTensorOf<[I64]>]>;
def TT_FpIntTensor : RankedTensorOf<[TT_Float, TT_Int]>;
def TT_Tensor : RankedTensorOf<[TT_Float, TT_Int, TT_Ptr]>;
def TT_AnyTT : AnyTypeOf<[TT_FloatLike, TT_IntLike, TT_PtrLike, TT_BlockPtr]>;

#endif // PITON_COMPILER_DIALECT_TRITON_TRITONTYPES_TD
