// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `tt` dialect in C++: one header for dialect, types, enums, traits and ops.
// Includes no Ascend header; target knowledge lives in the conversions.
#ifndef PITON_COMPILER_DIALECT_TRITON_TRITON_H
#define PITON_COMPILER_DIALECT_TRITON_TRITON_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "compiler/Dialect/Triton/TritonDialect.h.inc"
#include "compiler/Dialect/Triton/TritonEnums.h.inc"

namespace mlir::triton {

/// The largest number of elements one tensor may have.
inline constexpr int64_t kMaxTensorElements = 1048576;

/// True for the pointee of a block pointer: a ranked tensor of float, integer or pointer.
bool isBlockPointerPointee(Type pointee);

/// Global memory as one resource for memory effects.
struct GlobalMemory : public SideEffects::Resource::Base<GlobalMemory> {
  StringRef getName() final { return "<GlobalMemory>"; }
};

} // namespace mlir::triton

#define GET_TYPEDEF_CLASSES
#include "compiler/Dialect/Triton/TritonTypes.h.inc"

namespace mlir::triton {

/// !tt.ptr of `type` in global memory; for a tensor, a tensor of pointers to its elements.
Type getPointerTypeLike(Type type);
/// The pointee: element of a scalar pointer, of a tensor of pointers (in its shape), or the
/// tensor of a block pointer. Null when `type` is no pointer.
Type getPointeeTypeOf(Type type);
/// `i1` in the shape of `type` (scalar stays scalar).
Type getI1SameShape(Type type);
/// `i32` in the shape of `type`.
Type getI32SameShape(Type type);
/// True for a block pointer.
bool isTensorPointerType(Type type);
/// True for pointers and tensors of pointers.
bool isPointerLike(Type type);

} // namespace mlir::triton

namespace mlir::OpTrait {

namespace impl {
LogicalResult verifyTensorSize(Operation *op);
LogicalResult verifySameVariadicOperandSizes(Operation *op);
} // namespace impl

/// Every ranked tensor operand and result has at most kMaxTensorElements elements.
template <typename ConcreteType>
class TensorSizeTrait : public TraitBase<ConcreteType, TensorSizeTrait> {
public:
  static LogicalResult verifyTrait(Operation *op) { return impl::verifyTensorSize(op); }
};

} // namespace mlir::OpTrait

#include "compiler/Dialect/Triton/TritonInterfaces.h.inc"

#define GET_OP_CLASSES
#include "compiler/Dialect/Triton/TritonOps.h.inc"

#endif // PITON_COMPILER_DIALECT_TRITON_TRITON_H
