// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds a libgomp that is already mapped (torch bundles one, sometimes under a hashed name), and
// implements the own pool: helper threads that are lent to one launch at a time.

#include "sim/Team.h"

#include "runtime/Threads.h"
#include "sim/Sanitizers.h"

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <immintrin.h>
#include <link.h>
#include <linux/futex.h>
#include <mutex>
#include <sched.h>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

namespace piton::sim {
namespace {

//===-- OpenMP ------------------------------------------------------------------------------===//

struct OpenMP {
  void (*parallel)(void (*)(void *), void *, unsigned, unsigned) = nullptr;
  int (*threadNumber)() = nullptr;
  int (*threadCount)() = nullptr;
};

std::atomic<const OpenMP *> openMP{nullptr};
std::atomic<unsigned long long> searchedLibraries{0};
std::atomic<bool> forked{false};

struct Search {
  unsigned long long added = 0;
  std::string *path = nullptr; ///< null: only count
};

int visitLibrary(dl_phdr_info *info, size_t, void *data) {
  auto &search = *static_cast<Search *>(data);
  search.added = info->dlpi_adds;
  if (!search.path)
    return 1;
  const char *slash = std::strrchr(info->dlpi_name, '/');
  const char *name = slash ? slash + 1 : info->dlpi_name;
  if (std::strncmp(name, "libgomp", 7) != 0)
    return 0;
  *search.path = info->dlpi_name;
  return 1;
}

/// The process's libgomp, or null. Searched again only when libraries have been added.
const OpenMP *findOpenMP() {
  // TSan does not see the synchronisation inside libgomp.
  if (kThreadSanitizer || forked.load(std::memory_order_relaxed))
    return nullptr;
  if (const OpenMP *found = openMP.load(std::memory_order_acquire))
    return found;
  Search count;
  dl_iterate_phdr(visitLibrary, &count);
  if (count.added == searchedLibraries.load(std::memory_order_relaxed))
    return nullptr;
  std::string path;
  Search search{0, &path};
  dl_iterate_phdr(visitLibrary, &search);
  searchedLibraries.store(count.added, std::memory_order_relaxed);
  if (path.empty())
    return nullptr;
  void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD); // kept: the library must stay
  if (!handle)
    return nullptr;
  auto *found = new OpenMP;
  found->parallel = reinterpret_cast<decltype(found->parallel)>(dlsym(handle, "GOMP_parallel"));
  found->threadNumber =
      reinterpret_cast<decltype(found->threadNumber)>(dlsym(handle, "omp_get_thread_num"));
  found->threadCount =
      reinterpret_cast<decltype(found->threadCount)>(dlsym(handle, "omp_get_num_threads"));
  const OpenMP *expected = nullptr;
  if (!found->parallel || !found->threadNumber || !found->threadCount ||
      !openMP.compare_exchange_strong(expected, found)) {
    delete found;
    return expected;
  }
  return found;
}

struct OpenMPCall {
  const OpenMP *library;
  TeamBody body;
  void *data;
};

void openMPMember(void *argument) {
  const auto &call = *static_cast<const OpenMPCall *>(argument);
  call.body(call.data, static_cast<unsigned>(call.library->threadNumber()),
            static_cast<unsigned>(call.library->threadCount()));
}

//===-- Own pool ----------------------------------------------------------------------------===//

void futexWait(std::atomic<uint32_t> &word, uint32_t expected) {
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}

void futexWake(std::atomic<uint32_t> &word) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

/// Waits until `word` differs from `value`: spins about 20 microseconds, then sleeps.
void waitWhile(std::atomic<uint32_t> &word, uint32_t value) {
  for (int i = 0; i < 512; ++i) {
    if (word.load(std::memory_order_acquire) != value)
      return;
    _mm_pause();
  }
  while (word.load(std::memory_order_acquire) == value)
    futexWait(word, value);
}

/// One use of some helpers. `pending` counts those that have not finished.
struct Job {
  TeamBody body;
  void *data;
  unsigned count;
  std::atomic<uint32_t> pending;
};

struct Helper {
  std::atomic<uint32_t> ticket{0}; ///< raised when there is a job
  Job *job = nullptr;
  unsigned index = 0;
};

class Pool {
public:
  /// Up to `wanted` idle helpers, created as needed; fewer when other launches have them.
  std::vector<Helper *> acquire(unsigned wanted, unsigned limit) {
    std::lock_guard<std::mutex> guard(mutex);
    std::vector<Helper *> taken;
    while (taken.size() < wanted && !idle.empty()) {
      taken.push_back(idle.back());
      idle.pop_back();
    }
    while (taken.size() < wanted && created < limit) {
      auto *helper = new Helper;
      if (!startThread(*helper)) {
        delete helper;
        break;
      }
      ++created;
      taken.push_back(helper);
    }
    return taken;
  }

private:
  struct Start {
    Pool *pool;
    Helper *helper;
  };

