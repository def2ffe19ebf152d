// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recognition of loads and stores that vector loops take over; see Transfers.h. A load may
// move down to its readers only over code that writes no shared memory, a store may move
// up to its writer only over code that does not touch shared memory at all.
#include "compiler/Target/Simulator/Transfers.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "llvm/ADT/SetVector.h"

#include <array>

using namespace mlir;

namespace piton::simulator {

Value viewSource(Value memref) {
  while (Operation *def = memref.getDefiningOp()) {
    if (isa<memref::SubViewOp, memref::CastOp, memref::ReinterpretCastOp, memref::CollapseShapeOp,
            memref::ExpandShapeOp, memref::ReshapeOp>(def))
      memref = def->getOperand(0);
    else
      break;
  }
  return memref;
}

bool isLocalMemory(Value memref) {
  Operation *def = viewSource(memref).getDefiningOp();
  return def && isa<memref::AllocOp, memref::AllocaOp, memref::GetGlobalOp>(def);
}

namespace {

/// Calls `visit(value, isWrite)` for the memory an op touches; false when it is not known.
bool visitMemory(Operation *op, llvm::function_ref<void(Value, bool)> visit) {
  if (isMemoryEffectFree(op) || isa<memref::AllocOp, memref::AllocaOp>(op))
    return true;
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
    for (Value input : linalgOp.getDpsInputs())
      if (isa<MemRefType>(input.getType()))
        visit(input, false);
    for (Value init : linalgOp.getDpsInits())
      visit(init, true);
    // A body with calls or loads of its own is not transparent.
    bool plain = true;
    for (Operation &inner : linalgOp.getBlock()->without_terminator())
      plain &= isMemoryEffectFree(&inner);
    return plain;
  }
  if (auto copy = dyn_cast<memref::CopyOp>(op)) {
    visit(copy.getSource(), false);
    visit(copy.getTarget(), true);
    return true;
  }
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    visit(load.getMemRef(), false);
    return true;
  }
  if (auto store = dyn_cast<memref::StoreOp>(op)) {
    visit(store.getMemRef(), true);
    return true;
  }
  if (auto load = dyn_cast<vector::LoadOp>(op)) {
    visit(load.getBase(), false);
    return true;
  }
  if (auto store = dyn_cast<vector::StoreOp>(op)) {
    visit(store.getBase(), true);
    return true;
  }
  if (isa<scf::ForOp, scf::IfOp, scf::WhileOp, scf::IndexSwitchOp>(op)) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Operation &inner : block)
          if (!visitMemory(&inner, visit))
            return false;
    return true;
  }
  return op->hasTrait<OpTrait::IsTerminator>();
}

bool touchesSharedMemory(Operation *op, bool writesOnly) {
  bool shared = false;
  bool known = visitMemory(op, [&](Value memref, bool isWrite) {
    shared |= (isWrite || !writesOnly) && !isLocalMemory(memref);
  });
  return !known || shared;
}

/// Full extents as null, others as values; false when the view is not a plain box from 0.
bool boxOf(memref::SubViewOp view, SmallVector<Value> &box) {
  OpBuilder b(view);
  if (view.getSourceType().getRank() != view.getType().getRank())
    return false;
  for (auto [offset, stride] : llvm::zip(view.getMixedOffsets(), view.getMixedStrides()))
    if (getConstantIntValue(offset) != 0 || getConstantIntValue(stride) != 1)
      return false;
  for (auto [d, size] : llvm::enumerate(view.getMixedSizes())) {
    int64_t full = view.getSourceType().getDimSize(d);
    std::optional<int64_t> constant = getConstantIntValue(size);
    if (constant && *constant == full)
      box.push_back(Value());
    else if (constant)
      box.push_back(arith::ConstantIndexOp::create(b, view.getLoc(), *constant));
    else
      box.push_back(cast<Value>(size));
  }
  return true;
}

bool sameBox(ArrayRef<Value> a, ArrayRef<Value> b) {
  for (auto [x, y] : llvm::zip(a, b)) {
    if (x == y)
      continue;
    if (!x || !y)
      return false;
    std::optional<int64_t> p = getConstantIntValue(x), q = getConstantIntValue(y);
    if (!p || p != q)
      return false;
  }
  return a.size() == b.size();
}

bool hasUnitInnerStride(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  return type.getRank() > 0 && succeeded(type.getStridesAndOffset(strides, offset)) &&
         strides.back() == 1;
}

Value skipCasts(Value memref) {
  while (auto conversion = memref.getDefiningOp<memref::CastOp>())
    memref = conversion.getSource();
  return memref;
}

