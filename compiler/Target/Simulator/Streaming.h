// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether a launch should store past the caches, asked for once per block.
#ifndef PITON_COMPILER_TARGET_SIMULATOR_STREAMING_H
#define PITON_COMPILER_TARGET_SIMULATOR_STREAMING_H

#include "compiler/Target/Simulator/Transfers.h"

namespace piton::simulator {

/// An i1: the launch moves more than the caches hold. Null when the kernel may not store past
/// them: such stores reach other threads late, so nothing in it may tell others to look.
mlir::Value emitStreamFlag(mlir::func::FuncOp function, const Transfers &transfers);

} // namespace piton::simulator

#endif // PITON_COMPILER_TARGET_SIMULATOR_STREAMING_H
