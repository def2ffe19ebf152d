// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The two vector cores of an AI core as two programs that run at the same time, for kernels in
// which a side may wait, perhaps for the other one. Each side has its own copy of what depends on
// it and of what has no effect. Everything else, a group of ops, happens once: both sides meet,
// side 0 does it for both and writes down what side 1 needs of the results, and they meet again.
// Without such a group between them the sides are free to run apart.
//
//   side 0:  meet; v = load x; store y, v; [v to shared memory]; meet
//   side 1:  meet;                                               meet; v = [from shared memory]
#include "compiler/Target/Simulator/DeviceOps.h"
#include "compiler/Target/Simulator/SubVectors.h"
#include "compiler/Target/Simulator/Transfers.h"
#include "compiler/Target/Simulator/Utils.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace piton::simulator {

namespace {

/// Device functions that read what never changes: each side may call them itself.
bool isConstantQuery(Operation *op) {
  if (op->getName().getStringRef() != "hivm.hir.custom")
    return false;
  auto symbol = op->getAttrOfType<StringAttr>("symbol");
  if (!symbol)
    return false;
  StringRef name = symbol.getValue();
  return name == "aclshmem_my_pe" || name == "aclshmem_n_pes" ||
         name.starts_with("aclshmem_team_") || name.starts_with("aclshmem_ptr_") ||
         name.starts_with("aclshmem_consume_token_");
}

/// A tensor over local memory, which only a group writes.
bool isLocalTensor(Operation *op) {
  auto tensor = dyn_cast<bufferization::ToTensorOp>(op);
  return tensor && viewSource(tensor.getBuffer()).getDefiningOp<memref::AllocOp>();
}

/// Ops that either side may do for itself, as often as it likes.
bool isFree(Operation *op) {
  return isMemoryEffectFree(op) || isConstantQuery(op) || isLocalTensor(op);
}

void forEachOutsideValue(Operation *op, llvm::function_ref<void(Value)> visit) {
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands()) {
      Operation *owner = operand.getParentBlock()->getParentOp();
      if (!op->isAncestor(owner))
        visit(operand);
    }
  });
}

/// The values that side 1 needs: for its pieces, and for the loops and branches around them.
class Needs {
public:
  Needs(func::FuncOp kernel, const SideDependence &dependence) : dependence(dependence) {
    visitBlock(kernel.getBody().front());
    while (!work.empty())
      expand(work.pop_back_val());
  }

  bool contains(Value value) const { return needed.contains(value); }
  bool containsAny(ValueRange values) const {
    return llvm::any_of(values, [&](Value v) { return contains(v); });
  }
  /// Whether a loop of side 1 carries its n-th value.
  bool carries(scf::ForOp loop, unsigned n) const {
    return contains(loop.getRegionIterArg(n)) || contains(loop.getResult(n));
  }

private:
  void need(Value value) {
    if (needed.insert(value).second)
      work.push_back(value);
  }

  void visitBlock(Block &block) {
    for (Operation &op : block.without_terminator()) {
      if (dependence.isPiece(&op)) {
        forEachOutsideValue(&op, [&](Value v) { need(v); });
        continue;
      }
      if (!dependence.holdsPiece(&op))
        continue;
      if (auto loop = dyn_cast<scf::ForOp>(op))
        for (Value control : {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})
          need(control);
      else if (isBranch(&op))
        need(op.getOperand(0));
      else if (auto loop = dyn_cast<scf::WhileOp>(op))
        need(loop.getConditionOp().getCondition());
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          visitBlock(inner);
    }
  }

  void expandCarried(scf::ForOp loop, unsigned n) {
    need(loop.getRegionIterArg(n));
    need(loop.getInitArgs()[n]);
    need(loop.getYieldedValues()[n]);
  }

  void expand(Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      const unsigned n = argument.getArgNumber();
      Operation *parent = argument.getOwner()->getParentOp();
      if (auto loop = dyn_cast<scf::ForOp>(parent); loop && n > 0)
        expandCarried(loop, n - 1);
      auto loop = dyn_cast<scf::WhileOp>(parent);
      if (!loop)
        return;
      if (argument.getOwner() == loop.getAfterBody())
        return need(loop.getConditionOp().getArgs()[n]);
      need(loop.getInits()[n]);
      return need(loop.getYieldOp()->getOperand(n));
    }
    Operation *op = value.getDefiningOp();
    if (dependence.isPiece(op))
      return;
    if (!dependence.holdsPiece(op)) {
      if (isFree(op) || isa<memref::AllocOp>(op))
        forEachOutsideValue(op, [&](Value v) { need(v); });
      return; // what a group gives comes by shared memory
    }
    const unsigned n = cast<OpResult>(value).getResultNumber();
    if (auto loop = dyn_cast<scf::ForOp>(op))
      expandCarried(loop, n);
    else if (auto loop = dyn_cast<scf::WhileOp>(op))
      need(loop.getConditionOp().getArgs()[n]);
    else if (isBranch(op))
      for (Region &region : op->getRegions())
        need(region.front().getTerminator()->getOperand(n));
  }

  const SideDependence &dependence;
  llvm::DenseSet<Value> needed;
  SmallVector<Value> work;
};

