// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one analysis of addresses: what a tensor of pointers addresses, as a base,
// a scalar offset and one stride a dimension. Shared by every pass that rewrites
// accesses; nothing else in the compiler interprets pointer arithmetic.
#ifndef PITON_COMPILER_ANALYSIS_ADDRESSANALYSIS_H
#define PITON_COMPILER_ANALYSIS_ADDRESSANALYSIS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/Value.h"

namespace piton {

/// A structured address: lane (i0, i1, ...) is base + offset + sum i_d * strides[d],
/// in elements of the pointee.
struct StructuredAddress {
  mlir::Value base;                              ///< scalar !tt.ptr
  mlir::OpFoldResult offset;                     ///< index, 64-bit arithmetic
  mlir::SmallVector<int64_t> sizes;              ///< the tensor's shape (empty for a scalar)
  mlir::SmallVector<mlir::OpFoldResult> strides; ///< index; 0 for broadcast dimensions
};

/// Analyses `ptr` (a scalar pointer or a tensor of pointers). On success the scalar
/// arithmetic that the result needs has been created at `builder`'s insertion point,
/// where every value `ptr` depends on must dominate. On failure no IR has changed
/// and `reason`, if given, says what could not be structured.
mlir::FailureOr<StructuredAddress> analyzeAddress(mlir::Value ptr, mlir::OpBuilder &builder,
                                                  std::string *reason = nullptr);

/// True when `analyzeAddress` would succeed; creates nothing.
bool isStructuredAddress(mlir::Value ptr);

class LaneAnalysis;
struct LaneForm;
/// The base of `form` as a scalar pointer of `pointerType`: a cast of it, or a pointer made from
/// an integer address. `replaced` as in ExprContext::materialize.
mlir::Value materializeBase(LaneAnalysis &lanes, const LaneForm &form, mlir::Type pointerType,
                            mlir::OpBuilder &builder, mlir::Location loc,
                            const llvm::DenseMap<mlir::Value, mlir::Value> *replaced = nullptr);

} // namespace piton

#endif // PITON_COMPILER_ANALYSIS_ADDRESSANALYSIS_H
