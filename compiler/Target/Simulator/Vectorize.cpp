// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// sim-vectorize: linalg.generic on buffers to vector loops. A row is one main loop over
// whole vectors, one masked loop for the step in which a load ends, and one loop over
// padding only; all have the same body. Loads and stores found by findTransfers address
// memory itself instead of a local copy.
#include "compiler/Target/Simulator/Overlap.h"
#include "compiler/Target/Simulator/Streaming.h"
#include "compiler/Target/Simulator/Transfers.h"
#include "compiler/Target/Simulator/Utils.h"
#include "compiler/Target/Simulator/VectorizePlan.h"
#include "compiler/Transforms/Passes.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

namespace piton {
#define GEN_PASS_DEF_SIMVECTORIZE
#include "compiler/Transforms/Passes.h.inc"
} // namespace piton

using namespace mlir;
using namespace piton;
using namespace piton::simulator;

namespace {

//===----------------------------------------------------------------------===//
// Emission
//===----------------------------------------------------------------------===//

/// What the code is made for.
struct Host {
  int64_t lanes;         ///< 32-bit lanes of one step
  int64_t registerBytes; ///< of one vector register
  bool maskNarrow;       ///< has masks for 8- and 16-bit lanes
};

constexpr int64_t kLineBytes = 64;   ///< of a cache line
constexpr int64_t kStreamRow = 1024; ///< bytes of the shortest row worth a streaming loop

class RowEmitter {
public:
  RowEmitter(Plan &plan, Transfers &transfers, const Host &host, Value stream)
      : plan(plan), op(plan.op), transfers(transfers), loc(plan.op.getLoc()), host(host),
        stream(stream) {
    int64_t extent = plan.extents[plan.inner];
    width = std::min<int64_t>(widestStep(host.lanes), llvm::PowerOf2Ceil(extent));
  }

