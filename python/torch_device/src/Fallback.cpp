// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The boxed fallback. It is registered for the whole device and, one by one, for every operator
// that has a CPU kernel: structured operators would otherwise take a detour through meta functions
// and out= variants that costs more than the operator.

#include "Fallback.h"

#include "Alias.h"
#include "Generator.h"

#include <ATen/Parallel.h>
#include <torch/library.h>

#include <pthread.h>
#include <string_view>
#include <unordered_set>

namespace piton::torch_device {
namespace {

using torch::jit::Stack;

/// Operators that take CPU tensors beside npu tensors, as on hardware.
bool takesHostTensors(const c10::OperatorName &name) {
  static const auto &names = *new std::unordered_set<std::string>{
      "aten::copy_",       "aten::_copy_from",           "aten::index",
      "aten::index_put_",  "aten::_index_put_impl_",     "aten::_unsafe_index",
      "aten::_pin_memory", "aten::_pack_padded_sequence"};
  return names.count(name.name) != 0;
}

/// Results that stay on the CPU, as bits: what torch's own code reads on the host.
uint64_t hostResults(const c10::OperatorName &name) {
  return name.name == "aten::_pack_padded_sequence" ? 0b10 : 0;
}

bool forked = false; ///< this process is the child of one that had loaded the device

/// In a forked child libgomp waits for threads that only the parent has, so torch's kernels stay on
/// their caller's thread there.
void leaveDeadThreadPool() {
  forked = false;
  at::set_num_threads(1);
}

/// One operator call: aliases its arguments, runs it, brings its results back.
class Call {
public:
  Call(const c10::OperatorHandle &op, Stack *stack)
      : op(op), schema(op.schema()), stack(stack),
        first(stack->size() - schema.arguments().size()) {}

  void run() {
    for (size_t i = 0; i < schema.arguments().size(); ++i)
      enter((*stack)[first + i]);
    if (!aliases.device.has_index())
      aliases.device = c10::Device(kNpu, wanted >= 0 ? wanted : currentDevice());
    if (C10_UNLIKELY(aliases.sawHostTensor))
      checkHostTensors();
    if (sawNone)
      fillGenerator();
    runOnHost(aliases.device.index(),
              [&] { op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), stack); });
    aliases.writeBack();
    leave();
  }

private:
  void enter(c10::IValue &value);
  c10::List<at::Tensor> enterList(const c10::IValue &value);
  void enterGenerator(c10::IValue &value);
  void fillGenerator();
  void checkHostTensors();
  void leave();
  c10::List<at::Tensor> leaveList(const c10::IValue &value);
  const char *name() const { return schema.name().c_str(); }

  const c10::OperatorHandle &op;
  const c10::FunctionSchema &schema;
  Stack *stack;
  size_t first;
  AliasSet aliases;
  c10::DeviceIndex wanted = -1; ///< of a device argument
  bool sawNone = false;
};

c10::List<at::Tensor> Call::enterList(const c10::IValue &value) {
  c10::List<at::Tensor> out;
  c10::ArrayRef<c10::IValue> items = value.toListRef();
  out.reserve(items.size());
  for (const c10::IValue &item : items)
    out.push_back(aliases.enter(item.toTensor()));
  return out;
}

bool isListOfTensorLists(const c10::IValue &value) {
  if (!value.isList())
    return false;
  c10::ArrayRef<c10::IValue> items = value.toListRef();
  return !items.empty() && items[0].isTensorList();
}

void Call::enter(c10::IValue &value) {
  if (value.isTensor()) {
    value = aliases.enter(value.toTensor());
  } else if (value.isTensorList()) {
    value = enterList(value);
  } else if (value.isOptionalTensorList()) {
    c10::List<std::optional<at::Tensor>> out;
    for (const c10::IValue &item : value.toListRef())
      out.push_back(item.isNone() ? std::optional<at::Tensor>()
                                  : std::optional<at::Tensor>(aliases.enter(item.toTensor())));
    value = std::move(out);
  } else if (value.isDevice()) {
    c10::Device device = value.toDevice();
    if (device.is_privateuseone())
      wanted = resolved(device).index();
    value = c10::Device(c10::kCPU);
  } else if (value.isGenerator()) {
    enterGenerator(value);
  } else if (value.isNone()) {
    sawNone = true;
  } else if (isListOfTensorLists(value)) { // collectives
    c10::List<c10::List<at::Tensor>> out;
    for (const c10::IValue &item : value.toListRef())
      out.push_back(enterList(item));
    value = std::move(out);
  }
}

