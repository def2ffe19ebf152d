// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The body of a vector loop: the lanes of an operand, the ops of a linalg.generic over them, and
// the stores of its results.
#include "compiler/Target/Simulator/RowEmitter.h"

#include <numeric>

using namespace mlir;
using namespace piton;
using namespace piton::simulator;

Value RowEmitter::splat(OpBuilder &b, TypedAttr value, int64_t lanes) {
  auto type = VectorType::get({lanes}, value.getType());
  return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, Attribute(value)));
}

SmallVector<Value> RowEmitter::indices(OpBuilder &b, AffineMap map, Value position) {
  SmallVector<Value> result;
  for (AffineExpr expression : map.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(expression);
    if (!dim)
      result.push_back(index(b, 0));
    else
      result.push_back(dim.getPosition() == plan.inner ? position : ivs[dim.getPosition()]);
  }
  return result;
}

Value RowEmitter::laneMask(OpBuilder &b, Value position, Value limit, int64_t lanes) {
  Value left = arith::SubIOp::create(b, loc, limit, position);
  Value bounded = arith::MaxSIOp::create(b, loc, left, index(b, 0));
  bounded = minimum(b, bounded, index(b, lanes));
  Value count = arith::IndexCastOp::create(b, loc, b.getI32Type(), bounded);
  auto type = VectorType::get({lanes}, b.getI32Type());
  SmallVector<int32_t> numbers(lanes);
  std::iota(numbers.begin(), numbers.end(), 0);
  Value lane = arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, ArrayRef(numbers)));
  return compare(b, arith::CmpIPredicate::slt, lane,
                 vector::BroadcastOp::create(b, loc, type, count));
}

Value RowEmitter::asVector(OpBuilder &b, Value value, int64_t lanes) {
  if (Value mapped = mapping.lookupOrNull(value))
    return mapped;
  Value result;
  if (auto constant = value.getDefiningOp<arith::ConstantOp>();
      constant && isa<IntegerAttr, FloatAttr>(constant.getValue()))
    result = splat(b, cast<TypedAttr>(constant.getValue()), lanes);
  else
    result = vector::BroadcastOp::create(b, loc, vectorType(value.getType(), lanes), value);
  mapping.map(value, result);
  return result;
}

Value RowEmitter::loadOperand(OpBuilder &b, Operand &operand, Value scalar, Value position,
                              int64_t lanes, Value limit) {
  if (!operand.memory)
    return asVector(b, scalar, lanes);
  Type element = cast<MemRefType>(operand.memory.getType()).getElementType();
  SmallVector<Value> at = indices(b, operand.map, position);
  if (operand.use != InnerUse::Contiguous) {
    Value value = loadScalar(b, operand, element, at);
    return vector::BroadcastOp::create(b, loc, vectorType(element, lanes), value);
  }
  auto type = cast<VectorType>(vectorType(element, lanes));
  auto padding = [&]() -> Value {
    if (operand.load && operand.load->pad)
      return vector::BroadcastOp::create(b, loc, type, operand.load->pad);
    return splat(b, cast<TypedAttr>(b.getZeroAttr(element)), lanes);
  };
  if (padOnly && operand.load && operand.limit)
    return padding();
  if (!limit || (noPartialStep && !operand.limit))
    return vector::LoadOp::create(b, loc, type, operand.memory, at).getResult();
  Value valid = operand.limit && !inBoxes ? minimum(b, operand.limit, limit) : limit;
  Value mask = laneMask(b, position, valid, lanes);
  return vector::MaskedLoadOp::create(b, loc, type, operand.memory, at, mask, padding())
      .getResult();
}

