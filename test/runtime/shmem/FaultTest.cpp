// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What goes wrong: PEs that die at any point, PEs that do not belong, strangers at the port. Every
// case is one clear error within seconds, and the job, or the next one, is unharmed.

#include "test/runtime/shmem/Faults.h"

#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <atomic>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <netinet/in.h>
#include <set>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

using namespace piton;
using namespace piton::test;

namespace {

/// Of ours; other programs may come and go meanwhile, though hardly with such names.
std::set<std::string> sharedMemoryNames() {
  std::set<std::string> names;
  for (const char *folder : {"/dev/shm", "/tmp"})
    for (const auto &entry : std::filesystem::directory_iterator(folder))
      if (std::string name = entry.path().filename(); name.find("shmem") != std::string::npos)
        names.insert(name);
  return names;
}

/// Not even a zombie's end is waited for.
bool runs(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text, ')');
  char state = 'X';
  file >> state;
  return state != 'Z' && state != 'X';
}

enum class Point { Init, Barrier, Wait, Malloc, Finalize };

/// PE `victim` dies while the others are in `point`.
void killAt(Point point, int victim, int count) {
  std::string url = freeUrl();
  std::set<std::string> names = sharedMemoryNames();
  auto results = runProcesses(count, [&](int pe) {
    if (point == Point::Init) {
      // The last PE never comes, so that the victim dies while all wait for it.
      if (pe == count - 1)
        return 0;
      if (pe == victim) {
        std::thread([&] { awaitConnections(url, count - 1), later(400), die(); }).detach();
        initialize(pe, count, url);
        return 1;
      }
      expectNamed(victim, [&] { initialize(pe, count, url, 20); });
      return 0;
    }
    EXPECT_EQ(initialize(pe, count, url), 0) << piton_last_error();
    auto *word = static_cast<int32_t *>(aclshmem_calloc(16, 4));
    aclshmem_barrier_all();
    if (pe == victim) {
      later(200);
      die();
    }
    switch (point) {
    case Point::Barrier:
      expectNamed(victim, [] { aclshmem_barrier_all(); });
      break;
    case Point::Wait:
      expectNamed(victim, [&] { aclshmem_signal_wait_until(word, ACLSHMEM_CMP_EQ, 1); });
      break;
    case Point::Malloc:
      expectNamed(victim, [] { EXPECT_EQ(aclshmem_malloc(64), nullptr); });
      break;
    default:
      expectNamed(victim, [] { EXPECT_NE(aclshmem_finalize(), 0); });
      return 0;
    }
    // Every later call says the same, and finalize waits for nobody.
    expectNamed(victim, [&] { aclshmem_putmem(word, word, 4, 0); });
    auto start = Clock::now();
    aclshmem_finalize();
    EXPECT_LT(Clock::now() - start, kSoon);
    return 0;
  });
  expectAll(results, victim);
  // Nothing is left, and the next job at the same address starts clean.
  for (const std::string &name : sharedMemoryNames())
    EXPECT_TRUE(names.count(name)) << name;
  expectAll(runProcesses(count, [&](int pe) {
    EXPECT_EQ(initialize(pe, count, url), 0) << piton_last_error();
    EXPECT_EQ(aclshmem_finalize(), 0) << piton_last_error();
    return 0;
  }));
}

} // namespace

TEST(Killed, InTheBarrier) {
  killAt(Point::Barrier, 1, 3);
  killAt(Point::Barrier, 0, 3);
}
TEST(Killed, InAWait) {
  killAt(Point::Wait, 2, 3);
  killAt(Point::Wait, 0, 2);
}
TEST(Killed, InAnAllocation) { killAt(Point::Malloc, 1, 2); }
TEST(Killed, InFinalize) {
  killAt(Point::Finalize, 1, 3);
  killAt(Point::Finalize, 0, 3);
}
TEST(Killed, InInit) {
  killAt(Point::Init, 1, 4);
  killAt(Point::Init, 0, 4);
}

