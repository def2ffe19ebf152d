// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// sim-fuse-elementwise: few loops over tiles instead of one per op. Stock fusion patterns
// with an own control function: what is cheap is recomputed, what is expensive is computed
// once, and a producer that a reduction reads is computed inside it.
#include "compiler/Transforms/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"

namespace piton {
#define GEN_PASS_DEF_SIMFUSEELEMENTWISE
#include "compiler/Transforms/Passes.h.inc"
} // namespace piton

using namespace mlir;

namespace {

bool isDot(Operation *op) {
  return isa<linalg::ContractionOpInterface>(op) && !isa<linalg::GenericOp>(op);
}

/// The last two dimensions swapped, the others in place.
bool swapsLastTwo(ArrayRef<int64_t> permutation) {
  int64_t rank = permutation.size();
  for (int64_t d = 0; d + 2 < rank; ++d)
    if (permutation[d] != d)
      return false;
  return rank >= 2 && permutation[rank - 2] == rank - 1 && permutation[rank - 1] == rank - 2;
}

/// dot(transpose(a), b): the operand is read with swapped indices instead.
struct FoldTransposeIntoDot : RewritePattern {
  explicit FoldTransposeIntoDot(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isa<linalg::MatmulOp, linalg::BatchMatmulOp>(op))
      return failure();
    auto dot = cast<linalg::LinalgOp>(op);
    if (!dot.hasPureTensorSemantics())
      return failure();
    SmallVector<AffineMap> maps = dot.getIndexingMapsArray();
    for (unsigned i = 0; i < 2; ++i) {
      auto transpose = op->getOperand(i).getDefiningOp<linalg::TransposeOp>();
      if (!transpose || !swapsLastTwo(transpose.getPermutation()))
        continue;
      SmallVector<AffineExpr> results(maps[i].getResults());
      std::swap(results[results.size() - 1], results[results.size() - 2]);
      maps[i] = AffineMap::get(maps[i].getNumDims(), 0, results, rewriter.getContext());
      rewriter.modifyOpInPlace(op, [&] {
        op->setOperand(i, transpose.getInput());
        op->setAttr("indexing_maps", rewriter.getAffineMapArrayAttr(maps));
      });
      return success();
    }
    return failure();
  }
};

/// An op of the body that costs more than loading its result again.
bool isExpensive(Operation *op) {
  if (isa<arith::DivFOp, arith::RemFOp, arith::DivSIOp, arith::DivUIOp, arith::RemSIOp,
          arith::RemUIOp, func::CallOp, tensor::ExtractOp>(op))
    return true;
  return op->getName().getDialectNamespace() == "math" &&
         !isa<math::AbsFOp, math::AbsIOp, math::FmaOp>(op);
}

unsigned bodyCost(linalg::GenericOp op) {
  unsigned cost = 0;
  for (Operation &inner : op.getBody()->without_terminator()) {
    if (isExpensive(&inner) || inner.getNumRegions())
      return ~0u;
    if (!isa<linalg::IndexOp, arith::IndexCastOp, arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp>(
            inner))
      ++cost;
  }
  return cost;
}

/// Whether a producer is fused into this consumer.
bool shouldFuse(OpOperand *operand) {
  auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
  auto consumer = dyn_cast<linalg::GenericOp>(operand->getOwner());
  if (!producer || !consumer || producer->getBlock() != consumer->getBlock())
    return false;
  if (producer->getNumResults() != 1)
    return false;
  if (operand->get().hasOneUse() && producer->hasOneUse())
    return true;
  // A clone per consumer: only what is cheap, and reads at most one full operand. A store and a
  // load cost as much as several operations.
  unsigned fullInputs = llvm::count_if(producer.getDpsInputs(), [&](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.getRank() > 0 && type.getRank() == producer.getNumLoops();
  });
  return fullInputs <= 1 && bodyCost(producer) <= 4;
}

