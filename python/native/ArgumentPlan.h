// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a kernel's Python arguments become the packed block of abi/KernelAbi.h: one
// step an argument, computed once from the signature that Triton derived.
#ifndef PITON_PYTHON_NATIVE_ARGUMENTPLAN_H
#define PITON_PYTHON_NATIVE_ARGUMENTPLAN_H

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <vector>

namespace piton::python {

/// One entry of a signature.
struct ArgumentStep {
  enum Kind : uint8_t {
    Skip,       ///< constexpr: baked into the kernel
    Pointer,    ///< int address, None, or an object with data_ptr()
    Bool,       ///< 4 bytes, 0 or 1
    Signed,     ///< i8 .. i64
    Unsigned,   ///< u8 .. u64
    Float,      ///< fp16, bf16, fp32: travels as float
    Double,     ///< fp64
    Descriptor, ///< host TensorDescriptor: pointer, rank x i32 shape, rank x i64 strides
    Tuple       ///< elements in `nested`
  };
  Kind kind = Skip;
  uint8_t bits = 0;      ///< Signed, Unsigned: value range
  uint32_t offset = 0;   ///< Descriptor: of the pointer
  uint32_t rank = 0;     ///< Descriptor
  uint32_t position = 0; ///< index of the top-level argument, for messages
  std::string name;
  std::vector<ArgumentStep> nested;
};

/// Steps in the order of the bound arguments, and the size of the block.
struct ArgumentPlan {
  std::vector<ArgumentStep> steps;
  uint32_t bytes = 0;
};

/// Plan of `signature`, a sequence of type strings and nested tuples; `names` has one
/// string an entry. Raises TypeError for a type that no kernel argument can have.
ArgumentPlan planArguments(nanobind::sequence signature, nanobind::sequence names);

/// What packing found out about the pointers.
struct PackResult {
  bool touchesHost = false;   ///< some tensor lies in host memory
  bool touchesDevice = false; ///< some tensor lies in memory of a simulated device
  uint32_t firstHost = 0;     ///< position of the first host tensor
  int device = -1;            ///< of the first device tensor with memory; -1 if there is none
  uint32_t firstDevice = 0;   ///< its position
  int otherDevice = -1;       ///< of a tensor on another device than the first
  uint32_t firstOther = 0;    ///< its position
};

/// Packs `args` (a tuple, from index `first` on) into `block` of plan.bytes bytes.
/// Returns false with a Python error set.
bool packArguments(const ArgumentPlan &plan, PyObject *args, Py_ssize_t first, uint8_t *block,
                   PackResult &result);

} // namespace piton::python

#endif // PITON_PYTHON_NATIVE_ARGUMENTPLAN_H
