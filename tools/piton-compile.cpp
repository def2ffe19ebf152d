// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles a Triton IR file, or any later stage, to any stage. Flags only; the work
// is in compiler/Driver.
#include "compiler/Driver.h"
#include "compiler/RegisterDialects.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Support/ToolUtilities.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

using llvm::StringRef;
using piton::Stage;

namespace {

/// Every flag's value. LLVM's own command line is not used: its code generator registers
/// `stop-after` and a few hundred others in the same name space.
struct Flags {
  std::string input = "-", output = "-", emit = "npubin", from, reproducer, target = "Ascend910B3";
  std::string stopAfter, resumeAfter, hostCpu, hostFeatures, discreteMask = "exact";
  std::string autoBlockify = "1";
  bool dump = false, dumpPasses = false, time = false, listPasses = false, bytecode = false;
  bool debugInfo = true, enableLinearize = true, enableSelectAnalysis = true;
  bool enableNd2nz = false, deviceDebug = false, help = false;
};

struct Flag {
  StringRef name, help;
  std::string Flags::*text = nullptr;
  bool Flags::*on = nullptr;
};

constexpr Flag kFlags[] = {
    {"emit", "what to make: ttir, ttadapter, npubin (default) or bisheng-mlir", &Flags::emit},
    {"o", "output file (default: standard output)", &Flags::output},
    {"target", "SoC name (default Ascend910B3)", &Flags::target},
    {"from", "what the input is: source, ttir or ttadapter (default: found out)", &Flags::from},
    {"stop-after", "stop after this pass (cse#2: its second run)", &Flags::stopAfter},
    {"resume-after", "the input is what this pass left", &Flags::resumeAfter},
    {"list-passes", "print the passes of every stage and exit", nullptr, &Flags::listPasses},
    {"dump", "print the result of every stage to standard error", nullptr, &Flags::dump},
    {"dump-passes", "print the module after every pass that changed it", nullptr,
     &Flags::dumpPasses},
    {"time", "print the times of stages and passes", nullptr, &Flags::time},
    {"reproducer",
     "where a failing pass leaves its reproducer (default: <input>.reproducer.mlir in the current "
     "folder; none: nowhere)",
     &Flags::reproducer},
    {"bytecode", "write MLIR stages as bytecode", nullptr, &Flags::bytecode},
    {"g", "print source locations (default true)", nullptr, &Flags::debugInfo},
    {"host-cpu", "CPU to compile the image for (default: this machine's)", &Flags::hostCpu},
    {"host-features", "CPU features of the image", &Flags::hostFeatures},
    {"enable-linearize", "split divisions and remainders of addresses (default true)", nullptr,
     &Flags::enableLinearize},
    {"enable-select-analysis", "follow masks through selects (default true)", nullptr,
     &Flags::enableSelectAnalysis},
    {"enable-nd2nz-on-vector", "convert layouts on the vector core", nullptr, &Flags::enableNd2nz},
    {"discrete-mask", "form of masks that are no box: exact (default) or documented",
     &Flags::discreteMask},
    {"auto-blockify-size", "program instances a block (default 1)", &Flags::autoBlockify},
    {"device-debug", "keep device assertions", nullptr, &Flags::deviceDebug},
    {"help", "print this", nullptr, &Flags::help},
};

} // namespace

static int fail(const llvm::Twine &message) {
  llvm::errs() << "piton-compile: " << message << "\n";
  return 1;
}

static const Flag *findFlag(StringRef name) {
  for (const Flag &flag : kFlags)
    if (flag.name == name)
      return &flag;
  return nullptr;
}

/// Takes --name, --name=value and --name value; false after an error message.
static bool parseFlags(int argc, char **argv, Flags &flags) {
  bool haveInput = false;
  for (int i = 1; i < argc; ++i) {
    StringRef arg = argv[i];
    if (arg == "-" || !arg.starts_with("-")) {
      if (haveInput)
        return fail("more than one input: '" + flags.input + "' and '" + arg + "'"), false;
      flags.input = arg.str();
      haveInput = true;
      continue;
    }
    auto [name, value] = arg.ltrim('-').split('=');
    bool hasValue = arg.contains('=');
    const Flag *flag = findFlag(name);
    if (!flag)
      return fail("unknown flag '" + arg + "' (--help lists them)"), false;
    if (flag->on) {
      if (hasValue && value != "true" && value != "false")
        return fail("'" + arg + "' takes true or false"), false;
      flags.*flag->on = !hasValue || value == "true";
      continue;
    }
    if (!hasValue) {
      if (i + 1 == argc)
        return fail("'" + arg + "' needs a value"), false;
      value = argv[++i];
    }
    flags.*flag->text = value.str();
  }
  return true;
}

