// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PEs as processes with the C API: what a C++ program sees.

#include "test/runtime/shmem/Jobs.h"

#include "abi/DeviceState.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace piton;
using namespace piton::test;

namespace {

void expectAll(const std::vector<ProcessResult> &results, int code = 0) {
  for (size_t pe = 0; pe < results.size(); ++pe)
    EXPECT_EQ(results[pe].exitCode, code) << "PE " << pe << " signal " << results[pe].signal << "\n"
                                          << results[pe].output;
}

int initialize(int pe, int count, const std::string &url, uint64_t bytes = 1 << 20) {
  aclshmemx_set_conf_store_tls(false, "", 0);
  aclshmemx_init_attr_t attr = attributes(pe, count, url, bytes);
  return aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attr);
}

} // namespace

TEST(Process, RingThroughThePeersHeap) {
  for (int count : {1, 2, 3, 4, 8}) {
    std::string url = freeUrl();
    expectAll(runProcesses(count, [&](int pe) {
      EXPECT_EQ(initialize(pe, count, url), 0) << piton_last_error();
      EXPECT_EQ(aclshmem_my_pe(), pe);
      EXPECT_EQ(aclshmem_n_pes(), count);
      auto *word = static_cast<int *>(aclshmem_calloc(16, sizeof(int)));
      EXPECT_TRUE(word) << piton_last_error();
      auto *next = static_cast<int *>(aclshmem_ptr(word, (pe + 1) % count));
      *next = pe + 1;
      void *other = aclshmem_malloc(64); // also a barrier
      EXPECT_TRUE(other) << piton_last_error();
      EXPECT_EQ(*word, (pe + count - 1) % count + 1);
      EXPECT_EQ(aclshmem_finalize(), 0) << piton_last_error();
      return 0;
    }));
  }
}

TEST(Process, TheDeviceStateLiesAtItsConstantAddress) {
  std::string url = freeUrl();
  expectAll(runProcesses(2, [&](int pe) {
    EXPECT_EQ(initialize(pe, 2, url), 0) << piton_last_error();
    const auto *state = reinterpret_cast<const DeviceState *>(kDeviceStateAddress);
    EXPECT_EQ(state->myPe, pe);
    EXPECT_EQ(state->peCount, 2);
    EXPECT_EQ(state->initialized, 1);
    EXPECT_EQ(state->heapBase, aclshmemx_get_heap_base(DEVICE_SIDE));
    EXPECT_EQ(state->boards[1 - pe]->state, static_cast<uint32_t>(PeState::Running));
    EXPECT_EQ(aclshmem_finalize(), 0);
    EXPECT_EQ(state->initialized, 0);
    return 0;
  }));
}

TEST(Process, InitAndFinalizeAgainOnTheSamePort) {
  std::string url = freeUrl();
  expectAll(runProcesses(2, [&](int pe) {
    for (int round = 0; round < 20; ++round) {
      EXPECT_EQ(initialize(pe, 2, url), 0) << piton_last_error();
      EXPECT_TRUE(aclshmem_malloc(1024)) << piton_last_error();
      EXPECT_EQ(aclshmem_finalize(), 0) << piton_last_error();
      EXPECT_EQ(aclshmem_malloc(1024), nullptr);
      EXPECT_EQ(aclshmemx_last_status(), ACLSHMEM_NOT_INITED);
    }
    return 0;
  }));
}

TEST(Process, Pe0MayBringItsSocket) {
  uint16_t port = freePort();
  std::string url = "tcp://127.0.0.1:" + std::to_string(port);
  expectAll(runProcesses(2, [&](int pe) {
    aclshmemx_set_conf_store_tls(false, "", 0);
    aclshmemx_init_attr_t attr = attributes(pe, 2, url);
    if (pe == 0) {
      // Bound by the user, who has not listened yet.
      sockaddr_in address = {};
      address.sin_family = AF_INET;
      address.sin_port = htons(port);
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
      setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
      EXPECT_EQ(bind(fd, reinterpret_cast<sockaddr *>(&address), sizeof(address)), 0);
      attr.option_attr.sockFd = fd;
      aclshmemx_init_attr_t wrong = attr;
      wrong.option_attr.sockFd = 999;
      EXPECT_EQ(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &wrong), ACLSHMEM_INVALID_VALUE);
      EXPECT_NE(std::string(piton_last_error()).find("sockFd: cannot listen at it: Bad file"),
                std::string::npos)
          << piton_last_error();
      wrong.option_attr.sockFd = socket(AF_INET, SOCK_STREAM, 0);
      EXPECT_EQ(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &wrong), ACLSHMEM_INVALID_VALUE);
      EXPECT_NE(std::string(piton_last_error()).find("ip_port says port " + std::to_string(port)),
                std::string::npos)
          << piton_last_error();
    }
    EXPECT_EQ(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attr), 0) << piton_last_error();
    aclshmem_barrier_all();
    EXPECT_EQ(aclshmem_finalize(), 0) << piton_last_error();
    return 0;
  }));
}

