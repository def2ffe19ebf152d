// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the files of the bisheng legalisation share: the context of a run, builders
// of tensor arithmetic in accepted forms, and one entry per group of forms.
#ifndef PITON_COMPILER_TARGET_BISHENGFORMS_H
#define PITON_COMPILER_TARGET_BISHENGFORMS_H

#include "compiler/Dialect/HIVM/HIVM.h"
#include "compiler/Target/Bisheng.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

namespace piton::bisheng {

/// State of one legalisation: where to build, and for which compiler.
struct Context {
  mlir::IRRewriter rewriter;
  BishengFamily family;

  Context(mlir::MLIRContext *context, BishengFamily family) : rewriter(context), family(family) {}
  bool isC220() const { return family == BishengFamily::C220; }
};

/// The compiler's name in messages.
llvm::StringRef compilerName(BishengFamily family);

/// Reports `op` as having no form that the compiler takes: names the op, `why`, and `change`,
/// what the user can do.
mlir::LogicalResult refuse(mlir::Operation *op, BishengFamily family, const llvm::Twine &why,
                           const llvm::Twine &change);

// Builders. `like` gives the shape; all build at the rewriter's insertion point.

/// A tensor of `type` filled with a scalar: tensor.empty and linalg.fill, or the scalar itself
/// where `type` is one.
mlir::Value splat(mlir::OpBuilder &b, mlir::Location loc, mlir::Value scalar, mlir::Type type);
mlir::Value splatInt(mlir::OpBuilder &b, mlir::Location loc, const llvm::APInt &value,
                     mlir::Type type);
mlir::Value splatInt(mlir::OpBuilder &b, mlir::Location loc, int64_t value, mlir::Type type);
mlir::Value splatFloat(mlir::OpBuilder &b, mlir::Location loc, double value, mlir::Type type);
/// `value` with the sign bit of each integer flipped: maps unsigned order to signed order.
mlir::Value flipSign(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value);
/// `!value` of an i1 tensor or scalar.
mlir::Value negate(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value);
/// The shaped type of `type` with another element type; `element` itself for scalars.
mlir::Type withElement(mlir::Type type, mlir::Type element);
/// Indices along dimension `dim` as an i32 tensor of this shape: arange, then broadcast.
mlir::Value indicesAlong(mlir::OpBuilder &b, mlir::Location loc, llvm::ArrayRef<int64_t> shape,
                         int64_t dim);
/// `op`, elementwise on tensors, as a loop nest over its scalar form. Gives the new results.
llvm::SmallVector<mlir::Value> scalarLoop(mlir::OpBuilder &b, mlir::Operation *op);

/// A barrier of one pipe; of all pipes it lets everything before it reach memory.
void pipeBarrier(mlir::OpBuilder &b, mlir::Location loc, mlir::hivm::Pipe pipe);

/// The scalar that fills all of `value`, or null.
mlir::Value fillValueOf(mlir::Value value);
/// The constant that fills all of `value` (or that it is), or null.
mlir::TypedAttr constantFillOf(mlir::Value value);

// Bodies of structured ops.

/// Whether `body` holds arithmetic on scalars only.
bool isElementwiseBody(mlir::Block &body);
/// `body` on tensors of `shape`; `map` gives tensors for its arguments. Gives what it yields.
llvm::SmallVector<mlir::Value> cloneBodyOnTensors(mlir::OpBuilder &b, mlir::Block &body,
                                                  llvm::ArrayRef<int64_t> shape,
                                                  mlir::IRMapping &map);
llvm::SmallVector<mlir::Value> cloneBodyOnScalars(mlir::OpBuilder &b, mlir::Block &body,
                                                  mlir::IRMapping &map);
/// Whether `op` counts along one dimension, the one linalg.generic on tensors that both take.
bool isArange(mlir::linalg::GenericOp op);
/// The one op that combines in a reduction of one tensor, or null if there is more to it.
mlir::Operation *soleCombiner(mlir::linalg::ReduceOp op);
/// The value that a combiner leaves alone, or null for ops that have none.
mlir::TypedAttr neutralOf(mlir::Operation *combiner);

/// What is wrong with a load, if anything: see BishengLoads.cpp.
enum class LoadFault { None, LatePadding, SpreadPadding, PartialRows };
LoadFault loadFaultOf(mlir::memref::CopyOp copy);

/// The pointer argument, address or buffer behind a view.
mlir::Value baseOf(mlir::Value value);

/// Lets one half of a kernel for both kinds of cores make this call, the one that stored last, and
/// lets it wait for what the other one has stored.
void sendFromOneCore(mlir::hivm::CustomOp call);

/// The form of a library call that the 950 compiler takes.
mlir::LogicalResult legalizeDistributedA5(mlir::hivm::CustomOp op, llvm::StringRef symbol,
                                          Context &context);

// The groups of forms, in the order in which they run.

/// linalg.generic and linalg.map over tensors -> tensor arithmetic.
mlir::LogicalResult legalizeGenerics(mlir::ModuleOp module, Context &context);
/// linalg.reduce.
mlir::LogicalResult legalizeReductions(mlir::ModuleOp module, Context &context);
/// linalg.matmul and linalg.batch_matmul.
mlir::LogicalResult legalizeMatmuls(mlir::ModuleOp module, Context &context);
/// Loads of tiles with padding or elements that lie apart.
mlir::LogicalResult legalizeLoads(mlir::ModuleOp module, Context &context);
/// linalg.generic with GenericAtomicRMW.
mlir::LogicalResult legalizeAtomics(mlir::ModuleOp module, Context &context);
/// Calls of the communication library.
mlir::LogicalResult legalizeDistributed(mlir::ModuleOp module, Context &context);
/// Constants, switches, ops of newer MLIR.
mlir::LogicalResult legalizeMemory(mlir::ModuleOp module, Context &context);
/// arith and math on tensors.
mlir::LogicalResult legalizeElementwise(mlir::ModuleOp module, Context &context);
/// Copies in front of users of a buffer that cope with no padded rows.
mlir::LogicalResult legalizeLayout(mlir::ModuleOp module, Context &context);
/// Barriers between stores and loads through pointers that may be one.
mlir::LogicalResult legalizeOrder(mlir::ModuleOp module, Context &context);
/// Refuses what is left of the forms that the compiler takes wrongly.
mlir::LogicalResult verifyForms(mlir::ModuleOp module, BishengFamily family);

} // namespace piton::bisheng

#endif // PITON_COMPILER_TARGET_BISHENGFORMS_H
