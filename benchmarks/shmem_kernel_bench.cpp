// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What device functions cost on two PEs with a core each: a signal's round trip against a bare
// cache-line ping-pong between two processes, and a put against memcpy into the peer's mapping.
// Takes the images of kernels/pingpong.ttir and kernels/put.ttir; prints one line a measurement.
#include "piton/shmem.h"
#include "runtime/Launch.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

constexpr uint32_t kRounds = 20000, kBatches = 11;
constexpr size_t kPutBytes = 8 << 20, kPuts = 8;

struct Shared {
  alignas(64) std::atomic<uint32_t> words[2][16];
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

template <typename Fn> double seconds(Fn fn) {
  auto start = std::chrono::steady_clock::now();
  fn();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

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

void check(int status, const char *what) {
  if (status == 0)
    return;
  std::fprintf(stderr, "shmem_kernel_bench: %s: %s\n", what, piton_last_error());
  std::exit(1);
}

std::string readFile(const char *path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

int runPe(int me, Shared &shared, char **argv) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(me, &cpus);
  sched_setaffinity(0, sizeof(cpus), &cpus);
  setenv("PITON_NUM_THREADS", "1", 1);
  aclshmemx_init_attr_t attr = ACLSHMEMX_INIT_ATTR_DEFAULT;
  attr.my_pe = me;
  attr.n_pes = 2;
  attr.local_mem_size = 64 << 20;
  std::snprintf(attr.ip_port, sizeof(attr.ip_port), "%s", argv[3]);
  check(aclshmemx_set_conf_store_tls(false, "", 0), "tls");
  check(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attr), "init");
  auto *word = static_cast<int32_t *>(aclshmem_malloc(64));
  auto *target = static_cast<char *>(aclshmem_malloc(kPutBytes));
  std::vector<char> source(kPutBytes, 1);
  piton::KernelHandle pingpong, put;
  check(pingpong.load(readFile(argv[1])), argv[1]);
  check(put.load(readFile(argv[2])), argv[2]);
  *word = 0;
  std::vector<double> bare, kernel, copies, puts;
  for (uint32_t batch = 0; batch < kBatches; ++batch) {
    aclshmem_barrier_all();
    bare.push_back(seconds([&] { barePingPong(shared, me, batch * kRounds); }) / kRounds);
    aclshmem_barrier_all();
    piton::ArgumentBlock arguments(pingpong);
    arguments.setPointer(0, word);
    arguments.setInteger(1, batch * kRounds);
    arguments.setInteger(2, kRounds);
    kernel.push_back(
        seconds([&] { check(launch(pingpong, nullptr, 1, 1, 1, arguments), "launch"); }) / kRounds);
    aclshmem_barrier_all();
    void *mapped = aclshmem_ptr(target, 1);
    copies.push_back(seconds([&] {
      for (size_t i = 0; me == 0 && i < kPuts; ++i)
        std::memcpy(mapped, source.data(), kPutBytes);
    }));
    piton::ArgumentBlock putArguments(put);
    putArguments.setPointer(0, target);
    putArguments.setPointer(1, source.data());
    putArguments.setInteger(2, kPutBytes);
    putArguments.setInteger(3, kPuts);
    puts.push_back(seconds([&] { check(launch(put, nullptr, 1, 1, 1, putArguments), "launch"); }));
    aclshmem_barrier_all();
  }
  if (me == 0) {
    std::printf("signal_round_trip_ns %.1f %.1f\n", median(kernel) * 1e9, median(bare) * 1e9);
    double bytes = double(kPutBytes) * kPuts / 1e9;
    std::printf("put_gb_per_s %.2f %.2f\n", bytes / median(puts), bytes / median(copies));
  }
  check(aclshmem_finalize(), "finalize");
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: shmem_kernel_bench PINGPONG PUT tcp://127.0.0.1:PORT\n");
    return 2;
  }
  void *memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto &shared = *new (memory) Shared();
  pid_t child = fork();
  if (child == 0)
    _exit(runPe(1, shared, argv));
  int result = runPe(0, shared, argv), status = 0;
  waitpid(child, &status, 0);
  return result != 0 || status != 0;
}
