// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loops of a linalg.generic: outer dimensions, the parts of a row, stores past the cache, and
// reductions along a row.
#include "compiler/Target/Simulator/RowEmitter.h"

#include "compiler/Target/Simulator/Overlap.h"

using namespace mlir;
using namespace piton;
using namespace piton::simulator;

namespace {

constexpr int64_t kLineBytes = 64;   ///< of a cache line
constexpr int64_t kStreamRow = 1024; ///< bytes of the shortest row worth a streaming loop

} // namespace

void RowEmitter::emit() {
  OpBuilder b(op);
  prepareOperands(b);
  emitOuter(b, 0);
  op.erase();
}

int64_t RowEmitter::widestStep(int64_t lanes) {
  if (host.registerBytes > 32 && plan.extents[plan.inner] >= 8 * lanes && isCheapReduction())
    lanes *= 2;
  unsigned bits = 32;
  for (Operation &inner : *op.getBody())
    for (Type type : inner.getResultTypes())
      bits = std::max(bits, isa<IndexType>(type) ? 32u : type.getIntOrFloatBitWidth());
  for (OpOperand &operand : op->getOpOperands())
    if (Type type = getElementTypeOrSelf(operand.get().getType()); type.isIntOrFloat())
      bits = std::max(bits, type.getIntOrFloatBitWidth());
  return bits > 32 ? lanes / 2 : lanes;
}

bool RowEmitter::isCheapReduction() {
  constexpr size_t kCheapOps = 8; // more, and temporaries take the registers
  return llvm::all_of(plan.combiners, [](Combiner &combiner) { return combiner.op; }) &&
         op.getBody()->getOperations().size() <= kCheapOps &&
         llvm::none_of(*op.getBody(), [](Operation &inner) {
           return isa<arith::DivFOp>(inner) || inner.getName().getDialectNamespace() == "math";
         });
}

void RowEmitter::prepareOperands(OpBuilder &b) {
  for (OpOperand &operand : op->getOpOperands()) {
    Operand entry;
    entry.map = op.getMatchingIndexingMap(&operand);
    if (isa<MemRefType>(operand.get().getType())) {
      entry.memory = operand.get();
      entry.use = innerUse(entry.map, plan.inner);
      entry.load = transfers.loadOf(operand);
      if (auto store = transfers.stores.find(&operand); store != transfers.stores.end())
        entry.store = &store->second;
    }
    operands.push_back(entry);
  }
  for (Operand &entry : operands)
    if (entry.load)
      entry.memory = entry.load->memory;
    else if (entry.store)
      entry.memory = entry.store->memory;
  // A load and a store of one op: equal places or disjoint ranges, else through a copy.
  for (Operand &load : operands) {
    if (!load.load)
      continue;
    Value safe;
    for (Operand &store : operands) {
      if (!store.store)
        continue;
      Value pair = emitOverlapTest(b, loc, {load.load->memory, load.load->box},
                                   {store.store->memory, store.store->box},
                                   /*inPlace=*/load.map == store.map);
      safe = safe ? arith::AndIOp::create(b, loc, safe, pair).getResult() : pair;
    }
    if (safe)
      load.memory = emitGuardedCopy(b, loc, *load.load, safe);
  }
}

void RowEmitter::emitOuter(OpBuilder &b, unsigned dimension) {
  OpBuilder::InsertionGuard guard(b);
  if (dimension == plan.inner) {
    emitRow(b);
    return;
  }
  Value extent = storeLimit(b, dimension);
  if (!extent)
    extent = index(b, plan.extents[dimension]);
  auto loop = scf::ForOp::create(b, loc, index(b, 0), extent, index(b, 1));
  ivs.push_back(loop.getInductionVar());
  b.setInsertionPointToStart(loop.getBody());
  emitOuter(b, dimension + 1);
  ivs.pop_back();
}

Value RowEmitter::storeLimit(OpBuilder &b, unsigned dimension) {
  Value limit;
  for (unsigned i = op.getNumDpsInputs(), e = operands.size(); i < e; ++i) {
    const Store *store = operands[i].store;
    if (!store || !store->box[dimension] || (limit && limit != store->box[dimension]))
      return Value();
    limit = store->box[dimension];
  }
  return limit;
}

