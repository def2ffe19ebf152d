// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// SDMA: an asynchronous copy engine with a ring of descriptors per core and one for the host
// (abi/TransferQueues.h). Copies of one ring are done in order.
#ifndef PITON_RUNTIME_TRANSPORTS_SDMA_SDMA_H
#define PITON_RUNTIME_TRANSPORTS_SDMA_SDMA_H

#include "runtime/transports/EngineThread.h"
#include "runtime/transports/Transport.h"

#include <memory>
#include <mutex>
#include <string>

namespace piton::shmem {

class SdmaTransport final : public Transport {
public:
  /// Starts the engine and enters the workspace into the state. `written` is told of addresses that
  /// the engine has stored to, `failed` of copies that it cannot make: who wanted them has gone on.
  /// Null on failure, which is reported.
  static std::unique_ptr<SdmaTransport> create(
      DeviceState &state, std::function<void(const void *)> written,
      std::function<void(const std::string &)> failed = [](const std::string &) {});
  ~SdmaTransport() override;

  const char *name() const override { return "SDMA"; }
  int put(const Transfer &transfer) override;
  int get(const Transfer &transfer) override;
  int signal(const SignalRequest &request) override;
  int fence(int pe) override;
  int quiet(int pe) override;

private:
  explicit SdmaTransport(DeviceState &state) : state(state) {}
  bool serve();
  void execute(const SdmaEntry &entry);
  int copy(const void *source, void *destination, uint64_t bytes);
  int waitForRoom(SdmaChannel &channel);
  int drain(); ///< under the mutex
  SdmaChannel &hostChannel() { return workspace->channels[kSdmaHostChannel]; }

  DeviceState &state;
  std::function<void(const void *)> written;
  std::function<void(const std::string &)> failed;
  void *memory = nullptr;
  SdmaWorkspace *workspace = nullptr;
  std::mutex mutex; ///< the host's ring has one producer at a time
  EngineThread engine;
};

} // namespace piton::shmem

#endif // PITON_RUNTIME_TRANSPORTS_SDMA_SDMA_H
