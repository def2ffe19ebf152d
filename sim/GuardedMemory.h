// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the fault handler needs to know of runtime/GuardedMemory.h.
#ifndef PITON_SIM_GUARDEDMEMORY_H
#define PITON_SIM_GUARDEDMEMORY_H

#include "runtime/GuardedMemory.h"
#include "sim/Context.h"

namespace piton::sim {

/// If this thread is in a guarded access: records the fault and makes the thread leave the access
/// when the handler returns. Async-signal-safe.
bool leaveGuardedAccess(int signal, const siginfo_t *info, ucontext_t *context);

} // namespace piton::sim

#endif // PITON_SIM_GUARDEDMEMORY_H
