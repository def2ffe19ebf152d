// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One way to reach the heap of another PE. The engines differ in who moves the bytes and when; what
// a caller may rely on is the same for all, so choosing one changes no program:
//   - put, get and signal start an operation. Until quiet() returns a put's source must not change
//   and
//     a get's destination is undefined;
//   - operations that precede fence(pe) are visible to the PE before those that follow it;
//   - quiet(pe) returns when all operations on that PE (kAllPes: on any) are visible there;
//   - a signal is ordered behind the operations on the same PE that came before it.
#ifndef PITON_RUNTIME_TRANSPORTS_TRANSPORT_H
#define PITON_RUNTIME_TRANSPORTS_TRANSPORT_H

#include "abi/DeviceState.h"

#include <cstdint>

namespace piton::shmem {

inline constexpr int kAllPes = -1;

/// What put and get of an engine that findsBadMemory() return, without a report, if `local` cannot
/// be read or written. It is no aclshmem_error_code_t.
inline constexpr int kBadLocalMemory = 1;

/// Bytes between this process's memory and a heap of another PE (or its own).
struct Transfer {
  int pe;
  void *remote;    ///< in this process's table of heap bases; need not be mapped for ROCE
  uint64_t offset; ///< of the remote bytes in the peer's heap
  bool hostHeap;   ///< the offset is in the host-side heap
  void *local;
  uint64_t bytes;
};

/// A 32-bit word in the heap of a PE.
struct SignalRequest {
  int pe;
  int32_t *remote;
  uint64_t offset;
  bool hostHeap;
  int32_t value;
  SignalOp op;
};

/// Functions return aclshmem_error_code_t and report failures. Any thread.
class Transport {
public:
  virtual ~Transport() = default;
  virtual const char *name() const = 0;
  /// Others must be given local memory that is there: who moves the data cannot tell the caller.
  virtual bool findsBadMemory() const { return false; }
  virtual int put(const Transfer &transfer) = 0;
  virtual int get(const Transfer &transfer) = 0;
  virtual int signal(const SignalRequest &request) = 0;
  virtual int fence(int pe) = 0;
  virtual int quiet(int pe) = 0;
};

} // namespace piton::shmem

#endif // PITON_RUNTIME_TRANSPORTS_TRANSPORT_H
