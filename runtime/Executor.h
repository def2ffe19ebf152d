// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The border between runtime/ and what executes kernels. The runtime knows images and launches;
// it does not care whether blocks run as native code, instruction by instruction, or (later) on a
// real NPU. sim/ implements this interface.
#ifndef PITON_RUNTIME_EXECUTOR_H
#define PITON_RUNTIME_EXECUTOR_H

#include "abi/HardwareModel.h"
#include "abi/KernelAbi.h"
#include "abi/KernelImage.h"
#include "runtime/Status.h"

#include <memory>
#include <string_view>

namespace piton {

/// A loaded kernel. Shared by its handle and by launches in flight; immutable and thread-safe.
class Kernel {
public:
  virtual ~Kernel() = default;
  const KernelMetadata &metadata() const { return meta; }

protected:
  KernelMetadata meta;
};

/// One launch, already checked against the limits of the NPU; no dimension is zero.
struct LaunchRequest {
  const HardwareModel *model = nullptr;
  const Kernel *kernel = nullptr;
  uint32_t grid[3] = {1, 1, 1};
  const uint8_t *args = nullptr; ///< packed block of metadata().argBytes bytes
  /// This process is a PE. Waits of kernels are then part of the job's watch, also of kernels that
  /// call nothing of the device library and poll memory in a loop of their own.
  bool inJob = false;
  /// The launch runs on the thread of the user's call, so that thread's OpenMP team may be used.
  bool onCallerThread = false;
  /// interruptEpoch() when the launch was submitted: Ctrl-C also ends what is still queued.
  uint64_t epoch = 0;
  /// The epoch came from armInterrupts() on this thread just now.
  bool signalsReady = false;
};

/// D = alpha * (A x B) + beta * C for a batch of matrices, without a kernel: what a host library
/// computes on the cube cores. Products are accumulated in F32 and rounded once.
struct ProductRequest {
  /// Element [b, i, j] lies at data + b * batch + i * row + j * column, in elements.
  struct Operand {
    const void *data = nullptr;
    int64_t batch = 0, row = 0, column = 0;
  };
  ElementType type = ElementType::F16; ///< of all operands: F16, BF16 or F32
  int64_t batch = 1, m = 0, n = 0, k = 0;
  Operand a, b;
  Operand c; ///< not read when beta is 0; strides may be 0
  void *d = nullptr;
  int64_t dBatch = 0, dRow = 0; ///< columns of D are contiguous; D overlaps no operand but C
  float alpha = 1, beta = 0;
};

class Executor {
public:
  virtual ~Executor() = default;

  /// Verifies and loads an image. Any thread.
  virtual piton_status_t load(std::string_view image, std::shared_ptr<const Kernel> &out) = 0;

  /// Runs all blocks and returns when the last one has ended. Any thread, also concurrently.
  virtual piton_status_t run(const LaunchRequest &request) = 0;

  /// Computes a product on the caller's team. Any thread.
  virtual piton_status_t product(const ProductRequest &request) = 0;
};

/// The simulated NPU in fast mode. Defined in sim/.
Executor &simulator();

/// Launches and products that run at the moment in this process. Defined in sim/.
uint32_t runningLaunches();

/// Makes sure that Ctrl-C is counted from here on, if the process handles it at all, and returns
/// interruptEpoch(). Defined in sim/.
uint64_t armInterrupts();

/// Ends every launch that is running or queued now with PITON_ERROR_INTERRUPTED. Async-signal-safe.
/// Defined in sim/.
void interruptLaunches();

/// Counts calls of interruptLaunches(): a waiter that sees it change gives up. Async-signal-safe.
/// Defined in sim/.
uint64_t interruptEpoch();

} // namespace piton

#endif // PITON_RUNTIME_EXECUTOR_H
