// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// linalg.generic, linalg.map, linalg.matmul and linalg.batch_matmul on tensors. The
// Ascend compiler refuses all generics but a plain count along one dimension, reads no
// linalg.map of MLIR 22 and ignores indexing maps of a matmul.
#include "compiler/Target/BishengForms.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"

using namespace mlir;

namespace piton::bisheng {

/// linalg.index, cast, yield in one dimension: the generic that it knows.
bool isArange(linalg::GenericOp op) {
  Block &body = *op.getBody();
  if (op.getNumDpsInputs() != 0 || op.getNumDpsInits() != 1 || op.getNumLoops() != 1)
    return false;
  auto cast = dyn_cast_or_null<arith::IndexCastOp>(body.getTerminator()->getPrevNode());
  return body.getOperations().size() == 3 && isa<linalg::IndexOp>(body.front()) && cast &&
         body.getTerminator()->getOperand(0) == cast.getResult();
}

namespace {

//===-- linalg.generic ---------------------------------------------------===//

/// `value`, read through `map`, over the whole iteration space; null if the map is more than a
/// permutation and omission of dimensions.
Value overIterationSpace(OpBuilder &b, Location loc, Value value, AffineMap map,
                         ArrayRef<int64_t> shape) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return splat(b, loc, value, RankedTensorType::get(shape, value.getType()));
  if (map.isIdentity())
    return value;
  if (!map.isProjectedPermutation())
    return {};
  // Bring the dimensions that it has into the order of the space, then add the others.
  SmallVector<int64_t> order(map.getNumResults());
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order,
             [&](int64_t x, int64_t y) { return map.getDimPosition(x) < map.getDimPosition(y); });
  SmallVector<int64_t> present;
  for (int64_t i : order)
    present.push_back(map.getDimPosition(i));
  if (!llvm::is_sorted(order)) {
    SmallVector<int64_t> permuted;
    for (int64_t i : order)
      permuted.push_back(type.getDimSize(i));
    Value empty = tensor::EmptyOp::create(b, loc, permuted, type.getElementType());
    value = linalg::TransposeOp::create(b, loc, value, empty, order)->getResult(0);
  }
  SmallVector<int64_t> added;
  for (int64_t d = 0; d < int64_t(shape.size()); ++d)
    if (!llvm::is_contained(present, d))
      added.push_back(d);
  if (added.empty())
    return value;
  Value empty = tensor::EmptyOp::create(b, loc, shape, type.getElementType());
  return linalg::BroadcastOp::create(b, loc, value, empty, added)->getResult(0);
}

/// All-parallel arithmetic whose results have the shape of the iteration space.
SmallVector<Value> asTensorArithmetic(OpBuilder &b, linalg::GenericOp op, ArrayRef<int64_t> shape) {
  Location loc = op.getLoc();
  IRMapping map;
  for (OpOperand *operand : op.getOpOperandsMatchingBBargs()) {
    BlockArgument arg = op.getMatchingBlockArgument(operand);
    if (arg.use_empty())
      continue;
    Value whole =
        overIterationSpace(b, loc, operand->get(), op.getMatchingIndexingMap(operand), shape);
    if (!whole)
      return {};
    map.map(arg, whole);
  }
  return cloneBodyOnTensors(b, *op.getBody(), shape, map);
}

