// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two steps. Where a loop only adds to a pointer, or both arms of a branch add to one
// pointer, the sum is carried: the base stays visible to the address analysis. Every
// other pointer becomes its address, by type conversion, which cannot fail.
#include "compiler/Transforms/PointerCarrying.h"

#include "compiler/Dialect/Triton/Triton.h"
#include "compiler/Transforms/AccessUtils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace piton {
namespace {

bool isPointer(Type type) {
  return isa<triton::PointerType>(getElementTypeOrSelf(type)) && !triton::isTensorPointerType(type);
}

Type integerLike(Type pointer) {
  Type i64 = IntegerType::get(pointer.getContext(), 64);
  if (auto tensorType = dyn_cast<RankedTensorType>(pointer))
    return tensorType.clone(i64);
  return i64;
}

//===----------------------------------------------------------------------===//
// Carried sums
//===----------------------------------------------------------------------===//

/// The offsets that lead from `from` to `pointer` by addptr, or nothing.
std::optional<SmallVector<Value>> offsetsFrom(Value from, Value pointer) {
  SmallVector<Value> offsets;
  while (pointer != from) {
    auto add = pointer.getDefiningOp<triton::AddPtrOp>();
    if (!add)
      return std::nullopt;
    offsets.push_back(add.getOffset());
    pointer = add.getPtr();
  }
  return offsets;
}

Value widen(OpBuilder &builder, Location loc, Value value) {
  auto integer = cast<IntegerType>(getElementTypeOrSelf(value.getType()));
  Type wide = integerLike(value.getType());
  if (integer.getWidth() == 64)
    return value;
  return arith::ExtSIOp::create(builder, loc, wide, value);
}

Value sumOf(OpBuilder &builder, Location loc, Value start, ArrayRef<Value> offsets) {
  for (Value offset : llvm::reverse(offsets))
    start = arith::AddIOp::create(builder, loc, start, widen(builder, loc, offset));
  return start;
}

/// Changes pointer iteration arguments of `loop` that only move by addptr into i64 sums.
void carrySums(scf::ForOp loop) {
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  for (auto [index, arg] : llvm::enumerate(loop.getRegionIterArgs())) {
    if (!isPointer(arg.getType()))
      continue;
    std::optional<SmallVector<Value>> offsets = offsetsFrom(arg, yield.getOperand(index));
    if (!offsets)
      continue;
    Location loc = loop.getLoc();
    Type pointer = arg.getType(), integer = integerLike(pointer);
    OpBuilder builder(loop);
    Value init = loop.getInitArgs()[index];
    Value zero = zeroOf(builder, loc, integer);
    loop.getInitArgsMutable()[index].set(zero);
    arg.setType(integer);
    builder.setInsertionPointToStart(loop.getBody());
    Value moved = triton::AddPtrOp::create(builder, loc, pointer, init, arg);
    arg.replaceAllUsesExcept(moved, moved.getDefiningOp());
    builder.setInsertionPoint(yield);
    yield->setOperand(index, sumOf(builder, loc, arg, *offsets));
    Value result = loop.getResult(index);
    result.setType(integer);
    if (!result.use_empty()) {
      builder.setInsertionPointAfter(loop);
      Value after = triton::AddPtrOp::create(builder, loc, pointer, init, result);
      result.replaceAllUsesExcept(after, after.getDefiningOp());
    }
  }
}

/// The pointer that `value` is reached from by addptr, outside `op`.
Value rootOutside(Value value, Operation *op) {
  while (op->isAncestor(value.getParentRegion()->getParentOp())) {
    auto add = value.getDefiningOp<triton::AddPtrOp>();
    if (!add)
      return {};
    value = add.getPtr();
  }
  return value;
}

/// Changes pointer results of `branch` whose arms add to one pointer into i64 sums.
void carrySums(scf::IfOp branch) {
  if (branch.getElseRegion().empty())
    return;
  scf::YieldOp thenYield = branch.thenYield(), elseYield = branch.elseYield();
  for (auto [index, result] : llvm::enumerate(branch.getResults())) {
    if (!isPointer(result.getType()))
      continue;
    Value a = thenYield.getOperand(index), b = elseYield.getOperand(index);
    Value root = rootOutside(a, branch), other = rootOutside(b, branch);
    if (!root || !other)
      continue;
    // One side may have moved before the branch.
    if (root != other) {
      if (offsetsFrom(other, root))
        root = other;
      else if (!offsetsFrom(root, other))
        continue;
    }
    std::optional<SmallVector<Value>> offsetsA = offsetsFrom(root, a);
    std::optional<SmallVector<Value>> offsetsB = offsetsFrom(root, b);
    if (!offsetsA || !offsetsB)
      continue;
    Location loc = branch.getLoc();
    Type pointer = result.getType(), integer = integerLike(pointer);
    auto sum = [&](scf::YieldOp yield, ArrayRef<Value> offsets) {
      OpBuilder builder(yield);
      Value start = zeroOf(builder, loc, integer);
      yield->setOperand(index, sumOf(builder, loc, start, offsets));
    };
    sum(thenYield, *offsetsA);
    sum(elseYield, *offsetsB);
    result.setType(integer);
    OpBuilder builder(branch->getContext());
    builder.setInsertionPointAfter(branch);
    Value after = triton::AddPtrOp::create(builder, loc, pointer, root, result);
    result.replaceAllUsesExcept(after, after.getDefiningOp());
  }
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

struct AddressConverter : TypeConverter {
  AddressConverter() {
    addConversion([](Type type) { return type; });
    addConversion([](triton::PointerType type) -> std::optional<Type> {
      return isPointer(type) ? integerLike(type) : Type(type);
    });
    addConversion([](RankedTensorType type) -> std::optional<Type> {
      return isPointer(type) ? integerLike(type) : Type(type);
    });
    addSourceMaterialization([](OpBuilder &builder, Type type, ValueRange in, Location loc) {
      return in.size() == 1 && isPointer(type)
                 ? triton::IntToPtrOp::create(builder, loc, type, in[0]).getResult()
                 : Value();
    });
    addTargetMaterialization([](OpBuilder &builder, Type type, ValueRange in, Location loc) {
      return in.size() == 1 && isPointer(in[0].getType())
                 ? triton::PtrToIntOp::create(builder, loc, type, in[0]).getResult()
                 : Value();
    });
  }
};

/// `pointer` cast to point to i64 in memory.
Value asIntegerMemory(OpBuilder &builder, Location loc, Value pointer) {
  auto element = cast<triton::PointerType>(getElementTypeOrSelf(pointer.getType()));
  Type type = triton::PointerType::get(builder.getI64Type(), element.getAddressSpace());
  if (auto tensorType = dyn_cast<RankedTensorType>(pointer.getType()))
    type = tensorType.clone(type);
  return triton::BitcastOp::create(builder, loc, type, pointer);
}

Value toAddress(OpBuilder &builder, Location loc, Value pointer) {
  return triton::PtrToIntOp::create(builder, loc, integerLike(pointer.getType()), pointer);
}

struct LoadPointers : OpRewritePattern<triton::LoadOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(triton::LoadOp op, PatternRewriter &rewriter) const override {
    if (!isPointer(op.getType()))
      return failure();
    Location loc = op.getLoc();
    Value other = op.getOther();
    if (other)
      other = toAddress(rewriter, loc, other);
    auto load = triton::LoadOp::create(rewriter, loc, integerLike(op.getType()),
                                       asIntegerMemory(rewriter, loc, op.getPtr()), op.getMask(),
                                       other, op.getBoundaryCheckAttr(), op.getPaddingAttr(),
                                       op.getCache(), op.getEvict(), op.getIsVolatile());
    rewriter.replaceOpWithNewOp<triton::IntToPtrOp>(op, op.getType(), load);
    return success();
  }
};

struct StorePointers : OpRewritePattern<triton::StoreOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(triton::StoreOp op, PatternRewriter &rewriter) const override {
    if (!isPointer(op.getValue().getType()))
      return failure();
    Location loc = op.getLoc();
    Value value = toAddress(rewriter, loc, op.getValue());
    Value memory = asIntegerMemory(rewriter, loc, op.getPtr());
    rewriter.replaceOpWithNewOp<triton::StoreOp>(
        op, memory, value, op.getMask(), op.getBoundaryCheckAttr(), op.getCache(), op.getEvict());
    return success();
  }
};

