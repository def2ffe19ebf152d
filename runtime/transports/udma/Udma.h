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
#include <mutex>
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

  /// Called after each step of a post, for tests.
  std::function<void(UdmaStep step, const void *address)> trace;

private:
  explicit UdmaTransport(DeviceState &state) : state(state) {}
  void publish(uint64_t queues);
  bool serve();
  void execute(UdmaWorkQueue &send, const UdmaEntry &entry, const UdmaSge &sge,
               const UdmaOperand &operand, UdmaCompletion &completion);
  int post(const UdmaRequest &request);
  int move(UdmaOpcode opcode, const Transfer &transfer);
  int drain(int pe);
  int checkStatus(int pe, uint8_t status);
  /// The host's queue of a PE.
  uint32_t queueOf(int pe) const { return table.count + static_cast<uint32_t>(pe); }

  DeviceState &state;
  std::function<void(const void *)> written;
  char *memory = nullptr;
  uint64_t memoryBytes = 0;
  UdmaQueueTable table = {};
  EngineRegisters registers = {};
  std::vector<uint32_t> consumed;  ///< blocks of each queue that the engine has done
  std::vector<std::mutex> mutexes; ///< by PE: a queue has one producer at a time
  EngineThread engine;
};

} // namespace piton::shmem

#endif // PITON_RUNTIME_TRANSPORTS_UDMA_UDMA_H