  void emit() {
    OpBuilder b(op);
    prepareOperands(b);
    emitOuter(b, 0);
    op.erase();
  }

private:
  /// 64-bit lanes take twice the registers. A cheap reduction waits for its accumulators: four
  /// registers of them, whatever their size.
  int64_t widestStep(int64_t lanes) {
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

  bool isCheapReduction() {
    constexpr size_t kCheapOps = 8; // more, and temporaries take the registers
    return llvm::all_of(plan.combiners, [](Combiner &combiner) { return combiner.op; }) &&
           op.getBody()->getOperations().size() <= kCheapOps &&
           llvm::none_of(*op.getBody(), [](Operation &inner) {
             return isa<arith::DivFOp>(inner) || inner.getName().getDialectNamespace() == "math";
           });
  }

  Value index(OpBuilder &b, int64_t value) { return indexConstant(b, loc, value); }
  Value minimum(OpBuilder &b, Value x, Value y) {
    return x == y ? x : arith::MinUIOp::create(b, loc, x, y).getResult();
  }

  struct Operand {
    Value memory; ///< what is indexed; null for a scalar
    AffineMap map;
    InnerUse use = InnerUse::None;
    const Load *load = nullptr;
    const Store *store = nullptr;
    bool isFloat = false;
    Value limit; ///< of the inner dimension in this row, for a load
  };

  void prepareOperands(OpBuilder &b) {
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

  Value compare(OpBuilder &b, arith::CmpIPredicate predicate, Value x, Value y) {
    return arith::CmpIOp::create(b, loc, predicate, x, y);
  }

  /// Loops over the outer dimensions, inside a common store box where there is one.
  void emitOuter(OpBuilder &b, unsigned dimension) {
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

  /// When every result of the op is stored in one box: its extent in this dimension.
  Value storeLimit(OpBuilder &b, unsigned dimension) {
    Value limit;
    for (unsigned i = op.getNumDpsInputs(), e = operands.size(); i < e; ++i) {
      const Store *store = operands[i].store;
      if (!store || !store->box[dimension] || (limit && limit != store->box[dimension]))
        return Value();
      limit = store->box[dimension];
    }
    return limit;
  }

  /// What an extent is computed from: the operand of min(max(x, 0), constant).
  static Value unclamped(Value size, int64_t full, bool &isClamped) {
    auto upper = size.getDefiningOp<arith::MinSIOp>();
    auto lower = upper ? upper.getLhs().getDefiningOp<arith::MaxSIOp>() : nullptr;
    std::optional<int64_t> most = upper ? getConstantIntValue(upper.getRhs()) : std::nullopt;
    isClamped = lower && most && *most <= full && getConstantIntValue(lower.getRhs()) == 0;
    return isClamped ? lower.getLhs() : size;
  }

  Value clampExtent(OpBuilder &b, Value size, int64_t full) {
    bool isClamped;
    (void)unclamped(size, full, isClamped);
    if (isClamped)
      return size;
    Value &known = clamped[size];
    if (!known)
      known = emitClamp(b, size, full);
    return known;
  }

  Value emitClamp(OpBuilder &b, Value size, int64_t full) {
    Value zero = index(b, 0);
    Value positive = arith::MaxSIOp::create(b, loc, size, zero);
    return arith::MinSIOp::create(b, loc, positive, index(b, full));
  }

  /// The number of valid lanes of a box in the row of the current outer indices.
  Value rowLimit(OpBuilder &b, AffineMap map, ArrayRef<Value> box, int64_t full) {
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

  void emitRow(OpBuilder &b) {
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

  /// The one operand whose rows may be stored past the cache; null when there is none.
  const Operand *streamTarget(int64_t full) {
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

  static int64_t elementBytes(const Operand &operand) {
    return elementByteWidth(cast<MemRefType>(operand.memory.getType()).getElementType());
  }

  /// The whole steps of a row: past the cache, after a masked step to the first cache line, when
  /// the launch asks for it; else as usual. Gives the first lane that is left.
  Value emitStreamed(OpBuilder &b, const Operand &target, Value whole, Value mainEnd) {
    int64_t bytes = elementBytes(target);
    Value zero = index(b, 0), step = index(b, width);
    Value address = byteAddress(b, target);
    Value past = arith::AndIOp::create(b, loc, address, index(b, kLineBytes - 1));
    Value missing =
        arith::AndIOp::create(b, loc, arith::SubIOp::create(b, loc, index(b, kLineBytes), past),
                              index(b, kLineBytes - 1));
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

  /// The line in which a row ends is written as usual; stores that follow would wait for it.
  void fetchLastLine(OpBuilder &b, const Operand &target, Value address, Value whole) {
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

  /// Of the first element of the current row.
  Value byteAddress(OpBuilder &b, const Operand &target) {
    auto metadata = memref::ExtractStridedMetadataOp::create(b, loc, target.memory);
    Value position = metadata.getOffset();
    for (auto [at, stride] :
         llvm::zip(indices(b, target.map, index(b, 0)), metadata.getStrides())) {
      if (getConstantIntValue(at) == 0)
        continue;
      position = arith::AddIOp::create(b, loc, position, arith::MulIOp::create(b, loc, at, stride));
    }
    Value base = memref::ExtractAlignedPointerAsIndexOp::create(b, loc, target.memory);
    return arith::AddIOp::create(
        b, loc, base, arith::MulIOp::create(b, loc, position, index(b, elementBytes(target))));
  }

  /// Where only padding is left: the whole step after the last lane of any load, at most
  /// `end`. Null when no load has a limit in its rows.
  Value firstPadStep(OpBuilder &b, Value end) {
    Value last;
    for (Operand &operand : operands)
      if (operand.load && operand.limit && operand.use == InnerUse::Contiguous)
        last =
            last ? arith::MaxUIOp::create(b, loc, last, operand.limit).getResult() : operand.limit;
    if (!last)
      return Value();
    Value step = index(b, width);
    Value sum = arith::AddIOp::create(b, loc, last, index(b, width - 1));
    Value begin = arith::SubIOp::create(b, loc, sum, arith::RemUIOp::create(b, loc, sum, step));
    return minimum(b, begin, end);
  }

  SmallVector<vector::CombiningKind> kinds() {
    SmallVector<vector::CombiningKind> result;
    for (Combiner &combiner : plan.combiners)
      if (combiner.op)
        result.push_back(*combiningKind(combiner.op));
    return result;
  }

  bool masksAreCheap() {
    if (host.maskNarrow)
      return true;
    return llvm::all_of(operands, [](const Operand &operand) {
      return !operand.memory || operand.use != InnerUse::Contiguous ||
             elementByteWidth(cast<MemRefType>(operand.memory.getType()).getElementType()) >= 4;
    });
  }

  /// All lanes of an accumulator combined. LLVM would take the lanes of a maximum one after
  /// another, because of NaN; halves are as good.
  Value foldLanes(OpBuilder &b, Operation *combiner, Value lanes) {
    vector::CombiningKind kind = *combiningKind(combiner);
    using Kind = vector::CombiningKind;
    if (!llvm::is_contained({Kind::MAXNUMF, Kind::MINNUMF, Kind::MAXIMUMF, Kind::MINIMUMF}, kind))
      return vector::ReductionOp::create(b, loc, kind, lanes, fastmath(combiner));
    for (int64_t half = cast<VectorType>(lanes.getType()).getDimSize(0) / 2; half; half /= 2) {
      Value low =
          vector::ExtractStridedSliceOp::create(b, loc, lanes, int64_t(0), half, int64_t(1));
      Value high = vector::ExtractStridedSliceOp::create(b, loc, lanes, half, half, int64_t(1));
      Operation *combined = b.clone(*combiner);
      combined->setOperands({low, high});
      combined->getResult(0).setType(low.getType());
      lanes = combined->getResult(0);
    }
    return vector::ExtractOp::create(b, loc, lanes, ArrayRef<int64_t>{0});
  }

  /// Combines each accumulator with the value that the result had before.
  void finishReductions(OpBuilder &b, ArrayRef<Value> accumulators) {
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

  /// Every lane starts with what the results had before.
  SmallVector<Value> startChoice(OpBuilder &b) {
    SmallVector<Value> result;
    for (Operand &operand : MutableArrayRef(operands).drop_front(op.getNumDpsInputs())) {
      Value before =
          memref::LoadOp::create(b, loc, operand.memory, indices(b, operand.map, Value()));
      result.push_back(
          vector::BroadcastOp::create(b, loc, vectorType(before.getType(), width), before));
    }
    return result;
  }

  /// One choice between accumulators and candidates of so many lanes.
  SmallVector<Value> emitChoice(OpBuilder &b, ValueRange accumulators, ValueRange candidates,
                                int64_t lanes) {
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

  /// Halves against each other down to one lane.
  SmallVector<Value> foldChoice(OpBuilder &b, ArrayRef<Value> accumulators) {
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

  static arith::FastMathFlags fastmath(Operation *op) {
    auto interface = dyn_cast<arith::ArithFastMathInterface>(op);
    return interface ? interface.getFastMathFlagsAttr().getValue() : arith::FastMathFlags::none;
  }

  Value splat(OpBuilder &b, TypedAttr value, int64_t lanes) {
    auto type = VectorType::get({lanes}, value.getType());
    return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, Attribute(value)));
  }

  SmallVector<Value> indices(OpBuilder &b, AffineMap map, Value position) {
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

  /// Lanes of [position, position + lanes) that are below `limit`.
  Value laneMask(OpBuilder &b, Value position, Value limit, int64_t lanes) {
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

  /// One loop over the row. `limit` null: whole vectors only.
  SmallVector<Value> emitLoop(OpBuilder &b, Value from, Value to, int64_t lanes, Value limit,
                              ArrayRef<Value> accumulators) {
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

  Type vectorType(Type element, int64_t lanes) { return VectorType::get({lanes}, element); }

  /// A value of the body as a vector: splats what comes from outside.
  Value asVector(OpBuilder &b, Value value, int64_t lanes) {
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

  Value loadOperand(OpBuilder &b, Operand &operand, Value scalar, Value position, int64_t lanes,
                    Value limit) {
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

  /// An operand that does not vary along the row; outside of its box it is the pad.
  Value loadScalar(OpBuilder &b, Operand &operand, Type element, ArrayRef<Value> at) {
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

  Value laneNumbers(OpBuilder &b, Type element, int64_t lanes) {
    auto type = VectorType::get({lanes}, element);
    SmallVector<Attribute> numbers;
    for (int64_t i = 0; i < lanes; ++i)
      numbers.push_back(b.getIntegerAttr(element, i));
    return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, numbers));
  }

  /// linalg.index as an integer of the type it is cast to: 64-bit lanes halve the width.
  Value positionVector(OpBuilder &b, unsigned dimension, Type element, Value position,
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

  /// The value outside of the op that a value of its body stands for.
  Value outerValue(Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && argument.getOwner() == op.getBody() ? op->getOperand(argument.getArgNumber())
                                                           : value;
  }

  /// `lane < n` where n is the extent of a box: true in whole steps, false in padding.
  bool isBelow(Operation &inner, ArrayRef<Value> extents) {
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

  void emitOp(OpBuilder &b, Operation &inner, Value position, int64_t lanes) {
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
    Operation *created = b.create(inner.getLoc(), inner.getName().getIdentifier(), arguments, types,
                                  inner.getAttrs());
    mapping.map(inner.getResults(), created->getResults());
  }

  /// Register by register: LLVM stores the parts of a wider vector in descending order, which
  /// costs a third of the bandwidth.
  void storeWhole(OpBuilder &b, Value value, const Operand &operand, SmallVector<Value> at,
                  int64_t lanes) {
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

  SmallVector<Value> chooseLanes(OpBuilder &b, Value position, int64_t lanes, Value limit,
                                 ValueRange accumulators) {
    SmallVector<Value> candidates;
    for (Value value : plan.candidates)
      candidates.push_back(asVector(b, value, lanes));
    SmallVector<Value> results = emitChoice(b, accumulators, candidates, lanes);
    if (limit && !noPartialStep)
      for (auto [result, before] : llvm::zip(results, accumulators))
        result =
            arith::SelectOp::create(b, loc, laneMask(b, position, limit, lanes), result, before);
    return results;
  }

  SmallVector<Value> emitBody(OpBuilder &b, Value position, int64_t lanes, Value limit,
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
          sum = arith::SelectOp::create(b, loc, laneMask(b, position, limit, lanes), sum,
                                        accumulator);
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

  Plan &plan;
  linalg::GenericOp op;
  Transfers &transfers;
  Location loc;
  const Host &host;
  Value stream; ///< i1, or null: whether to store past the cache
  int64_t width;
  SmallVector<Operand> operands;
  SmallVector<Value> ivs;
  IRMapping mapping;
  SmallVector<Value> bounds;     ///< of the row: lanes below all of them are whole
  SmallVector<Value> loadBounds; ///< lanes at or above all of them are padding
  llvm::SmallDenseMap<Value, Value> clamped;
  bool isMain = false;        ///< the step being emitted is whole for every operand
  bool padOnly = false;       ///< the lanes being emitted lie outside of every limited load
  bool noPartialStep = false; ///< all lanes of the step are in the row, if not in every box
  bool inBoxes = false;       ///< lanes below the limit lie inside of every box
  bool streaming = false;     ///< stores are aligned, and go past the cache
};

struct SimVectorizePass : piton::impl::SimVectorizeBase<SimVectorizePass> {
  using SimVectorizeBase::SimVectorizeBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function->hasAttr(kKernelAttr))
      return;
    llvm::MapVector<Operation *, Plan> plans;
    function.walk([&](linalg::GenericOp op) {
      if (std::optional<Plan> plan = planFor(op))
        plans.insert({op, *plan});
    });
    Transfers transfers =
        findTransfers(function, [&](Operation *op) { return plans.contains(op); });
    for (auto &[buffer, load] : transfers.loads)
      guardLoad(load);
    const Host host{lanes, registerBytes, maskNarrow};
    Value stream = transfers.stores.empty() ? Value() : emitStreamFlag(function, transfers);
    for (auto &[op, plan] : plans)
      RowEmitter(plan, transfers, host, stream).emit();
    readDotsFromMemory(function, transfers);
    for (auto &[buffer, load] : transfers.loads)
      eraseTransfer(load.copy, load.fill, load.buffer);
    for (auto &[writer, store] : transfers.stores)
      eraseTransfer(store.copy, nullptr, store.buffer);
  }

  static void eraseTransfer(memref::CopyOp copy, Operation *fill, memref::AllocOp buffer) {
    SmallVector<Value> sides{copy.getSource(), copy.getTarget()};
    copy.erase();
    if (fill)
      fill->erase();
    for (Value side : sides)
      while (Operation *def = side.getDefiningOp()) {
        if (!isa<memref::SubViewOp, memref::CastOp>(def) || !def->use_empty())
          break;
        side = def->getOperand(0);
        def->erase();
      }
    if (buffer->use_empty())
      buffer.erase();
  }
};

} // namespace
