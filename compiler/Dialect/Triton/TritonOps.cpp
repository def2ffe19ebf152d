// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops of the `tt` dialect: builders, type inference, verifiers, effects. Folders
// and canonicalisations are in TritonFold.cpp. Labels C1, C2 ... as in the .td.
#include "compiler/Dialect/Triton/Triton.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace mlir::triton;

#define GET_OP_CLASSES
#include "compiler/Dialect/Triton/TritonOps.cpp.inc"

//===-- functions --------------------------------------------------------===//

void FuncOp::build(OpBuilder &builder, OperationState &state, StringRef name, FunctionType type,
                   ArrayRef<NamedAttribute> attrs, ArrayRef<DictionaryAttr> argAttrs) {
  state.addAttribute(SymbolTable::getSymbolAttrName(), builder.getStringAttr(name));
  state.addAttribute(getFunctionTypeAttrName(state.name), TypeAttr::get(type));
  state.attributes.append(attrs.begin(), attrs.end());
  state.addRegion();
  if (argAttrs.empty())
    return;
  assert(type.getNumInputs() == argAttrs.size());
  call_interface_impl::addArgAndResultAttrs(builder, state, argAttrs, {},
                                            getArgAttrsAttrName(state.name),
                                            getResAttrsAttrName(state.name));
}

ParseResult FuncOp::parse(OpAsmParser &parser, OperationState &result) {
  auto buildType = [](Builder &builder, ArrayRef<Type> args, ArrayRef<Type> results,
                      function_interface_impl::VariadicFlag,
                      std::string &) { return builder.getFunctionType(args, results); };
  return function_interface_impl::parseFunctionOp(
      parser, result, /*allowVariadic=*/false, getFunctionTypeAttrName(result.name), buildType,
      getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void FuncOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(printer, *this, /*isVariadic=*/false,
                                           getFunctionTypeAttrName(), getArgAttrsAttrName(),
                                           getResAttrsAttrName());
}

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto func = symbols.lookupNearestSymbolFrom<FuncOp>(*this, getCalleeAttr());
  if (!func) // C1
    return emitOpError() << "'" << getCallee() << "' does not reference a valid function";
  FunctionType type = func.getFunctionType();
  if (type.getNumInputs() != getNumOperands())
    return emitOpError("incorrect number of operands for callee: ")
           << getNumOperands() << " given, " << type.getNumInputs() << " expected";
  for (auto [i, expected, operand] : llvm::enumerate(type.getInputs(), getOperands())) // C2
    if (operand.getType() != expected)
      return emitOpError("operand type mismatch: expected operand type ")
             << expected << ", but provided " << operand.getType() << " for operand number " << i;
  if (type.getNumResults() != getNumResults())
    return emitOpError("incorrect number of results for callee: ")
           << getNumResults() << " given, " << type.getNumResults() << " expected";
  for (auto [i, expected, result] : llvm::enumerate(type.getResults(), getResultTypes()))
    if (result != expected)
      return emitOpError("result type mismatch: expected result type ")
             << expected << ", but provided " << result << " for result number " << i;
  return success();
}

LogicalResult ReturnOp::verify() {
  auto func = cast<FuncOp>((*this)->getParentOp());
  ArrayRef<Type> results = func.getFunctionType().getResults();
  if (getNumOperands() != results.size())
    return emitOpError("has ") << getNumOperands() << " operands, but enclosing function (@"
                               << func.getName() << ") returns " << results.size();
  for (auto [i, type] : llvm::enumerate(results))
    if (getOperand(i).getType() != type)
      return emitError() << "type of return operand " << i << " (" << getOperand(i).getType()
                         << ") doesn't match function result type (" << type << ") in function @"
                         << func.getName();
  return success();
}

//===-- ranges and casts -------------------------------------------------===//

