// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C API between processes: typed data calls, signals, the wait families, teams, streams.

#include "test/runtime/shmem/Jobs.h"

#include "piton/runtime.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace piton;
using namespace piton::test;

namespace {

/// Runs `body(pe)` on `count` processes inside init and finalize.
void runJob(int count, const std::function<void(int)> &body) {
  std::string url = freeUrl();
  auto results = runProcesses(count, [&](int pe) {
    aclshmemx_set_conf_store_tls(false, "", 0);
    aclshmemx_init_attr_t attr = attributes(pe, count, url);
    EXPECT_EQ(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attr), 0) << piton_last_error();
    body(pe);
    EXPECT_EQ(aclshmem_finalize(), 0) << piton_last_error();
    return 0;
  });
  for (const ProcessResult &result : results)
    EXPECT_EQ(result.exitCode, 0) << result.output;
}

#define EXPECT_OK EXPECT_EQ(aclshmemx_last_status(), 0) << piton_last_error()

template <typename T> T *symmetric(size_t count) {
  return static_cast<T *>(aclshmem_calloc(count, sizeof(T)));
}

} // namespace

TEST(Api, TypedCallsMoveTheirTypes) {
  runJob(2, [](int pe) {
    int peer = 1 - pe;
#define CHECK_TYPE(name, T)                                                                        \
  {                                                                                                \
    T *word = symmetric<T>(16), mine[4] = {T(pe + 1), T(2), T(3), T(4)}, back[4] = {};             \
    aclshmem_##name##_put(word, mine, 4, peer);                                                    \
    EXPECT_OK;                                                                                     \
    aclshmem_barrier_all();                                                                        \
    EXPECT_EQ(word[0], T(peer + 1)) << #name;                                                      \
    EXPECT_EQ(word[3], T(4)) << #name;                                                             \
    EXPECT_EQ(aclshmem_##name##_g(word + 1, peer), T(2)) << #name;                                 \
    aclshmem_##name##_get(back, word, 4, peer);                                                    \
    EXPECT_EQ(back[0], T(pe + 1)) << #name;                                                        \
    aclshmem_barrier_all();                                                                        \
    aclshmem_##name##_p(word + 8, T(9), peer);                                                     \
    aclshmem_##name##_iput(word, mine, 2, 1, 3, peer);                                             \
    aclshmem_barrier_all();                                                                        \
    EXPECT_EQ(word[8], T(9)) << #name;                                                             \
    EXPECT_EQ(word[4], T(3)) << #name;                                                             \
    aclshmem_##name##_iget(back, word, 1, 2, 2, peer);                                             \
    EXPECT_EQ(back[1], T(2)) << #name;                                                             \
    aclshmem_##name##_put_nbi(word + 10, mine, 2, peer);                                           \
    aclshmem_##name##_get_nbi(back, word + 8, 1, peer);                                            \
    aclshmem_quiet();                                                                              \
    EXPECT_EQ(back[0], T(9)) << #name;                                                             \
    uint8_t *sig = symmetric<uint8_t>(64);                                                         \
    aclshmem_##name##_put_signal(word + 12, mine + 2, 1, sig, 5, ACLSHMEM_SIGNAL_SET, peer);       \
    aclshmem_signal_wait_until(reinterpret_cast<int32_t *>(sig), ACLSHMEM_CMP_EQ, 5);              \
    EXPECT_EQ(word[12], T(3)) << #name;                                                            \
    aclshmem_barrier_all();                                                                        \
    EXPECT_EQ(word[11], T(2)) << #name;                                                            \
    aclshmem_##name##_put_signal_nbi(word + 13, mine + 3, 1, sig, 1, ACLSHMEM_SIGNAL_ADD, peer);   \
    aclshmem_signal_wait_until(reinterpret_cast<int32_t *>(sig), ACLSHMEM_CMP_GT, 5);              \
    EXPECT_EQ(word[13], T(4)) << #name;                                                            \
    aclshmem_free(sig);                                                                            \
    EXPECT_OK;                                                                                     \
    aclshmem_barrier_all();                                                                        \
    aclshmem_free(word);                                                                           \
  }
    ACLSHMEM_RMA_TYPES(CHECK_TYPE)
  });
}

TEST(Api, SignalsBehindDataAndSixComparisons) {
  runJob(2, [](int pe) {
    auto *data = symmetric<int32_t>(1024);
    auto *sig = symmetric<int32_t>(16);
    int peer = 1 - pe;
    std::vector<int32_t> mine(1024);
    for (int round = 1; round <= 200; ++round) {
      std::fill(mine.begin(), mine.end(), round);
      if (pe == 0) {
        if (round % 2)
          aclshmem_int32_put_signal_nbi(data, mine.data(), 1024, reinterpret_cast<uint8_t *>(sig),
                                        1, ACLSHMEM_SIGNAL_ADD, peer);
        else
          aclshmemx_putmem_signal(data, mine.data(), 4096, sig, round, ACLSHMEM_SIGNAL_SET, peer);
        aclshmem_quiet();
        aclshmem_signal_wait_until(sig, ACLSHMEM_CMP_EQ, round);
      } else {
        aclshmem_signal_wait_until(sig, ACLSHMEM_CMP_GE, round);
        EXPECT_EQ(data[0], round);
        EXPECT_EQ(data[1023], round);
        aclshmemx_signal_op(sig, round, ACLSHMEM_SIGNAL_SET, peer);
      }
      EXPECT_OK;
    }
    aclshmem_barrier_all();
    *sig = 5;
    aclshmem_signal_wait_until(sig, ACLSHMEM_CMP_NE, 4);
    aclshmem_signal_wait_until(sig, ACLSHMEM_CMP_GT, 4);
    aclshmem_signal_wait_until(sig, ACLSHMEM_CMP_LT, 6);
    aclshmem_signal_wait_until(sig, ACLSHMEM_CMP_LE, 5);
    EXPECT_OK;
    aclshmem_signal_wait_until(sig, 6, 5);
    EXPECT_EQ(aclshmemx_last_status(), ACLSHMEM_INVALID_VALUE);
  });
}

TEST(Api, WaitFamiliesOverSeveralWords) {
  runJob(2, [](int pe) {
#define CHECK_WAITS(name, T)                                                                       \
  {                                                                                                \
    T *words = symmetric<T>(64), wanted[3] = {T(1), T(2), T(3)};                                   \
    int status[3] = {0, 1, 0};                                                                     \
    size_t index = 0, indices[3] = {}, count = 0;                                                  \
    int result = 0;                                                                                \
    aclshmem_##name##_test_any(words, 3, nullptr, ACLSHMEM_CMP_EQ, T(1), &index);                  \
    EXPECT_EQ(index, SIZE_MAX) << #name;                                                           \
    aclshmem_barrier_all();                                                                        \
    aclshmem_##name##_p(words + 2, T(3), 1 - pe);                                                  \
    aclshmem_##name##_wait_until_any(words, 3, nullptr, ACLSHMEM_CMP_GT, T(2), &index);            \
    EXPECT_EQ(index, 2u) << #name;                                                                 \
    aclshmem_##name##_wait(words + 2, T(0));                                                       \
    aclshmem_##name##_p(words, T(1), 1 - pe);                                                      \
    aclshmem_##name##_wait_until_all_vector(words, 3, status, ACLSHMEM_CMP_EQ, wanted);            \
    aclshmem_##name##_wait_until_some(words, 3, indices, status, ACLSHMEM_CMP_NE, T(0), &count);   \
    EXPECT_EQ(count, 2u) << #name;                                                                 \
    EXPECT_EQ(indices[1], 2u) << #name;                                                            \
    aclshmem_##name##_test_all_vector(words, 3, nullptr, ACLSHMEM_CMP_EQ, wanted, &result);        \
    EXPECT_EQ(result, 0) << #name;                                                                 \
    aclshmem_##name##_test(words + 2, ACLSHMEM_CMP_LE, T(3), &result);                             \
    EXPECT_EQ(result, 1) << #name;                                                                 \
    int none[3] = {1, 1, 1};                                                                       \
    aclshmem_##name##_wait_until_any(words, 3, none, ACLSHMEM_CMP_EQ, T(9), &index);               \
    EXPECT_EQ(index, SIZE_MAX) << #name;                                                           \
    EXPECT_OK;                                                                                     \
    aclshmem_barrier_all();                                                                        \
    aclshmem_free(words);                                                                          \
  }
    ACLSHMEM_P2P_TYPES(CHECK_WAITS)
  });
}

/// A job of one PE in which `wait` can never end; returns what it reports.
std::string standstillOf(const std::function<void()> &wait) {
  std::string url = freeUrl();
  return runProcesses(1,
                      [&](int) {
                        setenv("PITON_STANDSTILL_SECONDS", "0.2", 1);
                        aclshmemx_set_conf_store_tls(false, "", 0);
                        aclshmemx_init_attr_t attr = attributes(0, 1, url);
                        EXPECT_EQ(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attr), 0);
                        wait();
                        std::printf("<%s>\n", piton_last_error());
                        aclshmem_finalize();
                        return 0;
                      })[0]
      .output;
}

