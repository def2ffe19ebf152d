// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One compilation from any stage to any stage: reads untrusted text or bytecode, runs
// the passes of Pipeline.h, emits what a back end gives. Tools and the Python module
// are shells over it. Errors are MLIR diagnostics at the user's line.
#ifndef PITON_COMPILER_DRIVER_H
#define PITON_COMPILER_DRIVER_H

#include "compiler/Pipeline.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Support/Timing.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <functional>
#include <optional>
#include <string>

namespace piton {

/// What a compilation can start from or end in, in order. BishengMlir is beside NpuBin:
/// the hand-over module as the real compiler reads it.
enum class Stage { Source, Ttir, TtAdapter, NpuBin, BishengMlir };

/// "source", "ttir", "ttadapter", "npubin", "bisheng-mlir".
llvm::StringRef stageName(Stage stage);
std::optional<Stage> parseStage(llvm::StringRef name);

/// Bounds on input that somebody else wrote. MLIR's parser recurses over brackets, and so
/// does what walks the result, so the depth is bounded before it sees the text.
struct InputLimits {
  size_t bytes = size_t(64) << 20;
  unsigned nesting = 512;
};

struct CompileOptions {
  PipelineOptions pipeline;
  /// Absent: `Source` when the module holds Triton functions, `TtAdapter` otherwise.
  std::optional<Stage> from;
  Stage emit = Stage::NpuBin;
  /// Stop after this pass of the stage that holds it ("cse", or "cse#2" for its second run).
  std::string stopAfter;
  /// The input is what that pass left: start with the next one.
  std::string resumeAfter;
  /// Where a failing or crashing pass leaves its reproducer; empty: nowhere.
  std::string reproducer;
  /// The module after each pass that changed it.
  llvm::raw_ostream *passDump = nullptr;
  /// Called with the text of each stage's result; for npubin with its own steps, down to assembly.
  std::function<void(Stage, llvm::StringRef)> onStage;
  /// Where times of stages and passes go, if anywhere.
  mlir::TimingScope *timing = nullptr;
  bool bytecode = false; ///< emit MLIR stages as bytecode
  bool verifyEach = true;
  std::string hostCpu;      ///< as SimulatorOptions
  std::string hostFeatures; ///< as SimulatorOptions
};

/// Checks size, encoding and nesting of untrusted module text (bytecode: size only).
/// On failure `error` says what was found, where, and the limit.
bool checkInput(llvm::StringRef buffer, const InputLimits &limits, std::string &error);

/// Parses text or bytecode after checkInput; null after an error diagnostic.
mlir::OwningOpRef<mlir::ModuleOp> parseModule(llvm::StringRef buffer, llvm::StringRef name,
                                              mlir::MLIRContext *context,
                                              const InputLimits &limits = {});

/// The passes of one MLIR stage, as `pass-argument{options}` texts in order.
std::vector<std::string> listPasses(Stage stage, const PipelineOptions &options);

/// Runs one MLIR stage (Ttir or TtAdapter) on `module` in place, and checks that only the
/// dialects that may leave the stage are left. Honours stopAfter and resumeAfter.
mlir::LogicalResult runStage(mlir::ModuleOp module, Stage stage, const CompileOptions &options);

/// Compiles `module` (consumed) to `options.emit`; `output` gets text, bytecode or the
/// bytes of an image.
mlir::LogicalResult compile(mlir::ModuleOp module, const CompileOptions &options,
                            std::string &output);

/// Runs `work` on a thread with a stack deep enough for any module within the limits and
/// turns a crash into an error: false, with a message in `error`. For tools: it installs
/// process-wide signal handlers.
bool runGuarded(llvm::function_ref<bool()> work, std::string &error);

} // namespace piton

#endif // PITON_COMPILER_DRIVER_H
