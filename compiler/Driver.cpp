// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From any stage to any stage: see Driver.h. The order of passes is in Pipeline.cpp.
#include "compiler/Driver.h"

#include "compiler/Dialect/Triton/Triton.h"
#include "compiler/Target/Bisheng.h"
#include "compiler/Target/Simulator.h"

#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#define DEBUG_TYPE "piton-driver"

using namespace mlir;
using namespace piton;

//===-- stages -----------------------------------------------------------===//

StringRef piton::stageName(Stage stage) {
  switch (stage) {
  case Stage::Source:
    return "source";
  case Stage::Ttir:
    return "ttir";
  case Stage::TtAdapter:
    return "ttadapter";
  case Stage::NpuBin:
    return "npubin";
  case Stage::BishengMlir:
    return "bisheng-mlir";
  }
  llvm_unreachable("unknown stage");
}

std::optional<Stage> piton::parseStage(StringRef name) {
  for (Stage stage :
       {Stage::Source, Stage::Ttir, Stage::TtAdapter, Stage::NpuBin, Stage::BishengMlir})
    if (name == stageName(stage))
      return stage;
  return std::nullopt;
}

//===-- untrusted text ---------------------------------------------------===//

namespace {
/// Follows brackets outside strings and comments. Anything that makes the parser recurse
/// without a bracket (runs of prefix minus in affine expressions) counts as well.
class NestingScanner {
public:
  explicit NestingScanner(StringRef text) : text(text) {}

  /// The line at which the depth passes `limit`, or 0.
  size_t exceeds(unsigned limit) {
    while (at < text.size()) {
      step();
      if (depth > limit || minuses > limit)
        return line;
    }
    return 0;
  }

private:
  void step() {
    char c = text[at++];
    if (c == '\n')
      ++line;
    if (c == '"')
      return skipString();
    if (c == '/' && at < text.size() && text[at] == '/') {
      at = std::min(text.find('\n', at), text.size());
      return;
    }
    if (c == '-' && at < text.size() && text[at] == '>') { // an arrow closes nothing
      ++at;
      return;
    }
    if ((c == '>' || c == '<') && at < text.size() && text[at] == '=') { // nor a comparison
      ++at;
      return;
    }
    if (c == '-')
      ++minuses;
    else if (!isspace(static_cast<unsigned char>(c)))
      minuses = 0;
    if (StringRef("([{<").contains(c))
      ++depth;
    else if (StringRef(")]}>").contains(c) && depth > 0)
      --depth;
  }

  void skipString() {
    while (at < text.size()) {
      char c = text[at++];
      if (c == '\\' && at < text.size())
        ++at;
      else if (c == '"' || c == '\n')
        return;
    }
  }

  StringRef text;
  size_t at = 0, line = 1;
  unsigned depth = 0, minuses = 0;
};
} // namespace

bool piton::checkInput(StringRef buffer, const InputLimits &limits, std::string &error) {
  llvm::raw_string_ostream os(error);
  if (buffer.size() > limits.bytes) {
    os << "the module is " << buffer.size() << " bytes long, the limit is " << limits.bytes;
    return false;
  }
  if (isBytecode(llvm::MemoryBufferRef(buffer, "")))
    return true;
  if (size_t nul = buffer.find('\0'); nul != StringRef::npos) {
    os << "the module is no text: byte " << nul << " is zero";
    return false;
  }
  if (size_t line = NestingScanner(buffer).exceeds(limits.nesting)) {
    os << "line " << line << " nests brackets deeper than " << limits.nesting
       << ", the limit for a module";
    return false;
  }
  return true;
}

OwningOpRef<ModuleOp> piton::parseModule(StringRef buffer, StringRef name, MLIRContext *context,
                                         const InputLimits &limits) {
  std::string error;
  if (!checkInput(buffer, limits, error)) {
    emitError(FileLineColLoc::get(context, name, 1, 1)) << error;
    return {};
  }
  ParserConfig config(context);
  if (isBytecode(llvm::MemoryBufferRef(buffer, name))) {
    // The reader takes views of the buffer, and wants it aligned: give it one of its own.
    auto copy = llvm::MemoryBuffer::getMemBufferCopy(buffer, name);
    Block block;
    if (failed(readBytecodeFile(*copy, &block, config)))
      return {};
    if (!llvm::hasSingleElement(block) || !isa<ModuleOp>(block.front())) {
      emitError(FileLineColLoc::get(context, name, 1, 1)) << "the bytecode holds no single module";
      return {};
    }
    auto module = cast<ModuleOp>(block.front());
    module->remove();
    return module;
  }
  return parseSourceString<ModuleOp>(buffer, config, name);
}

