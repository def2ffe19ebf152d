// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arguments that no call can use, through the C API: memory that is not there or may not be
// written, sizes beyond the heap, texts beyond their fields. Each is one error that names the call
// and the argument, and the job goes on.

#include "test/runtime/shmem/Faults.h"

#include "piton/runtime.h"
#include "sim/Sanitizers.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <sys/mman.h>
#include <vector>

using namespace piton;
using namespace piton::test;

namespace {

void *at(uint64_t address) { return reinterpret_cast<void *>(address); }

/// Calls that report by aclshmemx_last_status.
template <typename Call> void expectFails(Call call, const std::string &text) {
  aclshmemx_clear_status();
  call();
  expectError(aclshmemx_last_status(), text);
}

/// Two pages, of which the second is not there.
struct Edge {
  char *page = static_cast<char *>(
      mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  Edge() { munmap(page + 4096, 4096); }
  ~Edge() { munmap(page, 4096); }
  std::string end() const {
    char text[32];
    std::snprintf(text, sizeof(text), "0x%llx",
                  static_cast<unsigned long long>(reinterpret_cast<uintptr_t>(page + 4096)));
    return text;
  }
};

/// Runs `body` on a PE of its own with an engine.
void alone(data_op_engine_type_t engine, const std::function<void()> &body, int count = 1) {
  std::string url = freeUrl();
  expectAll(runProcesses(count, [&](int pe) {
    aclshmemx_set_conf_store_tls(false, "", 0);
    aclshmemx_init_attr_t attr = attributes(pe, count, url, 8 << 20);
    attr.option_attr.data_op_engine_type = engine;
    EXPECT_EQ(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attr), 0) << piton_last_error();
    body();
    aclshmem_barrier_all();
    EXPECT_EQ(aclshmemx_last_status(), 0) << piton_last_error();
    EXPECT_EQ(aclshmem_finalize(), 0) << piton_last_error();
    return 0;
  }));
}

class Misuse : public testing::TestWithParam<data_op_engine_type_t> {};

} // namespace