Value RowEmitter::loadScalar(OpBuilder &b, Operand &operand, Type element, ArrayRef<Value> at) {
  if (!operand.load || !operand.limit)
    return memref::LoadOp::create(b, loc, operand.memory, at);
  Value inside = compare(b, arith::CmpIPredicate::sgt, operand.limit, index(b, 0));
  auto branch = scf::IfOp::create(b, loc, TypeRange{element}, inside, true);
  OpBuilder then = OpBuilder::atBlockBegin(branch.thenBlock());
  scf::YieldOp::create(then, loc,
                       memref::LoadOp::create(then, loc, operand.memory, at).getResult());
  OpBuilder other = OpBuilder::atBlockBegin(branch.elseBlock());
  Value pad = operand.load->pad;
  if (!pad)
    pad = arith::ConstantOp::create(other, loc, cast<TypedAttr>(other.getZeroAttr(element)));
  scf::YieldOp::create(other, loc, pad);
  return branch.getResult(0);
}

Value RowEmitter::laneNumbers(OpBuilder &b, Type element, int64_t lanes) {
  auto type = VectorType::get({lanes}, element);
  SmallVector<Attribute> numbers;
  for (int64_t i = 0; i < lanes; ++i)
    numbers.push_back(b.getIntegerAttr(element, i));
  return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, numbers));
}

Value RowEmitter::positionVector(OpBuilder &b, unsigned dimension, Type element, Value position,
                                 int64_t lanes) {
  Value start = dimension == plan.inner ? position : ivs[dimension];
  if (!isa<IndexType>(element))
    start = arith::IndexCastOp::create(b, loc, element, start);
  auto type = vectorType(element, lanes);
  Value base = vector::BroadcastOp::create(b, loc, type, start);
  if (dimension != plan.inner)
    return base;
  return arith::AddIOp::create(b, loc, base, laneNumbers(b, element, lanes));
}

Value RowEmitter::outerValue(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getOwner() == op.getBody() ? op->getOperand(argument.getArgNumber())
                                                         : value;
}

bool RowEmitter::isBelow(Operation &inner, ArrayRef<Value> extents) {
  auto test = dyn_cast<arith::CmpIOp>(inner);
  if (!test || test.getPredicate() != arith::CmpIPredicate::slt)
    return false;
  auto lane = test.getLhs().getDefiningOp<arith::IndexCastOp>();
  auto number = lane ? lane.getIn().getDefiningOp<linalg::IndexOp>() : nullptr;
  if (!number || number.getDim() != plan.inner)
    return false;
  Value limit = outerValue(test.getRhs());
  return llvm::any_of(extents, [&](Value extent) {
    bool isClamped;
    Value size = unclamped(extent, plan.extents[plan.inner], isClamped);
    auto cast = size.getDefiningOp<arith::IndexCastOp>();
    return cast && cast.getIn() == limit;
  });
}

void RowEmitter::emitOp(OpBuilder &b, Operation &inner, Value position, int64_t lanes) {
  if (auto number = dyn_cast<linalg::IndexOp>(inner)) {
    bool needed = llvm::any_of(inner.getUsers(),
                               [](Operation *user) { return !isa<arith::IndexCastOp>(user); });
    if (needed)
      mapping.map(number.getResult(),
                  positionVector(b, number.getDim(), b.getIndexType(), position, lanes));
    return;
  }
  if (auto conversion = dyn_cast<arith::IndexCastOp>(inner))
    if (auto number = conversion.getIn().getDefiningOp<linalg::IndexOp>();
        number && number->getBlock() == op.getBody()) {
      mapping.map(conversion.getResult(),
                  positionVector(b, number.getDim(), conversion.getType(), position, lanes));
      return;
    }
  if (isa<arith::ConstantOp>(inner)) {
    asVector(b, inner.getResult(0), lanes);
    return;
  }
  if ((isMain && isBelow(inner, bounds)) || (padOnly && isBelow(inner, loadBounds))) {
    mapping.map(inner.getResult(0), splat(b, b.getBoolAttr(isMain), lanes));
    return;
  }
  SmallVector<Value> arguments;
  for (Value operand : inner.getOperands())
    arguments.push_back(asVector(b, operand, lanes));
  SmallVector<Type> types;
  for (Type type : inner.getResultTypes())
    types.push_back(vectorType(type, lanes));
  Operation *created =
      b.create(inner.getLoc(), inner.getName().getIdentifier(), arguments, types, inner.getAttrs());
  mapping.map(inner.getResults(), created->getResults());
}