/// The two sides of a copy between `buffer` and memory: the whole buffer, or equal boxes.
bool matchSides(Value local, Value shared, memref::AllocOp buffer, Value &memory,
                SmallVector<Value> &box) {
  local = skipCasts(local);
  shared = skipCasts(shared);
  int64_t rank = buffer.getType().getRank();
  if (local == buffer.getResult()) {
    memory = shared;
    box.assign(rank, Value());
  } else {
    auto localView = local.getDefiningOp<memref::SubViewOp>();
    auto sharedView = shared.getDefiningOp<memref::SubViewOp>();
    SmallVector<Value> sharedBox;
    if (!localView || !sharedView || skipCasts(localView.getSource()) != buffer.getResult() ||
        !boxOf(localView, box) || !boxOf(sharedView, sharedBox) || !sameBox(box, sharedBox))
      return false;
    memory = skipCasts(sharedView.getSource());
  }
  auto type = cast<MemRefType>(memory.getType());
  return type.getShape() == buffer.getType().getShape() && hasUnitInnerStride(type) &&
         !isLocalMemory(memory);
}

/// A fill of the whole buffer, alone in its scf.if when it is guarded.
bool matchFill(linalg::FillOp fill, memref::CopyOp copy, Load &load) {
  load.pad = fill.getInputs().front();
  load.fill = fill;
  if (fill->getBlock() == copy->getBlock())
    return fill->isBeforeInBlock(copy);
  auto guard = dyn_cast<scf::IfOp>(fill->getParentOp());
  if (!guard || guard->getBlock() != copy->getBlock() || !guard->isBeforeInBlock(copy) ||
      guard->getNumResults() != 0 || !guard.getElseRegion().empty() ||
      guard.thenBlock() != fill->getBlock())
    return false;
  // The guard says "the box is not full": inside a full box no lane needs the pad.
  if (guard.thenBlock()->getOperations().size() != 2)
    return false;
  load.fill = guard;
  Operation *pad = load.pad.getDefiningOp();
  return !pad || !guard->isProperAncestor(pad);
}

bool isDot(Operation *op) { return isa<linalg::MatmulOp>(op); }

/// The extent of an operand of a dot in an iteration dimension; null: full, or not a load.
Value dotLimit(const Load *load, AffineMap map, unsigned dimension) {
  if (!load || load->wholeOnly)
    return Value();
  for (auto [i, result] : llvm::enumerate(map.getResults()))
    if (auto dim = dyn_cast<AffineDimExpr>(result); dim && dim.getPosition() == dimension)
      return load->box[i];
  return Value();
}

bool isZeroOrAnything(Value pad) {
  if (!pad)
    return true;
  Attribute value;
  if (!matchPattern(pad, m_Constant(&value)))
    return false;
  if (auto real = dyn_cast<FloatAttr>(value))
    return real.getValue().isPosZero();
  auto integer = dyn_cast<IntegerAttr>(value);
  return integer && integer.getValue().isZero();
}

/// The loads of a dot's operands A and B.
std::array<const Load *, 2> dotLoads(Operation *dot, const Transfers &transfers) {
  std::array<const Load *, 2> loads{};
  for (unsigned i = 0; i < 2; ++i)
    loads[i] = transfers.loadOf(dot->getOpOperand(i));
  return loads;
}

/// Rows and columns must be full: what is outside of a box takes part in the product as 0.
/// The summed dimension may end early, for both operands at the same place.
bool dotCanRead(Operation *dot, const Transfers &transfers) {
  auto [a, b] = dotLoads(dot, transfers);
  SmallVector<AffineMap> maps = cast<linalg::LinalgOp>(dot).getIndexingMapsArray();
  if (dotLimit(a, maps[0], 0) || dotLimit(b, maps[1], 1))
    return false;
  Value endA = dotLimit(a, maps[0], 2), endB = dotLimit(b, maps[1], 2);
  if (!endA && !endB)
    return true;
  return a && b && sameBox({endA}, {endB}) && isZeroOrAnything(a->pad) && isZeroOrAnything(b->pad);
}

constexpr size_t kMaxCrossed = 4; ///< each costs a test per block

struct Finder {
  llvm::function_ref<bool(Operation *)> isVectorized;
  Transfers result;

  /// What a store between a load and its reader writes, if a test at the load can find out.
  static Value storedView(Operation *op) {
    auto copy = dyn_cast<memref::CopyOp>(op);
    if (!copy || !hasUnitInnerStride(cast<MemRefType>(copy.getTarget().getType())))
      return Value();
    return copy.getTarget();
  }

  /// Ops strictly between may write shared memory only in views that can be tested.
  static bool canMoveDown(Operation *from, Operation *to, llvm::SetVector<Value> &crossed) {
    for (Operation *op = from->getNextNode(); op && op != to; op = op->getNextNode()) {
      if (!touchesSharedMemory(op, /*writesOnly=*/true))
        continue;
      Value view = storedView(op);
      if (!view)
        return false;
      crossed.insert(view);
    }
    return crossed.size() <= kMaxCrossed;
  }