TEST_P(Misuse, LocalMemoryThatIsNotThere) {
  if (sim::kThreadSanitizer)
    GTEST_SKIP() << "TSan keeps a lock of its own when a fault ends an atomic store";
  alone(
      GetParam(),
      [] {
        int peer = 1 - aclshmem_my_pe();
        auto *word = static_cast<char *>(aclshmem_calloc(1 << 20, 4));
        auto *sig = reinterpret_cast<int32_t *>(word + 4096);
        Edge edge;
        char *last = edge.page + 4092;
        std::string from = "aclshmem_putmem: the source, ", to = "the destination, ";
        for (size_t bytes : {4, 64, 100000, 3 << 20})
          expectFails([&] { aclshmem_putmem(word, at(4096), bytes, peer); },
                      from + std::to_string(bytes) +
                          " bytes at 0x1000, cannot be read: 0x1000 is not memory of this process");
        expectFails([&] { aclshmem_putmem(word, last, 8, peer); },
                    "cannot be read: " + edge.end() + " is not memory of this process");
        expectFails([&] { aclshmem_putmem_nbi(word, at(4096), 64, peer); },
                    "aclshmem_putmem_nbi: the source, 64 bytes at 0x1000");
        expectFails([&] { aclshmem_putmem(word, at(uint64_t(1) << 60), 64, peer); },
                    "at 0x1000000000000000, cannot be read: that is no address of a program");
        expectFails([&] { aclshmem_getmem(at(4096), word, 64, peer); },
                    "aclshmem_getmem: the destination, 64 bytes at 0x1000, cannot be written: "
                    "0x1000 is not memory of this process");
        expectFails([&] { aclshmem_getmem_nbi(last, word, 4096, peer); },
                    "cannot be written: " + edge.end());
        const char constant[64] = "a text that is read-only";
        void *fixed = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        expectFails([&] { aclshmem_getmem(fixed, word, 8, peer); }, "is read-only memory");
        expectFails([&] { aclshmem_int32_get(static_cast<int32_t *>(fixed), sig, 9, peer); },
                    "aclshmem_int32_get: the destination, 36 bytes at ");
        aclshmem_putmem(word, const_cast<char *>(constant), 64, peer);
        EXPECT_EQ(aclshmemx_last_status(), 0) << piton_last_error();
        mprotect(fixed, 4096, PROT_NONE);
        expectFails([&] { aclshmem_putmem(word, fixed, 8, peer); }, "may not be read");
        munmap(fixed, 4096);
        auto *wrong = static_cast<int32_t *>(at(4096));
        expectFails([&] { aclshmem_int32_iput(sig, wrong, 1, 1, 2, peer); },
                    "aclshmem_int32_iput: the source, 4 bytes at 0x1000");
        expectFails([&] { aclshmem_iget64(wrong, sig, 1, 1, 2, peer); },
                    "aclshmem_iget64: the destination, 8 bytes at 0x1000");
        *sig = 0;
        aclshmem_barrier_all();
        expectFails([&] { aclshmemx_putmem_signal(word, wrong, 8, sig, 5, 0, peer); },
                    "aclshmemx_putmem_signal: the source, 8 bytes at 0x1000");
        expectFails([&] { aclshmem_put32_signal_nbi(word, wrong, 8, sig, 5, 0, peer); },
                    "aclshmem_put32_signal_nbi: the source, 32 bytes at 0x1000");
        aclshmem_barrier_all();
        EXPECT_EQ(*sig, 0) << "a signal without its data";
        // A signal that cannot be sent: the data stays here.
        char data[8] = "changed";
        *word = 'a';
        aclshmem_barrier_all();
        expectFails([&] { aclshmemx_putmem_signal(word, data, 8, wrong, 5, 0, peer); },
                    "the signal word, 4 bytes at 0x1000, does not lie in the symmetric heap");
        expectFails([&] { aclshmemx_putmem_signal(word, data, 8, sig, 5, 2, peer); },
                    "signal operation 2");
        aclshmem_barrier_all();
        EXPECT_EQ(*word, 'a');
        // On a stream the error comes with the next synchronisation.
        piton_device_t *device = nullptr;
        piton_stream_t *stream = nullptr;
        EXPECT_EQ(piton_device_get(0, &device), PITON_OK);
        EXPECT_EQ(piton_stream_create(device, &stream), PITON_OK);
        aclshmemx_putmem_on_stream(word, wrong, 8, peer, stream);
        expectError(piton_stream_synchronize(stream),
                    "aclshmemx_putmem_on_stream: the source, 8 bytes at 0x1000");
        EXPECT_EQ(piton_stream_destroy(stream), PITON_OK);
        expectFails([&] { aclshmemx_quiet_on_stream(at(4096)); },
                    "aclshmemx_quiet_on_stream: the stream is none of this process's streams");
        expectFails([&] { aclshmemx_quiet_on_stream(stream); }, "the stream is none");
      },
      2);
}
INSTANTIATE_TEST_SUITE_P(Engines, Misuse,
                         testing::Values(ACLSHMEM_DATA_OP_MTE, ACLSHMEM_DATA_OP_SDMA,
                                         ACLSHMEM_DATA_OP_UDMA),
                         [](const auto &info) {
                           return info.param == ACLSHMEM_DATA_OP_MTE    ? "Mte"
                                  : info.param == ACLSHMEM_DATA_OP_SDMA ? "Sdma"
                                                                        : "Udma";
                         });

TEST(Arguments, SymmetricMemoryBeyondTheHeap) {
  alone(ACLSHMEM_DATA_OP_MTE, [] {
    auto *data = static_cast<char *>(aclshmem_calloc(1024, 4));
    auto *base = static_cast<char *>(aclshmemx_get_heap_base(DEVICE_SIDE));
    int32_t mine[16] = {};
    size_t user = 8 << 20;
    aclshmem_putmem(base + user - 64, mine, 64, 0);
    EXPECT_EQ(aclshmemx_last_status(), 0) << piton_last_error();
    for (size_t bytes : {user + (7 << 20), size_t(1) << 40, SIZE_MAX, SIZE_MAX / 2 + 1})
      expectFails([&] { aclshmem_putmem(base, mine, bytes, 0); },
                  std::to_string(bytes) +
                      " bytes at heap + 0x0, does not lie in the symmetric heap: memory for users "
                      "ends at heap + 0x");
    expectFails([&] { aclshmem_getmem(mine, base - 4, 8, 0); }, "does not lie in the symmetric");
    expectFails([&] { aclshmem_getmem(mine, mine, 8, 0); },
                "aclshmem_getmem: the source, 8 bytes at 0x");
    // Elements whose bytes do not fit into 64 bits are not few bytes.
    auto *words = reinterpret_cast<int32_t *>(data);
    expectFails([&] { aclshmem_int32_put(words, mine, (size_t(1) << 62) + 1, 0); },
                "aclshmem_int32_put: the destination, 18446744073709551615 bytes");
    expectFails([&] { aclshmem_put64_signal(words, mine, (size_t(1) << 61) + 1, words, 1, 0, 0); },
                "18446744073709551615 bytes");
    // Nothing is nothing, wherever it is, but still for a PE of the job.
    for (void *address : {static_cast<void *>(mine), at(4096), at(0)}) {
      aclshmem_putmem(address, address, 0, 0);
      aclshmem_getmem(address, address, 0, 0);
      aclshmem_iput32(address, address, 1, 1, 0, 0);
      EXPECT_EQ(aclshmemx_last_status(), 0) << piton_last_error();
    }
    expectFails([&] { aclshmem_putmem(data, mine, 0, 1); }, "PE 1 is not one of 0 to 0");
    expectFails([&] { aclshmem_iput32(data, mine, 1, 1, 0, -1); }, "PE -1 is not one of 0 to 0");
    // Strides: all elements are checked before one moves.
    mine[0] = 7;
    expectFails([&] { aclshmem_int32_iput(words, mine, 1 << 22, 1, 3, 0); }, "does not lie");
    EXPECT_EQ(words[0], 0);
    expectFails([&] { aclshmem_int32_iput(words, mine, PTRDIFF_MAX, 1, 2, 0); }, "does not lie");
    expectFails([&] { aclshmem_int32_iput(words, mine, -1, 1, 2, 0); }, "does not lie");
    expectFails([&] { aclshmem_int32_iput(words, mine, 0, 0, SIZE_MAX, 0); },
                "the stride of the destination is 0");
    expectFails([&] { aclshmem_int32_iget(mine, words, 0, 1, 2, 0); },
                "the stride of the destination is 0");
    aclshmem_int32_iput(words + 8, mine, -2, 0, 3, 0); // one value to three places
    EXPECT_EQ(aclshmemx_last_status(), 0) << piton_last_error();
    EXPECT_TRUE(words[8] == 7 && words[6] == 7 && words[4] == 7 && words[5] == 0);
  });
}