//===-- passes of a stage ------------------------------------------------===//

static void buildStage(OpPassManager &pm, Stage stage, const PipelineOptions &options) {
  if (stage == Stage::Ttir)
    buildTtirPipeline(pm, options);
  else
    buildTtAdapterPipeline(pm, options);
}

std::vector<std::string> piton::listPasses(Stage stage, const PipelineOptions &options) {
  OpPassManager pm(ModuleOp::getOperationName());
  buildStage(pm, stage, options);
  std::vector<std::string> passes;
  for (Pass &pass : pm.getPasses()) {
    llvm::raw_string_ostream os(passes.emplace_back());
    pass.printAsTextualPipeline(os);
  }
  return passes;
}

/// Position of `name` ("cse" or "cse#2") among `passes`, or nothing.
static std::optional<size_t> findPass(ArrayRef<std::string> passes, StringRef name) {
  auto [argument, count] = name.split('#');
  unsigned wanted = 1;
  if (!count.empty() && (count.getAsInteger(10, wanted) || wanted == 0))
    return std::nullopt;
  for (auto [i, pass] : llvm::enumerate(passes))
    if (StringRef(pass).split('{').first == argument && --wanted == 0)
      return i;
  return std::nullopt;
}

/// The part of a stage that is to run: [first, last).
struct Selection {
  std::vector<std::string> passes;
  size_t first = 0, last = 0;
};

static Selection selectPasses(Stage stage, const CompileOptions &options) {
  Selection selection;
  selection.passes = listPasses(stage, options.pipeline);
  selection.last = selection.passes.size();
  if (auto resume = findPass(selection.passes, options.resumeAfter))
    selection.first = *resume + 1;
  if (auto stop = findPass(selection.passes, options.stopAfter))
    selection.last = *stop + 1;
  return selection;
}

//===-- what may leave a stage -------------------------------------------===//

