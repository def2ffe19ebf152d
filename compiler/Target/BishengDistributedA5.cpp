// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls of the communication library for the 950 compiler, which knows no distributed ops. It takes
// custom ops without results that run on one kind of core: these get the names by which the library
// is linked, as the compiler for A2 and A3 forms them. Ranks, teams and addresses on other PEs are
// read from the device state, and a wait that gives the value it saw becomes one that does not, and
// a load.
#include "compiler/Target/BishengForms.h"

#include "abi/DeviceState.h"
#include "compiler/Conversion/TritonToLinalg/NpuOps.h"
#include "compiler/Dialect/HACC/HACC.h"

using namespace mlir;

namespace piton::bisheng {
namespace {

using hivm::TCoreType;

bool isMix(Operation *op) {
  auto mode = op->getParentOfType<func::FuncOp>()->getAttrOfType<StringAttr>("mix_mode");
  return mode && mode.getValue() == "mix";
}

bool hasMemref(Operation *op) {
  return llvm::any_of(op->getOperandTypes(), llvm::IsaPred<MemRefType>);
}

void replace(hivm::CustomOp op, Value value) {
  op->getResult(0).replaceAllUsesWith(value);
  op->erase();
}

//===-- The device state --------------------------------------------------===//

/// Arithmetic on addresses and words of global memory at one place.
struct Words {
  OpBuilder &b;
  Location loc;

  Value constant(int64_t value, unsigned width = 64) {
    return arith::ConstantIntOp::create(b, loc, b.getIntegerType(width), value);
  }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
  Value add(Value x, uint64_t y) { return add(x, constant(static_cast<int64_t>(y))); }
  Value entry(Value table, Value index, int64_t bytes) {
    Value wide = arith::ExtSIOp::create(b, loc, b.getI64Type(), index);
    return add(table, arith::MulIOp::create(b, loc, wide, constant(bytes)));
  }
  Value both(Value x, Value y) { return arith::AndIOp::create(b, loc, x, y); }
  Value select(Value which, Value x, Value y) {
    return arith::SelectOp::create(b, loc, which, x, y);
  }
  Value isNot(Value x, int64_t y) {
    Value other = constant(y, x.getType().getIntOrFloatBitWidth());
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, x, other);
  }
  /// 0 <= x < end.
  Value isIndex(Value x, Value end) {
    Value low = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, x, constant(0, 32));
    return both(low, arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, x, end));
  }

  /// The integer at an address. Its memory has a static shape: the compiler asserts on a dynamic
  /// one whose size nothing else uses.
  Value load(Value address, unsigned width = 64) {
    Value zero = arith::ConstantIndexOp::create(b, loc, 0);
    auto type = MemRefType::get({1}, b.getIntegerType(width));
    Value memory = linalglowering::createPointerCast(b, loc, address, /*size=*/nullptr, type);
    return memref::LoadOp::create(b, loc, memory, zero);
  }
  /// A field of the device state.
  Value field(uint64_t offset, unsigned width = 64) {
    return load(constant(static_cast<int64_t>(kDeviceStateAddress + offset)), width);
  }
  Value addressOf(Value memory) {
    Value index = memref::ExtractAlignedPointerAsIndexOp::create(b, loc, memory);
    return arith::IndexCastOp::create(b, loc, b.getI64Type(), index);
  }
};

/// aclshmem_ptr: the offset in this PE's heap plus the other PE's heap.
void expandAddress(hivm::CustomOp op) {
  OpBuilder b(op);
  Words words{b, op.getLoc()};
  auto type = cast<MemRefType>(op->getResult(0).getType());
  Value offset = arith::SubIOp::create(b, op.getLoc(), words.addressOf(op->getOperand(0)),
                                       words.field(offsetof(DeviceState, heapBase)));
  Value slot = words.entry(words.field(offsetof(DeviceState, p2pHeapBase)), op->getOperand(1), 8);
  Value size = arith::ConstantIndexOp::create(b, op.getLoc(), 1);
  replace(op, linalglowering::createPointerCast(b, op.getLoc(), words.add(words.load(slot), offset),
                                                size, type));
}