void RowEmitter::storeWhole(OpBuilder &b, Value value, const Operand &operand,
                            SmallVector<Value> at, int64_t lanes) {
  int64_t part = host.registerBytes / elementBytes(operand);
  if (lanes <= part || !operand.store)
    part = lanes;
  Value position = at.back();
  for (int64_t lane = 0; lane < lanes; lane += part) {
    Value piece = value;
    if (part != lanes)
      piece = vector::ExtractStridedSliceOp::create(b, loc, value, lane, part, int64_t(1));
    if (lane)
      at.back() = arith::AddIOp::create(b, loc, position, index(b, lane));
    auto stored = vector::StoreOp::create(b, loc, piece, operand.memory, at);
    if (streaming) {
      stored.setNontemporal(true);
      stored.setAlignment(part * elementBytes(operand));
    }
  }
}

SmallVector<Value> RowEmitter::chooseLanes(OpBuilder &b, Value position, int64_t lanes, Value limit,
                                           ValueRange accumulators) {
  SmallVector<Value> candidates;
  for (Value value : plan.candidates)
    candidates.push_back(asVector(b, value, lanes));
  SmallVector<Value> results = emitChoice(b, accumulators, candidates, lanes);
  if (limit && !noPartialStep)
    for (auto [result, before] : llvm::zip(results, accumulators))
      result = arith::SelectOp::create(b, loc, laneMask(b, position, limit, lanes), result, before);
  return results;
}

SmallVector<Value> RowEmitter::emitBody(OpBuilder &b, Value position, int64_t lanes, Value limit,
                                        ValueRange accumulators) {
  mapping.clear();
  isMain = !limit && !padOnly && lanes == width;
  Block *body = op.getBody();
  unsigned inputs = op.getNumDpsInputs();
  for (auto [i, argument] : llvm::enumerate(body->getArguments())) {
    if (argument.use_empty())
      continue;
    if (i >= inputs && (plan.combiners[i - inputs].op || !plan.candidates.empty()))
      continue; // the accumulator is not an operand of the vector body
    mapping.map(argument, loadOperand(b, operands[i], op->getOperand(i), position, lanes, limit));
  }
  llvm::SmallPtrSet<Operation *, 4> combinerOps(plan.choice.begin(), plan.choice.end());
  for (Combiner &combiner : plan.combiners)
    if (combiner.op)
      combinerOps.insert(combiner.op);
  for (Operation &inner : body->without_terminator())
    if (!combinerOps.contains(&inner))
      emitOp(b, inner, position, lanes);
  if (!plan.candidates.empty())
    return chooseLanes(b, position, lanes, limit, accumulators);
  SmallVector<Value> results;
  auto yield = cast<linalg::YieldOp>(body->getTerminator());
  for (auto [i, combiner] : llvm::enumerate(plan.combiners)) {
    Operand &operand = operands[inputs + i];
    if (combiner.op) {
      Value accumulator = accumulators[results.size()];
      Value value = asVector(b, combiner.value, lanes);
      Operation *combined = b.clone(*combiner.op);
      combined->setOperands({accumulator, value});
      combined->getResult(0).setType(accumulator.getType());
      Value sum = combined->getResult(0);
      if (limit && !noPartialStep)
        sum =
            arith::SelectOp::create(b, loc, laneMask(b, position, limit, lanes), sum, accumulator);
      results.push_back(sum);
      continue;
    }
    Value value = asVector(b, yield.getOperand(i), lanes);
    SmallVector<Value> at = indices(b, operand.map, position);
    if (!limit || (noPartialStep && !operand.limit)) {
      storeWhole(b, value, operand, at, lanes);
      continue;
    }
    Value valid = operand.limit && !inBoxes ? minimum(b, operand.limit, limit) : limit;
    vector::MaskedStoreOp::create(b, loc, operand.memory, at, laneMask(b, position, valid, lanes),
                                  value);
  }
  return results;
}
