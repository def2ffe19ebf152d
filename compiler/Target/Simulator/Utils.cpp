// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Helpers of the simulator's passes; see Utils.h.
#include "compiler/Target/Simulator/Utils.h"

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"

using namespace mlir;

namespace piton::simulator {

func::FuncOp findKernel(ModuleOp module) {
  for (func::FuncOp function : module.getOps<func::FuncOp>())
    if (function->hasAttr(kKernelAttr))
      return function;
  return nullptr;
}

Value blockContext(Operation *op) {
  auto function = op->getParentOfType<func::FuncOp>();
  if (!function)
    return nullptr;
  for (unsigned i = 0, e = function.getNumArguments(); i < e; ++i)
    if (function.getArgAttr(i, kContextAttr))
      return function.getArgument(i);
  return nullptr;
}

Value indexConstant(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}

Value i64Constant(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value));
}

Value i32Constant(OpBuilder &b, Location loc, int32_t value) {
  return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(value));
}

int64_t elementByteWidth(Type type) {
  if (isa<IndexType>(type))
    return 8;
  return (type.getIntOrFloatBitWidth() + 7) / 8;
}

Value elementPointer(OpBuilder &b, Location loc, Value memref, ValueRange indices) {
  auto type = cast<MemRefType>(memref.getType());
  auto metadata = memref::ExtractStridedMetadataOp::create(b, loc, memref);
  Value position = metadata.getOffset();
  for (auto [index, stride] : llvm::zip(indices, metadata.getStrides())) {
    Value step = arith::MulIOp::create(b, loc, index, stride);
    position = arith::AddIOp::create(b, loc, position, step);
  }
  Value bytes = arith::MulIOp::create(
      b, loc, position, indexConstant(b, loc, elementByteWidth(type.getElementType())));
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(b, loc, memref);
  Type i64 = b.getI64Type();
  auto pointerType = LLVM::LLVMPointerType::get(b.getContext());
  Value baseInt = arith::IndexCastOp::create(b, loc, i64, base);
  Value offset = arith::IndexCastOp::create(b, loc, i64, bytes);
  Value pointer = LLVM::IntToPtrOp::create(b, loc, pointerType, baseInt);
  return LLVM::GEPOp::create(b, loc, pointerType, b.getI8Type(), pointer,
                             ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(offset)});
}

Value memrefFromPointer(OpBuilder &b, Location loc, Value pointer, MemRefType type,
                        ValueRange dynamicSizes) {
  MLIRContext *context = b.getContext();
  auto pointerType = LLVM::LLVMPointerType::get(context);
  Type i64 = b.getI64Type();
  int64_t rank = type.getRank();
  SmallVector<Type> fields{pointerType, pointerType, i64};
  if (rank > 0)
    fields.append(2, LLVM::LLVMArrayType::get(i64, rank));
  auto structType = LLVM::LLVMStructType::getLiteral(context, fields);
  Value result = LLVM::PoisonOp::create(b, loc, structType);
  auto insert = [&](Value value, ArrayRef<int64_t> position) {
    result = LLVM::InsertValueOp::create(b, loc, result, value, position);
  };
  auto constant = [&](int64_t value) -> Value {
    return LLVM::ConstantOp::create(b, loc, i64, b.getI64IntegerAttr(value));
  };
  insert(pointer, {0});
  insert(pointer, {1});
  insert(constant(0), {2});
  SmallVector<Value> sizes(rank);
  unsigned next = 0;
  for (int64_t d = 0; d < rank; ++d) {
    if (!type.isDynamicDim(d))
      sizes[d] = constant(type.getDimSize(d));
    else if (next < dynamicSizes.size())
      sizes[d] = arith::IndexCastOp::create(b, loc, i64, dynamicSizes[next++]);
    else
      sizes[d] = constant(int64_t(1) << 62); // a bare pointer: no extent is known
  }
  Value stride = constant(1);
  for (int64_t d = rank - 1; d >= 0; --d) {
    insert(sizes[d], {3, d});
    insert(stride, {4, d});
    if (d > 0)
      stride = LLVM::MulOp::create(b, loc, stride, sizes[d]);
  }
  return UnrealizedConversionCastOp::create(b, loc, type, result).getResult(0);
}

SmallVector<Value> memrefSizes(OpBuilder &b, Location loc, Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  SmallVector<Value> sizes;
  for (int64_t d = 0; d < type.getRank(); ++d)
    sizes.push_back(type.isDynamicDim(d) ? memref::DimOp::create(b, loc, memref, d).getResult()
                                         : indexConstant(b, loc, type.getDimSize(d)));
  return sizes;
}

void emitLoopNest(OpBuilder &b, Location loc, ValueRange sizes,
                  llvm::function_ref<void(OpBuilder &, ValueRange)> body) {
  OpBuilder::InsertionGuard guard(b);
  SmallVector<Value> indices;
  if (!sizes.empty()) {
    Value zero = indexConstant(b, loc, 0), one = indexConstant(b, loc, 1);
    for (Value size : sizes) {
      auto loop = scf::ForOp::create(b, loc, zero, size, one);
      indices.push_back(loop.getInductionVar());
      b.setInsertionPointToStart(loop.getBody());
    }
  }
  body(b, indices);
}

