// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM as a guest in somebody else's process: it may recover from lld's fatal errors, but the
// process's signals stay with the host (Python's Ctrl-C, the runtime's kernel faults).
#ifndef PITON_COMPILER_HOSTSIGNALS_H
#define PITON_COMPILER_HOSTSIGNALS_H

namespace piton {

/// Switches LLVM's crash recovery on without leaving any of its signal handlers installed, now or
/// later. Idempotent, any thread; best called before other threads install handlers of their own.
void enableRecoveryWithoutHandlers();

} // namespace piton

#endif // PITON_COMPILER_HOSTSIGNALS_H