LogicalResult MakeRangeOp::verify() {
  auto type = dyn_cast<RankedTensorType>(getType());
  if (!type || type.getRank() != 1 || !type.getElementType().isInteger(32)) // C1
    return emitOpError() << "result must be a rank-1 tensor of i32, but is " << getType();
  int64_t start = static_cast<int32_t>(getStart()), end = static_cast<int32_t>(getEnd());
  if (start >= end) // C2
    return emitOpError() << "start must be less than end, but start is " << start << " and end "
                         << end;
  if (end - start != type.getShape()[0]) // C3
    return emitOpError() << "number of elements in returned tensor (" << type.getShape()[0]
                         << ") must be end - start (" << end - start << ")";
  return success();
}

LogicalResult BitcastOp::verify() {
  Type src = getElementTypeOrSelf(getSrc().getType());
  Type dst = getElementTypeOrSelf(getResult().getType());
  auto srcPtr = dyn_cast<PointerType>(src), dstPtr = dyn_cast<PointerType>(dst);
  if (srcPtr && dstPtr) {
    if (srcPtr.getAddressSpace() != dstPtr.getAddressSpace())
      return emitOpError("cannot bitcast pointer between different address spaces");
    return success();
  }
  if (srcPtr || dstPtr) // C1
    return emitOpError("cannot bitcast pointer to non-pointer type");
  unsigned srcBits = src.getIntOrFloatBitWidth(), dstBits = dst.getIntOrFloatBitWidth();
  if (srcBits != dstBits) // C2
    return emitOpError("cannot bitcast data-type of size ")
           << srcBits << " to data-type of size " << dstBits;
  return success();
}

LogicalResult FpToFpOp::verify() {
  auto width = [](Value v) { return getElementTypeOrSelf(v.getType()).getIntOrFloatBitWidth(); };
  if (width(getSrc()) > width(getResult()) && !getRounding()) // C1
    return emitOpError("rounding mode is required for FP downcast");
  return success();
}

template <typename OpTy>
static void
externEffects(OpTy op,
              SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  if (op.getPure())
    return;
  effects.emplace_back(MemoryEffects::Write::get(), SideEffects::DefaultResource::get());
  effects.emplace_back(MemoryEffects::Read::get(), SideEffects::DefaultResource::get());
}
template <typename OpTy> static Speculation::Speculatability externSpeculation(OpTy op) {
  return op.getPure() ? Speculation::Speculatable : Speculation::NotSpeculatable;
}
void ExternElementwiseOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  externEffects(*this, effects);
}
Speculation::Speculatability ExternElementwiseOp::getSpeculatability() {
  return externSpeculation(*this);
}
void ElementwiseInlineAsmOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  externEffects(*this, effects);
}
Speculation::Speculatability ElementwiseInlineAsmOp::getSpeculatability() {
  return externSpeculation(*this);
}
LogicalResult ElementwiseInlineAsmOp::verify() {
  int64_t pack = static_cast<int32_t>(getPackedElement());
  if (pack <= 0)
    return emitOpError("packed_element must be positive, but is ") << pack;
  if (getNumOperands() == 0)
    return success();
  auto type = dyn_cast<RankedTensorType>(getOperand(0).getType());
  if (type && type.getNumElements() % pack != 0) // C1
    return emitOpError("number of input elements ")
           << type.getNumElements() << " must be a multiple of the op's packed_element attribute, "
           << pack;
  return success();
}

//===-- memory -----------------------------------------------------------===//

/// C2 of load, C1 of store.
static LogicalResult verifyBoundaryCheck(Operation *op, Type ptr, ArrayRef<int32_t> dims) {
  if (dims.empty())
    return success();
  if (!isTensorPointerType(ptr))
    return op->emitOpError("boundaryCheck needs a block pointer, but ptr is ") << ptr;
  int64_t rank = cast<RankedTensorType>(getPointeeTypeOf(ptr)).getRank();
  for (int32_t dim : dims)
    if (dim < 0 || dim >= rank)
      return op->emitOpError("boundaryCheck dimension ")
             << dim << " is outside the block's rank " << rank;
  return success();
}

