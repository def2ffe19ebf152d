// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Distributed kernels on the simulator: every PE is a forked process that maps the heaps of all and
// fills its device state itself, so that compiler, device library and scheduler are tested without
// the host library. Kernels are compiled once from Inputs/*.ttir.
#include "abi/DeviceState.h"
#include "abi/HardwareModel.h"
#include "runtime/Executor.h"
#include "runtime/Status.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <sstream>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using namespace piton;

constexpr uint64_t kHeapBytes = kHeapExtraBytes + (uint64_t(2) << 20);
/// Where the heaps lie: PE 0's, then the others in steps of kHeapAlignment.
constexpr uint64_t kHeaps = 0x160000000000;

/// The image of Inputs/<name>.ttir; empty after a failure that was reported.
std::string compile(const std::string &name) {
  char path[] = "/tmp/piton-device-test-XXXXXX";
  int file = mkstemp(path);
  if (file < 0)
    return "";
  close(file);
  std::string command = std::string(PITON_COMPILE) + " " + PITON_INPUTS + "/" + name +
                        ".ttir --emit=npubin -o " + path;
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  std::ifstream stream(path, std::ios::binary);
  std::stringstream bytes;
  bytes << stream.rdbuf();
  unlink(path);
  return bytes.str();
}

/// One PE's view of the job, in its own process.
struct Pe {
  int32_t me, count;
  std::vector<void *> bases;
  std::shared_ptr<const Kernel> kernel;
  std::string message;

  template <typename T> T *at(uint64_t offset, int32_t pe = -1) const {
    return reinterpret_cast<T *>(static_cast<uint8_t *>(bases[pe < 0 ? me : pe]) + offset);
  }

  /// Runs the kernel; arguments are 8-byte pointers and 4-byte integers, packed by their offsets.
  piton_status_t run(std::vector<uint64_t> arguments, uint32_t blocks = 1) {
    const KernelMetadata &meta = kernel->metadata();
    std::vector<uint8_t> block(meta.argBytes);
    for (size_t i = 0; i < arguments.size(); ++i)
      std::memcpy(block.data() + meta.arguments[i].offset, &arguments[i],
                  argumentSlotBytes(meta.arguments[i].type));
    LaunchRequest request;
    request.model = findHardwareModel(kDefaultSoc);
    request.kernel = kernel.get();
    request.grid[0] = blocks;
    request.args = block.data();
    request.onCallerThread = true;
    request.epoch = interruptEpoch();
    piton_status_t status = simulator().run(request);
    message = lastError();
    return status;
  }
};

uint64_t word(const void *pointer) { return reinterpret_cast<uintptr_t>(pointer); }

void fillState(DeviceState &s, TeamRecord &team, Pe &pe, PeBoard **boards) {
  s.myPe = pe.me;
  s.peCount = pe.count;
  s.heapBase = pe.bases[pe.me];
  s.heapBytes = kHeapBytes;
  s.p2pHeapBase = pe.bases.data();
  s.boards = boards;
  s.heapFirst = kHeaps;
  s.heapSpan = kHeapAlignment;
  s.syncPool = word(s.heapBase) + kHeapBytes - kHeapExtraBytes;
  s.syncCounter = s.syncPool + kSyncPoolBytes;
  team.myPe = pe.me;
  team.stride = 1;
  team.size = pe.count;
  for (int32_t i = 0; i < pe.count; ++i)
    team.toWorld[i] = team.fromWorld[i] = i;
  s.teams[0] = &team;
  for (int32_t i = 0; i < pe.count; ++i)
    s.transports[i] = kTransportMte;
  s.initialized = s.created = 1;
}

/// Body of a forked PE; the exit code says whether `body` found everything right.
int runPe(int32_t me, const std::vector<int> &files, int boardFile, const std::string &image,
          const std::function<bool(Pe &)> &body) {
  Pe pe{me, static_cast<int32_t>(files.size()), {}, nullptr, ""};
  for (size_t i = 0; i < files.size(); ++i) {
    void *base = mmap(reinterpret_cast<void *>(kHeaps + i * kHeapAlignment), kHeapBytes,
                      PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, files[i], 0);
    if (base == MAP_FAILED)
      return 10;
    pe.bases.push_back(base);
  }
  void *memory =
      mmap(reinterpret_cast<void *>(kDeviceStateAddress), kDeviceStateBytes, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  void *shared = mmap(nullptr, files.size() * sizeof(PeBoard), PROT_READ | PROT_WRITE, MAP_SHARED,
                      boardFile, 0);
  if (memory == MAP_FAILED || shared == MAP_FAILED)
    return 11;
  std::vector<PeBoard *> boards;
  for (size_t i = 0; i < files.size(); ++i)
    boards.push_back(static_cast<PeBoard *>(shared) + i);
  auto team = std::make_unique<TeamRecord>();
  fillState(*static_cast<DeviceState *>(memory), *team, pe, boards.data());
  if (simulator().load(image, pe.kernel) != PITON_OK) {
    std::fprintf(stderr, "PE %d: %s\n", me, lastError().c_str());
    return 12;
  }
  bool right = body(pe);
  if (!right)
    std::fprintf(stderr, "PE %d: wrong; last error: %s\n", me, pe.message.c_str());
  return right ? 0 : 13;
}

/// Runs `body` in `count` processes, each a PE with the kernel loaded.
void runJob(int32_t count, const std::string &name, const std::function<bool(Pe &)> &body) {
  std::string image = compile(name);
  ASSERT_FALSE(image.empty());
  std::vector<int> files;
  for (int32_t i = 0; i < count; ++i) {
    files.push_back(memfd_create("heap", 0));
    ASSERT_EQ(ftruncate(files.back(), kHeapBytes), 0);
  }
  int boardFile = memfd_create("boards", 0);
  ASSERT_EQ(ftruncate(boardFile, count * sizeof(PeBoard)), 0);
  std::vector<pid_t> children;
  for (int32_t me = 0; me < count; ++me) {
    pid_t child = fork();
    if (child == 0)
      _exit(runPe(me, files, boardFile, image, body));
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
  }
  for (int file : files)
    close(file);
  close(boardFile);
}

class Jobs : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Pes, Jobs, testing::Values(1, 2, 3, 8));

