// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// SIGTERM while this process is a PE. When a PE dies, its launcher (torchrun, mpirun) ends all the
// others at once, often before they have been scheduled to say which PE it was. So where the
// program leaves SIGTERM at its default, a PE takes the signal a moment late: after kSilentGrace,
// or, once it knows that the job is lost, when its calls have had kLossGrace to raise that. It ends
// by the signal either way, and by itself if the program ends first.
#ifndef PITON_RUNTIME_SHMEM_TERMINATION_H
#define PITON_RUNTIME_SHMEM_TERMINATION_H

#include <chrono>

namespace piton::shmem {

/// For the news of a loss to come in: a closed connection is seen at once, by a thread that needs a
/// turn on a crowded machine.
inline constexpr std::chrono::milliseconds kSilentGrace{400};
/// Counted from the loss: for a call, or what the program does before it, to end.
inline constexpr std::chrono::milliseconds kLossGrace{5000};

/// This process becomes a PE. Leaves the program's own handling of SIGTERM, now or later, alone.
void armTermination();
/// It is one no more: SIGTERM acts at once again.
void disarmTermination();
/// SIGTERM has come, and its effect is held back.
bool terminationRequested();
/// The job is lost: calls raise that from now on. Any thread.
void noteLoss();
/// In the child after fork, which is no PE.
void disarmTerminationInChild();

} // namespace piton::shmem

#endif // PITON_RUNTIME_SHMEM_TERMINATION_H