LogicalResult AddPtrOp::verify() {
  if (isTensorPointerType(getPtr().getType()))
    return emitOpError("does not take a block pointer; use tt.advance");
  return success();
}

LogicalResult LoadOp::verify() {
  if (getOther() && !getMask()) // C1
    return emitOpError("other needs a mask");
  if (getPadding() && !isTensorPointerType(getPtr().getType()))
    return emitOpError("padding needs a block pointer, but ptr is ") << getPtr().getType();
  return verifyBoundaryCheck(*this, getPtr().getType(), getBoundaryCheck());
}

void LoadOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &getPtrMutable(), GlobalMemory::get());
  if (getIsVolatile())
    effects.emplace_back(MemoryEffects::Write::get(), SideEffects::DefaultResource::get());
}

LogicalResult StoreOp::verify() {
  return verifyBoundaryCheck(*this, getPtr().getType(), getBoundaryCheck());
}

LogicalResult MakeTensorPtrOp::verify() {
  auto block = cast<RankedTensorType>(cast<PointerType>(getType()).getPointeeType());
  int64_t rank = block.getRank();
  if ((int64_t)getShape().size() != rank || (int64_t)getStrides().size() != rank ||
      (int64_t)getOffsets().size() != rank || (int64_t)getOrder().size() != rank) // C1
    return emitOpError("shape, strides, offsets and order must have the block's rank ")
           << rank << ", but have " << getShape().size() << ", " << getStrides().size() << ", "
           << getOffsets().size() << " and " << getOrder().size();
  llvm::SmallBitVector seen(rank);
  for (int32_t dim : getOrder()) { // C2
    if (dim < 0 || dim >= rank || seen.test(dim))
      return emitOpError("order must be a permutation of 0 .. rank-1");
    seen.set(dim);
  }
  return success();
}

LogicalResult AdvanceOp::verify() {
  auto block = cast<RankedTensorType>(cast<PointerType>(getType()).getPointeeType());
  if ((int64_t)getOffsets().size() != block.getRank())
    return emitOpError("needs one offset for each of the block's ")
           << block.getRank() << " dimensions, but has " << getOffsets().size();
  return success();
}

//===-- descriptors ------------------------------------------------------===//

void MakeTensorDescOp::build(OpBuilder &builder, OperationState &state, Value base,
                             ValueRange shape, ValueRange strides, ArrayRef<int32_t> blockShape,
                             bool isSigned, PaddingOption padding) {
  Type element = cast<PointerType>(base.getType()).getPointeeType();
  if (auto integer = dyn_cast<IntegerType>(element))
    element = IntegerType::get(builder.getContext(), integer.getWidth(),
                               isSigned ? IntegerType::Signed : IntegerType::Unsigned);
  SmallVector<int64_t> dims(blockShape.begin(), blockShape.end());
  auto type = TensorDescType::get(RankedTensorType::get(dims, element));
  build(builder, state, type, base, shape, strides, padding);
}

LogicalResult MakeTensorDescOp::verify() {
  auto desc = cast<TensorDescType>(getType());
  int64_t rank = desc.getBlockType().getRank();
  if ((int64_t)getShape().size() != rank || (int64_t)getStrides().size() != rank) // C1
    return emitOpError("shape and strides must have the block's rank ")
           << rank << ", but have " << getShape().size() << " and " << getStrides().size();
  Type pointee = cast<PointerType>(getBase().getType()).getPointeeType();
  if (pointee != desc.getSignlessBlockType().getElementType()) // C2
    return emitOpError("base points to ")
           << pointee << ", but the block's elements are " << desc.getBlockType().getElementType();
  return success();
}

