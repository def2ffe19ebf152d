// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A PE that is killed at a random moment of a job that goes through all host calls, from init to
// finalize and into the next init. PITON_TEST_KILLS sets the number of jobs, PITON_TEST_SEED the
// seed, which a failure prints.

#include "test/runtime/shmem/Faults.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <random>

using namespace piton;
using namespace piton::test;

namespace {

constexpr int kCount = 3;
/// How long init waits for a PE that died before it was one, as between two rounds.
constexpr int kInitSeconds = 5;

double now() { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); }

int numberFrom(const char *name, int standard) {
  const char *text = std::getenv(name);
  return text && *text ? std::atoi(text) : standard;
}

/// An engine and where the heap lies: what the calls of a job go through.
struct Kind {
  unsigned engines;
  aclshmem_mem_type_t memory;
  bool calls = true; ///< anything between init and finalize
};

/// One round of calls; each returns whether the job lives.
bool round(int pe, const std::string &url, const Kind &kind) {
  auto good = [] { return aclshmemx_last_status() == ACLSHMEM_SUCCESS; };
  aclshmemx_set_conf_store_tls(false, "", 0);
  aclshmemx_init_attr_t attr = attributes(pe, kCount, url);
  attr.option_attr.shm_init_timeout = kInitSeconds;
  attr.option_attr.data_op_engine_type = static_cast<data_op_engine_type_t>(kind.engines);
  if (aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attr))
    return false;
  if (!kind.calls)
    return aclshmem_finalize() == 0;
  int right = (pe + 1) % kCount;
  auto *words = static_cast<int32_t *>(aclshmemx_calloc(1024, sizeof(int32_t), kind.memory));
  if (!words)
    return false;
  int32_t local[256] = {};
  for (int i = 1; i <= 20; ++i) {
    aclshmem_putmem(words + 256, local, sizeof(local), right);
    if (!good())
      return false;
    aclshmem_getmem(local, words + 512, sizeof(local), right);
    if (!good())
      return false;
    aclshmemx_signal_op(words, i, ACLSHMEM_SIGNAL_SET, right);
    if (!good())
      return false;
    aclshmem_signal_wait_until(words, ACLSHMEM_CMP_GE, i);
    if (!good())
      return false;
    aclshmem_barrier_all();
    if (!good())
      return false;
  }
  aclshmem_team_t row = ACLSHMEM_TEAM_INVALID, column = ACLSHMEM_TEAM_INVALID;
  if (aclshmem_team_split_2d(ACLSHMEM_TEAM_WORLD, 2, &row, &column))
    return false;
  aclshmem_barrier(row);
  if (!good())
    return false;
  aclshmem_sync(column);
  if (!good())
    return false;
  aclshmem_team_destroy(row);
  aclshmem_team_destroy(column);
  aclshmemx_free(words, kind.memory);
  return good() && aclshmem_finalize() == 0;
}

/// The time after `tag` in what a PE has printed.
std::optional<double> timeAfter(const std::string &output, const char *tag) {
  size_t at = output.find(tag);
  return at == std::string::npos ? std::nullopt
                                 : std::optional(std::atof(output.c_str() + at + std::strlen(tag)));
}

void killOne(std::mt19937 &random, const Kind &kind) {
  int victim = static_cast<int>(random() % kCount);
  auto after = std::chrono::microseconds(random() % 400000);
  std::string url = freeUrl();
  auto results = runProcesses(kCount, [&](int pe) {
    if (pe == victim)
      std::thread([&] {
        std::this_thread::sleep_for(after);
        std::printf("<dies %.6f>\n", now());
        std::fflush(stdout);
        die();
      }).detach();
    while (round(pe, url, kind)) {
    }
    std::printf("<told %.6f> %s\n", now(), piton_last_error());
    if (pe == victim) // the others have not lost anybody yet
      later(5000);
    double start = now();
    aclshmem_finalize(); // waits for nobody
    EXPECT_LT(now() - start, kSoon.count());
    return 0;
  });
  std::string all =
      "PE " + std::to_string(victim) + " dies after " + std::to_string(after.count()) + " us\n";
  for (int pe = 0; pe < kCount; ++pe)
    all += "PE " + std::to_string(pe) + ": " + results[static_cast<size_t>(pe)].output + "\n";
  ASSERT_NO_FATAL_FAILURE(expectAll(results, victim)) << all;
  std::optional<double> dies = timeAfter(results[static_cast<size_t>(victim)].output, "<dies ");
  ASSERT_TRUE(dies) << all;
  for (int pe = 0; pe < kCount; ++pe) {
    if (pe == victim)
      continue;
    const std::string &output = results[static_cast<size_t>(pe)].output;
    std::optional<double> told = timeAfter(output, "<told ");
    ASSERT_TRUE(told) << all;
    bool wasPe = output.find("(shm_init_timeout)", output.find("<told ")) == std::string::npos;
    constexpr double soon = kSoon.count();
    EXPECT_LT(*told - *dies, wasPe ? soon : soon + kInitSeconds) << all;
    size_t text = output.find("> ", output.find("<told "));
    EXPECT_NE(output.find("PE " + std::to_string(victim), text), std::string::npos) << all;
  }
  // The next job at the same address starts clean.
  expectAll(runProcesses(kCount, [&](int pe) { return round(pe, url, kind) ? 0 : 1; }));
}

void killSome(const std::vector<Kind> &kinds, int jobs) {
  auto seed = static_cast<unsigned>(numberFrom("PITON_TEST_SEED", 20));
  std::mt19937 random(seed);
  for (int job = 0; job < jobs && !testing::Test::HasFailure(); ++job) {
    SCOPED_TRACE("PITON_TEST_SEED=" + std::to_string(seed) + ", job " + std::to_string(job));
    killOne(random, kinds[static_cast<size_t>(job) % kinds.size()]);
  }
}

} // namespace

TEST(Killed, AtRandom) {
  killSome({{ACLSHMEM_DATA_OP_MTE, DEVICE_SIDE},
            {ACLSHMEM_DATA_OP_SDMA, DEVICE_SIDE},
            {ACLSHMEM_DATA_OP_UDMA, DEVICE_SIDE},
            {ACLSHMEM_DATA_OP_MTE, HOST_SIDE}},
           numberFrom("PITON_TEST_KILLS", 3));
}

TEST(Killed, AtRandomInInitAndFinalize) {
  killSome({{ACLSHMEM_DATA_OP_MTE, DEVICE_SIDE, false}}, numberFrom("PITON_TEST_KILLS", 1));
}