/// Places in the memory that the sides share. The first words count their meetings.
class SharedMemory {
public:
  int64_t placeOf(Value value, int64_t bytes) {
    auto [entry, isNew] = places.try_emplace(value, end);
    if (isNew)
      end = (end + bytes + kAlignment - 1) / kAlignment * kAlignment;
    return entry->second;
  }
  int64_t bytes() const { return end; }

private:
  static constexpr int64_t kAlignment = 64;
  llvm::DenseMap<Value, int64_t> places;
  int64_t end = kAlignment;
};

/// Writes the program of one side.
class SideWriter {
public:
  SideWriter(const SideDependence &dependence, const Needs &needs, SharedMemory &memory,
             Value shared, int64_t side, StringRef meeting)
      : dependence(dependence), needs(needs), memory(memory), shared(shared), side(side),
        meeting(meeting) {}

  /// Copies ops that follow each other in one block to where `b` is.
  LogicalResult writeOps(ArrayRef<Operation *> ops, OpBuilder &b, Location end) {
    for (Operation *op : ops)
      if (failed(writeOp(op, b)))
        return failure();
    return endGroup(b, end);
  }

private:
  LogicalResult writeBlock(Block &block, OpBuilder &b) {
    SmallVector<Operation *> ops;
    for (Operation &op : block.without_terminator())
      ops.push_back(&op);
    return writeOps(ops, b, block.getTerminator()->getLoc());
  }

  bool isLeader() const { return side == 0; }
  bool isWanted(ValueRange values) const { return isLeader() || needs.containsAny(values); }

  LogicalResult writeOp(Operation *op, OpBuilder &b) {
    if (dependence.isPiece(op)) {
      if (failed(endGroup(b, op->getLoc())))
        return failure();
      if (isSideQuery(op))
        map.map(op->getResult(0), i64Constant(b, op->getLoc(), side));
      else
        clone(op, b);
      return success();
    }
    if (dependence.holdsPiece(op)) {
      if (failed(endGroup(b, op->getLoc())))
        return failure();
      if (isBranch(op))
        return writeBranch(op, b);
      return TypeSwitch<Operation *, LogicalResult>(op)
          .Case<scf::ForOp, scf::WhileOp>([&](auto loop) { return write(loop, b); })
          .Default([](Operation *other) {
            return other->emitOpError("holds work of one vector core and cannot be taken apart");
          });
    }
    if (auto buffer = dyn_cast<memref::AllocOp>(op); buffer && needs.contains(buffer))
      return placeBuffer(buffer, b);
    if (isFree(op) || isa<memref::AllocOp, memref::DeallocOp>(op))
      return writeFree(op, b);
    if (!inGroup) {
      inGroup = true;
      if (isLeader())
        meet(b, op->getLoc());
    }
    for (Value result : op->getResults())
      if (needs.contains(result))
        told.push_back(result);
    if (isLeader())
      clone(op, b);
    return success();
  }

  /// An op of no effect: where it is needed, behind the group that it uses a result of.
  LogicalResult writeFree(Operation *op, OpBuilder &b) {
    const bool isForBoth = needs.containsAny(op->getResults());
    bool usesGroup = isLocalTensor(op);
    if (isForBoth)
      forEachOutsideValue(op, [&](Value v) { usesGroup |= llvm::is_contained(told, v); });
    if (isForBoth && usesGroup && failed(endGroup(b, op->getLoc())))
      return failure();
    if (isWanted(op->getResults()))
      clone(op, b);
    return success();
  }

  void clone(Operation *op, OpBuilder &b) {
    Operation *copy = b.clone(*op, map);
    // Memory of both sides is not for one of them to reuse.
    copy->walk([&](bufferization::ToTensorOp tensor) {
      if (sharedBuffers.contains(viewSource(tensor.getBuffer())))
        tensor.setWritable(false);
    });
  }