Value RowEmitter::unclamped(Value size, int64_t full, bool &isClamped) {
  auto upper = size.getDefiningOp<arith::MinSIOp>();
  auto lower = upper ? upper.getLhs().getDefiningOp<arith::MaxSIOp>() : nullptr;
  std::optional<int64_t> most = upper ? getConstantIntValue(upper.getRhs()) : std::nullopt;
  isClamped = lower && most && *most <= full && getConstantIntValue(lower.getRhs()) == 0;
  return isClamped ? lower.getLhs() : size;
}

Value RowEmitter::clampExtent(OpBuilder &b, Value size, int64_t full) {
  bool isClamped;
  (void)unclamped(size, full, isClamped);
  if (isClamped)
    return size;
  Value &known = clamped[size];
  if (!known)
    known = emitClamp(b, size, full);
  return known;
}

Value RowEmitter::emitClamp(OpBuilder &b, Value size, int64_t full) {
  Value zero = index(b, 0);
  Value positive = arith::MaxSIOp::create(b, loc, size, zero);
  return arith::MinSIOp::create(b, loc, positive, index(b, full));
}

Value RowEmitter::rowLimit(OpBuilder &b, AffineMap map, ArrayRef<Value> box, int64_t full) {
  Value limit, valid;
  for (auto [d, result] : llvm::enumerate(map.getResults())) {
    Value size = box[d];
    if (!size)
      continue;
    auto dim = dyn_cast<AffineDimExpr>(result);
    if (dim && dim.getPosition() == plan.inner) {
      limit = clampExtent(b, size, full);
      bounds.push_back(size);
      continue;
    }
    Value position = dim ? ivs[dim.getPosition()] : index(b, 0);
    Value inside = compare(b, arith::CmpIPredicate::slt, position, size);
    valid = valid ? arith::AndIOp::create(b, loc, valid, inside).getResult() : inside;
  }
  if (!limit && !valid)
    return Value();
  if (!limit)
    limit = index(b, full);
  return valid ? arith::SelectOp::create(b, loc, valid, limit, index(b, 0)).getResult() : limit;
}

void RowEmitter::emitRow(OpBuilder &b) {
  const int64_t full = plan.extents[plan.inner];
  bounds.clear();
  loadBounds.clear();
  clamped.clear();
  // The end of the row: where every result is stored in the same box, nothing else is seen.
  Value end = storeLimit(b, plan.inner);
  bool staticEnd = !end;
  if (end)
    bounds.push_back(end);
  end = end ? clampExtent(b, end, full) : index(b, full);
  // The main loop needs every lane of every load and store.
  Value whole = staticEnd ? Value() : end;
  for (Operand &operand : operands) {
    if (!operand.load && !operand.store)
      continue;
    ArrayRef<Value> box =
        operand.load ? ArrayRef<Value>(operand.load->box) : ArrayRef<Value>(operand.store->box);
    operand.limit = rowLimit(b, operand.map, box, full);
    if (operand.load && operand.use == InnerUse::Contiguous && box.back())
      loadBounds.push_back(box.back());
    if (!operand.limit)
      continue;
    whole = whole ? minimum(b, whole, operand.limit) : operand.limit;
  }
  SmallVector<Value> accumulators;
  for (auto [i, combiner] : llvm::enumerate(plan.combiners))
    if (combiner.op)
      accumulators.push_back(splat(
          b, neutralElement(b, *combiningKind(combiner.op), combiner.op->getResult(0).getType()),
          width));
  if (!plan.candidates.empty())
    accumulators = startChoice(b);
  Value step = index(b, width), mainEnd;
  bool needsRest = true;
  if (whole) {
    mainEnd = arith::SubIOp::create(b, loc, whole, arith::RemUIOp::create(b, loc, whole, step));
  } else {
    mainEnd = index(b, full - full % width);
    needsRest = full % width != 0;
  }
  Value zero = index(b, 0);
  const Operand *streamed = streamTarget(full);
  if (streamed) {
    mainEnd = emitStreamed(b, *streamed, whole ? whole : index(b, full), mainEnd);
    needsRest = true;
  } else if (whole || full >= width) {
    accumulators = emitLoop(b, zero, mainEnd, width, Value(), accumulators);
  }
  if (needsRest) {
    if (masksAreCheap()) {
      Value padBegin = staticEnd ? firstPadStep(b, end) : Value();
      noPartialStep = staticEnd && full % width == 0 && !streamed;
      accumulators = emitLoop(b, mainEnd, padBegin ? padBegin : end, width, end, accumulators);
      noPartialStep = false;
      if (padBegin) {
        padOnly = true;
        accumulators =
            emitLoop(b, padBegin, end, width, full % width ? end : Value(), accumulators);
        padOnly = false;
      }
    } else {
      // Lane by lane: the vector accumulators are folded to one lane first.
      if (!plan.candidates.empty())
        accumulators = foldChoice(b, accumulators);
      for (auto [accumulator, kind] : llvm::zip(accumulators, kinds())) {
        Value scalar = vector::ReductionOp::create(b, loc, kind, accumulator);
        accumulator =
            vector::BroadcastOp::create(b, loc, VectorType::get({1}, scalar.getType()), scalar);
      }
      accumulators = emitLoop(b, mainEnd, end, 1, end, accumulators);
    }
  }
  finishReductions(b, accumulators);
}

