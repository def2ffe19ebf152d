// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dialects of Piton: one place that names every dialect a module may hold.
#ifndef PITON_COMPILER_REGISTERDIALECTS_H
#define PITON_COMPILER_REGISTERDIALECTS_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace piton {

/// Registers every dialect of the pipeline, from Triton IR to LLVM IR, and the
/// interfaces (inlining, bufferization, translation) its passes look up.
void registerAllDialects(mlir::DialectRegistry &registry);

/// Registers every pass of Piton and those of MLIR that its pipeline runs.
void registerAllPasses();

} // namespace piton

#endif // PITON_COMPILER_REGISTERDIALECTS_H
