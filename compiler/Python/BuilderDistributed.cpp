// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builder bindings, part 4: operations of the `distributed` dialect, and the submodule
// `_piton.distributed`, which exists only where the compiler has that part. Each method has two
// names, create_distributed_<op> and create_<op>: public code uses both.
#include "compiler/Python/IR.h"

#include "compiler/Conversion/DistributedPasses.h"
#include "compiler/Dialect/Distributed/Distributed.h"

#include "mlir/Pass/PassManager.h"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace mlir;
namespace dist = mlir::triton::distributed;

namespace piton::python {

namespace {

template <typename Fn> void define(nb::class_<Builder> &cls, const std::string &op, Fn fn) {
  cls.def(("create_distributed_" + op).c_str(), fn);
  cls.def(("create_" + op).c_str(), fn);
}

template <typename EnumT> EnumT toEnum(nb::handle enumerator) {
  return static_cast<EnumT>(enumValue(enumerator));
}

/// Inferring a result type must not fail: that ends the process.
void checkPointer(mlir::Value value, const char *what) {
  if (!isa<triton::PointerType>(value.getType()))
    throw nb::type_error((std::string(what) + " must be a scalar pointer").c_str());
}

void bindOps(nb::class_<Builder> &cls) {
  define(cls, "wait",
         [](Builder &self, Value &pointer, Value &count, Value &value, nb::handle scope,
            nb::handle semantic, Type &token) {
           return self.value<dist::WaitOp>(token.type, pointer.value, count.value, value.value,
                                           toEnum<triton::MemSyncScope>(scope),
                                           toEnum<triton::MemSemantic>(semantic));
         });
  define(cls, "consume_token", [](Builder &self, Value &value, Value &token) {
    return self.value<dist::ConsumeTokenOp>(value.value.getType(), value.value, token.value);
  });
  define(cls, "get_rank", [](Builder &self, Value &axis) {
    return self.value<dist::GetRankOp>(self.ops.getI32Type(), axis.value);
  });
  define(cls, "get_num_ranks", [](Builder &self, Value &axis) {
    return self.value<dist::GetNumRanksOp>(self.ops.getI32Type(), axis.value);
  });
  define(cls, "symm_at", [](Builder &self, Value &pointer, Value &rank) {
    checkPointer(pointer.value, "the symmetric address");
    return self.value<dist::SymmAtOp>(pointer.value.getType(), pointer.value, rank.value);
  });
  define(cls, "notify",
         [](Builder &self, Value &pointer, Value &signal, Value &rank, nb::handle op,
            nb::handle scope) {
           checkPointer(pointer.value, "the signal address");
           self.create<dist::NotifyOp>(pointer.value, signal.value, rank.value,
                                       toEnum<dist::SignalOp>(op), toEnum<dist::CommScope>(scope));
         });
  define(cls, "extern_call",
         [](Builder &self, const std::string &library, const std::string &path,
            const std::string &symbol, const std::vector<Value> &arguments,
            const std::vector<Type> &types, Flag pure) {
           auto call = self.create<dist::ExternCallOp>(TypeRange(unwrap(types)),
                                                       ValueRange(unwrap(arguments)), library, path,
                                                       symbol, pure);
           std::vector<Value> results;
           for (mlir::Value result : call->getResults())
             results.push_back(Value{result});
           return results;
         });
}

/// Passes to run on a module, in the order in which they were added.
struct Passes {
  explicit Passes(const Module &module) : owner(module.owner), manager(&owner->mlir) {}
  std::shared_ptr<Context> owner;
  PassManager manager;

  void run(Module &module) {
    std::string report;
    bool ok;
    {
      Diagnostics diagnostics(&owner->mlir);
      ok = succeeded(manager.run(module.get()));
      report = diagnostics.text();
    }
    if (!ok)
      raiseCompilationError("ttadapter", report);
  }
};

/// The passes by the names of the public compilers, which have them in a module of their own.
void bindPasses(nb::module_ &distributed) {
  nb::module_ passes = distributed.def_submodule("ascend_passes", "Passes for Ascend");
  nb::module_ nested = passes.def_submodule("ttgpuir", "The same passes");
  for (nb::module_ *module : {&passes, &nested})
    module->def("add_convert_triton_distributed_to_hivm", [](Passes &passes) {
      passes.manager.addPass(createConvertTritonDistributedToHIVMPass());
    });
}

} // namespace

void bindDistributed(nb::module_ &m, nb::class_<Builder> &cls) {
  bindOps(cls);
  nb::module_ distributed = m.def_submodule("distributed", "Kernels on several PEs");
  nb::class_<Passes>(distributed, "pass_manager")
      .def(nb::init<const Module &>())
      .def("run", &Passes::run);
  bindPasses(distributed);
  nb::module_ ir = distributed.def_submodule("ir", "The distributed dialect");
  nb::enum_<dist::SignalOp>(ir, "SIGNAL_OP", nb::is_arithmetic())
      .value("SET", dist::SignalOp::SET)
      .value("ADD", dist::SignalOp::ADD);
  nb::enum_<dist::CommScope>(ir, "COMM_SCOPE", nb::is_arithmetic())
      .value("GPU", dist::CommScope::GPU)
      .value("INTRA_NODE", dist::CommScope::INTRA_NODE)
      .value("INTER_NODE", dist::CommScope::INTER_NODE);
  ir.attr("DistributedOpBuilder") = cls;
  ir.def("load_dialects", [](Context &context) {
    context.loadDialects();
    context.mlir.loadDialect<dist::DistributedDialect>();
  });
}

} // namespace piton::python