  void meet(OpBuilder &b, Location loc) {
    Operation *at = b.getInsertionBlock()->getParentOp();
    auto callee = declareFunction(b, at, meeting, b.getFunctionType({}, {}));
    func::CallOp::create(b, loc, callee, ValueRange());
  }

  LogicalResult endGroup(OpBuilder &b, Location loc) {
    if (!inGroup)
      return success();
    inGroup = false;
    SmallVector<Value> values = std::move(told);
    told.clear();
    if (!isLeader())
      meet(b, loc);
    else
      for (Value value : values)
        if (failed(tell(value, b)))
          return failure();
    meet(b, loc);
    if (!isLeader())
      for (Value value : values)
        if (failed(hear(value, b)))
          return failure();
    return success();
  }

  //===-- Values by shared memory ---------------------------------------------===//

  Value address(OpBuilder &b, Location loc, int64_t place) {
    return LLVM::GEPOp::create(b, loc, shared.getType(), b.getI8Type(), shared,
                               ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(int32_t(place))});
  }

  LogicalResult refuse(Value value) {
    return emitError(value.getLoc()) << "a value of type " << value.getType()
                                     << " cannot be told to the other vector core; compute it "
                                        "where sub_vec_id() decides";
  }

  /// Memory in place of a tensor or a local buffer.
  FailureOr<Value> sharedBuffer(Value value, OpBuilder &b) {
    auto shape = cast<ShapedType>(value.getType());
    if (!shape.hasStaticShape())
      return failure();
    auto type = MemRefType::get(shape.getShape(), shape.getElementType());
    int64_t bytes = shape.getNumElements() * elementByteWidth(shape.getElementType());
    Location loc = value.getLoc();
    return memrefFromPointer(b, loc, address(b, loc, memory.placeOf(value, bytes)), type, {});
  }

  LogicalResult placeBuffer(memref::AllocOp alloc, OpBuilder &b) {
    FailureOr<Value> buffer = sharedBuffer(alloc, b);
    if (failed(buffer) || !alloc.getType().getLayout().isIdentity())
      return refuse(alloc);
    sharedBuffers.insert(*buffer);
    map.map(alloc.getResult(), *buffer);
    return success();
  }

  LogicalResult tell(Value value, OpBuilder &b) {
    Location loc = value.getLoc();
    Value own = map.lookup(value);
    Type type = value.getType();
    if (isa<RankedTensorType>(type)) {
      FailureOr<Value> buffer = sharedBuffer(value, b);
      if (failed(buffer))
        return refuse(value);
      auto store = bufferization::MaterializeInDestinationOp::create(b, loc, own, *buffer);
      store.setRestrict(true);
      store.setWritable(true);
      return success();
    }
    if (auto memref = dyn_cast<MemRefType>(type))
      return tellView(value, memref, own, b);
    if (isa<IndexType>(type))
      own = arith::IndexCastOp::create(b, loc, b.getI64Type(), own);
    else if (type.isInteger(1))
      own = arith::ExtUIOp::create(b, loc, b.getI8Type(), own);
    else if (!type.isIntOrFloat() && !isa<LLVM::LLVMPointerType>(type))
      return refuse(value);
    storeAt(b, loc, own, shared, memory.placeOf(value, 8));
    return success();
  }

  LogicalResult hear(Value value, OpBuilder &b) {
    Location loc = value.getLoc();
    Type type = value.getType();
    Value result;
    if (auto tensor = dyn_cast<RankedTensorType>(type)) {
      FailureOr<Value> buffer = sharedBuffer(value, b);
      if (failed(buffer))
        return refuse(value);
      result = bufferization::ToTensorOp::create(b, loc, tensor, *buffer, /*restrict=*/true,
                                                 /*writable=*/false);
    } else if (auto memref = dyn_cast<MemRefType>(type)) {
      return hearView(value, memref, b);
    } else {
      const int64_t place = memory.placeOf(value, 8);
      if (isa<IndexType>(type))
        result =
            arith::IndexCastOp::create(b, loc, type, loadAt(b, loc, b.getI64Type(), shared, place));
      else if (type.isInteger(1))
        result =
            arith::TruncIOp::create(b, loc, type, loadAt(b, loc, b.getI8Type(), shared, place));
      else if (type.isIntOrFloat() || isa<LLVM::LLVMPointerType>(type))
        result = loadAt(b, loc, type, shared, place);
      else
        return refuse(value);
    }
    map.map(value, result);
    return success();
  }

  /// A view of memory: its base, offset, sizes and strides.
  LogicalResult tellView(Value value, MemRefType type, Value own, OpBuilder &b) {
    Location loc = value.getLoc();
    const int64_t rank = type.getRank();
    int64_t place = memory.placeOf(value, 16 + 16 * rank);
    auto metadata = memref::ExtractStridedMetadataOp::create(b, loc, own);
    SmallVector<Value> fields{memref::ExtractAlignedPointerAsIndexOp::create(b, loc, own),
                              metadata.getOffset()};
    llvm::append_range(fields, metadata.getSizes());
    llvm::append_range(fields, metadata.getStrides());
    for (Value field : fields) {
      storeAt(b, loc, arith::IndexCastOp::create(b, loc, b.getI64Type(), field), shared, place);
      place += 8;
    }
    return success();
  }

  LogicalResult hearView(Value value, MemRefType type, OpBuilder &b) {
    Location loc = value.getLoc();
    const int64_t rank = type.getRank();
    SmallVector<int64_t> strides;
    int64_t offset = 0;
    if (failed(type.getStridesAndOffset(strides, offset)))
      return refuse(value);
    int64_t place = memory.placeOf(value, 16 + 16 * rank);
    Value base = loadAt(b, loc, shared.getType(), shared, place);
    auto bare = MemRefType::get({ShapedType::kDynamic}, type.getElementType());
    Value whole = memrefFromPointer(b, loc, base, bare, {});
    auto field = [&](int64_t number, int64_t known) -> OpFoldResult {
      if (ShapedType::isStatic(known))
        return b.getIndexAttr(known);
      Value wide = loadAt(b, loc, b.getI64Type(), shared, place + 8 * number);
      return arith::IndexCastOp::create(b, loc, b.getIndexType(), wide).getResult();
    };
    SmallVector<OpFoldResult> sizes, steps;
    for (int64_t d = 0; d < rank; ++d) {
      sizes.push_back(field(2 + d, type.getDimSize(d)));
      steps.push_back(field(2 + rank + d, strides[d]));
    }
    map.map(value,
            memref::ReinterpretCastOp::create(b, loc, type, whole, field(1, offset), sizes, steps)
                .getResult());
    return success();
  }

  //===-- Loops and branches --------------------------------------------------===//

  /// Positions of `count` values of which this side keeps those that `isKept` says.
  SmallVector<unsigned> kept(unsigned count, llvm::function_ref<bool(unsigned)> isKept) const {
    SmallVector<unsigned> positions;
    for (unsigned n = 0; n < count; ++n)
      if (isLeader() || isKept(n))
        positions.push_back(n);
    return positions;
  }

  SmallVector<Value> mapped(ValueRange values, ArrayRef<unsigned> positions) const {
    return llvm::map_to_vector(positions,
                               [&](unsigned n) { return map.lookupOrDefault(values[n]); });
  }

  void mapAll(ValueRange old, ArrayRef<unsigned> positions, ValueRange fresh) {
    for (auto [position, value] : llvm::zip_equal(positions, fresh))
      map.map(old[position], value);
  }

  LogicalResult write(scf::ForOp loop, OpBuilder &b) {
    SmallVector<unsigned> carried =
        kept(loop.getNumResults(), [&](unsigned n) { return needs.carries(loop, n); });
    auto copy = scf::ForOp::create(b, loop.getLoc(), map.lookupOrDefault(loop.getLowerBound()),
                                   map.lookupOrDefault(loop.getUpperBound()),
                                   map.lookupOrDefault(loop.getStep()),
                                   mapped(loop.getInitArgs(), carried));
    copy->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
    Block &body = *copy.getBody();
    if (!body.empty())
      body.getTerminator()->erase();
    map.map(loop.getInductionVar(), copy.getInductionVar());
    mapAll(loop.getRegionIterArgs(), carried, copy.getRegionIterArgs());
    OpBuilder inner = OpBuilder::atBlockEnd(&body);
    if (failed(writeBlock(*loop.getBody(), inner)))
      return failure();
    scf::YieldOp::create(inner, loop.getLoc(), mapped(loop.getYieldedValues(), carried));
    mapAll(loop.getResults(), carried, copy.getResults());
    return success();
  }

  LogicalResult writeBranch(Operation *branch, OpBuilder &b) {
    SmallVector<unsigned> results = kept(
        branch->getNumResults(), [&](unsigned n) { return needs.contains(branch->getResult(n)); });
    SmallVector<Type> types =
        llvm::map_to_vector(results, [&](unsigned n) { return branch->getResult(n).getType(); });
    Operation *copy = branchLike(b, branch, types, map.lookupOrDefault(branch->getOperand(0)));
    for (auto [from, to] : llvm::zip_equal(branch->getRegions(), copy->getRegions())) {
      if (from.empty())
        continue;
      to.emplaceBlock();
      OpBuilder inner = OpBuilder::atBlockEnd(&to.front());
      if (failed(writeBlock(from.front(), inner)))
        return failure();
      scf::YieldOp::create(inner, branch->getLoc(),
                           mapped(from.front().getTerminator()->getOperands(), results));
    }
    mapAll(branch->getResults(), results, copy->getResults());
    return success();
  }

  /// A block of a loop with the arguments that this side keeps.
  Block *addBlock(Region &region, Block &like, ArrayRef<unsigned> positions) {
    Block &block = region.emplaceBlock();
    for (unsigned n : positions)
      block.addArgument(like.getArgument(n).getType(), like.getArgument(n).getLoc());
    mapAll(like.getArguments(), positions, block.getArguments());
    return &block;
  }

  LogicalResult write(scf::WhileOp loop, OpBuilder &b) {
    SmallVector<unsigned> carried = kept(loop.getInits().size(), [&](unsigned n) {
      return needs.contains(loop.getBeforeArguments()[n]);
    });
    SmallVector<unsigned> results = kept(loop.getNumResults(), [&](unsigned n) {
      return needs.contains(loop.getResult(n)) || needs.contains(loop.getAfterArguments()[n]);
    });
    SmallVector<Type> types =
        llvm::map_to_vector(results, [&](unsigned n) { return loop.getResult(n).getType(); });
    auto copy = scf::WhileOp::create(b, loop.getLoc(), types, mapped(loop.getInits(), carried));
    copy->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
    OpBuilder inner =
        OpBuilder::atBlockEnd(addBlock(copy.getBefore(), *loop.getBeforeBody(), carried));
    if (failed(writeBlock(*loop.getBeforeBody(), inner)))
      return failure();
    scf::ConditionOp condition = loop.getConditionOp();
    scf::ConditionOp::create(inner, condition.getLoc(),
                             map.lookupOrDefault(condition.getCondition()),
                             mapped(condition.getArgs(), results));
    inner = OpBuilder::atBlockEnd(addBlock(copy.getAfter(), *loop.getAfterBody(), results));
    if (failed(writeBlock(*loop.getAfterBody(), inner)))
      return failure();
    scf::YieldOp::create(inner, loop.getLoc(), mapped(loop.getYieldOp().getResults(), carried));
    mapAll(loop.getResults(), results, copy.getResults());
    return success();
  }

  const SideDependence &dependence;
  const Needs &needs;
  SharedMemory &memory;
  const Value shared;
  const int64_t side;
  const StringRef meeting;
  IRMapping map;
  llvm::DenseSet<Value> sharedBuffers;
  bool inGroup = false;
  SmallVector<Value> told; ///< results of the group that side 1 needs
};

} // namespace

