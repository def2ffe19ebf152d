// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loops of triton-to-unstructured and of the exact form of discrete masks. The
// dimensions along which an address or a mask is opaque are looped over; what remains
// is a row with a structured address and a box mask, or one lane.
#include "compiler/Transforms/AccessLoops.h"

#include "compiler/Analysis/AddressAnalysis.h"
#include "compiler/Analysis/LaneAnalysis.h"
#include "compiler/Analysis/MaskAnalysis.h"
#include "compiler/Dialect/Triton/Triton.h"
#include "compiler/Transforms/AccessUtils.h"
#include "compiler/Transforms/ValueSlicer.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace piton {

bool isAccess(Operation *op) {
  return isa<triton::LoadOp, triton::StoreOp, triton::AtomicRMWOp, triton::AtomicCASOp>(op);
}

Value pointerOf(Operation *access) { return access->getOperand(0); }

Value maskOf(Operation *access) {
  if (auto load = dyn_cast<triton::LoadOp>(access))
    return load.getMask();
  if (auto store = dyn_cast<triton::StoreOp>(access))
    return store.getMask();
  if (auto rmw = dyn_cast<triton::AtomicRMWOp>(access))
    return rmw.getMask();
  return {};
}

namespace {

/// A copy of `access` with other operands; null for none (mask, other).
Operation *createAccess(OpBuilder &builder, Operation *access, Value pointer,
                        ArrayRef<Value> values, Value mask, Value other) {
  OperationState state(access->getLoc(), access->getName());
  state.addOperands(pointer);
  for (Value value : values)
    state.addOperands(value);
  if (mask)
    state.addOperands(mask);
  if (other)
    state.addOperands(other);
  state.addAttributes(access->getDiscardableAttrDictionary().getValue());
  state.propertiesAttr = access->getPropertiesAsAttribute();
  if (isa<triton::LoadOp>(access)) {
    NamedAttrList properties(cast<DictionaryAttr>(state.propertiesAttr));
    properties.set("operandSegmentSizes",
                   builder.getDenseI32ArrayAttr({1, mask ? 1 : 0, other ? 1 : 0}));
    state.propertiesAttr = properties.getDictionary(builder.getContext());
  }
  if (access->getNumResults())
    state.addTypes(triton::getPointeeTypeOf(pointer.getType()));
  Operation *op = builder.create(state);
  op->setAttr(kDiscreteMemAccess, builder.getUnitAttr());
  return op;
}

/// The value operands of a store or atomic (value, or compare and value).
SmallVector<Value> valuesOf(Operation *access) {
  if (auto store = dyn_cast<triton::StoreOp>(access))
    return {store.getValue()};
  if (auto rmw = dyn_cast<triton::AtomicRMWOp>(access))
    return {rmw.getVal()};
  if (auto cas = dyn_cast<triton::AtomicCASOp>(access))
    return {cas.getCmp(), cas.getVal()};
  return {};
}

/// The dimensions along which a residual differs, in the shape after its shape ops.
llvm::SmallBitVector residualDims(LaneAnalysis &lanes, const MaskBox::Residual &residual) {
  llvm::SmallBitVector dims = lanes.of(residual.value).varyingDims();
  if (auto compare = residual.value.getDefiningOp<arith::CmpIOp>())
    dims = lanes.of(compare.getLhs()).varyingDims() |= lanes.of(compare.getRhs()).varyingDims();
  for (Operation *op : residual.shape) {
    auto from = cast<RankedTensorType>(op->getOperand(0).getType());
    auto to = cast<RankedTensorType>(op->getResult(0).getType());
    llvm::SmallBitVector next(to.getRank());
    if (auto expand = dyn_cast<triton::ExpandDimsOp>(op)) {
      for (int dim : dims.set_bits())
        next.set(dim < static_cast<int>(expand.getAxis()) ? dim : dim + 1);
    } else if (auto trans = dyn_cast<triton::TransOp>(op)) {
      for (auto [dim, source] : llvm::enumerate(trans.getOrder()))
        next[dim] = dims.test(source);
    } else if (isa<triton::BroadcastOp>(op)) {
      for (int dim : dims.set_bits())
        next[dim] = from.getDimSize(dim) == to.getDimSize(dim);
    } else {
      for (int64_t dim = 0; dim < to.getRank(); ++dim)
        next[dim] = to.getDimSize(dim) != 1;
    }
    dims = next;
  }
  return dims;
}

/// True when `residual` compares affine forms, so that a row of it is a box: its last varying
/// dimension need not be looped over.
bool isAffineCompare(LaneAnalysis &lanes, const MaskBox::Residual &residual) {
  auto compare = residual.value.getDefiningOp<arith::CmpIOp>();
  if (!compare || compare.getPredicate() == arith::CmpIPredicate::ne)
    return false;
  auto affine = [&](Value value) {
    const LaneForm &form = lanes.of(value);
    return form.baseKind == LaneForm::Base::None && form.opaque.empty();
  };
  return affine(compare.getLhs()) && affine(compare.getRhs());
}

class AccessRewriter {
public:
  AccessRewriter(Operation *access, bool scalarize)
      : access(access), loc(access->getLoc()), scalarize(scalarize), builder(access),
        mask(maskOf(access)) {}

