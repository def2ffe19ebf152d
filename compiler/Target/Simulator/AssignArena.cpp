// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// sim-assign-arena: local memory of a block with statically known size. Buffers get a
// range each; ranges of buffers that never live together are reused.
#include "compiler/Target/Simulator/Utils.h"
#include "compiler/Transforms/Passes.h"

#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

namespace piton {
#define GEN_PASS_DEF_SIMASSIGNARENA
#include "compiler/Transforms/Passes.h.inc"
} // namespace piton

using namespace mlir;
using namespace piton;
using namespace piton::simulator;

namespace {

constexpr int64_t kAlignment = 64;

struct Buffer {
  memref::AllocOp alloc;
  int64_t bytes = 0;
  int64_t begin = 0, end = 0; ///< first and last position of use, both included
  int64_t offset = 0;
};

/// The number of bytes, or an upper bound; nothing when there is none.
std::optional<int64_t> bytesOf(memref::AllocOp alloc) {
  MemRefType type = alloc.getType();
  if (!type.getLayout().isIdentity())
    return std::nullopt;
  int64_t count = 1;
  for (int64_t d = 0; d < type.getRank(); ++d) {
    int64_t size = type.getDimSize(d);
    if (type.isDynamicDim(d)) {
      Value value = alloc.getDynamicSizes()[type.getDynamicDimIndex(d)];
      FailureOr<int64_t> bound = ValueBoundsConstraintSet::computeConstantBound(
          presburger::BoundType::UB, ValueBoundsConstraintSet::Variable(value), nullptr,
          /*closedUB=*/true);
      if (failed(bound))
        return std::nullopt;
      size = std::max<int64_t>(*bound, 0);
    }
    count *= size;
  }
  return count * elementByteWidth(type.getElementType());
}

struct SimAssignArenaPass : piton::impl::SimAssignArenaBase<SimAssignArenaPass> {
  using SimAssignArenaBase::SimAssignArenaBase;

  /// Positions of operations in program order; an op with regions spans its body.
  void number(func::FuncOp function) {
    int64_t next = 0;
    std::function<void(Operation *)> visit = [&](Operation *op) {
      int64_t start = next++;
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (Operation &inner : block)
            visit(&inner);
      positions[op] = {start, next++};
    };
    for (Operation &op : function.getBody().front())
      visit(&op);
  }

  /// Extends the live range by a use at `user`. A use inside a loop that the allocation is
  /// outside of keeps the buffer for all iterations.
  void extend(Buffer &buffer, Operation *user, Operation *home) {
    Operation *widest = user;
    for (Operation *parent = user->getParentOp(); parent && !parent->isAncestor(home);
         parent = parent->getParentOp())
      if (isa<LoopLikeOpInterface, scf::WhileOp>(parent))
        widest = parent;
    auto [start, end] = positions.lookup(widest);
    buffer.begin = std::min(buffer.begin, start);
    buffer.end = std::max(buffer.end, end);
  }

  LogicalResult measure(func::FuncOp function, SmallVector<Buffer> &buffers) {
    number(function);
    BufferViewFlowAnalysis flow(function);
    LogicalResult result = success();
    function.walk([&](memref::AllocOp alloc) {
      Buffer buffer;
      buffer.alloc = alloc;
      std::optional<int64_t> bytes = bytesOf(alloc);
      if (!bytes) {
        result = alloc.emitError("a local buffer of type ")
                 << alloc.getType() << " has no size that is known at compile time";
        return;
      }
      buffer.bytes = std::max<int64_t>(*bytes, 1);
      std::tie(buffer.begin, buffer.end) = positions.lookup(alloc);
      // An alias that leaves the loop of the allocation makes the buffer live around it.
      Operation *home = alloc;
      for (Value alias : flow.resolve(alloc.getResult())) {
        Operation *owner = alias.getDefiningOp();
        if (auto argument = dyn_cast<BlockArgument>(alias))
          owner = argument.getOwner()->getParentOp();
        while (owner && !home->getBlock()->getParentOp()->isAncestor(owner))
          home = home->getParentOp();
        if (owner && isa<BlockArgument>(alias) && owner->isAncestor(home) && owner != home &&
            !isa<func::FuncOp>(owner))
          home = owner;
      }
      if (home != alloc.getOperation()) {
        auto [start, end] = positions.lookup(home);
        buffer.begin = std::min(buffer.begin, start);
        buffer.end = std::max(buffer.end, end);
      }
      for (Value alias : flow.resolve(alloc.getResult())) {
        if (Operation *def = alias.getDefiningOp())
          extend(buffer, def, home);
        for (Operation *user : alias.getUsers())
          extend(buffer, user, home);
      }
      // A raw address hides its further uses: keep the buffer for the rest of the block
      // that takes it.
      for (Value alias : flow.resolve(alloc.getResult()))
        for (Operation *user : alias.getUsers())
          if (isa<memref::ExtractAlignedPointerAsIndexOp>(user))
            extendByAddress(buffer, user->getResult(0), home);
      buffers.push_back(buffer);
    });
    return result;
  }

