// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What device functions cost on two PEs with a core each: the round trip of a signal, and of a
// small put with a signal, against a bare cache-line ping-pong between two processes; put and get
// against memcpy into and out of the peer's mapping. Both sides take turns. Takes the folder with
// the images of kernels/*.ttir; prints one line a measurement.
#include "benchmarks/shmem_bench.h"
#include "runtime/Launch.h"

#include <atomic>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <sys/mman.h>

using namespace piton::bench;

namespace {

// Many short batches: who loses the core in one loses that one and not the median.
constexpr uint32_t kRounds = 1000, kBatches = 201;
constexpr size_t kBytes = 16 << 20, kSmallBytes = 32;

struct Shared {
  alignas(64) std::atomic<uint32_t> words[2][16];
};

/// kRounds round trips by plain release stores and acquire loads.
void barePingPong(Shared &shared, int me, uint32_t first) {
  std::atomic<uint32_t> &mine = shared.words[me][0], &theirs = shared.words[1 - me][0];
  for (uint32_t round = first + 1; round <= first + kRounds; ++round) {
    if (me == 0)
      theirs.store(round, std::memory_order_release);
    while (mine.load(std::memory_order_acquire) != round) {
    }
    if (me == 1)
      theirs.store(round, std::memory_order_release);
  }
}

/// The image of a kernel of this name.
void load(piton::KernelHandle &kernel, const std::string &folder, const char *name) {
  std::ifstream file(folder + "/" + name + ".npubin", std::ios::binary);
  std::string image{std::istreambuf_iterator<char>(file), {}};
  check(kernel.load(image), name);
}

void run(piton::KernelHandle &kernel, piton::ArgumentBlock &arguments) {
  check(launch(kernel, nullptr, 1, 1, 1, arguments), "launch");
}

/// Round trips: bare, of a signal, of a put with a signal.
void measureRoundTrips(int me, Shared &shared, const std::string &folder) {
  // A line each: the signal, the put's target, and its signal.
  auto *words = static_cast<int32_t *>(aclshmem_calloc(3, 64));
  std::vector<char> source(kSmallBytes, 1);
  piton::KernelHandle pingpong, putsignal;
  load(pingpong, folder, "pingpong");
  load(putsignal, folder, "putsignal");
  std::vector<double> bare, signal, put;
  for (uint32_t batch = 0; batch < kBatches; ++batch) {
    uint32_t first = batch * kRounds;
    aclshmem_barrier_all();
    bare.push_back(seconds([&] { barePingPong(shared, me, first); }) / kRounds);
    aclshmem_barrier_all();
    piton::ArgumentBlock arguments(pingpong);
    arguments.setPointer(0, words);
    arguments.setInteger(1, first);
    arguments.setInteger(2, kRounds);
    signal.push_back(seconds([&] { run(pingpong, arguments); }) / kRounds);
    aclshmem_barrier_all();
    piton::ArgumentBlock putArguments(putsignal);
    putArguments.setPointer(0, words + 16);
    putArguments.setPointer(1, source.data());
    putArguments.setInteger(2, kSmallBytes);
    putArguments.setPointer(3, words + 32);
    putArguments.setInteger(4, first);
    putArguments.setInteger(5, kRounds);
    put.push_back(seconds([&] { run(putsignal, putArguments); }) / kRounds);
    aclshmem_barrier_all();
  }
  if (me == 0) {
    std::printf("signal_round_trip_ns %.1f %.1f\n", median(signal) * 1e9, median(bare) * 1e9);
    std::printf("put_signal_round_trip_ns %.1f %.1f\n", median(put) * 1e9, median(bare) * 1e9);
  }
}

/// PE 0 moves `bytes` to and from PE 1, by kernels and by memcpy through the mapping.
void measureCopies(int me, const std::string &folder, size_t bytes) {
  auto *symmetric = static_cast<char *>(aclshmem_malloc(bytes));
  auto *mapped = static_cast<char *>(aclshmem_ptr(symmetric, 1));
  std::vector<char> own(bytes, 1);
  char *local = own.data();
  std::memset(symmetric, 7, bytes);
  piton::KernelHandle put, get;
  load(put, folder, "put");
  load(get, folder, "get");
  size_t repeat = std::max<size_t>(1, (32 << 20) / bytes);
  std::vector<double> puts, putCopies, gets, getCopies;
  aclshmem_barrier_all();
  for (uint32_t batch = 0; me == 0 && batch < kBatches / 2; ++batch) {
    // The first copy in a direction finds the caches as the last one left them, so it is not timed.
    auto moved = [&](piton::KernelHandle &kernel, char *target, char *source) {
      piton::ArgumentBlock arguments(kernel);
      arguments.setPointer(0, target);
      arguments.setPointer(1, source);
      arguments.setInteger(2, static_cast<int64_t>(bytes));
      arguments.setInteger(3, 1);
      run(kernel, arguments);
      arguments.setInteger(3, static_cast<int64_t>(repeat));
      return seconds([&] { run(kernel, arguments); });
    };
    auto copied = [&](char *target, const char *source) {
      std::memcpy(target, source, bytes);
      return seconds([&] {
        for (size_t i = 0; i < repeat; ++i)
          std::memcpy(target, source, bytes);
      });
    };
    puts.push_back(moved(put, symmetric, local));
    putCopies.push_back(copied(mapped, local));
    gets.push_back(moved(get, local, symmetric));
    getCopies.push_back(copied(local, mapped));
  }
  aclshmem_barrier_all();
  if (me == 0) {
    double gigabytes = static_cast<double>(bytes * repeat) / 1e9;
    std::printf("put_%zu %.2f %.2f\n", bytes >> 20, gigabytes / median(puts),
                gigabytes / median(putCopies));
    std::printf("get_%zu %.2f %.2f\n", bytes >> 20, gigabytes / median(gets),
                gigabytes / median(getCopies));
  }
}

int runPe(int me, Shared &shared, const std::string &folder, const char *url) {
  pinTo(me);
  setenv("PITON_NUM_THREADS", "1", 1);
  joinJob(me, 2, 64 << 20, url);
  measureRoundTrips(me, shared, folder);
  for (size_t bytes : {size_t(1) << 20, kBytes})
    measureCopies(me, folder, bytes);
  check(aclshmem_finalize(), "finalize");
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: shmem_kernel_bench FOLDER tcp://127.0.0.1:PORT\n");
    return 2;
  }
  void *memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto &shared = *new (memory) Shared();
  return !runPes(2, [&](int me) { return runPe(me, shared, argv[1], argv[2]); });
}
