// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The matrix product that dot and dot_scaled share.
#ifndef PITON_COMPILER_CONVERSION_TRITONTOLINALG_DOT_H
#define PITON_COMPILER_CONVERSION_TRITONTOLINALG_DOT_H

#include "compiler/Conversion/TritonToLinalg/Lowering.h"

namespace piton::linalglowering {

/// accumulator + lhs * rhs (rank 2, or 3 with a leading batch), accumulated in f32 when the
/// accumulator is a narrower float; `precision` is kept as input_precision.
mlir::Value multiply(mlir::OpBuilder &b, mlir::Location loc, mlir::Value lhs, mlir::Value rhs,
                     mlir::Value accumulator, llvm::StringRef precision);

} // namespace piton::linalglowering

#endif // PITON_COMPILER_CONVERSION_TRITONTOLINALG_DOT_H