Value asReadOnlyBuffer(OpBuilder &b, Location loc, Value value) {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  if (!tensor)
    return value;
  SmallVector<int64_t> strides(tensor.getRank(), ShapedType::kDynamic);
  auto layout = StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic, strides);
  auto type = MemRefType::get(tensor.getShape(), tensor.getElementType(), layout);
  return bufferization::ToBufferOp::create(b, loc, type, value, /*read_only=*/true);
}

Value stringConstant(OpBuilder &b, Location loc, ModuleOp module, StringRef text) {
  std::string bytes = text.str();
  bytes.push_back('\0');
  auto type = LLVM::LLVMArrayType::get(b.getI8Type(), bytes.size());
  LLVM::GlobalOp global;
  unsigned count = 0;
  for (LLVM::GlobalOp other : module.getOps<LLVM::GlobalOp>()) {
    ++count;
    auto value = dyn_cast_or_null<StringAttr>(other.getValueOrNull());
    if (value && value.getValue() == bytes)
      global = other;
  }
  if (!global) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    global = LLVM::GlobalOp::create(b, loc, type, /*isConstant=*/true, LLVM::Linkage::Internal,
                                    "piton_text_" + std::to_string(count), b.getStringAttr(bytes));
  }
  return LLVM::AddressOfOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext()),
                                   global.getSymName());
}

void callService(OpBuilder &b, Location loc, Value context, int64_t offset, ValueRange arguments) {
  MLIRContext *mlirContext = b.getContext();
  auto pointerType = LLVM::LLVMPointerType::get(mlirContext);
  Value services = LLVM::LoadOp::create(b, loc, pointerType, context);
  Value slot = LLVM::GEPOp::create(b, loc, pointerType, b.getI8Type(), services,
                                   ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(offset)});
  Value function = LLVM::LoadOp::create(b, loc, pointerType, slot);
  SmallVector<Type> types{pointerType};
  llvm::append_range(types, arguments.getTypes());
  auto functionType = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(mlirContext), types);
  SmallVector<Value> operands{function, context};
  llvm::append_range(operands, arguments);
  LLVM::CallOp::create(b, loc, functionType, operands);
}

Value entryAlloca(OpBuilder &b, Location loc, Type type, int64_t count) {
  OpBuilder::InsertionGuard guard(b);
  auto function = b.getInsertionBlock()->getParentOp()->getParentOfType<func::FuncOp>();
  if (!function)
    function = cast<func::FuncOp>(b.getInsertionBlock()->getParentOp());
  b.setInsertionPointToStart(&function.getBody().front());
  Value number = LLVM::ConstantOp::create(b, loc, b.getI64Type(), b.getI64IntegerAttr(count));
  return LLVM::AllocaOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext()), type, number,
                                /*alignment=*/16);
}

void storeAt(OpBuilder &b, Location loc, Value value, Value base, int64_t offset) {
  Value slot = LLVM::GEPOp::create(b, loc, base.getType(), b.getI8Type(), base,
                                   ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(offset)});
  LLVM::StoreOp::create(b, loc, value, slot);
}

Value loadAt(OpBuilder &b, Location loc, Type type, Value base, int64_t offset) {
  Value slot = LLVM::GEPOp::create(b, loc, base.getType(), b.getI8Type(), base,
                                   ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(int32_t(offset))});
  return LLVM::LoadOp::create(b, loc, type, slot);
}

func::FuncOp declareFunction(OpBuilder &b, Operation *at, StringRef name, FunctionType type) {
  auto module = at->getParentOfType<ModuleOp>();
  if (auto existing = module.lookupSymbol<func::FuncOp>(name))
    return existing;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(module.getBody());
  auto function = func::FuncOp::create(b, at->getLoc(), name, type);
  function.setPrivate();
  return function;
}

std::optional<ElementType> abiElementType(Type type, bool isSigned) {
  if (auto integer = dyn_cast<IntegerType>(type)) {
    switch (integer.getWidth()) {
    case 1:
      return ElementType::I1;
    case 8:
      return isSigned ? ElementType::I8 : ElementType::U8;
    case 16:
      return isSigned ? ElementType::I16 : ElementType::U16;
    case 32:
      return isSigned ? ElementType::I32 : ElementType::U32;
    case 64:
      return isSigned ? ElementType::I64 : ElementType::U64;
    default:
      return std::nullopt;
    }
  }
  return llvm::TypeSwitch<Type, std::optional<ElementType>>(type)
      .Case<IndexType>([&](Type) { return isSigned ? ElementType::I64 : ElementType::U64; })
      .Case<Float16Type>([](Type) { return ElementType::F16; })
      .Case<BFloat16Type>([](Type) { return ElementType::BF16; })
      .Case<Float32Type>([](Type) { return ElementType::F32; })
      .Case<Float64Type>([](Type) { return ElementType::F64; })
      .Case<Float8E4M3FNType>([](Type) { return ElementType::F8E4M3FN; })
      .Case<Float8E5M2Type>([](Type) { return ElementType::F8E5M2; })
      .Case<Float8E4M3FNUZType>([](Type) { return ElementType::F8E4M3FNUZ; })
      .Case<Float8E5M2FNUZType>([](Type) { return ElementType::F8E5M2FNUZ; })
      .Case<MemRefType, LLVM::LLVMPointerType>([](Type) { return ElementType::Pointer; })
      .Default([](Type) { return std::nullopt; });
}

} // namespace piton::simulator