/// Ops that move or choose values without looking at them, applied to addresses.
struct MovePointers : RewritePattern {
  explicit MovePointers(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isa<arith::SelectOp, triton::JoinOp, triton::CatOp, triton::SplitOp, triton::GatherOp>(op))
      return failure();
    if (llvm::none_of(op->getResultTypes(), isPointer))
      return failure();
    OperationState state(op->getLoc(), op->getName());
    for (Value operand : op->getOperands())
      state.addOperands(isPointer(operand.getType()) ? toAddress(rewriter, op->getLoc(), operand)
                                                     : operand);
    for (Type type : op->getResultTypes())
      state.addTypes(integerLike(type));
    state.propertiesAttr = op->getPropertiesAsAttribute();
    state.addAttributes(op->getDiscardableAttrDictionary().getValue());
    Operation *moved = rewriter.create(state);
    SmallVector<Value> results;
    for (auto [value, type] : llvm::zip(moved->getResults(), op->getResultTypes()))
      results.push_back(triton::IntToPtrOp::create(rewriter, op->getLoc(), type, value));
    rewriter.replaceOp(op, results);
    return success();
  }
};

/// The address of a computed pointer is computed on integers: tensors of pointers remain only
/// as the addresses of accesses.
struct AddressOfArithmetic : OpRewritePattern<triton::PtrToIntOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(triton::PtrToIntOp op, PatternRewriter &rewriter) const override {
    Operation *producer = op.getSrc().getDefiningOp();
    Location loc = op.getLoc();
    if (auto add = dyn_cast_or_null<triton::AddPtrOp>(producer)) {
      auto pointer = cast<triton::PointerType>(getElementTypeOrSelf(op.getSrc().getType()));
      int64_t bytes = elementBytes(pointer.getPointeeType());
      if (bytes == 0)
        return failure();
      Value offset = widen(rewriter, loc, add.getOffset());
      auto factor = rewriter.getI64IntegerAttr(bytes);
      Value scale =
          isa<RankedTensorType>(offset.getType())
              ? arith::ConstantOp::create(
                    rewriter, loc,
                    SplatElementsAttr::get(cast<ShapedType>(offset.getType()), factor.getValue()))
              : arith::ConstantOp::create(rewriter, loc, factor);
      Value distance = arith::MulIOp::create(rewriter, loc, offset, scale);
      Value base = toAddress(rewriter, loc, add.getPtr());
      rewriter.replaceOpWithNewOp<arith::AddIOp>(op, base, distance);
      return success();
    }
    if (auto cast = dyn_cast_or_null<triton::BitcastOp>(producer)) {
      rewriter.replaceOp(op, toAddress(rewriter, loc, cast.getSrc()));
      return success();
    }
    if (!isa_and_nonnull<triton::SplatOp, triton::BroadcastOp, triton::ExpandDimsOp,
                         triton::TransOp, triton::ReshapeOp>(producer))
      return failure();
    OperationState state(loc, producer->getName());
    state.addOperands(toAddress(rewriter, loc, producer->getOperand(0)));
    state.addTypes(op.getType());
    state.propertiesAttr = producer->getPropertiesAsAttribute();
    rewriter.replaceOp(op, rewriter.create(state));
    return success();
  }
};