const RowEmitter::Operand *RowEmitter::streamTarget(int64_t full) {
  const Operand *target = nullptr;
  for (const Operand &operand : operands) {
    if (!operand.store)
      continue;
    if (target || operand.use != InnerUse::Contiguous)
      return nullptr;
    target = &operand;
  }
  if (!target || !stream || !masksAreCheap() || op.getNumDpsInits() != 1)
    return nullptr;
  int64_t bytes = elementBytes(*target);
  return full * bytes >= kStreamRow && width * bytes % kLineBytes == 0 ? target : nullptr;
}

Value RowEmitter::emitStreamed(OpBuilder &b, const Operand &target, Value whole, Value mainEnd) {
  int64_t bytes = elementBytes(target);
  Value zero = index(b, 0), step = index(b, width);
  Value address = byteAddress(b, target);
  Value past = arith::AndIOp::create(b, loc, address, index(b, kLineBytes - 1));
  Value missing = arith::AndIOp::create(
      b, loc, arith::SubIOp::create(b, loc, index(b, kLineBytes), past), index(b, kLineBytes - 1));
  Value head = arith::DivUIOp::create(b, loc, missing, index(b, bytes));
  Value odd = arith::AndIOp::create(b, loc, address, index(b, bytes - 1));
  Value natural = compare(b, arith::CmpIPredicate::eq, odd, zero);
  Value room =
      compare(b, arith::CmpIPredicate::uge, whole, arith::AddIOp::create(b, loc, head, step));
  Value now = arith::AndIOp::create(b, loc, stream, arith::AndIOp::create(b, loc, natural, room));
  auto branch = scf::IfOp::create(b, loc, TypeRange{b.getIndexType()}, now, /*withElse=*/true);
  OpBuilder then = OpBuilder::atBlockBegin(branch.thenBlock());
  fetchLastLine(then, target, address, whole);
  inBoxes = true;
  emitLoop(then, zero, head, width, head, {});
  inBoxes = false;
  Value left = arith::SubIOp::create(then, loc, whole, head);
  Value end =
      arith::SubIOp::create(then, loc, whole, arith::RemUIOp::create(then, loc, left, step));
  streaming = true;
  emitLoop(then, head, end, width, Value(), {});
  streaming = false;
  scf::YieldOp::create(then, loc, end);
  OpBuilder other = OpBuilder::atBlockBegin(branch.elseBlock());
  emitLoop(other, zero, mainEnd, width, Value(), {});
  scf::YieldOp::create(other, loc, mainEnd);
  return branch.getResult(0);
}

