// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations of the `distributed` dialect. Constraint labels C1, C2 ... reappear in the tests;
// memory effects are in C++ (DistributedDialect.cpp), where the reasons are.
#ifndef PITON_COMPILER_DIALECT_DISTRIBUTED_DISTRIBUTEDOPS_TD
#define PITON_COMPILER_DIALECT_DISTRIBUTED_DISTRIBUTEDOPS_TD

include "compiler/Dialect/Distributed/DistributedDialect.td"
include "compiler/Dialect/Distributed/DistributedEnums.td"
include "compiler/Dialect/Triton/TritonEnums.td"
include "compiler/Dialect/Triton/TritonTypes.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/CommonTypeConstraints.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Distributed_Op<string mnemonic, list<Trait> traits = []>
    : Op<Distributed_Dialect, mnemonic, traits>;

/// Effects are reported from C++.
def Distributed_Effects : DeclareOpInterfaceMethods<MemoryEffectsOpInterface>;

/// Every value of a kernel.
def Distributed_AnyValue : AnyTypeOf<[TT_AnyTT, TT_Tensor]>;

def Distributed_WaitOp : Distributed_Op<"wait", [Distributed_Effects,
    TypesMatchWith<"the value waited for has the type that the barrier pointer points to",
                   "barrierPtr", "waitValue", "::mlir::triton::getPointeeTypeOf($_self)">]> {
  let summary = "wait until signal words of this PE hold a value";
  let description = [{
    Returns once every one of `numBarriers` words, the first at `barrierPtr`, has held
    `waitValue`. On Ascend the words lie 64 bytes apart. Nothing is consumed: the words
    stay as they are and any number of waiters may share them. The token orders what
    must come after (consume_token).
    C1: waitValue has the pointee type of barrierPtr.
  }];
  let arguments = (ins TT_PtrLike:$barrierPtr, TT_IntLike:$numBarriers, TT_Int:$waitValue,
      DefaultValuedAttr<TT_MemSyncScopeAttr, "::mlir::triton::MemSyncScope::GPU">:$scope,
      DefaultValuedAttr<TT_MemSemanticAttr, "::mlir::triton::MemSemantic::ACQUIRE">:$semantic);
  let results = (outs TT_IntLike:$token);
  let assemblyFormat = [{
    $barrierPtr `,` $numBarriers `,` $waitValue `,` `scope` `=` $scope `semantic` `=` $semantic
    attr-dict `:` type($barrierPtr) `,` type($numBarriers) `,` type($waitValue) `->` type($token)
  }];
}

def Distributed_ConsumeTokenOp : Distributed_Op<"consume_token", [Elementwise, Distributed_Effects,
    TypesMatchWith<"the result has the type of the input", "input", "result", "$_self">]> {
  let summary = "a value that exists only after a wait";
  let description = [{
    The input, unchanged; whatever uses the result depends on the wait that made the token.
    C1: the result has the type of the input. C2 (Elementwise): a token that is a tensor
    has the shape of the input.
  }];
  let arguments = (ins AnyTypeOf<[Distributed_AnyValue, TT_TensorDesc]>:$input, TT_IntLike:$token);
  let results = (outs AnyTypeOf<[Distributed_AnyValue, TT_TensorDesc]>:$result);
  let assemblyFormat = [{
    $input `,` $token `,` attr-dict `:` type($input) `,` type($token) `->` type($result)
  }];
}

class Distributed_RankOp<string mnemonic, string text> : Distributed_Op<mnemonic, [Pure]> {
  let summary = text;
  let description = "`axis` is reserved for meshes of devices and has no meaning yet.";
  let arguments = (ins I32:$axis);
  let results = (outs I32:$result);
  let assemblyFormat = "$axis attr-dict `:` type($result)";
}
def Distributed_GetRankOp : Distributed_RankOp<"get_rank", "number of this PE">;
def Distributed_GetNumRanksOp : Distributed_RankOp<"get_num_ranks", "number of PEs in the job">;

def Distributed_SymmAtOp : Distributed_Op<"symm_at", [Distributed_Effects,
    TypesMatchWith<"the remote address has the type of the symmetric one",
                   "symmAddr", "remoteAddr", "$_self">]> {
  let summary = "address of a symmetric object on another PE";
  let description = [{
    `symmAddr` points into this PE's symmetric heap; the result is the address of the same
    object of PE `rank`, to load from and store to.
  }];
  let arguments = (ins TT_Ptr:$symmAddr, I32:$rank);
  let results = (outs TT_Ptr:$remoteAddr);
  let assemblyFormat = "$symmAddr `,` $rank `,` attr-dict `:` qualified(type($symmAddr))";
}

def Distributed_NotifyOp : Distributed_Op<"notify", [Distributed_Effects]> {
  let summary = "set or raise a signal word of another PE";
  let description = [{
    `sigAddr` is the word's address on this PE; the word of PE `rank` is changed. Stores that
    come before are visible to whoever sees the signal. The value is always an i64, whatever
    the width of the word.
  }];
  let arguments = (ins TT_Ptr:$sigAddr, I64:$signalVal, I32:$rank,
                       Distributed_SignalOpAttr:$sigOp, Distributed_CommScopeAttr:$commScope);
}

def Distributed_ExternCallOp : Distributed_Op<"extern_call", [Distributed_Effects,
    DeclareOpInterfaceMethods<ConditionallySpeculatable>]> {
  let summary = "call of a communication library's device function";
  let arguments = (ins Variadic<Distributed_AnyValue>:$srcs, StrAttr:$libname, StrAttr:$libpath,
                       StrAttr:$symbol, BoolAttr:$pure);
  let results = (outs Variadic<Distributed_AnyValue>:$result);
  let assemblyFormat = "$srcs attr-dict `:` functional-type($srcs, $result)";
}

#endif // PITON_COMPILER_DIALECT_DISTRIBUTED_DISTRIBUTEDOPS_TD