/// C1 of descriptor_load: `tensor` is the signless block type, leading unit dims dropped or not.
static LogicalResult verifyDescBlock(Operation *op, TensorDescType desc, Type tensorType,
                                     size_t indices) {
  auto tensor = cast<RankedTensorType>(tensorType);
  RankedTensorType block = desc.getSignlessBlockType();
  int64_t dropped = block.getRank() - tensor.getRank();
  bool same = dropped >= 0 && block.getElementType() == tensor.getElementType() &&
              llvm::all_of(block.getShape().take_front(std::max<int64_t>(dropped, 0)),
                           [](int64_t d) { return d == 1; });
  if (!same || block.getShape().drop_front(dropped) != tensor.getShape())
    return op->emitOpError("tensor descriptor block and tensor types must match, but are ")
           << block << " and " << tensor;
  if ((int64_t)indices != block.getRank()) // C2
    return op->emitOpError("needs one index for each of the block's ")
           << block.getRank() << " dimensions, but has " << indices;
  return success();
}

LogicalResult DescriptorLoadOp::verify() {
  return verifyDescBlock(*this, getDesc().getType(), getType(), getIndices().size());
}
LogicalResult DescriptorStoreOp::verify() {
  return verifyDescBlock(*this, getDesc().getType(), getSrc().getType(), getIndices().size());
}
LogicalResult DescriptorReduceOp::verify() {
  return verifyDescBlock(*this, getDesc().getType(), getSrc().getType(), getIndices().size());
}

static LogicalResult verifyGatherScatter(Operation *op, TensorDescType desc, Type tensorType,
                                         RankedTensorType offsets) {
  RankedTensorType block = desc.getSignlessBlockType();
  auto tensor = cast<RankedTensorType>(tensorType);
  if (block.getRank() != 2 || block.getShape()[0] != 1) // C1
    return op->emitOpError("block must be a 1xC matrix, but is ") << block;
  if (offsets.getRank() != 1)
    return op->emitOpError("x offsets must be a rank-1 tensor, but are ") << offsets;
  if (tensor.getRank() != 2 || tensor.getShape()[0] != offsets.getShape()[0] ||
      tensor.getShape()[1] != block.getShape()[1] ||
      tensor.getElementType() != block.getElementType()) // C2
    return op->emitOpError("tensor must be ")
           << offsets.getShape()[0] << "x" << block.getShape()[1] << " of "
           << block.getElementType() << ", but is " << tensor;
  unsigned bits = tensor.getElementTypeBitWidth();
  if (bits > 32)
    return op->emitOpError("elements must have at most 32 bits, but have ") << bits;
  if (tensor.getShape()[0] < 8) // C3
    return op->emitOpError("must have at least 8 rows, but has ") << tensor.getShape()[0];
  int64_t minColumns = 8 * 32 / bits;
  if (tensor.getShape()[1] < minColumns)
    return op->emitOpError("must have at least ")
           << minColumns << " columns for elements of " << bits << " bits, but has "
           << tensor.getShape()[1];
  return success();
}
LogicalResult DescriptorGatherOp::verify() {
  return verifyGatherScatter(*this, getDesc().getType(), getType(),
                             cast<RankedTensorType>(getXOffsets().getType()));
}
LogicalResult DescriptorScatterOp::verify() {
  return verifyGatherScatter(*this, getDesc().getType(), getSrc().getType(),
                             cast<RankedTensorType>(getXOffsets().getType()));
}

LogicalResult AtomicRMWOp::verify() {
  Type element = getElementTypeOrSelf(getVal().getType());
  RMWOp kind = getAtomicRmwOp();
  if (kind == RMWOp::XCHG)
    return success();
  bool wantFloat = kind == RMWOp::FADD;
  if (wantFloat != isa<FloatType>(element)) // C1
    return emitOpError() << stringifyRMWOp(kind) << " needs " << (wantFloat ? "float" : "integer")
                         << " elements, but has " << element;
  return success();
}

//===-- debug ------------------------------------------------------------===//

LogicalResult PrintOp::verify() {
  if (getIsSigned().size() != getArgs().size()) // C1
    return emitOpError("isSigned must have one entry an operand: ")
           << getIsSigned().size() << " entries, " << getArgs().size() << " operands";
  return success();
}
