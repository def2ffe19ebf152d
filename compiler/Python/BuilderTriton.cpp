// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builder bindings, part 3: operations of the `tt` dialect. Result types that MLIR
// would infer are checked here first, because failing inference ends the process.
#include "compiler/Python/IR.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace mlir;
namespace tt = mlir::triton;

namespace piton::python {

namespace {

using OptionalValue = std::optional<Value>;

mlir::Value orNull(const OptionalValue &value) { return value ? value->value : mlir::Value(); }

template <typename EnumT> EnumT toEnum(nb::handle enumerator) {
  return static_cast<EnumT>(enumValue(enumerator));
}

template <typename EnumAttrT, typename EnumT>
EnumAttrT optionalEnum(Builder &self, nb::handle enumerator) {
  if (enumerator.is_none())
    return {};
  return EnumAttrT::get(self.ops.getContext(), toEnum<EnumT>(enumerator));
}

RankedTensorType tensorOf(const Value &value, const char *what) {
  if (auto type = dyn_cast<RankedTensorType>(value.value.getType()))
    return type;
  throw nb::type_error((std::string(what) + " must be a tensor").c_str());
}

void checkAxis(int64_t axis, int64_t limit, const char *what) {
  if (axis < 0 || axis >= limit)
    throw nb::value_error((std::string(what) + " axis " + std::to_string(axis) +
                           " is outside 0 .. " + std::to_string(limit - 1))
                              .c_str());
}

std::vector<int32_t> toI32(const std::vector<int64_t> &values) {
  return std::vector<int32_t>(values.begin(), values.end());
}

void bindElementwise(nb::class_<Builder> &cls) {
  auto axis = [](int64_t axis) {
    checkAxis(axis, 3, "program id");
    return static_cast<int>(axis);
  };
  cls.def("create_get_program_id",
          [axis](Builder &self, int64_t a) { return self.value<tt::GetProgramIdOp>(axis(a)); })
      .def("create_get_num_programs",
           [axis](Builder &self, int64_t a) { return self.value<tt::GetNumProgramsOp>(axis(a)); })
      .def("create_make_range",
           [](Builder &self, Type &type, int32_t start, int32_t end) {
             return self.value<tt::MakeRangeOp>(type.type, start, end);
           })
      .def("create_int_to_ptr",
           [](Builder &self, Value &x, Type &to) {
             return self.value<tt::IntToPtrOp>(to.type, x.value);
           })
      .def("create_ptr_to_int",
           [](Builder &self, Value &x, Type &to) {
             return self.value<tt::PtrToIntOp>(to.type, x.value);
           })
      .def("create_bitcast", [](Builder &self, Value &x,
                                Type &to) { return self.value<tt::BitcastOp>(to.type, x.value); })
      .def(
          "create_fp_to_fp",
          [](Builder &self, Value &x, Type &to, nb::object rounding) {
            return self.value<tt::FpToFpOp>(
                to.type, x.value,
                optionalEnum<tt::RoundingModeAttr, tt::RoundingMode>(self, rounding));
          },
          nb::arg(), nb::arg(), nb::arg().none())
      .def("create_clampf",
           [](Builder &self, Value &x, Value &low, Value &high, nb::object nan) {
             return self.value<tt::ClampFOp>(x.value.getType(), x.value, low.value, high.value,
                                             toEnum<tt::PropagateNan>(nan));
           })
      .def("create_precise_sqrt",
           [](Builder &self, Value &x) { return self.value<tt::PreciseSqrtOp>(x.value); })
      .def("create_precise_divf",
           [](Builder &self, Value &x, Value &y) {
             return self.value<tt::PreciseDivFOp>(x.value, y.value);
           })
      .def("create_umulhi", [](Builder &self, Value &x,
                               Value &y) { return self.value<tt::MulhiUIOp>(x.value, y.value); })
      .def("create_extern_elementwise",
           [](Builder &self, const std::string &lib, const std::string &path,
              const std::string &symbol, const std::vector<Value> &args, Type &type, Flag pure) {
             return self.value<tt::ExternElementwiseOp>(type.type, unwrap(args), lib, path, symbol,
                                                        pure);
           })
      .def("create_inline_asm",
           [](Builder &self, const std::string &text, const std::string &constraints,
              const std::vector<Value> &args, const std::vector<Type> &types, Flag pure, int pack) {
             return Op{self.create<tt::ElementwiseInlineAsmOp>(unwrap(types), text, constraints,
                                                               pure, pack, unwrap(args))};
           });
}

Value createLoad(Builder &self, mlir::Value ptr, mlir::Value mask, mlir::Value other,
                 llvm::ArrayRef<int32_t> boundaryCheck, tt::PaddingOptionAttr padding,
                 nb::handle cache, nb::handle evict, Flag isVolatile) {
  mlir::Type result = tt::getPointeeTypeOf(ptr.getType());
  if (!result)
    throw nb::type_error("a load needs a pointer, a tensor of pointers or a block pointer");
  return self.value<tt::LoadOp>(result, ptr, mask, other, boundaryCheck, padding,
                                toEnum<tt::CacheModifier>(cache), toEnum<tt::EvictionPolicy>(evict),
                                isVolatile);
}

void createStore(Builder &self, mlir::Value ptr, mlir::Value value, mlir::Value mask,
                 llvm::ArrayRef<int32_t> boundaryCheck, nb::handle cache, nb::handle evict) {
  self.create<tt::StoreOp>(ptr, value, mask, boundaryCheck, toEnum<tt::CacheModifier>(cache),
                           toEnum<tt::EvictionPolicy>(evict));
}

void bindMemory(nb::class_<Builder> &cls) {
  cls.def("create_addptr",
          [](Builder &self, Value &ptr, Value &offset) {
            return self.value<tt::AddPtrOp>(ptr.value.getType(), ptr.value, offset.value);
          })
      .def("create_load",
           [](Builder &self, Value &ptr, nb::object cache, nb::object evict, Flag isVolatile) {
             return createLoad(self, ptr.value, {}, {}, {}, {}, cache, evict, isVolatile);
           })
      .def(
          "create_masked_load",
          [](Builder &self, Value &ptr, Value &mask, OptionalValue other, nb::object cache,
             nb::object evict, Flag isVolatile) {
            return createLoad(self, ptr.value, mask.value, orNull(other), {}, {}, cache, evict,
                              isVolatile);
          },
          nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg(), nb::arg())
      .def(
          "create_tensor_pointer_load",
          [](Builder &self, Value &ptr, const std::vector<int64_t> &check, nb::object padding,
             nb::object cache, nb::object evict, Flag isVolatile) {
            return createLoad(self, ptr.value, {}, {}, toI32(check),
                              optionalEnum<tt::PaddingOptionAttr, tt::PaddingOption>(self, padding),
                              cache, evict, isVolatile);
          },
          nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg(), nb::arg())
      .def("create_store",
           [](Builder &self, Value &ptr, Value &value, nb::object cache, nb::object evict) {
             createStore(self, ptr.value, value.value, {}, {}, cache, evict);
           })
      .def("create_masked_store",
           [](Builder &self, Value &ptr, Value &value, Value &mask, nb::object cache,
              nb::object evict) {
             createStore(self, ptr.value, value.value, mask.value, {}, cache, evict);
           })
      .def("create_tensor_pointer_store",
           [](Builder &self, Value &ptr, Value &value, const std::vector<int64_t> &check,
              nb::object cache, nb::object evict) {
             createStore(self, ptr.value, value.value, {}, toI32(check), cache, evict);
           })
      .def("create_make_block_ptr",
           [](Builder &self, Value &base, const std::vector<Value> &shape,
              const std::vector<Value> &strides, const std::vector<Value> &offsets,
              const std::vector<int64_t> &blockShape, const std::vector<int64_t> &order) {
             auto pointer = cast<tt::PointerType>(base.value.getType());
             auto block = RankedTensorType::get(blockShape, pointer.getPointeeType());
             return self.value<tt::MakeTensorPtrOp>(
                 tt::PointerType::get(block, pointer.getAddressSpace()), base.value, unwrap(shape),
                 unwrap(strides), unwrap(offsets), toI32(order));
           })
      .def("create_advance",
           [](Builder &self, Value &ptr, const std::vector<Value> &offsets) {
             return self.value<tt::AdvanceOp>(ptr.value.getType(), ptr.value, unwrap(offsets));
           })
      .def("create_atomic_cas",
           [](Builder &self, Value &ptr, Value &cmp, Value &value, nb::object sem,
              nb::object scope) {
             return self.value<tt::AtomicCASOp>(value.value.getType(), ptr.value, cmp.value,
                                                value.value, toEnum<tt::MemSemantic>(sem),
                                                toEnum<tt::MemSyncScope>(scope));
           })
      .def(
          "create_atomic_rmw",
          [](Builder &self, nb::object kind, Value &ptr, Value &value, OptionalValue mask,
             nb::object sem, nb::object scope) {
            return self.value<tt::AtomicRMWOp>(
                value.value.getType(), toEnum<tt::RMWOp>(kind), ptr.value, value.value,
                orNull(mask), toEnum<tt::MemSemantic>(sem), toEnum<tt::MemSyncScope>(scope));
          },
          nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg());
}

void bindDescriptors(nb::class_<Builder> &cls) {
  cls.def("create_make_tensor_descriptor",
          [](Builder &self, Value &base, const std::vector<Value> &shape,
             const std::vector<Value> &strides, const std::vector<int64_t> &block, Flag isSigned,
             nb::object padding) {
            return self.value<tt::MakeTensorDescOp>(base.value, unwrap(shape), unwrap(strides),
                                                    toI32(block), isSigned,
                                                    toEnum<tt::PaddingOption>(padding));
          })
      .def("create_descriptor_load",
           [](Builder &self, Value &desc, const std::vector<Value> &indices, nb::object cache,
              nb::object evict) {
             auto type = cast<tt::TensorDescType>(desc.value.getType());
             return self.value<tt::DescriptorLoadOp>(
                 type.getSignlessBlockType(), desc.value, unwrap(indices),
                 toEnum<tt::CacheModifier>(cache), toEnum<tt::EvictionPolicy>(evict));
           })
      .def("create_descriptor_store",
           [](Builder &self, Value &desc, Value &value, const std::vector<Value> &indices) {
             self.create<tt::DescriptorStoreOp>(desc.value, value.value, unwrap(indices));
           })
      .def("create_descriptor_reduce",
           [](Builder &self, nb::object kind, Value &desc, Value &value,
              const std::vector<Value> &indices) {
             self.create<tt::DescriptorReduceOp>(toEnum<tt::DescriptorReduceKind>(kind), desc.value,
                                                 value.value, unwrap(indices));
           })
      .def("create_descriptor_gather",
           [](Builder &self, Value &desc, Value &rows, Value &column, Type &type) {
             return self.value<tt::DescriptorGatherOp>(type.type, desc.value, rows.value,
                                                       column.value);
           })
      .def("create_descriptor_scatter", [](Builder &self, Value &desc, Value &value, Value &rows,
                                           Value &column) {
        self.create<tt::DescriptorScatterOp>(desc.value, rows.value, column.value, value.value);
      });
}

Value createTrans(Builder &self, Value &x, const std::vector<int64_t> &order) {
  RankedTensorType type = tensorOf(x, "the operand of trans");
  std::vector<bool> seen(type.getRank(), false);
  bool valid = static_cast<int64_t>(order.size()) == type.getRank();
  for (int64_t dim : order) {
    valid = valid && dim >= 0 && dim < type.getRank() && !seen[dim];
    if (valid)
      seen[dim] = true;
  }
  if (!valid)
    throw nb::value_error("order must be a permutation of the tensor's dimensions");
  return self.value<tt::TransOp>(x.value, toI32(order));
}

void bindShapes(nb::class_<Builder> &cls) {
  cls.def("create_splat",
          [](Builder &self, Type &type,
             Value &x) { // Folded here: the tracer splats constants all the time, and stock prints
                         // them folded.
            return Value{self.ops.createOrFold<tt::SplatOp>(self.getLoc(), type.type, x.value)};
          })
      .def("create_unsplat",
           [](Builder &self, Value &x) {
             if (tensorOf(x, "the operand of unsplat").getNumElements() != 1)
               throw nb::value_error("unsplat needs a tensor of one element");
             return self.value<tt::UnsplatOp>(x.value);
           })
      .def("create_expand_dims",
           [](Builder &self, Value &x, int64_t axis) {
             checkAxis(axis, tensorOf(x, "the operand of expand_dims").getRank() + 1,
                       "expand_dims");
             return self.value<tt::ExpandDimsOp>(x.value, static_cast<int>(axis));
           })
      .def("create_broadcast",
           [](Builder &self, Value &x, const std::vector<int64_t> &shape) {
             auto type = tensorOf(x, "the operand of broadcast");
             return self.value<tt::BroadcastOp>(type.clone(shape), x.value);
           })
      .def("create_reshape",
           [](Builder &self, Value &x, const std::vector<int64_t> &shape, Flag allowReorder) {
             tensorOf(x, "the operand of reshape");
             return self.value<tt::ReshapeOp>(shape, x.value, allowReorder);
           })
      .def("create_trans", createTrans)
      .def("create_cat",
           [](Builder &self, Value &x, Value &y) {
             auto type = tensorOf(x, "the operand of cat");
             llvm::SmallVector<int64_t> shape(type.getShape());
             if (shape.empty())
               throw nb::value_error("cat needs tensors of rank 1 or more");
             shape[0] *= 2;
             return self.value<tt::CatOp>(type.clone(shape), x.value, y.value);
           })
      .def("create_join",
           [](Builder &self, Value &x, Value &y) {
             tensorOf(x, "the operand of join");
             return self.value<tt::JoinOp>(x.value, y.value);
           })
      .def("create_split",
           [](Builder &self, Value &x) {
             auto type = tensorOf(x, "the operand of split");
             if (type.getRank() == 0 || type.getShape().back() != 2)
               throw nb::value_error("split needs a last dimension of 2");
             auto op = self.create<tt::SplitOp>(x.value);
             return std::vector<Value>{Value{op.getOutLHS()}, Value{op.getOutRHS()}};
           })
      .def("create_gather",
           [](Builder &self, Value &src, Value &indices, int64_t axis) {
             checkAxis(axis, tensorOf(src, "the source of gather").getRank(), "gather");
             auto type = tensorOf(indices, "the indices of gather");
             auto result = type.clone(getElementTypeOrSelf(src.value.getType()));
             return self.value<tt::GatherOp>(result, src.value, indices.value,
                                             static_cast<uint32_t>(axis), false);
           })
      .def(
          "create_histogram",
          [](Builder &self, Value &src, int64_t bins, OptionalValue mask) {
            auto type = RankedTensorType::get({bins}, self.ops.getI32Type());
            return self.value<tt::HistogramOp>(type, src.value, orNull(mask));
          },
          nb::arg(), nb::arg(), nb::arg().none());
}

void bindDots(nb::class_<Builder> &cls) {
  cls.def("create_dot",
          [](Builder &self, Value &a, Value &b, Value &c, nb::object precision,
             int64_t maxNumImpreciseAcc) {
            return self.value<tt::DotOp>(c.value.getType(), a.value, b.value, c.value,
                                         toEnum<tt::InputPrecision>(precision),
                                         static_cast<uint32_t>(maxNumImpreciseAcc));
          })
      .def(
          "create_dot_scaled",
          [](Builder &self, Value &lhs, OptionalValue lhsScale, nb::object lhsFormat, Value &rhs,
             OptionalValue rhsScale, nb::object rhsFormat, Flag fastMath, Flag lhsKPack,
             Flag rhsKPack, Value &acc) {
            return self.value<tt::DotScaledOp>(
                acc.value.getType(), lhs.value, rhs.value, acc.value, orNull(lhsScale),
                orNull(rhsScale), toEnum<tt::ScaleDotElemType>(lhsFormat),
                toEnum<tt::ScaleDotElemType>(rhsFormat), fastMath, lhsKPack, rhsKPack);
          },
          nb::arg(), nb::arg().none(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg(),
          nb::arg(), nb::arg(), nb::arg());
}

std::vector<mlir::Value> sameShapeSources(const std::vector<Value> &sources, int64_t axis,
                                          const char *what) {
  if (sources.empty())
    throw nb::value_error((std::string(what) + " needs at least one tensor").c_str());
  auto first = tensorOf(sources.front(), what);
  checkAxis(axis, first.getRank(), what);
  for (const Value &source : sources)
    if (tensorOf(source, what).getShape() != first.getShape())
      throw nb::value_error((std::string(what) + " needs tensors of one shape").c_str());
  return unwrap(sources);
}

void bindRegions(nb::class_<Builder> &cls) {
  cls.def("create_reduce",
          [](Builder &self, const std::vector<Value> &sources, int64_t axis) {
            return Op{self.create<tt::ReduceOp>(sameShapeSources(sources, axis, "reduce"),
                                                static_cast<int>(axis))};
          })
      .def("create_reduce_ret",
           [](Builder &self, nb::args args) {
             return Op{self.create<tt::ReduceReturnOp>(unwrap(nb::cast<std::vector<Value>>(args)))};
           })
      .def("create_scan",
           [](Builder &self, const std::vector<Value> &sources, int64_t axis, Flag reverse) {
             return Op{self.create<tt::ScanOp>(sameShapeSources(sources, axis, "scan"),
                                               static_cast<int>(axis), reverse)};
           })
      .def("create_scan_ret",
           [](Builder &self, nb::args args) {
             return Op{self.create<tt::ScanReturnOp>(unwrap(nb::cast<std::vector<Value>>(args)))};
           })
      .def("create_map_elementwise",
           [](Builder &self, const std::vector<Value> &sources, const std::vector<Type> &types,
              int64_t pack) {
             return Op{self.create<tt::MapElementwiseOp>(unwrap(types), unwrap(sources),
                                                         static_cast<uint32_t>(pack))};
           })
      .def("create_map_elementwise_ret", [](Builder &self, const std::vector<Value> &values) {
        return Op{self.create<tt::MapElementwiseReturnOp>(unwrap(values))};
      });
}

void bindDebug(nb::class_<Builder> &cls) {
  cls.def("create_print",
          [](Builder &self, const std::string &prefix, Flag hex, const std::vector<Value> &args,
             const std::vector<int64_t> &isSigned) {
            self.create<tt::PrintOp>(self.ops.getStringAttr(prefix),
                                     self.ops.getBoolAttr(hex.value), unwrap(args),
                                     self.ops.getDenseI32ArrayAttr(toI32(isSigned)));
          })
      .def("create_assert", [](Builder &self, Value &condition, const std::string &message) {
        self.create<tt::AssertOp>(condition.value, self.ops.getStringAttr(message));
      });
}

} // namespace

void bindBuilderTriton(nb::class_<Builder> &cls) {
  bindElementwise(cls);
  bindMemory(cls);
  bindDescriptors(cls);
  bindShapes(cls);
  bindDots(cls);
  bindRegions(cls);
  bindDebug(cls);
}

} // namespace piton::python