static int printHelp() {
  llvm::outs() << "Piton: Triton IR, or any later stage, to any stage\n\n"
                  "  piton-compile k.ttir --emit=npubin -o k.npubin\n\n";
  for (const Flag &flag : kFlags) {
    std::string name = ("--" + flag.name + (flag.text ? "=<..>" : "")).str();
    llvm::outs() << "  " << llvm::left_justify(name, 28) << flag.help << "\n";
  }
  return 0;
}

static std::string reproducerPath(const Flags &flags) {
  if (flags.reproducer == "none")
    return "";
  if (!flags.reproducer.empty())
    return flags.reproducer;
  StringRef stem = flags.input == "-" ? "stdin" : llvm::sys::path::filename(flags.input);
  return (stem + ".reproducer.mlir").str();
}

/// Fills `options` from the flags; false after an error message.
static bool readFlags(const Flags &flags, piton::CompileOptions &options) {
  options.pipeline.target = flags.target;
  options.pipeline.enableLinearize = flags.enableLinearize;
  options.pipeline.discreteMask = flags.discreteMask;
  options.pipeline.enableSelectAnalysis = flags.enableSelectAnalysis;
  options.pipeline.enableNd2nzOnVector = flags.enableNd2nz;
  options.pipeline.debug = flags.deviceDebug;
  options.pipeline.lineInfo = flags.debugInfo;
  options.stopAfter = flags.stopAfter;
  options.resumeAfter = flags.resumeAfter;
  options.reproducer = reproducerPath(flags);
  options.bytecode = flags.bytecode;
  options.hostCpu = flags.hostCpu;
  options.hostFeatures = flags.hostFeatures;
  if (StringRef(flags.autoBlockify).getAsInteger(10, options.pipeline.autoBlockifySize) ||
      options.pipeline.autoBlockifySize < 1)
    return fail("--auto-blockify-size=" + flags.autoBlockify + " is no positive number"), false;
  std::optional<Stage> stage = piton::parseStage(flags.emit);
  if (!stage || *stage == Stage::Source)
    return fail("--emit=" + flags.emit + " is none of ttir, ttadapter, npubin, bisheng-mlir"),
           false;
  options.emit = *stage;
  if (!flags.from.empty()) {
    stage = piton::parseStage(flags.from);
    if (!stage || *stage > Stage::TtAdapter)
      return fail("--from=" + flags.from + " is none of source, ttir, ttadapter"), false;
    options.from = stage;
  }
  if (flags.discreteMask != "exact" && flags.discreteMask != "documented")
    return fail("--discrete-mask=" + flags.discreteMask + " is neither exact nor documented"),
           false;
  return true;
}

static int printPasses(const piton::CompileOptions &options) {
  for (Stage stage : {Stage::Ttir, Stage::TtAdapter}) {
    llvm::outs() << piton::stageName(stage) << ":\n";
    for (const std::string &pass : piton::listPasses(stage, options.pipeline))
      llvm::outs() << "  " << pass << "\n";
  }
  return 0;
}

static bool compileFile(StringRef buffer, const Flags &flags, piton::CompileOptions &options,
                        std::string &output) {
  mlir::DialectRegistry registry;
  piton::registerAllDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  llvm::SourceMgr sources; // lets diagnostics show the user's line where the file is there
  mlir::SourceMgrDiagnosticHandler handler(sources, &context);

  mlir::DefaultTimingManager timing;
  timing.setEnabled(flags.time);
  timing.setDisplayMode(mlir::DefaultTimingManager::DisplayMode::Tree);
  mlir::TimingScope root = timing.getRootScope();
  options.timing = &root;
  mlir::TimingScope parse = root.nest("parse");
  StringRef name = flags.input == "-" ? "<stdin>" : StringRef(flags.input);
  mlir::OwningOpRef<mlir::ModuleOp> module = piton::parseModule(buffer, name, &context);
  parse.stop();
  return module && mlir::succeeded(piton::compile(*module, options, output));
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  piton::registerAllPasses();
  Flags flags;
  piton::CompileOptions options;
  if (!parseFlags(argc, argv, flags) || !readFlags(flags, options))
    return 2;
  if (flags.help)
    return printHelp();
  if (flags.listPasses)
    return printPasses(options);
  if (flags.dump)
    options.onStage = [](Stage stage, StringRef text) {
      llvm::errs() << "// -----// stage " << piton::stageName(stage) << " //----- //\n" << text;
    };
  if (flags.dumpPasses)
    options.passDump = &llvm::errs();

  std::string error, output;
  std::unique_ptr<llvm::MemoryBuffer> buffer = mlir::openInputFile(flags.input, &error);
  if (!buffer)
    return fail(error);
  if (!piton::runGuarded([&] { return compileFile(buffer->getBuffer(), flags, options, output); },
                         error))
    return error.empty() ? 1 : fail(error);
  std::unique_ptr<llvm::ToolOutputFile> file = mlir::openOutputFile(flags.output, &error);
  if (!file)
    return fail(error);
  file->os() << output;
  file->keep();
  return 0;
}
