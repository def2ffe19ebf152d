// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Precompiled header of the Python module.
#include "compiler/Dialect/Triton/Triton.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Verifier.h"
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
