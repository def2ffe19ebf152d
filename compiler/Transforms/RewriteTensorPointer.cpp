// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Block pointers and tensor descriptors become tensors of pointers with masks. A
// value of either type turns into its parts (base, shape, strides, offsets), also
// where it crosses a loop or a branch, by 1:N type conversion; each access then
// bounds every checked dimension by itself.
#include "compiler/Analysis/MaskAnalysis.h"
#include "compiler/Dialect/Triton/Triton.h"
#include "compiler/Transforms/AccessUtils.h"
#include "compiler/Transforms/Passes.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace piton {
#define GEN_PASS_DEF_REWRITETENSORPOINTERPASS
#include "compiler/Transforms/Passes.h.inc"

namespace {

/// The parts of a block pointer or descriptor, in the order of the converted types.
struct BlockParts {
  Value base;
  SmallVector<Value> shape, strides; ///< i64
  SmallVector<Value> offsets;        ///< i64; block pointers only
  Value padsNan;                     ///< i1; descriptors only

  static BlockParts ofPointer(ValueRange values) {
    unsigned rank = (values.size() - 1) / 3;
    BlockParts parts{values[0], {}, {}, {}, {}};
    llvm::append_range(parts.shape, values.slice(1, rank));
    llvm::append_range(parts.strides, values.slice(1 + rank, rank));
    llvm::append_range(parts.offsets, values.slice(1 + 2 * rank, rank));
    return parts;
  }
  static BlockParts ofDescriptor(ValueRange values) {
    unsigned rank = (values.size() - 2) / 2;
    BlockParts parts{values[0], {}, {}, {}, values.back()};
    llvm::append_range(parts.shape, values.slice(1, rank));
    llvm::append_range(parts.strides, values.slice(1 + rank, rank));
    return parts;
  }
  SmallVector<Value> values() const {
    SmallVector<Value> result{base};
    llvm::append_range(result, shape);
    llvm::append_range(result, strides);
    llvm::append_range(result, offsets);
    if (padsNan)
      result.push_back(padsNan);
    return result;
  }
};

struct PartsConverter : TypeConverter {
  PartsConverter() {
    addConversion([](Type type) { return type; });
    addConversion([](triton::PointerType type, SmallVectorImpl<Type> &results) {
      auto block = dyn_cast<RankedTensorType>(type.getPointeeType());
      if (!block) {
        results.push_back(type);
        return success();
      }
      results.push_back(triton::PointerType::get(block.getElementType(), type.getAddressSpace()));
      results.append(3 * block.getRank(), IntegerType::get(type.getContext(), 64));
      return success();
    });
    addConversion([](triton::TensorDescType type, SmallVectorImpl<Type> &results) {
      RankedTensorType block = type.getSignlessBlockType();
      results.push_back(triton::PointerType::get(block.getElementType(), 1));
      results.append(2 * block.getRank(), IntegerType::get(type.getContext(), 64));
      results.push_back(IntegerType::get(type.getContext(), 1));
      return success();
    });
  }
};

bool isBlockType(Type type) {
  return isa<triton::TensorDescType>(type) || triton::isTensorPointerType(type);
}

//===----------------------------------------------------------------------===//
// Pointers and masks of a block
//===----------------------------------------------------------------------===//

struct BlockAccess {
  Value pointers;
  Value mask; ///< null when every lane is allowed
};

/// The pointers to `type`'s lanes from `parts` at `offsets` (i64), and the mask of the lanes
/// inside the shape along the dimensions `checked`.
BlockAccess buildBlock(OpBuilder &builder, Location loc, const BlockParts &parts,
                       ValueRange offsets, RankedTensorType type,
                       const llvm::SmallBitVector &checked) {
  Value start;
  for (auto [offset, stride] : llvm::zip(offsets, parts.strides)) {
    Value part = builder.createOrFold<arith::MulIOp>(loc, offset, stride);
    start = start ? builder.createOrFold<arith::AddIOp>(loc, start, part) : part;
  }
  BlockAccess block;
  OpFoldResult offset = start ? getAsOpFoldResult(start) : builder.getIndexAttr(0);
  block.pointers = buildPointers(builder, loc, parts.base, offset, getAsOpFoldResult(parts.strides),
                                 type.getShape());
  SmallVector<OpFoldResult> lo, hi;
  auto index = [&](Value value) {
    return builder.createOrFold<arith::IndexCastOp>(loc, builder.getIndexType(), value);
  };
  for (unsigned dim = 0; dim < type.getRank(); ++dim) {
    int64_t size = type.getDimSize(dim);
    lo.push_back(builder.getIndexAttr(0));
    hi.push_back(builder.getIndexAttr(size));
    if (!checked.test(dim))
      continue;
    Value zero = constantI64(builder, loc, 0), limit = constantI64(builder, loc, size);
    auto clamp = [&](Value value) {
      value = builder.createOrFold<arith::MaxSIOp>(loc, value, zero);
      return getAsOpFoldResult(index(builder.createOrFold<arith::MinSIOp>(loc, value, limit)));
    };
    hi[dim] = clamp(builder.createOrFold<arith::SubIOp>(loc, parts.shape[dim], offsets[dim]));
    if (scalarRange(offsets[dim]).lo < 0)
      lo[dim] = clamp(builder.createOrFold<arith::SubIOp>(loc, zero, offsets[dim]));
  }
  block.mask = buildBoxMask(builder, loc, lo, hi, type.getShape());
  return block;
}

Value conjunction(OpBuilder &builder, Location loc, Value a, Value b) {
  if (!a || !b)
    return a ? a : b;
  return arith::AndIOp::create(builder, loc, a, b);
}

/// Padding lanes of `type`: zero, or NaN where `padsNan` is true and the element is a float.
Value buildPadding(OpBuilder &builder, Location loc, RankedTensorType type, Value padsNan) {
  Value zero = zeroOf(builder, loc, type);
  auto element = dyn_cast<FloatType>(type.getElementType());
  if (!padsNan || !element)
    return zero;
  Attribute number = FloatAttr::get(element, APFloat::getNaN(element.getFloatSemantics()));
  Value nan =
      arith::ConstantOp::create(builder, loc, SplatElementsAttr::get(type, ArrayRef(number)));
  return builder.createOrFold<arith::SelectOp>(loc, padsNan, nan, zero);
}

SmallVector<Value> extendAll(OpBuilder &builder, Location loc, ValueRange values) {
  return llvm::map_to_vector(values, [&](Value value) { return toI64(builder, loc, value); });
}

llvm::SmallBitVector checkedDims(ArrayRef<int32_t> dims, int64_t rank) {
  llvm::SmallBitVector result(rank);
  for (int32_t dim : dims)
    if (dim >= 0 && dim < rank)
      result.set(dim);
  return result;
}

/// `value` reshaped to `type`, which drops or adds leading unit dimensions.
Value reshapeTo(OpBuilder &builder, Location loc, Value value, RankedTensorType type) {
  if (value.getType() == type)
    return value;
  return triton::ReshapeOp::create(builder, loc, type, value, false, false);
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

template <typename OpTy> struct BlockPattern : OpConversionPattern<OpTy> {
  using OpConversionPattern<OpTy>::OpConversionPattern;
  using OneToN = typename OpConversionPattern<OpTy>::OneToNOpAdaptor;

  /// A base pointer whose pointee is `element` exactly (descriptors may name signed types).
  static Value castBase(OpBuilder &builder, Location loc, Value base, Type element) {
    auto type = triton::PointerType::get(
        element, cast<triton::PointerType>(base.getType()).getAddressSpace());
    return base.getType() == type ? base
                                  : triton::BitcastOp::create(builder, loc, type, base).getResult();
  }
};

struct MakeTensorPtrPattern : BlockPattern<triton::MakeTensorPtrOp> {
  using BlockPattern::BlockPattern;
  LogicalResult matchAndRewrite(triton::MakeTensorPtrOp op, OneToN adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    BlockParts parts{op.getBase(),
                     op.getShape(),
                     op.getStrides(),
                     extendAll(rewriter, op.getLoc(), op.getOffsets()),
                     {}};
    // A shape that says "no bound" must not overflow when an offset is subtracted.
    constexpr int64_t far = int64_t(1) << 62;
    for (Value &extent : parts.shape)
      if (scalarRange(extent).hi > far)
        extent = rewriter.createOrFold<arith::MinSIOp>(op.getLoc(), extent,
                                                       constantI64(rewriter, op.getLoc(), far));
    rewriter.replaceOpWithMultiple(op, {parts.values()});
    return success();
  }
};

struct MakeDescriptorPattern : BlockPattern<triton::MakeTensorDescOp> {
  using BlockPattern::BlockPattern;
  LogicalResult matchAndRewrite(triton::MakeTensorDescOp op, OneToN adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RankedTensorType block = op.getType().getSignlessBlockType();
    bool nan = op.getPadding() == triton::PaddingOption::PAD_NAN;
    BlockParts parts{castBase(rewriter, loc, op.getBase(), block.getElementType()),
                     extendAll(rewriter, loc, op.getShape()),
                     op.getStrides(),
                     {},
                     arith::ConstantOp::create(rewriter, loc, rewriter.getBoolAttr(nan))};
    rewriter.replaceOpWithMultiple(op, {parts.values()});
    return success();
  }
};

struct AdvancePattern : BlockPattern<triton::AdvanceOp> {
  using BlockPattern::BlockPattern;
  LogicalResult matchAndRewrite(triton::AdvanceOp op, OneToN adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    BlockParts parts = BlockParts::ofPointer(adaptor.getPtr());
    for (auto [offset, step] : llvm::zip(parts.offsets, op.getOffsets()))
      offset = rewriter.createOrFold<arith::AddIOp>(op.getLoc(), offset,
                                                    toI64(rewriter, op.getLoc(), step));
    rewriter.replaceOpWithMultiple(op, {parts.values()});
    return success();
  }
};

/// The block that a load or store through a block pointer touches.
template <typename OpTy>
BlockAccess pointerBlock(OpBuilder &builder, OpTy op, ValueRange pointer, RankedTensorType type) {
  BlockParts parts = BlockParts::ofPointer(pointer);
  return buildBlock(builder, op.getLoc(), parts, parts.offsets, type,
                    checkedDims(op.getBoundaryCheck(), type.getRank()));
}

/// Attributes that the access had from hints.
void keepMarks(Operation *from, Operation *to) {
  for (NamedAttribute attr : from->getDiscardableAttrs())
    to->setDiscardableAttr(attr.getName(), attr.getValue());
}

struct LoadPattern : BlockPattern<triton::LoadOp> {
  using BlockPattern::BlockPattern;
  LogicalResult matchAndRewrite(triton::LoadOp op, OneToN adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(op.getType());
    BlockAccess block = pointerBlock(rewriter, op, adaptor.getPtr(), type);
    Value other = op.getOther();
    if (block.mask && !other && op.getPadding()) {
      Value nan = arith::ConstantOp::create(
          rewriter, loc, rewriter.getBoolAttr(*op.getPadding() == triton::PaddingOption::PAD_NAN));
      other = buildPadding(rewriter, loc, type, nan);
    }
    auto load = rewriter.replaceOpWithNewOp<triton::LoadOp>(
        op, type, block.pointers, conjunction(rewriter, loc, op.getMask(), block.mask), other,
        rewriter.getDenseI32ArrayAttr({}), triton::PaddingOptionAttr(), op.getCache(),
        op.getEvict(), op.getIsVolatile());
    keepMarks(op, load);
    return success();
  }
};

struct StorePattern : BlockPattern<triton::StoreOp> {
  using BlockPattern::BlockPattern;
  LogicalResult matchAndRewrite(triton::StoreOp op, OneToN adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(op.getValue().getType());
    BlockAccess block = pointerBlock(rewriter, op, adaptor.getPtr(), type);
    auto store = rewriter.replaceOpWithNewOp<triton::StoreOp>(
        op, block.pointers, op.getValue(), conjunction(rewriter, loc, op.getMask(), block.mask),
        rewriter.getDenseI32ArrayAttr({}), op.getCache(), op.getEvict());
    keepMarks(op, store);
    return success();
  }
};

/// The block of a descriptor access at `indices`, all dimensions checked.
BlockAccess descriptorBlock(OpBuilder &builder, Location loc, const BlockParts &parts,
                            ValueRange indices, RankedTensorType type) {
  return buildBlock(builder, loc, parts, extendAll(builder, loc, indices), type,
                    llvm::SmallBitVector(type.getRank(), true));
}

struct DescriptorLoadPattern : BlockPattern<triton::DescriptorLoadOp> {
  using BlockPattern::BlockPattern;
  LogicalResult matchAndRewrite(triton::DescriptorLoadOp op, OneToN adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    BlockParts parts = BlockParts::ofDescriptor(adaptor.getDesc());
    RankedTensorType type = op.getDesc().getType().getSignlessBlockType();
    BlockAccess block = descriptorBlock(rewriter, loc, parts, op.getIndices(), type);
    Value other = block.mask ? buildPadding(rewriter, loc, type, parts.padsNan) : Value();
    Value load = triton::LoadOp::create(
        rewriter, loc, type, block.pointers, block.mask, other, rewriter.getDenseI32ArrayAttr({}),
        triton::PaddingOptionAttr(), op.getCache(), op.getEvict(), false);
    rewriter.replaceOp(op, reshapeTo(rewriter, loc, load, cast<RankedTensorType>(op.getType())));
    return success();
  }
};

struct DescriptorStorePattern : BlockPattern<triton::DescriptorStoreOp> {
  using BlockPattern::BlockPattern;
  LogicalResult matchAndRewrite(triton::DescriptorStoreOp op, OneToN adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    BlockParts parts = BlockParts::ofDescriptor(adaptor.getDesc());
    RankedTensorType type = op.getDesc().getType().getSignlessBlockType();
    BlockAccess block = descriptorBlock(rewriter, loc, parts, op.getIndices(), type);
    rewriter.replaceOpWithNewOp<triton::StoreOp>(
        op, block.pointers, reshapeTo(rewriter, loc, op.getSrc(), type), block.mask,
        rewriter.getDenseI32ArrayAttr({}), triton::CacheModifier::NONE,
        triton::EvictionPolicy::NORMAL);
    return success();
  }
};

struct DescriptorReducePattern : BlockPattern<triton::DescriptorReduceOp> {
  using BlockPattern::BlockPattern;

  static void atomic(OpBuilder &builder, Location loc, triton::RMWOp kind, Value pointers,
                     Value value, Value mask) {
    triton::AtomicRMWOp::create(builder, loc, value.getType(), kind, pointers, value, mask,
                                triton::MemSemantic::RELAXED, triton::MemSyncScope::GPU);
  }

  /// Float min and max by the order of the bits: as signed integers where the value is not
  /// negative, reversed and unsigned where it is.
  static void floatExtremum(OpBuilder &builder, Location loc, bool isMax, Value pointers,
                            Value value, Value mask) {
    auto type = cast<RankedTensorType>(value.getType());
    Type integer = builder.getIntegerType(type.getElementTypeBitWidth());
    auto bits = RankedTensorType::get(type.getShape(), integer);
    Value number = triton::BitcastOp::create(builder, loc, bits, value);
    Value target =
        triton::BitcastOp::create(builder, loc, triton::getPointerTypeLike(bits), pointers);
    Value zero = zeroOf(builder, loc, bits);
    using P = arith::CmpIPredicate;
    Value positive = arith::CmpIOp::create(builder, loc, P::sge, number, zero);
    Value negative = arith::CmpIOp::create(builder, loc, P::slt, number, zero);
    atomic(builder, loc, isMax ? triton::RMWOp::MAX : triton::RMWOp::MIN, target, number,
           conjunction(builder, loc, mask, positive));
    atomic(builder, loc, isMax ? triton::RMWOp::UMIN : triton::RMWOp::UMAX, target, number,
           conjunction(builder, loc, mask, negative));
  }

  LogicalResult matchAndRewrite(triton::DescriptorReduceOp op, OneToN adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    using Kind = triton::DescriptorReduceKind;
    using RMW = triton::RMWOp;
    Location loc = op.getLoc();
    Kind kind = op.getKind();
    if (kind == Kind::INC || kind == Kind::DEC)
      return op.emitError("descriptor reduction '")
             << triton::stringifyDescriptorReduceKind(kind)
             << "' has no atomic of its kind; use add, min, max, and, or or xor";
    BlockParts parts = BlockParts::ofDescriptor(adaptor.getDesc());
    RankedTensorType type = op.getDesc().getType().getSignlessBlockType();
    bool isFloat = isa<FloatType>(type.getElementType());
    bool isUnsigned = op.getDesc().getType().getBlockType().getElementType().isUnsignedInteger();
    BlockAccess block = descriptorBlock(rewriter, loc, parts, op.getIndices(), type);
    Value value = reshapeTo(rewriter, loc, op.getSrc(), type);
    if (isFloat && (kind == Kind::MIN || kind == Kind::MAX)) {
      floatExtremum(rewriter, loc, kind == Kind::MAX, block.pointers, value, block.mask);
      rewriter.eraseOp(op);
      return success();
    }
    RMW update = kind == Kind::ADD   ? (isFloat ? RMW::FADD : RMW::ADD)
                 : kind == Kind::MIN ? (isUnsigned ? RMW::UMIN : RMW::MIN)
                 : kind == Kind::MAX ? (isUnsigned ? RMW::UMAX : RMW::MAX)
                 : kind == Kind::AND ? RMW::AND
                 : kind == Kind::OR  ? RMW::OR
                                     : RMW::XOR;
    atomic(rewriter, loc, update, block.pointers, value, block.mask);
    rewriter.eraseOp(op);
    return success();
  }
};

/// Pointers and mask of rows `rows` (i32 tensor) from column `column` on.
BlockAccess gatherBlock(OpBuilder &builder, Location loc, const BlockParts &parts, Value rows,
                        Value column, RankedTensorType type) {
  // Columns are an ordinary block of one row; rows add their own offset and bound.
  llvm::SmallBitVector checked(2);
  checked.set(1);
  Value zero = constantI64(builder, loc, 0);
  BlockAccess block =
      buildBlock(builder, loc, {parts.base, parts.shape, {zero, parts.strides[1]}, {}, {}},
                 {zero, toI64(builder, loc, column)}, type, checked);
  int64_t count = type.getDimSize(0);
  auto wide = RankedTensorType::get({count}, builder.getI64Type());
  Value row = arith::ExtSIOp::create(builder, loc, wide, rows);
  using P = arith::CmpIPredicate;
  Value limit = splatTo(builder, loc, parts.shape[0], {count});
  Value inside = arith::AndIOp::create(
      builder, loc, arith::CmpIOp::create(builder, loc, P::sge, row, zeroOf(builder, loc, wide)),
      arith::CmpIOp::create(builder, loc, P::slt, row, limit));
  Value offset =
      arith::MulIOp::create(builder, loc, row, splatTo(builder, loc, parts.strides[0], {count}));
  auto widen = [&](Value value) {
    return broadcastTo(builder, loc, triton::ExpandDimsOp::create(builder, loc, value, 1),
                       type.getShape());
  };
  block.pointers = triton::AddPtrOp::create(builder, loc, block.pointers.getType(), block.pointers,
                                            widen(offset));
  block.mask = conjunction(builder, loc, block.mask, widen(inside));
  return block;
}

struct DescriptorGatherPattern : BlockPattern<triton::DescriptorGatherOp> {
  using BlockPattern::BlockPattern;
  LogicalResult matchAndRewrite(triton::DescriptorGatherOp op, OneToN adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    BlockParts parts = BlockParts::ofDescriptor(adaptor.getDesc());
    auto type = cast<RankedTensorType>(op.getType());
    BlockAccess block =
        gatherBlock(rewriter, op.getLoc(), parts, op.getXOffsets(), op.getYOffset(), type);
    Value other = buildPadding(rewriter, op.getLoc(), type, parts.padsNan);
    rewriter.replaceOpWithNewOp<triton::LoadOp>(op, block.pointers, block.mask, other);
    return success();
  }
};

struct DescriptorScatterPattern : BlockPattern<triton::DescriptorScatterOp> {
  using BlockPattern::BlockPattern;
  LogicalResult matchAndRewrite(triton::DescriptorScatterOp op, OneToN adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    BlockParts parts = BlockParts::ofDescriptor(adaptor.getDesc());
    auto type = cast<RankedTensorType>(op.getSrc().getType());
    BlockAccess block =
        gatherBlock(rewriter, op.getLoc(), parts, op.getXOffsets(), op.getYOffset(), type);
    rewriter.replaceOpWithNewOp<triton::StoreOp>(
        op, block.pointers, op.getSrc(), block.mask, rewriter.getDenseI32ArrayAttr({}),
        triton::CacheModifier::NONE, triton::EvictionPolicy::NORMAL);
    return success();
  }
};

struct SelectPattern : BlockPattern<arith::SelectOp> {
  using BlockPattern::BlockPattern;
  LogicalResult matchAndRewrite(arith::SelectOp op, OneToN adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> parts;
    for (auto [a, b] : llvm::zip(adaptor.getTrueValue(), adaptor.getFalseValue()))
      parts.push_back(rewriter.createOrFold<arith::SelectOp>(op.getLoc(), op.getCondition(), a, b));
    rewriter.replaceOpWithMultiple(op, {parts});
    return success();
  }
};

/// A helper takes a descriptor as its base pointer; its shape and strides are arguments already.
struct CallPattern : BlockPattern<triton::CallOp> {
  using BlockPattern::BlockPattern;
  LogicalResult matchAndRewrite(triton::CallOp op, OneToN adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> operands;
    for (auto [before, after] : llvm::zip(op.getOperands(), adaptor.getOperands())) {
      if (triton::isTensorPointerType(before.getType()))
        return op.emitError("a block pointer cannot be passed to a function that is not inlined; "
                            "pass its base, shape and strides");
      operands.push_back(after[0]);
    }
    if (llvm::any_of(op.getResultTypes(), isBlockType))
      return op.emitError("a function that is not inlined cannot return a block pointer or "
                          "descriptor; make it inside the caller");
    auto call = triton::CallOp::create(rewriter, op.getLoc(), op.getResultTypes(), operands,
                                       op->getAttrs());
    rewriter.replaceOp(op, call);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

struct RewriteTensorPointer : impl::RewriteTensorPointerPassBase<RewriteTensorPointer> {
  void runOnOperation() override {
    for (auto func : getOperation().getOps<triton::FuncOp>())
      if (failed(flattenSignature(func)))
        return signalPassFailure();
    if (failed(convert()))
      return signalPassFailure();
    dropInvariantParts();
  }

private:
  /// A descriptor argument becomes its base pointer; shape and strides are the arguments that
  /// follow it, and a descriptor made from all of them replaces it in the body.
  LogicalResult flattenSignature(triton::FuncOp func) {
    FunctionType type = func.getFunctionType();
    SmallVector<Type> inputs(type.getInputs());
    if (llvm::none_of(inputs, isBlockType))
      return success();
    OpBuilder builder(&getContext());
    if (!func.isExternal())
      builder.setInsertionPointToStart(&func.getBody().front());
    for (unsigned index = 0; index < inputs.size(); ++index) {
      if (triton::isTensorPointerType(inputs[index]))
        return func.emitError("argument ") << index << " is a block pointer; pass its base";
      auto desc = dyn_cast<triton::TensorDescType>(inputs[index]);
      if (!desc)
        continue;
      RankedTensorType block = desc.getSignlessBlockType();
      inputs[index] = triton::PointerType::get(block.getElementType(), 1);
      if (func.isExternal())
        continue;
      unsigned rank = block.getRank();
      bool follows = index + 2 * rank < inputs.size();
      for (unsigned dim = 0; follows && dim < rank; ++dim)
        follows =
            inputs[index + 1 + dim].isInteger(32) && inputs[index + 1 + rank + dim].isInteger(64);
      if (!follows)
        return func.emitError("argument ")
               << index << " is a descriptor of rank " << rank << " and must be followed by "
               << rank << " i32 sizes and " << rank << " i64 strides";
      Block &entry = func.getBody().front();
      BlockArgument arg = entry.getArgument(index);
      arg.setType(inputs[index]);
      auto slice = [&](unsigned first) {
        return ValueRange(entry.getArguments().slice(first, rank));
      };
      auto made = triton::MakeTensorDescOp::create(builder, arg.getLoc(), desc, arg,
                                                   slice(index + 1), slice(index + 1 + rank),
                                                   triton::PaddingOption::PAD_ZERO);
      arg.replaceAllUsesExcept(made, made);
    }
    func.setFunctionType(FunctionType::get(&getContext(), inputs, type.getResults()));
    return success();
  }

  LogicalResult convert() {
    PartsConverter converter;
    ConversionTarget target(getContext());
    RewritePatternSet patterns(&getContext());
    target.markUnknownOpDynamicallyLegal([](Operation *op) {
      return llvm::none_of(op->getOperandTypes(), isBlockType) &&
             llvm::none_of(op->getResultTypes(), isBlockType);
    });
    scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns, target);
    patterns
        .add<MakeTensorPtrPattern, MakeDescriptorPattern, AdvancePattern, LoadPattern, StorePattern,
             DescriptorLoadPattern, DescriptorStorePattern, DescriptorReducePattern,
             DescriptorGatherPattern, DescriptorScatterPattern, SelectPattern, CallPattern>(
            converter, &getContext());
    return applyPartialConversion(getOperation(), target, std::move(patterns));
  }

  /// Shape and strides rarely change in a loop: canonicalise them out of its arguments.
  void dropInvariantParts() {
    RewritePatternSet patterns(&getContext());
    scf::ForOp::getCanonicalizationPatterns(patterns, &getContext());
    scf::WhileOp::getCanonicalizationPatterns(patterns, &getContext());
    scf::IfOp::getCanonicalizationPatterns(patterns, &getContext());
    (void)applyPatternsGreedily(getOperation(), std::move(patterns));
  }
};

} // namespace
} // namespace piton