void Call::enterGenerator(c10::IValue &value) {
  at::Generator generator = value.toGenerator();
  TORCH_CHECK(generator.device().is_privateuseone(),
              "Expected a 'npu' device type for generator but found '", generator.device().type(),
              "'");
  value = hostGenerator(generator);
}

/// An operator that takes a generator and got none uses the device's own, not the CPU's.
void Call::fillGenerator() {
  for (size_t i = 0; i < schema.arguments().size(); ++i) {
    c10::IValue &value = (*stack)[first + i];
    if (value.isNone() && schema.arguments()[i].name() == "generator")
      value = hostGenerator(defaultGenerator(aliases.device.index()));
  }
}

void Call::checkHostTensors() {
  TORCH_CHECK(takesHostTensors(schema.operator_name()),
              "Expected all tensors to be on the same device, but found at least two devices, ",
              aliases.device, " and cpu! (operator ", name(), ")");
}

c10::List<at::Tensor> Call::leaveList(const c10::IValue &value) {
  c10::List<at::Tensor> out;
  c10::ArrayRef<c10::IValue> items = value.toListRef();
  out.reserve(items.size());
  for (const c10::IValue &item : items)
    out.push_back(aliases.leave(item.toTensor(), name()));
  return out;
}

void Call::leave() {
  size_t count = schema.returns().size(), start = stack->size() - count;
  uint64_t onHost = hostResults(schema.operator_name());
  for (size_t i = 0; i < count; ++i) {
    c10::IValue &value = (*stack)[start + i];
    if (onHost >> i & 1)
      continue;
    if (value.isTensor()) {
      value = aliases.leave(value.toTensor(), name());
    } else if (value.isTensorList()) {
      value = leaveList(value);
    } else if (isListOfTensorLists(value)) {
      c10::List<c10::List<at::Tensor>> out;
      for (const c10::IValue &item : value.toListRef())
        out.push_back(leaveList(item));
      value = std::move(out);
    }
  }
}

/// For what was not registered one by one: custom operators, and operators without a CPU kernel.
void runUnregistered(const c10::OperatorHandle &op, Stack *stack) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      op.hasComputedKernelForDispatchKey(c10::DispatchKey::CPU), "operator ",
      op.schema().operator_name(),
      " is not implemented for device npu: it runs by the CPU's kernels, and the CPU has none "
      "for it");
  runAliased(op, stack);
}

} // namespace

void runAliased(const c10::OperatorHandle &op, Stack *stack) {
  if (C10_UNLIKELY(forked))
    leaveDeadThreadPool();
  counters().fallbacks.fetch_add(1, std::memory_order_relaxed);
  Call(op, stack).run();
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, library) {
  pthread_atfork(nullptr, nullptr, [] { forked = true; });
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&runUnregistered>());
}

void registerRemaining(torch::Library &library) {
  constexpr std::string_view kSpace = "aten::";
  auto &dispatcher = c10::Dispatcher::singleton();
  for (const c10::OperatorName &name : dispatcher.getAllOpNames()) {
    if (!name.name.starts_with(kSpace))
      continue;
    auto op = dispatcher.findOp(name);
    if (!op || !op->hasKernelForDispatchKey(c10::DispatchKey::CPU) ||
        op->hasKernelForDispatchKey(c10::DispatchKey::PrivateUse1))
      continue;
    std::string local = name.name.substr(kSpace.size());
    if (!name.overload_name.empty())
      local += "." + name.overload_name;
    library.impl(local.c_str(), torch::CppFunction::makeFromBoxedFunction<&runAliased>());
  }
}

} // namespace piton::torch_device
