// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inline assembly on tensors -> llvm.inline_asm on packs of elements. A pack holds
// `packed_element` neighbours of every operand; elements narrower than a 32-bit
// register share one, lowest element in the lowest bits.
#include "compiler/Conversion/Passes.h"
#include "compiler/Dialect/Triton/Triton.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace piton {
#define GEN_PASS_DEF_TRITONTOLLVMPASS
#include "compiler/Conversion/Passes.h.inc"
} // namespace piton

#define DEBUG_TYPE "triton-to-llvm"

using namespace mlir;

namespace {

constexpr unsigned kRegisterBits = 32;

/// Writes the assembly of one op for one pack at a time.
class PackEmitter {
public:
  PackEmitter(triton::ElementwiseInlineAsmOp op, OpBuilder &builder)
      : op(op), builder(builder), loc(op.getLoc()), pack(op.getPackedElement()) {}

  /// `operands[i]` are the elements of operand i in this pack; gives those of each result.
  SmallVector<SmallVector<Value>> emit(ArrayRef<SmallVector<Value>> operands) {
    SmallVector<Value> registers;
    for (const SmallVector<Value> &elements : operands)
      packElements(elements, registers);
    SmallVector<Type> types;
    for (Type type : op.getResultTypes())
      for (unsigned i = 0, n = countRegisters(getElementTypeOrSelf(type)); i < n; ++i)
        types.push_back(registerType(getElementTypeOrSelf(type)));
    SmallVector<Value> outputs = call(registers, types);
    SmallVector<SmallVector<Value>> results;
    unsigned next = 0;
    for (Type type : op.getResultTypes()) {
      Type element = getElementTypeOrSelf(type);
      unsigned count = countRegisters(element);
      results.push_back(unpackElements(ArrayRef(outputs).slice(next, count), element));
      next += count;
    }
    return results;
  }

private:
  /// Elements that share a register.
  unsigned perRegister(Type element) const {
    unsigned width = element.getIntOrFloatBitWidth();
    return width >= kRegisterBits ? 1 : std::min(pack, kRegisterBits / width);
  }
  unsigned countRegisters(Type element) const {
    return llvm::divideCeil(pack, perRegister(element));
  }
  Type registerType(Type element) const {
    unsigned count = perRegister(element);
    if (count == 1)
      return element;
    return builder.getIntegerType(count * element.getIntOrFloatBitWidth());
  }

  void packElements(ArrayRef<Value> elements, SmallVectorImpl<Value> &registers) {
    Type element = elements.front().getType();
    unsigned count = perRegister(element), width = element.getIntOrFloatBitWidth();
    if (count == 1)
      return registers.append(elements.begin(), elements.end());
    Type word = registerType(element);
    for (size_t first = 0; first < elements.size(); first += count) {
      Value packed;
      for (auto [i, value] : llvm::enumerate(
               elements.slice(first, std::min<size_t>(count, elements.size() - first)))) {
        Value bits = asInteger(value);
        bits = arith::ExtUIOp::create(builder, loc, word, bits);
        if (i != 0)
          bits = arith::ShLIOp::create(builder, loc, bits, constant(word, i * width));
        packed = packed ? arith::OrIOp::create(builder, loc, packed, bits) : bits;
      }
      registers.push_back(packed);
    }
  }

  SmallVector<Value> unpackElements(ArrayRef<Value> registers, Type element) {
    unsigned count = perRegister(element), width = element.getIntOrFloatBitWidth();
    if (count == 1)
      return SmallVector<Value>(registers);
    SmallVector<Value> elements;
    Type integer = builder.getIntegerType(width);
    for (unsigned i = 0; i < pack; ++i) {
      Value word = registers[i / count];
      if (unsigned shift = i % count * width)
        word = arith::ShRUIOp::create(builder, loc, word, constant(word.getType(), shift));
      Value bits = arith::TruncIOp::create(builder, loc, integer, word);
      elements.push_back(element == integer
                             ? bits
                             : arith::BitcastOp::create(builder, loc, element, bits).getResult());
    }
    return elements;
  }

