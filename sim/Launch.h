// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// State of one launch while it runs: which blocks are still to be started, whether to stop early,
// the first failure, and what kernels printed. Lives on the stack of Simulator::run.
#ifndef PITON_SIM_LAUNCH_H
#define PITON_SIM_LAUNCH_H

#include "sim/LoadedKernel.h"

#include <array>
#include <atomic>
#include <mutex>
#include <string>
#include <vector>

namespace piton::sim {

/// Blocks [begin, end) of a round that no worker has taken yet. The owner takes from the front,
/// others from the back; both ends lie in one word so that a single CAS does either.
class alignas(64) BlockRange {
public:
  void reset(uint32_t begin, uint32_t end) { word.store(pack(begin, end)); }
  /// Takes up to `count` blocks from the front; false if none is left.
  bool takeFront(uint32_t count, uint32_t &begin, uint32_t &end);
  /// Takes the rear half (at least one block); false if none is left.
  bool takeRearHalf(uint32_t &begin, uint32_t &end);

private:
  static uint64_t pack(uint64_t begin, uint64_t end) { return begin | end << 32; }
  std::atomic<uint64_t> word{0};
};

/// Text that one side of a block printed.
struct PrintRecord {
  uint64_t unit; ///< block * sides + side
  std::string text;
};

class Launch {
public:
  Launch(const LaunchRequest &request, const LoadedKernel &kernel);

  const LaunchRequest &request;
  const LoadedKernel &kernel;
  const uint64_t blocks;     ///< x * y * z
  const uint32_t sides;      ///< what runs at the same time for one block: 2 vector cores, or 1
  const uint64_t startEpoch; ///< interruptEpoch() at the submission
  uint8_t *lockBuffer = nullptr;
  uint8_t *shared = nullptr;              ///< what the sides of a block share, block by block
  std::atomic_flag publishing;            ///< held by the worker that writes this PE's board
  std::atomic<bool> waitPublished{false}; ///< on the board; changed under `publishing`
  alignas(64) uint64_t coreBarrier = 0;   ///< arrivals at meetings of all blocks; blocks add to it

  /// Program id of linear block `block`, in the order of the hardware model.
  void programId(uint64_t block, uint32_t pid[3]) const;
  /// Turns the program id of a block into that of the next one, without divisions.
  void nextProgramId(uint32_t pid[3]) const;

  /// True once a block failed or Ctrl-C arrived: no further block starts, waiting blocks end.
  bool stopped() const {
    return failed.load(std::memory_order_relaxed) || interruptEpoch() != startEpoch;
  }

  /// Records a failure; the first one is the launch's result.
  void fail(piton_status_t status, std::string message);

  /// Notes where a block was when Ctrl-C ended it; the first one is named in the error.
  void interruptedAt(std::string place);

  /// Bytes that the sides of one block share, and their place.
  uint64_t sharedStride() const;

  /// Adds what a side of a block printed. Beyond kMaxPrintBytes text is dropped and the loss
  /// reported.
  void addPrint(uint64_t unit, std::string text);

  /// Writes the collected text to stdout, in block order.
  void flushPrints();

  /// The launch's result, with its message in lastError(). Called once all workers are done.
  piton_status_t finish();

  // Plain calls: one round of at most 2^31 blocks, split between the workers.
  static constexpr unsigned kMaxRanges = 128;
  std::array<BlockRange, kMaxRanges> ranges;
  unsigned rangeCount = 0;
  uint64_t roundBase = 0; ///< block number that 0 of this round stands for

  // Fibers: the next side of a block that has not been started.
  std::atomic<uint64_t> nextUnit{0};
  uint64_t units() const { return blocks * sides; }
  uint32_t residency = 1;                 ///< sides of blocks alive together
  unsigned workers = 1;                   ///< workers that share the residency
  std::atomic<unsigned> activeWorkers{0}; ///< fiber workers that are not idle
  std::atomic<uint64_t> progress{0};      ///< raised when a block starts or ends
  std::atomic<bool> standstillReported{false};

private:
  static constexpr size_t kMaxPrintBytes = size_t(64) << 20;

  std::atomic<bool> failed{false};
  std::mutex mutex; // guards what follows
  piton_status_t status = PITON_OK;
  std::string message, interruptedPlace;
  std::vector<PrintRecord> prints;
  size_t printBytes = 0, droppedBytes = 0;
};

} // namespace piton::sim

#endif // PITON_SIM_LAUNCH_H
