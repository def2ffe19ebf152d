// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Packing of launch arguments. Runs on every launch, so it uses the CPython API
// directly and takes no string apart.
#include "python/native/ArgumentPlan.h"

#include "piton/runtime.h"

#include <nanobind/stl/string.h>

#include <cstring>

namespace nb = nanobind;

namespace piton::python {

namespace {

uint32_t alignTo(uint32_t value, uint32_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

/// Appends a slot of `bytes` to the block and gives its offset.
uint32_t addSlot(ArgumentPlan &plan, uint32_t bytes) {
  uint32_t offset = alignTo(plan.bytes, bytes);
  plan.bytes = offset + bytes;
  return offset;
}

struct ScalarType {
  const char *name;
  ArgumentStep::Kind kind;
  uint8_t bits;
};
constexpr ScalarType kScalars[] = {
    {"i1", ArgumentStep::Bool, 1},
    {"u1", ArgumentStep::Bool, 1},
    {"i8", ArgumentStep::Signed, 8},
    {"i16", ArgumentStep::Signed, 16},
    {"i32", ArgumentStep::Signed, 32},
    {"i64", ArgumentStep::Signed, 64},
    {"u8", ArgumentStep::Unsigned, 8},
    {"u16", ArgumentStep::Unsigned, 16},
    {"u32", ArgumentStep::Unsigned, 32},
    {"u64", ArgumentStep::Unsigned, 64},
    {"fp16", ArgumentStep::Float, 16},
    {"bf16", ArgumentStep::Float, 16},
    {"fp32", ArgumentStep::Float, 32},
    {"f32", ArgumentStep::Float, 32},
    {"fp64", ArgumentStep::Double, 64},
    // As an IR file names them.
    {"f16", ArgumentStep::Float, 16},
    {"f64", ArgumentStep::Double, 64},
};

/// Rank of "tensordesc<fp16[16,64]>": one more than the commas in the brackets.
uint32_t descriptorRank(const std::string &type) {
  size_t open = type.find('['), close = type.rfind(']');
  if (open == std::string::npos || close == std::string::npos || close < open)
    throw nb::type_error(("malformed descriptor type '" + type + "'").c_str());
  uint32_t rank = 1;
  for (size_t i = open; i < close; ++i)
    rank += type[i] == ',';
  return rank;
}

void planLeaf(ArgumentPlan &plan, ArgumentStep &step, const std::string &type) {
  if (type == "constexpr") {
    step.kind = ArgumentStep::Skip;
    return;
  }
  // An IR file spells a descriptor's shape and strides as arguments of their own.
  if (!type.empty() && (type[0] == '*' || type.rfind("!tt.tensordesc", 0) == 0)) {
    step.kind = ArgumentStep::Pointer;
    step.offset = addSlot(plan, 8);
    return;
  }
  if (type.rfind("tensordesc", 0) == 0) {
    step.kind = ArgumentStep::Descriptor;
    step.rank = descriptorRank(type);
    step.offset = addSlot(plan, 8);
    for (uint32_t i = 0; i < step.rank; ++i)
      addSlot(plan, 4);
    for (uint32_t i = 0; i < step.rank; ++i)
      addSlot(plan, 8);
    return;
  }
  for (const ScalarType &scalar : kScalars) {
    if (type != scalar.name)
      continue;
    step.kind = scalar.kind;
    step.bits = scalar.bits;
    step.offset = addSlot(plan, scalar.bits == 64 ? 8 : 4);
    return;
  }
  throw nb::type_error(
      ("argument '" + step.name + "' has type '" + type + "', which no kernel argument can have")
          .c_str());
}

ArgumentStep planEntry(ArgumentPlan &plan, nb::handle entry, uint32_t position,
                       const std::string &name) {
  ArgumentStep step;
  step.position = position;
  step.name = name;
  if (entry.is_none())
    return step;
  if (nb::isinstance<nb::str>(entry)) {
    planLeaf(plan, step, nb::cast<std::string>(nb::str(entry)));
    return step;
  }
  if (!PySequence_Check(entry.ptr()))
    throw nb::type_error(("argument '" + name + "' has no type").c_str());
  step.kind = ArgumentStep::Tuple;
  for (nb::handle element : nb::borrow<nb::sequence>(entry))
    step.nested.push_back(planEntry(plan, element, position, name));
  return step;
}

template <typename T> void put(uint8_t *block, uint32_t offset, T value) {
  std::memcpy(block + offset, &value, sizeof(T));
}

bool failAt(PyObject *type, const ArgumentStep &step, const char *text) {
  PyErr_Format(type, "argument '%s' (at %u): %s", step.name.c_str(), step.position, text);
  return false;
}

/// Notes that an argument lies in memory of `device`.
void noteDevice(piton_device_t *device, const ArgumentStep &step, PackResult &result) {
  result.touchesDevice = true;
  int index = piton_device_index(device);
  if (result.device < 0) {
    result.device = index;
    result.firstDevice = step.position;
  } else if (index != result.device && result.otherDevice < 0) {
    result.otherDevice = index;
    result.firstOther = step.position;
  }
}

/// Where a tensor lies: its address tells for tensors in a device's memory, which costs no look at
/// Python objects, its `device` for the others. Anything that is neither host memory nor a
/// simulated device (a CUDA or meta tensor) cannot be touched by a kernel.
bool checkDevice(PyObject *tensor, const ArgumentStep &step, PackResult &result, void *pointer) {
  piton_device_t *owner = nullptr;
  if (pointer && piton_memory_device(pointer, &owner) == PITON_OK && owner) {
    noteDevice(owner, step, result);
    return true;
  }
  static PyObject *deviceName = PyUnicode_InternFromString("device");
  static PyObject *typeName = PyUnicode_InternFromString("type");
  PyObject *device = PyObject_GetAttr(tensor, deviceName);
  bool onDevice = false;
  if (!device) {
    PyErr_Clear(); // not a torch tensor
  } else {
    PyObject *kind = PyObject_GetAttr(device, typeName);
    Py_DECREF(device);
    if (!kind) {
      PyErr_Clear();
    } else {
      const char *text = PyUnicode_Check(kind) ? PyUnicode_AsUTF8(kind) : nullptr;
      onDevice = text && std::strcmp(text, "npu") == 0;
      bool known = !text || onDevice || std::strcmp(text, "cpu") == 0;
      if (!known)
        PyErr_Format(PyExc_ValueError,
                     "Pointer argument (at %u) cannot be accessed from Triton (%s tensor; the npu "
                     "target takes npu tensors, or cpu tensors only)",
                     step.position, text);
      Py_DECREF(kind);
      if (!known)
        return false;
    }
  }
  if (onDevice) {
    result.touchesDevice = true;
  } else if (!result.touchesHost) {
    result.touchesHost = true;
    result.firstHost = step.position;
  }
  return true;
}

bool packPointer(const ArgumentStep &step, PyObject *value, uint8_t *block, PackResult &result) {
  static PyObject *dataPtr = PyUnicode_InternFromString("data_ptr");
  if (value == Py_None) {
    put<uint64_t>(block, step.offset, 0);
    return true;
  }
  if (PyLong_Check(value)) {
    uint64_t address = PyLong_AsUnsignedLongLong(value);
    if (PyErr_Occurred())
      return false;
    put(block, step.offset, address);
    return true;
  }
  PyObject *address = PyObject_CallMethodNoArgs(value, dataPtr);
  if (!address) {
    if (!PyErr_ExceptionMatches(PyExc_AttributeError))
      return false;
    PyErr_SetString(PyExc_TypeError,
                    "Pointer argument must be either uint64 or have data_ptr method");
    return false;
  }
  if (!PyLong_Check(address)) {
    Py_DECREF(address);
    PyErr_SetString(PyExc_TypeError, "data_ptr method of Pointer object must return 64-bit int");
    return false;
  }
  uint64_t raw = PyLong_AsUnsignedLongLong(address);
  Py_DECREF(address);
  if (PyErr_Occurred()) {
    PyErr_SetString(PyExc_TypeError, "data_ptr method of Pointer object must return 64-bit int");
    return false;
  }
  put(block, step.offset, raw);
  return checkDevice(value, step, result, reinterpret_cast<void *>(raw));
}

/// `value` as a Python int; new reference or null with the error set.
PyObject *asInteger(const ArgumentStep &step, PyObject *value) {
  PyObject *number = PyNumber_Index(value);
  if (!number)
    failAt(PyExc_TypeError, step, "the kernel takes an integer");
  return number;
}

bool packInteger(const ArgumentStep &step, PyObject *value, uint8_t *block) {
  PyObject *number = asInteger(step, value);
  if (!number)
    return false;
  bool fits;
  uint64_t bits;
  if (step.kind == ArgumentStep::Signed) {
    int overflow = 0;
    int64_t v = PyLong_AsLongLongAndOverflow(number, &overflow);
    int64_t limit = step.bits == 64 ? INT64_MAX : (int64_t(1) << (step.bits - 1)) - 1;
    fits = overflow == 0 && v <= limit && v >= -limit - 1;
    bits = static_cast<uint64_t>(v);
  } else {
    bits = PyLong_AsUnsignedLongLong(number);
    fits = !PyErr_Occurred() && (step.bits == 64 || bits >> step.bits == 0);
    PyErr_Clear();
  }
  if (!fits)
    PyErr_Format(PyExc_OverflowError, "argument '%s' (at %u): %R does not fit %s%u",
                 step.name.c_str(), step.position, number,
                 step.kind == ArgumentStep::Signed ? "i" : "u", step.bits);
  Py_DECREF(number);
  if (!fits)
    return false;
  if (step.bits == 64)
    put(block, step.offset, bits);
  else
    put(block, step.offset, static_cast<uint32_t>(bits));
  return true;
}

bool packDescriptorInts(const ArgumentStep &step, PyObject *descriptor, const char *attribute,
                        uint32_t bytes, uint32_t &offset, uint8_t *block) {
  PyObject *list = PyObject_GetAttrString(descriptor, attribute);
  if (!list)
    return false;
  PyObject *fast = PySequence_Fast(list, "a descriptor's shape and strides are sequences");
  Py_DECREF(list);
  if (!fast)
    return false;
  bool ok = PySequence_Fast_GET_SIZE(fast) == static_cast<Py_ssize_t>(step.rank);
  if (!ok)
    failAt(PyExc_ValueError, step, "the descriptor's rank is not the kernel's");
  for (uint32_t i = 0; ok && i < step.rank; ++i) {
    int overflow = 0;
    PyObject *number = asInteger(step, PySequence_Fast_GET_ITEM(fast, i));
    int64_t value = number ? PyLong_AsLongLongAndOverflow(number, &overflow) : 0;
    ok = number && !overflow && (bytes == 8 || value == static_cast<int32_t>(value));
    if (number && !ok)
      failAt(PyExc_OverflowError, step, "an extent of the descriptor does not fit");
    Py_XDECREF(number);
    offset = alignTo(offset, bytes);
    if (bytes == 8)
      put(block, offset, value);
    else
      put(block, offset, static_cast<int32_t>(value));
    offset += bytes;
  }
  Py_DECREF(fast);
  return ok;
}

/// The kernel was compiled for padding with zeros: the descriptor's type, which is all that
/// the compiler sees, does not say how a host descriptor pads.
bool padsWithZero(const ArgumentStep &step, PyObject *descriptor) {
  PyObject *padding = PyObject_GetAttrString(descriptor, "padding");
  if (!padding) {
    PyErr_Clear();
    return true;
  }
  bool nan = PyUnicode_Check(padding) && PyUnicode_CompareWithASCIIString(padding, "nan") == 0;
  Py_DECREF(padding);
  return !nan || failAt(PyExc_NotImplementedError, step,
                        "a host descriptor with padding \"nan\" is not supported; make the "
                        "descriptor in the kernel");
}

bool packDescriptor(const ArgumentStep &step, PyObject *value, uint8_t *block, PackResult &result) {
  PyObject *base = PyObject_GetAttrString(value, "base");
  if (!base)
    return failAt(PyExc_TypeError, step, "the kernel takes a TensorDescriptor");
  bool ok = padsWithZero(step, value) && packPointer(step, base, block, result);
  Py_DECREF(base);
  uint32_t offset = step.offset + 8;
  return ok && packDescriptorInts(step, value, "shape", 4, offset, block) &&
         packDescriptorInts(step, value, "strides", 8, offset, block);
}

bool packSteps(const std::vector<ArgumentStep> &steps, PyObject *const *values, uint8_t *block,
               PackResult &result);

bool packTuple(const ArgumentStep &step, PyObject *value, uint8_t *block, PackResult &result) {
  PyObject *fast = PySequence_Fast(value, "the kernel takes a tuple");
  if (!fast)
    return false;
  bool ok = PySequence_Fast_GET_SIZE(fast) == static_cast<Py_ssize_t>(step.nested.size());
  if (!ok)
    failAt(PyExc_TypeError, step, "the tuple's length is not the kernel's");
  ok = ok && packSteps(step.nested, PySequence_Fast_ITEMS(fast), block, result);
  Py_DECREF(fast);
  return ok;
}

bool packOne(const ArgumentStep &step, PyObject *value, uint8_t *block, PackResult &result) {
  switch (step.kind) {
  case ArgumentStep::Skip:
    return true;
  case ArgumentStep::Pointer:
    return packPointer(step, value, block, result);
  case ArgumentStep::Bool: {
    int truth = PyObject_IsTrue(value);
    put<uint32_t>(block, step.offset, truth == 1);
    return truth >= 0;
  }
  case ArgumentStep::Signed:
  case ArgumentStep::Unsigned:
    return packInteger(step, value, block);
  case ArgumentStep::Float:
  case ArgumentStep::Double: {
    double number = PyFloat_AsDouble(value);
    if (number == -1.0 && PyErr_Occurred())
      return failAt(PyExc_TypeError, step, "the kernel takes a number");
    if (step.kind == ArgumentStep::Float)
      put(block, step.offset, static_cast<float>(number));
    else
      put(block, step.offset, number);
    return true;
  }
  case ArgumentStep::Descriptor:
    return packDescriptor(step, value, block, result);
  case ArgumentStep::Tuple:
    return packTuple(step, value, block, result);
  }
  return false;
}

bool packSteps(const std::vector<ArgumentStep> &steps, PyObject *const *values, uint8_t *block,
               PackResult &result) {
  for (const ArgumentStep &step : steps)
    if (!packOne(step, *values++, block, result))
      return false;
  return true;
}

} // namespace

ArgumentPlan planArguments(nb::sequence signature, nb::sequence names) {
  ArgumentPlan plan;
  uint32_t position = 0;
  for (nb::handle entry : signature) {
    std::string name = nb::cast<std::string>(nb::str(nb::object(names[position])));
    plan.steps.push_back(planEntry(plan, entry, position, name));
    ++position;
  }
  plan.bytes = alignTo(plan.bytes, 8);
  return plan;
}

bool packArguments(const ArgumentPlan &plan, PyObject *args, Py_ssize_t first, uint8_t *block,
                   PackResult &result) {
  Py_ssize_t given = PyTuple_GET_SIZE(args) - first;
  if (given != static_cast<Py_ssize_t>(plan.steps.size())) {
    PyErr_Format(PyExc_TypeError, "the kernel takes %zd arguments, %zd were given",
                 static_cast<Py_ssize_t>(plan.steps.size()), given);
    return false;
  }
  return packSteps(plan.steps, &PyTuple_GET_ITEM(args, 0) + first, block, result);
}

} // namespace piton::python
