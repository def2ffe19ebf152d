// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Engine threads.

#include "runtime/transports/EngineThread.h"

#include "runtime/shmem/ServiceThread.h"
#include "runtime/shmem/Wait.h"

#include <chrono>
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace piton::shmem {

bool EngineThread::start(EngineRegisters &given, std::function<bool()> body, std::string &error) {
  registers = &given;
  serve = std::move(body);
  return startLibraryThread(thread, [this] { run(); }, error);
}

void EngineThread::stop() {
  if (!thread.joinable())
    return;
  stopping = true;
  ring(*registers);
  thread.join();
}

void EngineThread::ring(EngineRegisters &registers) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (__atomic_load_n(&registers.sleeping, __ATOMIC_RELAXED) == 0)
    return;
  __atomic_fetch_add(&registers.wake, 1, __ATOMIC_SEQ_CST);
  wakeAll(&registers.wake);
}

void EngineThread::run() {
  constexpr unsigned kIdleRounds = 100;
  constexpr timespec kNap = {0, 5000000}; // bounds what a producer loses that does not ring
  for (unsigned idle = 0; !stopping.load(std::memory_order_relaxed);) {
    if (serve()) {
      idle = 0;
      continue;
    }
    if (++idle < kIdleRounds) {
      sched_yield();
      continue;
    }
    __atomic_store_n(&registers->sleeping, 1, __ATOMIC_SEQ_CST);
    uint32_t wake = __atomic_load_n(&registers->wake, __ATOMIC_SEQ_CST);
    if (!serve() && !stopping.load())
      syscall(SYS_futex, &registers->wake, FUTEX_WAIT, wake, &kNap, nullptr, 0);
    __atomic_store_n(&registers->sleeping, 0, __ATOMIC_SEQ_CST);
  }
  while (serve()) { // what was started before stop() is done
  }
}

bool waitForEngine(const std::function<bool()> &done) {
  for (unsigned i = 0; i < 200; ++i) {
    if (done())
      return true;
    pauseCpu();
  }
  auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!done()) {
    if (std::chrono::steady_clock::now() >= deadline)
      return false;
    sched_yield();
  }
  return true;
}

void *mapQueueMemory(uint64_t bytes) {
  void *at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at == MAP_FAILED ? nullptr : at;
}

void unmapQueueMemory(void *memory, uint64_t bytes) {
  if (memory)
    munmap(memory, bytes);
}

} // namespace piton::shmem
