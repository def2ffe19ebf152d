// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `scope` dialect: regions bound to a core type. Text of AscendNPU IR; see
// docs/dialects/scope.md.
#ifndef PITON_COMPILER_DIALECT_SCOPE_SCOPEOPS_TD
#define PITON_COMPILER_DIALECT_SCOPE_SCOPEOPS_TD

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Scope_Dialect : Dialect {
  let name = "scope";
  let cppNamespace = "::mlir::scope";
  let summary = "regions bound to a core type";
}

def Scope_ScopeOp : Op<Scope_Dialect, "scope", [
    DeclareOpInterfaceMethods<RegionBranchOpInterface>, RecursiveMemoryEffects,
    SingleBlock, AutomaticAllocationScope]> {
  let summary = "a region whose ops run on one kind of core";
  let description = [{
    Which core, and how the region may be treated, are discardable attributes
    (`hivm.tcore_type`, `no_inline`). C1: the region has no arguments. C2: the types
    returned are the results'.
  }];
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$region);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
}

def Scope_ReturnOp : Op<Scope_Dialect, "return", [
    HasParent<"ScopeOp">, Pure, ReturnLike, Terminator]> {
  let summary = "results of a scope";
  let arguments = (ins Variadic<AnyType>:$results);
  let assemblyFormat = "attr-dict ($results^ `:` type($results))?";
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ValueRange()); }]>];
}

#endif // PITON_COMPILER_DIALECT_SCOPE_SCOPEOPS_TD