void RowEmitter::fetchLastLine(OpBuilder &b, const Operand &target, Value address, Value whole) {
  Value size = arith::MulIOp::create(b, loc, whole, index(b, elementBytes(target)));
  Value past = arith::AndIOp::create(b, loc, arith::AddIOp::create(b, loc, address, size),
                                     index(b, kLineBytes - 1));
  Value shared = compare(b, arith::CmpIPredicate::ne, past, index(b, 0));
  auto branch = scf::IfOp::create(b, loc, shared, /*withElse=*/false);
  OpBuilder then = OpBuilder::atBlockBegin(branch.thenBlock());
  Value last = arith::SubIOp::create(then, loc, whole, index(then, 1));
  memref::PrefetchOp::create(then, loc, target.memory, indices(then, target.map, last),
                             /*isWrite=*/true, /*localityHint=*/3, /*isDataCache=*/true);
}

Value RowEmitter::byteAddress(OpBuilder &b, const Operand &target) {
  auto metadata = memref::ExtractStridedMetadataOp::create(b, loc, target.memory);
  Value position = metadata.getOffset();
  for (auto [at, stride] : llvm::zip(indices(b, target.map, index(b, 0)), metadata.getStrides())) {
    if (getConstantIntValue(at) == 0)
      continue;
    position = arith::AddIOp::create(b, loc, position, arith::MulIOp::create(b, loc, at, stride));
  }
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(b, loc, target.memory);
  return arith::AddIOp::create(
      b, loc, base, arith::MulIOp::create(b, loc, position, index(b, elementBytes(target))));
}

Value RowEmitter::firstPadStep(OpBuilder &b, Value end) {
  Value last;
  for (Operand &operand : operands)
    if (operand.load && operand.limit && operand.use == InnerUse::Contiguous)
      last = last ? arith::MaxUIOp::create(b, loc, last, operand.limit).getResult() : operand.limit;
  if (!last)
    return Value();
  Value step = index(b, width);
  Value sum = arith::AddIOp::create(b, loc, last, index(b, width - 1));
  Value begin = arith::SubIOp::create(b, loc, sum, arith::RemUIOp::create(b, loc, sum, step));
  return minimum(b, begin, end);
}

SmallVector<vector::CombiningKind> RowEmitter::kinds() {
  SmallVector<vector::CombiningKind> result;
  for (Combiner &combiner : plan.combiners)
    if (combiner.op)
      result.push_back(*combiningKind(combiner.op));
  return result;
}

bool RowEmitter::masksAreCheap() {
  if (host.maskNarrow)
    return true;
  return llvm::all_of(operands, [](const Operand &operand) {
    return !operand.memory || operand.use != InnerUse::Contiguous ||
           elementByteWidth(cast<MemRefType>(operand.memory.getType()).getElementType()) >= 4;
  });
}

Value RowEmitter::foldLanes(OpBuilder &b, Operation *combiner, Value lanes) {
  vector::CombiningKind kind = *combiningKind(combiner);
  using Kind = vector::CombiningKind;
  if (!llvm::is_contained({Kind::MAXNUMF, Kind::MINNUMF, Kind::MAXIMUMF, Kind::MINIMUMF}, kind))
    return vector::ReductionOp::create(b, loc, kind, lanes, fastmath(combiner));
  for (int64_t half = cast<VectorType>(lanes.getType()).getDimSize(0) / 2; half; half /= 2) {
    Value low = vector::ExtractStridedSliceOp::create(b, loc, lanes, int64_t(0), half, int64_t(1));
    Value high = vector::ExtractStridedSliceOp::create(b, loc, lanes, half, half, int64_t(1));
    Operation *combined = b.clone(*combiner);
    combined->setOperands({low, high});
    combined->getResult(0).setType(low.getType());
    lanes = combined->getResult(0);
  }
  return vector::ExtractOp::create(b, loc, lanes, ArrayRef<int64_t>{0});
}