/// Fuses a producer with several uses into a reduction that reads it; the fused op gives
/// both results, and every other use takes the producer's result from there.
struct FuseIntoReduction : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::GenericOp consumer,
                                PatternRewriter &rewriter) const override {
    if (consumer.getNumReductionLoops() == 0)
      return failure();
    for (OpOperand *operand : consumer.getDpsInputOperands())
      if (canFuse(consumer, operand))
        return fuse(consumer, operand, rewriter);
    return failure();
  }

  static bool canFuse(linalg::GenericOp consumer, OpOperand *operand) {
    auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
    if (!producer || producer->getBlock() != consumer->getBlock() || producer->hasOneUse() ||
        producer.getNumLoops() != consumer.getNumLoops() ||
        !linalg::areElementwiseOpsFusable(operand))
      return false;
    // The fused op stands where the consumer is; every other use must come later.
    return llvm::all_of(producer->getUsers(), [&](Operation *user) {
      if (user == consumer)
        return true;
      Operation *ancestor = consumer->getBlock()->findAncestorOpInBlock(*user);
      return ancestor && consumer->isBeforeInBlock(ancestor);
    });
  }

  static LogicalResult fuse(linalg::GenericOp consumer, OpOperand *operand,
                            PatternRewriter &rewriter) {
    auto producer = operand->get().getDefiningOp();
    FailureOr<linalg::ElementwiseOpFusionResult> result =
        linalg::fuseElementwiseOps(rewriter, operand);
    if (failed(result))
      return failure();
    for (auto [from, into] : result->replacements)
      rewriter.replaceAllUsesExcept(from, into, result->fusedOp);
    rewriter.eraseOp(consumer);
    if (producer->use_empty())
      rewriter.eraseOp(producer);
    return success();
  }
};

/// Wide accumulators need leave to change the order of a sum. Triton promises none.
void allowReassociation(linalg::GenericOp op) {
  if (op.getNumReductionLoops() == 0)
    return;
  unsigned inputs = op.getNumDpsInputs();
  for (Operation &inner : op.getBody()->without_terminator()) {
    if (!isa<arith::AddFOp, arith::MulFOp>(inner))
      continue;
    bool isAccumulation = llvm::any_of(inner.getOperands(), [&](Value value) {
      auto argument = dyn_cast<BlockArgument>(value);
      return argument && argument.getOwner() == op.getBody() && argument.getArgNumber() >= inputs;
    });
    if (isAccumulation)
      inner.setAttr("fastmath",
                    arith::FastMathFlagsAttr::get(op.getContext(), arith::FastMathFlags::reassoc));
  }
}

/// A fill stays a fill: it initialises (one store loop, or a memset), or its scalar goes into the
/// ops that read it, in whatever block they are.
bool keepsItsName(linalg::LinalgOp op) {
  return isa<linalg::GenericOp, linalg::FillOp>(op.getOperation()) || isDot(op);
}

/// Computes on 1xN as on N where the result is only looked at as N: what `x[None, :] < n` leaves
/// behind would keep the test apart from its readers.
void dropUnitDims(func::FuncOp function, IRRewriter &rewriter) {
  SmallVector<linalg::GenericOp> generics;
  function.walk([&](linalg::GenericOp op) {
    bool isCollapsed = op.hasPureTensorSemantics() && op.getNumLoops() > 1 && !op->use_empty() &&
                       llvm::all_of(op->getUsers(), llvm::IsaPred<tensor::CollapseShapeOp>);
    SmallVector<int64_t> extents = op.getStaticLoopRanges();
    if (isCollapsed && llvm::is_contained(extents, 1) &&
        llvm::any_of(extents, [](int64_t extent) { return extent != 1; }))
      generics.push_back(op);
  });
  if (generics.empty())
    return;
  for (linalg::GenericOp op : generics) {
    rewriter.setInsertionPoint(op);
    FailureOr<linalg::DropUnitDimsResult> result =
        linalg::dropUnitDims(rewriter, op, linalg::ControlDropUnitDims());
    if (succeeded(result))
      rewriter.replaceOp(op, result->replacements);
  }
  MLIRContext *context = function.getContext();
  RewritePatternSet patterns(context);
  tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, context);
  tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, context);
  linalg::FillOp::getCanonicalizationPatterns(patterns, context);
  (void)applyPatternsGreedily(function, std::move(patterns));
}

