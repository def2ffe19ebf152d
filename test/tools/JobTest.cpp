// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// piton-run -n: processes with the environment of a job, and their end.

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <sys/wait.h>

namespace {

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

TEST(Job, BadCommandLines) {
  EXPECT_TRUE(contains(run("-n 0 -- true"), "-n 0: expected a number from 1 to 1024"));
  EXPECT_TRUE(contains(run("-- true"), "needs -n N"));
  EXPECT_TRUE(contains(run("-n 2 -- /does/not/exist"), "cannot run '/does/not/exist'"));
}
