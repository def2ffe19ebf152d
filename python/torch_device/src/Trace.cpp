// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the profiler knows of operators: torch's own callbacks around each dispatcher call, kept
// for the innermost operators on npu tensors that do work. Off it costs nothing; views and
// allocations are no work on the device and are left out.
#include "Common.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/record_function.h>
#include <torch/library.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

namespace piton::torch_device {
namespace {

/// One operator on the device. Times are nanoseconds since 1970, the clock of torch's profiler.
struct Span {
  std::string name, shapes, types;
  int64_t start = 0, end = 0;
  int device = -1;
};

struct Trace {
  std::mutex mutex;
  std::vector<Span> spans;
  at::CallbackHandle callback = 0;
  std::atomic<bool> shapes{false};
};

Trace &trace() {
  static auto &state = *new Trace;
  return state;
}

/// An operator that is running. Only the innermost one on npu tensors is a span.
struct Running final : at::ObserverContext {
  Span span;
  bool work = false;  ///< it does something on the device
  bool outer = false; ///< another operator on the device ran inside
  Running *parent = nullptr;
};

thread_local Running *innermost = nullptr;

int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

/// Index of the device that the arguments name or lie on, or -1.
int deviceOf(c10::ArrayRef<const c10::IValue> inputs) {
  int found = -1;
  auto look = [&](const at::Tensor &tensor) {
    if (tensor.defined() && tensor.device().type() == kNpu)
      found = tensor.device().index();
  };
  for (const c10::IValue &value : inputs) {
    if (value.isTensor())
      look(value.toTensor());
    else if (value.isTensorList())
      for (const at::Tensor &tensor : value.toTensorVector())
        look(tensor);
    else if (value.isDevice() && value.toDevice().type() == kNpu)
      found = resolved(value.toDevice()).index();
    if (found >= 0)
      return found;
  }
  return -1;
}

bool isWork(const at::RecordFunction &function) {
  auto name = function.operator_name();
  if (!name || name->name.rfind("aten::", 0) != 0)
    return false;
  if (name->name.rfind("aten::empty", 0) == 0 ||
      name->name == "aten::_has_compatible_shallow_copy_type")
    return false;
  auto op = c10::Dispatcher::singleton().findSchema(*name);
  if (!op)
    return true;
  for (const c10::Argument &result : op->schema().returns())
    if (result.alias_info() && !result.alias_info()->isWrite())
      return false;
  return true;
}

/// Shapes and types of the tensors among the arguments, those of one tensor between semicolons.
void describe(c10::ArrayRef<const c10::IValue> inputs, Span &out) {
  std::ostringstream shapes, types;
  const char *separator = "";
  for (const c10::IValue &value : inputs) {
    if (!value.isTensor() || !value.toTensor().defined())
      continue;
    const at::Tensor &tensor = value.toTensor();
    shapes << separator;
    for (int64_t i = 0; i < tensor.dim(); ++i)
      shapes << (i ? "," : "") << tensor.size(i);
    types << separator << c10::toString(tensor.scalar_type());
    separator = ";";
  }
  out.shapes = shapes.str();
  out.types = types.str();
}

std::unique_ptr<at::ObserverContext> enter(const at::RecordFunction &function) {
  auto out = std::make_unique<Running>();
  out->parent = innermost;
  innermost = out.get();
  // The arguments are there in this callback only.
  out->span.device = deviceOf(function.inputs());
  out->work = out->span.device >= 0 && isWork(function);
  if (out->work) {
    for (Running *at = out->parent; at && !at->outer; at = at->parent)
      at->outer = true;
    out->span.name = function.name();
    if (trace().shapes)
      describe(function.inputs(), out->span);
  }
  out->span.start = now();
  return out;
}

void leave(const at::RecordFunction &, at::ObserverContext *context) {
  auto *running = static_cast<Running *>(context);
  if (!running)
    return;
  running->span.end = now();
  innermost = running->parent;
  if (!running->work || running->outer)
    return;
  Trace &state = trace();
  std::lock_guard<std::mutex> guard(state.mutex);
  state.spans.push_back(std::move(running->span));
}

void start(bool shapes) {
  Trace &state = trace();
  std::lock_guard<std::mutex> guard(state.mutex);
  TORCH_CHECK(!state.callback, "a profile of npu operators is being recorded already");
  state.spans.clear();
  state.shapes = shapes;
  state.callback = at::addGlobalCallback(at::RecordFunctionCallback(&enter, &leave)
                                             .needsInputs(true)
                                             .scopes({at::RecordScope::FUNCTION}));
}

/// Ends the recording: one line an operator, fields separated by tabs: name, device, start,
/// end, shapes, types.
std::string stop() {
  Trace &state = trace();
  std::lock_guard<std::mutex> guard(state.mutex);
  if (state.callback)
    at::removeCallback(state.callback);
  state.callback = 0;
  std::ostringstream out;
  for (const Span &span : state.spans)
    out << span.name << '\t' << span.device << '\t' << span.start << '\t' << span.end << '\t'
        << span.shapes << '\t' << span.types << '\n';
  state.spans.clear();
  return out.str();
}

} // namespace

TORCH_LIBRARY_FRAGMENT(piton, library) {
  library.def("trace_start(bool shapes) -> ()", start);
  library.def("trace_stop() -> str", stop);
}

} // namespace piton::torch_device
