// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Waits of kernels in a distributed job: what a block waits for in words, what this PE tells the
// others about it (its board), and the end of a wait when the job has failed.
#ifndef PITON_SIM_WAITS_H
#define PITON_SIM_WAITS_H

#include "abi/DeviceState.h"
#include "sim/Worker.h"

#include <string>

namespace piton::sim {

/// The state of this PE if the launch is part of a job, else null.
DeviceState *stateOf(const Launch &launch);

/// An address as "heap + offset of PE n", or as a number.
std::string describeAddress(const DeviceState *state, const void *address);

/// What `request` waits for: "waits until the signal word at ... equals 1, but it is 0". Empty for
/// null.
std::string describeWait(const Slot &slot, const WaitRequest *request);

/// True of a wait for the other side of the block or for the other blocks: somebody else of this
/// launch says why it does not end.
bool isInnerWait(const Slot &slot);

/// Ends the launch if the job has failed meanwhile, with what the block waits for and why it never
/// comes; true if it has. `request` is null in a loop of the kernel's own.
bool endIfJobFailed(const Slot &slot, const WaitRequest *request);

/// On this PE's board for as long as the object lives: that a launch runs.
class RunningOnBoard {
public:
  explicit RunningOnBoard(const Launch &launch);
  ~RunningOnBoard();
  RunningOnBoard(const RunningOnBoard &) = delete;
  RunningOnBoard &operator=(const RunningOnBoard &) = delete;

private:
  PeBoard *board;
};

/// Tells the other PEs, on this PE's board, that everything in the launch waits, `slot` among it.
/// The host library watches the boards: when nobody moves any more it fails the job.
void publishWait(Launch &launch, const Slot &slot);
/// Takes that back.
void clearWait(Launch &launch);

/// This PE's doorbell if the launch is part of a job, else null.
Doorbell *ownDoorbell(const Launch &launch);

/// Sleeps until the bell is rung, is not `seen` any more, or the time is over.
void sleepOnBell(Doorbell &doorbell, uint32_t seen, int64_t nanoseconds);

} // namespace piton::sim

#endif // PITON_SIM_WAITS_H
