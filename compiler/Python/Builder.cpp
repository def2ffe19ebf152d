// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builder bindings, part 1: locations, insertion points, types, attributes, constants,
// functions, blocks and control flow.
#include "compiler/Python/IR.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;
using namespace mlir;

namespace piton::python {

namespace {

mlir::Location fileLoc(Builder &self, const std::string &file, int line, int column) {
  return FileLineColLoc::get(self.ops.getContext(), file, line, column);
}

mlir::Location nameLoc(Builder &self, const std::string &name, std::optional<Location> child) {
  auto id = StringAttr::get(self.ops.getContext(), name);
  if (!child)
    return NameLoc::get(id);
  return NameLoc::get(id, child->loc);
}

void bindLocations(nb::class_<Builder> &cls) {
  cls.def(nb::init<std::shared_ptr<Context>>(), "context"_a)
      .def("get_loc", [](Builder &self) { return Location{self.getLoc()}; })
      .def("set_loc", [](Builder &self, Location &loc) { self.setLoc(loc.loc); })
      .def("set_loc",
           [](Builder &self, const std::string &name) { self.setLoc(nameLoc(self, name, {})); })
      .def("set_loc", [](Builder &self, const std::string &file, int line,
                         int column) { self.setLoc(fileLoc(self, file, line, column)); })
      .def("create_loc", [](Builder &self, const std::string &file, int line,
                            int column) { return Location{fileLoc(self, file, line, column)}; })
      .def(
          "create_name_loc",
          [](Builder &self, const std::string &name, std::optional<Location> child) {
            return Location{nameLoc(self, name, child)};
          },
          "name"_a, "child_loc"_a = nb::none())
      .def("get_insertion_point",
           [](Builder &self) { return InsertPoint{self.ops.saveInsertionPoint()}; })
      .def("restore_insertion_point",
           [](Builder &self, InsertPoint &point) { self.restore(point.point); })
      .def("set_insertion_point_to_start",
           [](Builder &self, Block &block) { self.setToStart(block.block); })
      .def("set_insertion_point_to_end",
           [](Builder &self, Block &block) { self.setToEnd(block.block); })
      .def("set_insertion_point_after", [](Builder &self, Op &op) { self.setAfter(op.op); })
      .def("get_insertion_block", [](Builder &self) -> std::optional<Block> {
        mlir::Block *block = self.ops.getInsertionBlock();
        return block ? std::optional<Block>(Block{block}) : std::nullopt;
      });
}

void bindTypes(nb::class_<Builder> &cls) {
  auto plain = [&](const char *name, mlir::Type (*make)(OpBuilder &)) {
    cls.def(name, [make](Builder &self) { return Type{make(self.ops)}; });
  };
  plain("get_void_ty", [](OpBuilder &b) -> mlir::Type { return b.getNoneType(); });
  plain("get_int1_ty", [](OpBuilder &b) -> mlir::Type { return b.getI1Type(); });
  plain("get_int8_ty", [](OpBuilder &b) -> mlir::Type { return b.getI8Type(); });
  plain("get_int16_ty", [](OpBuilder &b) -> mlir::Type { return b.getI16Type(); });
  plain("get_int32_ty", [](OpBuilder &b) -> mlir::Type { return b.getI32Type(); });
  plain("get_int64_ty", [](OpBuilder &b) -> mlir::Type { return b.getI64Type(); });
  plain("get_fp8e4nv_ty", [](OpBuilder &b) -> mlir::Type { return b.getType<Float8E4M3FNType>(); });
  plain("get_fp8e4b8_ty",
        [](OpBuilder &b) -> mlir::Type { return b.getType<Float8E4M3FNUZType>(); });
  plain("get_fp8e4b15_ty", [](OpBuilder &b) -> mlir::Type { return b.getI8Type(); });
  plain("get_fp8e5_ty", [](OpBuilder &b) -> mlir::Type { return b.getType<Float8E5M2Type>(); });
  plain("get_fp8e5b16_ty",
        [](OpBuilder &b) -> mlir::Type { return b.getType<Float8E5M2FNUZType>(); });
  plain("get_half_ty", [](OpBuilder &b) -> mlir::Type { return b.getF16Type(); });
  plain("get_bf16_ty", [](OpBuilder &b) -> mlir::Type { return b.getBF16Type(); });
  plain("get_float_ty", [](OpBuilder &b) -> mlir::Type { return b.getF32Type(); });
  plain("get_double_ty", [](OpBuilder &b) -> mlir::Type { return b.getF64Type(); });
  cls.def("get_ptr_ty",
          [](Builder &, Type &pointee, int space) {
            return Type{triton::PointerType::get(pointee.type, space)};
          })
      .def("get_block_ty",
           [](Builder &, Type &element, const std::vector<int64_t> &shape) {
             if (!RankedTensorType::isValidElementType(element.type))
               throw nb::type_error("not an element type of a tensor");
             return Type{RankedTensorType::get(shape, element.type)};
           })
      .def("get_function_ty",
           [](Builder &self, const std::vector<Type> &in, const std::vector<Type> &out) {
             return Type{self.ops.getFunctionType(unwrap(in), unwrap(out))};
           })
      .def("create_tensor_descriptor_type", [](Builder &self, Type &block, Flag isSigned) {
        auto tensor = cast<RankedTensorType>(block.type);
        // Descriptors are the one place where signedness is part of the type.
        if (auto integer = dyn_cast<IntegerType>(tensor.getElementType()))
          tensor = tensor.clone(
              IntegerType::get(self.ops.getContext(), integer.getWidth(),
                               isSigned ? IntegerType::Signed : IntegerType::Unsigned));
        return Type{triton::TensorDescType::get(tensor)};
      });
}

void bindAttributes(nb::class_<Builder> &cls) {
  cls.def("get_bool_attr", [](Builder &self, Flag v) { return Attr{self.ops.getBoolAttr(v)}; })
      .def("get_int32_attr",
           [](Builder &self, nb::handle v) {
             // tl.range passes constexpr objects through unchanged.
             nb::object value = nb::borrow(v);
             if (nb::hasattr(value, "value"))
               value = value.attr("value");
             return Attr{self.ops.getI32IntegerAttr(nb::cast<int32_t>(value))};
           })
      .def("get_string_attr",
           [](Builder &self, const std::string &v) { return Attr{self.ops.getStringAttr(v)}; })
      .def("get_unit_attr", [](Builder &self) { return Attr{self.ops.getUnitAttr()}; })
      .def("get_disable_loop_licm_attr", [](Builder &self) {
        auto *context = self.ops.getContext();
        auto yes = self.ops.getBoolAttr(true);
        auto licm = LLVM::LoopLICMAttr::get(context, yes, yes);
        return Attr{LLVM::LoopAnnotationAttr::get(context, {}, {}, {}, {}, {}, licm, {}, {}, {}, {},
                                                  {}, {}, {}, {}, {})};
      });
}

Value constantInt(Builder &self, unsigned width, const APInt &value) {
  auto type = IntegerType::get(self.ops.getContext(), width);
  return self.value<arith::ConstantOp>(type, self.ops.getIntegerAttr(type, value));
}

/// A constant of any scalar or tensor type, from the element `attr`.
Value constantLike(Builder &self, mlir::Type type, TypedAttr element) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return self.value<arith::ConstantOp>(type, DenseElementsAttr::get(tensor, Attribute(element)));
  return self.value<arith::ConstantOp>(type, element);
}

void bindConstants(nb::class_<Builder> &cls) {
  auto signedConstant = [&](const char *name, unsigned width) {
    cls.def(name, [width](Builder &self, int64_t v) {
      return constantInt(self, width, APInt(64, v, true).sextOrTrunc(width));
    });
  };
  auto unsignedConstant = [&](const char *name, unsigned width) {
    cls.def(name, [width](Builder &self, uint64_t v) {
      return constantInt(self, width, APInt(64, v).zextOrTrunc(width));
    });
  };
  cls.def("get_int1", [](Builder &self, Flag v) { return constantInt(self, 1, APInt(1, v)); });
  signedConstant("get_int8", 8);
  signedConstant("get_int16", 16);
  signedConstant("get_int32", 32);
  signedConstant("get_int64", 64);
  unsignedConstant("get_uint8", 8);
  unsignedConstant("get_uint16", 16);
  unsignedConstant("get_uint32", 32);
  unsignedConstant("get_uint64", 64);
  auto floatConstant = [&](const char *name, mlir::Type (*make)(OpBuilder &)) {
    cls.def(name, [make](Builder &self, double v) {
      mlir::Type type = make(self.ops);
      return self.value<arith::ConstantOp>(type,
                                           cast<TypedAttr>(Attribute(FloatAttr::get(type, v))));
    });
  };
  floatConstant("get_fp16", [](OpBuilder &b) -> mlir::Type { return b.getF16Type(); });
  floatConstant("get_bf16", [](OpBuilder &b) -> mlir::Type { return b.getBF16Type(); });
  floatConstant("get_fp32", [](OpBuilder &b) -> mlir::Type { return b.getF32Type(); });
  floatConstant("get_fp64", [](OpBuilder &b) -> mlir::Type { return b.getF64Type(); });
  cls.def("get_null_value",
          [](Builder &self, Type &type) {
            mlir::Type element = getElementTypeOrSelf(type.type);
            if (!isa<IntegerType, FloatType>(element))
              throw nb::type_error("only integers and floats have a zero");
            return constantLike(self, type.type, cast<TypedAttr>(self.ops.getZeroAttr(element)));
          })
      .def("get_all_ones_value", [](Builder &self, Type &type) {
        auto element = dyn_cast<IntegerType>(getElementTypeOrSelf(type.type));
        if (!element)
          throw nb::type_error("only integers have an all-ones value");
        return constantLike(
            self, type.type,
            self.ops.getIntegerAttr(element, APInt::getAllOnes(element.getWidth())));
      });
}

mlir::Block *insertionBlock(Builder &self) {
  if (mlir::Block *block = self.ops.getInsertionBlock())
    return block;
  throw nb::value_error("the builder has no insertion point");
}

Function getOrInsertFunction(Builder &self, Module &module, const std::string &name, Type &type,
                             const std::string &visibility, Flag noinline) {
  if (Operation *existing = module.get().lookupSymbol(name)) {
    if (!isa<triton::FuncOp>(existing))
      throw nb::type_error(("'" + name + "' is no function").c_str());
    return Function{{existing}};
  }
  auto funcType = dyn_cast<FunctionType>(type.type);
  if (!funcType)
    throw nb::type_error("a function needs a function type");
  NamedAttribute attrs[] = {
      self.ops.getNamedAttr("sym_visibility", self.ops.getStringAttr(visibility)),
      self.ops.getNamedAttr("noinline", self.ops.getBoolAttr(noinline))};
  // Detached: module.push_back is where the front end places it.
  OpBuilder::InsertionGuard guard(self.ops);
  self.ops.clearInsertionPoint();
  return Function{{self.create<triton::FuncOp>(name, funcType, attrs)}};
}

void bindFunctions(nb::class_<Builder> &cls) {
  cls.def("create_module",
          [](Builder &self) {
            Module out;
            out.owner = self.owner;
            auto module = ModuleOp::create(self.getLoc());
            out.op = module;
            self.owner->modules.emplace_back(module);
            return out;
          })
      .def("get_or_insert_function", getOrInsertFunction, nb::arg(), nb::arg(), nb::arg(),
           nb::arg(), nb::arg().none())
      .def("call",
           [](Builder &self, Function &func, const std::vector<Value> &args) {
             return Op{self.create<triton::CallOp>(func.get(), unwrap(args))};
           })
      .def("ret", [](Builder &self, const std::vector<Value> &values) {
        return Op{self.create<triton::ReturnOp>(unwrap(values))};
      });
}

void bindControlFlow(nb::class_<Builder> &cls) {
  cls.def(
         "new_block", [](Builder &) { return Block{new mlir::Block()}; }, nb::rv_policy::move)
      .def("create_block",
           [](Builder &self) {
             return Block{self.ops.createBlock(insertionBlock(self)->getParent())};
           })
      .def("create_block_with_parent",
           [](Builder &self, Region &parent, const std::vector<Type> &types) {
             std::vector<mlir::Location> locs(types.size(), UnknownLoc::get(self.ops.getContext()));
             return Block{self.ops.createBlock(parent.region, {}, unwrap(types), locs)};
           })
      .def("create_branch",
           [](Builder &self, Block &dest, const std::vector<Value> &args) {
             return Op{self.create<cf::BranchOp>(dest.block, unwrap(args))};
           })
      .def("create_cond_branch",
           [](Builder &self, Value &condition, Block &yes, Block &no) {
             return Op{self.create<cf::CondBranchOp>(condition.value, yes.block, no.block)};
           })
      .def("create_for_op",
           [](Builder &self, Value &lb, Value &ub, Value &step, const std::vector<Value> &init) {
             return ForOp{{self.create<scf::ForOp>(lb.value, ub.value, step.value, unwrap(init))}};
           })
      .def("create_if_op",
           [](Builder &self, const std::vector<Type> &types, Value &condition, Flag withElse) {
             return IfOp{{self.create<scf::IfOp>(unwrap(types), condition.value, withElse)}};
           })
      .def("create_while_op",
           [](Builder &self, const std::vector<Type> &types, const std::vector<Value> &init) {
             return WhileOp{{self.create<scf::WhileOp>(unwrap(types), unwrap(init))}};
           })
      .def("create_yield_op",
           [](Builder &self, const std::vector<Value> &values) {
             return YieldOp{{self.create<scf::YieldOp>(unwrap(values))}};
           })
      .def("create_condition_op",
           [](Builder &self, Value &condition, const std::vector<Value> &args) {
             return ConditionOp{{self.create<scf::ConditionOp>(condition.value, unwrap(args))}};
           });
}

} // namespace

void bindBuilder(nb::module_ &, nb::class_<Builder> &cls) {
  bindLocations(cls);
  bindTypes(cls);
  bindAttributes(cls);
  bindConstants(cls);
  bindFunctions(cls);
  bindControlFlow(cls);
}

} // namespace piton::python