  void run() {
    if (!isa<RankedTensorType>(pointerOf(access).getType()))
      return runScalar();
    type = cast<RankedTensorType>(pointerOf(access).getType());
    if (!type.hasStaticShape() || type.getNumElements() == 0)
      return;
    if (!scalarize && !mayWrap && splitOffWrap())
      return;
    plan();
    if (!needed)
      return;
    if (!loops.all() && build(/*verify=*/true))
      return;
    loops.set();
    build(/*verify=*/false);
  }

private:
  bool writes() const { return !isa<triton::LoadOp>(access); }

  void runScalar() {
    if (!mask || triton::isTensorPointerType(pointerOf(access).getType()))
      return;
    builder.setInsertionPoint(access);
    if (matchPattern(mask, m_One())) {
      Operation *plain = createAccess(builder, access, pointerOf(access), valuesOf(access), {}, {});
      return replaceWith(plain->getResults());
    }
    auto guard = scf::IfOp::create(builder, loc, access->getResultTypes(), mask,
                                   /*withElseRegion=*/access->getNumResults() != 0);
    OpBuilder then = guard.getThenBodyBuilder();
    Operation *plain = createAccess(then, access, pointerOf(access), valuesOf(access), {}, {});
    if (access->getNumResults()) {
      scf::YieldOp::create(then, loc, plain->getResults());
      OpBuilder otherwise = guard.getElseBodyBuilder();
      Value other = otherOf();
      if (!other)
        other = zeroValue(otherwise, access->getResult(0).getType());
      scf::YieldOp::create(otherwise, loc, other);
    }
    replaceWith(guard.getResults());
  }

  Value zeroValue(OpBuilder &b, Type type) {
    if (isa<triton::PointerType>(type))
      return triton::IntToPtrOp::create(b, loc, type, constantI64(b, loc, 0));
    return zeroOf(b, loc, type);
  }

  Value otherOf() {
    auto load = dyn_cast<triton::LoadOp>(access);
    return load ? load.getOther() : Value();
  }

  void replaceWith(ValueRange results) {
    access->replaceAllUsesWith(results);
    access->erase();
  }

