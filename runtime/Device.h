// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A simulated device: its hardware model, its memory with the accounting of a real card, and its
// streams. Devices are ordinary objects, so tests can have several sets of them.
#ifndef PITON_RUNTIME_DEVICE_H
#define PITON_RUNTIME_DEVICE_H

#include "runtime/Executor.h"
#include "runtime/Stream.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace piton {

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
  /// True if `pointer` lies in an allocation of this device.
  bool owns(const void *pointer);
  uint64_t usedBytes() const { return used.load(std::memory_order_relaxed); }

  std::shared_ptr<Stream> createStream();
  Stream &defaultStream();
  /// Waits for the stream's work, removes it and returns its unreported error.
  piton_status_t destroyStream(Stream &stream);
  piton_status_t synchronize();
  /// Work is queued or running on one of its streams.
  bool isBusy();

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
  void release(void *pointer, uint64_t bytes);
  void releaseDeferred(); ///< under memoryMutex

  std::mutex memoryMutex;
  std::map<uintptr_t, uint64_t> allocations; ///< address to size
  std::vector<Deferred> deferred;
  std::atomic<uint64_t> used{0};

  std::mutex streamMutex;
  std::vector<std::shared_ptr<Stream>> streams; ///< the default stream comes first
};

} // namespace piton

#endif // PITON_RUNTIME_DEVICE_H
