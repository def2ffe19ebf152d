// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How an alias is made and how results come back. Runs for every operator, so it allocates two
// small objects a tensor and nothing else.

#include "Alias.h"

#include <ATen/core/Tensor.h>

#include <cstring>

namespace piton::torch_device {
namespace {

/// Deleter of an alias's data pointer: drops the reference that keeps the npu storage.
void dropStorage(void *storage) {
  (void)c10::intrusive_ptr<c10::StorageImpl>::reclaim(static_cast<c10::StorageImpl *>(storage));
}

c10::Storage share(c10::StorageImpl *storage) {
  return c10::Storage(c10::intrusive_ptr<c10::StorageImpl>::reclaim_copy(storage));
}

/// A tensor like `model` on other storage. A zero tensor has no data, and only its key says so; the
/// key can be given at construction alone.
at::Tensor rewrap(const at::Tensor &model, c10::Storage storage, c10::DispatchKey key) {
  c10::DispatchKeySet keys(key);
  if (model._is_zerotensor())
    keys = keys.add(c10::DispatchKey::ZeroTensor);
  at::Tensor out =
      at::detail::make_tensor<c10::TensorImpl>(std::move(storage), keys, model.dtype());
  c10::TensorImpl *to = out.unsafeGetTensorImpl();
  const c10::TensorImpl *from = model.unsafeGetTensorImpl();
  to->set_sizes_and_strides(from->sizes(), from->strides(), from->storage_offset());
  if (from->is_wrapped_number())
    to->set_wrapped_number(true);
  if (model.is_conj())
    to->_set_conj(true);
  if (model.is_neg())
    to->_set_neg(true);
  return out;
}

bool sameGeometry(const c10::TensorImpl &a, const c10::TensorImpl &b) {
  return a.sizes() == b.sizes() && a.strides() == b.strides() &&
         a.storage_offset() == b.storage_offset();
}

const void *dataOf(c10::StorageImpl *storage) {
  return storage->_mutable_data_ptr_no_checks().get();
}

} // namespace

Counters &counters() {
  static Counters instance;
  return instance;
}

c10::Storage AliasSet::aliasOf(c10::StorageImpl *storage) {
  for (const StorageAlias &known : storages)
    if (known.npu == storage)
      return share(known.host);
  void *data = storage->_mutable_data_ptr_no_checks().get();
  auto reference = c10::intrusive_ptr<c10::StorageImpl>::reclaim_copy(storage);
  auto alias = c10::make_intrusive<c10::StorageImpl>(
      c10::StorageImpl::use_byte_size_t(), storage->nbytes(),
      c10::DataPtr(data, reference.release(), &dropStorage, c10::Device(c10::kCPU)),
      c10::GetAllocator(c10::kCPU), /*resizable=*/true);
  storages.push_back({storage, alias.get(), data});
  return c10::Storage(std::move(alias));
}

at::Tensor AliasSet::enter(const at::Tensor &tensor) {
  if (!tensor.defined())
    return tensor;
  if (!tensor.is_privateuseone()) {
    sawHostTensor = sawHostTensor || (tensor.dim() > 0 && tensor.is_cpu());
    return tensor;
  }
  c10::Device own = tensor.device();
  if (!device.has_index())
    device = own;
  TORCH_CHECK(device == own,
              "Expected all tensors to be on the same device, but found at least two devices, ",
              device, " and ", own, "!");
  for (const TensorAlias &known : tensors)
    if (known.npu.is_same(tensor))
      return known.host;
  at::Tensor alias =
      rewrap(tensor, aliasOf(tensor.storage().unsafeGetStorageImpl()), c10::DispatchKey::CPU);
  tensors.push_back({tensor, alias});
  return alias;
}

c10::Storage AliasSet::onDevice(const c10::Storage &storage) {
  c10::StorageImpl *impl = storage.unsafeGetStorageImpl();
  for (const StorageAlias &known : storages)
    if (known.host == impl)
      return share(known.npu);
  if (impl->device() == device)
    return storage; // another result over the same new memory came first
  const void *data = dataOf(impl);
  if (!data || isDeviceMemory(data)) {
    impl->_mutable_data_ptr_no_checks().unsafe_set_device(device);
    impl->set_allocator(npuAllocator());
    return storage;
  }
  // Memory that the kernel has from elsewhere, such as an array of a library: the only case in
  // which data moves. Kernels in this tree never take it.
  c10::DataPtr copy = allocateOn(device.index(), impl->nbytes(), device);
  std::memcpy(copy.get(), data, impl->nbytes());
  counters().copiedBytes.fetch_add(static_cast<int64_t>(impl->nbytes()));
  return c10::Storage(c10::Storage::use_byte_size_t(), impl->nbytes(), std::move(copy),
                      npuAllocator(), /*resizable=*/true);
}

void AliasSet::writeBack() {
  for (const StorageAlias &known : storages) {
    if (dataOf(known.host) == known.data)
      continue;
    // out= or resize_ gave the alias a new block; its old pointer, our reference, is dropped.
    c10::DataPtr block = known.host->set_data_ptr(c10::DataPtr(nullptr, c10::Device(c10::kCPU)));
    block.unsafe_set_device(device);
    known.npu->set_data_ptr_noswap(std::move(block));
    known.npu->set_nbytes(known.host->nbytes());
  }
  for (const TensorAlias &known : tensors) {
    const c10::TensorImpl *host = known.host.unsafeGetTensorImpl();
    c10::TensorImpl *npu = known.npu.unsafeGetTensorImpl();
    if (C10_UNLIKELY(!sameGeometry(*host, *npu)))
      npu->set_sizes_and_strides(host->sizes(), host->strides(), host->storage_offset());
  }
}

at::Tensor AliasSet::leave(const at::Tensor &result, const char *op) {
  if (!result.defined() || result.is_privateuseone())
    return result;
  for (const TensorAlias &known : tensors)
    if (known.host.is_same(result))
      return known.npu;
  TORCH_CHECK_NOT_IMPLEMENTED(
      result.layout() == c10::kStrided && !result.is_quantized(), op, ": the result has layout ",
      result.layout(), result.is_quantized() ? " (quantized)" : "",
      ", and device npu holds dense strided tensors only; call .cpu() on the arguments first");
  if (!result.is_cpu())
    return result; // meta
  return rewrap(result, onDevice(result.storage()), c10::DispatchKey::PrivateUse1);
}

} // namespace piton::torch_device
