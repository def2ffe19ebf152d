// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The callable that Triton's JIT invokes for every launch, and what both native
// modules of the runtime side share: status codes as Python exceptions.
#ifndef PITON_PYTHON_NATIVE_LAUNCHER_H
#define PITON_PYTHON_NATIVE_LAUNCHER_H

#include "python/native/ArgumentPlan.h"

#include "piton/runtime.h"

namespace piton::python {

/// Sets the Python exception of a failed call: KeyboardInterrupt for an interrupt,
/// ValueError for bad input, MemoryError, NotImplementedError, else RuntimeError. `late`: the error
/// may be one of earlier work; an interrupt is then a RuntimeError unless Python has yet to raise
/// KeyboardInterrupt for it.
void setError(piton_status_t status, bool late = false);

/// Raises through nanobind when `status` is a failure, by setError with `late`.
void check(piton_status_t status);

/// One kernel's launcher.
struct Launcher {
  ArgumentPlan plan;
  piton_kernel_t *checked = nullptr; ///< the kernel the plan was compared with
  size_t argumentBytes = 0;          ///< of that kernel
};

void bindLauncher(nanobind::module_ &m);

} // namespace piton::python

#endif // PITON_PYTHON_NATIVE_LAUNCHER_H
