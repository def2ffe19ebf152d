// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Host memory that counts as pinned. Copies to and from the simulated device gain nothing from it,
// but a script that pins and then asks is_pinned() gets the answer it expects.

#include "Allocator.h"

#include <map>
#include <mutex>

namespace piton::torch_device {
namespace {

/// Blocks by address. A tensor may ask with an address inside a block.
struct Blocks {
  std::mutex mutex;
  std::map<uintptr_t, size_t> sizes;
};

Blocks &blocks() {
  static Blocks &instance = *new Blocks; // outlives every tensor
  return instance;
}

void release(void *pointer) {
  {
    std::lock_guard<std::mutex> guard(blocks().mutex);
    blocks().sizes.erase(reinterpret_cast<uintptr_t>(pointer));
  }
  c10::GetAllocator(c10::kCPU)->raw_deallocate(pointer);
}

class PinnedAllocator final : public c10::Allocator {
public:
  c10::DataPtr allocate(size_t bytes) override {
    c10::Device host(c10::kCPU);
    if (bytes == 0)
      return {nullptr, nullptr, &release, host};
    void *block = c10::GetAllocator(c10::kCPU)->raw_allocate(bytes);
    std::lock_guard<std::mutex> guard(blocks().mutex);
    blocks().sizes.emplace(reinterpret_cast<uintptr_t>(block), bytes);
    return {block, block, &release, host};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void *to, const void *from, size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }
};

} // namespace

c10::Allocator *pinnedAllocator() {
  static PinnedAllocator allocator;
  return &allocator;
}

bool isPinned(const void *pointer) {
  auto address = reinterpret_cast<uintptr_t>(pointer);
  std::lock_guard<std::mutex> guard(blocks().mutex);
  auto next = blocks().sizes.upper_bound(address);
  if (next == blocks().sizes.begin())
    return false;
  --next;
  return address - next->first < next->second;
}

} // namespace piton::torch_device