TEST(Api, ReportsShowValuesInTheTypeOfTheWord) {
  auto expect = [](const char *part, const std::function<void()> &wait) {
    std::string text = standstillOf(wait);
    EXPECT_NE(text.find(part), std::string::npos) << text << "\n(expected: " << part << ")";
  };
#define EXPECT_SHOWN(name, T, seen, wanted, part)                                                  \
  expect(part, [] {                                                                                \
    T *word = symmetric<T>(1);                                                                     \
    *word = seen;                                                                                  \
    aclshmem_##name##_wait_until(word, ACLSHMEM_CMP_EQ, wanted);                                   \
  })
  EXPECT_SHOWN(float, float, 1.5f, -0.25f, "value seen 1.5, wanted == -0.25");
  EXPECT_SHOWN(uint8, uint8_t, 200, 250, "value seen 200, wanted == 250");
  EXPECT_SHOWN(int8, int8_t, -5, -6, "value seen -5, wanted == -6");
  EXPECT_SHOWN(uint32, uint32_t, 4000000000u, 1, "value seen 4000000000, wanted == 1");
  EXPECT_SHOWN(uint64, uint64_t, UINT64_MAX, 0, "value seen 18446744073709551615, wanted == 0");
#undef EXPECT_SHOWN
  // Of several words the one that does not come.
  expect("heap + 0xc of PE 0: value seen 0, wanted == 1", [] {
    auto *words = symmetric<int32_t>(5);
    words[0] = words[1] = 1;
    int status[] = {0, 0, 1, 0, 0};
    aclshmem_int32_wait_until_all(words, 5, status, ACLSHMEM_CMP_EQ, 1);
  });
}

