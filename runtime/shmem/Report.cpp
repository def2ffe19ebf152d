// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Errors and logs. Messages go to stderr unless SHMEM_LOG_TO_STDOUT or SHMEM_LOG_PATH say
// otherwise; a logger of the user's takes them all.

#include "runtime/shmem/Report.h"

#include "runtime/Status.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <mutex>
#include <string_view>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace piton::shmem {
namespace {

thread_local int threadStatus = ACLSHMEM_SUCCESS;

constexpr const char *kLevels[] = {"DEBUG", "INFO", "WARN", "ERROR", "FATAL"};
constexpr off_t kMaxLogBytes = off_t(1) << 30;
constexpr size_t kMaxLogFiles = 50; ///< in the folder; the oldest go
constexpr uint64_t kLeastFreeBytes = uint64_t(10) << 30;

/// Level set by the environment, or -1.
int environmentLevel() {
  const char *text = std::getenv("SHMEM_LOG_LEVEL");
  for (int level = 0; text && level < 5; ++level)
    if (!std::strcmp(text, kLevels[level]))
      return level;
  if (text && *text)
    std::fprintf(stderr,
                 "piton: SHMEM_LOG_LEVEL=%s is none of DEBUG, INFO, WARN, ERROR and FATAL; it "
                 "changes nothing\n",
                 text);
  return -1;
}

struct Logger {
  std::mutex mutex;
  std::atomic<int> level{static_cast<int>(LogLevel::Error)};
  void (*external)(int, const char *) = nullptr;
  int file = -1;
  bool fileFailed = false;
  bool fixed = false; ///< the environment has set the level

