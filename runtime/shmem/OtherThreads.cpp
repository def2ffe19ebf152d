// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Looks at the process's threads in /proc. What cannot be read counts as a thread that waits.

#include "runtime/shmem/OtherThreads.h"

#include "runtime/Threads.h"

#include <cstdio>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>

namespace piton::shmem {

namespace {

/// The start of a file of a thread; empty if there is none, or no permission.
std::string readOf(pid_t thread, const char *name) {
  char path[64], text[256];
  std::snprintf(path, sizeof(path), "/proc/self/task/%d/%s", thread, name);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t length = fd < 0 ? 0 : read(fd, text, sizeof(text));
  if (fd >= 0)
    close(fd);
  return std::string(text, length > 0 ? static_cast<size_t>(length) : 0);
}

/// In a system call that ends when its time is over and not by anybody's doing. The file has the
/// call's number and its arguments, or a word if the thread runs.
bool isAsleep(pid_t thread) {
  long call = -1;
  unsigned long first = 1;
  if (std::sscanf(readOf(thread, "syscall").c_str(), "%ld %lx", &call, &first) < 2)
    return false;
  switch (call) {
  case SYS_nanosleep:
  case SYS_clock_nanosleep:
    return true;
#ifdef SYS_select
  case SYS_select:
#endif
  case SYS_pselect6:
    return first == 0; // of no file: time.sleep of older Pythons
  default:
    return false;
  }
}

} // namespace

bool OtherThreads::areAtWork(std::chrono::steady_clock::time_point now) {
  auto since = now - last;
  if (since > 3 * interval) { // nobody has asked for a while
    threads.clear();
    result = false;
  } else if (since < interval) {
    return result;
  }
  last = now;
  result = look(since);
  return result;
}

bool OtherThreads::look(std::chrono::steady_clock::duration since) {
  auto least = static_cast<uint64_t>(since / std::chrono::nanoseconds(50));
  std::map<pid_t, Seen> before;
  before.swap(threads);
  bool found = false;
  DIR *folder = opendir("/proc/self/task");
  while (dirent *entry = folder ? readdir(folder) : nullptr) {
    pid_t thread = std::atoi(entry->d_name);
    if (thread <= 0 || isInLibrary(thread))
      continue;
    unsigned long long cpu = 0, delay = 0, timesRun = 0;
    if (std::sscanf(readOf(thread, "schedstat").c_str(), "%llu %llu %llu", &cpu, &delay,
                    &timesRun) != 3)
      continue;
    Seen seen{cpu, timesRun, 0};
    if (auto known = before.find(thread); known != before.end()) {
      const Seen &old = known->second;
      found |= cpu - old.cpuNs >= least;
      if (timesRun == old.timesRun && isAsleep(thread))
        seen.sleeps = old.sleeps + 1;
      found |= seen.sleeps >= 2;
    }
    threads[thread] = seen;
  }
  if (folder)
    closedir(folder);
  return found;
}

} // namespace piton::shmem
