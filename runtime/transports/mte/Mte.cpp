// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Load and store on the peer's mapping.

#include "runtime/transports/mte/Mte.h"

#include <atomic>
#include <cstring>

namespace piton::shmem {

void applySignal(int32_t *word, int32_t value, SignalOp op) {
  if (op == kSignalAdd)
    __atomic_fetch_add(word, value, __ATOMIC_ACQ_REL);
  else
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
}

int MteTransport::put(const Transfer &transfer) {
  std::memmove(transfer.remote, transfer.local, transfer.bytes);
  return 0;
}

int MteTransport::get(const Transfer &transfer) {
  std::memmove(transfer.local, transfer.remote, transfer.bytes);
  return 0;
}

int MteTransport::signal(const SignalRequest &request) {
  applySignal(request.remote, request.value, request.op);
  return 0;
}

int MteTransport::fence(int) {
  std::atomic_thread_fence(std::memory_order_release);
  return 0;
}

int MteTransport::quiet(int) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return 0;
}

} // namespace piton::shmem