  Value asInteger(Value value) {
    if (isa<IntegerType>(value.getType()))
      return value;
    Type integer = builder.getIntegerType(value.getType().getIntOrFloatBitWidth());
    return arith::BitcastOp::create(builder, loc, integer, value);
  }

  Value constant(Type type, int64_t value) {
    return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, value));
  }

  SmallVector<Value> call(ValueRange registers, ArrayRef<Type> types) {
    Type type;
    if (types.size() == 1)
      type = types.front();
    else if (types.size() > 1)
      type = LLVM::LLVMStructType::getLiteral(builder.getContext(), types);
    auto dialect = LLVM::AsmDialectAttr::get(builder.getContext(), LLVM::AsmDialect::AD_ATT);
    auto assembly = LLVM::InlineAsmOp::create(
        builder, loc, type ? TypeRange(type) : TypeRange(), registers, op.getAsmString(),
        op.getConstraints(), /*has_side_effects=*/!op.getPure(), /*is_align_stack=*/false,
        LLVM::tailcallkind::TailCallKind::None, dialect, /*operand_attrs=*/ArrayAttr());
    if (types.size() <= 1)
      return SmallVector<Value>(assembly->getResults());
    SmallVector<Value> outputs;
    for (int64_t i = 0, n = types.size(); i < n; ++i)
      outputs.push_back(LLVM::ExtractValueOp::create(builder, loc, assembly->getResult(0), i));
    return outputs;
  }

  triton::ElementwiseInlineAsmOp op;
  OpBuilder &builder;
  Location loc;
  unsigned pack;
};

struct TritonToLLVM : piton::impl::TritonToLLVMPassBase<TritonToLLVM> {
  using TritonToLLVMPassBase::TritonToLLVMPassBase;

  void runOnOperation() override {
    SmallVector<triton::ElementwiseInlineAsmOp> ops;
    getOperation().walk([&](triton::ElementwiseInlineAsmOp op) { ops.push_back(op); });
    bool ok = true;
    for (triton::ElementwiseInlineAsmOp op : ops)
      ok &= succeeded(convert(op));
    if (!ok)
      signalPassFailure();
  }

  LogicalResult convert(triton::ElementwiseInlineAsmOp op) {
    for (Type type : llvm::concat<const Type>(SmallVector<Type>(op->getOperandTypes()),
                                              SmallVector<Type>(op->getResultTypes()))) {
      if (!getElementTypeOrSelf(type).isIntOrFloat())
        return op.emitOpError() << "takes integers and floats, not " << type
                                << "; convert pointers with tt.ptr_to_int";
    }
    auto isTensor = [](Type type) { return isa<RankedTensorType>(type); };
    bool onTensors = llvm::any_of(op->getOperandTypes(), isTensor) ||
                     llvm::any_of(op->getResultTypes(), isTensor);
    if (onTensors)
      convertTensors(op);
    else if (op.getPackedElement() != 1)
      return op.emitOpError() << "packs " << op.getPackedElement()
                              << " elements, but its operands are scalars; use a pack of 1";
    else
      convertScalars(op);
    return success();
  }

  void convertScalars(triton::ElementwiseInlineAsmOp op) {
    OpBuilder builder(op);
    SmallVector<SmallVector<Value>> operands;
    for (Value operand : op->getOperands())
      operands.push_back({operand});
    SmallVector<Value> results;
    for (const SmallVector<Value> &elements : PackEmitter(op, builder).emit(operands))
      results.push_back(elements.front());
    op->replaceAllUsesWith(results);
    op.erase();
  }

