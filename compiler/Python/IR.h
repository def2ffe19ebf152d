// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C++ side of the Python module `_piton`: thin handles over MLIR objects and the
// IR builder that the Triton front end drives. Names and signatures that Python sees
// are those of the stock `triton._C.libtriton.ir` module, because the front end is
// the stock one.
#ifndef PITON_COMPILER_PYTHON_IR_H
#define PITON_COMPILER_PYTHON_IR_H

#include "compiler/Dialect/Triton/Triton.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <nanobind/nanobind.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace piton::python {

/// One MLIR context with everything whose lifetime is bound to it. Modules are owned
/// here and die before the context; Python objects that need it share it.
struct Context : std::enable_shared_from_this<Context> {
  Context();
  ~Context();
  Context(const Context &) = delete;

  mlir::MLIRContext mlir;
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> modules;

  /// Loads the dialects that traced or parsed Triton IR may hold.
  void loadDialects();
  /// The Python-side owner of an MLIR context, null when it is not one of ours.
  static std::shared_ptr<Context> find(mlir::MLIRContext *context);
};

/// An operation; subclasses only select the Python methods.
struct Op {
  mlir::Operation *op = nullptr;
};
struct ForOp : Op {};
struct IfOp : Op {};
struct WhileOp : Op {};
struct YieldOp : Op {};
struct ConditionOp : Op {};
struct Function : Op {
  mlir::triton::FuncOp get() const { return llvm::cast<mlir::triton::FuncOp>(op); }
};
struct Module : Op {
  std::shared_ptr<Context> owner;
  mlir::ModuleOp get() const { return llvm::cast<mlir::ModuleOp>(op); }
};

struct Value {
  mlir::Value value;
};
struct BlockArgument : Value {};
struct OpResult : Value {};
struct Type {
  mlir::Type type;
};
struct Attr {
  mlir::Attribute attr;
};
struct Location {
  mlir::Location loc;
};
struct Block {
  mlir::Block *block;
};
struct Region {
  mlir::Region *region;
};
struct InsertPoint {
  mlir::OpBuilder::InsertPoint point;
};

/// A bool argument. The front end passes None, ints and constexpr objects where it
/// means a truth value, so anything that Python can test is taken.
struct Flag {
  bool value = false;
  operator bool() const { return value; }
};

/// The builder: an insertion point and the location that new operations get.
class Builder {
public:
  explicit Builder(std::shared_ptr<Context> owner);

  mlir::OpBuilder ops;
  std::shared_ptr<Context> owner;

  void setLoc(mlir::Location newLoc);
  mlir::Location getLoc() const { return loc; }
  void setToStart(mlir::Block *block);
  void setToEnd(mlir::Block *block);
  void setAfter(mlir::Operation *op);
  void restore(const mlir::OpBuilder::InsertPoint &point);

  template <typename OpTy, typename... Args> OpTy create(Args &&...args) {
    return OpTy::create(ops, loc, std::forward<Args>(args)...);
  }
  template <typename OpTy, typename... Args> Value value(Args &&...args) {
    return Value{create<OpTy>(std::forward<Args>(args)...)->getResult(0)};
  }

private:
  mlir::Location loc;
  bool lineInfo;
};

/// Text of an operation as the stock module prints it: with locations and names
/// derived from them, or without both.
std::string printOp(mlir::Operation *op, bool debugInfo);

/// A boolean environment variable: 1, true, on, yes, y in any case.
bool environmentFlag(const char *name);

/// The integer behind an enumerator: ours, the stock wheel's or a plain int. The
/// stock `semantic` module passes its own enumerators to whichever builder is active.
int64_t enumValue(nanobind::handle enumerator);

/// Collects what MLIR reports on a context while it lives, as `file:line: error: text`.
class Diagnostics {
public:
  explicit Diagnostics(mlir::MLIRContext *context);
  std::string text() const { return collected; }
  bool empty() const { return collected.empty(); }

private:
  std::string collected;
  mlir::ScopedDiagnosticHandler handler;
};

/// `file:line:column` of the user's code behind a location, innermost first, or empty.
std::string describeLocation(mlir::Location loc);

/// Raises piton's MLIRCompilationError(stage, text).
[[noreturn]] void raiseCompilationError(const std::string &stage, const std::string &text);

std::vector<mlir::Value> unwrap(const std::vector<Value> &values);
std::vector<mlir::Type> unwrap(const std::vector<Type> &types);

void bindIR(nanobind::module_ &m);
void bindBuilder(nanobind::module_ &m, nanobind::class_<Builder> &cls);
void bindBuilderArith(nanobind::class_<Builder> &cls);
void bindBuilderTriton(nanobind::class_<Builder> &cls);
void bindBuilderAscend(nanobind::class_<Builder> &cls);
/// Only where the compiler was built with the distributed part.
void bindDistributed(nanobind::module_ &m, nanobind::class_<Builder> &cls);
void bindCompile(nanobind::module_ &m);
void bindBisheng(nanobind::module_ &m);

} // namespace piton::python

namespace nanobind::detail {
template <> struct type_caster<piton::python::Flag> {
  NB_TYPE_CASTER(piton::python::Flag, const_name("bool"))
  bool from_python(handle source, uint8_t, cleanup_list *) noexcept {
    int truth = PyObject_IsTrue(source.ptr());
    if (truth < 0)
      PyErr_Clear();
    value.value = truth == 1;
    return truth >= 0;
  }
};
} // namespace nanobind::detail

#endif // PITON_COMPILER_PYTHON_IR_H
