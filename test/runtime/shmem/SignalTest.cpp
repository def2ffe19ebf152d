// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Signals that reach PEs (SIGTERM from a launcher, Ctrl-C), and other users of the host.

#include "abi/DeviceState.h"
#include "test/runtime/shmem/Faults.h"

#include <gtest/gtest.h>

#include <csignal>
#include <dirent.h>
#include <fcntl.h>
#include <fstream>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace piton;
using namespace piton::test;

namespace {

/// Ends all other PEs by SIGTERM and dies: no launcher can be quicker.
[[noreturn]] void dieAndTerminateTheOthers(int pe, int count) {
  const auto *state = reinterpret_cast<const DeviceState *>(kDeviceStateAddress);
  for (int other = 0; other < count; ++other)
    if (other != pe)
      kill(state->boards[other]->pid, SIGTERM);
  die();
}

/// Waits until those processes handle SIGTERM, as PEs do and who becomes one.
void awaitHandlers(const pid_t *pids, int count, int except) {
  waitUntil([=] {
    bool all = true;
    for (int i = 0; i < count; ++i) {
      pid_t pid = __atomic_load_n(&pids[i], __ATOMIC_ACQUIRE);
      if (i == except)
        continue;
      std::ifstream status("/proc/" + std::to_string(pid) + "/status");
      unsigned long caught = 0;
      for (std::string line; pid && std::getline(status, line);)
        if (line.rfind("SigCgt:", 0) == 0)
          caught = std::stoul(line.substr(7), nullptr, 16);
      all = all && (caught >> (SIGTERM - 1) & 1);
    }
    return all;
  });
}

enum class Point { Barrier, Wait, Malloc, Finalize };

} // namespace

TEST(Terminated, ALauncherThatEndsTheOthersAtOnceLetsThemSayWhy) {
  for (auto [victim, count] : {std::pair(1, 3), std::pair(0, 3)})
    for (Point point : {Point::Barrier, Point::Wait, Point::Malloc, Point::Finalize}) {
      std::string url = freeUrl();
      auto results = runProcesses(count, [&, victim = victim, count = count](int pe) {
        EXPECT_EQ(initialize(pe, count, url), 0) << piton_last_error();
        auto *word = static_cast<int32_t *>(aclshmem_calloc(16, 4));
        aclshmem_barrier_all();
        if (pe == victim) {
          for (int other = 0; other < count; ++other)
            if (other != pe)
              awaitWaiting(other);
          dieAndTerminateTheOthers(pe, count);
        }
        expectNamed(victim, [&] {
          if (point == Point::Barrier)
            aclshmem_barrier_all();
          else if (point == Point::Wait)
            aclshmem_signal_wait_until(word, ACLSHMEM_CMP_EQ, 1);
          else if (point == Point::Malloc)
            EXPECT_EQ(aclshmem_malloc(64), nullptr);
          else
            EXPECT_NE(aclshmem_finalize(), 0);
        });
        later(500); // what a program does with the error
        return 0;
      });
      expectAll(results, victim);
    }
}

TEST(Terminated, WhatComesBeforeTheNextCallMayTakeAWhile) {
  std::string url = freeUrl();
  expectAll(runProcesses(2,
                         [&](int pe) {
                           EXPECT_EQ(initialize(pe, 2, url), 0) << piton_last_error();
                           aclshmem_barrier_all();
                           if (pe == 1)
                             dieAndTerminateTheOthers(pe, 2);
                           later(2000); // as a compilation
                           expectNamed(1, [] { aclshmem_barrier_all(); });
                           return 0;
                         }),
            1);
}

TEST(Terminated, SigtermStillEndsAPe) {
  std::string url = freeUrl();
  auto results = runProcesses(3, [&](int pe) {
    EXPECT_EQ(initialize(pe, 3, url), 0) << piton_last_error();
    aclshmem_barrier_all();
    if (pe == 1) {
      raise(SIGTERM);
      later(20000);
      return 1;
    }
    if (pe == 2) { // one who handles the signal
      static volatile sig_atomic_t seen = 0;
      struct sigaction action = {};
      action.sa_handler = [](int) { seen = 1; };
      sigaction(SIGTERM, &action, nullptr);
      raise(SIGTERM);
      EXPECT_EQ(seen, 1);
    }
    expectNamed(1, [] { aclshmem_barrier_all(); });
    later(6000); // longer than any grace; nobody has ended PEs 0 and 2
    return 0;
  });
  EXPECT_EQ(results[0].exitCode, 0) << results[0].output;
  EXPECT_EQ(results[1].signal, SIGTERM) << results[1].output;
  EXPECT_EQ(results[2].exitCode, 0) << results[2].output;
}