/// Any other generic on tensors: loops over scalars, in the order of its dimensions.
SmallVector<Value> asLoops(OpBuilder &b, linalg::GenericOp op, ArrayRef<int64_t> shape) {
  Location loc = op.getLoc();
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  SmallVector<Value> lower(shape.size(), zero), step(shape.size(), one), upper;
  for (int64_t extent : shape)
    upper.push_back(arith::ConstantIndexOp::create(b, loc, extent));
  auto build = [&](OpBuilder &inner, Location innerLoc, ValueRange ivs, ValueRange carried) {
    auto position = [&](OpOperand *operand) {
      SmallVector<Value> indices;
      for (AffineExpr expr : op.getMatchingIndexingMap(operand).getResults()) {
        if (auto dim = dyn_cast<AffineDimExpr>(expr))
          indices.push_back(ivs[dim.getPosition()]);
        else
          indices.push_back(affine::AffineApplyOp::create(
              inner, innerLoc, AffineMap::get(ivs.size(), 0, expr), ivs));
      }
      return indices;
    };
    IRMapping map;
    for (OpOperand *operand : op.getDpsInputOperands()) {
      Value value = operand->get();
      if (isa<RankedTensorType>(value.getType()))
        value = tensor::ExtractOp::create(inner, innerLoc, value, position(operand));
      map.map(op.getMatchingBlockArgument(operand), value);
    }
    for (auto [index, operand] : llvm::enumerate(op.getDpsInitsMutable())) {
      BlockArgument arg = op.getMatchingBlockArgument(&operand);
      if (!arg.use_empty())
        map.map(arg,
                tensor::ExtractOp::create(inner, innerLoc, carried[index], position(&operand)));
    }
    for (auto index : op.getBody()->getOps<linalg::IndexOp>())
      map.map(index.getResult(), ivs[index.getDim()]);
    for (Operation &bodyOp : op.getBody()->without_terminator())
      if (!isa<linalg::IndexOp>(bodyOp))
        inner.clone(bodyOp, map);
    SmallVector<Value> results;
    for (auto [index, operand] : llvm::enumerate(op.getDpsInitsMutable())) {
      Value value = map.lookupOrDefault(op.getBody()->getTerminator()->getOperand(index));
      results.push_back(
          tensor::InsertOp::create(inner, innerLoc, value, carried[index], position(&operand)));
    }
    return scf::ValueVector(results.begin(), results.end());
  };
  scf::LoopNest nest =
      scf::buildLoopNest(b, loc, lower, upper, step, SmallVector<Value>(op.getOutputs()), build);
  return SmallVector<Value>(nest.results.begin(), nest.results.end());
}

LogicalResult legalizeGeneric(linalg::GenericOp op, Context &context) {
  if (!op.hasPureTensorSemantics() || isArange(op))
    return success();
  SmallVector<int64_t> shape = op.getStaticLoopRanges();
  if (llvm::any_of(shape, ShapedType::isDynamic))
    return refuse(op, context.family, "it has a dimension of unknown extent",
                  "keep tiles static and mask their edges");
  OpBuilder b(op);
  bool isPointwise = llvm::all_of(op.getDpsInits(), [&](Value init) {
    return cast<RankedTensorType>(init.getType()).getShape() == ArrayRef(shape);
  });
  for (OpOperand &init : op.getDpsInitsMutable())
    isPointwise &= op.getMatchingIndexingMap(&init).isIdentity();
  SmallVector<Value> results;
  if (isPointwise && op.getNumParallelLoops() == shape.size() && isElementwiseBody(*op.getBody()))
    results = asTensorArithmetic(b, op, shape);
  if (results.empty())
    results = asLoops(b, op, shape);
  op->replaceAllUsesWith(results);
  op->erase();
  return success();
}

//===-- linalg.map ----------------------------------------------------------===//

/// linalg.map: arithmetic as arithmetic, a call (of a device function on scalars) in a loop.
LogicalResult legalizeMap(linalg::MapOp op, Context &context) {
  if (!op.hasPureTensorSemantics())
    return success();
  OpBuilder b(op);
  auto generic = linalg::GenericOp::create(
      b, op.getLoc(), op->getResultTypes(), op.getInputs(), ValueRange{op.getInit()},
      op.getIndexingMapsArray(), op.getIteratorTypesArray(),
      [&](OpBuilder &inner, Location loc, ValueRange args) {
        IRMapping map;
        Block &body = op.getMapper().front();
        for (auto [from, to] : llvm::zip(body.getArguments(), args))
          map.map(from, to);
        for (Operation &bodyOp : body)
          inner.clone(bodyOp, map);
      });
  op->replaceAllUsesWith(generic->getResults());
  op->erase();
  return legalizeGeneric(generic, context);
}

