// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the measuring programs of the symmetric heap share: PEs as forked processes, medians, ends
// on a failure.
#ifndef PITON_BENCHMARKS_SHMEM_BENCH_H
#define PITON_BENCHMARKS_SHMEM_BENCH_H

#include "piton/runtime.h"
#include "piton/shmem.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace piton::bench {

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

template <typename Fn> double seconds(Fn fn) {
  auto start = std::chrono::steady_clock::now();
  fn();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Ends the process if a call failed.
inline void check(int status, const char *what) {
  if (status == 0)
    return;
  std::fprintf(stderr, "%s: %s\n", what, piton_last_error());
  std::exit(1);
}

/// This process as PE `me` of `count`, over plain TCP.
inline void joinJob(int me, int count, uint64_t heapBytes, const char *url) {
  aclshmemx_init_attr_t attr = ACLSHMEMX_INIT_ATTR_DEFAULT;
  attr.my_pe = me;
  attr.n_pes = count;
  attr.local_mem_size = heapBytes;
  std::snprintf(attr.ip_port, sizeof(attr.ip_port), "%s", url);
  check(aclshmemx_set_conf_store_tls(false, "", 0), "tls");
  check(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attr), "init");
}

/// PE `me` on a core of its own.
inline void pinTo(int me) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(me, &cpus);
  sched_setaffinity(0, sizeof(cpus), &cpus);
}

/// Runs body(pe) in `count` processes, this one as PE 0. True if all of them succeeded.
template <typename Fn> bool runPes(int count, Fn body) {
  std::vector<pid_t> children;
  for (int pe = 1; pe < count; ++pe)
    if (pid_t child = fork(); child == 0)
      std::exit(body(pe)); // not _exit: finalize has handlers
    else
      children.push_back(child);
  bool good = body(0) == 0;
  for (pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    good = good && status == 0;
  }
  return good;
}

} // namespace piton::bench

#endif // PITON_BENCHMARKS_SHMEM_BENCH_H
