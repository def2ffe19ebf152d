// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the parts of the module `shmem._pyshmem` share: addresses as integers, failures as
// exceptions.
#ifndef PITON_PYTHON_NATIVE_SHMEMMODULE_H
#define PITON_PYTHON_NATIVE_SHMEMMODULE_H

#include "piton/shmem.h"

#include <nanobind/nanobind.h>

#include <cstdint>
#include <cstdio>
#include <limits>
#include <stdexcept>
#include <string>

namespace piton::python {

/// An argument that is an integer. Any Python int is taken: one that does not fit is a ValueError
/// that has it and the range, where a conversion that fails says only that an int is no int.
template <typename T> struct Number {
  T value = 0;
  char wrong[48] = ""; ///< its text, if it does not fit

  operator T() const { // also without the interpreter's lock
    if (*wrong)
      throw nanobind::value_error((std::string(wrong) +
                                   " is outside of the range of this argument, " +
                                   std::to_string(std::numeric_limits<T>::min()) + " to " +
                                   std::to_string(std::numeric_limits<T>::max()))
                                      .c_str());
    return value;
  }
};

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

/// Of integers alone, and what has __index__, as nanobind's own conversion.
template <typename T> struct nanobind::detail::type_caster<piton::python::Number<T>> {
  NB_TYPE_CASTER(piton::python::Number<T>, const_name("int"))

  bool from_python(handle source, uint8_t flags, cleanup_list *cleanup) noexcept {
    make_caster<T> plain;
    value.wrong[0] = '\0';
    if (plain.from_python(source, flags, cleanup)) {
      value.value = plain.value;
      return true;
    }
    PyErr_Clear();
    if (!PyLong_Check(source.ptr()))
      return false;
    PyObject *text = PyObject_Str(source.ptr());
    const char *chars = text ? PyUnicode_AsUTF8(text) : nullptr;
    std::snprintf(value.wrong, sizeof(value.wrong), "%s", chars ? chars : "an int");
    Py_XDECREF(text);
    PyErr_Clear();
    return true;
  }
};

#endif // PITON_PYTHON_NATIVE_SHMEMMODULE_H
