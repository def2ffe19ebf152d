// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Run-time tests of whether a load and a store touch the same memory. Pointers of a kernel are
// not known to be distinct, so reading memory where a local copy was asked for needs one.
#ifndef PITON_COMPILER_TARGET_SIMULATOR_OVERLAP_H
#define PITON_COMPILER_TARGET_SIMULATOR_OVERLAP_H

#include "compiler/Target/Simulator/Transfers.h"

namespace piton::simulator {

/// Attribute of a copy that is made only when ranges overlap: short code before fast code.
inline constexpr char kRareAttr[] = "piton.rare";

/// A box of memory: a view with innermost stride 1, and its extents (null: full).
struct Region {
  mlir::Value memory;
  llvm::ArrayRef<mlir::Value> box;
};

/// An i1: the store cannot change what the load reads. `inPlace` also allows one and the same
/// place, when every element is read before it is written.
mlir::Value emitOverlapTest(mlir::OpBuilder &b, mlir::Location loc, Region load, Region store,
                            bool inPlace);

/// The load's memory when `safe`, else its local buffer with the copy made here. Lanes outside
/// of the box are undefined in both, or for `wholeOnly` the pad in the buffer.
mlir::Value emitGuardedCopy(mlir::OpBuilder &b, mlir::Location loc, const Load &load,
                            mlir::Value safe);

/// Makes the load's memory safe to read: tests the stores that lie between it and its readers,
/// and a box that has to be full, and falls back to the local copy.
void guardLoad(Load &load);

} // namespace piton::simulator

#endif // PITON_COMPILER_TARGET_SIMULATOR_OVERLAP_H
