// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The host threads that act as the NPU's cores. A launch on the user's thread uses that thread's
// OpenMP team when the process has one, because two pools that spin against each other make both
// two to three times slower; everything else uses Piton's own pool.
#ifndef PITON_SIM_TEAM_H
#define PITON_SIM_TEAM_H

namespace piton::sim {

/// What every member of a team runs: `index` of `count`; the caller is one of them.
using TeamBody = void (*)(void *data, unsigned index, unsigned count);

/// Threads a launch may use: PITON_NUM_THREADS, else OMP_NUM_THREADS, else the CPUs this process
/// may run on.
unsigned threadBudget();

/// Runs `body` on up to `wanted` threads, at least on the caller, and returns when all are done.
/// The number of members may be smaller or (OpenMP) larger than wanted.
void runTeam(bool mayUseOpenMP, unsigned wanted, TeamBody body, void *data);

/// In the child after fork: own threads are gone, and libgomp would hang.
void resetTeamsAfterFork();

} // namespace piton::sim

#endif // PITON_SIM_TEAM_H
