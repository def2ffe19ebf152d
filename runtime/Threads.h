// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Threads that serve the runtime: they leave the program's signals to the program's threads.
#ifndef PITON_RUNTIME_THREADS_H
#define PITON_RUNTIME_THREADS_H

namespace piton {

/// Starts a detached thread that runs body(data) with all signals blocked except those that faults
/// and interrupts of kernels need. False if the system refuses.
bool startServiceThread(void (*body)(void *), void *data);

} // namespace piton

#endif // PITON_RUNTIME_THREADS_H
