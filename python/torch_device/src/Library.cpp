// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// torch.ops.piton: what torch.npu needs beyond torch.accelerator. No Python API, so the library
// serves every Python version.

#include "Alias.h"
#include "Generator.h"

#include <torch/library.h>

namespace piton::torch_device {
namespace {

c10::DeviceIndex indexOf(int64_t device) {
  TORCH_CHECK(device >= 0 && device < deviceCount(), "npu: invalid device ordinal ", device,
              "; there are ", static_cast<int>(deviceCount()), " devices (PITON_DEVICE_COUNT)");
  return static_cast<c10::DeviceIndex>(device);
}

at::Generator generatorOf(int64_t device) { return defaultGenerator(indexOf(device)); }

/// The runtime's handle of a stream, which a launch takes; see streamHandle().
int64_t handleOfStream(int64_t id, int64_t device) {
  c10::Stream stream(c10::Stream::UNSAFE, c10::Device(kNpu, indexOf(device)), id);
  return reinterpret_cast<int64_t>(streamHandle(stream));
}

at::Tensor hostAlias(const at::Tensor &tensor) {
  AliasSet aliases;
  at::Tensor alias = aliases.enter(tensor.detach());
  if (aliases.device.has_index())
    joinStream(aliases.device.index());
  return alias;
}

} // namespace

TORCH_LIBRARY(piton, library) {
  library.def("default_generator(int device) -> Generator?", generatorOf);
  library.def("stream_handle(int id, int device) -> int", handleOfStream);
  library.def("fallback_count() -> int", [] { return counters().fallbacks.load(); });
  library.def("copied_bytes() -> int", [] { return counters().copiedBytes.load(); });
  library.def("cpu_alias(Tensor(a) tensor) -> Tensor(a)");
}

TORCH_LIBRARY_IMPL(piton, CompositeImplicitAutograd, library) {
  library.impl("cpu_alias", hostAlias);
}

} // namespace piton::torch_device