/// Who comes when PE 1 has died in init learns that, and does not look for PE 0 until its time is
/// over.
TEST(Killed, InInitBeforeAnotherHasCome) {
  std::string url = freeUrl();
  auto *first = static_cast<std::atomic<int> *>( // pid of PE 1, known to all
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(first, MAP_FAILED);
  auto results = runProcesses(4, [&](int pe) {
    if (pe == 3) // never comes
      return 0;
    if (pe == 1) {
      *first = getpid();
      std::thread([&] { awaitConnections(url, 2), later(400), die(); }).detach();
    }
    while (pe == 2 && (*first == 0 || runs(*first)))
      later(1);
    later(pe == 2 ? 100 : 0);
    expectNamed(1, [&] { initialize(pe, 4, url); });
    return 0;
  });
  munmap(first, 4096);
  expectAll(results, 1);
}

TEST(Killed, ExitWithoutFinalizeIsNoticedToo) {
  std::string url = freeUrl();
  expectAll(runProcesses(2, [&](int pe) {
    EXPECT_EQ(initialize(pe, 2, url), 0) << piton_last_error();
    if (pe == 1)
      return 0;
    expectNamed(1, [] { aclshmem_barrier_all(); });
    EXPECT_NE(std::string(piton_last_error()).find("without aclshmem_finalize"), std::string::npos);
    return 0;
  }));
}

TEST(Killed, ExitEndsTheProcessInOrder) {
  std::string url = freeUrl();
  expectAll(runProcesses(3, [&](int pe) -> int {
    EXPECT_EQ(initialize(pe, 3, url), 0) << piton_last_error();
    if (pe == 1)
      std::exit(0); // with all that runs at exit
    expectNamed(1, [] { aclshmem_barrier_all(); });
    std::fflush(nullptr);
    std::exit(testing::Test::HasFailure() ? 100 : 0);
  }));
}

TEST(Killed, AForkedChildDoesNotKeepAPeAlive) {
  std::string url = freeUrl();
  SharedCount told;
  auto results = runProcesses(2, [&](int pe) {
    EXPECT_EQ(initialize(pe, 2, url), 0) << piton_last_error();
    if (pe == 1) {
      if (fork() == 0) {
        EXPECT_EQ(aclshmem_malloc(64), nullptr);
        int code = aclshmemx_last_status() == ACLSHMEM_NOT_INITED ? 0 : 1;
        close(STDOUT_FILENO);
        close(STDERR_FILENO);
        told.await(1); // lives longer than PE 0 needs to hear of it
        _exit(code);
      }
      later(200);
      die();
    }
    expectNamed(1, [] { aclshmem_barrier_all(); });
    told.add();
    return 0;
  });
  expectAll(results, 1);
}

TEST(Refused, RanksThatDoNotFitAndTheJobGoesOn) {
  std::string url = freeUrl();
  SharedCount early, running, late;
  // Processes 2 to 5 are no PEs of this job of two: 4 comes while it runs, the others earlier.
  auto results = runProcesses(6, [&](int process) {
    if (process == 1)
      early.await(3); // so that the others come while the job is starting
    if (process < 2) {
      EXPECT_EQ(initialize(process, 2, url), 0) << piton_last_error();
      aclshmem_barrier_all();
      EXPECT_EQ(aclshmemx_last_status(), 0) << piton_last_error();
      running.add();
      late.await(1);
      EXPECT_EQ(aclshmem_finalize(), 0) << piton_last_error();
      return 0;
    }
    awaitListener(url);
    struct Leaves {
      const SharedCount &count;
      ~Leaves() { count.add(); }
    } leaves{process == 4 ? late : early};
    auto expect = [](int code, const char *text) {
      EXPECT_EQ(code, ACLSHMEM_BOOTSTRAP_ERROR);
      EXPECT_NE(std::string(piton_last_error()).find(text), std::string::npos)
          << piton_last_error();
    };
    if (process == 2)
      expect(initialize(1, 3, url), "says that the job has 3 PEs, PE 0 says 2");
    if (process == 3)
      expect(initialize(0, 2, url), "another job or program uses the port");
    if (process == 4) {
      running.await(2);
      expect(initialize(1, 2, url), "wants to be a PE that has connected already, PE 1 (pid ");
    }
    if (process == 5) { // a greeting with a PE that the API would not let through
      int fd = connectTo(portOf(url));
      shmem::Writer hello;
      hello.value(shmem::kProtocolVersion).value<uint64_t>(0).value<int32_t>(-5).value<int32_t>(2);
      hello.value<int32_t>(getpid()).text("here");
      shmem::FrameHeader header{.type = shmem::FrameType::Hello,
                                .bytes = static_cast<uint32_t>(hello.out.size())};
      EXPECT_EQ(write(fd, &header, sizeof(header)), static_cast<ssize_t>(sizeof(header)));
      EXPECT_EQ(write(fd, hello.out.data(), hello.out.size()),
                static_cast<ssize_t>(hello.out.size()));
      char answer[512] = {};
      size_t got = 0;
      for (ssize_t n; got < sizeof(answer) && (n = read(fd, answer + got, 60)) > 0;) {
        got += static_cast<size_t>(n);
        if (std::string(answer, got).find("PEs 0 to 1") != std::string::npos)
          return 0;
      }
      ADD_FAILURE() << std::string(answer, got);
    }
    return 0;
  });
  expectAll(results);
}

TEST(Refused, GarbageAtThePortHarmsNobody) {
  expectUnharmedByGarbage(
      std::string("PITN") + std::string(60, '\x7f'), "PI",
      [](int pe, int count, const std::string &url) { return initialize(pe, count, url); });
}

TEST(Refused, SilentStrangersKeepNobodyOut) {
  std::string url = freeUrl();
  SharedCount strangers, in;
  expectAll(runProcesses(3, [&](int process) {
    if (process == 2) {
      for (int i = 0; i < 600; ++i) // more than the server keeps
        EXPECT_GE(connectTo(portOf(url)), 0) << i;
      strangers.add();
      in.await(2);
      return 0;
    }
    if (process == 1)
      strangers.await(1);
    auto start = Clock::now();
    EXPECT_EQ(initialize(process, 2, url), 0) << piton_last_error();
    if (process == 1)
      EXPECT_LT(Clock::now() - start, kSoon) << "a stranger has 10";
    in.add();
    EXPECT_EQ(aclshmem_finalize(), 0) << piton_last_error();
    return 0;
  }));
}

TEST(Refused, StrangersDoNotTakeTheLastDescriptors) {
  std::string url = freeUrl();
  auto port = static_cast<uint16_t>(std::stoi(url.substr(url.rfind(':') + 1)));
  auto *connected = static_cast<int *>(
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  auto *done = connected + 1;
  expectAll(runProcesses(3, [&](int process) {
    if (process == 2) {
      for (int i = 0; i < 150; ++i)
        EXPECT_GE(connectTo(port), 0) << i;
      __atomic_store_n(connected, 1, __ATOMIC_RELEASE);
      while (!__atomic_load_n(done, __ATOMIC_ACQUIRE))
        later(10);
      return 0;
    }
    rlimit few = {48, 48};
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
    while (process == 1 && !__atomic_load_n(connected, __ATOMIC_ACQUIRE))
      later(10);
    // Strangers may stay longer than this.
    EXPECT_EQ(initialize(process, 2, url, 9), 0) << piton_last_error();
    EXPECT_TRUE(aclshmem_malloc(64)) << piton_last_error();
    EXPECT_EQ(aclshmem_finalize(), 0) << piton_last_error();
    __atomic_store_n(done, 1, __ATOMIC_RELEASE);
    return 0;
  }));
  munmap(connected, 4096);
}

TEST(Refused, MissingPesAndAnAbsentPe0AreNamed) {
  std::string url = freeUrl();
  expectAll(runProcesses(2, [&](int pe) { // PEs 2 and 3 never come
    if (pe == 1)
      awaitListener(url); // and then it is one of two who are in time
    EXPECT_EQ(initialize(pe, 4, url, 3), ACLSHMEM_BOOTSTRAP_ERROR);
    EXPECT_NE(std::string(piton_last_error())
                  .find("PEs 2 and 3 of 4 did not connect to PE 0 within "
                        "3 s"),
              std::string::npos)
        << piton_last_error();
    return 0;
  }));
  url = freeUrl();
  expectAll(runProcesses(1, [&](int) {
    EXPECT_EQ(initialize(1, 2, url, 1), ACLSHMEM_BOOTSTRAP_ERROR);
    EXPECT_NE(std::string(piton_last_error()).find("PE 1 cannot reach PE 0 at " + url),
              std::string::npos)
        << piton_last_error();
    return 0;
  }));
}

TEST(Refused, ASlowPe0IsWaitedFor) {
  std::string url = freeUrl();
  expectAll(runProcesses(2, [&](int pe) {
    if (pe == 0)
      later(1200);
    EXPECT_EQ(initialize(pe, 2, url), 0) << piton_last_error();
    EXPECT_EQ(aclshmem_finalize(), 0) << piton_last_error();
    return 0;
  }));
}

TEST(Refused, SomethingElseAtThePort) {
  std::string url = freeUrl();
  expectAll(runProcesses(2, [&](int process) {
    if (process == 0) { // a web server
      int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      sockaddr_in address = {};
      address.sin_family = AF_INET;
      address.sin_port = htons(portOf(url));
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      int on = 1;
      setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
      EXPECT_EQ(bind(listener, reinterpret_cast<sockaddr *>(&address), sizeof(address)), 0);
      EXPECT_EQ(listen(listener, 4), 0);
      int fd = accept(listener, nullptr, nullptr);
      char buffer[256];
      EXPECT_GT(read(fd, buffer, sizeof(buffer)), 0);
      EXPECT_GT(write(fd, "HTTP/1.1 400 Bad Request\r\n\r\n", 28), 0);
      later(300);
      return 0;
    }
    EXPECT_EQ(initialize(1, 2, url), ACLSHMEM_BOOTSTRAP_ERROR);
    EXPECT_NE(std::string(piton_last_error()).find("is no PE 0 of this job"), std::string::npos)
        << piton_last_error();
    return 0;
  }));
}

TEST(GlobalExit, EndsEveryPeWithTheStatus) {
  std::string url = freeUrl();
  auto results = runProcesses(3, [&](int pe) {
    EXPECT_EQ(initialize(pe, 3, url), 0) << piton_last_error();
    if (pe == 1)
      aclshmem_global_exit(7);
    later(30000);
    return 0;
  });
  for (const ProcessResult &result : results)
    EXPECT_EQ(result.exitCode, 7) << result.output;
}