void RowEmitter::finishReductions(OpBuilder &b, ArrayRef<Value> accumulators) {
  if (!plan.candidates.empty()) {
    for (auto [i, lane] : llvm::enumerate(foldChoice(b, accumulators))) {
      Operand &operand = operands[op.getNumDpsInputs() + i];
      Value scalar = vector::ExtractOp::create(b, loc, lane, ArrayRef<int64_t>{0});
      memref::StoreOp::create(b, loc, scalar, operand.memory, indices(b, operand.map, Value()));
    }
    return;
  }
  unsigned next = 0;
  for (auto [i, combiner] : llvm::enumerate(plan.combiners)) {
    if (!combiner.op)
      continue;
    Operand &operand = operands[op.getNumDpsInputs() + i];
    SmallVector<Value> at = indices(b, operand.map, Value());
    Value before = memref::LoadOp::create(b, loc, operand.memory, at);
    Value folded = foldLanes(b, combiner.op, accumulators[next++]);
    Operation *combined = b.clone(*combiner.op);
    combined->setOperands({before, folded});
    memref::StoreOp::create(b, loc, combined->getResult(0), operand.memory, at);
  }
}

SmallVector<Value> RowEmitter::startChoice(OpBuilder &b) {
  SmallVector<Value> result;
  for (Operand &operand : MutableArrayRef(operands).drop_front(op.getNumDpsInputs())) {
    Value before = memref::LoadOp::create(b, loc, operand.memory, indices(b, operand.map, Value()));
    result.push_back(
        vector::BroadcastOp::create(b, loc, vectorType(before.getType(), width), before));
  }
  return result;
}

SmallVector<Value> RowEmitter::emitChoice(OpBuilder &b, ValueRange accumulators,
                                          ValueRange candidates, int64_t lanes) {
  for (auto [argument, value] : llvm::zip(op.getRegionOutputArgs(), accumulators))
    mapping.map(argument, value);
  for (auto [inner, value] : llvm::zip(plan.candidates, candidates))
    mapping.map(inner, value);
  for (Operation *inner : plan.choice)
    emitOp(b, *inner, Value(), lanes);
  SmallVector<Value> results;
  for (Value value : op.getBody()->getTerminator()->getOperands())
    results.push_back(mapping.lookup(value));
  return results;
}

SmallVector<Value> RowEmitter::foldChoice(OpBuilder &b, ArrayRef<Value> accumulators) {
  SmallVector<Value> result(accumulators);
  isMain = false;
  for (int64_t lanes = cast<VectorType>(result.front().getType()).getDimSize(0) / 2; lanes;
       lanes /= 2) {
    SmallVector<Value> low, high;
    for (Value value : result) {
      low.push_back(
          vector::ExtractStridedSliceOp::create(b, loc, value, int64_t(0), lanes, int64_t(1)));
      high.push_back(
          vector::ExtractStridedSliceOp::create(b, loc, value, lanes, lanes, int64_t(1)));
    }
    mapping.clear();
    result = emitChoice(b, low, high, lanes);
  }
  return result;
}

arith::FastMathFlags RowEmitter::fastmath(Operation *op) {
  auto interface = dyn_cast<arith::ArithFastMathInterface>(op);
  return interface ? interface.getFastMathFlagsAttr().getValue() : arith::FastMathFlags::none;
}

SmallVector<Value> RowEmitter::emitLoop(OpBuilder &b, Value from, Value to, int64_t lanes,
                                        Value limit, ArrayRef<Value> accumulators) {
  OpBuilder::InsertionGuard guard(b);
  auto loop = scf::ForOp::create(b, loc, from, to, index(b, lanes), accumulators);
  if (!loop.getBody()->empty() && accumulators.empty())
    b.setInsertionPoint(loop.getBody()->getTerminator());
  else
    b.setInsertionPointToEnd(loop.getBody());
  SmallVector<Value> results =
      emitBody(b, loop.getInductionVar(), lanes, limit, loop.getRegionIterArgs());
  if (!accumulators.empty())
    scf::YieldOp::create(b, loc, results);
  return SmallVector<Value>(loop.getResults());
}