/// A team's record, or the one of all PEs where there is no such team.
struct Team {
  Value record, exists;

  Team(Words &words, Value index) {
    Value isIndex = words.isIndex(index, words.constant(kMaxTeams, 32));
    Value teams = words.constant(static_cast<int64_t>(kDeviceStateAddress) +
                                 static_cast<int64_t>(offsetof(DeviceState, teams)));
    Value known = words.select(isIndex, index, words.constant(kTeamWorld, 32));
    Value found = words.load(words.entry(teams, known, 8));
    Value isThere = words.isNot(found, 0);
    exists = words.both(isIndex, isThere);
    record = words.select(isThere, found, words.load(teams));
  }
};

/// team_my_pe, team_n_pes: a field of the team's record; -1 without such a team.
void expandTeamField(hivm::CustomOp op, uint64_t offset) {
  OpBuilder b(op);
  Words words{b, op.getLoc()};
  Team team(words, op->getOperand(0));
  Value value = words.load(words.add(team.record, offset), 32);
  replace(op, words.select(team.exists, value, words.constant(-1, 32)));
}

/// team_translate_pe: from one team to the world, and from there into the other.
void expandTranslation(hivm::CustomOp op) {
  OpBuilder b(op);
  Words words{b, op.getLoc()};
  Team from(words, op->getOperand(0)), into(words, op->getOperand(2));
  Value pe = op->getOperand(1);
  Value size = words.load(words.add(from.record, offsetof(TeamRecord, size)), 32);
  Value isMember = words.isIndex(pe, size);
  Value zero = words.constant(0, 32);
  Value index = words.select(isMember, pe, zero);
  Value toWorld = words.add(from.record, offsetof(TeamRecord, toWorld));
  Value world = words.load(words.entry(toWorld, index, 4), 32);
  Value fromWorld = words.add(into.record, offsetof(TeamRecord, fromWorld));
  Value there = words.load(words.entry(fromWorld, world, 4), 32);
  Value isKnown = words.both(words.both(from.exists, into.exists), isMember);
  replace(op, words.select(isKnown, there, words.constant(-1, 32)));
}

/// my_pe and n_pes.
void expandField(hivm::CustomOp op, uint64_t offset) {
  OpBuilder b(op);
  replace(op, Words{b, op.getLoc()}.field(offset, 32));
}

/// Replaces a function that only reads the device state; false for any other.
bool expand(hivm::CustomOp op, StringRef symbol) {
  if (op->getNumResults() != 1)
    return false;
  if (symbol.starts_with("aclshmem_ptr_") && isa<MemRefType>(op->getResult(0).getType()))
    expandAddress(op);
  else if (symbol == "aclshmem_my_pe")
    expandField(op, offsetof(DeviceState, myPe));
  else if (symbol == "aclshmem_n_pes")
    expandField(op, offsetof(DeviceState, peCount));
  else if (symbol == "aclshmem_team_my_pe")
    expandTeamField(op, offsetof(TeamRecord, myPe));
  else if (symbol == "aclshmem_team_n_pes")
    expandTeamField(op, offsetof(TeamRecord, size));
  else if (symbol == "aclshmem_team_translate_pe")
    expandTranslation(op);
  else
    return false;
  return true;
}

//===-- Calls -------------------------------------------------------------===//

/// The same call of another function, without its result.
hivm::CustomOp withoutResult(hivm::CustomOp op, StringRef symbol) {
  OpBuilder b(op);
  auto bare =
      hivm::CustomOp::create(b, op.getLoc(), TypeRange(), b.getStringAttr(("dist." + symbol).str()),
                             op.getInputs(), op.getOutputs(), op.getTemps());
  bare->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  return bare;
}

