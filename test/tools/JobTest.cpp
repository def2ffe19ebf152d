// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// piton-run -n: processes with the environment of a job, and their end.

#include <gtest/gtest.h>

#include "piton/shmem.h"
#include "tools/Npy.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace fs = std::filesystem;

/// Runs what follows as a user without rights, who has no jobs: not as 65534, as whom other tests
/// run some.
#define AS_NOBODY "setpriv --reuid 64321 --regid 64321 --clear-groups "

namespace {

/// Waits until PE 0 of this job has that many connections, one of which is its own.
void awaitConnections(int wanted) {
  int port = std::atoi(std::getenv("MASTER_PORT"));
  for (int round = 0, count = 0; round < 3000 && count < wanted; ++round) {
    usleep(10000);
    count = 0;
    std::ifstream table("/proc/net/tcp");
    for (std::string line; std::getline(table, line);) {
      int local = 0, state = 0;
      if (std::sscanf(line.c_str(), "%*d: %*x:%x %*x:%*x %x", &local, &state) == 2)
        count += local == port && state == 1; // established
    }
  }
}

/// As a PE of a job: takes a bit of the heap and lets PE 0 show what npu-smi says.
int runAsPe() {
  aclshmemx_set_conf_store_tls(false, "", 0);
  aclshmemx_init_attr_t attr = ACLSHMEMX_INIT_ATTR_DEFAULT;
  attr.my_pe = std::atoi(std::getenv("RANK"));
  attr.n_pes = std::atoi(std::getenv("WORLD_SIZE"));
  attr.local_mem_size = 4 << 20;
  attr.option_attr.data_op_engine_type =
      static_cast<data_op_engine_type_t>(ACLSHMEM_DATA_OP_MTE | ACLSHMEM_DATA_OP_SDMA);
  std::strncpy(attr.ip_port, std::getenv("PITON_SHMEM_URL"), sizeof(attr.ip_port) - 1);
  if (aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attr) || !aclshmem_malloc(1000))
    return 1;
  std::printf("<pid %d>\n", getpid());
  std::string command = NPU_SMI " info";
  if (std::getenv("PITON_TEST_ASKS_AS_NOBODY"))
    command = AS_NOBODY + command;
  int code = attr.my_pe == 0 ? std::system(command.c_str()) : 0;
  aclshmem_barrier_all();
  return aclshmem_finalize() || code;
}

/// As a PE of a job in which PE 1 dies: by SIGKILL in a barrier, or before it is a PE at all.
int runAsPeThatLosesAnother(bool early) {
  int pe = std::atoi(std::getenv("RANK"));
  if (early && pe == 1) {
    awaitConnections(3);
    return 3;
  }
  aclshmemx_set_conf_store_tls(false, "", 0);
  aclshmemx_init_attr_t attr = ACLSHMEMX_INIT_ATTR_DEFAULT;
  attr.my_pe = pe;
  attr.n_pes = std::atoi(std::getenv("WORLD_SIZE"));
  attr.local_mem_size = 4 << 20;
  std::strncpy(attr.ip_port, std::getenv("PITON_SHMEM_URL"), sizeof(attr.ip_port) - 1);
  int code = aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attr);
  if (!code && pe == 1)
    kill(getpid(), SIGKILL);
  if (!code)
    aclshmem_barrier_all();
  std::printf("<PE %d told: %s>\n", pe, piton_last_error());
  return 1;
}

/// As a PE of a job of two: PE 1 dies and is not waited for by its parent, PE 0 shows what npu-smi
/// says then.
int runAsPeBesideADeadOne() {
  pid_t other = fork();
  int pe = other == 0;
  aclshmemx_set_conf_store_tls(false, "", 0);
  aclshmemx_init_attr_t attr = ACLSHMEMX_INIT_ATTR_DEFAULT;
  attr.my_pe = pe;
  attr.n_pes = 2;
  attr.local_mem_size = 4 << 20;
  std::strncpy(attr.ip_port, std::getenv("PITON_SHMEM_URL"), sizeof(attr.ip_port) - 1);
  int code = aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attr);
  if (!code && pe == 1)
    kill(getpid(), SIGKILL);
  siginfo_t info;
  waitid(P_PID, static_cast<id_t>(other), &info, WEXITED | WNOWAIT); // it stays a zombie
  std::printf("<dead: %d, live: %d>\n", other, getpid());
  std::fflush(stdout);
  return code ? code : std::system(NPU_SMI " info");
}

int runAs(const std::string &what) {
  if (what == "zombie")
    return runAsPeBesideADeadOne();
  return what == "1" ? runAsPe() : runAsPeThatLosesAnother(what == "early");
}

/// Runs before the tests when this process is a PE.
const int asPe =
    std::getenv("PITON_TEST_JOB") ? (std::exit(runAs(std::getenv("PITON_TEST_JOB"))), 0) : 0;

struct Result {
  int code = -1;
  std::string output;
};

