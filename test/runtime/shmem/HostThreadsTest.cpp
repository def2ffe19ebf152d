// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Several threads of a PE in the C API: some wait while others work, all are in a barrier, one ends
// the job under the others.

#include "test/runtime/shmem/Faults.h"

#include "piton/runtime.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace piton;
using namespace piton::test;

namespace {

#define EXPECT_OK EXPECT_EQ(aclshmemx_last_status(), 0) << piton_last_error()

/// Runs `body(pe)` on `count` PEs that find a standstill after `seconds`.
void runJob(int count, const char *seconds, const std::function<void(int)> &body) {
  std::string url = freeUrl();
  expectAll(runProcesses(count, [&](int pe) {
    setenv("PITON_STANDSTILL_SECONDS", seconds, 1);
    EXPECT_EQ(initialize(pe, count, url), 0) << piton_last_error();
    body(pe);
    return 0;
  }));
}

int32_t *makeWord() { return static_cast<int32_t *>(aclshmem_calloc(16, 4)); }

void waitFor(int32_t *word) { aclshmem_signal_wait_until(word, ACLSHMEM_CMP_EQ, 1); }

bool has(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST(HostThreads, OneWaitsForWhatAnotherSignalsLater) {
  // Longer than a standstill: one PE sleeps, the other computes.
  runJob(2, "3", [](int pe) {
    int32_t *word = makeWord();
    std::thread waits([&] {
      waitFor(word);
      EXPECT_OK;
    });
    auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(4500);
    if (pe == 0)
      std::this_thread::sleep_until(end);
    while (std::chrono::steady_clock::now() < end) {
    }
    aclshmemx_signal_op(word, 1, ACLSHMEM_SIGNAL_SET, pe);
    EXPECT_OK;
    waits.join();
    EXPECT_EQ(aclshmem_finalize(), 0) << piton_last_error();
  });
}

TEST(HostThreads, ThreadsThatWaitForOtherThingsAreNoWork) {
  runJob(2, "1", [](int) {
    int32_t *word = makeWord();
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    std::thread reads([&] {
      char byte;
      EXPECT_EQ(read(ends[0], &byte, 1), 1);
    });
    std::string told;
    std::thread waits([&] {
      waitFor(word);
      told = piton_last_error();
      EXPECT_EQ(write(ends[1], "", 1), 1);
    });
    waits.join();
    reads.join();
    EXPECT_TRUE(has(told, "standstill: all PEs wait for each other")) << told;
    aclshmem_finalize();
  });
}

TEST(HostThreads, BarriersOfSeveralThreadsComeOneAfterTheOther) {
  constexpr int kThreads = 3, kRounds = 50;
  runJob(2, "10", [](int pe) {
    int32_t *word = makeWord();
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i)
      threads.emplace_back([&] {
        for (int round = 0; round < kRounds; ++round) {
          aclshmem_barrier_all();
          EXPECT_OK;
        }
      });
    for (std::thread &thread : threads)
      thread.join();
    // As many as the other PE has made: both go on in step.
    aclshmem_int32_p(word, 1, 1 - pe);
    aclshmem_barrier_all();
    EXPECT_EQ(*word, 1);
    EXPECT_EQ(aclshmem_finalize(), 0) << piton_last_error();
  });
}

TEST(HostThreads, FinalizeUnderAThreadThatWaits) {
  runJob(1, "1", [](int) {
    int32_t *word = makeWord();
    std::atomic<bool> begun{false};
    std::string told;
    std::thread waits([&] {
      begun = true;
      waitFor(word);
      told = piton_last_error();
    });
    while (!begun)
      std::this_thread::yield();
    later(50);
    aclshmem_finalize();
    waits.join();
    EXPECT_TRUE(has(told, "standstill") || has(told, "not initialised")) << told;
    EXPECT_EQ(aclshmemx_init_status(), ACLSHMEM_STATUS_NOT_INITIALIZED);
  });
}

TEST(HostThreads, CallsWhileJobsEndAndBegin) {
  std::string url = freeUrl();
  expectAll(runProcesses(1, [&](int) {
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i)
      threads.emplace_back([&, i] {
        char local[256];
        while (!stop) {
          void *base = aclshmemx_get_heap_base(DEVICE_SIDE);
          if (i == 0)
            aclshmem_barrier_all();
          else if (base)
            aclshmem_putmem(static_cast<char *>(base) + i * sizeof(local), local, sizeof(local), 0);
          aclshmem_my_pe();
          aclshmem_team_n_pes(0);
        }
      });
    for (int round = 0; round < 10; ++round) {
      EXPECT_EQ(initialize(0, 1, url), 0) << piton_last_error();
      later(5);
      EXPECT_EQ(aclshmem_finalize(), 0) << piton_last_error();
    }
    stop = true;
    for (std::thread &thread : threads)
      thread.join();
    return 0;
  }));
}

TEST(HostThreads, StreamsThatAreBehindWhenTheJobEnds) {
  runJob(1, "10", [](int) {
    int32_t *word = makeWord();
    piton_device_t *device = nullptr;
    piton_stream_t *stream = nullptr;
    EXPECT_EQ(piton_device_get(0, &device), PITON_OK);
    EXPECT_EQ(piton_stream_create(device, &stream), PITON_OK);
    // The first one waits for ever, the second one is still queued.
    aclshmemx_signal_wait_until_on_stream(word, ACLSHMEM_CMP_EQ, 1, stream);
    aclshmemx_signal_op_on_stream(word, 1, ACLSHMEM_SIGNAL_SET, 0, stream);
    later(100);
    EXPECT_EQ(aclshmem_finalize(), 0) << piton_last_error();
    EXPECT_NE(piton_stream_synchronize(stream), PITON_OK);
    std::string text = piton_last_error();
    EXPECT_TRUE(has(text, "synchronise") || has(text, "not initialised")) << text;
    EXPECT_EQ(piton_stream_destroy(stream), PITON_OK);
  });
}

TEST(HostThreads, FinalizeInALogger) {
  runJob(1, "10", [](int) {
    static int code;
    code = 0;
    aclshmemx_set_extern_logger([](int, const char *text) {
      if (has(text, "PE 7 is not one"))
        code = aclshmem_finalize();
    });
    int value = 0;
    aclshmem_putmem(makeWord(), &value, 4, 7);
    aclshmemx_set_extern_logger(nullptr);
    EXPECT_EQ(code, ACLSHMEM_INNER_ERROR);
    EXPECT_EQ(aclshmem_my_pe(), 0);
    EXPECT_EQ(aclshmem_finalize(), 0) << piton_last_error();
  });
}
