// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A machine of threads for the device functions: every core of every PE is a thread, a PE's heap is
// an array, and the primitives report what they do.
#ifndef PITON_TEST_DEVICE_TRACEDWORLD_H
#define PITON_TEST_DEVICE_TRACEDWORLD_H

#include "device/shmem/Shmem.h"

#include <functional>
#include <memory>
#include <new>
#include <stdexcept>
#include <vector>

namespace piton::traced {

using namespace piton::device;

struct Event {
  Step step;
  const volatile void *address;
};

/// What a device error becomes here.
struct DeviceFailure : std::runtime_error {
  DeviceFailure(uint32_t code, int64_t v)
      : std::runtime_error("device error"), error(static_cast<DeviceError>(code)), value(v) {}
  DeviceError error;
  int64_t value;
};

/// One core: its block and what it did.
struct TracedCore {
  DeviceState *state = nullptr;
  BlockContext context = {};
  std::vector<Event> events;
  int waits = 0;
  std::function<void()> onWait;
  std::function<void(RemoteRequest &)> onRemote; ///< the network
};

/// What this thread runs.
extern thread_local TracedCore *current;

template <typename Fn> void runOn(TracedCore &core, Fn fn) {
  current = &core;
  fn();
  current = nullptr;
}

/// The steps a core did, without the reading of its state.
std::vector<Step> stepsOf(const TracedCore &core);

/// Of a PE with peers on other hosts; what it asks of the network comes to onRemote.
inline constexpr RemoteEngine kNetwork = {};

/// A job of `pes` PEs in one process.
class World {
public:
  static constexpr uint64_t kUser = 4 << 20;

  explicit World(int32_t pes);

  template <typename T> T *at(int32_t pe, uint64_t offset) {
    return reinterpret_cast<T *>(static_cast<uint8_t *>(bases[pe]) + offset);
  }

  /// Core `index` of `cores` of PE `pe`.
  TracedCore core(int32_t pe, uint32_t index = 0, uint32_t cores = 1);

  const int32_t count;
  std::vector<void *> bases;
  struct Free {
    void operator()(uint8_t *p) const { ::operator delete[](p, std::align_val_t(64)); }
  };
  std::vector<std::unique_ptr<uint8_t[], Free>> heaps;
  std::vector<std::unique_ptr<DeviceState>> states;
  std::vector<std::unique_ptr<TeamRecord>> teams;
};

} // namespace piton::traced

#endif // PITON_TEST_DEVICE_TRACEDWORLD_H