LogicalResult runSidesTogether(func::FuncOp kernel, const SideDependence &dependence) {
  Block &body = kernel.getBody().front();
  Operation *end = body.getTerminator();
  Location loc = kernel.getLoc();
  Needs needs(kernel, dependence);
  SmallVector<Operation *> originals;
  for (Operation &op : body.without_terminator())
    originals.push_back(&op);

  OpBuilder b(end);
  Value context = blockContext(end);
  auto pointerType = LLVM::LLVMPointerType::get(b.getContext());
  Value shared = loadAt(b, loc, pointerType, context, offsetof(BlockContext, shared));
  Value side = loadAt(b, loc, b.getI32Type(), context, offsetof(BlockContext, side));
  Value isFirst =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, side, i32Constant(b, loc, 0));
  auto branch = scf::IfOp::create(b, loc, isFirst, /*withElseRegion=*/true);
  SharedMemory memory;
  std::string meeting = deviceLinkName(end, "piton_meet_sides");
  // The originals are followed by the branch: only they are copied.
  for (int64_t number = 0; number < kSides; ++number) {
    SideWriter writer(dependence, needs, memory, shared, number, meeting);
    Block *block = number == 0 ? branch.thenBlock() : branch.elseBlock();
    OpBuilder inner(block->getTerminator());
    if (failed(writer.writeOps(originals, inner, loc)))
      return failure();
  }
  for (Operation *op : llvm::reverse(originals)) {
    op->dropAllUses();
    op->erase();
  }
  kernel->setAttr(kSharedBytesAttr, b.getI64IntegerAttr(memory.bytes()));
  kernel->setAttr(kCanBlockAttr, b.getUnitAttr());
  return success();
}

} // namespace piton::simulator
