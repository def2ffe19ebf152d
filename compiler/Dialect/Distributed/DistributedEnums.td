// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Enumerations of the `distributed` dialect: signless i32 attributes whose values are part of the
// text contract with Triton-distributed.
#ifndef PITON_COMPILER_DIALECT_DISTRIBUTED_DISTRIBUTEDENUMS_TD
#define PITON_COMPILER_DIALECT_DISTRIBUTED_DISTRIBUTEDENUMS_TD

include "mlir/IR/EnumAttr.td"

class Distributed_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::mlir::triton::distributed";
}

def Distributed_SignalOpAttr : Distributed_Enum<"SignalOp", "what a signal does to its word", [
  I32EnumAttrCase<"SET", 1, "set">, I32EnumAttrCase<"ADD", 2, "add">]>;
def Distributed_CommScopeAttr : Distributed_Enum<"CommScope", "how far away the peer may be", [
  I32EnumAttrCase<"GPU", 1, "gpu">, I32EnumAttrCase<"INTRA_NODE", 2, "intra_node">,
  I32EnumAttrCase<"INTER_NODE", 3, "inter_node">]>;

#endif // PITON_COMPILER_DIALECT_DISTRIBUTED_DISTRIBUTEDENUMS_TD