  /// Rows taken modulo a size that is known at run time only, `(start + range) % size`, wrap in
  /// the last block alone: where no lane of this access wraps, it goes through the plain address.
  bool splitOffWrap() {
    LaneForm form = lanes.of(pointerOf(access));
    if (form.isStructured() || form.baseKind == LaneForm::Base::Opaque || form.opaque.empty())
      return false;
    ExprContext &context = lanes.expressions();
    SmallVector<OpaqueTerm, 1> terms = std::move(form.opaque);
    form.opaque.clear();
    SmallVector<Expr> notNegative; // expressions that must be for the plain address to hold
    for (const OpaqueTerm &term : terms) {
      Operation *rem = term.value.getDefiningOp();
      if (!isa_and_nonnull<arith::RemSIOp, arith::RemUIOp>(rem))
        return false;
      const LaneForm &source = lanes.of(rem->getOperand(0));
      const LaneForm &size = lanes.of(rem->getOperand(1));
      if (!source.opaque.empty() || source.baseKind != LaneForm::Base::None ||
          !size.opaque.empty() || !size.isUniform())
        return false;
      // The lanes of the source along the dimensions of this access.
      LaneForm part;
      for (int64_t extent : type.getShape()) {
        part.dims.emplace_back();
        if (extent != 1)
          part.dims.back().push_back({extent, 0});
      }
      Expr least = source.offset, most = source.offset;
      for (auto [dim, pieces] : llvm::enumerate(source.dims))
        for (const Piece &piece : pieces) {
          std::optional<int64_t> stride = piece.stride.constant();
          if (!stride || pieces.size() != 1)
            return false;
          if (*stride == 0)
            continue;
          if (term.dims[dim] < 0)
            return false;
          part.dims[term.dims[dim]][0].stride = *stride;
          (*stride < 0 ? least : most) =
              (*stride < 0 ? least : most) + Expr(*stride * (piece.size - 1));
        }
      part.offset = source.offset;
      std::optional<LaneForm> sum = lanes.add(form, lanes.scale(part, term.factor));
      if (!sum)
        return false;
      form = *sum;
      notNegative.push_back(least);
      notNegative.push_back(size.offset - most - Expr(1));
    }
    MaskBox bounds = analyzeMaskBox(lanes, mask, type.getShape());
    if (!form.isStructured() || !bounds.residuals.empty())
      return false;
    builder.setInsertionPoint(access);
    Value plain;
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    for (const Expr &expr : notNegative) {
      Value bound =
          getValueOrCreateConstantIndexOp(builder, loc, context.materialize(builder, loc, expr));
      Value holds =
          builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::sge, bound, zero);
      plain = plain ? builder.createOrFold<arith::AndIOp>(loc, plain, holds) : holds;
    }
    auto branch = scf::IfOp::create(builder, loc, access->getResultTypes(), plain,
                                    /*withElseRegion=*/true);
    OpBuilder then = branch.getThenBodyBuilder();
    Value pointers = materializeForm(then, loc, lanes, form, type);
    Operation *direct = createAccess(then, access, pointers, valuesOf(access), mask, otherOf());
    Operation *wrapped = branch.getElseBodyBuilder().clone(*access);
    if (access->getNumResults()) {
      scf::YieldOp::create(then, loc, direct->getResults());
      OpBuilder otherwise = OpBuilder::atBlockEnd(branch.elseBlock());
      scf::YieldOp::create(otherwise, loc, wrapped->getResults());
    }
    replaceWith(branch.getResults());
    AccessRewriter rest(wrapped, scalarize);
    rest.mayWrap = true;
    rest.run();
    rewriteAccess(direct);
    return true;
  }

  /// Chooses the dimensions to loop over.
  void plan() {
    const LaneForm &form = lanes.of(pointerOf(access));
    loops = form.opaqueDims();
    needed = scalarize || !form.isStructured();
    for (unsigned dim = 0; dim < form.dims.size(); ++dim) {
      if (form.dims[dim].size() > 1)
        loops.set(dim);
      // Lanes that write one address must do so one after the other.
      const Expr *stride = form.stride(dim);
      if (writes() && stride && stride->isZero() && type.getDimSize(dim) > 1 && !loops.test(dim)) {
        loops.set(dim);
        needed = true;
      }
    }
    box = analyzeMaskBox(lanes, mask, type.getShape());
    for (const MaskBox::Residual &residual : box.residuals) {
      needed = true;
      llvm::SmallBitVector dims = residualDims(lanes, residual);
      if (isAffineCompare(lanes, residual) && dims.count() > 1 && !loops.test(dims.find_last()))
        dims.reset(dims.find_last());
      loops |= dims;
    }
    if (scalarize || form.baseKind == LaneForm::Base::Opaque)
      loops.set();
    int64_t row = 1;
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      row *= loops.test(dim) ? 1 : type.getDimSize(dim);
    if (row == 1)
      loops.set();
  }