TEST(Terminated, ThoseWhoWaitForAPeThatNeverCameNameIt) {
  for (int missing : {2, 0}) {
    std::string url = freeUrl();
    auto *pids = static_cast<pid_t *>(
        mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    expectAll(runProcesses(3, [&](int pe) {
      __atomic_store_n(&pids[pe], getpid(), __ATOMIC_RELEASE);
      if (pe == missing) { // dies before it has become a PE, and its launcher ends the others
        awaitHandlers(pids, 3, pe);
        if (missing != 0)
          awaitConnections(url, 2);
        later(500);
        for (int other = 0; other < 3; ++other)
          if (other != pe)
            kill(pids[other], SIGTERM);
        return 0;
      }
      std::string name = "PE " + std::to_string(missing) + (missing ? " of 3 had not" : " at tcp");
      auto start = Clock::now();
      EXPECT_NE(initialize(pe, 3, url), 0);
      EXPECT_LT(Clock::now() - start, kSoon);
      std::string text = piton_last_error();
      EXPECT_NE(text.find(name), std::string::npos) << text;
      EXPECT_NE(text.find("told to end (SIGTERM)"), std::string::npos) << text;
      later(500);
      return 0;
    }));
    munmap(pids, 4096);
  }
}

TEST(Terminated, AfterwardsSigtermIsAtItsDefault) {
  std::string url = freeUrl();
  expectAll(runProcesses(1, [&](int pe) {
    auto action = [] {
      struct sigaction current = {};
      sigaction(SIGTERM, nullptr, &current);
      return current.sa_handler;
    };
    EXPECT_EQ(initialize(pe, 1, url), 0) << piton_last_error();
    EXPECT_NE(action(), SIG_DFL);
    if (pid_t child = fork(); child == 0) {
      _exit(action() == SIG_DFL ? 0 : 1); // a child is no PE
    } else {
      int status = -1;
      waitpid(child, &status, 0);
      EXPECT_EQ(status, 0);
    }
    EXPECT_EQ(aclshmem_finalize(), 0) << piton_last_error();
    EXPECT_EQ(action(), SIG_DFL);
    return 0;
  }));
}

//===-- Ctrl-C ------------------------------------------------------------------------------===//

namespace {

/// What PE 1 is in when Ctrl-C arrives; PE 0 is in its part of the same call, or waits.
enum class Call { Init, Wait, Barrier, Malloc, Finalize };

void interruptIn(Call point) {
  std::string url = freeUrl();
  expectAll(runProcesses(2, [&](int pe) {
    static volatile sig_atomic_t seen = 0;
    struct sigaction action = {};
    action.sa_handler = [](int) { seen = seen + 1; };
    sigaction(SIGINT, &action, nullptr); // a program that handles Ctrl-C, as Python does
    auto interruptLater = [&] {
      std::thread([&, pe] {
        if (point == Call::Init)
          awaitConnections(url, 2);
        else
          awaitWaiting(pe);
        later(point == Call::Init ? 500 : 50);
        kill(getpid(), SIGINT);
      }).detach();
    };
    auto run = [&](auto call) {
      if (pe == 0)
        return expectNamed(1, call);
      interruptLater();
      auto start = Clock::now();
      call();
      EXPECT_LT(Clock::now() - start, kSoon);
      EXPECT_EQ(seen, 1);
      EXPECT_NE(std::string(piton_last_error()).find("interrupted"), std::string::npos)
          << piton_last_error();
    };
    if (point == Call::Init) { // a third PE never comes
      run([&] { EXPECT_NE(initialize(pe, 3, url), 0); });
      return 0;
    }
    EXPECT_EQ(initialize(pe, 2, url), 0) << piton_last_error();
    auto *word = static_cast<int32_t *>(aclshmem_calloc(16, 4));
    aclshmem_barrier_all();
    // PE 0 comes late or never to what PE 1 is in.
    if (point == Call::Wait || pe == 0)
      run([&] { aclshmem_signal_wait_until(word, ACLSHMEM_CMP_EQ, 1); });
    else if (point == Call::Barrier)
      run([] { aclshmem_barrier_all(); });
    else if (point == Call::Malloc)
      run([] { EXPECT_EQ(aclshmem_malloc(64), nullptr); });
    else
      run([] { EXPECT_NE(aclshmem_finalize(), 0); });
    return 0; // ends without finalize, which tells PE 0 about the wait
  }));
}

} // namespace

TEST(Interrupted, InInit) { interruptIn(Call::Init); }
TEST(Interrupted, InAWait) { interruptIn(Call::Wait); }
TEST(Interrupted, InTheBarrier) { interruptIn(Call::Barrier); }
TEST(Interrupted, InAnAllocation) { interruptIn(Call::Malloc); }
TEST(Interrupted, InFinalize) { interruptIn(Call::Finalize); }

//===-- Other users -------------------------------------------------------------------------===//

TEST(Users, AnotherUserReachesNoHeapOfALiveJob) {
  if (geteuid() != 0)
    GTEST_SKIP() << "only root can be other users";
  std::string url = freeUrl();
  struct Shared {
    pid_t pids[2];
    uintptr_t heap;
    int ready, done;
  };
  auto *shared = static_cast<Shared *>(
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  expectAll(runProcesses(3, [&](int process) {
    EXPECT_EQ(setgid(process < 2 ? 12345 : 65534), 0);
    EXPECT_EQ(setuid(process < 2 ? 12345 : 65534), 0);
    prctl(PR_SET_DUMPABLE, 1); // as a program that was started by that user
    if (process < 2) {
      EXPECT_EQ(initialize(process, 2, url), 0) << piton_last_error();
      auto *word = static_cast<int32_t *>(aclshmem_calloc(16, 4));
      *word = 77;
      shared->pids[process] = getpid();
      shared->heap = reinterpret_cast<uintptr_t>(word);
      aclshmem_barrier_all();
      __atomic_fetch_add(&shared->ready, 1, __ATOMIC_RELEASE);
      while (!__atomic_load_n(&shared->done, __ATOMIC_ACQUIRE))
        later(10);
      EXPECT_EQ(*word, 77);
      EXPECT_EQ(aclshmem_finalize(), 0) << piton_last_error();
      return 0;
    }
    while (__atomic_load_n(&shared->ready, __ATOMIC_ACQUIRE) != 2)
      later(10);
    for (pid_t pid : shared->pids) {
      std::string folder = "/proc/" + std::to_string(pid);
      for (int fd = 0; fd < 64; ++fd)
        for (int mode : {O_RDWR, O_RDONLY})
          EXPECT_LT(open((folder + "/fd/" + std::to_string(fd)).c_str(), mode), 0) << fd;
      EXPECT_LT(open((folder + "/mem").c_str(), O_RDONLY), 0);
      EXPECT_EQ(opendir((folder + "/map_files").c_str()), nullptr);
      int32_t value = 0;
      iovec mine = {&value, sizeof(value)};
      iovec theirs = {reinterpret_cast<void *>(shared->heap), sizeof(value)};
      EXPECT_LT(process_vm_readv(pid, &mine, 1, &theirs, 1, 0), 0);
      // A descriptor by its number, where the system has the call.
      if (int handle = static_cast<int>(syscall(SYS_pidfd_open, pid, 0)); handle >= 0)
        for (int fd = 0; fd < 64; ++fd)
          EXPECT_LT(syscall(SYS_pidfd_getfd, handle, fd, 0), 0) << fd;
    }
    __atomic_store_n(&shared->done, 1, __ATOMIC_RELEASE);
    return 0;
  }));
  munmap(shared, 4096);
}

TEST(Users, AnotherUserWhoPosesAsAPeGetsNoHeap) {
  if (geteuid() != 0)
    GTEST_SKIP() << "only root can be other users";
  std::string url = freeUrl();
  // Without TLS the control port admits whoever comes first as PE 1; the heap it does not hand out.
  auto results = runProcesses(2, [&](int pe) {
    EXPECT_EQ(setuid(pe ? 65534 : 12345), 0);
    int code = initialize(pe, 2, url, 5);
    if (code == 0) {
      const auto *state = reinterpret_cast<const DeviceState *>(kDeviceStateAddress);
      EXPECT_FALSE(state->transports[1 - pe] & kTransportMte);
      EXPECT_EQ(state->boards[1 - pe], nullptr);
      EXPECT_EQ(aclshmem_ptr(aclshmemx_get_heap_base(DEVICE_SIDE), 1 - pe), nullptr);
      aclshmem_finalize();
    }
    return 0;
  });
  expectAll(results);
}
