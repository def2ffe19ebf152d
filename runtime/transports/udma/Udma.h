// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// UDMA: a pair of send and completion queues per peer with a doorbell register
// (abi/TransferQueues.h), posted to in the order of the hardware. An entry's work is done in the
// order of its queue.
#ifndef PITON_RUNTIME_TRANSPORTS_UDMA_UDMA_H
#define PITON_RUNTIME_TRANSPORTS_UDMA_UDMA_H

#include "runtime/transports/EngineThread.h"
#include "runtime/transports/Transport.h"

#include <memory>
#include <vector>

namespace piton::shmem {

class UdmaTransport final : public Transport {
public:
  /// Starts the engine and enters the queue table into the state. `written` is told of addresses
  /// that the engine has stored to. Null on failure, which is reported.
  static std::unique_ptr<UdmaTransport> create(DeviceState &state,
                                               std::function<void(const void *)> written);
  ~UdmaTransport() override;

  const char *name() const override { return "UDMA"; }
  int put(const Transfer &transfer) override;
  int get(const Transfer &transfer) override;
  int signal(const SignalRequest &request) override;
  int fence(int pe) override;
  int quiet(int pe) override;

  /// Called after each step of a post (1 to 5, see udmaPost), for tests.
  std::function<void(int step)> trace;

private:
  explicit UdmaTransport(DeviceState &state) : state(state) {}
  bool serve();
  void execute(int pe, const UdmaEntry &entry, const UdmaSge &sge, const UdmaOperand &operand,
               UdmaCompletion &completion);
  int post(const UdmaRequest &request);
  int drain(int pe);
  int checkStatus(int pe, uint8_t status);
  void lock(int pe);
  void unlock(int pe);

  DeviceState &state;
  std::function<void(const void *)> written;
  char *memory = nullptr;
  uint64_t memoryBytes = 0;
  UdmaQueueTable table = {};
  EngineRegisters registers = {};
  std::vector<uint32_t> consumed; ///< blocks of each queue that the engine has done
  EngineThread engine;
};

} // namespace piton::shmem

#endif // PITON_RUNTIME_TRANSPORTS_UDMA_UDMA_H
