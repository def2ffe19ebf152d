// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One fuzz input: text or bytecode through the parser and the pipeline up to the
// hand-over IR. Any diagnostic is fine; a crash, a hang or an invalid module is not.
// Linked with libFuzzer by `make fuzz`, and with Replay.cpp in every build.
#include "test/fuzz/TtirFuzzer.h"

#include "compiler/Driver.h"
#include "compiler/RegisterDialects.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>

void piton::fuzzOne(llvm::StringRef input) {
  static const mlir::DialectRegistry registry = [] {
    mlir::DialectRegistry registry;
    registerAllDialects(registry);
    return registry;
  }();
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  mlir::ScopedDiagnosticHandler quiet(&context, [](mlir::Diagnostic &) {});
  InputLimits limits;
  limits.bytes = 1u << 20;
  mlir::OwningOpRef<mlir::ModuleOp> module = parseModule(input, "fuzz", &context, limits);
  if (!module)
    return;
  CompileOptions options;
  options.emit = Stage::TtAdapter;
  std::string output;
  if (mlir::succeeded(compile(*module, options, output)) && mlir::failed(mlir::verify(*module))) {
    std::fputs("the pipeline succeeded with an invalid module\n", stderr);
    std::abort();
  }
}

#ifdef PITON_FUZZ
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  piton::fuzzOne(llvm::StringRef(reinterpret_cast<const char *>(data), size));
  return 0;
}
#endif