  void extendByAddress(Buffer &buffer, Value address, Operation *home) {
    SmallVector<Value> work{address};
    llvm::DenseSet<Value> seen;
    while (!work.empty()) {
      Value value = work.pop_back_val();
      if (!seen.insert(value).second)
        continue;
      for (Operation *user : value.getUsers()) {
        extend(buffer, user, home);
        // A pointer stored in a request is used by a later service call of the block.
        if (auto store = dyn_cast<LLVM::StoreOp>(user); store && store.getValue() == value)
          for (Operation *next = store->getNextNode(); next; next = next->getNextNode()) {
            extend(buffer, next, home);
            if (isa<LLVM::CallOp>(next))
              break;
          }
        if (isa<arith::ArithDialect, LLVM::LLVMDialect>(user->getDialect()) &&
            !isa<LLVM::LoadOp>(user))
          work.append(user->result_begin(), user->result_end());
      }
    }
  }

  /// First fit in order of falling size.
  static int64_t place(SmallVector<Buffer> &buffers) {
    SmallVector<Buffer *> order;
    for (Buffer &buffer : buffers)
      order.push_back(&buffer);
    llvm::stable_sort(order, [](Buffer *a, Buffer *b) { return a->bytes > b->bytes; });
    int64_t total = 0;
    SmallVector<Buffer *> placed;
    for (Buffer *buffer : order) {
      SmallVector<std::pair<int64_t, int64_t>> taken;
      for (Buffer *other : placed)
        if (buffer->begin <= other->end && other->begin <= buffer->end)
          taken.push_back({other->offset, other->offset + other->bytes});
      llvm::sort(taken);
      int64_t offset = 0;
      for (auto [from, to] : taken) {
        if (offset + buffer->bytes <= from)
          break;
        offset = std::max(offset, int64_t(llvm::alignTo(uint64_t(to), uint64_t(kAlignment))));
      }
      buffer->offset = offset;
      total = std::max(total, offset + buffer->bytes);
      placed.push_back(buffer);
    }
    return (total + kAlignment - 1) / kAlignment * kAlignment;
  }

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function->hasAttr(kKernelAttr))
      return;
    MLIRContext *context = &getContext();
    function.walk([](memref::DeallocOp op) { op.erase(); });
    SmallVector<Buffer> buffers;
    if (failed(measure(function, buffers)))
      return signalPassFailure();
    int64_t total = place(buffers);
    OpBuilder b(context);
    const bool onStack = total <= stackLimit;
    auto bytes = MemRefType::get({ShapedType::kDynamic}, b.getI8Type());
    Value arena;
    unsigned index = function.getNumArguments();
    auto attributes = DictionaryAttr::get(
        context, {NamedAttribute(StringAttr::get(context, kArenaAttr), UnitAttr::get(context))});
    if (failed(function.insertArgument(index, bytes, attributes, function.getLoc())))
      return signalPassFailure();
    arena = function.getArgument(index);
    int64_t stackBytes = 0;
    for (Buffer &buffer : buffers) {
      memref::AllocOp alloc = buffer.alloc;
      MemRefType type = alloc.getType();
      if (onStack && type.hasStaticShape()) {
        b.setInsertionPointToStart(&function.getBody().front());
        Value slot =
            memref::AllocaOp::create(b, alloc.getLoc(), type, b.getI64IntegerAttr(kAlignment));
        alloc.replaceAllUsesWith(slot);
        stackBytes += (buffer.bytes + kAlignment - 1) / kAlignment * kAlignment;
      } else {
        if (type.hasStaticShape())
          b.setInsertionPointToStart(&function.getBody().front());
        else
          b.setInsertionPoint(alloc);
        Value offset = indexConstant(b, alloc.getLoc(), buffer.offset);
        Value view =
            memref::ViewOp::create(b, alloc.getLoc(), type, arena, offset, alloc.getDynamicSizes());
        alloc.replaceAllUsesWith(view);
      }
      alloc.erase();
    }
    const bool usesArena = !arena.use_empty();
    function->setAttr(kArenaBytesAttr, b.getI64IntegerAttr(usesArena ? total : 0));
    function->setAttr(kStackBytesAttr, b.getI64IntegerAttr(stackBytes));
    positions.clear();
  }

  llvm::DenseMap<Operation *, std::pair<int64_t, int64_t>> positions;
};

} // namespace
