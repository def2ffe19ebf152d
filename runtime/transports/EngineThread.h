// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The thread that stands in for a copy engine: serves its rings while there is work and sleeps
// until a doorbell rings.
#ifndef PITON_RUNTIME_TRANSPORTS_ENGINETHREAD_H
#define PITON_RUNTIME_TRANSPORTS_ENGINETHREAD_H

#include "abi/TransferQueues.h"

#include <atomic>
#include <functional>
#include <string>
#include <thread>

namespace piton::shmem {

class EngineThread {
public:
  ~EngineThread() { stop(); }
  /// `serve` does some of the work that is there; false if there was none. False, with the reason,
  /// if the system gives no thread.
  bool start(EngineRegisters &registers, std::function<bool()> serve, std::string &error);
  void stop();

  /// After a doorbell was written.
  static void ring(EngineRegisters &registers);

private:
  void run();

  EngineRegisters *registers = nullptr;
  std::function<bool()> serve;
  std::atomic<bool> stopping{false};
  std::thread thread;
};

/// Waits until done() while an engine works; false if that takes longer than a minute.
bool waitForEngine(const std::function<bool()> &done);

/// Private memory of `bytes`, zero and page-aligned, of which only touched pages are spent; null if
/// there is none.
void *mapQueueMemory(uint64_t bytes);
void unmapQueueMemory(void *memory, uint64_t bytes);

} // namespace piton::shmem

#endif // PITON_RUNTIME_TRANSPORTS_ENGINETHREAD_H