  /// The operand as a rank-1 tensor, or the scalar itself.
  static Value flatten(OpBuilder &builder, Location loc, Value value, int64_t count) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || type.getRank() == 1)
      return value;
    return triton::ReshapeOp::create(builder, loc, ArrayRef<int64_t>{count}, value);
  }

  void convertTensors(triton::ElementwiseInlineAsmOp op) {
    OpBuilder builder(op);
    Location loc = op.getLoc();
    RankedTensorType shape;
    for (Type type : llvm::concat<const Type>(SmallVector<Type>(op->getOperandTypes()),
                                              SmallVector<Type>(op->getResultTypes())))
      if (auto tensor = dyn_cast<RankedTensorType>(type))
        shape = tensor;
    int64_t count = shape.getNumElements(), pack = op.getPackedElement();
    SmallVector<Value> flat;
    for (Value operand : op->getOperands())
      flat.push_back(flatten(builder, loc, operand, count));
    SmallVector<Value> results = count / pack <= unrollLimit ? unroll(op, builder, flat, count)
                                                             : loop(op, builder, flat, count);
    SmallVector<Value> shaped;
    for (auto [result, type] : llvm::zip(results, op->getResultTypes())) {
      auto tensor = cast<RankedTensorType>(type);
      shaped.push_back(
          tensor.getRank() == 1
              ? result
              : triton::ReshapeOp::create(builder, loc, tensor.getShape(), result).getResult());
    }
    op->replaceAllUsesWith(shaped);
    op.erase();
  }

  /// Elements of every operand in the pack that starts at `first`.
  static SmallVector<SmallVector<Value>> readPack(OpBuilder &builder, Location loc, ValueRange flat,
                                                  ValueRange positions) {
    SmallVector<SmallVector<Value>> operands;
    for (Value operand : flat) {
      SmallVector<Value> &elements = operands.emplace_back();
      for (Value position : positions)
        elements.push_back(
            isa<RankedTensorType>(operand.getType())
                ? tensor::ExtractOp::create(builder, loc, operand, position).getResult()
                : operand);
    }
    return operands;
  }

  static SmallVector<Value> unroll(triton::ElementwiseInlineAsmOp op, OpBuilder &builder,
                                   ValueRange flat, int64_t count) {
    Location loc = op.getLoc();
    int64_t pack = op.getPackedElement();
    SmallVector<SmallVector<Value>> elements(op->getNumResults());
    for (int64_t first = 0; first < count; first += pack) {
      SmallVector<Value> positions;
      for (int64_t i = 0; i < pack; ++i)
        positions.push_back(arith::ConstantIndexOp::create(builder, loc, first + i));
      auto outputs = PackEmitter(op, builder).emit(readPack(builder, loc, flat, positions));
      for (auto [all, some] : llvm::zip(elements, outputs))
        all.append(some.begin(), some.end());
    }
    SmallVector<Value> results;
    for (auto [list, type] : llvm::zip(elements, op->getResultTypes()))
      results.push_back(tensor::FromElementsOp::create(
          builder, loc, RankedTensorType::get({count}, getElementTypeOrSelf(type)), list));
    return results;
  }

  static SmallVector<Value> loop(triton::ElementwiseInlineAsmOp op, OpBuilder &builder,
                                 ValueRange flat, int64_t count) {
    Location loc = op.getLoc();
    int64_t pack = op.getPackedElement();
    SmallVector<Value> inits;
    for (Type type : op->getResultTypes())
      inits.push_back(tensor::EmptyOp::create(builder, loc, ArrayRef<int64_t>{count},
                                              getElementTypeOrSelf(type)));
    Value lower = arith::ConstantIndexOp::create(builder, loc, 0);
    Value upper = arith::ConstantIndexOp::create(builder, loc, count);
    Value step = arith::ConstantIndexOp::create(builder, loc, pack);
    auto body = [&](OpBuilder &inner, Location, Value first, ValueRange carried) {
      SmallVector<Value> positions = {first};
      for (int64_t i = 1; i < pack; ++i)
        positions.push_back(arith::AddIOp::create(inner, loc, first,
                                                  arith::ConstantIndexOp::create(inner, loc, i)));
      auto outputs = PackEmitter(op, inner).emit(readPack(inner, loc, flat, positions));
      SmallVector<Value> next(carried);
      for (auto [result, elements] : llvm::zip(next, outputs))
        for (auto [position, element] : llvm::zip(positions, elements))
          result = tensor::InsertOp::create(inner, loc, element, result, position);
      scf::YieldOp::create(inner, loc, next);
    };
    auto loopOp = scf::ForOp::create(builder, loc, lower, upper, step, inits, body);
    return SmallVector<Value>(loopOp.getResults());
  }
};

} // namespace
