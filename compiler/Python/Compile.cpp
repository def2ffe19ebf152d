// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compilation stages as Python functions: thin shells over Pipeline.h and
// Target/. They release the GIL, and raise MLIRCompilationError with the user's line.
#include "compiler/Python/IR.h"

#include "compiler/Pipeline.h"

#include "mlir/Pass/PassManager.h"

#include <nanobind/stl/string.h>

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
  read("line_info", out.lineInfo);
  return out;
}

/// Runs `build`'s passes on a module in place, without the GIL.
void runStage(const char *stage, Module &module,
              void (*build)(OpPassManager &, const PipelineOptions &), nb::handle options) {
  PipelineOptions parsed = readOptions(options);
  std::string report;
  bool ok;
  {
    nb::gil_scoped_release released;
    Diagnostics diagnostics(module.op->getContext());
    PassManager pm(module.op->getContext(), ModuleOp::getOperationName());
    build(pm, parsed);
    ok = succeeded(pm.run(module.op));
    report = diagnostics.text();
  }
  if (!ok)
    raiseCompilationError(stage, report);
}

} // namespace

void bindCompile(nb::module_ &m) {
  m.def(
      "run_ttir",
      [](Module &module, nb::handle options) {
        runStage("ttir", module, buildTtirPipeline, options);
      },
      nb::arg("module"), nb::arg("options"), "Optimises Triton IR in place.");
  m.def(
      "run_ttadapter",
      [](Module &module, nb::handle options) {
        runStage("ttadapter", module, buildTtAdapterPipeline, options);
      },
      nb::arg("module"), nb::arg("options"), "Lowers Triton IR to the hand-over IR in place.");
}

} // namespace piton::python
