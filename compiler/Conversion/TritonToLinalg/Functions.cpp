// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions: the six program arguments, calls, and the kernel's signature as the NPU back
// ends and the launcher expect it (argument order, attributes, tensor kinds).
#include "compiler/Conversion/TritonToLinalg/Lowering.h"

using namespace mlir;

namespace piton::linalglowering {

/// num_programs x, y, z, then program_id x, y, z.
static constexpr unsigned kProgramArguments = 6;

void Lowering::appendProgramArguments() {
  OpBuilder b(module.getContext());
  for (auto func : module.getOps<triton::FuncOp>()) {
    if (func.isExternal())
      continue;
    unsigned count = func.getNumArguments();
    SmallVector<unsigned> at(kProgramArguments, count);
    SmallVector<Type> types(kProgramArguments, b.getI32Type());
    SmallVector<DictionaryAttr> attributes(kProgramArguments, b.getDictionaryAttr({}));
    SmallVector<Location> locations(kProgramArguments, func.getLoc());
    (void)func.insertArguments(at, types, attributes, locations);
  }
}

static ValueRange programArguments(Operation *op) {
  auto func = op->getParentOfType<triton::FuncOp>();
  return func.getArguments().take_back(kProgramArguments);
}

LogicalResult Lowering::lowerProgramInfo(Operation *op) {
  unsigned index = 0;
  if (auto id = dyn_cast<triton::GetProgramIdOp>(op))
    index = 3 + static_cast<unsigned>(id.getAxis());
  else
    index = static_cast<unsigned>(cast<triton::GetNumProgramsOp>(op).getAxis());
  op->getResult(0).replaceAllUsesWith(programArguments(op)[index]);
  op->erase();
  return success();
}

LogicalResult Lowering::lowerCall(triton::CallOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  auto callee = module.lookupSymbol<triton::FuncOp>(op.getCallee());
  if (!callee)
    return op.emitOpError("calls '") << op.getCallee() << "', which is no tt.func of this module";
  SmallVector<Value> operands;
  for (auto [index, operand] : llvm::enumerate(op.getOperands())) {
    auto pointer = dyn_cast<triton::PointerType>(operand.getType());
    if (!pointer) {
      operands.push_back(operand);
      continue;
    }
    if (isa<RankedTensorType>(pointer.getPointeeType()))
      return op.emitOpError("passes a block pointer as argument #")
             << index << "; pass base, shape and strides instead";
    if (callee.isExternal())
      noteAccess(operand, kUpdates);
    else
      passedPointers.emplace_back(callee.getArgument(index), operand);
    operands.push_back(wholeMemref(operand, b, loc));
  }
  if (!callee.isExternal())
    llvm::append_range(operands, programArguments(op));
  SmallVector<Type> results;
  for (Type type : op.getResultTypes())
    results.push_back(isa<triton::PointerType>(type) ? b.getI64Type() : type);
  auto call = func::CallOp::create(b, loc, op.getCallee(), results, operands);
  call->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  for (auto [old, value] : llvm::zip_equal(op.getResults(), call.getResults())) {
    Value result = value;
    if (isa<triton::PointerType>(old.getType()))
      result = triton::IntToPtrOp::create(b, loc, old.getType(), value);
    old.replaceAllUsesWith(result);
  }
  op.erase();
  return success();
}

void Lowering::spreadKinds() {
  // A callee's accesses are its caller's; chains of calls need a few rounds.
  for (size_t round = 0; round <= passedPointers.size(); ++round)
    for (auto [argument, pointer] : passedPointers)
      if (unsigned kind = kinds.lookup(argument))
        noteAccess(pointer, kind);
}

/// The type of an argument or result below Triton IR, or null.
static Type convertedType(Type type, bool isResult) {
  if (auto pointer = dyn_cast<triton::PointerType>(type)) {
    if (isa<RankedTensorType>(pointer.getPointeeType()))
      return {};
    if (isResult)
      return IntegerType::get(type.getContext(), 64);
    return MemRefType::get({ShapedType::kDynamic}, memoryElementType(pointer.getPointeeType()));
  }
  if (triton::isPointerLike(type) || isa<triton::TensorDescType>(type))
    return {};
  return type;
}

/// Attributes of the kernel that outlive tt.func.
static bool isKept(NamedAttribute attribute) {
  StringRef name = attribute.getName();
  return name == "auto_blockify_size" || name.starts_with("hivm.") || name.starts_with("hacc.");
}

LogicalResult Lowering::convertFunction(triton::FuncOp func, bool globalKernel, bool hasSimt) {
  OpBuilder b(func);
  bool isKernel = !func.isExternal() && func.isPublic();
  SmallVector<Type> inputs, results;
  SmallVector<DictionaryAttr> attributes;
  for (auto [index, type] : llvm::enumerate(func.getArgumentTypes())) {
    Type converted = convertedType(type, false);
    if (!converted)
      return func.emitOpError("has argument #")
             << index << " of type " << type
             << ", which a kernel cannot take; pass the base pointer, the shape and the strides";
    inputs.push_back(converted);
    NamedAttrList argument(
        function_interface_impl::getArgAttrDict(func, static_cast<unsigned>(index)));
    // The launcher reads the kinds in text order, so only the kernel may carry them.
    if (isKernel)
      if (unsigned kind = kinds.lookup(func.getArgument(index)))
        argument.set("tt.tensor_kind", b.getI32IntegerAttr(kind - 1));
    attributes.push_back(argument.getDictionary(b.getContext()));
  }
  for (Type type : func.getResultTypes()) {
    Type converted = convertedType(type, true);
    if (!converted)
      return func.emitOpError("returns ") << type << ", which has no form below Triton IR";
    results.push_back(converted);
  }
  bool hasArgumentAttributes =
      llvm::any_of(attributes, [](DictionaryAttr attribute) { return !attribute.empty(); });
  auto converted =
      func::FuncOp::create(b, func.getLoc(), func.getName(), b.getFunctionType(inputs, results));
  if (!isKernel)
    converted.setVisibility(func.isExternal() ? SymbolTable::Visibility::Private
                                              : func.getVisibility());
  for (NamedAttribute attribute : func->getDiscardableAttrs())
    if (isKept(attribute))
      converted->setDiscardableAttr(attribute.getName(), attribute.getValue());
  if (hasArgumentAttributes)
    function_interface_impl::setAllArgAttrDicts(converted, attributes);
  if (func.isExternal()) {
    func.erase();
    return success();
  }

  converted.getBody().takeBody(func.getBody());
  func.erase();
  for (auto [argument, type] : llvm::zip_equal(converted.getArguments(), inputs)) {
    if (argument.getType() == type)
      continue;
    auto it = placeholders.find(argument);
    bool isUsed = it != placeholders.end();
    for (Operation *user : argument.getUsers())
      if (!isUsed || user != it->second)
        return user->emitOpError("uses a pointer, which has no form below Triton IR, for something "
                                 "else than a load, store or atomic");
    argument.setType(type);
    if (isUsed) {
      it->second.getResult(0).replaceAllUsesWith(argument);
      it->second.erase();
      placeholders.erase(argument);
    }
  }
  SmallVector<triton::ReturnOp> returns;
  converted.walk([&](triton::ReturnOp op) { returns.push_back(op); });
  for (triton::ReturnOp op : returns) {
    b.setInsertionPoint(op);
    func::ReturnOp::create(b, op.getLoc(), op.getOperands());
    op.erase();
  }
  if (!isKernel)
    return success();

  // Inserted last: the lock of block synchronisation and the workspace.
  auto bytes = MemRefType::get({ShapedType::kDynamic}, b.getI8Type());
  DictionaryAttr none = b.getDictionaryAttr({});
  for (unsigned index = 0; index < 2; ++index)
    if (failed(converted.insertArgument(index, bytes, none, converted.getLoc())))
      return failure();
  converted->setAttr("SyncBlockLockArgIdx", b.getI64IntegerAttr(0));
  converted->setAttr("WorkspaceArgIdx", b.getI64IntegerAttr(1));
  converted->setAttr("global_kernel", b.getStringAttr(globalKernel ? "" : "local"));
  converted->setAttr("mix_mode", b.getStringAttr(hasDot ? "mix" : "aiv"));
  converted->setAttr("parallel_mode", b.getStringAttr(hasSimt ? "mix_simd_simt" : "simd"));
  return success();
}

LogicalResult Lowering::convertFunctions(bool globalKernel, bool hasSimt) {
  SmallVector<triton::FuncOp> funcs(module.getOps<triton::FuncOp>());
  for (triton::FuncOp func : funcs)
    if (failed(convertFunction(func, globalKernel, hasSimt)))
      return failure();
  return success();
}

} // namespace piton::linalglowering
