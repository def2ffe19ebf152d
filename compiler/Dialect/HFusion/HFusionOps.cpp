// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops of the `hfusion` dialect: effects, verifiers and the slots with a syntax of
// their own. Labels C1, C2 ... as in the .td.
#include "compiler/Dialect/DestinationEffects.h"
#include "compiler/Dialect/HFusion/HFusion.h"

using namespace mlir;
using piton::addDpsEffects;
using namespace mlir::hfusion;

//===-- slots ------------------------------------------------------------===//

static ParseResult parseIndexList(OpAsmParser &parser, DenseI64ArrayAttr &list) {
  SmallVector<int64_t> values;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                     [&] { return parser.parseInteger(values.emplace_back()); }))
    return failure();
  list = DenseI64ArrayAttr::get(parser.getContext(), values);
  return success();
}

static void printIndexList(OpAsmPrinter &printer, Operation *, DenseI64ArrayAttr list) {
  printer << "[";
  llvm::interleaveComma(list.asArrayRef(), printer);
  printer << "]";
}

static ParseResult parseChannel(OpAsmParser &parser, IntegerAttr &channel) {
  int64_t value = -1;
  if (failed(parser.parseOptionalKeyword("all")) && parser.parseInteger(value))
    return failure();
  channel = parser.getBuilder().getI64IntegerAttr(value);
  return success();
}

static void printChannel(OpAsmPrinter &printer, Operation *, IntegerAttr channel) {
  if (channel.getInt() == -1)
    printer << "all";
  else
    printer << channel.getInt();
}

#define GET_OP_CLASSES
#include "compiler/Dialect/HFusion/HFusionOps.cpp.inc"

//===-- destination style ------------------------------------------------===//

/// C1 and C2 of destination-style ops, and C3: the number of inputs.
static LogicalResult verifyStructured(DestinationStyleOpInterface op, size_t expectedInputs) {
  size_t inputs = op.getNumDpsInputs();
  if (inputs != expectedInputs) // C3
    return op->emitOpError() << "has " << inputs << " inputs, expected " << expectedInputs;
  bool tensors = false, memrefs = false;
  for (Type type : op->getOperandTypes()) {
    tensors |= isa<RankedTensorType>(type);
    memrefs |= isa<MemRefType>(type);
  }
  if (tensors && memrefs) // C2
    return op->emitOpError("mixes tensors and memrefs");
  SmallVector<Type> expected;
  for (OpOperand &init : op.getDpsInitsMutable())
    if (isa<RankedTensorType>(init.get().getType()))
      expected.push_back(init.get().getType());
  if (TypeRange(expected) != TypeRange(op->getResultTypes())) // C1
    return op->emitOpError() << "gives (" << op->getResultTypes() << "), but its destinations are ("
                             << TypeRange(expected) << ")";
  return success();
}

#define HFUSION_STRUCTURED(Op, inputs, readsDestination)                                           \
  void Op::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {                   \
    addDpsEffects(*this, readsDestination, effects);                                               \
  }                                                                                                \
  static LogicalResult verifyInputsOf##Op(Op op) { return verifyStructured(op, inputs); }

HFUSION_STRUCTURED(ElemwiseUnaryOp, 1, false)
HFUSION_STRUCTURED(ElemwiseBinaryOp, 2, false)
HFUSION_STRUCTURED(ElemwiseTernaryOp, 3, false)
HFUSION_STRUCTURED(CompareOp, 2, false)
HFUSION_STRUCTURED(SelectOp, 3, false)
HFUSION_STRUCTURED(CastOp, 1, false)
HFUSION_STRUCTURED(BitcastOp, 1, false)
HFUSION_STRUCTURED(LoadOp, 1, false)
HFUSION_STRUCTURED(StoreOp, 1, true)
HFUSION_STRUCTURED(MatmulMxOp, 4, true)
HFUSION_STRUCTURED(AtomicCASOp, 2, true)
#undef HFUSION_STRUCTURED

LogicalResult ElemwiseUnaryOp::verify() { return verifyInputsOfElemwiseUnaryOp(*this); }
LogicalResult ElemwiseBinaryOp::verify() { return verifyInputsOfElemwiseBinaryOp(*this); }
LogicalResult ElemwiseTernaryOp::verify() { return verifyInputsOfElemwiseTernaryOp(*this); }
LogicalResult SelectOp::verify() { return verifyInputsOfSelectOp(*this); }
LogicalResult CastOp::verify() { return verifyInputsOfCastOp(*this); }
LogicalResult LoadOp::verify() { return verifyInputsOfLoadOp(*this); }
LogicalResult StoreOp::verify() { return verifyInputsOfStoreOp(*this); }
LogicalResult MatmulMxOp::verify() { return verifyInputsOfMatmulMxOp(*this); }
LogicalResult AtomicCASOp::verify() { return verifyInputsOfAtomicCASOp(*this); }

LogicalResult CompareOp::verify() {
  if (failed(verifyInputsOfCompareOp(*this)))
    return failure();
  for (Value out : getOutputs()) // C4
    if (!getElementTypeOrSelf(out.getType()).isInteger(1))
      return emitOpError() << "destination must have i1 elements, but is " << out.getType();
  return success();
}

