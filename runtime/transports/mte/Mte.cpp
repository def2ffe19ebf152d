// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Load and store on the peer's mapping.

#include "runtime/transports/mte/Mte.h"

#include <atomic>
#include <cstring>

namespace piton::shmem {

namespace {

/// False if one side is not aligned.
template <typename T> bool copyWord(void *destination, const void *source) {
  auto either = reinterpret_cast<uintptr_t>(destination) | reinterpret_cast<uintptr_t>(source);
  if (either % sizeof(T))
    return false;
  T value = __atomic_load_n(static_cast<const T *>(source), __ATOMIC_ACQUIRE);
  __atomic_store_n(static_cast<T *>(destination), value, __ATOMIC_RELEASE);
  return true;
}

bool copyAsWord(void *destination, const void *source, uint64_t bytes) {
  switch (bytes) {
  case 1:
    return copyWord<uint8_t>(destination, source);
  case 2:
    return copyWord<uint16_t>(destination, source);
  case 4:
    return copyWord<uint32_t>(destination, source);
  case 8:
    return copyWord<uint64_t>(destination, source);
  default:
    return false;
  }
}

} // namespace

bool copyBytes(void *destination, const void *source, uint64_t bytes, BadAccess &bad) {
  auto copy = [](void *to, const void *from, uint64_t count) {
    if (!copyAsWord(to, from, count))
      std::memmove(to, from, count);
  };
  return tryCopyWith(copy, destination, source, bytes, bad);
}

void applySignal(int32_t *word, int32_t value, SignalOp op) {
  if (op == kSignalAdd)
    __atomic_fetch_add(word, value, __ATOMIC_ACQ_REL);
  else
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
}

int MteTransport::put(const Transfer &transfer) {
  BadAccess bad;
  return copyBytes(transfer.remote, transfer.local, transfer.bytes, bad) ? 0 : kBadLocalMemory;
}

int MteTransport::get(const Transfer &transfer) {
  BadAccess bad;
  return copyBytes(transfer.local, transfer.remote, transfer.bytes, bad) ? 0 : kBadLocalMemory;
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
