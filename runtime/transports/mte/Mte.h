// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MTE: the caller itself moves the bytes, by load and store through its mapping of the peer's heap.
// Operations are complete when they return.
#ifndef PITON_RUNTIME_TRANSPORTS_MTE_MTE_H
#define PITON_RUNTIME_TRANSPORTS_MTE_MTE_H

#include "runtime/GuardedMemory.h"
#include "runtime/transports/Transport.h"

namespace piton::shmem {

class MteTransport final : public Transport {
public:
  const char *name() const override { return "MTE"; }
  bool findsBadMemory() const override { return true; }
  int put(const Transfer &transfer) override;
  int get(const Transfer &transfer) override;
  int signal(const SignalRequest &request) override;
  int fence(int pe) override;
  int quiet(int pe) override;
};

/// Copies as the hardware does: a word that lies at a multiple of its size is stored as a whole, so
/// that who polls it never sees half of it, and behind everything stored before.
bool copyBytes(void *destination, const void *source, uint64_t bytes, BadAccess &bad);

/// What a signal does to its word: SET is a release store, ADD an atomic addition.
void applySignal(int32_t *word, int32_t value, SignalOp op);

} // namespace piton::shmem

#endif // PITON_RUNTIME_TRANSPORTS_MTE_MTE_H
