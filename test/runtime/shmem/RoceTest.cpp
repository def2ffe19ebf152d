// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PEs of other hosts, which here are network namespaces with addresses of their own: data, signals,
// barriers, teams and failures over the ROCE engine. Needs root and the ip program; without them,
// and without UCX, the tests are skipped.

#include "test/runtime/shmem/Jobs.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sched.h>
#include <sys/mount.h>
#include <thread>
#include <unistd.h>

using namespace piton;
using namespace piton::test;

namespace {

/// Two network namespaces joined by a cable: 10.77.0.1 and 10.77.0.2.
class Hosts {
public:
  Hosts() : name("piton" + std::to_string(getpid())) {
    std::string a = name + "a", b = name + "b";
    std::string script = "exec >/dev/null 2>&1; set -e; ip netns add " + a + "; ip netns add " + b +
                         "; ip -n " + a + " link add v0 type veth peer name v1 netns " + b;
    for (auto [host, device, address] :
         {std::tuple{a, "v0", "10.77.0.1"}, std::tuple{b, "v1", "10.77.0.2"}})
      script += "; ip -n " + host + " addr add " + address + "/24 dev " + device + "; ip -n " +
                host + " link set " + device + " up; ip -n " + host + " link set lo up";
    // UCX takes a device only when its cable is seen, which takes a moment.
    script += "; for i in $(seq 100); do sleep 0.1; ip -n " + a +
              " link show v0 | grep -q 'state UP' && ip -n " + b +
              " link show v1 | grep -q 'state UP' && exit 0; done; exit 1";
    good = geteuid() == 0 && std::filesystem::exists(PITON_ROCE_LIBRARY) &&
           std::system(script.c_str()) == 0;
  }
  ~Hosts() {
    std::string script =
        "exec >/dev/null 2>&1; ip netns del " + name + "a; ip netns del " + name + "b";
    [[maybe_unused]] int code = std::system(script.c_str());
  }
  bool usable() const { return good; }
  /// Moves this process to host 0 or 1.
  void enter(int host) const {
    int fd = open(("/var/run/netns/" + name + (host ? "b" : "a")).c_str(), O_RDONLY | O_CLOEXEC);
    ASSERT_EQ(setns(fd, CLONE_NEWNET), 0) << std::strerror(errno);
    close(fd);
    // /sys lists the network devices of the namespace it was mounted in.
    ASSERT_EQ(unshare(CLONE_NEWNS), 0);
    mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
    umount2("/sys", MNT_DETACH);
    mount("sysfs", "/sys", "sysfs", 0, nullptr);
  }

private:
  std::string name;
  bool good = false;
};

/// PEs 0 and 1 on host 0, the others on host 1.
std::vector<ProcessResult> runJob(const Hosts &hosts, int count,
                                  const std::function<void(int)> &body) {
  return runProcesses(count, [&](int pe) {
    hosts.enter(pe >= 2 || (count == 2 && pe == 1));
    aclshmemx_set_conf_store_tls(false, "", 0);
    aclshmemx_init_attr_t attr = attributes(pe, count, "tcp://10.77.0.1:8666", 8 << 20);
    attr.option_attr.data_op_engine_type =
        static_cast<data_op_engine_type_t>(ACLSHMEM_DATA_OP_MTE | ACLSHMEM_DATA_OP_ROCE);
    EXPECT_EQ(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attr), 0) << piton_last_error();
    if (aclshmemx_init_status() == ACLSHMEM_STATUS_IS_INITIALIZED)
      body(pe);
    return 0;
  });
}

void expectAll(const std::vector<ProcessResult> &results, int victim = -1) {
  for (size_t pe = 0; pe < results.size(); ++pe)
    if (static_cast<int>(pe) != victim)
      EXPECT_EQ(results[pe].exitCode, 0) << "PE " << pe << " signal " << results[pe].signal << "\n"
                                         << results[pe].output;
}

#define EXPECT_OK EXPECT_EQ(aclshmemx_last_status(), 0) << piton_last_error()

#define NEEDS_HOSTS(name)                                                                          \
  Hosts name;                                                                                      \
  if (!name.usable())                                                                              \
  GTEST_SKIP() << "no network namespaces (root and ip are needed) or no UCX"

} // namespace