TEST(Api, TeamsAndStreams) {
  runJob(4, [](int pe) {
    int odd = 0, x = 0, y = 0;
    EXPECT_EQ(aclshmem_team_split_strided(ACLSHMEM_TEAM_WORLD, 1, 2, 2, &odd), 0);
    EXPECT_EQ(aclshmem_team_my_pe(odd), pe % 2 ? pe / 2 : -1);
    EXPECT_EQ(aclshmem_team_split_2d(ACLSHMEM_TEAM_WORLD, 2, &x, &y), 0);
    EXPECT_EQ(aclshmem_team_n_pes(x), 2);
    EXPECT_EQ(aclshmem_team_translate_pe(y, 1, ACLSHMEM_TEAM_WORLD), 2 + pe % 2);
    EXPECT_EQ(aclshmem_team_split_strided(9, 0, 1, 1, &odd), ACLSHMEM_INVALID_PARAM);
    EXPECT_EQ(aclshmem_team_split_strided(0, 0, 1, 1, nullptr), ACLSHMEM_INVALID_PARAM);
    aclshmem_team_config_t config;
    EXPECT_EQ(aclshmem_team_get_config(x, &config), 0);
    EXPECT_EQ(aclshmem_team_get_config(77, &config), ACLSHMEM_INVALID_PARAM);

    auto *word = symmetric<int32_t>(16);
    piton_device_t *device = nullptr;
    piton_stream_t *stream = nullptr;
    EXPECT_EQ(piton_device_get(0, &device), PITON_OK);
    EXPECT_EQ(piton_stream_create(device, &stream), PITON_OK);
    aclshmemx_signal_op_on_stream(word, pe + 1, ACLSHMEM_SIGNAL_SET, (pe + 1) % 4, stream);
    aclshmemx_signal_wait_until_on_stream(word, ACLSHMEM_CMP_EQ, (pe + 3) % 4 + 1, stream);
    int32_t copy = 0;
    aclshmemx_barrier_all_on_stream(stream);
    aclshmemx_getmem_on_stream(&copy, word, 4, (pe + 1) % 4, stream);
    EXPECT_EQ(piton_stream_synchronize(stream), PITON_OK) << piton_last_error();
    EXPECT_EQ(copy, pe + 1);
    aclshmemx_putmem_on_stream(word, &copy, 4, 99, stream);
    EXPECT_NE(piton_stream_synchronize(stream), PITON_OK);
    EXPECT_NE(std::string(piton_last_error()).find("PE 99 is not one of 0 to 3"), std::string::npos)
        << piton_last_error();
    EXPECT_EQ(piton_stream_destroy(stream), PITON_OK);
    EXPECT_EQ(aclshmemx_set_udma_config(0, 64, 0), ACLSHMEM_INVALID_VALUE);
    EXPECT_EQ(aclshmemx_set_rdma_config(190 * 1024, 256, 0), 0);
    aclshmem_barrier_all();
  });
}