/// Moves an elementwise op into the reduction whose result it alone reads: exp, its sum and its
/// cast to the type of the next dot in one loop.
struct FuseReaderIntoReduction : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp reader,
                                PatternRewriter &rewriter) const override {
    if (!isElementwise(reader) || reader->getNumResults() != 1 || reader.getNumDpsInputs() != 1)
      return failure();
    OpOperand *input = reader.getDpsInputOperand(0);
    auto reduction = input->get().getDefiningOp<linalg::GenericOp>();
    if (!reduction || reduction->getBlock() != reader->getBlock() ||
        reduction.getNumReductionLoops() == 0 || reduction.getNumLoops() != reader.getNumLoops() ||
        !input->get().hasOneUse() || !reader.getMatchingIndexingMap(input).isIdentity() ||
        !isa_and_present<tensor::EmptyOp>(reader.getDpsInits().front().getDefiningOp()))
      return failure();
    unsigned number = cast<OpResult>(input->get()).getResultNumber();
    OpOperand *init = reduction.getDpsInitOperand(number);
    if (!reduction.getMatchingIndexingMap(init).isIdentity() ||
        reduction.payloadUsesValueFromOperand(init) || !bodyIsKnownAt(reader, reduction))
      return failure();
    fuse(reduction, number, reader, rewriter);
    return success();
  }

  /// Whether what the body takes from around the op is there before `place`.
  static bool bodyIsKnownAt(linalg::GenericOp op, Operation *place) {
    for (Operation &inner : op.getBody()->getOperations())
      for (Value value : inner.getOperands()) {
        if (value.getParentBlock() == op.getBody())
          continue;
        Operation *def = value.getDefiningOp();
        if (def && def->getBlock() == place->getBlock() && !def->isBeforeInBlock(place))
          return false;
      }
    return true;
  }

  static bool isElementwise(linalg::GenericOp op) {
    return op.hasPureTensorSemantics() && op.getNumReductionLoops() == 0 &&
           op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity() &&
           !op.payloadUsesValueFromOperand(op.getDpsInitOperand(0)) &&
           op.getBody()->getOps<linalg::IndexOp>().empty() &&
           llvm::all_of(op.getBody()->without_terminator(),
                        [](Operation &inner) { return isMemoryEffectFree(&inner); });
  }

  static void fuse(linalg::GenericOp reduction, unsigned number, linalg::GenericOp reader,
                   PatternRewriter &rewriter) {
    rewriter.setInsertionPoint(reduction);
    Location loc = reader.getLoc();
    auto type = cast<RankedTensorType>(reader->getResult(0).getType());
    SmallVector<Value> inits(reduction.getDpsInits());
    inits[number] = tensor::EmptyOp::create(rewriter, loc, type.getShape(), type.getElementType());
    SmallVector<Type> types(reduction->getResultTypes());
    types[number] = type;
    auto fused = linalg::GenericOp::create(
        rewriter, reduction.getLoc(), types, reduction.getDpsInputs(), inits,
        reduction.getIndexingMaps(), reduction.getIteratorTypes(), nullptr, nullptr);
    rewriter.inlineRegionBefore(reduction.getRegion(), fused.getRegion(),
                                fused.getRegion().begin());
    Block *body = fused.getBody();
    auto yield = cast<linalg::YieldOp>(body->getTerminator());
    unsigned place = fused.getNumDpsInputs() + number;
    BlockArgument old = body->getArgument(place);
    body->insertArgument(place, type.getElementType(), old.getLoc());
    body->eraseArgument(place + 1); // not used, or the reader could not be fused
    IRMapping mapping;
    mapping.map(reader.getBody()->getArgument(0), yield.getOperand(number));
    rewriter.setInsertionPoint(yield);
    for (Operation &inner : reader.getBody()->without_terminator())
      rewriter.clone(inner, mapping);
    Value value = cast<linalg::YieldOp>(reader.getBody()->getTerminator()).getOperand(0);
    rewriter.modifyOpInPlace(yield,
                             [&] { yield.setOperand(number, mapping.lookupOrDefault(value)); });
    rewriter.replaceOp(reader, fused->getResult(number));
    for (auto [i, result] : llvm::enumerate(reduction->getResults()))
      if (i != number)
        rewriter.replaceAllUsesWith(result, fused->getResult(i));
    rewriter.eraseOp(reduction);
  }
};

struct SimFuseElementwisePass : piton::impl::SimFuseElementwiseBase<SimFuseElementwisePass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    MLIRContext *context = &getContext();
    {
      RewritePatternSet patterns(context);
      patterns.add<FoldTransposeIntoDot>(context);
      linalg::populateElementwiseToLinalgConversionPatterns(patterns);
      if (failed(applyPatternsGreedily(function, std::move(patterns))))
        return signalPassFailure();
    }
    IRRewriter rewriter(context);
    SmallVector<linalg::LinalgOp> named;
    function.walk([&](linalg::LinalgOp op) {
      if (op.hasPureTensorSemantics() && !keepsItsName(op))
        named.push_back(op);
    });
    for (linalg::LinalgOp op : named) {
      rewriter.setInsertionPoint(op);
      (void)linalg::generalizeNamedOp(rewriter, op);
    }
    function.walk(allowReassociation);
    dropUnitDims(function, rewriter);
    RewritePatternSet patterns(context);
    linalg::populateElementwiseOpsFusionPatterns(patterns, shouldFuse);
    linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
    if (failed(applyPatternsGreedily(function, std::move(patterns))))
      return signalPassFailure();
    RewritePatternSet reductions(context);
    reductions.add<FuseIntoReduction, FuseReaderIntoReduction>(context);
    if (failed(applyPatternsGreedily(function, std::move(reductions))))
      return signalPassFailure();
  }
};

} // namespace