  bool startThread(Helper &helper) {
    auto *start = new Start{this, &helper};
    auto body = [](void *data) {
      Start start = *static_cast<Start *>(data);
      delete static_cast<Start *>(data);
      start.pool->serve(*start.helper);
    };
    if (startServiceThread(body, start))
      return true;
    delete start;
    return false;
  }

  [[noreturn]] void serve(Helper &helper) {
    for (uint32_t seen = 0;; ++seen) {
      waitWhile(helper.ticket, seen);
      Job *job = helper.job;
      job->body(job->data, helper.index, job->count);
      // Idle again before the job counts as done, so that a launch that follows at once finds
      // this helper; from then on `job` may only be touched through `pending`.
      {
        std::lock_guard<std::mutex> guard(mutex);
        idle.push_back(&helper);
      }
      if (job->pending.fetch_sub(1, std::memory_order_acq_rel) == 1)
        futexWake(job->pending);
    }
  }

  std::mutex mutex;
  std::vector<Helper *> idle;
  unsigned created = 0;
};

Pool *&pool() {
  static Pool *instance = new Pool; // helpers outlive static destruction
  return instance;
}

unsigned countCpus() {
  // OMP_NUM_THREADS as well: torchrun sets it to 1 when several ranks share a host.
  for (const char *name : {"PITON_NUM_THREADS", "OMP_NUM_THREADS"}) {
    const char *text = std::getenv(name);
    long value = text ? std::strtol(text, nullptr, 10) : 0;
    if (value > 0)
      return static_cast<unsigned>(std::min(value, 1024L));
  }
  cpu_set_t set;
  CPU_ZERO(&set);
  int count = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
  return static_cast<unsigned>(std::max(count, 1));
}

bool threadsChosenByUser() {
  static const bool chosen = std::getenv("PITON_NUM_THREADS") != nullptr;
  return chosen;
}

} // namespace

unsigned threadBudget() {
  static const unsigned budget = countCpus();
  return budget;
}

void runTeam(bool mayUseOpenMP, unsigned wanted, TeamBody body, void *data) {
  wanted = std::min(wanted, threadBudget());
  if (wanted <= 1)
    return body(data, 0, 1);
  if (const OpenMP *library = mayUseOpenMP ? findOpenMP() : nullptr) {
    // Always the whole team: a smaller one would end threads that torch needs again.
    OpenMPCall call{library, body, data};
    library->parallel(openMPMember, &call, threadsChosenByUser() ? threadBudget() : 0, 0);
    return;
  }
  std::vector<Helper *> helpers = pool()->acquire(wanted - 1, threadBudget() - 1);
  auto count = static_cast<unsigned>(helpers.size()) + 1;
  Job job{body, data, count, {count - 1}};
  for (unsigned i = 0; i < helpers.size(); ++i) {
    helpers[i]->job = &job;
    helpers[i]->index = i + 1;
    helpers[i]->ticket.fetch_add(1, std::memory_order_release);
    futexWake(helpers[i]->ticket);
  }
  body(data, 0, count);
  for (uint32_t left; (left = job.pending.load(std::memory_order_acquire)) != 0;)
    waitWhile(job.pending, left);
}

void resetTeamsAfterFork() {
  forked.store(true);
  pool() = new Pool; // the old one's threads and possibly its lock are lost
}

} // namespace piton::sim