LogicalResult BitcastOp::verify() {
  if (failed(verifyInputsOfBitcastOp(*this)))
    return failure();
  Type from = getElementTypeOrSelf(getInputs().front().getType());
  Type to = getElementTypeOrSelf(getOutputs().front().getType());
  if (!from.isIntOrFloat() || !to.isIntOrFloat() ||
      from.getIntOrFloatBitWidth() != to.getIntOrFloatBitWidth()) // C4
    return emitOpError() << "element types " << from << " and " << to << " differ in width";
  return success();
}

//===-- the rest ---------------------------------------------------------===//

static LogicalResult verifyAxis(Operation *op, int64_t axis, Type type) {
  int64_t rank = cast<ShapedType>(type).getRank();
  if (axis >= 0 && axis < rank)
    return success();
  return op->emitOpError() << "axis " << axis << " is outside the rank " << rank;
}

void ReduceWithIndexOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  addDpsEffects(*this, false, effects);
}
LogicalResult ReduceWithIndexOp::verify() {
  if (getInputs().empty() || getInputs().size() > 2) // C1
    return emitOpError() << "has " << getInputs().size() << " inputs, expected 1 or 2";
  if (getInits().size() != 2) // C2
    return emitOpError() << "has " << getInits().size() << " destinations, expected 2";
  for (int64_t dim : getDimensions())
    if (failed(verifyAxis(*this, dim, getInputs().front().getType())))
      return failure();
  return verifyStructured(*this, getInputs().size());
}

void ArangeOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  addDpsEffects(*this, false, effects);
}
LogicalResult ArangeOp::verify() {
  int64_t rank = cast<ShapedType>(getInit().getType()).getRank();
  if (static_cast<int64_t>(getStrides().size()) != rank) // C1
    return emitOpError() << "has " << getStrides().size() << " strides for rank " << rank;
  return success();
}

template <typename OpTy> static LogicalResult verifyCum(OpTy op) {
  for (int64_t dim : op.getCumDims()) // C1
    if (failed(verifyAxis(op, dim, op.getInput().getType())))
      return failure();
  return success();
}
LogicalResult CumsumOp::verify() { return verifyCum(*this); }
LogicalResult CumprodOp::verify() { return verifyCum(*this); }
LogicalResult CummaxOp::verify() { return verifyCum(*this); }
LogicalResult CumminOp::verify() { return verifyCum(*this); }

LogicalResult HistogramOp::verify() {
  int64_t bins = getNumBins();
  auto out = cast<RankedTensorType>(getOutput().getType());
  if (bins <= 0 || out.getRank() != 1 || out.getDimSize(0) != bins) // C1
    return emitOpError() << "bin count " << bins << " does not give " << out;
  if (getMask() && cast<ShapedType>(getMask().getType()).getShape() !=
                       cast<ShapedType>(getInput().getType()).getShape()) // C2
    return emitOpError() << "mask " << getMask().getType() << " has not the shape of "
                         << getInput().getType();
  return success();
}

void GatherOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  addDpsEffects(*this, false, effects);
}
LogicalResult GatherOp::verify() { return verifyAxis(*this, getAxis(), getSrc().getType()); }

LogicalResult SortOp::verify() {
  if (failed(verifyAxis(*this, getSortAxis(), getSrc().getType()))) // C1
    return failure();
  auto shape = cast<ShapedType>(getSrc().getType()).getShape();
  if (getNumResults() < 1 || getNumResults() > 2) // C2
    return emitOpError() << "has " << getNumResults() << " results, expected 1 or 2";
  for (Type type : getResultTypes())
    if (cast<ShapedType>(type).getShape() != shape)
      return emitOpError() << "result " << type << " has not the shape of " << getSrc().getType();
  return success();
}

LogicalResult FlipOp::verify() { return verifyAxis(*this, getFlipAxis(), getInput().getType()); }

LogicalResult InterleaveOp::verify() {
  if (getInputs().empty())
    return emitOpError("needs at least one input");
  auto from = cast<RankedTensorType>(getInputs().front().getType());
  auto to = cast<RankedTensorType>(getOutput().getType());
  if (from.getRank() == 0 || to.getRank() != from.getRank() ||
      to.getShape().back() !=
          from.getShape().back() * static_cast<int64_t>(getInputs().size())) // C1
    return emitOpError() << getInputs().size() << " inputs of " << from << " do not give " << to;
  return success();
}

LogicalResult DeinterleaveOp::verify() {
  int64_t channel = getChannel();
  if (channel < -1 || channel > 1)
    return emitOpError() << "channel " << channel << " is none of 0, 1 and all (-1)";
  size_t expected = channel == -1 ? 2 : 1;
  if (getNumResults() != expected) // C1
    return emitOpError() << "has " << getNumResults() << " results, expected " << expected;
  return success();
}

void AtomicXchgOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  addDpsEffects(*this, true, effects);
}
void AtomicRMWOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  addDpsEffects(*this, true, effects);
}
