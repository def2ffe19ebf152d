// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The Python module `_runtime`: devices, streams, events, kernels and the launcher,
// over the C API of libpiton_runtime. Holds no LLVM, so it loads in a millisecond.
#include "python/native/Launcher.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace piton::python {

namespace {

piton_device_t *device(int index) {
  piton_device_t *out = nullptr;
  check(piton_device_get(index, &out));
  return out;
}

piton_stream_t *stream(uint64_t handle) { return reinterpret_cast<piton_stream_t *>(handle); }

/// The stream a handle names; 0 is device 0's default stream.
piton_stream_t *streamOrDefault(uint64_t handle) {
  if (handle)
    return stream(handle);
  piton_stream_t *out = nullptr;
  check(piton_stream_default(device(0), &out));
  return out;
}

nb::dict deviceProperties(int index) {
  piton_device_properties_t p;
  check(piton_device_properties(device(index), &p));
  nb::dict out;
  out["name"] = p.name;
  out["arch"] = p.arch;
  out["num_aicore"] = p.ai_cores;
  out["num_cubecore"] = p.cube_cores;
  out["num_vectorcore"] = p.vector_cores;
  out["clock_mhz"] = p.clock_mhz;
  out["memory_bytes"] = p.memory_bytes;
  out["l2_bytes"] = p.l2_bytes;
  out["ub_bytes"] = p.ub_bytes;
  out["l1_bytes"] = p.l1_bytes;
  out["l0a_bytes"] = p.l0a_bytes;
  out["l0b_bytes"] = p.l0b_bytes;
  out["l0c_bytes"] = p.l0c_bytes;
  out["max_blocks"] = p.max_blocks;
  return out;
}

nb::dict memoryStatistics(int index) {
  piton_memory_statistics_t s;
  check(piton_memory_statistics(device(index), &s));
  nb::dict out;
  out["used_bytes"] = s.used_bytes;
  out["peak_used_bytes"] = s.peak_used_bytes;
  out["reserved_bytes"] = s.reserved_bytes;
  out["peak_reserved_bytes"] = s.peak_reserved_bytes;
  out["blocks"] = s.blocks;
  out["allocations"] = s.allocations;
  out["frees"] = s.frees;
  out["retries"] = s.retries;
  out["refusals"] = s.refusals;
  return out;
}

/// Owner of a loaded kernel; the JIT keeps it as the module of a compiled kernel.
struct KernelModule {
  piton_kernel_t *kernel = nullptr;
  ~KernelModule() { piton_kernel_release(kernel); }
};

std::unique_ptr<KernelModule> loadKernel(nb::bytes image) {
  auto out = std::make_unique<KernelModule>();
  piton_status_t status;
  {
    nb::gil_scoped_release released;
    status = piton_kernel_load(image.data(), image.size(), &out->kernel);
  }
  check(status);
  return out;
}

nb::dict kernelProperties(KernelModule &self) {
  piton_kernel_properties_t p;
  check(piton_kernel_properties(self.kernel, &p));
  nb::dict out;
  out["name"] = p.name;
  out["target"] = p.target;
  out["mix_mode"] = p.mix_mode;
  out["argument_count"] = p.argument_count;
  out["can_block"] = p.can_block != 0;
  out["distributed"] = p.distributed != 0;
  out["argument_bytes"] = p.argument_bytes;
  out["local_bytes"] = p.local_bytes;
  return out;
}

struct Event {
  piton_event_t *event = nullptr;
  Event() { check(piton_event_create(&event)); }
  Event(const Event &) = delete;
  ~Event() { piton_event_destroy(event); }
};

template <typename Call> void waiting(Call &&call) {
  piton_status_t status;
  {
    nb::gil_scoped_release released;
    status = call();
  }
  check(status);
}

void bindEvents(nb::module_ &m) {
  nb::class_<Event>(m, "Event")
      .def(
          "__init__", [](Event *self, bool, bool, bool) { new (self) Event(); },
          "enable_timing"_a = false, "blocking"_a = false, "interprocess"_a = false)
      .def(
          "record",
          [](Event &self, uint64_t handle) {
            check(piton_event_record(self.event, streamOrDefault(handle)));
          },
          "stream"_a = 0)
      .def("synchronize",
           [](Event &self) { waiting([&] { return piton_event_synchronize(self.event); }); })
      .def("query",
           [](Event &self) {
             piton_status_t status = piton_event_query(self.event);
             if (status == PITON_ERROR_NOT_READY)
               return false;
             check(status);
             return true;
           })
      .def("elapsed_time", [](Event &self, Event &end) {
        float milliseconds = 0;
        check(piton_event_elapsed(self.event, end.event, &milliseconds));
        return milliseconds;
      });
}

} // namespace

void bindRuntime(nb::module_ &m) {
  m.def("device_count", [] {
    int count = 0;
    check(piton_device_count(&count));
    return count;
  });
  m.def("device_properties", deviceProperties, "index"_a = 0);
  m.def("current_device", piton_device_current, "Index of this thread's current device");
  m.def("set_current_device", [](int index) { check(piton_device_set_current(index)); });
  m.def(
      "current_stream",
      [](int index) {
        piton_stream_t *out = nullptr;
        check(piton_stream_current(index, &out));
        return reinterpret_cast<uint64_t>(out);
      },
      "device"_a = 0, "Handle of this thread's current stream of a device");
  m.def(
      "device_synchronize",
      [](int index) {
        piton_device_t *target = device(index);
        waiting([&] { return piton_device_synchronize(target); });
      },
      "index"_a = 0);
  m.def(
      "stream_create",
      [](int index) {
        piton_stream_t *out = nullptr;
        check(piton_stream_create(device(index), &out));
        return reinterpret_cast<uint64_t>(out);
      },
      "device"_a = 0);
  m.def(
      "stream_default",
      [](int index) {
        piton_stream_t *out = nullptr;
        check(piton_stream_default(device(index), &out));
        return reinterpret_cast<uint64_t>(out);
      },
      "device"_a = 0);
  m.def("stream_destroy",
        [](uint64_t handle) { waiting([&] { return piton_stream_destroy(stream(handle)); }); });
  m.def("stream_synchronize", [](uint64_t handle) {
    piton_stream_t *target = streamOrDefault(handle);
    waiting([&] { return piton_stream_synchronize(target); });
  });
  m.def(
      "memory_allocate",
      [](uint64_t bytes, int index) {
        void *out = nullptr;
        check(piton_memory_allocate(device(index), bytes, &out));
        return reinterpret_cast<uint64_t>(out);
      },
      "bytes"_a, "device"_a = 0);
  m.def("memory_statistics", memoryStatistics, "device"_a = 0);
  m.def("memory_free",
        [](uint64_t address) { check(piton_memory_free(reinterpret_cast<void *>(address))); });
  m.def("memory_copy", [](uint64_t to, uint64_t from, uint64_t bytes) {
    waiting([&] {
      return piton_memory_copy(reinterpret_cast<void *>(to), reinterpret_cast<void *>(from), bytes,
                               nullptr);
    });
  });
  nb::class_<KernelModule>(m, "KernelModule")
      .def_prop_ro("handle",
                   [](KernelModule &self) { return reinterpret_cast<uint64_t>(self.kernel); })
      .def_prop_ro("properties", kernelProperties);
  m.def("load", loadKernel, "image"_a);
  bindEvents(m);
  bindLauncher(m);
}

} // namespace piton::python

NB_MODULE(_runtime, m) {
  m.doc() = "Piton's runtime: simulated NPU devices, streams, events, kernels, launches";
  nb::set_leak_warnings(false);
  piton::python::bindRuntime(m);
}