TEST(Process, AttributesOutsideTheirLimitsAreNamed) {
  expectAll(runProcesses(1, [&](int) {
    std::string url = freeUrl();
    auto tryWith = [&](auto change, int code, const char *text) {
      aclshmemx_init_attr_t attr = attributes(0, 1, url);
      change(attr);
      EXPECT_EQ(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attr), code) << text;
      EXPECT_NE(std::string(piton_last_error()).find(text), std::string::npos)
          << piton_last_error();
      EXPECT_EQ(aclshmemx_init_status(), ACLSHMEM_STATUS_NOT_INITIALIZED);
    };
    tryWith([](auto &) {}, ACLSHMEM_INVALID_VALUE, "set_conf_store_tls(False");
    aclshmemx_set_conf_store_tls(false, "", 0);
    tryWith([](auto &a) { a.my_pe = -1; }, ACLSHMEM_INVALID_VALUE, "my_pe is -1");
    tryWith([](auto &a) { a.my_pe = 1; }, ACLSHMEM_INVALID_PARAM, "my_pe is 1");
    tryWith([](auto &a) { a.n_pes = 0; }, ACLSHMEM_INVALID_VALUE, "n_pes is 0");
    tryWith([](auto &a) { a.n_pes = 16385; }, ACLSHMEM_INVALID_VALUE, "16384");
    tryWith([](auto &a) { a.local_mem_size = 0; }, ACLSHMEM_INVALID_VALUE, "local_mem_size is 0");
    tryWith([](auto &a) { a.local_mem_size = (40ull << 30) + 1; }, ACLSHMEM_INVALID_VALUE,
            "40 GiB");
    tryWith([](auto &a) { a.option_attr.shm_init_timeout = 0; }, ACLSHMEM_INVALID_VALUE,
            "timeout is 0");
    tryWith([](auto &a) { a.option_attr.data_op_engine_type = (data_op_engine_type_t)16; },
            ACLSHMEM_INVALID_VALUE, "data_op_engine_type is 16");
    tryWith([](auto &a) { std::strcpy(a.ip_port, "127.0.0.1:8666"); }, ACLSHMEM_INVALID_PARAM,
            "does not start with tcp://");
    tryWith([](auto &a) { std::strcpy(a.ip_port, "tcp://127.0.0.1:80"); }, ACLSHMEM_INVALID_PARAM,
            "out of range");
    tryWith([](auto &a) { std::strcpy(a.ip_port, "tcp://no_name:8666"); }, ACLSHMEM_INVALID_PARAM,
            "host is no");
    tryWith([](auto &a) { a.instance_id = 1; }, ACLSHMEM_NOT_SUPPORTED, "instance_id is 1");
    EXPECT_EQ(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, nullptr), ACLSHMEM_INVALID_PARAM);
    EXPECT_EQ(initialize(0, 1, url), 0) << piton_last_error();
    EXPECT_EQ(initialize(0, 1, url), ACLSHMEM_INNER_ERROR);
    EXPECT_EQ(aclshmem_ptr(aclshmemx_get_heap_base(DEVICE_SIDE), 1), nullptr);
    int local = 0;
    EXPECT_EQ(aclshmem_ptr(&local, 0), nullptr);
    EXPECT_EQ(aclshmem_finalize(), 0);
    EXPECT_EQ(aclshmem_finalize(), 0) << "nothing to end";
    return 0;
  }));
}

TEST(Process, HeapsOfDifferentSizesAreAnErrorThatNamesBoth) {
  std::string url = freeUrl();
  expectAll(runProcesses(2, [&](int pe) {
    EXPECT_NE(initialize(pe, 2, url, pe ? 4 << 20 : 1 << 20), 0);
    std::string text = piton_last_error();
    EXPECT_NE(text.find("1048576"), std::string::npos) << text;
    EXPECT_NE(text.find("4194304"), std::string::npos) << text;
    return 0;
  }));
}
