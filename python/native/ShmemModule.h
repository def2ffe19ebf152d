// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the parts of the module `shmem._pyshmem` share: addresses as integers, failures as
// exceptions.
#ifndef PITON_PYTHON_NATIVE_SHMEMMODULE_H
#define PITON_PYTHON_NATIVE_SHMEMMODULE_H

#include "piton/shmem.h"

#include <nanobind/nanobind.h>

#include <cstdint>
#include <stdexcept>

namespace piton::python {

using Address = uintptr_t;
template <typename T = void> T *pointer(Address address) { return reinterpret_cast<T *>(address); }

//===-- Errors ------------------------------------------------------------------------------===//

/// Raises the reason of the last failed call of this thread; Ctrl-C wins over it.
[[noreturn]] inline void raiseLast() {
  if (PyErr_CheckSignals() != 0)
    throw nanobind::python_error();
  throw std::runtime_error(piton_last_error());
}

/// Calls `body` without the interpreter's lock and raises if it reports a failure.
template <typename Body> void checked(Body &&body) {
  int status;
  {
    nanobind::gil_scoped_release released;
    aclshmemx_clear_status();
    body();
    status = aclshmemx_last_status();
  }
  if (status != ACLSHMEM_SUCCESS)
    raiseLast();
}

template <typename Body> Address checkedAddress(Body &&body) {
  void *out;
  {
    nanobind::gil_scoped_release released;
    out = body();
  }
  if (!out)
    raiseLast();
  return reinterpret_cast<Address>(out);
}

template <typename Body> int withoutLock(Body &&body) {
  nanobind::gil_scoped_release released;
  return body();
}

/// Binds the typed wait and test families (ShmemWaits.cpp).
void bindWaits(nanobind::module_ &m);

} // namespace piton::python

#endif // PITON_PYTHON_NATIVE_SHMEMMODULE_H