TEST(Arguments, AnotherPesMappingIsNoSymmetricAddress) {
  alone(
      ACLSHMEM_DATA_OP_MTE,
      [] {
        int peer = 1 - aclshmem_my_pe(), value = 1;
        void *data = aclshmem_calloc(1024, 4);
        void *theirs = aclshmem_ptr(data, peer);
        expectFails([&] { aclshmem_putmem(theirs, &value, 4, peer); },
                    "of this PE but in that of PE " + std::to_string(peer));
        aclshmem_getmem(theirs, data, 4, peer); // as local memory it is as good as any
        EXPECT_EQ(aclshmemx_last_status(), 0) << piton_last_error();
      },
      2);
}

TEST(Arguments, OverlappingTransfersAreThoseOfMemmove) {
  for (auto engine : {ACLSHMEM_DATA_OP_MTE, ACLSHMEM_DATA_OP_SDMA, ACLSHMEM_DATA_OP_UDMA})
    alone(engine, [] {
      constexpr size_t count = 3 << 20;
      auto *data = static_cast<unsigned char *>(aclshmem_malloc(2 * count));
      for (size_t distance : {size_t(1), size_t(4096), size_t(500000), count - 1})
        for (bool up : {true, false}) {
          std::vector<unsigned char> wanted(2 * count);
          for (size_t i = 0; i < 2 * count; ++i)
            wanted[i] = data[i] = static_cast<unsigned char>(i * 2654435761u >> 13);
          size_t from = up ? 0 : distance, to = up ? distance : 0;
          std::memmove(wanted.data() + to, wanted.data() + from, count);
          aclshmem_putmem(data + to, data + from, count, 0);
          EXPECT_EQ(std::memcmp(data, wanted.data(), 2 * count), 0) << distance << " up " << up;
        }
    });
}

TEST(Arguments, WaitsAndTests) {
  alone(ACLSHMEM_DATA_OP_MTE, [] {
    auto *words = static_cast<int32_t *>(aclshmem_calloc(64, 4));
    auto *wrong = static_cast<int32_t *>(at(4096));
    auto *wrongSizes = static_cast<size_t *>(at(4096));
    size_t out = 0, indices[4];
    int result = 0, status[3] = {};
    int32_t values[3] = {}, local = 5;
    expectFails([&] { aclshmem_signal_wait_until(wrong, 0, 1); },
                "aclshmem_signal_wait_until: the word, 4 bytes at 0x1000, cannot be read");
    expectFails([&] { aclshmem_signal_wait_until(nullptr, 0, 1); }, "the word is null");
    expectFails([&] { aclshmem_int32_wait(reinterpret_cast<int32_t *>(1), 1); },
                "is no multiple of 4");
    expectFails([&] { aclshmem_int32_wait_until_all(wrong, 3, nullptr, 0, 1); }, "the words, 12");
    expectFails([&] { aclshmem_int32_wait_until_any(words, 3, wrong, 0, 0, &out); },
                "aclshmem_int32_wait_until_any: status, 12 bytes at 0x1000, cannot be read");
    expectFails([&] { aclshmem_int32_test_all_vector(words, 3, status, 0, wrong, &result); },
                "values, 12 bytes at 0x1000");
    expectFails([&] { aclshmem_int32_test_some(words, 3, wrongSizes, nullptr, 0, 0, &out); },
                "indices, 24 bytes at 0x1000, cannot be written");
    expectFails([&] { aclshmem_int32_wait_until_some(words, 3, indices, nullptr, 0, 0, nullptr); },
                "res_out is null");
    expectFails([&] { aclshmem_int32_test(words, 0, 0, wrong); }, "res_out, 4 bytes at 0x1000");
    expectFails([&] { aclshmem_int32_test_any(words, SIZE_MAX, nullptr, 1, 0, &out); },
                "the words, 18446744073709551615 bytes");
    EXPECT_EQ(out, SIZE_MAX);
    aclshmem_int32_test_any_vector(words, 3, status, 0, values, &out);
    EXPECT_EQ(out, 0u);
    aclshmem_signal_wait_until(&local, 0, 5); // a word outside the heap
    EXPECT_EQ(aclshmemx_last_status(), 0) << piton_last_error();
  });
}

