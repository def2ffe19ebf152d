// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collectives of torch.distributed on npu tensors (back end `hccl`): every c10d operator that has
// a CPU kernel goes there through the alias fallback, so the group's gloo back end works on the
// memory of the npu tensors. An all-reduce of ranks of one host goes through memory that they share
// instead (HostGroup.h). No Python runs.
#include "Common.h"
#include "Fallback.h"
#include "HostGroup.h"

#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/library.h>

#include <string>

namespace piton::torch_device {

namespace {

/// The group as CPU kernels must see it: the back end that serves npu tensors serves CPU tensors.
/// The user's group has none for them, so that a CPU tensor of the user is an error as on
/// hardware. A group is a few small maps; what costs time is the back end, which is shared.
c10::intrusive_ptr<c10d::ProcessGroup> seenFromCpu(c10d::ProcessGroup &group, bool reduces) {
  c10::intrusive_ptr<c10d::Backend> backend = withSharedMemory(group.getBackend(kNpu), reduces);
  auto out =
      c10::make_intrusive<c10d::ProcessGroup>(group.getStore(), group.getRank(), group.getSize());
  // setBackend hands the group's bound device to the back end, which must keep its own.
  if (backend->getBoundDeviceId())
    out->setBoundDeviceId(backend->getBoundDeviceId());
  out->setBackend(c10::DeviceType::CPU, c10d::ProcessGroup::BackendType::CUSTOM, backend);
  return out;
}

void collective(const c10::OperatorHandle &op, torch::jit::Stack *stack) {
  const size_t count = op.schema().arguments().size();
  static const auto groupType = c10::getCustomClassType<c10::intrusive_ptr<c10d::ProcessGroup>>();
  const bool reduces = op.schema().name() == "c10d::allreduce_";
  for (size_t i = stack->size() - count; i < stack->size(); ++i) {
    c10::IValue &value = (*stack)[i];
    if (value.isObject() && value.type()->isSubtypeOf(*groupType))
      value = seenFromCpu(*value.toCustomClass<c10d::ProcessGroup>(), reduces);
  }
  runAliased(op, stack);
}

/// torch has kernels of its own for these operators, which ask an npu back end to take npu
/// tensors, and warns of every one that is replaced.
struct Quiet final : c10::WarningHandler {
  void process(const c10::Warning &) override {}
};

} // namespace

TORCH_LIBRARY_IMPL(c10d, PrivateUse1, m) {
  Quiet quiet;
  c10::WarningUtils::WarningHandlerGuard guard(&quiet);
  c10::Dispatcher &dispatcher = c10::Dispatcher::singleton();
  for (const c10::OperatorName &name : dispatcher.getAllOpNames()) {
    if (name.name.rfind("c10d::", 0) != 0)
      continue;
    auto op = dispatcher.findOp(name);
    if (!op || !op->hasKernelForDispatchKey(c10::DispatchKey::CPU))
      continue;
    std::string plain = name.name.substr(6);
    if (!name.overload_name.empty())
      plain += "." + name.overload_name;
    m.impl(plain.c_str(), torch::CppFunction::makeFromBoxedFunction<&collective>());
  }
}

TORCH_LIBRARY_FRAGMENT(piton, library) {
  library.def("hccl_offer(str group, int size) -> str", offerSharedMemory);
  library.def("hccl_join(str group, int rank, int size, str address) -> bool", joinSharedMemory);
  library.def("hccl_drop(str group) -> ()", dropSharedMemory);
}

} // namespace piton::torch_device