static LogicalResult checkDialects(ModuleOp module, Stage stage) {
  static const llvm::StringSet<> afterTtir = {
      "builtin", "tt",   "arith",       "math",  "scf",        "ub",     "gpu",    "llvm",
      "ascend",  "hivm", "distributed", "scope", "annotation", "tensor", "hfusion"};
  static const llvm::StringSet<> afterTtAdapter = {
      "builtin", "func",   "arith",  "math",          "scf",  "ub",      "llvm",       "linalg",
      "tensor",  "memref", "affine", "bufferization", "hivm", "hfusion", "annotation", "scope"};
  const llvm::StringSet<> &allowed = stage == Stage::Ttir ? afterTtir : afterTtAdapter;
  WalkResult result = module.walk([&](Operation *op) {
    if (allowed.contains(op->getName().getDialectNamespace()))
      return WalkResult::advance();
    op->emitOpError() << "is left after stage " << stageName(stage)
                      << ", which lowers no such operation";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

//===-- running ----------------------------------------------------------===//

LogicalResult piton::runStage(ModuleOp module, Stage stage, const CompileOptions &options) {
  PassManager pm(module.getContext(), ModuleOp::getOperationName());
  pm.enableVerifier(options.verifyEach);
  bool whole = true;
  if (options.stopAfter.empty() && options.resumeAfter.empty()) {
    buildStage(pm, stage, options.pipeline);
  } else {
    Selection selection = selectPasses(stage, options);
    whole = selection.last == selection.passes.size();
    std::string text;
    if (selection.first < selection.last)
      text = llvm::join(
          ArrayRef(selection.passes).slice(selection.first, selection.last - selection.first), ",");
    if (!text.empty() && failed(parsePassPipeline(text, pm)))
      return module.emitError() << "cannot build the pipeline '" << text << "'";
  }
  if (!options.reproducer.empty())
    pm.enableCrashReproducerGeneration(options.reproducer);
  if (options.passDump)
    pm.enableIRPrinting([](Pass *, Operation *) { return false; },
                        [](Pass *, Operation *) { return true; }, /*printModuleScope=*/true,
                        /*printAfterOnlyOnChange=*/true, /*printAfterOnlyOnFailure=*/false,
                        *options.passDump);
  TimingScope scope;
  if (options.timing) {
    scope = options.timing->nest(stageName(stage));
    pm.enableTiming(scope);
  }
  if (failed(pm.run(module)))
    return failure();
  return whole ? checkDialects(module, stage) : success();
}

static void printModule(ModuleOp module, const CompileOptions &options, std::string &output) {
  llvm::raw_string_ostream os(output);
  if (options.bytecode) {
    (void)writeBytecodeToFile(module, os);
    return;
  }
  module.print(os, OpPrintingFlags().enableDebugInfo(options.pipeline.lineInfo));
}

static Stage detectStage(ModuleOp module) {
  bool triton = false;
  module.walk([&](triton::FuncOp) {
    triton = true;
    return WalkResult::interrupt();
  });
  return triton ? Stage::Source : Stage::TtAdapter;
}

static LogicalResult emitBisheng(ModuleOp module, const CompileOptions &options,
                                 std::string &output) {
  BishengOptions bisheng;
  bisheng.target = options.pipeline.target;
  bisheng.lineInfo = options.pipeline.lineInfo;
  return printForBisheng(module, bisheng, output);
}

static LogicalResult emitSimulator(ModuleOp module, const CompileOptions &options,
                                   std::string &output) {
  SimulatorOptions simulator;
  simulator.target = options.pipeline.target;
  simulator.hostCpu = options.hostCpu;
  simulator.hostFeatures = options.hostFeatures;
  simulator.lineInfo = options.pipeline.lineInfo;
  std::string dump; // what lies between hand-over IR and image
  if (options.onStage)
    simulator.dump = &dump;
  LogicalResult result = emitSimulatorImage(module, simulator, output);
  if (options.onStage)
    options.onStage(Stage::NpuBin, dump);
  return result;
}

/// The MLIR stages that lie between what is there and what is asked for.
static SmallVector<Stage> stagesBetween(Stage from, Stage emit) {
  SmallVector<Stage> stages;
  for (Stage stage : {Stage::Ttir, Stage::TtAdapter})
    if (from < stage && stage <= emit)
      stages.push_back(stage);
  return stages;
}

LogicalResult piton::compile(ModuleOp module, const CompileOptions &options, std::string &output) {
  Stage from = options.from ? *options.from : detectStage(module);
  SmallVector<Stage> stages = stagesBetween(from, options.emit);
  // Resuming inside a stage skips the stages before it.
  if (!options.resumeAfter.empty()) {
    auto holds = [&](Stage stage) {
      return findPass(listPasses(stage, options.pipeline), options.resumeAfter).has_value();
    };
    auto start = llvm::find_if(stages, holds);
    if (start == stages.end())
      return module.emitError() << "no pass '" << options.resumeAfter
                                << "' to resume after (--list-passes shows them)";
    stages.erase(stages.begin(), start);
  }
  bool stopSeen = options.stopAfter.empty();
  CompileOptions stageOptions = options;
  for (Stage stage : stages) {
    bool stopsHere = !options.stopAfter.empty() &&
                     findPass(listPasses(stage, options.pipeline), options.stopAfter);
    stopSeen |= stopsHere;
    if (failed(runStage(module, stage, stageOptions)))
      return failure();
    stageOptions.resumeAfter.clear(); // it spoke of the first stage
    if (options.onStage) {
      std::string text;
      printModule(module, options, text);
      options.onStage(stage, text);
    }
    if (stopsHere) {
      printModule(module, options, output);
      return success();
    }
  }
  if (!stopSeen)
    return module.emitError() << "no pass '" << options.stopAfter
                              << "' to stop after between these stages (--list-passes shows them)";
  TimingScope scope;
  if (options.timing)
    scope = options.timing->nest(stageName(options.emit) == "npubin" ? "npubin" : "print");
  if (options.emit == Stage::NpuBin)
    return emitSimulator(module, options, output);
  if (options.emit == Stage::BishengMlir)
    return emitBisheng(module, options, output);
  printModule(module, options, output);
  return success();
}

bool piton::runGuarded(llvm::function_ref<bool()> work, std::string &error) {
  constexpr unsigned kStackBytes = 256u << 20; // reserved, not committed
  llvm::CrashRecoveryContext::Enable();
  llvm::CrashRecoveryContext recovery;
  bool ok = false;
  if (recovery.RunSafelyOnThread([&] { ok = work(); }, kStackBytes))
    return ok;
  error = "the compiler crashed on this input; please report it with the module";
  return false;
}
