// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Waits of distributed kernels: what a block waits for in words, what this PE tells the others
// about it (its board), and the end of a wait when the job has failed.
#ifndef PITON_SIM_WAITS_H
#define PITON_SIM_WAITS_H

#include "abi/DeviceState.h"
#include "sim/Worker.h"

#include <string>

namespace piton::sim {

/// What `request` waits for: "waits until the signal word at ... equals 1, but it is 0". Empty for
/// null.
std::string describeWait(const Slot &slot, const WaitRequest *request);

/// Ends the launch if the job has failed meanwhile, with what the block waits for and why it never
/// comes; true if it has.
bool endIfJobFailed(const Slot &slot, const WaitRequest &request);

/// Tells the other PEs, on this PE's board, that everything here waits, `slot` longest. The host
/// library watches the boards: when nobody moves any more it fails the job.
void publishWait(Launch &launch, const Slot &slot);
/// Takes that back.
void clearWait(const Launch &launch);

} // namespace piton::sim

#endif // PITON_SIM_WAITS_H
