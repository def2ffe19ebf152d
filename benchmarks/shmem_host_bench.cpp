// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the host API of the symmetric heap costs: barrier_all, put and get against memcpy, and init
// of many PEs with the memory that their heaps take. One line a measurement.
//
//   shmem_host_bench barrier URL PES CALLS       nanoseconds a barrier, median of batches
//   shmem_host_bench copies URL BYTES            GB/s of put, get and of memcpy both ways, 2 PEs
//   shmem_host_bench heap URL PES GIB TOUCHED    seconds of init; bytes that the heaps take after
//                                                every PE has written TOUCHED bytes
#include "benchmarks/shmem_bench.h"

#include <cstring>
#include <filesystem>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <thread>

using namespace piton::bench;

namespace {

// Many short batches: who loses the core in one loses that one and not the median.
constexpr int kBatches = 101;

int measureBarrier(const char *url, int count, int calls) {
  bool coreEach = count <= static_cast<int>(std::thread::hardware_concurrency());
  return !runPes(count, [=](int me) {
    if (coreEach) // as oshrun binds them
      pinTo(me);
    joinJob(me, count, 1 << 20, url);
    std::vector<double> times;
    for (int i = 0; i < 100; ++i)
      aclshmem_barrier_all();
    for (int batch = 0; batch < kBatches; ++batch)
      times.push_back(seconds([=] {
        for (int i = 0; i < calls; ++i)
          aclshmem_barrier_all();
      }));
    if (me == 0)
      std::printf("barrier_ns %.1f\n", median(times) / calls * 1e9);
    check(aclshmem_finalize(), "finalize");
    return 0;
  });
}

/// PE 0 moves the bytes and PE 1 waits; the four ways take turns in every round.
int measureCopies(const char *url, size_t bytes) {
  return !runPes(2, [=](int me) {
    joinJob(me, 2, bytes + (1 << 20), url);
    void *symmetric = aclshmem_malloc(bytes), *mapped = aclshmem_ptr(symmetric, 1);
    std::vector<char> own(bytes, static_cast<char>(me + 1));
    char *local = own.data();
    std::memset(symmetric, 7, bytes);
    aclshmem_barrier_all();
    size_t repeat = std::max<size_t>(1, (8 << 20) / bytes);
    std::vector<double> times[4];
    for (int round = 0; me == 0 && round < kBatches; ++round) {
      auto take = [&](int way, auto move) {
        move(); // finds the caches as another way left them
        times[way].push_back(seconds([&] {
          for (size_t i = 0; i < repeat; ++i)
            move();
        }));
      };
      take(0, [&] { aclshmem_putmem(symmetric, local, bytes, 1); });
      take(1, [&] { std::memcpy(mapped, local, bytes); });
      take(2, [&] { aclshmem_getmem(local, symmetric, bytes, 1); });
      take(3, [&] { std::memcpy(local, mapped, bytes); });
    }
    aclshmem_barrier_all();
    if (me == 0) {
      double moved = static_cast<double>(bytes) * static_cast<double>(repeat) / 1e9;
      std::printf("put_gb_per_s %.2f %.2f\n", moved / median(times[0]), moved / median(times[1]));
      std::printf("get_gb_per_s %.2f %.2f\n", moved / median(times[2]), moved / median(times[3]));
    }
    check(aclshmem_finalize(), "finalize");
    return 0;
  });
}

/// Memory that the file behind the heaps takes. It has no name; the mapping leads to it.
double heapFileBytes() {
  for (const auto &entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code ignored;
    std::string target = std::filesystem::read_symlink(entry.path(), ignored).string();
    struct stat info;
    if (target.find("memfd:piton-symmetric-heap") != std::string::npos &&
        stat(entry.path().c_str(), &info) == 0)
      return static_cast<double>(info.st_blocks) * 512;
  }
  std::fprintf(stderr, "no file of a symmetric heap in /proc/self/fd\n");
  std::exit(1);
}

int measureHeap(const char *url, int count, uint64_t gib, uint64_t touched) {
  auto start = std::chrono::steady_clock::now();
  return !runPes(count, [=](int me) {
    joinJob(me, count, gib << 30, url);
    aclshmem_barrier_all(); // all of them are there
    double init = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    double before = me == 0 ? heapFileBytes() : 0;
    aclshmem_barrier_all();
    void *memory = aclshmem_malloc(touched);
    std::memset(memory, me + 1, touched);
    aclshmem_barrier_all();
    if (me == 0) {
      std::printf("init_seconds %.3f\n", init);
      std::printf("heap_bytes %.0f %.0f\n", before, heapFileBytes());
    }
    check(aclshmem_finalize(), "finalize");
    return 0;
  });
}

} // namespace

int main(int argc, char **argv) {
  std::string what = argc > 2 ? argv[1] : "";
  auto number = [&](int i) { return std::strtoull(argv[i], nullptr, 10); };
  if (what == "barrier" && argc == 5)
    return measureBarrier(argv[2], static_cast<int>(number(3)), static_cast<int>(number(4)));
  if (what == "copies" && argc == 4)
    return measureCopies(argv[2], number(3));
  if (what == "heap" && argc == 6)
    return measureHeap(argv[2], static_cast<int>(number(3)), number(4), number(5));
  std::fprintf(stderr, "usage: shmem_host_bench barrier URL PES CALLS | copies URL BYTES | "
                       "heap URL PES GIB TOUCHED\n");
  return 2;
}
