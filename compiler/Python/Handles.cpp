// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the bindings share: contexts and their owners, printing, diagnostics with
// the user's line, conversion of enumerators and handle lists.
#include "compiler/Python/IR.h"

#include "compiler/Config.h"
#if PITON_DISTRIBUTED
#include "compiler/Dialect/Distributed/Distributed.h"
#endif

#include "compiler/RegisterDialects.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/DialectRegistry.h"
#include "llvm/ADT/DenseMap.h"

#include <cstdlib>
#include <mutex>

namespace nb = nanobind;
using namespace mlir;

namespace piton::python {

namespace {
/// Every dialect, registered once a process: building the registry costs more than
/// tracing a small kernel.
const DialectRegistry &sharedRegistry() {
  static const DialectRegistry registry = [] {
    DialectRegistry r;
    registerAllDialects(r);
    return r;
  }();
  return registry;
}

struct ContextTable {
  std::mutex mutex;
  llvm::DenseMap<MLIRContext *, Context *> owners;
};
ContextTable &contextTable() {
  static ContextTable *table = new ContextTable;
  return *table;
}
} // namespace

// One thread a context: kernels are small, and compilations run in parallel with each
// other, not inside.
Context::Context() : mlir(sharedRegistry(), MLIRContext::Threading::DISABLED) {
  mlir.printOpOnDiagnostic(false);
  ContextTable &table = contextTable();
  std::lock_guard lock(table.mutex);
  table.owners[&mlir] = this;
}

Context::~Context() {
  ContextTable &table = contextTable();
  std::lock_guard lock(table.mutex);
  table.owners.erase(&mlir);
}

void Context::loadDialects() {
  mlir.loadDialect<triton::TritonDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect,
                   cf::ControlFlowDialect, ub::UBDialect, gpu::GPUDialect, LLVM::LLVMDialect>();
#if PITON_DISTRIBUTED
  mlir.loadDialect<triton::distributed::DistributedDialect>();
#endif
}

std::shared_ptr<Context> Context::find(MLIRContext *context) {
  ContextTable &table = contextTable();
  std::lock_guard lock(table.mutex);
  auto it = table.owners.find(context);
  return it == table.owners.end() ? nullptr : it->second->weak_from_this().lock();
}

Builder::Builder(std::shared_ptr<Context> owner)
    : ops(&owner->mlir), owner(owner), loc(UnknownLoc::get(&owner->mlir)),
      lineInfo(!environmentFlag("TRITON_DISABLE_LINE_INFO")) {}

void Builder::setLoc(mlir::Location newLoc) {
  if (lineInfo)
    loc = newLoc;
}

static mlir::Location locationOf(mlir::Block *block, MLIRContext *context) {
  if (Operation *parent = block->getParentOp())
    return parent->getLoc();
  return UnknownLoc::get(context);
}

void Builder::setToStart(mlir::Block *block) {
  setLoc(block->empty() ? locationOf(block, ops.getContext()) : block->front().getLoc());
  ops.setInsertionPointToStart(block);
}

void Builder::setToEnd(mlir::Block *block) {
  setLoc(block->empty() ? locationOf(block, ops.getContext()) : block->back().getLoc());
  ops.setInsertionPointToEnd(block);
}

void Builder::setAfter(Operation *op) {
  setLoc(op->getLoc());
  ops.setInsertionPointAfter(op);
}

void Builder::restore(const OpBuilder::InsertPoint &point) {
  if (point.isSet()) {
    bool atEnd = point.getPoint() == point.getBlock()->end();
    setLoc(atEnd ? locationOf(point.getBlock(), ops.getContext()) : point.getPoint()->getLoc());
  }
  ops.restoreInsertionPoint(point);
}

bool environmentFlag(const char *name) {
  const char *value = std::getenv(name);
  if (!value)
    return false;
  std::string text = llvm::StringRef(value).lower();
  return text == "1" || text == "true" || text == "on" || text == "yes" || text == "y";
}

std::string printOp(Operation *op, bool debugInfo) {
  std::string text;
  llvm::raw_string_ostream os(text);
  OpPrintingFlags flags;
  if (debugInfo)
    flags.enableDebugInfo().printNameLocAsPrefix(true);
  op->print(os, flags);
  return text;
}

int64_t enumValue(nb::handle enumerator) {
  return nb::cast<int64_t>(nb::int_(nb::borrow(enumerator)));
}

static void appendLocation(mlir::Location loc, std::string &out) {
  if (auto file = dyn_cast<FileLineColLoc>(loc)) {
    if (!out.empty())
      return;
    out = (file.getFilename().getValue() + ":" + llvm::Twine(file.getLine()) + ":" +
           llvm::Twine(file.getColumn()))
              .str();
  } else if (auto name = dyn_cast<NameLoc>(loc)) {
    appendLocation(name.getChildLoc(), out);
  } else if (auto call = dyn_cast<CallSiteLoc>(loc)) {
    appendLocation(call.getCallee(), out);
    appendLocation(call.getCaller(), out);
  } else if (auto fused = dyn_cast<FusedLoc>(loc)) {
    for (mlir::Location part : fused.getLocations())
      appendLocation(part, out);
  }
}

std::string describeLocation(mlir::Location loc) {
  std::string out;
  appendLocation(loc, out);
  return out;
}

/// The calls that led to an inlined operation, outermost last.
static void appendCallers(mlir::Location loc, std::string &out) {
  if (auto name = dyn_cast<NameLoc>(loc))
    return appendCallers(name.getChildLoc(), out);
  auto call = dyn_cast<CallSiteLoc>(loc);
  if (!call)
    return;
  std::string where = describeLocation(call.getCaller());
  if (!where.empty())
    out += "\n" + where + ": note: called from here";
  appendCallers(call.getCaller(), out);
}

static std::string formatDiagnostic(Diagnostic &diag) {
  static const char *const names[] = {"note", "warning", "error", "remark"};
  std::string where = describeLocation(diag.getLocation());
  std::string out = where.empty() ? "" : where + ": ";
  out += names[static_cast<unsigned>(diag.getSeverity())];
  out += ": " + diag.str();
  appendCallers(diag.getLocation(), out);
  for (Diagnostic &note : diag.getNotes())
    out += "\n" + formatDiagnostic(note);
  return out;
}

Diagnostics::Diagnostics(MLIRContext *context)
    : handler(context, [this](Diagnostic &diag) {
        if (diag.getSeverity() == DiagnosticSeverity::Remark)
          return failure();
        if (!collected.empty())
          collected += "\n";
        collected += formatDiagnostic(diag);
        return success();
      }) {}

void raiseCompilationError(const std::string &stage, const std::string &text) {
  nb::object cls = nb::module_::import_("piton.errors").attr("MLIRCompilationError");
  PyErr_SetObject(cls.ptr(), cls(stage, text).ptr());
  throw nb::python_error();
}

std::vector<mlir::Value> unwrap(const std::vector<Value> &values) {
  std::vector<mlir::Value> out;
  out.reserve(values.size());
  for (const Value &v : values)
    out.push_back(v.value);
  return out;
}

std::vector<mlir::Type> unwrap(const std::vector<Type> &types) {
  std::vector<mlir::Type> out;
  out.reserve(types.size());
  for (const Type &t : types)
    out.push_back(t.type);
  return out;
}

} // namespace piton::python
