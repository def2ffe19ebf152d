// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the files of triton-to-linalg share: the state of one run, and one function an op.
// Every `lower` function replaces and erases its op, at the op's location, or reports at
// that location what it cannot lower and why.
#ifndef PITON_COMPILER_CONVERSION_TRITONTOLINALG_LOWERING_H
#define PITON_COMPILER_CONVERSION_TRITONTOLINALG_LOWERING_H

#include "compiler/Analysis/AddressAnalysis.h"
#include "compiler/Analysis/MaskAnalysis.h"
#include "compiler/Dialect/Triton/Triton.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

#include <map>

namespace piton::linalglowering {

/// `tt.tensor_kind` of an argument, as a set of bits until it is written.
enum AccessKind : unsigned { kReads = 1, kWrites = 2, kUpdates = 3 };

/// State of one run over a module. No member outlives the pass, nothing is global, so
/// several compilations may run at once.
class Lowering {
public:
  Lowering(mlir::ModuleOp module, bool hasDot) : module(module), hasDot(hasDot) {}

  mlir::ModuleOp module;
  bool hasDot; ///< some function has a dot or a dot_scaled

  //===--------------------------------------------------------------------===//
  // Functions.cpp
  //===--------------------------------------------------------------------===//

  /// Appends the six i32 program arguments to every tt.func that has a body.
  void appendProgramArguments();
  /// tt.get_program_id and tt.get_num_programs: the argument that holds the value.
  mlir::LogicalResult lowerProgramInfo(mlir::Operation *op);
  /// Calls pass the caller's program arguments on; pointers go as memrefs.
  mlir::LogicalResult lowerCall(mlir::triton::CallOp op);
  /// tt.func to func.func with the kernel's signature and attributes. Runs last.
  mlir::LogicalResult convertFunctions(bool globalKernel, bool hasSimt);

  //===--------------------------------------------------------------------===//
  // Address.cpp
  //===--------------------------------------------------------------------===//

  /// The memory behind an address: `memref<?xT>` and an element offset into it.
  struct Memory {
    mlir::Value memref;
    mlir::OpFoldResult offset;
  };

  /// Records that `pointer` (a base) is read or written, for tt.tensor_kind.
  void noteAccess(mlir::Value pointer, unsigned kind);
  /// The 64-bit address of a scalar pointer.
  mlir::Value addressOf(mlir::Value pointer, mlir::OpBuilder &b, mlir::Location loc);
  /// `pointer` as memref<?xT> whose element 0 is the pointee, for calls and foreign ops.
  mlir::Value wholeMemref(mlir::Value pointer, mlir::OpBuilder &b, mlir::Location loc);
  /// `address` as a strided memref over the given dimensions (a subset of its own).
  mlir::Value view(const StructuredAddress &address, mlir::ArrayRef<int64_t> sizes,
                   mlir::ArrayRef<mlir::OpFoldResult> strides, mlir::OpBuilder &b,
                   mlir::Location loc);
  /// analyzeAddress, with a diagnostic on `op` when it fails.
  mlir::FailureOr<StructuredAddress> analyze(mlir::Operation *op, mlir::Value pointer,
                                             mlir::OpBuilder &b);
  mlir::LogicalResult lowerPtrToInt(mlir::triton::PtrToIntOp op);
  /// After the last access: passes access kinds on from callees to callers and erases the
  /// pointer and mask arithmetic.
  void finishAccesses();
  /// Erases ops without users and effects, and placeholders without users.
  void eraseDead();
  /// Results of foreign ops that are pointers become the memrefs that stand for them.
  mlir::LogicalResult resolvePointers();
  /// Pointer operands and results of hivm and other foreign ops become memrefs.
  mlir::LogicalResult lowerForeignPointers(mlir::Operation *op);

  //===--------------------------------------------------------------------===//
  // Memory.cpp, Atomics.cpp
  //===--------------------------------------------------------------------===//

  mlir::LogicalResult lowerLoad(mlir::triton::LoadOp op);
  mlir::LogicalResult lowerStore(mlir::triton::StoreOp op);
  mlir::LogicalResult lowerAtomicRMW(mlir::triton::AtomicRMWOp op);
  mlir::LogicalResult lowerAtomicCAS(mlir::triton::AtomicCASOp op);
  /// Ops of the ascend dialect (AscendOps.cpp).
  mlir::LogicalResult lowerAscend(mlir::Operation *op);

  //===--------------------------------------------------------------------===//
  // Helpers.cpp: calls of private functions that the back end knows by name
  //===--------------------------------------------------------------------===//

  /// A new private declaration `name`, `name_0`, `name_1`, ... at the module's end.
  mlir::func::FuncOp declareHelper(llvm::StringRef name, mlir::FunctionType type,
                                   mlir::Location loc);
  mlir::LogicalResult lowerPrint(mlir::triton::PrintOp op);
  mlir::LogicalResult lowerAssert(mlir::triton::AssertOp op);
  mlir::LogicalResult lowerGather(mlir::triton::GatherOp op);
  mlir::LogicalResult lowerExtern(mlir::triton::ExternElementwiseOp op);

  //===--------------------------------------------------------------------===//
  // Elementwise.cpp, Shapes.cpp, Reduce.cpp, Scan.cpp, Dot.cpp, DotScaled.cpp
  //===--------------------------------------------------------------------===//

