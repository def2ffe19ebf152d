// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Signals: faults inside kernels become launch errors at the Python line, and Ctrl-C ends running
// launches. Signals that do not concern a kernel go to the handler that was there before.
#ifndef PITON_SIM_FAULTS_H
#define PITON_SIM_FAULTS_H

#include "sim/Worker.h"

namespace piton::sim {

/// Installs the handlers, again if something (faulthandler, signal.signal) has replaced them since.
/// Called at every launch; two system calls when all is in place.
void ensureSignalHandlers();

/// Text for the fault recorded in `slot`: what, kernel, program id, line.
std::string describeFault(const Slot &slot);

/// "kernel 'name', program id (x, y, z)" of the block in `slot`.
std::string describeBlock(const Slot &slot);

/// "file:line: kernel 'name', program id (x, y, z)" for code address `pc` of that block.
std::string describePlace(const Slot &slot, uint64_t pc);

} // namespace piton::sim

#endif // PITON_SIM_FAULTS_H
