// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compiler as an ordered list of stages and passes. Pipeline.cpp is the table
// of contents: it says which pass runs when, and why there.
#ifndef PITON_COMPILER_PIPELINE_H
#define PITON_COMPILER_PIPELINE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

#include <string>

namespace piton {

/// Everything that chooses passes or changes what they emit. Part of the cache key.
struct PipelineOptions {
  std::string target = "Ascend910B3"; ///< SoC name, see abi/HardwareModel.h
  bool enableLinearize = true;        ///< div/mod splitting of triton-to-structured
  std::string discreteMask = "exact"; ///< exact | documented, docs/departures.md
  bool enableSelectAnalysis = true;
  bool enableNd2nzOnVector = false;
  bool debug = false; ///< keep device asserts
  int autoBlockifySize = 1;
  bool lineInfo = true;
};

/// Stage ttir: Triton IR to smaller Triton IR.
void buildTtirPipeline(mlir::OpPassManager &pm, const PipelineOptions &options);
/// Stage ttadapter: Triton IR to the hand-over IR (Linalg, MemRef, Tensor, SCF, hivm, hfusion).
void buildTtAdapterPipeline(mlir::OpPassManager &pm, const PipelineOptions &options);

/// Upstream's canonicalizer without the fold that turns a constant negative offset of
/// memref.reinterpret_cast into a static one, which its verifier refuses. Every
/// canonicalization behind triton-to-linalg uses this.
std::unique_ptr<mlir::Pass> createMemorySafeCanonicalizerPass();

} // namespace piton

#endif // PITON_COMPILER_PIPELINE_H