Result capture(const std::string &command) {
  Result result;
  FILE *pipe = popen((command + " 2>&1").c_str(), "r");
  if (!pipe)
    return result;
  char buffer[1024];
  while (size_t n = fread(buffer, 1, sizeof(buffer), pipe))
    result.output.append(buffer, n);
  result.code = WEXITSTATUS(pclose(pipe));
  return result;
}

Result run(const std::string &words) { return capture(PITON_RUN " " + words); }

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
  Result r = run("-n 3 -- env PITON_TEST_JOB=1 " + self);
  EXPECT_EQ(r.code, 0) << r.output;
  for (const char *text : {"0 of 3", "1 of 3", "2 of 3", "1 / 4", "MTE+SDMA"})
    EXPECT_TRUE(contains(r, text)) << r.output;
  // Afterwards they are gone; jobs of other tests may well be there.
  std::stringstream before(r.output);
  std::vector<std::string> pids;
  for (std::string line; std::getline(before, line);)
    if (line.rfind("<pid ", 0) == 0)
      pids.push_back(" " + line.substr(5, line.size() - 6) + " ");
  EXPECT_EQ(pids.size(), 3u) << r.output;
  std::stringstream after(capture(NPU_SMI " info").output);
  for (std::string line; std::getline(after, line);)
    for (const std::string &pid : pids)
      EXPECT_FALSE(line.find(" of 3 ") != line.npos && line.find(pid) != line.npos) << line;
}

TEST(Job, NpuSmiShowsNoDeadPe) {
  std::string self = fs::read_symlink("/proc/self/exe");
  Result r = run("-n 1 -- env SHMEM_LOG_LEVEL=FATAL PITON_TEST_JOB=zombie " + self);
  EXPECT_EQ(r.code, 0) << r.output;
  int dead = 0, live = 0;
  size_t at = r.output.find("<dead: ");
  ASSERT_NE(at, std::string::npos) << r.output;
  ASSERT_EQ(std::sscanf(r.output.c_str() + at, "<dead: %d, live: %d>", &dead, &live), 2);
  EXPECT_TRUE(contains(r, ("0 of 2    " + std::to_string(live) + " ").c_str())) << r.output;
  EXPECT_FALSE(contains(r, ("1 of 2    " + std::to_string(dead) + " ").c_str())) << r.output;
}

TEST(Job, WhatAPeLeavesBehindEndsWithTheFailedJob) {
  // The shell's child holds the pipe that run() reads to its end.
  Result r = run("-n 2 -- sh -c 'test $RANK = 1 && exit 5; sleep 1000; true'");
  EXPECT_EQ(r.code, 5) << r.output;
}

