// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Entry point of the Python module `_piton`. All of MLIR and LLVM is linked in and
// hidden (exports.map), because torch and triton bring their own into the process.
#include "compiler/HostSignals.h"
#include "compiler/Python/IR.h"

namespace nb = nanobind;

NB_MODULE(_piton, m) {
  m.doc() = "Piton's compiler: IR builder of the Triton front end and the compilation stages";
  // Handles may outlive the interpreter's last collection; that is no leak of ours.
  nb::set_leak_warnings(false);
  piton::enableRecoveryWithoutHandlers();
  piton::python::bindIR(m);
  piton::python::bindCompile(m);
  piton::python::bindBisheng(m);
}
