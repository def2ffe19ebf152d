// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C entry points of include/piton/runtime.h: handles to objects and argument checks. Nothing
// throws out of here.

#include "piton/runtime.h"

#include "runtime/Event.h"
#include "runtime/Launcher.h"
#include "runtime/Runtime.h"

#include <cstring>
#include <memory>
#include <new>

using namespace piton;

/// A kernel handle; launches in flight share the kernel behind it.
struct piton_kernel {
  std::shared_ptr<const Kernel> kernel;
};

namespace {

Device *unwrap(piton_device_t *device) { return reinterpret_cast<Device *>(device); }
const Device *unwrap(const piton_device_t *device) {
  return reinterpret_cast<const Device *>(device);
}
piton_device_t *wrap(Device *device) { return reinterpret_cast<piton_device_t *>(device); }
Stream *unwrap(piton_stream_t *stream) { return reinterpret_cast<Stream *>(stream); }
const Stream *unwrap(const piton_stream_t *stream) {
  return reinterpret_cast<const Stream *>(stream);
}
piton_stream_t *wrap(Stream *stream) { return reinterpret_cast<piton_stream_t *>(stream); }
Event *unwrap(piton_event_t *event) { return reinterpret_cast<Event *>(event); }
piton_event_t *wrap(Event *event) { return reinterpret_cast<piton_event_t *>(event); }

/// Runs `body`; an exception of the standard library (in practice: no memory) becomes a status.
template <typename Body> piton_status_t guarded(Body &&body) {
  try {
    return body();
  } catch (const std::bad_alloc &) {
    return fail(PITON_ERROR_OUT_OF_MEMORY, "the host has no more memory");
  } catch (const std::exception &error) {
    return fail(PITON_ERROR_SYSTEM, error.what());
  }
}

piton_status_t nullArgument(const char *function, const char *name) {
  return fail(PITON_ERROR_INVALID_ARGUMENT, std::string(function) + ": " + name + " is null");
}

#define PITON_REQUIRE(argument)                                                                    \
  if (!(argument))                                                                                 \
  return nullArgument(__func__, #argument)

} // namespace

//===-- Devices -----------------------------------------------------------------------------===//

piton_status_t piton_device_count(int *out_count) {
  PITON_REQUIRE(out_count);
  return guarded([&] {
    piton_status_t status;
    if (Runtime *runtime = Runtime::get(status))
      *out_count = runtime->deviceCount();
    return status;
  });
}

piton_status_t piton_device_get(int index, piton_device_t **out_device) {
  PITON_REQUIRE(out_device);
  return guarded([&] {
    piton_status_t status;
    Runtime *runtime = Runtime::get(status);
    if (!runtime)
      return status;
    if (index < 0 || index >= runtime->deviceCount())
      return fail(PITON_ERROR_INVALID_ARGUMENT,
                  "device " + std::to_string(index) + " does not exist; there are " +
                      std::to_string(runtime->deviceCount()) + " (PITON_DEVICE_COUNT)");
    *out_device = wrap(&runtime->device(index));
    return PITON_OK;
  });
}

int piton_device_index(const piton_device_t *device) { return unwrap(device)->index; }

piton_status_t piton_device_properties(const piton_device_t *device,
                                       piton_device_properties_t *out_properties) {
  PITON_REQUIRE(device);
  PITON_REQUIRE(out_properties);
  const HardwareModel &m = unwrap(device)->model;
  piton_device_properties_t p = {};
  p.name = m.name;
  p.arch = m.arch;
  p.ai_cores = m.aiCores;
  p.cube_cores = m.cubeCores;
  p.vector_cores = m.vectorCores;
  p.clock_mhz = m.clockMHz;
  p.memory_bytes = m.memoryCapacity();
  p.l2_bytes = m.l2Bytes;
  p.ub_bytes = m.ubBytes;
  p.l1_bytes = m.l1Bytes;
  p.l0a_bytes = m.l0aBytes;
  p.l0b_bytes = m.l0bBytes;
  p.l0c_bytes = m.l0cBytes;
  p.max_blocks = m.maxBlocks;
  p.is_a5 = m.isA5();
  *out_properties = p;
  return PITON_OK;
}

piton_status_t piton_device_memory_info(const piton_device_t *device, uint64_t *out_free,
                                        uint64_t *out_total) {
  PITON_REQUIRE(device);
  PITON_REQUIRE(out_free);
  PITON_REQUIRE(out_total);
  *out_total = unwrap(device)->model.memoryCapacity();
  *out_free = *out_total - unwrap(device)->usedBytes();
  return PITON_OK;
}

piton_status_t piton_device_synchronize(piton_device_t *device) {
  PITON_REQUIRE(device);
  return guarded([&] { return unwrap(device)->synchronize(); });
}

//===-- This thread's device and streams ----------------------------------------------------===//

namespace {

thread_local int currentDevice = 0;
/// One a device, null where the default stream is current; no table while all are. A pointer only:
/// the library is loaded at run time and its thread-local memory is scarce.
thread_local Stream **currentStreams = nullptr;
/// Frees the table with its thread; apart, since the pointer is read for every operator.
thread_local std::unique_ptr<Stream *[]> currentStreamsOwner;

/// This thread's current stream of a device, or null with the reason set.
Stream *currentStream(int device, piton_status_t &status) {
  if (currentStreams && device >= 0 && device < Runtime::kMaxDevices && currentStreams[device])
    return currentStreams[device];
  piton_device_t *handle = nullptr;
  status = piton_device_get(device, &handle);
  return status == PITON_OK ? &unwrap(handle)->defaultStream() : nullptr;
}

} // namespace

int piton_device_current(void) { return currentDevice; }

piton_status_t piton_device_set_current(int index) {
  piton_device_t *device = nullptr;
  if (piton_status_t status = piton_device_get(index, &device))
    return status;
  currentDevice = index;
  return PITON_OK;
}

piton_status_t piton_stream_current(int device, piton_stream_t **out_stream) {
  PITON_REQUIRE(out_stream);
  piton_status_t status = PITON_OK;
  Stream *stream = currentStream(device, status);
  if (stream)
    *out_stream = wrap(stream);
  return status;
}

piton_status_t piton_stream_set_current(piton_stream_t *stream) {
  PITON_REQUIRE(stream);
  Stream *s = unwrap(stream);
  return guarded([&] {
    if (!currentStreams) {
      currentStreamsOwner = std::make_unique<Stream *[]>(Runtime::kMaxDevices);
      currentStreams = currentStreamsOwner.get();
    }
    currentStreams[s->device.index] = s == &s->device.defaultStream() ? nullptr : s;
    return PITON_OK;
  });
}

piton_status_t piton_stream_join_current(int device) {
  piton_status_t status = PITON_OK;
  Stream *stream = currentStream(device, status);
  if (!stream || stream->quiet())
    return status;
  return guarded([&] { return stream->synchronize(); });
}

//===-- Memory ------------------------------------------------------------------------------===//

piton_status_t piton_memory_allocate(piton_device_t *device, uint64_t bytes, void **out_pointer) {
  PITON_REQUIRE(device);
  PITON_REQUIRE(out_pointer);
  return guarded([&] { return unwrap(device)->allocate(bytes, out_pointer); });
}

piton_status_t piton_memory_free(void *pointer) {
  if (!pointer)
    return PITON_OK;
  return guarded([&] {
    piton_status_t status;
    Runtime *runtime = Runtime::get(status);
    if (!runtime)
      return status;
    Device *device = runtime->deviceOf(pointer);
    if (!device || !device->free(pointer))
      return fail(PITON_ERROR_INVALID_ARGUMENT,
                  "piton_memory_free: the pointer is not the start of a device allocation");
    return PITON_OK;
  });
}

piton_status_t piton_memory_device(const void *pointer, piton_device_t **out_device) {
  PITON_REQUIRE(out_device);
  return guarded([&] {
    piton_status_t status;
    Runtime *runtime = Runtime::get(status);
    if (runtime)
      *out_device = wrap(runtime->deviceOf(pointer));
    return status;
  });
}

piton_status_t piton_memory_statistics(piton_device_t *device,
                                       piton_memory_statistics_t *out_statistics) {
  PITON_REQUIRE(device);
  PITON_REQUIRE(out_statistics);
  MemoryStatistics s = unwrap(device)->memoryStatistics();
  *out_statistics = {s.used,           s.peakUsed,   s.reserved,    s.peakReserved,
                     s.blocks,         s.peakBlocks, s.allocations, s.frees,
                     s.allocatedBytes, s.freedBytes, s.retries,     s.refusals};
  return PITON_OK;
}

piton_status_t piton_memory_reset_peaks(piton_device_t *device) {
  PITON_REQUIRE(device);
  unwrap(device)->resetPeaks();
  return PITON_OK;
}

piton_status_t piton_memory_trim(piton_device_t *device) {
  PITON_REQUIRE(device);
  unwrap(device)->trimMemory();
  return PITON_OK;
}

piton_status_t piton_memory_copy(void *destination, const void *source, uint64_t bytes,
                                 piton_stream_t *stream) {
  if (bytes == 0)
    return PITON_OK;
  PITON_REQUIRE(destination);
  PITON_REQUIRE(source);
  auto copy = [=] {
    std::memmove(destination, source, bytes);
    return PITON_OK;
  };
  return stream ? guarded([&] { return unwrap(stream)->submit(copy); }) : copy();
}

piton_status_t piton_memory_fill(void *destination, int value, uint64_t bytes,
                                 piton_stream_t *stream) {
  if (bytes == 0)
    return PITON_OK;
  PITON_REQUIRE(destination);
  auto set = [=] {
    std::memset(destination, value, bytes);
    return PITON_OK;
  };
  return stream ? guarded([&] { return unwrap(stream)->submit(set); }) : set();
}

//===-- Streams -----------------------------------------------------------------------------===//

piton_status_t piton_stream_create(piton_device_t *device, piton_stream_t **out_stream) {
  PITON_REQUIRE(device);
  PITON_REQUIRE(out_stream);
  return guarded([&] {
    *out_stream = wrap(unwrap(device)->createStream().get());
    return PITON_OK;
  });
}

piton_status_t piton_stream_default(piton_device_t *device, piton_stream_t **out_stream) {
  PITON_REQUIRE(device);
  PITON_REQUIRE(out_stream);
  *out_stream = wrap(&unwrap(device)->defaultStream());
  return PITON_OK;
}

piton_status_t piton_stream_destroy(piton_stream_t *stream) {
  if (!stream)
    return PITON_OK;
  Stream *s = unwrap(stream);
  if (s == &s->device.defaultStream())
    return fail(PITON_ERROR_INVALID_ARGUMENT, "the default stream cannot be destroyed");
  return guarded([&] { return s->device.destroyStream(*s); });
}

piton_status_t piton_stream_synchronize(piton_stream_t *stream) {
  PITON_REQUIRE(stream);
  return guarded([&] { return unwrap(stream)->synchronize(); });
}

piton_status_t piton_stream_query(piton_stream_t *stream) {
  PITON_REQUIRE(stream);
  if (unwrap(stream)->done())
    return PITON_OK;
  return fail(PITON_ERROR_NOT_READY, "the stream has unfinished work");
}

piton_status_t piton_stream_check(piton_device_t *device, const piton_stream_t *stream) {
  PITON_REQUIRE(device);
  return guarded([&] {
    if (unwrap(device)->hasStream(unwrap(stream)))
      return PITON_OK;
    return fail(PITON_ERROR_INVALID_ARGUMENT,
                "device " + std::to_string(unwrap(device)->index) + " has no such stream");
  });
}

piton_device_t *piton_stream_device(const piton_stream_t *stream) {
  return wrap(&unwrap(stream)->device);
}

piton_status_t piton_stream_wait_event(piton_stream_t *stream, piton_event_t *event) {
  PITON_REQUIRE(stream);
  PITON_REQUIRE(event);
  return guarded([&] { return unwrap(event)->orderBefore(*unwrap(stream)); });
}

piton_status_t piton_stream_call(piton_stream_t *stream, void (*function)(void *), void *data) {
  PITON_REQUIRE(stream);
  PITON_REQUIRE(function);
  return guarded([&] {
    return unwrap(stream)->submit([=] {
      function(data);
      return PITON_OK;
    });
  });
}

//===-- Events ------------------------------------------------------------------------------===//

piton_status_t piton_event_create(piton_event_t **out_event) {
  PITON_REQUIRE(out_event);
  return guarded([&] {
    *out_event = wrap(new Event);
    return PITON_OK;
  });
}

piton_status_t piton_event_destroy(piton_event_t *event) {
  delete unwrap(event);
  return PITON_OK;
}

piton_status_t piton_event_record(piton_event_t *event, piton_stream_t *stream) {
  PITON_REQUIRE(event);
  PITON_REQUIRE(stream);
  return guarded([&] { return unwrap(event)->record(*unwrap(stream)); });
}

piton_status_t piton_event_synchronize(piton_event_t *event) {
  PITON_REQUIRE(event);
  return guarded([&] { return unwrap(event)->synchronize(); });
}

piton_status_t piton_event_query(piton_event_t *event) {
  PITON_REQUIRE(event);
  return guarded([&] { return unwrap(event)->query(); });
}

piton_status_t piton_event_elapsed(piton_event_t *start, piton_event_t *end,
                                   float *out_milliseconds) {
  PITON_REQUIRE(start);
  PITON_REQUIRE(end);
  PITON_REQUIRE(out_milliseconds);
  return guarded([&] { return unwrap(end)->elapsedSince(*unwrap(start), *out_milliseconds); });
}

//===-- Kernels -----------------------------------------------------------------------------===//

piton_status_t piton_kernel_load(const void *image, size_t bytes, piton_kernel_t **out_kernel) {
  PITON_REQUIRE(image);
  PITON_REQUIRE(out_kernel);
  return guarded([&] {
    std::shared_ptr<const Kernel> kernel;
    std::string_view view(static_cast<const char *>(image), bytes);
    if (piton_status_t status = simulator().load(view, kernel))
      return status;
    *out_kernel = new piton_kernel{std::move(kernel)};
    return PITON_OK;
  });
}

piton_status_t piton_kernel_release(piton_kernel_t *kernel) {
  delete kernel;
  return PITON_OK;
}

piton_status_t piton_kernel_properties(const piton_kernel_t *kernel,
                                       piton_kernel_properties_t *out_properties) {
  PITON_REQUIRE(kernel);
  PITON_REQUIRE(out_properties);
  const KernelMetadata &m = kernel->kernel->metadata();
  piton_kernel_properties_t p = {};
  p.name = m.name.c_str();
  p.target = m.target.c_str();
  p.mix_mode = m.mixMode.c_str();
  p.argument_count = static_cast<uint32_t>(m.arguments.size());
  p.can_block = m.canBlock;
  p.distributed = m.distributed;
  p.argument_bytes = m.argBytes;
  p.local_bytes = m.arenaBytes;
  *out_properties = p;
  return PITON_OK;
}

piton_status_t piton_kernel_argument(const piton_kernel_t *kernel, uint32_t index,
                                     piton_argument_t *out_argument) {
  PITON_REQUIRE(kernel);
  PITON_REQUIRE(out_argument);
  const KernelMetadata &m = kernel->kernel->metadata();
  if (index >= m.arguments.size())
    return fail(PITON_ERROR_INVALID_ARGUMENT, "kernel '" + m.name + "' has no argument " +
                                                  std::to_string(index) + ", it takes " +
                                                  std::to_string(m.arguments.size()));
  const KernelArgument &a = m.arguments[index];
  piton_argument_t out = {};
  out.type = static_cast<piton_type_t>(a.type);
  out.pointee = static_cast<piton_type_t>(a.pointee);
  out.offset = a.offset;
  out.slot_bytes = argumentSlotBytes(a.type);
  out.tensor_kind = a.tensorKind;
  out.name = a.name.c_str();
  *out_argument = out;
  return PITON_OK;
}

static_assert(static_cast<uint32_t>(ElementType::Pointer) == PITON_TYPE_POINTER &&
              static_cast<uint32_t>(ElementType::U8) == PITON_TYPE_U8 &&
              static_cast<uint32_t>(ElementType::F16) == PITON_TYPE_F16 &&
              static_cast<uint32_t>(ElementType::F8E5M2FNUZ) == PITON_TYPE_F8E5M2FNUZ);

//===-- Launch ------------------------------------------------------------------------------===//

piton_status_t piton_launch(piton_kernel_t *kernel, piton_stream_t *stream, const uint32_t grid[3],
                            const void *arguments, size_t argument_bytes, uint32_t flags) {
  return piton_launch_since(kernel, stream, grid, arguments, argument_bytes, flags, 0);
}

piton_status_t piton_launch_since(piton_kernel_t *kernel, piton_stream_t *stream,
                                  const uint32_t grid[3], const void *arguments,
                                  size_t argument_bytes, uint32_t flags, uint64_t interrupt_count) {
  PITON_REQUIRE(kernel);
  PITON_REQUIRE(grid);
  if (flags & ~PITON_LAUNCH_SYNCHRONOUS)
    return fail(PITON_ERROR_INVALID_ARGUMENT,
                "piton_launch: unknown flags " + std::to_string(flags));
  LaunchOptions options;
  for (int d = 0; d < 3; ++d)
    options.grid[d] = grid[d];
  options.arguments = arguments;
  options.argumentBytes = argument_bytes;
  options.synchronous = flags & PITON_LAUNCH_SYNCHRONOUS;
  options.epoch = interrupt_count;
  return guarded([&] {
    if (stream)
      return launch(*unwrap(stream), kernel->kernel, options);
    piton_status_t status;
    Runtime *runtime = Runtime::get(status);
    return runtime ? launchNow(runtime->device(0), *kernel->kernel, options) : status;
  });
}

void piton_launch_interrupt(void) { interruptLaunches(); }

uint64_t piton_interrupt_count(void) { return armInterrupts(); }

//===-- Matrix product ----------------------------------------------------------------------===//

piton_status_t piton_product(const piton_product_t *product) {
  PITON_REQUIRE(product);
  auto operand = [](const piton_matrix_t &m) {
    return ProductRequest::Operand{m.data, m.batch, m.row, m.column};
  };
  ProductRequest request;
  request.type = static_cast<ElementType>(product->type);
  request.batch = product->batch;
  request.m = product->m;
  request.n = product->n;
  request.k = product->k;
  request.a = operand(product->a);
  request.b = operand(product->b);
  request.c = operand(product->c);
  request.d = product->d;
  request.dBatch = product->d_batch;
  request.dRow = product->d_row;
  request.alpha = product->alpha;
  request.beta = product->beta;
  return guarded([&] { return simulator().product(request); });
}