  /// Everything that touches a buffer, seen through views.
  struct Users {
    SmallVector<memref::CopyOp> filledBy; ///< copies into it
    SmallVector<memref::CopyOp> copiedBy; ///< copies out of it
    SmallVector<linalg::FillOp> fills;
    SmallVector<Operation *> others;
  };

  static Users usersOf(memref::AllocOp buffer) {
    Users users;
    SmallVector<Operation *> work(buffer->user_begin(), buffer->user_end());
    while (!work.empty()) {
      Operation *user = work.pop_back_val();
      if (isa<memref::SubViewOp, memref::CastOp>(user)) {
        work.append(user->user_begin(), user->user_end());
      } else if (auto copy = dyn_cast<memref::CopyOp>(user)) {
        const bool into = viewSource(copy.getTarget()) == buffer.getResult();
        const bool from = viewSource(copy.getSource()) == buffer.getResult();
        if (into && from)
          users.others.push_back(user);
        else
          (into ? users.filledBy : users.copiedBy).push_back(copy);
      } else if (auto fill = dyn_cast<linalg::FillOp>(user)) {
        users.fills.push_back(fill);
      } else {
        users.others.push_back(user);
      }
    }
    return users;
  }

  /// The operand of a vectorised op that gives every element of the buffer a value from nothing.
  OpOperand *overwrites(Operation *op, Value buffer) {
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (!generic || !isVectorized(op) || generic.getNumReductionLoops() != 0)
      return nullptr;
    OpOperand *found = nullptr;
    for (OpOperand &init : generic.getDpsInitsMutable()) {
      if (init.get() != buffer)
        continue;
      if (found || generic.payloadUsesValueFromOperand(&init) ||
          !generic.getMatchingIndexingMap(&init).isIdentity())
        return nullptr;
      found = &init;
    }
    return found;
  }

  static bool comesBefore(Operation *op, Operation *reference) {
    Operation *ancestor = reference->getBlock()->findAncestorOpInBlock(*op);
    return ancestor && ancestor != reference && ancestor->isBeforeInBlock(reference);
  }

  bool matchLoad(memref::AllocOp buffer, Load &load) {
    Users users = usersOf(buffer);
    if (users.filledBy.size() != 1 || users.fills.size() > 1)
      return false;
    load.copy = users.filledBy.front();
    if (load.copy->getBlock() != buffer->getBlock())
      return false;
    load.buffer = buffer;
    if (!matchSides(load.copy.getTarget(), load.copy.getSource(), buffer, load.memory, load.box))
      return false;
    if (!users.fills.empty() && (users.fills.front().getDpsInits().front() != buffer.getResult() ||
                                 !matchFill(users.fills.front(), load.copy, load)))
      return false;
    // Bufferization computes in place: from the first op that overwrites the buffer on, it holds
    // something else.
    Operation *last = nullptr;
    for (Operation *user : users.others)
      if (user->getBlock() == load.copy->getBlock() && overwrites(user, buffer) &&
          (!last || user->isBeforeInBlock(last)))
        last = user;
    for (memref::CopyOp copy : users.copiedBy)
      users.others.push_back(copy);
    llvm::SetVector<Value> crossed;
    for (Operation *user : users.others) {
      if (last && user != last && !comesBefore(user, last))
        continue;
      if (!isLoadReader(user, load, user == last, crossed))
        return false;
    }
    load.crossed.assign(crossed.begin(), crossed.end());
    return !load.readers.empty() && hoistAbove(load.crossed, load.copy);
  }

  /// Whether an op can read the memory of a load itself; notes through which operands.
  bool isLoadReader(Operation *user, Load &load, bool mayOverwrite,
                    llvm::SetVector<Value> &crossed) {
    Value buffer = load.buffer.getResult();
    if (!isVectorized(user) && !isDot(user))
      return false;
    auto reader = cast<linalg::LinalgOp>(user);
    if (!mayOverwrite && llvm::is_contained(SmallVector<Value>(reader.getDpsInits()), buffer))
      return false;
    if (user->getBlock() != load.copy->getBlock() || !load.copy->isBeforeInBlock(user) ||
        !canMoveDown(load.copy, user, crossed) || !llvm::is_contained(user->getOperands(), buffer))
      return false;
    for (OpOperand *input : reader.getDpsInputOperands())
      if (input->get() == buffer)
        load.readers.insert(input);
    return true;
  }