  Logger() {
    if (int wanted = environmentLevel(); wanted >= 0) {
      level = wanted;
      fixed = true;
    }
  }
};

/// Never destroyed: service threads may log while the process ends.
Logger &logger() {
  static Logger &instance = *new Logger;
  return instance;
}

/// A folder that only its owner (us or root) can write to.
bool isSafeFolder(const char *path) {
  struct stat info;
  return !std::strstr(path, "..") && stat(path, &info) == 0 && S_ISDIR(info.st_mode) &&
         (info.st_uid == geteuid() || info.st_uid == 0) && (info.st_mode & 022) == 0;
}

/// Removes the oldest files of ours beyond kMaxLogFiles.
void removeOldLogs(const std::string &folder) {
  std::vector<std::pair<int64_t, std::string>> logs;
  DIR *open = opendir(folder.c_str());
  if (!open)
    return;
  while (dirent *entry = readdir(open)) {
    std::string_view name = entry->d_name;
    struct stat info;
    if (name.substr(0, 9) == "aclshmem_" && name.size() > 4 &&
        name.substr(name.size() - 4) == ".log" &&
        fstatat(dirfd(open), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISREG(info.st_mode) && info.st_uid == geteuid())
      logs.emplace_back(info.st_mtim.tv_sec * 1'000'000'000 + info.st_mtim.tv_nsec, name);
  }
  std::sort(logs.begin(), logs.end());
  for (size_t i = 0; i + kMaxLogFiles < logs.size(); ++i)
    unlinkat(dirfd(open), logs[i].second.c_str(), 0);
  closedir(open);
}

bool hasRoom(const char *folder) {
  struct statvfs disk;
  return statvfs(folder, &disk) == 0 && uint64_t(disk.f_bavail) * disk.f_frsize >= kLeastFreeBytes;
}

/// -1 if messages go elsewhere.
int openLogFile() {
  const char *folder = std::getenv("SHMEM_LOG_PATH");
  if (!folder || !*folder)
    return -1;
  if (!isSafeFolder(folder)) {
    std::fprintf(stderr,
                 "piton: SHMEM_LOG_PATH=%s is no folder that only its owner can write to; "
                 "messages go to stderr\n",
                 folder);
    return -1;
  }
  if (!hasRoom(folder)) {
    std::fprintf(stderr,
                 "piton: the disk of SHMEM_LOG_PATH=%s has less than 10 GiB free; messages go to "
                 "stderr\n",
                 folder);
    return -1;
  }
  std::time_t now = std::time(nullptr);
  std::tm local;
  localtime_r(&now, &local);
  char stamp[32];
  std::strftime(stamp, sizeof(stamp), "%Y%m%d%H%M%S", &local);
  std::string path =
      std::string(folder) + "/aclshmem_" + std::to_string(getpid()) + "_" + stamp + ".log";
  int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0640);
  removeOldLogs(folder);
  return fd;
}

std::string decorate(LogLevel level, const std::string &message) {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  std::tm local;
  localtime_r(&now.tv_sec, &local);
  char stamp[32], head[96];
  std::strftime(stamp, sizeof(stamp), "%Y-%m-%d %H:%M:%S", &local);
  std::snprintf(head, sizeof(head), "%s.%06ld %s %ld pid[%d] ", stamp, now.tv_nsec / 1000,
                kLevels[static_cast<int>(level)], syscall(SYS_gettid), getpid());
  return head + message + "\n";
}

/// Under the mutex.
int destination(Logger &log) {
  if (const char *toStdout = std::getenv("SHMEM_LOG_TO_STDOUT");
      toStdout && !std::strcmp(toStdout, "1"))
    return STDOUT_FILENO;
  struct stat info;
  if (log.file >= 0 && fstat(log.file, &info) == 0 && info.st_size >= kMaxLogBytes) {
    close(log.file);
    log.file = -1;
  }
  if (log.file < 0 && !log.fileFailed) {
    log.file = openLogFile();
    log.fileFailed = log.file < 0;
  }
  return log.file >= 0 ? log.file : STDERR_FILENO;
}

piton_status_t pitonStatus(int code) {
  switch (code) {
  case ACLSHMEM_INVALID_PARAM:
  case ACLSHMEM_INVALID_VALUE:
    return PITON_ERROR_INVALID_ARGUMENT;
  case ACLSHMEM_MALLOC_FAILED:
    return PITON_ERROR_OUT_OF_MEMORY;
  case ACLSHMEM_NOT_INITED:
    return PITON_ERROR_NOT_INITIALIZED;
  case ACLSHMEM_NOT_SUPPORTED:
    return PITON_ERROR_UNSUPPORTED;
  default:
    return PITON_ERROR_SYSTEM;
  }
}

} // namespace

int report(int code, std::string message) {
  threadStatus = code;
  log(LogLevel::Error, message);
  piton::fail(pitonStatus(code), std::move(message));
  return code;
}

std::string errnoText(int error) {
  char buffer[128];
  return strerror_r(error, buffer, sizeof(buffer));
}

int reportErrno(int code, std::string message, int error) {
  return report(code, std::move(message) + ": " + errnoText(error));
}

int lastStatus() { return threadStatus; }
void clearStatus() { threadStatus = ACLSHMEM_SUCCESS; }

bool logs(LogLevel level) {
  return static_cast<int>(level) >= logger().level.load(std::memory_order_relaxed);
}

void log(LogLevel level, const std::string &message) {
  Logger &target = logger();
  std::unique_lock lock(target.mutex);
  if (auto external = target.external) {
    lock.unlock(); // it may call back
    return external(static_cast<int>(level), message.c_str());
  }
  if (!logs(level))
    return;
  int fd = destination(target);
  std::string line = decorate(level, message);
  for (size_t done = 0; done < line.size();) {
    ssize_t n = write(fd, line.data() + done, line.size() - done);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return;
    done += static_cast<size_t>(n);
  }
}

int setLogLevel(int level) {
  if (level < 0 || level > 4)
    return report(ACLSHMEM_INVALID_VALUE,
                  "aclshmemx_set_log_level: level " + std::to_string(level) + " is not in 0..4");
  if (!logger().fixed)
    logger().level = level;
  return ACLSHMEM_SUCCESS;
}

void setExternLogger(void (*external)(int, const char *)) {
  Logger &target = logger();
  std::lock_guard lock(target.mutex);
  target.external = external;
}

} // namespace piton::shmem
