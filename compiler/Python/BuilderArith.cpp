// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builder bindings, part 2: scalar and elementwise arithmetic of the upstream dialects.
#include "compiler/Python/IR.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace nb = nanobind;
using namespace mlir;

namespace piton::python {

namespace {

template <typename OpTy> void unary(nb::class_<Builder> &cls, const char *name) {
  cls.def(name, [](Builder &self, Value &x) { return self.value<OpTy>(x.value); });
}

template <typename OpTy> void binary(nb::class_<Builder> &cls, const char *name) {
  cls.def(name, [](Builder &self, Value &x, Value &y) {
    if (x.value.getType() != y.value.getType())
      throw nb::type_error("the operands have different types");
    return self.value<OpTy>(x.value, y.value);
  });
}

template <typename OpTy> void cast(nb::class_<Builder> &cls, const char *name) {
  cls.def(name,
          [](Builder &self, Value &x, Type &to) { return self.value<OpTy>(to.type, x.value); });
}

void compareInt(nb::class_<Builder> &cls, const char *name, arith::CmpIPredicate predicate) {
  cls.def(name, [predicate](Builder &self, Value &x, Value &y) {
    if (x.value.getType() != y.value.getType())
      throw nb::type_error("the operands have different types");
    return self.value<arith::CmpIOp>(predicate, x.value, y.value);
  });
}

void compareFloat(nb::class_<Builder> &cls, const char *name, arith::CmpFPredicate predicate) {
  cls.def(name, [predicate](Builder &self, Value &x, Value &y) {
    if (x.value.getType() != y.value.getType())
      throw nb::type_error("the operands have different types");
    return self.value<arith::CmpFOp>(predicate, x.value, y.value);
  });
}

Value intCast(Builder &self, Value &x, Type &to, Flag isSigned) {
  unsigned from = getElementTypeOrSelf(x.value.getType()).getIntOrFloatBitWidth();
  unsigned width = getElementTypeOrSelf(to.type).getIntOrFloatBitWidth();
  if (from > width)
    return self.value<arith::TruncIOp>(to.type, x.value);
  // Equal widths: a no-op that keeps the value distinct, folded by canonicalize.
  if (from == width)
    return self.value<arith::BitcastOp>(to.type, x.value);
  if (isSigned)
    return self.value<arith::ExtSIOp>(to.type, x.value);
  return self.value<arith::ExtUIOp>(to.type, x.value);
}

} // namespace

void bindBuilderArith(nb::class_<Builder> &cls) {
  binary<arith::AddIOp>(cls, "create_add");
  binary<arith::SubIOp>(cls, "create_sub");
  binary<arith::MulIOp>(cls, "create_mul");
  binary<arith::DivSIOp>(cls, "create_sdiv");
  binary<arith::DivUIOp>(cls, "create_udiv");
  binary<arith::RemSIOp>(cls, "create_srem");
  binary<arith::RemUIOp>(cls, "create_urem");
  binary<arith::ShLIOp>(cls, "create_shl");
  binary<arith::ShRUIOp>(cls, "create_lshr");
  binary<arith::ShRSIOp>(cls, "create_ashr");
  binary<arith::AndIOp>(cls, "create_and");
  binary<arith::OrIOp>(cls, "create_or");
  binary<arith::XOrIOp>(cls, "create_xor");
  binary<arith::MinSIOp>(cls, "create_minsi");
  binary<arith::MinUIOp>(cls, "create_minui");
  binary<arith::MaxSIOp>(cls, "create_maxsi");
  binary<arith::MaxUIOp>(cls, "create_maxui");
  binary<arith::AddFOp>(cls, "create_fadd");
  binary<arith::SubFOp>(cls, "create_fsub");
  binary<arith::MulFOp>(cls, "create_fmul");
  binary<arith::DivFOp>(cls, "create_fdiv");
  binary<arith::RemFOp>(cls, "create_frem");
  binary<arith::MinimumFOp>(cls, "create_minimumf");
  binary<arith::MaximumFOp>(cls, "create_maximumf");
  binary<arith::MinNumFOp>(cls, "create_minnumf");
  binary<arith::MaxNumFOp>(cls, "create_maxnumf");

  compareInt(cls, "create_icmpEQ", arith::CmpIPredicate::eq);
  compareInt(cls, "create_icmpNE", arith::CmpIPredicate::ne);
  compareInt(cls, "create_icmpSLT", arith::CmpIPredicate::slt);
  compareInt(cls, "create_icmpSLE", arith::CmpIPredicate::sle);
  compareInt(cls, "create_icmpSGT", arith::CmpIPredicate::sgt);
  compareInt(cls, "create_icmpSGE", arith::CmpIPredicate::sge);
  compareInt(cls, "create_icmpULT", arith::CmpIPredicate::ult);
  compareInt(cls, "create_icmpULE", arith::CmpIPredicate::ule);
  compareInt(cls, "create_icmpUGT", arith::CmpIPredicate::ugt);
  compareInt(cls, "create_icmpUGE", arith::CmpIPredicate::uge);
  compareFloat(cls, "create_fcmpOEQ", arith::CmpFPredicate::OEQ);
  compareFloat(cls, "create_fcmpONE", arith::CmpFPredicate::ONE);
  compareFloat(cls, "create_fcmpOLT", arith::CmpFPredicate::OLT);
  compareFloat(cls, "create_fcmpOLE", arith::CmpFPredicate::OLE);
  compareFloat(cls, "create_fcmpOGT", arith::CmpFPredicate::OGT);
  compareFloat(cls, "create_fcmpOGE", arith::CmpFPredicate::OGE);
  compareFloat(cls, "create_fcmpUEQ", arith::CmpFPredicate::UEQ);
  compareFloat(cls, "create_fcmpUNE", arith::CmpFPredicate::UNE);
  compareFloat(cls, "create_fcmpULT", arith::CmpFPredicate::ULT);
  compareFloat(cls, "create_fcmpULE", arith::CmpFPredicate::ULE);
  compareFloat(cls, "create_fcmpUGT", arith::CmpFPredicate::UGT);
  compareFloat(cls, "create_fcmpUGE", arith::CmpFPredicate::UGE);

  cast<arith::ExtFOp>(cls, "create_fp_ext");
  cast<arith::TruncFOp>(cls, "create_fp_trunc");
  cast<arith::FPToSIOp>(cls, "create_fp_to_si");
  cast<arith::FPToUIOp>(cls, "create_fp_to_ui");
  cast<arith::SIToFPOp>(cls, "create_si_to_fp");
  cast<arith::UIToFPOp>(cls, "create_ui_to_fp");
  cls.def("create_int_cast", intCast);

  unary<math::ExpOp>(cls, "create_exp");
  unary<math::Exp2Op>(cls, "create_exp2");
  unary<math::LogOp>(cls, "create_log");
  unary<math::Log2Op>(cls, "create_log2");
  unary<math::SinOp>(cls, "create_sin");
  unary<math::CosOp>(cls, "create_cos");
  unary<math::SqrtOp>(cls, "create_sqrt");
  unary<math::RsqrtOp>(cls, "create_rsqrt");
  unary<math::ErfOp>(cls, "create_erf");
  unary<math::FloorOp>(cls, "create_floor");
  unary<math::CeilOp>(cls, "create_ceil");
  unary<math::AbsFOp>(cls, "create_fabs");
  unary<math::AbsIOp>(cls, "create_iabs");
  cls.def("create_fma", [](Builder &self, Value &x, Value &y,
                           Value &z) { return self.value<math::FmaOp>(x.value, y.value, z.value); })
      .def("create_select",
           [](Builder &self, Value &condition, Value &yes, Value &no) {
             return self.value<arith::SelectOp>(condition.value, yes.value, no.value);
           })
      .def("create_poison",
           [](Builder &self, Type &type) { return self.value<ub::PoisonOp>(type.type); })
      .def("create_assume",
           [](Builder &self, Value &condition) { self.create<LLVM::AssumeOp>(condition.value); })
      .def("create_barrier", [](Builder &self) { self.create<gpu::BarrierOp>(); });
}

} // namespace piton::python