TEST(Job, TheOthersNameAPeThatWasKilled) {
  auto start = std::chrono::steady_clock::now();
  std::string self = fs::read_symlink("/proc/self/exe");
  Result r = run("-n 4 -- env SHMEM_LOG_LEVEL=FATAL PITON_TEST_JOB=killed " + self);
  EXPECT_NE(r.code, 0) << r.output;
  for (int pe : {0, 2, 3})
    EXPECT_TRUE(contains(
        r, ("<PE " + std::to_string(pe) + " told: aclshmem_barrier_all: PE 1 (pid").c_str()))
        << r.output;
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST(Job, TheOthersNameAPeThatNeverCame) {
  std::string self = fs::read_symlink("/proc/self/exe");
  Result r = run("-n 4 -- env SHMEM_LOG_LEVEL=FATAL PITON_TEST_JOB=early " + self);
  EXPECT_EQ(r.code, 3) << r.output;
  for (int pe : {0, 2, 3})
    EXPECT_TRUE(contains(
        r, ("<PE " + std::to_string(pe) + " told: PE 1 of 4 had not connected to PE 0").c_str()))
        << r.output;
}

/// One line, whatever the number of PEs.
void failsOnce(const std::string &words, const char *text) {
  Result r = run(words);
  EXPECT_NE(r.code, 0) << words;
  EXPECT_TRUE(contains(r, text)) << words << "\n" << r.output;
  EXPECT_EQ(std::count(r.output.begin(), r.output.end(), '\n'), 1) << words << "\n" << r.output;
}

TEST(Job, BadCommandLines) {
  failsOnce("-n 0 -- true", "-n 0: expected a number from 1 to 1024");
  failsOnce("-n 1025 -- true", "-n 1025: expected a number from 1 to 1024");
  failsOnce("-n x -- true", "-n x: expected a number from 1 to 1024");
  failsOnce("-n", "-n needs a value");
  failsOnce("-n 3", "there is no kernel and no program to run");
  failsOnce("-n 3 --", "there is no program after --");
  failsOnce("-- true", "needs -n N");
  failsOnce("-n 3 -- /does/not/exist", "cannot run '/does/not/exist': No such file");
  failsOnce("-n 3 -- no-such-program", "cannot run 'no-such-program': No such file");
  failsOnce("-n 3 -- /etc", "cannot run '/etc': Permission denied");
  failsOnce("-n 3 /does/not/exist --grid 1", "cannot read '/does/not/exist'");
  failsOnce("-n 3 --heap 0 -- true", "--heap 0: expected a number of bytes, at most 40 GiB");
}

//===-- Other users -------------------------------------------------------------------------===//

TEST(Job, AnotherUsersJobIsNotShown) {
  if (geteuid() != 0 || capture(AS_NOBODY NPU_SMI " -v").code != 0)
    GTEST_SKIP() << "this user cannot run npu-smi as another one";
  std::string self = fs::read_symlink("/proc/self/exe");
  Result r = run("-n 2 -- env PITON_TEST_JOB=1 PITON_TEST_ASKS_AS_NOBODY=1 " + self);
  EXPECT_EQ(r.code, 0) << r.output;
  EXPECT_TRUE(contains(r, "No running distributed jobs")) << r.output;
  EXPECT_FALSE(contains(r, "of 2")) << r.output;
}

#ifdef PITON_COMPILE
//===-- A distributed kernel without Python -------------------------------------------------===//

class DistributedKernel : public testing::TestWithParam<int> {
protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "piton-job-test-XXXXXX").string();
    folder = mkdtemp(name.data());
    image = (folder / "ring.npubin").string();
    std::string command = PITON_COMPILE " " PITON_INPUTS "/ring.ttir -o " + image;
    ASSERT_EQ(std::system(command.c_str()), 0);
  }
  void TearDown() override { fs::remove_all(folder); }

  std::vector<float> outOf(int pe) {
    std::ifstream file(folder / ("pe" + std::to_string(pe)) / "arg2.npy", std::ios::binary);
    std::string bytes(std::istreambuf_iterator<char>(file), {}), error;
    piton::NpyHeader header;
    std::string_view data;
    if (!piton::readNpy(bytes, header, data, error))
      return {};
    std::vector<float> values(data.size() / sizeof(float));
    std::memcpy(values.data(), data.data(), data.size());
    return values;
  }

  const std::string arguments =
      " --grid 1 --arg zeros:f32:32 --arg zeros:i32:16 --arg zeros:f32:32";
  fs::path folder;
  std::string image;
};

/// Every PE gets its left neighbour's values, by each engine.
TEST_P(DistributedKernel, RunsOnPes) {
  int count = GetParam();
  for (const char *engine : {"mte", "sdma", "udma"}) {
    Result r = run("-n " + std::to_string(count) + " " + image + arguments + " --heap 1048576" +
                   " --engine " + engine + " --out " + (folder / "pe{rank}").string());
    ASSERT_EQ(r.code, 0) << r.output;
    for (int pe = 0; pe < count; ++pe) {
      std::vector<float> out = outOf(pe);
      ASSERT_EQ(out.size(), 32u);
      for (int i = 0; i < 32; ++i)
        ASSERT_EQ(out[static_cast<size_t>(i)], static_cast<float>(i + (pe + count - 1) % count))
            << "PE " << pe << " of " << count;
    }
    for (int pe = 0; pe < count; ++pe)
      fs::remove_all(folder / ("pe" + std::to_string(pe)));
  }
}
INSTANTIATE_TEST_SUITE_P(Counts, DistributedKernel, testing::Values(1, 2, 3, 4, 8));

using DistributedKernelMisuse = DistributedKernel;
TEST_P(DistributedKernelMisuse, IsOneError) {
  failsOnce(image + arguments, "kernel 'ring' is distributed; say with -n N");
  failsOnce("-n 4 " + image + " --arg zeros:f32:32", "--grid is missing");
  failsOnce("-n 4 " + image + " --grid 1 --arg zeros:f32:32", "takes 3 arguments, 1 are given");
  failsOnce("-n 4 " + image + " --grid 1 --arg zeros:f32:32 --arg zeros:f64:16 --arg null",
            "the array's elements ('f8') have 8 bytes, the kernel's (i32) 4");
  failsOnce("-n 4 " + image + " --grid 1 --arg no{rank}.npy --arg null --arg null",
            "cannot read 'no0.npy'");
  failsOnce("-n 4 " + image + arguments + " --engine rdma",
            "--engine rdma: expected mte, sdma, udma or roce");
  failsOnce("-n 4 " + image + arguments + " --heap 100",
            "the arrays need 320 bytes, --heap gives 100");
  failsOnce("-n 4 " + image + arguments + " --out /proc/nothing", "--out /proc/nothing: ");
  Result info = run("-n 4 " + image + " --info");
  EXPECT_EQ(info.code, 0);
  EXPECT_EQ(info.output.find("kernel ring"), info.output.rfind("kernel ring")) << info.output;
}
INSTANTIATE_TEST_SUITE_P(Once, DistributedKernelMisuse, testing::Values(0));
#endif