TEST(Arguments, StructuresBeforeAndDuringAJob) {
  auto everywhere = [] {
    auto *wrong = static_cast<int *>(at(4096));
    int good = 0;
    aclshmemx_init_attr_t attr = ACLSHMEMX_INIT_ATTR_DEFAULT;
    aclshmemx_uniqueid_t uid = {};
    auto *badAttr = static_cast<aclshmemx_init_attr_t *>(at(4096));
    auto *badUid = static_cast<aclshmemx_uniqueid_t *>(at(4096));
    expectError(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, badAttr),
                "aclshmemx_init_attr: attr, 120 bytes at 0x1000, cannot be read");
    expectError(aclshmemx_set_attr_uniqueid_args(0, 1, 4096, badUid, &attr), "uid, 136 bytes");
    expectError(aclshmemx_set_attr_uniqueid_args(0, 1, 4096, &uid, badAttr), "attr, 120 bytes");
    expectError(aclshmemx_get_uniqueid(badUid), "cannot be written");
    expectError(aclshmemx_set_conf_store_tls(true, static_cast<char *>(at(4096)), 9),
                "aclshmemx_set_conf_store_tls: info, 9 bytes at 0x1000");
    expectError(aclshmemx_set_config_store_tls_key(nullptr, 3, "", 0, nullptr), "the key is null");
    expectError(aclshmem_team_split_strided(0, 0, 1, 1, wrong), "new_team, 4 bytes at 0x1000");
    expectError(aclshmem_team_split_2d(0, 1, &good, wrong), "y_team, 4 bytes at 0x1000");
    expectFails([&] { aclshmem_info_get_version(&good, wrong); }, "minor, 4 bytes at 0x1000");
    expectFails([&] { aclshmem_info_get_name(static_cast<char *>(at(4096))); }, "name, 256 bytes");
    expectFails([&] { aclshmemx_get_prof(static_cast<aclshmem_prof_pe_t **>(at(4096)), false); },
                "out, 8 bytes at 0x1000");
  };
  alone(ACLSHMEM_DATA_OP_MTE, everywhere);
  expectAll(runProcesses(1, [&](int) {
    everywhere();
    return 0;
  }));
}

TEST(Arguments, AStandstillLimitThatIsNoNumber) {
  for (const char *text : {"soon", "5s", "nan", "1e99"})
    expectAll(runProcesses(1, [&](int) {
      setenv("PITON_STANDSTILL_SECONDS", text, 1);
      expectError(initialize(0, 1, freeUrl()), std::string("PITON_STANDSTILL_SECONDS=") + text +
                                                   ": expected a number of seconds");
      return 0;
    }));
}

TEST(Arguments, TextsHaveTheirLimitsSaid) {
  expectAll(runProcesses(1, [&](int) {
    aclshmemx_set_conf_store_tls(false, "", 0);
    aclshmemx_init_attr_t attr = attributes(0, 1, "tcp://127.0.0.1:8666");
    std::memset(attr.ip_port, 'x', sizeof(attr.ip_port));
    expectError(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attr),
                "ip_port has no end within its 64 bytes; an address has at most 63 characters");
    std::string name = "tcp://" + std::string(80, 'h') + ".example:8666";
    std::memset(attr.ip_port, 0, sizeof(attr.ip_port));
    std::memcpy(attr.ip_port, name.data(), sizeof(attr.ip_port) - 1); // as strncpy does
    expectError(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attr),
                "it has 63 characters, which is all that ip_port holds");
    return 0;
  }));
}
