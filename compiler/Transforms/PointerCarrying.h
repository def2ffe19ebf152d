// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pointers as data: carried by loops and branches, chosen by select, loaded from and
// stored to memory. All of these become integers.
#ifndef PITON_COMPILER_TRANSFORMS_POINTERCARRYING_H
#define PITON_COMPILER_TRANSFORMS_POINTERCARRYING_H

#include "mlir/IR/Operation.h"
#include "mlir/Support/LLVM.h"

namespace piton {

/// Makes every pointer below `root` that crosses a region boundary, is selected or lies in memory
/// an i64: an offset from a pointer outside where the pointers share one, an address elsewhere.
/// Afterwards pointers come only from arguments, calls and integers. Fails, with an error at the
/// op, on a reduction or scan over pointers.
mlir::LogicalResult pointersToIntegers(mlir::Operation *root);

} // namespace piton

#endif // PITON_COMPILER_TRANSFORMS_POINTERCARRYING_H
