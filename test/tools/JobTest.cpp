// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// piton-run -n: processes with the environment of a job, and their end.

#include <gtest/gtest.h>

#include "piton/shmem.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <sys/wait.h>

namespace fs = std::filesystem;

namespace {

/// As a PE of a job: takes a bit of the heap and lets PE 0 show what npu-smi says.
int runAsPe() {
  aclshmemx_set_conf_store_tls(false, "", 0);
  aclshmemx_init_attr_t attr = ACLSHMEMX_INIT_ATTR_DEFAULT;
  attr.my_pe = std::atoi(std::getenv("RANK"));
  attr.n_pes = 2;
  attr.local_mem_size = 4 << 20;
  attr.option_attr.data_op_engine_type =
      static_cast<data_op_engine_type_t>(ACLSHMEM_DATA_OP_MTE | ACLSHMEM_DATA_OP_SDMA);
  std::strncpy(attr.ip_port, std::getenv("PITON_SHMEM_URL"), sizeof(attr.ip_port) - 1);
  if (aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attr) || !aclshmem_malloc(1000))
    return 1;
  int code = attr.my_pe == 0 ? std::system((std::string(NPU_SMI) + " info").c_str()) : 0;
  aclshmem_barrier_all();
  return aclshmem_finalize() || code;
}

/// Runs before the tests when this process is a PE.
const int asPe = std::getenv("PITON_TEST_JOB") ? (std::exit(runAsPe()), 0) : 0;

struct Result {
  int code = -1;
  std::string output;
};

Result run(const std::string &words) {
  Result result;
  std::string command = std::string(PITON_RUN) + " " + words + " 2>&1";
  FILE *pipe = popen(command.c_str(), "r");
  if (!pipe)
    return result;
  char buffer[1024];
  while (size_t n = fread(buffer, 1, sizeof(buffer), pipe))
    result.output.append(buffer, n);
  result.code = WEXITSTATUS(pclose(pipe));
  return result;
}

bool contains(const Result &result, const char *text) {
  return result.output.find(text) != std::string::npos;
}

} // namespace

TEST(Job, EveryPeHasItsRank) {
  Result r = run("-n 3 -- sh -c 'echo \"pe $RANK of $WORLD_SIZE at $PITON_SHMEM_URL\"'");
  EXPECT_EQ(r.code, 0) << r.output;
  for (const char *text : {"pe 0 of 3 at tcp://127.0.0.1:", "pe 1 of 3", "pe 2 of 3"})
    EXPECT_TRUE(contains(r, text)) << r.output;
}

TEST(Job, AFailureEndsAllWithItsCode) {
  auto start = std::chrono::steady_clock::now();
  Result r = run("-n 3 -- sh -c 'test $RANK = 1 && exit 7; exec sleep 60'");
  EXPECT_EQ(r.code, 7) << r.output;
  EXPECT_TRUE(contains(r, "PE 1 (pid ")) << r.output;
  EXPECT_TRUE(contains(r, "ended with exit code 7")) << r.output;
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

TEST(Job, ASignalIsNamed) {
  Result r = run("-n 2 -- sh -c 'test $RANK = 0 && kill -9 $$; exec sleep 60'");
  EXPECT_EQ(r.code, 128 + 9) << r.output;
  EXPECT_TRUE(contains(r, "was ended by signal 9")) << r.output;
}

TEST(Job, NpuSmiShowsLivePes) {
  // A job of the test's own: this program, started again (see main below).
  std::string self = fs::read_symlink("/proc/self/exe");
  Result r = run("-n 2 -- env PITON_TEST_JOB=1 " + self);
  EXPECT_EQ(r.code, 0) << r.output;
  for (const char *text : {"0 of 2", "1 of 2", "1 / 4", "MTE+SDMA"})
    EXPECT_TRUE(contains(r, text)) << r.output;
  FILE *pipe = popen((std::string(NPU_SMI) + " info").c_str(), "r");
  char buffer[8192] = {};
  size_t n = fread(buffer, 1, sizeof(buffer) - 1, pipe);
  pclose(pipe);
  std::string after(buffer, n);
  EXPECT_EQ(after.find("MTE+SDMA"), std::string::npos) << after;
}

TEST(Job, BadCommandLines) {
  EXPECT_TRUE(contains(run("-n 0 -- true"), "-n 0: expected a number from 1 to 1024"));
  EXPECT_TRUE(contains(run("-- true"), "needs -n N"));
  EXPECT_TRUE(contains(run("-n 2 -- /does/not/exist"), "cannot run '/does/not/exist'"));
}
