// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Simulator back end, `fast` mode: hand-over IR -> native code for this host ->
// kernel image.
#ifndef PITON_COMPILER_TARGET_SIMULATOR_H
#define PITON_COMPILER_TARGET_SIMULATOR_H

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <utility>
#include <vector>

namespace piton {

struct SimulatorOptions {
  std::string target = "Ascend910B3"; ///< SoC the image is labelled with
  std::string hostCpu;                ///< empty: this machine's CPU
  std::string hostFeatures;           ///< empty: this machine's features
  bool lineInfo = true;
  /// Text of intermediate forms is appended here when not null: "bufferized", "llvm", "asm".
  std::string *dump = nullptr;
  /// Milliseconds of processor time per step are appended here when not null.
  std::vector<std::pair<std::string, double>> *times = nullptr;
};

/// Consumes `module` (hand-over IR with one kernel) and gives the bytes of a kernel
/// image. Errors are emitted on the op that cannot be compiled.
mlir::LogicalResult emitSimulatorImage(mlir::ModuleOp module, const SimulatorOptions &options,
                                       std::string &image);

} // namespace piton

#endif // PITON_COMPILER_TARGET_SIMULATOR_H
