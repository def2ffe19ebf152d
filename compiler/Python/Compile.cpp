// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compilation stages as Python functions: thin shells over Driver.h. They release
// the GIL, and raise MLIRCompilationError with the user's line.
#include "compiler/Python/IR.h"

#include "abi/KernelImage.h"
#include "compiler/Driver.h"
#include "compiler/Target/SimulatorCodegen.h"

#include "mlir/Support/Timing.h"
#include "llvm/Support/raw_ostream.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <cstdlib>

namespace nb = nanobind;
using namespace mlir;

namespace piton::python {

namespace {

/// Options by the names of NPUOptions; anything the object lacks keeps its default.
PipelineOptions readOptions(nb::handle options) {
  PipelineOptions out;
  auto read = [&](const char *name, auto &field) {
    nb::object value = nb::getattr(options, name, nb::none());
    if (!value.is_none())
      field = nb::cast<std::remove_reference_t<decltype(field)>>(value);
  };
  read("arch", out.target);
  read("enable_linearize", out.enableLinearize);
  read("discrete_mask", out.discreteMask);
  read("enable_select_analysis", out.enableSelectAnalysis);
  read("enable_nd2nz_on_vector", out.enableNd2nzOnVector);
  read("debug", out.debug);
  read("auto_blockify_size", out.autoBlockifySize);
  out.lineInfo = !environmentFlag("TRITON_DISABLE_LINE_INFO");
  return out;
}

/// What stock's environment variables ask of a compilation.
struct Environment {
  explicit Environment(CompileOptions &options) {
    if (const char *path = std::getenv("TRITON_REPRODUCER_PATH"))
      options.reproducer = path;
    if (environmentFlag("MLIR_ENABLE_DUMP"))
      options.passDump = &llvm::errs();
    if (environmentFlag("MLIR_ENABLE_TIMING")) {
      timing.setEnabled(true);
      scope = timing.getRootScope();
      options.timing = &scope;
    }
  }
  DefaultTimingManager timing;
  TimingScope scope;
};

void runMlirStage(Module &module, nb::handle options, Stage stage) {
  CompileOptions parsed;
  parsed.pipeline = readOptions(options);
  std::string report;
  bool ok;
  {
    nb::gil_scoped_release released;
    Environment environment(parsed);
    Diagnostics diagnostics(module.op->getContext());
    ok = succeeded(runStage(module.get(), stage, parsed));
    report = diagnostics.text();
  }
  if (!ok)
    raiseCompilationError(stageName(stage).str(), report);
}

Module parse(const std::string &text, std::shared_ptr<Context> context, const std::string &name) {
  Module out;
  out.owner = context;
  std::string report;
  OwningOpRef<ModuleOp> module;
  {
    nb::gil_scoped_release released;
    context->loadDialects();
    Diagnostics diagnostics(&context->mlir);
    module = parseModule(text, name, &context->mlir);
    report = diagnostics.text();
  }
  if (!module)
    raiseCompilationError("parse", report);
  out.op = module->getOperation();
  context->modules.push_back(std::move(module));
  return out;
}

Module parseFile(const std::string &path, std::shared_ptr<Context> context) {
  // Python reads the file: its errors are the ones that users know.
  nb::object file = nb::module_::import_("pathlib").attr("Path")(path);
  nb::bytes content = nb::cast<nb::bytes>(file.attr("read_bytes")());
  return parse(std::string(content.c_str(), content.size()), context, path);
}

nb::dict describeImage(const std::string &image) {
  KernelMetadata metadata;
  std::string_view elf;
  std::string error;
  if (!readKernelImage(image, metadata, elf, error))
    throw nb::value_error(error.c_str());
  nb::dict out;
  out["name"] = metadata.name;
  out["target"] = metadata.target;
  out["host_cpu"] = metadata.hostCpu;
  out["host_features"] = metadata.hostFeatures;
  out["mix_mode"] = metadata.mixMode;
  out["parallel_mode"] = metadata.parallelMode;
  out["workspace_size"] = metadata.workspaceBytes;
  out["lock_num"] = metadata.lockWords;
  nb::list kinds;
  for (const KernelArgument &argument : metadata.arguments)
    if (argument.type == ElementType::Pointer)
      kinds.append(argument.tensorKind);
  out["tensor_kinds"] = kinds;
  return out;
}

/// Hand-over IR, as module or text, to what `emit` names.
std::string emitFinal(nb::handle input, nb::handle options, Stage emit) {
  Module module;
  if (nb::isinstance<nb::str>(input))
    module = parse(nb::cast<std::string>(input), std::make_shared<Context>(), "<ttadapter>");
  else
    module = nb::cast<Module>(input);
  CompileOptions parsed;
  parsed.pipeline = readOptions(options);
  parsed.from = Stage::TtAdapter;
  parsed.emit = emit;
  std::string report, output;
  bool ok;
  {
    nb::gil_scoped_release released;
    Environment environment(parsed);
    Diagnostics diagnostics(module.op->getContext());
    ok = succeeded(compile(module.get(), parsed, output));
    report = diagnostics.text();
  }
  if (!ok)
    raiseCompilationError("npubin", report);
  return output;
}

} // namespace

void bindCompile(nb::module_ &m) {
  m.def("parse_mlir_module", parseFile, nb::arg("path"), nb::arg("context"));
  m.def("parse_mlir_text", parse, nb::arg("text"), nb::arg("context"), nb::arg("name") = "<text>");
  m.def(
      "run_ttir",
      [](Module &module, nb::handle options) { runMlirStage(module, options, Stage::Ttir); },
      nb::arg("module"), nb::arg("options"), "Optimises Triton IR in place.");
  m.def(
      "run_ttadapter",
      [](Module &module, nb::handle options) { runMlirStage(module, options, Stage::TtAdapter); },
      nb::arg("module"), nb::arg("options"), "Lowers Triton IR to the hand-over IR in place.");
  m.def(
      "emit_image",
      [](nb::handle input, nb::handle options) {
        std::string image = emitFinal(input, options, Stage::NpuBin);
        return nb::bytes(image.data(), image.size());
      },
      nb::arg("module"), nb::arg("options"), "Hand-over IR (module or text) to a kernel image.");
  m.def(
      "emit_bisheng_mlir",
      [](nb::handle input, nb::handle options) {
        return emitFinal(input, options, Stage::BishengMlir);
      },
      nb::arg("module"), nb::arg("options"),
      "Hand-over IR (module or text) as the real compiler reads it.");
  m.def(
      "codegen_cpu",
      [] {
        llvm::Expected<CodegenCpu> cpu = resolveCpu("", "");
        if (!cpu)
          throw nb::value_error(llvm::toString(cpu.takeError()).c_str());
        return cpu->name + " " + cpu->features;
      },
      "The CPU that images are made for (PITON_HOST_CPU, else this machine's): name and\n"
      "features. Raises ValueError when there is no such CPU or it is too old.");
  m.def(
      "describe_image",
      [](nb::bytes image) { return describeImage(std::string(image.c_str(), image.size())); },
      nb::arg("image"), "What the metadata of a kernel image says, as a dict.");
}

} // namespace piton::python