TEST_P(Jobs, RankAndCount) {
  runJob(GetParam(), "rank", [](Pe &pe) {
    int32_t out[2] = {-1, -1};
    return pe.run({word(out)}) == PITON_OK && out[0] == pe.me && out[1] == pe.count;
  });
}

TEST_P(Jobs, RingOfStoresAndSignals) {
  runJob(GetParam(), "ring", [](Pe &pe) {
    float out[32] = {};
    if (pe.run({word(pe.at<float>(0)), word(pe.at<int32_t>(4096)), word(out)}) != PITON_OK)
      return false;
    int32_t left = (pe.me + pe.count - 1) % pe.count;
    for (int i = 0; i < 32; ++i)
      if (out[i] != static_cast<float>(i + left))
        return false;
    return *pe.at<int32_t>(4096) == 1; // waiting has not consumed it
  });
}

TEST_P(Jobs, BarriersInsideManyBlocks) {
  runJob(GetParam(), "barriers", [](Pe &pe) {
    std::vector<int32_t> out(20, -1);
    if (pe.run({word(pe.at<int32_t>(0)), word(out.data()), 5, 20}, 20) != PITON_OK)
      return false;
    return std::all_of(out.begin(), out.end(), [](int32_t late) { return late == 1; });
  });
}

TEST_P(Jobs, PutSignalGetAtomics) {
  runJob(GetParam(), "library", [](Pe &pe) {
    std::vector<int32_t> source(100), back(100, -1);
    int32_t seen = 0;
    for (int i = 0; i < 100; ++i)
      source[i] = 1000 * pe.me + i;
    if (pe.run({word(source.data()), word(pe.at<int32_t>(0)), word(back.data()),
                word(pe.at<int32_t>(4096)), word(pe.at<int32_t>(8192)), word(&seen)}) != PITON_OK)
      return false;
    int32_t left = (pe.me + pe.count - 1) % pe.count;
    for (int i = 0; i < 100; ++i)
      if (back[i] != 1000 * left + i)
        return false;
    return seen == 77 && (pe.me != 0 || *pe.at<int32_t>(8192) == 77 * pe.count);
  });
}

TEST(ShmemKernels, WrongPeIsAnErrorAtTheLine) {
  runJob(2, "peer", [](Pe &pe) {
    float out = 0;
    bool refused = pe.run({word(pe.at<float>(0)), word(&out), 7}) == PITON_ERROR_INVALID_ARGUMENT;
    return refused && pe.message.find("peer.ttir:2") != std::string::npos &&
           pe.message.find("PE 7 is out of range: there are 2 PEs, 0 to 1") != std::string::npos;
  });
}

TEST(ShmemKernels, AddressOutsideTheHeapIsAnErrorAtTheLine) {
  runJob(2, "peer", [](Pe &pe) {
    float here = 0, out = 0;
    bool refused = pe.run({word(&here), word(&out), 1}) == PITON_ERROR_INVALID_ARGUMENT;
    return refused && pe.message.find("peer.ttir:2") != std::string::npos &&
           pe.message.find("is not in the symmetric heap of this PE") != std::string::npos &&
           pe.run({word(pe.at<float>(0)), word(&out), 1}) == PITON_OK; // and the next one works
  });
}

TEST(ShmemKernels, WaitersShareAWord) {
  // Every block of PE 0 waits for the one word that PE 1 sets.
  runJob(2, "ring", [](Pe &pe) {
    float out[32] = {};
    return pe.run({word(pe.at<float>(0)), word(pe.at<int32_t>(4096)), word(out)}, 12) == PITON_OK;
  });
}

TEST(ShmemKernels, AFailedJobEndsItsWaits) {
  // PE 1 never comes to the barrier; a watcher declares it failed.
  runJob(2, "barriers", [](Pe &pe) {
    if (pe.me == 1)
      return true;
    auto *state = reinterpret_cast<DeviceState *>(kDeviceStateAddress);
    std::thread watcher([&] {
      PeBoard &board = *state->boards[0];
      while (!__atomic_load_n(&board.kernelsWaiting, __ATOMIC_ACQUIRE))
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      WaitRecord record = board.kernelWait;
      bool named = record.pe == 1 && record.team == 0 && record.wanted == 1 && record.seen == 0 &&
                   std::strstr(record.where, "barriers.ttir:17");
      state->failedPe = named ? 1 : 99;
      state->failureText = "PE 1 has left";
      __atomic_store_n(&state->failure, uint32_t(PITON_ERROR_SYSTEM), __ATOMIC_RELEASE);
    });
    std::vector<int32_t> out(1);
    piton_status_t status = pe.run({word(pe.at<int32_t>(0)), word(out.data()), 1, 1}, 1);
    watcher.join();
    return status == PITON_ERROR_SYSTEM && pe.message.find("PE 1 has left") != std::string::npos;
  });
}

} // namespace
