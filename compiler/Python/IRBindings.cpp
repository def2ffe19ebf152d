// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Python classes over MLIR objects: context, location, type, attribute, value, block,
// region, operation, function, module. The builder is in Builder*.cpp.
#include "compiler/Python/IR.h"

#include "compiler/Config.h"

#include "mlir/Transforms/LocationSnapshot.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;
using namespace mlir;

namespace piton::python {

namespace {

template <typename T> std::string text(T object) {
  std::string out;
  llvm::raw_string_ostream os(out);
  object.print(os);
  return out;
}

unsigned checkIndex(int64_t index, size_t size, const char *what) {
  if (index < 0 || static_cast<size_t>(index) >= size)
    throw nb::index_error((std::string(what) + " index " + std::to_string(index) +
                           " out of range: there are " + std::to_string(size))
                              .c_str());
  return static_cast<unsigned>(index);
}

/// Names a hint after the argument when a value has no defining operation.
void setValueAttr(mlir::Value value, const std::string &name, Attribute attr) {
  if (Operation *definingOp = value.getDefiningOp()) {
    definingOp->setAttr(name, attr);
    return;
  }
  auto argument = cast<mlir::BlockArgument>(value);
  Operation *parent = argument.getOwner()->getParentOp();
  if (!parent || isa<triton::FuncOp>(parent))
    return;
  parent->setAttr(name + "_arg" + std::to_string(argument.getArgNumber()), attr);
}

void setValueLoc(mlir::Value value, mlir::Location loc) {
  if (Operation *definingOp = value.getDefiningOp())
    definingOp->setLoc(loc);
  else
    value.setLoc(loc);
}

void mergeBefore(Block &self, Block &dest) {
  if (self.block->getNumArguments() != 0)
    throw nb::value_error("only a block without arguments can be merged into another");
  dest.block->getOperations().splice(dest.block->begin(), self.block->getOperations());
  self.block->dropAllUses();
  self.block->erase();
}

void eraseBlock(Block &self) {
  // A dry visit of a loop body may have been referenced from outside it.
  self.block->dropAllDefinedValueUses();
  self.block->dropAllUses();
  self.block->erase();
}

bool verifyOrRaise(Operation *op) {
  std::string report;
  {
    Diagnostics diagnostics(op->getContext());
    if (succeeded(verify(op)))
      return true;
    report = diagnostics.text();
  }
  raiseCompilationError("ttir", report);
}

/// Removes what follows the first return of a block: the front end stops reading at a
/// return, but its callers may still place a branch.
void finalizeFunction(triton::FuncOp func) {
  func.walk([](mlir::Block *block) {
    for (Operation &op : *block) {
      if (!isa<triton::ReturnOp>(op) || &op == &block->back())
        continue;
      while (&block->back() != &op) {
        block->back().dropAllUses();
        block->back().erase();
      }
      break;
    }
  });
  bool raised = false;
  func.walk([&](triton::AdvanceOp op) {
    if (raised || !op.getResult().use_empty())
      return;
    std::string where = describeLocation(op.getLoc());
    std::string message =
        where + ": the result of tl.advance is not used; it returns a new block pointer";
    raised = PyErr_WarnEx(PyExc_UserWarning, message.c_str(), 1) < 0;
  });
  if (raised)
    throw nb::python_error();
}

std::string entryName(ModuleOp module) {
  for (auto func : module.getOps<FunctionOpInterface>())
    if (!func.isExternal() &&
        SymbolTable::getSymbolVisibility(func) == SymbolTable::Visibility::Public)
      return func.getName().str();
  throw nb::value_error("the module has no public function");
}

nb::object optionalIntAttr(Operation *op, const std::string &name) {
  if (auto attr = op->getAttrOfType<IntegerAttr>(name))
    return nb::int_(attr.getInt());
  return nb::none();
}

void bindContextAndTypes(nb::module_ &m) {
  nb::class_<Context>(m, "context")
      .def(nb::new_([]() { return std::make_shared<Context>(); }))
      .def("printOpOnDiagnostic", [](Context &self, bool on) { self.mlir.printOpOnDiagnostic(on); })
      .def("printStackTraceOnDiagnostic",
           [](Context &self, bool on) { self.mlir.printStackTraceOnDiagnostic(on); });

  m.def("load_dialects", [](Context &context) { context.loadDialects(); });
  m.def("make_attr", [](const std::vector<int32_t> &values, Context &context) {
    mlir::Builder b(&context.mlir);
    auto type = RankedTensorType::get({static_cast<int64_t>(values.size())}, b.getI32Type());
    return Attr{DenseIntElementsAttr::get(type, llvm::ArrayRef<int32_t>(values))};
  });

  nb::class_<Type>(m, "type")
      .def("is_integer", [](Type &self, unsigned width) { return self.type.isInteger(width); })
      .def("is_fp16", [](Type &self) { return self.type.isF16(); })
      .def("__eq__",
           [](Type &self, nb::handle other) {
             return nb::isinstance<Type>(other) && nb::cast<Type>(other).type == self.type;
           })
      .def("__hash__", [](Type &self) { return mlir::hash_value(self.type); })
      .def("__str__", [](Type &self) { return text(self.type); })
      .def("__repr__", [](Type &self) { return text(self.type); })
      .def("param_types", [](Type &self) {
        auto func = dyn_cast<FunctionType>(self.type);
        if (!func)
          throw nb::type_error("not a function type");
        std::vector<Type> out;
        for (mlir::Type input : func.getInputs())
          out.push_back(Type{input});
        return out;
      });
  nb::class_<Location>(m, "location")
      .def("__str__", [](Location &self) { return text(self.loc); })
      .def("set_name", [](Location &self, const std::string &name) {
        self.loc = NameLoc::get(StringAttr::get(self.loc.getContext(), name), self.loc);
      });
  nb::class_<Attr>(m, "attribute").def("__str__", [](Attr &self) { return text(self.attr); });
  nb::class_<InsertPoint>(m, "InsertPoint");
}

void bindValues(nb::module_ &m) {
  nb::class_<Value>(m, "value")
      .def("set_attr", [](Value &self, const std::string &name,
                          Attr &attr) { setValueAttr(self.value, name, attr.attr); })
      .def("get_context", [](Value &self) { return Context::find(self.value.getContext()); })
      .def("get_loc", [](Value &self) { return Location{self.value.getLoc()}; })
      .def("set_loc", [](Value &self, Location &loc) { setValueLoc(self.value, loc.loc); })
      .def("get_type", [](Value &self) { return Type{self.value.getType()}; })
      .def("replace_all_uses_with",
           [](Value &self, Value &with) { self.value.replaceAllUsesWith(with.value); })
      .def("id",
           [](Value &self) { return reinterpret_cast<uint64_t>(self.value.getAsOpaquePointer()); });
  nb::class_<OpResult, Value>(m, "op_result");
  nb::class_<BlockArgument, Value>(m, "block_argument");
}

void bindBlocks(nb::module_ &m) {
  auto argument = [](Block &self, int64_t index) {
    BlockArgument out;
    out.value =
        self.block->getArgument(checkIndex(index, self.block->getNumArguments(), "block argument"));
    return out;
  };
  nb::class_<Block>(m, "block")
      .def("arg", argument)
      .def("get_argument", argument)
      .def("get_num_arguments", [](Block &self) { return self.block->getNumArguments(); })
      .def("add_argument",
           [](Block &self, Type &type) {
             self.block->addArgument(type.type, UnknownLoc::get(type.type.getContext()));
           })
      .def("add_argument_at", [](Block &self, Type &type,
                                 Location &loc) { self.block->addArgument(type.type, loc.loc); })
      .def("get_parent", [](Block &self) { return Region{self.block->getParent()}; })
      .def("has_terminator",
           [](Block &self) {
             return !self.block->empty() && self.block->back().hasTrait<OpTrait::IsTerminator>();
           })
      .def("has_return",
           [](Block &self) {
             return !self.block->empty() && self.block->back().hasTrait<OpTrait::ReturnLike>();
           })
      .def("merge_block_before", mergeBefore)
      .def("insert_before",
           [](Block &self, Block &before) { self.block->insertBefore(before.block); })
      .def("move_before", [](Block &self, Block &before) { self.block->moveBefore(before.block); })
      .def("replace_use_in_block_with",
           [](Block &self, Value &from, Value &to) {
             from.value.replaceUsesWithIf(to.value, [&](OpOperand &use) {
               return self.block->findAncestorOpInBlock(*use.getOwner()) != nullptr;
             });
           })
      .def("erase", eraseBlock)
      .def("dump", [](Block &self) { self.block->dump(); })
      .def("__str__", [](Block &self) { return text<mlir::Block &>(*self.block); })
      .def("id", [](Block &self) { return reinterpret_cast<uint64_t>(self.block); });
  nb::class_<Region>(m, "region")
      .def("get_parent_region", [](Region &self) { return Region{self.region->getParentRegion()}; })
      .def("push_back", [](Region &self, Block &block) { self.region->push_back(block.block); })
      .def("push_front", [](Region &self, Block &block) { self.region->push_front(block.block); })
      .def("size", [](Region &self) { return self.region->getBlocks().size(); })
      .def("empty", [](Region &self) { return self.region->empty(); })
      .def("id", [](Region &self) { return reinterpret_cast<uint64_t>(self.region); });
}

void bindOps(nb::module_ &m) {
  auto result = [](Op &self, int64_t index) {
    OpResult out;
    out.value = self.op->getResult(checkIndex(index, self.op->getNumResults(), "result"));
    return out;
  };
  auto region = [](Op &self, int64_t index) {
    return Region{&self.op->getRegion(checkIndex(index, self.op->getNumRegions(), "region"))};
  };
  // The plain view that module.walk hands out.
  nb::class_<Op>(m, "operation")
      .def("get_name", [](Op &self) { return self.op->getName().getStringRef().str(); })
      .def("get_num_operands", [](Op &self) { return self.op->getNumOperands(); })
      .def("get_operand",
           [](Op &self, int64_t index) {
             return Value{
                 self.op->getOperand(checkIndex(index, self.op->getNumOperands(), "operand"))};
           })
      .def("get_num_results", [](Op &self) { return self.op->getNumResults(); })
      .def("get_result", result)
      .def("get_num_regions", [](Op &self) { return self.op->getNumRegions(); })
      .def("get_region", region)
      .def("get_block", [](Op &self) { return Block{self.op->getBlock()}; })
      .def("get_body",
           [](Op &self, int64_t index) {
             auto &op = *self.op;
             if (op.getNumRegions() == 0)
               throw nb::value_error("the operation has no region");
             auto blocks = op.getRegion(0).getBlocks().begin();
             checkIndex(index, op.getRegion(0).getBlocks().size(), "block");
             std::advance(blocks, index);
             return Block{&*blocks};
           })
      .def("get_operation", [](Op &self) { return Op{self.op}; })
      .def("append_operand",
           [](Op &self, Value &value) {
             self.op->insertOperands(self.op->getNumOperands(), value.value);
           })
      .def("set_attr",
           [](Op &self, const std::string &name, Attr &attr) { self.op->setAttr(name, attr.attr); })
      .def("get_int_attr",
           [](Op &self, const std::string &name) { return optionalIntAttr(self.op, name); })
      .def("get_str_attr",
           [](Op &self, const std::string &name) -> nb::object {
             if (auto attr = self.op->getAttrOfType<StringAttr>(name))
               return nb::cast(attr.getValue().str());
             return nb::none();
           })
      .def("get_bool_attr",
           [](Op &self, const std::string &name) -> nb::object {
             if (auto attr = self.op->getAttrOfType<BoolAttr>(name))
               return nb::bool_(attr.getValue());
             return nb::none();
           })
      .def("get_flat_symbol_ref_attr",
           [](Op &self, const std::string &name) -> nb::object {
             if (auto attr = self.op->getAttrOfType<FlatSymbolRefAttr>(name))
               return nb::cast(attr.getValue().str());
             return nb::none();
           })
      .def("verify", [](Op &self) { return verifyOrRaise(self.op); })
      .def("dump", [](Op &self) { self.op->dump(); })
      .def("__str__", [](Op &self) { return printOp(self.op, true); })
      .def("str_nodebug", [](Op &self) { return printOp(self.op, false); });
  m.attr("OpState") = m.attr("operation");

  nb::class_<ForOp, Op>(m, "ForOp").def("get_induction_var", [](ForOp &self) {
    BlockArgument out;
    out.value = cast<scf::ForOp>(self.op).getInductionVar();
    return out;
  });
  nb::class_<YieldOp, Op>(m, "YieldOp");
  nb::class_<ConditionOp, Op>(m, "ConditionOp");
  nb::class_<IfOp, Op>(m, "IfOp")
      .def("get_then_block", [](IfOp &self) { return Block{cast<scf::IfOp>(self.op).thenBlock()}; })
      .def("get_else_block", [](IfOp &self) { return Block{cast<scf::IfOp>(self.op).elseBlock()}; })
      .def("get_then_yield",
           [](IfOp &self) { return YieldOp{{cast<scf::IfOp>(self.op).thenYield()}}; })
      .def("get_else_yield",
           [](IfOp &self) { return YieldOp{{cast<scf::IfOp>(self.op).elseYield()}}; });
  nb::class_<WhileOp, Op>(m, "WhileOp")
      .def("get_before",
           [](WhileOp &self) { return Region{&cast<scf::WhileOp>(self.op).getBefore()}; })
      .def("get_after",
           [](WhileOp &self) { return Region{&cast<scf::WhileOp>(self.op).getAfter()}; });
}

void bindFunctionAndModule(nb::module_ &m) {
  nb::class_<Function, Op>(m, "function")
      .def("args",
           [](Function &self, int64_t index) {
             if (self.get().isExternal())
               throw nb::value_error("a declaration has no argument values");
             BlockArgument out;
             out.value = self.get().getArgument(
                 checkIndex(index, self.get().getNumArguments(), "argument"));
             return out;
           })
      .def("get_num_args", [](Function &self) { return self.get().getNumArguments(); })
      .def("add_entry_block", [](Function &self) { return Block{self.get().addEntryBlock()}; })
      .def("set_arg_attr",
           [](Function &self, int64_t index, const std::string &name, int32_t value) {
             auto type = IntegerType::get(self.op->getContext(), 32);
             self.get().setArgAttr(checkIndex(index, self.get().getNumArguments(), "argument"),
                                   name, IntegerAttr::get(type, value));
           })
      .def("reset_type",
           [](Function &self, Type &type) {
             auto funcType = dyn_cast<FunctionType>(type.type);
             if (!funcType)
               throw nb::type_error("a function needs a function type");
             self.get().setType(funcType);
           })
      .def("finalize", [](Function &self) { finalizeFunction(self.get()); })
      .def_prop_ro("type", [](Function &self) { return Type{self.get().getFunctionType()}; });

  nb::class_<Module, Op>(m, "module", nb::dynamic_attr())
      .def("get_function",
           [](Module &self, const std::string &name) {
             auto func = self.get().lookupSymbol<triton::FuncOp>(name);
             if (!func)
               throw nb::key_error(("the module has no function '" + name + "'").c_str());
             return Function{{func}};
           })
      .def("has_function",
           [](Module &self, const std::string &name) {
             return self.get().lookupSymbol(name) != nullptr;
           })
      .def("push_back",
           [](Module &self, Function &func) {
             if (func.op->getBlock())
               func.op->remove();
             self.get().push_back(func.op);
           })
      .def("get_entry_func_name", [](Module &self) { return entryName(self.get()); })
      .def("get_function_signature",
           [](Module &self, Function &func) {
             std::vector<std::string> out;
             for (mlir::Type type : func.get().getArgumentTypes()) {
               auto pointer = dyn_cast<triton::PointerType>(type);
               out.push_back(pointer ? "*" + text(pointer.getPointeeType()) : text(type));
             }
             return out;
           })
      .def("get_tensordesc_metadata", [](Module &) { return nb::list(); })
      .def("create_location_snapshot",
           [](Module &self, const std::string &path) {
             std::string report;
             {
               Diagnostics diagnostics(self.op->getContext());
               if (succeeded(
                       generateLocationsFromIR(path, self.op, OpPrintingFlags().enableDebugInfo())))
                 return;
               report = diagnostics.text();
             }
             throw std::runtime_error(path + ": cannot be written: " + report);
           })
      .def("walk", [](Module &self,
                      nb::callable visit) { self.op->walk([&](Operation *op) { visit(Op{op}); }); })
      .def("str", [](Module &self) { return printOp(self.op, true); });
}

} // namespace

void bindIR(nb::module_ &m) {
  bindContextAndTypes(m);
  bindValues(m);
  bindBlocks(m);
  bindOps(m);
  bindFunctionAndModule(m);
  nb::class_<Builder> builder(m, "builder", nb::dynamic_attr());
  bindBuilder(m, builder);
  bindBuilderArith(builder);
  bindBuilderTriton(builder);
  bindBuilderAscend(builder);
#if PITON_DISTRIBUTED
  bindDistributed(m, builder);
#endif
}

} // namespace piton::python