/// Waits whose result is not the matter: a token has done its work, and the value that a signal
/// was seen to have can be loaded.
hivm::CustomOp withoutWaitResult(hivm::CustomOp op, StringRef &symbol) {
  if (op->getNumResults() != 1)
    return op;
  OpBuilder b(op);
  if (symbol == "aclshmem_signal_wait_until") {
    symbol = "aclshmem_wait_until_int32";
    hivm::CustomOp bare = withoutResult(op, symbol);
    Words words{b, op.getLoc()};
    replace(op, words.load(words.addressOf(bare->getOperand(0)), 32));
    return bare;
  }
  if (!symbol.starts_with("aclshmem_wait_"))
    return op;
  hivm::CustomOp bare = withoutResult(op, symbol);
  Type type = op->getResult(0).getType();
  replace(op, arith::ConstantOp::create(b, op.getLoc(), b.getIntegerAttr(type, 0)));
  return bare;
}

/// Names the function as the library does for this core: with the C prefix, which is added below
/// only where memory is passed, and by kind of core where a kernel runs on both.
void setLinkName(hivm::CustomOp op, StringRef symbol, TCoreType core) {
  std::string name = (hasMemref(op) ? "" : "_mlir_ciface_") + symbol.str();
  if (isMix(op))
    name += core == TCoreType::CUBE ? ".cube" : ".vector";
  op->setDiscardableAttr("symbol", StringAttr::get(op.getContext(), name));
  op->setDiscardableAttr("hivm.tcore_type", hivm::TCoreTypeAttr::get(op.getContext(), core));
}

/// A call without results, once for each kind of core that it runs on.
void nameByCore(hivm::CustomOp op, StringRef symbol) {
  auto attribute = op->getAttrOfType<hivm::TCoreTypeAttr>("hivm.tcore_type");
  TCoreType core = attribute ? attribute.getValue() : TCoreType::VECTOR;
  const bool onBoth = core == TCoreType::CUBE_AND_VECTOR || core == TCoreType::CUBE_OR_VECTOR;
  if (onBoth && isMix(op)) {
    OpBuilder b(op);
    setLinkName(cast<hivm::CustomOp>(b.clone(*op)), symbol, TCoreType::CUBE);
  }
  setLinkName(op, symbol, onBoth ? TCoreType::VECTOR : core);
}

/// A private declaration of a device function; its name carries the C prefix by hand unless a
/// memref makes the compiler add it.
func::FuncOp declare(hivm::CustomOp op, StringRef symbol) {
  auto module = op->getParentOfType<ModuleOp>();
  std::string name = (hasMemref(op) ? "" : "_mlir_ciface_") + symbol.str();
  if (auto existing = module.lookupSymbol<func::FuncOp>(name))
    return existing;
  OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
  MLIRContext *context = op.getContext();
  auto function = func::FuncOp::create(
      b, op.getLoc(), name, b.getFunctionType(op->getOperandTypes(), op->getResultTypes()));
  function.setPrivate();
  function->setAttr("hivm.func_core_type",
                    hivm::FuncCoreTypeAttr::get(context, hivm::FuncCoreType::AIV));
  function->setAttr("hacc.function_kind",
                    hacc::FunctionKindAttr::get(context, hacc::FunctionKind::DEVICE));
  if (hasMemref(op))
    function->setAttr("llvm.emit_c_interface", b.getUnitAttr());
  return function;
}

} // namespace

LogicalResult legalizeDistributedA5(hivm::CustomOp op, StringRef symbol, Context &context) {
  op->removeAttr("hivm.is_distributed");
  if (expand(op, symbol))
    return success();
  op = withoutWaitResult(op, symbol);
  if (op->getNumResults() == 0) {
    nameByCore(op, symbol);
    return success();
  }
  if (llvm::any_of(op->getResultTypes(), llvm::IsaPred<ShapedType>))
    return refuse(op, context.family, "a device function that gives memory",
                  "let it give the address as an integer");
  // In a kernel for both kinds of cores the compiler makes the declaration of whatever is called
  // public, and its verifier then refuses that, whichever cores and attributes it names.
  if (isMix(op))
    return refuse(op, context.family,
                  "a device function with a result in a kernel with a dot, whose two halves link "
                  "different functions",
                  "let it store its result, or call it in a kernel without a dot");
  OpBuilder b(op);
  auto call = func::CallOp::create(b, op.getLoc(), declare(op, symbol), op->getOperands());
  op->replaceAllUsesWith(call.getResults());
  op->erase();
  return success();
}

} // namespace piton::bisheng