struct FoldAddressOfPointer : OpRewritePattern<triton::PtrToIntOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(triton::PtrToIntOp op, PatternRewriter &rewriter) const override {
    auto made = op.getSrc().getDefiningOp<triton::IntToPtrOp>();
    if (!made)
      return failure();
    rewriter.replaceOp(op, made.getSrc());
    return success();
  }
};

struct FoldPointerOfAddress : OpRewritePattern<triton::IntToPtrOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(triton::IntToPtrOp op, PatternRewriter &rewriter) const override {
    auto address = op.getSrc().getDefiningOp<triton::PtrToIntOp>();
    if (!address)
      return failure();
    if (address.getSrc().getType() == op.getType())
      rewriter.replaceOp(op, address.getSrc());
    else
      rewriter.replaceOpWithNewOp<triton::BitcastOp>(op, op.getType(), address.getSrc());
    return success();
  }
};

LogicalResult convertRegionOps(Operation *root) {
  AddressConverter converter;
  MLIRContext *context = root->getContext();
  ConversionTarget target(*context);
  RewritePatternSet patterns(context);
  target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns, target);
  return applyPartialConversion(root, target, std::move(patterns));
}

} // namespace

LogicalResult pointersToIntegers(Operation *root) {
  WalkResult refused = root->walk([](Operation *op) {
    if (!isa<triton::ReduceOp, triton::ScanOp, triton::MapElementwiseOp>(op) ||
        llvm::none_of(op->getOperandTypes(), isPointer))
      return WalkResult::advance();
    op->emitError("'") << op->getName()
                       << "' over pointers is not supported; apply it to offsets instead";
    return WalkResult::interrupt();
  });
  if (refused.wasInterrupted())
    return failure();
  // Inner ops first: what they carry becomes an addptr for the outer ones.
  root->walk([](Operation *op) {
    if (auto loop = dyn_cast<scf::ForOp>(op))
      carrySums(loop);
    else if (auto branch = dyn_cast<scf::IfOp>(op))
      carrySums(branch);
  });
  if (failed(convertRegionOps(root)))
    return failure();
  RewritePatternSet patterns(root->getContext());
  patterns.add<LoadPointers, StorePointers, MovePointers, AddressOfArithmetic, FoldAddressOfPointer,
               FoldPointerOfAddress>(root->getContext());
  scf::ForOp::getCanonicalizationPatterns(patterns, root->getContext());
  scf::WhileOp::getCanonicalizationPatterns(patterns, root->getContext());
  (void)applyPatternsGreedily(root, std::move(patterns));
  return success();
}

} // namespace piton