  bool matchStore(memref::AllocOp buffer, Store &store) {
    Users users = usersOf(buffer);
    if (users.copiedBy.size() != 1)
      return false;
    store.copy = users.copiedBy.front();
    Operation *writer = nullptr;
    for (Operation *user : users.others)
      if (OpOperand *init = overwrites(user, buffer); init &&
                                                      user->getBlock() == store.copy->getBlock() &&
                                                      (!writer || writer->isBeforeInBlock(user))) {
        writer = user;
        store.writer = init;
      }
    if (!writer || !writer->isBeforeInBlock(store.copy))
      return false;
    // What came before, in place, keeps the buffer.
    users.others.append(users.filledBy.begin(), users.filledBy.end());
    users.others.append(users.fills.begin(), users.fills.end());
    for (Operation *user : users.others)
      if (user != writer && !comesBefore(user, writer))
        return false;
    store.buffer = buffer;
    if (!matchSides(store.copy.getSource(), store.copy.getTarget(), buffer, store.memory,
                    store.box))
      return false;
    for (Operation *op = writer->getNextNode(); op != store.copy.getOperation();
         op = op->getNextNode())
      if (touchesSharedMemory(op, /*writesOnly=*/false) || readsFoldedLoad(op))
        return false;
    // The store's view and box must exist at the writer.
    SmallVector<Value> needed{store.memory};
    for (Value size : store.box)
      if (size)
        needed.push_back(size);
    return hoistAbove(needed, writer);
  }

  bool readsFoldedLoad(Operation *op) {
    return llvm::any_of(op->getOperands(),
                        [&](Value value) { return result.loads.contains(value); });
  }

  /// Moves what computes the values above `writer`, if it is pure.
  static bool hoistAbove(SmallVector<Value> needed, Operation *writer) {
    SmallVector<Operation *> moves;
    llvm::SmallPtrSet<Operation *, 8> seen;
    while (!needed.empty()) {
      Operation *def = needed.pop_back_val().getDefiningOp();
      if (!def || def->getBlock() != writer->getBlock() || def->isBeforeInBlock(writer) ||
          !seen.insert(def).second)
        continue;
      if (!isMemoryEffectFree(def) || def->getNumRegions() != 0)
        return false;
      moves.push_back(def);
      needed.append(def->operand_begin(), def->operand_end());
    }
    llvm::sort(moves, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    for (Operation *op : moves)
      op->moveBefore(writer);
    return true;
  }
};

} // namespace

bool mayWriteSharedMemory(Operation *op) { return touchesSharedMemory(op, true); }

Transfers findTransfers(func::FuncOp function, llvm::function_ref<bool(Operation *)> isVectorized) {
  Finder finder{isVectorized, {}};
  SmallVector<memref::AllocOp> buffers;
  function.walk([&](memref::AllocOp alloc) {
    if (alloc.getType().hasStaticShape() && alloc.getType().getLayout().isIdentity())
      buffers.push_back(alloc);
  });
  for (memref::AllocOp buffer : buffers) {
    Load load;
    if (finder.matchLoad(buffer, load))
      finder.result.loads.insert({buffer.getResult(), load});
  }
  // A dot that cannot read a part of a tile reads whole ones only, which may stop other dots.
  for (bool changed = true; changed;) {
    changed = false;
    function.walk([&](linalg::MatmulOp dot) {
      if (dotCanRead(dot, finder.result))
        return;
      for (OpOperand *operand : dot.getDpsInputOperands())
        if (finder.result.loadOf(*operand)) {
          Load &load = finder.result.loads.find(operand->get())->second;
          changed |= !load.wholeOnly;
          load.wholeOnly = true;
        }
    });
  }
  for (memref::AllocOp buffer : buffers) {
    Store store;
    if (finder.matchStore(buffer, store))
      finder.result.stores.insert({store.writer, store});
  }
  return std::move(finder.result);
}

void readDotsFromMemory(func::FuncOp function, Transfers &transfers) {
  SmallVector<linalg::MatmulOp> dots;
  function.walk([&](linalg::MatmulOp dot) { dots.push_back(dot); });
  for (linalg::MatmulOp dot : dots) {
    auto loads = dotLoads(dot, transfers);
    SmallVector<AffineMap> maps = dot.getIndexingMapsArray();
    OpBuilder b(dot);
    for (unsigned i = 0; i < 2; ++i) {
      const Load *load = loads[i];
      if (!load)
        continue;
      Value operand = load->memory;
      if (Value end = dotLimit(load, maps[i], 2)) {
        auto type = cast<MemRefType>(operand.getType());
        SmallVector<OpFoldResult> offsets(2, b.getIndexAttr(0)), ones(2, b.getIndexAttr(1)), sizes;
        for (unsigned d = 0; d < 2; ++d)
          sizes.push_back(load->box[d] ? OpFoldResult(load->box[d])
                                       : OpFoldResult(b.getIndexAttr(type.getDimSize(d))));
        operand = memref::SubViewOp::create(b, dot.getLoc(), operand, offsets, sizes, ones);
      }
      dot->setOperand(i, operand);
    }
  }
}

} // namespace piton::simulator