//===-- Matrix products --------------------------------------------------------===//

/// The last two dimensions of `value` exchanged.
Value transposeLast(OpBuilder &b, Location loc, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> order(type.getRank()), shape(type.getShape());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
  Value empty = tensor::EmptyOp::create(b, loc, shape, type.getElementType());
  return linalg::TransposeOp::create(b, loc, value, empty, order)->getResult(0);
}

/// Whether `map` reads its last two dimensions in the opposite order of `plain`.
std::optional<bool> isExchanged(AffineMap map, AffineMap plain) {
  if (map == plain)
    return false;
  SmallVector<AffineExpr> results(plain.getResults());
  std::swap(results[results.size() - 1], results[results.size() - 2]);
  AffineMap exchanged = AffineMap::get(plain.getNumDims(), 0, results, plain.getContext());
  if (map == exchanged)
    return true;
  return std::nullopt;
}

template <typename MatmulOp> LogicalResult dropMaps(MatmulOp op, Context &context) {
  if (!op.hasUserDefinedMaps())
    return success();
  OpBuilder b(op);
  SmallVector<AffineMap> plain = MatmulOp::getDefaultIndexingMaps(op.getContext());
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  for (unsigned i = 0; i < 2; ++i) {
    std::optional<bool> exchanged = isExchanged(maps[i], plain[i]);
    if (!exchanged || maps[2] != plain[2])
      return refuse(op, context.family, "its indexing maps are no transposes",
                    "broadcast the operands first");
    if (*exchanged)
      op->setOperand(i, transposeLast(b, op.getLoc(), op->getOperand(i)));
  }
  op.setIndexingMapsAttr(b.getAffineMapArrayAttr(plain));
  return success();
}

/// The cube unit accumulates in f32 and i32: half accumulators are widened around the product.
template <typename MatmulOp> LogicalResult widenAccumulator(MatmulOp op) {
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type)
    return success();
  Type element = type.getElementType();
  if (!element.isF16() && !element.isBF16())
    return success();
  OpBuilder b(op);
  auto wide = type.clone(b.getF32Type());
  Value init = op.getDpsInitOperand(0)->get();
  Value wideInit;
  if (auto start = dyn_cast_or_null<FloatAttr>(constantFillOf(init)))
    wideInit = splatFloat(b, op.getLoc(), start.getValueAsDouble(), wide);
  else
    wideInit = arith::ExtFOp::create(b, op.getLoc(), wide, init);
  auto product =
      MatmulOp::create(b, op.getLoc(), TypeRange{wide}, op.getInputs(), ValueRange{wideInit});
  for (NamedAttribute attr : op->getDiscardableAttrs())
    product->setAttr(attr.getName(), attr.getValue());
  Value narrow = arith::TruncFOp::create(b, op.getLoc(), type, product->getResult(0));
  op->getResult(0).replaceAllUsesWith(narrow);
  op->erase();
  return success();
}

template <typename MatmulOp> LogicalResult legalizeMatmul(MatmulOp op, Context &context) {
  if (failed(dropMaps(op, context)))
    return failure();
  return widenAccumulator(op);
}

} // namespace

LogicalResult legalizeGenerics(ModuleOp module, Context &context) {
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) {
    if (isa<linalg::GenericOp, linalg::MapOp>(op))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    auto map = dyn_cast<linalg::MapOp>(op);
    if (failed(map ? legalizeMap(map, context)
                   : legalizeGeneric(cast<linalg::GenericOp>(op), context)))
      return failure();
  }
  return success();
}

LogicalResult legalizeMatmuls(ModuleOp module, Context &context) {
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) {
    if (isa<linalg::MatmulOp, linalg::BatchMatmulOp>(op))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    auto batch = dyn_cast<linalg::BatchMatmulOp>(op);
    if (failed(batch ? legalizeMatmul(batch, context)
                     : legalizeMatmul(cast<linalg::MatmulOp>(op), context)))
      return failure();
  }
  return success();
}

} // namespace piton::bisheng
