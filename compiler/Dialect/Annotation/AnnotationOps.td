// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `annotation` dialect: marks that hand hints about a value to later passes and
// to the NPU compiler. Text of AscendNPU IR; see docs/dialects/annotation.md.
#ifndef PITON_COMPILER_DIALECT_ANNOTATION_ANNOTATIONOPS_TD
#define PITON_COMPILER_DIALECT_ANNOTATION_ANNOTATIONOPS_TD

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Annotation_Dialect : Dialect {
  let name = "annotation";
  let cppNamespace = "::mlir::annotation";
  let summary = "hints on values";
}

def Annotation_MarkOp : Op<Annotation_Dialect, "mark",
    [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "attach hints to a value";
  let description = [{
    Static hints are discardable attributes; hints whose value is known at run time
    are pairs of `keys` and `values`. `effects` says how the mark counts for memory
    effects, `["write"]` when absent, so that a mark is never dead.
    C1: as many keys as values. C2: an effect is "read" or "write".
  }];
  let arguments = (ins AnyType:$src, Variadic<AnyType>:$values,
                       OptionalAttr<StrArrayAttr>:$keys, OptionalAttr<StrArrayAttr>:$effects);
  let assemblyFormat = [{
    $src attr-dict (`keys` `=` $keys^ `values` `=` `[` $values `:` type($values) `]`)?
    `:` type($src)
  }];
  let builders = [OpBuilder<(ins "Value":$src, CArg<"ArrayRef<NamedAttribute>", "{}">:$hints)>];
  let hasVerifier = 1;
}

#endif // PITON_COMPILER_DIALECT_ANNOTATION_ANNOTATIONOPS_TD