  /// What a masked-off lane of a load gives, as the initial value of all lanes.
  Value initialValue() {
    if (Value other = otherOf())
      return other;
    auto result = cast<RankedTensorType>(access->getResult(0).getType());
    bool everyLane = box.residuals.empty();
    for (unsigned dim = 0; dim < box.lo.size(); ++dim)
      everyLane &= box.lo[dim].isZero() && box.hi[dim].isConstant(type.getDimSize(dim));
    if (everyLane)
      return tensor::EmptyOp::create(builder, loc, result.getShape(), result.getElementType());
    return zeroOf(builder, loc, result);
  }

  /// Creates the loops; with `verify` set, takes them back and returns false if a row turns out
  /// not to be structured.
  bool build(bool verify) {
    builder.setInsertionPoint(access);
    Operation *before = access->getPrevNode();
    SmallVector<OpFoldResult> lo, hi;
    ExprContext &context = lanes.expressions();
    for (unsigned dim = 0; dim < box.lo.size(); ++dim) {
      lo.push_back(context.materialize(builder, loc, box.lo[dim]));
      hi.push_back(context.materialize(builder, loc, box.hi[dim]));
    }
    Value residual = materializeResiduals(builder, loc, box.residuals);
    bool hasResult = access->getNumResults() && !access->use_empty();
    Value carried = hasResult ? initialValue() : Value();
    SmallVector<Value> at(type.getRank());
    SmallVector<scf::ForOp> nest;
    Value step = arith::ConstantIndexOp::create(builder, loc, 1);
    for (unsigned dim : loops.set_bits()) {
      Value from = getValueOrCreateConstantIndexOp(builder, loc, lo[dim]);
      Value to = getValueOrCreateConstantIndexOp(builder, loc, hi[dim]);
      auto loop = scf::ForOp::create(builder, loc, from, to, step,
                                     carried ? ValueRange(carried) : ValueRange());
      loop->setAttr(kExtractedLoadOrStore, builder.getUnitAttr());
      at[dim] = loop.getInductionVar();
      if (carried)
        carried = loop.getRegionIterArgs()[0];
      nest.push_back(loop);
      builder.setInsertionPointToStart(loop.getBody());
    }
    bool good = buildBody(at, lo, hi, residual, carried, verify);
    for (auto [index, loop] : llvm::enumerate(nest)) {
      if (!carried)
        continue;
      builder.setInsertionPointToEnd(loop.getBody());
      Value value = index + 1 < nest.size() ? nest[index + 1].getResult(0) : carried;
      auto yield = scf::YieldOp::create(builder, loc, value);
      yield->setAttr(kDiscreteMemAccess, builder.getUnitAttr());
    }
    if (!good) {
      while (access->getPrevNode() != before) {
        Operation *created = access->getPrevNode();
        created->dropAllUses();
        created->erase();
      }
      return false;
    }
    if (carried)
      access->getResult(0).replaceAllUsesWith(nest.empty() ? carried : nest[0].getResult(0));
    access->erase();
    return true;
  }

