// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Back end for the real Ascend compiler: the hand-over IR without the forms that
// `bishengir-compile` refuses or miscompiles (docs/howto/bisheng.md lists them),
// printed so that its MLIR 19 parser reads it. Running the tool is Python's part
// (python/piton/bisheng.py).
#ifndef PITON_COMPILER_TARGET_BISHENG_H
#define PITON_COMPILER_TARGET_BISHENG_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <memory>
#include <string>

namespace piton {

/// The two compilers in the wheel: A2/A3 (memory-based) and 950 (register-based).
enum class BishengFamily { C220, A5 };

struct BishengOptions {
  std::string target = "Ascend910B3"; ///< SoC name, see abi/HardwareModel.h
  bool lineInfo = true;               ///< print Python locations
};

/// The compiler that builds for this SoC.
BishengFamily bishengFamilyOf(llvm::StringRef target);

#define GEN_PASS_DECL
#include "compiler/Target/BishengPasses.h.inc"

#define GEN_PASS_REGISTRATION
#include "compiler/Target/BishengPasses.h.inc"

/// Legalises a copy of `module` (hand-over IR) for the compiler of the target and
/// gives the text it is to read. Fails with an error on the op that has no accepted
/// form; `module` itself stays as it is.
mlir::LogicalResult printForBisheng(mlir::ModuleOp module, const BishengOptions &options,
                                    std::string &text);

} // namespace piton

#endif // PITON_COMPILER_TARGET_BISHENG_H