  mlir::LogicalResult lowerElementwise(mlir::Operation *op);
  mlir::LogicalResult lowerShape(mlir::Operation *op);
  mlir::LogicalResult lowerReduce(mlir::triton::ReduceOp op);
  mlir::LogicalResult lowerScan(mlir::triton::ScanOp op);
  mlir::LogicalResult lowerMapElementwise(mlir::triton::MapElementwiseOp op);
  mlir::LogicalResult lowerDot(mlir::triton::DotOp op);
  mlir::LogicalResult lowerDotScaled(mlir::triton::DotScaledOp op);

private:
  mlir::Value placeholder(mlir::Value pointer, mlir::OpBuilder &b);
  Memory memoryOf(mlir::Value base, mlir::OpBuilder &b, mlir::Location loc);
  mlir::LogicalResult convertFunction(mlir::triton::FuncOp func, bool globalKernel, bool hasSimt);
  void spreadKinds();

  /// Cast of a pointer to its memref<?xT>, one a pointer.
  mlir::DenseMap<mlir::Value, mlir::UnrealizedConversionCastOp> placeholders;
  /// What each pointer argument is used for.
  mlir::DenseMap<mlir::Value, unsigned> kinds;
  /// (argument of a callee, pointer passed) for spreadKinds.
  llvm::SmallVector<std::pair<mlir::Value, mlir::Value>> passedPointers;
  llvm::StringMap<mlir::func::FuncOp> externs;
  llvm::StringMap<unsigned> helperCount;
};

//===----------------------------------------------------------------------===//
// Small builders (Builders.cpp)
//===----------------------------------------------------------------------===//

/// Element type in memory: i1 as i8, pointers as i64.
mlir::Type memoryElementType(mlir::Type element);
/// i1 data and pointers as they lie in memory, and back. Scalars and tensors.
mlir::Value toMemory(mlir::Value value, mlir::OpBuilder &b, mlir::Location loc);
mlir::Value fromMemory(mlir::Value value, mlir::Type type, mlir::OpBuilder &b, mlir::Location loc);

/// `type` with another element type (a scalar type becomes the element type).
mlir::Type withElement(mlir::Type type, mlir::Type element);
mlir::Value emptyTensor(mlir::OpBuilder &b, mlir::Location loc, mlir::ArrayRef<int64_t> shape,
                        mlir::Type element);
/// A tensor of `type` filled with `scalar`; `scalar` itself when `type` is a scalar type.
mlir::Value filled(mlir::OpBuilder &b, mlir::Location loc, mlir::Type type, mlir::Value scalar);
mlir::Value constantOf(mlir::OpBuilder &b, mlir::Location loc, mlir::TypedAttr value);
/// Numeric constant of an element type (floats: converted from `value`), spread over `type`.
mlir::Value splatInt(mlir::OpBuilder &b, mlir::Location loc, mlir::Type type, int64_t value);
mlir::Value splatFloat(mlir::OpBuilder &b, mlir::Location loc, mlir::Type type, double value);
mlir::Value zeroOf(mlir::OpBuilder &b, mlir::Location loc, mlir::Type type);
/// Row-major reshape as tensor.reshape; the value itself when the shape is the same.
mlir::Value reshaped(mlir::OpBuilder &b, mlir::Location loc, mlir::Value tensor,
                     mlir::ArrayRef<int64_t> shape);
/// Spreads `tensor` over new dimensions `added` (positions in the result `shape`).
mlir::Value broadcastInto(mlir::OpBuilder &b, mlir::Location loc, mlir::Value tensor,
                          mlir::ArrayRef<int64_t> shape, mlir::ArrayRef<int64_t> added);
mlir::Value transposed(mlir::OpBuilder &b, mlir::Location loc, mlir::Value tensor,
                       mlir::ArrayRef<int64_t> permutation);
/// The scalar every lane of `tensor` holds, built at the insertion point, or null.
mlir::Value scalarOf(mlir::Value tensor, mlir::OpBuilder &b, mlir::Location loc);
mlir::Value asIndex(mlir::OpBuilder &b, mlir::Location loc, mlir::OpFoldResult value);
/// Splits a scalar pointer into its base and the element offset of its addptr chain.
std::pair<mlir::Value, mlir::OpFoldResult> splitScalar(mlir::Value pointer, mlir::OpBuilder &b,
                                                       mlir::Location loc);
/// Folding index arithmetic.
mlir::OpFoldResult addIndex(mlir::OpBuilder &b, mlir::Location loc, mlir::OpFoldResult lhs,
                            mlir::OpFoldResult rhs);
mlir::OpFoldResult subIndex(mlir::OpBuilder &b, mlir::Location loc, mlir::OpFoldResult lhs,
                            mlir::OpFoldResult rhs);
mlir::OpFoldResult mulIndex(mlir::OpBuilder &b, mlir::Location loc, mlir::OpFoldResult lhs,
                            mlir::OpFoldResult rhs);

/// True when every op of `region` but the terminator applies per element, so that the region
/// can be applied to whole tensors.
bool isElementwiseRegion(mlir::Region &region);
/// Applies the one-block `region` to `arguments`, all scalars or all tensors of one shape
/// (then isElementwiseRegion must hold); gives the terminator's operands.
llvm::SmallVector<mlir::Value> applyRegion(mlir::OpBuilder &b, mlir::Region &region,
                                           mlir::ValueRange arguments);

} // namespace piton::linalglowering

#endif // PITON_COMPILER_CONVERSION_TRITONTOLINALG_LOWERING_H