  /// One lane or row, at the builder's insertion point; `carried` becomes the updated tensor.
  bool buildBody(ArrayRef<Value> at, ArrayRef<OpFoldResult> lo, ArrayRef<OpFoldResult> hi,
                 Value residual, Value &carried, bool verify) {
    ValueSlicer address(builder, loc, at), data(builder, loc, at, /*deep=*/false);
    bool isRow = llvm::any_of(at, [](Value index) { return !index; });
    Value pointer = address(pointerOf(access));
    Value rowMask, condition;
    if (isRow) {
      SmallVector<OpFoldResult> rowLo, rowHi;
      for (auto [dim, index] : llvm::enumerate(at))
        if (!index) {
          rowLo.push_back(lo[dim]);
          rowHi.push_back(hi[dim]);
        }
      rowMask = buildBoxMask(builder, loc, rowLo, rowHi, keptShape(type.getShape(), at));
    }
    if (residual) {
      // A residual that is equal along the row guards it; any other narrows its mask.
      Value part = address(residual);
      if (!isRow) {
        condition = part;
      } else {
        LaneAnalysis fresh;
        auto rowType = cast<RankedTensorType>(part.getType());
        MaskBox narrowed = analyzeMaskBox(fresh, part, rowType.getShape());
        if (!narrowed.residuals.empty())
          return false;
        rowMask = rowMask ? arith::AndIOp::create(builder, loc, rowMask, part).getResult() : part;
      }
    }
    if (verify && !isStructuredAddress(pointer))
      return false;
    Type resultType =
        access->getNumResults() ? triton::getPointeeTypeOf(pointer.getType()) : Type();
    scf::IfOp guard;
    OpBuilder inner(builder);
    if (condition) {
      guard = scf::IfOp::create(builder, loc, carried ? TypeRange(resultType) : TypeRange(),
                                condition, /*withElseRegion=*/bool(carried));
      inner = guard.getThenBodyBuilder();
    }
    // Values are cut inside the guard: they are needed only there.
    ValueSlicer cut(inner, loc, at, /*deep=*/false);
    SmallVector<Value> values;
    for (Value value : valuesOf(access))
      values.push_back(cut(value));
    Value other = isRow && rowMask && otherOf() ? cut(otherOf()) : Value();
    Operation *part = createAccess(inner, access, pointer, values, rowMask, other);
    if (!carried)
      return true;
    Value result = part->getResult(0);
    if (guard) {
      scf::YieldOp::create(inner, loc, result);
      OpBuilder otherwise = guard.getElseBodyBuilder();
      Value absent = otherOf() ? ValueSlicer(otherwise, loc, at, false)(otherOf())
                               : zeroValue(otherwise, resultType);
      scf::YieldOp::create(otherwise, loc, absent);
      result = guard.getResult(0);
    }
    carried = insert(result, carried, at, isRow);
    return true;
  }

  Value insert(Value part, Value into, ArrayRef<Value> at, bool isRow) {
    Operation *op;
    if (!isRow) {
      op = tensor::InsertOp::create(builder, loc, part, into, at);
    } else {
      SmallVector<OpFoldResult> offsets, sizes, strides(at.size(), builder.getIndexAttr(1));
      for (auto [dim, index] : llvm::enumerate(at)) {
        offsets.push_back(index ? OpFoldResult(index) : builder.getIndexAttr(0));
        sizes.push_back(builder.getIndexAttr(index ? 1 : type.getDimSize(dim)));
      }
      op = tensor::InsertSliceOp::create(builder, loc, part, into, offsets, sizes, strides);
    }
    op->setAttr(kDiscreteMemAccess, builder.getUnitAttr());
    return op->getResult(0);
  }

  Operation *access;
  Location loc;
  bool scalarize;
  OpBuilder builder;
  Value mask;
  RankedTensorType type;
  LaneAnalysis lanes;
  MaskBox box;
  llvm::SmallBitVector loops;
  bool needed = false;
  bool mayWrap = false; ///< a lane may wrap: the plain address has its own branch already
};

} // namespace

void rewriteAccess(Operation *access, bool scalarize) { AccessRewriter(access, scalarize).run(); }

} // namespace piton
