// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A simulated device: its hardware model, its memory with the accounting of a real card, and its
// streams. Devices are ordinary objects, so tests can have several sets of them.
#ifndef PITON_RUNTIME_DEVICE_H
#define PITON_RUNTIME_DEVICE_H

#include "runtime/Executor.h"
#include "runtime/GlobalMemory.h"
#include "runtime/Stream.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace piton {

/// What a device's memory has been used for. Bytes are in whole grains.
struct MemoryStatistics {
  uint64_t used = 0, peakUsed = 0;         ///< bytes of blocks not freed
  uint64_t reserved = 0, peakReserved = 0; ///< bytes that the host has given
  uint64_t blocks = 0, peakBlocks = 0;     ///< blocks not freed
  uint64_t allocations = 0, frees = 0;     ///< calls that succeeded
  uint64_t allocatedBytes = 0, freedBytes = 0;
  uint64_t retries = 0, refusals = 0; ///< waits for freed memory; out-of-memory errors
};

class Device {
public:
  Device(int index, const HardwareModel &model, Executor &executor);

  const int index;
  const HardwareModel &model;
  Executor &executor;

  /// Distributed kernels may be launched. Set by the symmetric heap.
  std::atomic<bool> symmetricHeapReady{false};

  piton_status_t allocate(uint64_t bytes, void **out);
  /// Frees an allocation of this device; false if `pointer` is none.
  bool free(void *pointer);
  /// True if `pointer` lies in this device's memory. Takes no lock.
  bool owns(const void *pointer) const { return memory.contains(pointer); }
  uint64_t usedBytes() const { return used.load(std::memory_order_relaxed); }
  MemoryStatistics memoryStatistics();
  void resetPeaks();
  /// Gives the host the pages of free memory back.
  void trimMemory();

  /// Work of all streams that is not done yet; its streams count it.
  std::atomic<uint64_t> workInFlight{0};

  std::shared_ptr<Stream> createStream();
  Stream &defaultStream();
  /// True for a live stream of this device; `stream` is not looked into.
  bool hasStream(const Stream *stream);
  /// Waits for the stream's work, removes it and returns its unreported error.
  piton_status_t destroyStream(Stream &stream);
  piton_status_t synchronize();
  /// Work is queued or running on one of its streams. Takes no lock.
  bool isBusy() const { return workInFlight.load(std::memory_order_acquire) != 0; }

  void lockForFork();
  void unlockInParent();
  void resetInChild();

private:
  /// A freed allocation that submitted work may still use.
  struct Deferred {
    void *pointer;
    uint64_t bytes;
    std::vector<std::pair<std::shared_ptr<Stream>, uint64_t>> users;
  };

  std::vector<std::shared_ptr<Stream>> streamList();
  // Under memoryMutex:
  void *tryAllocate(uint64_t bytes, const char *&why);
  void release(void *pointer, uint64_t bytes);
  void releaseDeferred();

  std::mutex memoryMutex;
  GlobalMemory memory;
  std::vector<Deferred> deferred;
  std::atomic<uint64_t> used{0}; ///< with what is deferred
  MemoryStatistics statistics;   ///< `used` is kept in the atomic

  std::mutex streamMutex;
  std::vector<std::shared_ptr<Stream>> streams; ///< the default stream comes first
};

} // namespace piton

#endif // PITON_RUNTIME_DEVICE_H
