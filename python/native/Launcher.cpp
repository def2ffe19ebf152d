// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A warm launch is a few microseconds, so the call goes through tp_call on the tuple
// that the JIT has already built, and nothing is looked up by name.
#include "python/native/Launcher.h"

#include <nanobind/stl/string.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace nb = nanobind;

namespace piton::python {

namespace {

/// Positions in the call that stock's JIT makes.
enum CallArgument {
  GridX,
  GridY,
  GridZ,
  StreamHandle,
  FunctionHandle,
  PackedMetadata,
  LaunchMetadata,
  EnterHook,
  ExitHook,
  FirstKernelArgument
};

/// When set, a launch with cpu tensors is refused, as on hardware.
std::atomic<bool> refuseHostTensors{false};

template <typename T> bool readHandle(PyObject *value, const char *what, T *&out) {
  if (value == Py_None) {
    out = nullptr;
    return true;
  }
  void *raw = PyLong_AsVoidPtr(value);
  if (!raw && PyErr_Occurred()) {
    PyErr_Format(PyExc_TypeError, "%s must be an integer handle, not %R", what, value);
    return false;
  }
  out = static_cast<T *>(raw);
  return true;
}

bool readGrid(PyObject *args, uint32_t grid[3]) {
  static const char *const axes[] = {"x", "y", "z"};
  for (int i = 0; i < 3; ++i) {
    PyObject *value = PyTuple_GET_ITEM(args, i);
    PyObject *number = PyNumber_Index(value);
    if (!number) {
      PyErr_Format(PyExc_TypeError, "grid dimension %s must be an integer, not %R", axes[i], value);
      return false;
    }
    int overflow = 0;
    int64_t extent = PyLong_AsLongLongAndOverflow(number, &overflow);
    Py_DECREF(number);
    if (overflow || extent < 0 || extent > INT32_MAX) {
      PyErr_Format(PyExc_ValueError, "grid dimension %s is %R; it takes 0 .. 2147483647", axes[i],
                   value);
      return false;
    }
    grid[i] = static_cast<uint32_t>(extent);
  }
  return true;
}

bool callHook(PyObject *hook, PyObject *metadata) {
  if (hook == Py_None)
    return true;
  PyObject *result = PyObject_CallOneArg(hook, metadata);
  Py_XDECREF(result);
  return result != nullptr;
}

void collectSlots(const std::vector<ArgumentStep> &steps, std::vector<const ArgumentStep *> &out) {
  for (const ArgumentStep &step : steps) {
    if (step.kind == ArgumentStep::Tuple)
      collectSlots(step.nested, out);
    else if (step.kind != ArgumentStep::Skip)
      out.push_back(&step);
  }
}

/// Compares the plan with what the kernel image says, once a kernel: a plan that
/// disagrees would hand the kernel shifted arguments.
bool checkPlan(Launcher &self, piton_kernel_t *kernel) {
  piton_kernel_properties_t properties;
  piton_status_t status = piton_kernel_properties(kernel, &properties);
  if (status != PITON_OK) {
    setError(status);
    return false;
  }
  std::vector<const ArgumentStep *> slots;
  collectSlots(self.plan.steps, slots);
  uint32_t index = 0;
  auto matches = [&](uint32_t offset, uint32_t bytes) {
    piton_argument_t argument;
    return index < properties.argument_count &&
           piton_kernel_argument(kernel, index++, &argument) == PITON_OK &&
           argument.offset == offset && argument.slot_bytes == bytes;
  };
  bool same = true;
  for (const ArgumentStep *step : slots) {
    bool wide = step->kind == ArgumentStep::Pointer || step->kind == ArgumentStep::Double ||
                step->kind == ArgumentStep::Descriptor || step->bits == 64;
    same = same && matches(step->offset, wide ? 8 : 4);
    if (step->kind != ArgumentStep::Descriptor)
      continue;
    uint32_t offset = step->offset + 8;
    for (uint32_t i = 0; i < step->rank; ++i, offset += 4)
      same = same && matches(offset, 4);
    offset = (offset + 7) / 8 * 8;
    for (uint32_t i = 0; i < step->rank; ++i, offset += 8)
      same = same && matches(offset, 8);
  }
  if (!same || index != properties.argument_count || properties.argument_bytes > self.plan.bytes) {
    PyErr_Format(PyExc_RuntimeError,
                 "kernel '%s' was compiled for other arguments than it is launched with "
                 "(its image has %u arguments in %llu bytes)",
                 properties.name, properties.argument_count,
                 static_cast<unsigned long long>(properties.argument_bytes));
    return false;
  }
  self.checked = kernel;
  self.argumentBytes = properties.argument_bytes;
  return true;
}

bool checkTensors(const PackResult &tensors) {
  bool mixed = tensors.touchesHost && tensors.touchesDevice;
  if (!mixed && !(tensors.touchesHost && refuseHostTensors.load(std::memory_order_relaxed)))
    return true;
  PyErr_Format(PyExc_ValueError,
               "Pointer argument (at %u) cannot be accessed from Triton (cpu tensor?)",
               tensors.firstHost);
  return false;
}

/// The stream of a launch. A null handle is the default stream of the current device; a launch that
/// only touches host memory needs no place in the current stream's order and keeps a null handle.
bool chooseStream(const PackResult &tensors, piton_stream_t *&stream) {
  piton_stream_t *current = nullptr;
  piton_status_t status = PITON_OK;
  if (!tensors.touchesDevice) {
    if (!tensors.touchesHost || !stream)
      return true;
    status = piton_stream_current(piton_device_index(piton_stream_device(stream)), &current);
    if (status == PITON_OK && current == stream)
      stream = nullptr;
  } else if (!stream) {
    status = piton_stream_current(piton_device_current(), &stream);
  }
  if (status != PITON_OK)
    setError(status);
  return status == PITON_OK;
}

/// Every device tensor must lie on the device that the stream belongs to.
bool checkDevices(const PackResult &tensors, piton_stream_t *stream) {
  if (tensors.device < 0)
    return true;
  int launch = piton_device_index(piton_stream_device(stream));
  bool first = tensors.device != launch;
  if (!first && tensors.otherDevice < 0)
    return true;
  int device = first ? tensors.device : tensors.otherDevice;
  PyErr_Format(
      PyExc_ValueError,
      "Pointer argument (at %u) is on npu:%d, but the launch is on npu:%d; launch it under "
      "`with torch.npu.device(%d)`, or move the tensor",
      first ? tensors.firstDevice : tensors.firstOther, device, launch, device);
  return false;
}

bool launch(Launcher &self, PyObject *args) {
  uint32_t grid[3];
  piton_stream_t *stream;
  piton_kernel_t *kernel;
  if (!readGrid(args, grid) ||
      !readHandle(PyTuple_GET_ITEM(args, StreamHandle), "stream", stream) ||
      !readHandle(PyTuple_GET_ITEM(args, FunctionHandle), "function", kernel))
    return false;
  if (self.checked != kernel && !checkPlan(self, kernel))
    return false;

  alignas(8) uint8_t small[512];
  std::vector<uint64_t> large;
  uint8_t *block = small;
  if (self.plan.bytes > sizeof(small)) {
    large.resize(self.plan.bytes / 8);
    block = reinterpret_cast<uint8_t *>(large.data());
  }
  // Padding between slots is defined: launches with equal arguments have equal blocks.
  std::memset(block, 0, self.plan.bytes);
  PackResult tensors;
  if (!packArguments(self.plan, args, FirstKernelArgument, block, tensors) ||
      !checkTensors(tensors) || !chooseStream(tensors, stream) || !checkDevices(tensors, stream))
    return false;

  PyObject *metadata = PyTuple_GET_ITEM(args, LaunchMetadata);
  if (!callHook(PyTuple_GET_ITEM(args, EnterHook), metadata))
    return false;
  // Host memory may be read by anyone once the call returns, so such a launch is complete then.
  uint32_t flags = tensors.touchesDevice ? 0 : PITON_LAUNCH_SYNCHRONOUS;
  // A Ctrl-C before the count was read has been noted by Python, one after it ends the launch.
  uint64_t interrupts = piton_interrupt_count();
  if (PyErr_CheckSignals() != 0)
    return false;
  piton_status_t status;
  Py_BEGIN_ALLOW_THREADS;
  status = piton_launch_since(kernel, stream, grid, block, self.argumentBytes, flags, interrupts);
  Py_END_ALLOW_THREADS;
  if (status != PITON_OK) {
    setError(status);
    return false;
  }
  return callHook(PyTuple_GET_ITEM(args, ExitHook), metadata);
}

PyObject *launcherCall(PyObject *self, PyObject *args, PyObject *kwargs) {
  if (kwargs && PyDict_GET_SIZE(kwargs) != 0) {
    PyErr_SetString(PyExc_TypeError, "a launcher takes no keyword arguments");
    return nullptr;
  }
  if (PyTuple_GET_SIZE(args) < FirstKernelArgument) {
    PyErr_Format(PyExc_TypeError, "a launcher takes at least %d arguments",
                 static_cast<int>(FirstKernelArgument));
    return nullptr;
  }
  if (!launch(*nb::inst_ptr<Launcher>(self), args))
    return nullptr;
  Py_RETURN_NONE;
}

} // namespace

void setError(piton_status_t status, bool late) {
  if (PyErr_Occurred())
    return;
  std::string message = piton_last_error();
  switch (status) {
  case PITON_ERROR_INTERRUPTED:
    // Python's own handler has usually noted the signal; then its exception is the one. If Python
    // has raised it already, a stream's late error must not raise it again.
    if (PyErr_CheckSignals() == 0)
      PyErr_SetString(late ? PyExc_RuntimeError : PyExc_KeyboardInterrupt, message.c_str());
    return;
  case PITON_ERROR_INVALID_ARGUMENT:
    PyErr_SetString(PyExc_ValueError, message.c_str());
    return;
  case PITON_ERROR_OUT_OF_MEMORY:
    PyErr_SetString(PyExc_MemoryError, message.c_str());
    return;
  case PITON_ERROR_UNSUPPORTED:
    PyErr_SetString(PyExc_NotImplementedError, message.c_str());
    return;
  default:
    PyErr_SetString(PyExc_RuntimeError, message.c_str());
  }
}

void check(piton_status_t status) {
  if (status == PITON_OK)
    return;
  setError(status, true);
  throw nb::python_error();
}

void bindLauncher(nb::module_ &m) {
  PyType_Slot slots[] = {{Py_tp_call, reinterpret_cast<void *>(launcherCall)}, {0, nullptr}};
  nb::class_<Launcher>(m, "Launcher", nb::type_slots(slots))
      .def(
          "__init__",
          [](Launcher *self, nb::sequence signature, nb::sequence names) {
            new (self) Launcher{planArguments(signature, names)};
          },
          nb::arg("signature"), nb::arg("names"),
          "signature: type strings and nested tuples, one an argument; names: their names")
      .def_prop_ro("argument_bytes", [](Launcher &self) { return self.plan.bytes; })
      .def("pack", [](Launcher &self, nb::args args) {
        // The packed block, for tests and tools.
        std::vector<uint64_t> block(self.plan.bytes / 8);
        PackResult tensors;
        auto *bytes = reinterpret_cast<uint8_t *>(block.data());
        if (!packArguments(self.plan, args.ptr(), 0, bytes, tensors))
          throw nb::python_error();
        return nb::bytes(bytes, self.plan.bytes);
      });
  m.def("refuse_host_tensors", [](bool on) { refuseHostTensors = on; });
}

} // namespace piton::python
