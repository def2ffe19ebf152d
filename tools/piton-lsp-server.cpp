// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Language server for .ttir and .mlir files: completion, hover and diagnostics of
// every dialect of Piton in an editor.
#include "compiler/RegisterDialects.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  piton::registerAllDialects(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
