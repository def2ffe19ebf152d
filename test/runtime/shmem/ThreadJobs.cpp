// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PEs as threads.

#include "test/runtime/shmem/Jobs.h"

#include <gtest/gtest.h>

#include <atomic>
#include <sys/mman.h>
#include <thread>

namespace piton::test {

namespace {

/// A DeviceState anywhere, as several PEs share the process.
struct State {
  State()
      : memory(static_cast<DeviceState *>(mmap(nullptr, kDeviceStateBytes, PROT_READ | PROT_WRITE,
                                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {}
  ~State() { munmap(memory, kDeviceStateBytes); }
  DeviceState *memory;
};

} // namespace

void runThreads(int count, const std::function<void(shmem::World &)> &body,
                ThreadJobOptions options) {
  std::string url = freeUrl();
  std::vector<State> states(static_cast<size_t>(count));
  auto runPe = [&](int pe) {
    shmem::WorldOptions world;
    world.pe = pe;
    world.peCount = count;
    world.heapBytes = options.heapBytes;
    world.engines = options.engines;
    world.initTimeout = world.createTimeout = std::chrono::seconds(20);
    world.callTimeout = options.timeout;
    world.serverText = url;
    std::string error;
    ASSERT_TRUE(shmem::parseUrl(url, world.server, error)) << error;
    std::unique_ptr<shmem::World> self;
    ASSERT_EQ(shmem::World::start(std::move(world), *states[static_cast<size_t>(pe)].memory, self),
              ACLSHMEM_SUCCESS)
        << piton_last_error();
    body(*self);
    int code = self->finish();
    if (!options.endsLost)
      EXPECT_EQ(code, ACLSHMEM_SUCCESS) << piton_last_error();
  };
  std::vector<std::thread> threads;
  for (int pe = 0; pe < count; ++pe)
    threads.emplace_back(runPe, pe);
  for (std::thread &thread : threads)
    thread.join();
}

} // namespace piton::test
