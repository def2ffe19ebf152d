// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text of tl.device_print, as Triton prints it on other targets: one line per element,
// `pid (x, y, z) idx (i, j) prefix: value`.
#ifndef PITON_SIM_DEVICEPRINT_H
#define PITON_SIM_DEVICEPRINT_H

#include "abi/KernelAbi.h"

#include <string>

namespace piton::sim {

/// Appends the lines of one print to `out`.
void formatPrint(std::string &out, const uint32_t pid[3], const char *prefix, bool hex,
                 const PrintOperand *operands, uint32_t count);

} // namespace piton::sim

#endif // PITON_SIM_DEVICEPRINT_H
