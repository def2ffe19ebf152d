// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launch checks. The limits are those of the NPU; the simulator has none, so by default they are
// warnings and the launch runs in rounds, as it would on hardware that were launched repeatedly.

#include "runtime/Launcher.h"

#include "abi/DeviceState.h"
#include "runtime/Activity.h"

#include <cstdio>
#include <cstdlib>
#include <strings.h>

namespace piton {
namespace {

/// Ascend's convention: "true" or "1" switches on.
bool environmentFlag(const char *name) {
  const char *value = std::getenv(name);
  return value && (strcasecmp(value, "true") == 0 || std::string_view(value) == "1");
}

/// True the first time it is called with this flag.
bool first(std::atomic<bool> &done) { return !done.exchange(true, std::memory_order_relaxed); }

piton_status_t checkBlocks(const Device &device, const KernelMetadata &meta, uint64_t blocks) {
  static const bool warnAboutCores = environmentFlag("TRITON_GRID_WARN_PRINT");
  uint32_t cores = device.model.coresFor(meta.mixMode);
  static std::atomic<bool> coresWarned{false};
  if (warnAboutCores && blocks > cores && first(coresWarned))
    std::printf("WARNING: Grid %llu > physical limit %u, performance maybe reduced.\n",
                static_cast<unsigned long long>(blocks), cores);
  if (blocks <= device.model.maxBlocks || environmentFlag("TRITON_ALL_BLOCKS_PARALLEL"))
    return PITON_OK;
  std::string text = "kernel '" + meta.name + "': coreDim=" + std::to_string(blocks) +
                     " can't be greater than UINT16_MAX (" +
                     std::to_string(device.model.maxBlocks) + ")";
  std::string advice = "; use a smaller grid with a loop in the kernel, or set "
                       "TRITON_ALL_BLOCKS_PARALLEL=1";
  if (environmentFlag("PITON_STRICT"))
    return fail(PITON_ERROR_LIMIT, text + advice);
  static std::atomic<bool> limitWarned{false};
  if (first(limitWarned))
    std::fprintf(stderr, "piton: warning: %s; the blocks run in rounds here, an NPU refuses%s\n",
                 text.c_str(), advice.c_str());
  return PITON_OK;
}

piton_status_t check(const Device &device, const KernelMetadata &meta,
                     const LaunchOptions &options) {
  const uint32_t *grid = options.grid;
  uint64_t blocks = uint64_t(grid[0]) * grid[1];
  if (__builtin_mul_overflow(blocks, uint64_t(grid[2]), &blocks) || blocks > INT64_MAX)
    return fail(PITON_ERROR_LIMIT, "kernel '" + meta.name + "': the grid (" +
                                       std::to_string(grid[0]) + ", " + std::to_string(grid[1]) +
                                       ", " + std::to_string(grid[2]) +
                                       ") has more than 2^63 blocks");
  if (options.argumentBytes != meta.argBytes)
    return fail(PITON_ERROR_INVALID_ARGUMENT,
                "kernel '" + meta.name + "' takes " + std::to_string(meta.argBytes) +
                    " bytes of arguments, the launch has " + std::to_string(options.argumentBytes));
  if (!options.arguments && meta.argBytes)
    return fail(PITON_ERROR_INVALID_ARGUMENT,
                "kernel '" + meta.name + "': the argument block is null");
  if (meta.target != device.model.name) {
    const HardwareModel *target = findHardwareModel(meta.target);
    if (target && std::string_view(target->arch) != device.model.arch)
      return fail(PITON_ERROR_INVALID_ARGUMENT,
                  "kernel '" + meta.name + "' was compiled for " + meta.target + ", device " +
                      std::to_string(device.index) + " is an " + device.model.name +
                      "; set TRITON_ASCEND_ARCH=" + meta.target);
  }
  if (meta.distributed && !device.symmetricHeapReady.load(std::memory_order_acquire))
    return fail(PITON_ERROR_NOT_INITIALIZED,
                "kernel '" + meta.name +
                    "' is distributed and the symmetric heap is not initialised; call "
                    "aclshmem_init first");
  if (meta.distributed) {
    const auto *state = reinterpret_cast<const DeviceState *>(kDeviceStateAddress);
    if (uint32_t failure = __atomic_load_n(&state->failure, __ATOMIC_ACQUIRE))
      return fail(static_cast<piton_status_t>(failure),
                  "kernel '" + meta.name + "' is distributed and the job is lost: " +
                      (state->failureText ? state->failureText : "a PE has failed"));
  }
  if (blocks > device.model.coresFor(meta.mixMode))
    return checkBlocks(device, meta, blocks);
  return PITON_OK;
}

bool isEmpty(const LaunchOptions &options) {
  return options.grid[0] == 0 || options.grid[1] == 0 || options.grid[2] == 0;
}

/// When a launch was submitted, as far as Ctrl-C is concerned.
struct Submission {
  explicit Submission(const LaunchOptions &options)
      : epoch(options.epoch ? options.epoch : interruptEpoch()), signalsReady(options.epoch != 0) {}
  uint64_t epoch;
  bool signalsReady;
};

piton_status_t run(Device &device, const Kernel &kernel, const uint32_t grid[3],
                   const void *arguments, bool onCallerThread, const Submission &submission) {
  LaunchRequest request;
  request.model = &device.model;
  request.kernel = &kernel;
  request.inJob =
      kernel.metadata().canBlock && device.symmetricHeapReady.load(std::memory_order_acquire);
  for (int d = 0; d < 3; ++d)
    request.grid[d] = grid[d];
  request.args = static_cast<const uint8_t *>(arguments);
  request.onCallerThread = onCallerThread;
  request.epoch = submission.epoch;
  request.signalsReady = submission.signalsReady && onCallerThread;
  return device.executor.run(request);
}

} // namespace

piton_status_t launchNow(Device &device, const Kernel &kernel, const LaunchOptions &options) {
  if (isEmpty(options))
    return PITON_OK;
  if (piton_status_t status = check(device, kernel.metadata(), options))
    return status;
  HostWork here;
  return run(device, kernel, options.grid, options.arguments, true, Submission(options));
}

piton_status_t launch(Stream &stream, const std::shared_ptr<const Kernel> &kernel,
                      const LaunchOptions &options) {
  if (isEmpty(options))
    return PITON_OK;
  Device &device = stream.device;
  if (piton_status_t status = check(device, kernel->metadata(), options))
    return status;
  Submission submission(options);
  auto here = [&] {
    return run(device, *kernel, options.grid, options.arguments, true, submission);
  };
  if (options.synchronous)
    return stream.runHere(here);
  // A kernel that waits may wait for what its caller does next, so it never holds the caller up.
  if (!kernel->metadata().canBlock && stream.tryBegin()) {
    Stream::Turn turn(stream);
    return here();
  }
  const auto *bytes = static_cast<const uint8_t *>(options.arguments);
  std::vector<uint8_t> copy(bytes, bytes + options.argumentBytes);
  return stream.enqueue([&device, kernel, submission, copy = std::move(copy), x = options.grid[0],
                         y = options.grid[1], z = options.grid[2]] {
    uint32_t grid[3] = {x, y, z};
    return run(device, *kernel, grid, copy.data(), false, submission);
  });
}

} // namespace piton
