// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Devices and their memory, through the C API.

#include "piton/runtime.h"
#include "test/sim/TestImage.h"

#include <gtest/gtest.h>

#include <cstring>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

piton_device_t *device(int index = 0) {
  piton_device_t *d = nullptr;
  EXPECT_EQ(piton_device_get(index, &d), PITON_OK) << piton_last_error();
  return d;
}

uint64_t freeBytes() {
  uint64_t available = 0, total = 0;
  EXPECT_EQ(piton_device_memory_info(device(), &available, &total), PITON_OK);
  EXPECT_EQ(total, uint64_t(64) << 30);
  return available;
}

TEST(Device, EightOfTheDefaultSoc) {
  int count = 0;
  ASSERT_EQ(piton_device_count(&count), PITON_OK);
  EXPECT_EQ(count, 8);
  piton_device_properties_t p;
  ASSERT_EQ(piton_device_properties(device(7), &p), PITON_OK);
  EXPECT_STREQ(p.name, "Ascend910B3");
  EXPECT_EQ(p.ai_cores, 20u);
  EXPECT_EQ(p.vector_cores, 40u);
  EXPECT_EQ(p.ub_bytes, 196608u);
  EXPECT_EQ(piton_device_index(device(7)), 7);
  piton_device_t *none = nullptr;
  EXPECT_EQ(piton_device_get(8, &none), PITON_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(piton_device_get(-1, &none), PITON_ERROR_INVALID_ARGUMENT);
}

/// Runs `body` in a child with an environment variable set before the runtime starts. The test
/// program itself starts it, so the child is a fresh run of this binary.
int runFresh(const char *name, const char *value, const char *test) {
  pid_t child = fork();
  if (child == 0) {
    setenv(name, value, 1);
    std::string filter = std::string("--gtest_filter=") + test;
    execl("/proc/self/exe", "test", filter.c_str(), "--gtest_also_run_disabled_tests", nullptr);
    _exit(99);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

TEST(Device, DISABLED_ChildWrongSoc) {
  int count = -1;
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(piton_device_count(&count), PITON_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(std::string(piton_last_error()).rfind("TRITON_ASCEND_ARCH = H100 is invalid!", 0), 0u)
        << piton_last_error();
  }
  EXPECT_EQ(count, -1);
}
TEST(Device, DISABLED_ChildWrongCount) {
  int count = -1;
  EXPECT_EQ(piton_device_count(&count), PITON_ERROR_INVALID_ARGUMENT);
  EXPECT_NE(std::string(piton_last_error()).find("PITON_DEVICE_COUNT = -3 is invalid!"),
            std::string::npos)
      << piton_last_error();
}
TEST(Device, DISABLED_ChildTwoDevices) {
  int count = -1;
  EXPECT_EQ(piton_device_count(&count), PITON_OK);
  EXPECT_EQ(count, 2);
}
TEST(Device, DISABLED_Child950) {
  piton_device_properties_t p;
  ASSERT_EQ(piton_device_properties(device(), &p), PITON_OK);
  EXPECT_EQ(p.is_a5, 1u);
  EXPECT_EQ(p.vector_cores, 64u);
}

TEST(Device, Environment) {
  EXPECT_EQ(runFresh("TRITON_ASCEND_ARCH", "H100", "Device.DISABLED_ChildWrongSoc"), 0);
  EXPECT_EQ(runFresh("TRITON_ASCEND_ARCH", "Ascend950", "Device.DISABLED_Child950"), 0);
  EXPECT_EQ(runFresh("PITON_DEVICE_COUNT", "-3", "Device.DISABLED_ChildWrongCount"), 0);
  EXPECT_EQ(runFresh("PITON_DEVICE_COUNT", "2", "Device.DISABLED_ChildTwoDevices"), 0);
}

TEST(Memory, AccountingAndOwnership) {
  uint64_t before = freeBytes();
  void *p = nullptr;
  ASSERT_EQ(piton_memory_allocate(device(), 1000, &p), PITON_OK);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(p) % 512, 0u);
  EXPECT_EQ(freeBytes(), before - 1024);
  std::memset(p, 1, 1000);
  piton_device_t *owner = nullptr;
  ASSERT_EQ(piton_memory_device(static_cast<char *>(p) + 999, &owner), PITON_OK);
  EXPECT_EQ(owner, device());
  int local = 0;
  ASSERT_EQ(piton_memory_device(&local, &owner), PITON_OK);
  EXPECT_EQ(owner, nullptr);
  EXPECT_EQ(piton_memory_free(static_cast<char *>(p) + 8), PITON_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(piton_memory_free(p), PITON_OK);
  EXPECT_EQ(piton_memory_free(nullptr), PITON_OK);
  EXPECT_EQ(freeBytes(), before);
  ASSERT_EQ(piton_memory_allocate(device(), 0, &p), PITON_OK);
  EXPECT_EQ(p, nullptr);
}

TEST(Device, CurrentDeviceAndStreamBelongToTheThread) {
  ASSERT_EQ(piton_device_set_current(2), PITON_OK);
  EXPECT_EQ(piton_device_current(), 2);
  EXPECT_EQ(piton_device_set_current(99), PITON_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(piton_device_current(), 2);
  piton_stream_t *made = nullptr, *now = nullptr, *standard = nullptr;
  ASSERT_EQ(piton_stream_create(device(), &made), PITON_OK);
  ASSERT_EQ(piton_stream_default(device(), &standard), PITON_OK);
  ASSERT_EQ(piton_stream_set_current(made), PITON_OK);
  ASSERT_EQ(piton_stream_current(0, &now), PITON_OK);
  EXPECT_EQ(now, made);
  std::thread([&] {
    piton_stream_t *other = nullptr;
    EXPECT_EQ(piton_device_current(), 0);
    EXPECT_EQ(piton_stream_current(0, &other), PITON_OK);
    EXPECT_EQ(other, standard);
  }).join();
  EXPECT_EQ(piton_stream_join_current(0), PITON_OK);
  EXPECT_EQ(piton_stream_join_current(99), PITON_ERROR_INVALID_ARGUMENT);
  ASSERT_EQ(piton_stream_set_current(standard), PITON_OK);
  ASSERT_EQ(piton_device_set_current(0), PITON_OK);
  EXPECT_EQ(piton_stream_destroy(made), PITON_OK);
}

TEST(Memory, StatisticsAndPeaks) {
  piton_memory_statistics_t before, after;
  ASSERT_EQ(piton_memory_reset_peaks(device()), PITON_OK);
  ASSERT_EQ(piton_memory_statistics(device(), &before), PITON_OK);
  void *p = nullptr;
  ASSERT_EQ(piton_memory_allocate(device(), 1 << 20, &p), PITON_OK);
  ASSERT_EQ(piton_memory_free(p), PITON_OK);
  ASSERT_EQ(piton_memory_statistics(device(), &after), PITON_OK);
  EXPECT_EQ(after.used_bytes, before.used_bytes);
  EXPECT_EQ(after.peak_used_bytes, before.used_bytes + (1 << 20));
  EXPECT_EQ(after.allocations, before.allocations + 1);
  EXPECT_EQ(after.frees, before.frees + 1);
  EXPECT_GE(after.reserved_bytes, uint64_t(1) << 20);
  ASSERT_EQ(piton_memory_trim(device()), PITON_OK);
  EXPECT_EQ(piton_memory_free(p), PITON_ERROR_INVALID_ARGUMENT) << "freed twice";
}

TEST(Product, HalfWithBroadcastAddend) {
  // D = 2 * A x B + 3 * c with A 3 by 2 of ones (fp16), B by columns, c one row.
  uint16_t one = 0x3C00, two = 0x4000;
  uint16_t a[6], b[8], c[4], d[12];
  std::fill(std::begin(a), std::end(a), one);
  std::fill(std::begin(b), std::end(b), two);
  std::fill(std::begin(c), std::end(c), one);
  piton_product_t p = {};
  p.type = PITON_TYPE_F16;
  p.batch = 1;
  p.m = 3;
  p.n = 4;
  p.k = 2;
  p.a = {a, 0, 2, 1};
  p.b = {b, 0, 1, 2};
  p.c = {c, 0, 0, 1};
  p.d = d;
  p.d_row = 4;
  p.alpha = 2;
  p.beta = 3;
  ASSERT_EQ(piton_product(&p), PITON_OK) << piton_last_error();
  for (uint16_t value : d)
    EXPECT_EQ(value, 0x4980); // 2 * 4 + 3 = 11
  p.type = PITON_TYPE_I64;
  EXPECT_EQ(piton_product(&p), PITON_ERROR_INVALID_ARGUMENT);
}

TEST(Memory, CapacityOfTheCard) {
  void *p = nullptr;
  EXPECT_EQ(piton_memory_allocate(device(), (uint64_t(64) << 30) + 1, &p),
            PITON_ERROR_OUT_OF_MEMORY);
  std::string text = piton_last_error();
  EXPECT_NE(text.find("device 0 (Ascend910B3): cannot allocate 68719476737 bytes"),
            std::string::npos)
      << text;
  EXPECT_EQ(piton_memory_allocate(device(), UINT64_MAX, &p), PITON_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(p, nullptr);
}

TEST(Memory, FreedMemoryWaitsForSubmittedWork) {
  piton_stream_t *stream = nullptr;
  ASSERT_EQ(piton_stream_create(device(), &stream), PITON_OK);
  uint64_t before = freeBytes();
  void *p = nullptr;
  ASSERT_EQ(piton_memory_allocate(device(), 4096, &p), PITON_OK);
  // A kernel that waits keeps the stream busy.
  piton_kernel_t *kernel = nullptr;
  piton::KernelMetadata m = piton::test::testMetadata("await");
  m.canBlock = true;
  std::string image = piton::test::testImage(m);
  ASSERT_EQ(piton_kernel_load(image.data(), image.size(), &kernel), PITON_OK);
  uint32_t words[3] = {0, 0, 0}, grid[3] = {1, 1, 1};
  piton::test::Args args = piton::test::Args().set(0, words).set(8, 1u);
  ASSERT_EQ(piton_launch(kernel, stream, grid, args.bytes, 32, 0), PITON_OK);
  ASSERT_EQ(piton_memory_fill(p, 7, 4096, stream), PITON_OK);
  EXPECT_EQ(piton_memory_free(p), PITON_OK);
  EXPECT_EQ(freeBytes(), before - 4096) << "still in use by the queued fill";
  EXPECT_EQ(piton_memory_free(p), PITON_ERROR_INVALID_ARGUMENT) << "freed twice";
  __atomic_store_n(words, 1, __ATOMIC_RELEASE);
  ASSERT_EQ(piton_device_synchronize(device()), PITON_OK);
  EXPECT_EQ(freeBytes(), before);
  EXPECT_EQ(piton_stream_destroy(stream), PITON_OK);
  EXPECT_EQ(piton_kernel_release(kernel), PITON_OK);
}

TEST(Memory, CopyAndFill) {
  piton_stream_t *stream = nullptr;
  ASSERT_EQ(piton_stream_default(device(), &stream), PITON_OK);
  EXPECT_EQ(piton_stream_destroy(stream), PITON_ERROR_INVALID_ARGUMENT);
  std::vector<uint8_t> data(100, 3), out(100);
  ASSERT_EQ(piton_memory_fill(data.data() + 50, 9, 50, stream), PITON_OK);
  ASSERT_EQ(piton_memory_copy(out.data(), data.data(), 100, stream), PITON_OK);
  ASSERT_EQ(piton_stream_synchronize(stream), PITON_OK);
  EXPECT_EQ(out, data);
  ASSERT_EQ(piton_memory_copy(out.data() + 1, out.data(), 99, nullptr), PITON_OK);
  EXPECT_EQ(out[51], 9);
  EXPECT_EQ(out[50], 3);
  EXPECT_EQ(piton_memory_copy(nullptr, out.data(), 1, nullptr), PITON_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(piton_memory_copy(nullptr, nullptr, 0, nullptr), PITON_OK);
}

TEST(Memory, ManyThreads) {
  uint64_t before = freeBytes();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([] {
      for (int i = 0; i < 500; ++i) {
        void *p = nullptr;
        ASSERT_EQ(piton_memory_allocate(device(), 1 + i * 37 % 9000, &p), PITON_OK);
        ASSERT_EQ(piton_memory_free(p), PITON_OK);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(freeBytes(), before);
}

} // namespace