TEST(Roce, DataSignalsAndBarriersBetweenHosts) {
  NEEDS_HOSTS(hosts);
  for (int count : {2, 4}) {
    expectAll(runJob(hosts, count, [&](int pe) {
      constexpr size_t bytes = 1 << 20;
      auto *data = static_cast<char *>(aclshmem_calloc(bytes, 1));
      auto *word = static_cast<int32_t *>(aclshmem_calloc(16, 4));
      auto *sum = static_cast<int32_t *>(aclshmem_calloc(16, 4));
      std::vector<char> mine(bytes), back(bytes);
      int next = (pe + 1) % count, previous = (pe + count - 1) % count;
      for (int round = 1; round <= 10; ++round) {
        std::fill(mine.begin(), mine.end(), static_cast<char>(16 * pe + round));
        aclshmemx_putmem_signal_nbi(data, mine.data(), bytes, word, round, ACLSHMEM_SIGNAL_SET,
                                    next);
        EXPECT_OK;
        aclshmem_signal_wait_until(word, ACLSHMEM_CMP_EQ, round);
        EXPECT_EQ(data[0], static_cast<char>(16 * previous + round));
        EXPECT_EQ(data[bytes - 1], static_cast<char>(16 * previous + round));
        aclshmem_getmem(back.data(), data, bytes, next);
        EXPECT_EQ(back[bytes / 2], static_cast<char>(16 * pe + round));
        aclshmem_barrier_all();
        EXPECT_OK;
      }
      // Everybody adds to everybody, by mapping and over the network at once.
      constexpr int kAdds = 300;
      for (int i = 0; i < kAdds; ++i)
        for (int to = 0; to < count; ++to)
          aclshmemx_signal_op(sum, 1, ACLSHMEM_SIGNAL_ADD, to);
      aclshmem_quiet();
      aclshmem_barrier_all();
      EXPECT_OK;
      EXPECT_EQ(*sum, kAdds * count);
      aclshmem_int32_p(word + 8, 5 + pe, next);
      aclshmem_barrier_all();
      EXPECT_EQ(word[8], 5 + previous);
      EXPECT_EQ(aclshmem_int32_g(word + 8, next), 5 + pe);
      auto *host = static_cast<int32_t *>(aclshmemx_calloc(1024, 4, HOST_SIDE));
      std::vector<int32_t> numbers(1024, pe + 100);
      aclshmemx_putmem_signal(host, numbers.data(), 4000, host + 1008, 3, ACLSHMEM_SIGNAL_ADD,
                              next);
      EXPECT_OK;
      aclshmem_signal_wait_until(host + 1008, ACLSHMEM_CMP_EQ, 3);
      EXPECT_EQ(host[999], previous + 100);
      EXPECT_EQ(host[1000], 0);
      bool sameHost = count == 4 && pe / 2 == next / 2;
      EXPECT_EQ(aclshmem_ptr(word, next) != nullptr, sameHost);
      EXPECT_EQ(aclshmem_finalize(), 0) << piton_last_error();
    }));
  }
}

TEST(Roce, TeamsOverAndWithinHosts) {
  NEEDS_HOSTS(hosts);
  expectAll(runJob(hosts, 4, [&](int pe) {
    int host = 0, cross = 0;
    EXPECT_EQ(aclshmem_team_split_2d(ACLSHMEM_TEAM_WORLD, 2, &host, &cross), 0)
        << piton_last_error();
    auto *word = static_cast<int32_t *>(aclshmem_calloc(16, 4));
    for (int team : {host, cross}) {
      aclshmem_barrier_all(); // the teams share no order
      for (int round = 0; round < 20; ++round) {
        int peer = aclshmem_team_translate_pe(team, 1 - aclshmem_team_my_pe(team), 0);
        aclshmem_int32_p(word, round + team, peer);
        aclshmem_barrier(team);
        EXPECT_EQ(*word, round + team);
        aclshmem_barrier(team);
        EXPECT_OK;
      }
    }
    (void)pe;
    EXPECT_EQ(aclshmem_finalize(), 0) << piton_last_error();
  }));
}

TEST(Roce, AStandstillIsReportedOnEveryHost) {
  NEEDS_HOSTS(hosts);
  setenv("PITON_STANDSTILL_SECONDS", "1", 1);
  auto results = runJob(hosts, 3, [&](int pe) {
    auto *word = static_cast<int32_t *>(aclshmem_calloc(16, 4));
    if (pe == 1) // PE 1 waits for the barrier, the others for a signal
      aclshmem_barrier_all();
    else
      aclshmem_signal_wait_until(word, ACLSHMEM_CMP_GE, 5 + pe);
    EXPECT_NE(aclshmemx_last_status(), 0);
    std::string text = piton_last_error();
    for (const char *part :
         {"standstill: all PEs wait for each other", "PE 0 waits in aclshmem_signal_wait_until",
          "wanted >= 5", "PE 1 waits in aclshmem_barrier_all",
          "PE 2 waits in aclshmem_signal_wait_until", "wanted >= 7",
          "nobody is left who could signal"})
      EXPECT_NE(text.find(part), std::string::npos) << text;
    aclshmem_finalize();
  });
  unsetenv("PITON_STANDSTILL_SECONDS");
  expectAll(results);
}

TEST(Roce, AKilledPeOfAnotherHostIsNamed) {
  NEEDS_HOSTS(hosts);
  expectAll(runJob(hosts, 3,
                   [&](int pe) {
                     auto *data = static_cast<char *>(aclshmem_calloc(4096, 1));
                     std::vector<char> mine(4096);
                     aclshmem_putmem(data, mine.data(), 4096, (pe + 1) % 3);
                     aclshmem_barrier_all();
                     EXPECT_OK;
                     if (pe == 2)
                       kill(getpid(), SIGKILL);
                     auto start = shmem::Clock::now();
                     do
                       aclshmem_barrier_all();
                     while (aclshmemx_last_status() == 0);
                     EXPECT_LT(shmem::Clock::now() - start, std::chrono::seconds(8));
                     std::this_thread::sleep_for(std::chrono::milliseconds(200));
                     aclshmem_barrier_all();
                     EXPECT_NE(std::string(piton_last_error()).find("PE 2"), std::string::npos)
                         << piton_last_error();
                     aclshmem_finalize();
                   }),
            2);
}
