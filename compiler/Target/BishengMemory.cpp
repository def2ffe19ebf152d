// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Constants of several values, branches over several cases, and ops that MLIR 19 does
// not have.
#include "compiler/Target/BishengForms.h"

#include "compiler/Conversion/TritonToLinalg/NpuOps.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;

namespace piton::bisheng {
namespace {

//===-- Constants ---------------------------------------------------------===//

/// Largest constant that is written out element by element.
constexpr int64_t kMaxSpelledConstant = 256;

/// A tensor of these elements in row-major order, one by one.
Value insertAll(OpBuilder &b, Location loc, RankedTensorType type, ValueRange scalars) {
  Value built = tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType());
  SmallVector<int64_t> strides = computeSuffixProduct(type.getShape());
  for (auto [position, scalar] : llvm::enumerate(scalars)) {
    SmallVector<Value> indices;
    for (int64_t index : delinearize(position, strides))
      indices.push_back(arith::ConstantIndexOp::create(b, loc, index));
    built = tensor::InsertOp::create(b, loc, scalar, built, indices);
  }
  return built;
}

/// tensor.from_elements of constants: the compiler folds it to the constant that crashes it.
void spellElements(tensor::FromElementsOp op) {
  bool isConstant = llvm::all_of(op.getElements(), [](Value element) {
    return element.getDefiningOp<arith::ConstantOp>() != nullptr;
  });
  if (!isConstant || op.getElements().size() < 2)
    return;
  OpBuilder b(op);
  auto type = cast<RankedTensorType>(op.getType());
  op.getResult().replaceAllUsesWith(insertAll(b, op.getLoc(), type, op.getElements()));
  op->erase();
}

LogicalResult spellConstant(arith::ConstantOp op, Context &context) {
  auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!elements || elements.isSplat())
    return success();
  auto type = cast<RankedTensorType>(op.getType());
  // The shape operand of a tensor.reshape is read at compile time, as a constant.
  if (llvm::all_of(op->getUsers(), llvm::IsaPred<tensor::ReshapeOp>))
    return success();
  if (type.getNumElements() > kMaxSpelledConstant)
    return refuse(op, context.family,
                  Twine("a constant of ") + Twine(type.getNumElements()) + " different values",
                  "load it from memory (at most " + Twine(kMaxSpelledConstant) +
                      " are written out)");
  OpBuilder b(op);
  SmallVector<Value> scalars;
  for (Attribute value : elements.getValues<Attribute>())
    scalars.push_back(arith::ConstantOp::create(b, op.getLoc(), cast<TypedAttr>(value)));
  Value built = insertAll(b, op.getLoc(), type, scalars);
  op.getResult().replaceAllUsesWith(built);
  op->erase();
  return success();
}

//===-- Ops of newer MLIR -----------------------------------------------------===//

void dropNewOps(Operation *op) {
  if (auto assume = dyn_cast<memref::AssumeAlignmentOp>(op)) {
    assume.getResult().replaceAllUsesWith(assume.getMemref());
    assume->erase();
    return;
  }
  // A call without results that claims to have no effect is dead code to the compiler.
  if (op->getName().getStringRef() == "hivm.hir.custom" && op->getNumResults() == 0)
    op->removeAttr("no_side_effect");
}

//===-- Other element types ---------------------------------------------------===//

/// A kernel argument as memory of another element type: through its address. Users say which part
/// they want, so the extent does not matter.
void castByAddress(arith::BitcastOp op) {
  auto type = dyn_cast<MemRefType>(op.getType());
  if (!type || type.getNumDynamicDims() != 1)
    return;
  OpBuilder b(op);
  Location loc = op.getLoc();
  Value index = memref::ExtractAlignedPointerAsIndexOp::create(b, loc, op.getIn());
  Value address = arith::IndexCastOp::create(b, loc, b.getI64Type(), index);
  Value extent = arith::ConstantIndexOp::create(b, loc, std::numeric_limits<int32_t>::max());
  op.getResult().replaceAllUsesWith(
      linalglowering::createPointerCast(b, loc, address, extent, type));
  op->erase();
}

/// An element of a bitcast tensor: the element is taken first, since the 950 compiler finds no
/// memory for a cast whose result is read element by element.
void castElement(tensor::ExtractOp op) {
  auto bitcast = op.getTensor().getDefiningOp<arith::BitcastOp>();
  if (!bitcast)
    return;
  OpBuilder b(op);
  Value element = tensor::ExtractOp::create(b, op.getLoc(), bitcast.getIn(), op.getIndices());
  Value same = arith::BitcastOp::create(b, op.getLoc(), op.getType(), element);
  op.getResult().replaceAllUsesWith(same);
  op->erase();
  if (bitcast->use_empty())
    bitcast->erase();
}

//===-- Branches -------------------------------------------------------------===//

/// The compiler orders pipes across scf.if but not across the cases of scf.index_switch.
void splitSwitch(scf::IndexSwitchOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  auto move = [](Region &from, Region &to) {
    to.getBlocks().clear();
    to.takeBody(from);
  };
  Operation *outermost = nullptr;
  ArrayRef<int64_t> cases = op.getCases();
  if (cases.empty())
    return;
  for (auto [index, value] : llvm::enumerate(cases)) {
    Value wanted = arith::ConstantIndexOp::create(b, loc, value);
    Value equal = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, op.getArg(), wanted);
    auto branch = scf::IfOp::create(b, loc, op.getResultTypes(), equal, /*withElseRegion=*/true);
    if (outermost && op.getNumResults() != 0)
      scf::YieldOp::create(b, loc, branch.getResults());
    if (!outermost)
      outermost = branch;
    move(op.getCaseRegions()[index], branch.getThenRegion());
    if (index + 1 == cases.size()) {
      move(op.getDefaultRegion(), branch.getElseRegion());
      break;
    }
    if (op.getNumResults() == 0)
      b.setInsertionPointToStart(branch.elseBlock());
    else
      b.setInsertionPointToEnd(branch.elseBlock());
  }
  op->replaceAllUsesWith(outermost->getResults());
  op->erase();
}

} // namespace

LogicalResult legalizeMemory(ModuleOp module, Context &context) {
  SmallVector<tensor::ExtractOp> elements;
  module.walk([&](tensor::ExtractOp op) { elements.push_back(op); });
  llvm::for_each(elements, castElement);
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops) {
    if (auto bitcast = dyn_cast<arith::BitcastOp>(op)) {
      castByAddress(bitcast);
    } else if (auto branch = dyn_cast<scf::IndexSwitchOp>(op)) {
      splitSwitch(branch);
    } else if (auto elements = dyn_cast<tensor::FromElementsOp>(op)) {
      spellElements(elements);
    } else if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      if (failed(spellConstant(constant, context)))
        return failure();
    } else if (isa<memref::AssumeAlignmentOp>(op) || op->getDialect() == nullptr ||
               op->getName().getDialectNamespace() == "hivm") {
      dropNewOps(op);
    }
  }
  return success();
}

} // namespace piton::bisheng
