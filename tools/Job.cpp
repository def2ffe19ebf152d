// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Starting and ending the processes of a job.

#include "tools/Job.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <netinet/in.h>
#include <set>
#include <sstream>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace piton {

namespace {

using Clock = std::chrono::steady_clock;

/// The others have this long to notice a failure and report it themselves. A PE that is told to end
/// then still says what it waits for (runtime/shmem/Termination.h).
constexpr std::chrono::seconds kGrace{1}, kTerminationGrace{6};

volatile sig_atomic_t receivedSignal = 0;
void onSignal(int signal) { receivedSignal = signal; }

/// A port for the control plane, or -1. A socket stays bound there until the job ends, so that no
/// outgoing connection and nobody else who looks for a port gets it before PE 0 listens, which
/// SO_REUSEADDR permits.
int reservePort() {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
      bind(fd, reinterpret_cast<sockaddr *>(&address), length) != 0 ||
      getsockname(fd, reinterpret_cast<sockaddr *>(&address), &length) != 0)
    return -1;
  return ntohs(address.sin_port);
}

/// In the child: becomes PE `pe`.
[[noreturn]] void becomePe(int pe, int count, int port, pid_t parent,
                           const std::vector<std::string> &command) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) // it died before the line above
    _exit(1);
  auto set = [](const char *name, const std::string &value) { setenv(name, value.c_str(), 1); };
  set("RANK", std::to_string(pe));
  set("LOCAL_RANK", std::to_string(pe));
  set("WORLD_SIZE", std::to_string(count));
  set("LOCAL_WORLD_SIZE", std::to_string(count));
  set("MASTER_ADDR", "127.0.0.1");
  set("MASTER_PORT", std::to_string(port));
  set(kJobUrlVariable, "tcp://127.0.0.1:" + std::to_string(port));
  std::vector<char *> argv;
  argv.reserve(command.size() + 1);
  for (const std::string &word : command)
    argv.push_back(const_cast<char *>(word.c_str()));
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  std::fprintf(stderr, "piton-run: error: cannot run '%s': %s\n", argv[0], std::strerror(errno));
  _exit(127);
}

struct Pe {
  pid_t pid = -1;
  bool running = false;
};

void signalAll(const std::vector<Pe> &pes, int signal) {
  for (const Pe &pe : pes)
    if (pe.running)
      kill(pe.pid, signal);
}

/// Collects the processes that have ended; `failed` gets the first bad one.
void reap(std::vector<Pe> &pes, int &failed, int &code) {
  for (size_t i = 0; i < pes.size(); ++i) {
    int status = 0;
    if (!pes[i].running || waitpid(pes[i].pid, &status, WNOHANG) != pes[i].pid)
      continue;
    pes[i].running = false;
    if (failed >= 0 || status == 0)
      continue;
    failed = static_cast<int>(i);
    code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (WIFSIGNALED(status))
      std::fprintf(stderr, "piton-run: PE %d (pid %d) was ended by signal %d (%s)\n", failed,
                   pes[i].pid, WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
      std::fprintf(stderr, "piton-run: PE %d (pid %d) ended with exit code %d\n", failed,
                   pes[i].pid, code);
  }
}

/// Whether `name` can be started, searched in PATH as execvp does it; errno says why not.
bool isProgram(const std::string &name) {
  auto runs = [](const std::string &path) {
    struct stat info;
    if (stat(path.c_str(), &info) != 0)
      return false;
    errno = EACCES;
    return S_ISREG(info.st_mode) && access(path.c_str(), X_OK) == 0;
  };
  if (name.find('/') != std::string::npos)
    return runs(name);
  const char *path = std::getenv("PATH");
  std::stringstream folders(path ? path : "/bin:/usr/bin");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (runs((folder.empty() ? "." : folder) + "/" + name))
      return true;
  errno = ENOENT;
  return false;
}

/// Processes that belong to this one now: the PEs and what dead PEs have left, as a subreaper.
std::vector<pid_t> children() {
  std::vector<pid_t> out;
  std::ifstream list("/proc/self/task/" + std::to_string(gettid()) + "/children");
  for (pid_t pid; list >> pid;)
    out.push_back(pid);
  return out;
}

/// A PE may have been started by a script, which ended and left it. Nothing of a failed job stays.
void endOrphans() {
  std::set<pid_t> told;
  Clock::time_point killAt = Clock::now() + kTerminationGrace, giveUpAt = killAt + kGrace;
  while (Clock::now() < giveUpAt) {
    while (waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    std::vector<pid_t> left = children();
    if (left.empty())
      return;
    for (pid_t pid : left)
      if (Clock::now() >= killAt)
        kill(pid, SIGKILL);
      else if (told.insert(pid).second)
        kill(pid, SIGTERM);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

bool anyRunning(const std::vector<Pe> &pes) {
  return std::any_of(pes.begin(), pes.end(), [](const Pe &pe) { return pe.running; });
}

} // namespace

int runJob(int count, const std::vector<std::string> &command) {
  if (!isProgram(command[0])) {
    std::fprintf(stderr, "piton-run: error: cannot run '%s': %s\n", command[0].c_str(),
                 std::strerror(errno));
    return 127;
  }
  int port = reservePort();
  if (port < 0) {
    std::fprintf(stderr, "piton-run: error: no free port: %s\n", std::strerror(errno));
    return 1;
  }
  struct sigaction action = {};
  action.sa_handler = onSignal;
  for (int signal : {SIGINT, SIGTERM, SIGHUP})
    sigaction(signal, &action, nullptr);

  prctl(PR_SET_CHILD_SUBREAPER, 1); // see endOrphans
  std::vector<Pe> pes(static_cast<size_t>(count));
  int failed = -1, code = 0;
  pid_t self = getpid();
  for (int i = 0; i < count && failed < 0; ++i) {
    pid_t pid = fork();
    if (pid == 0)
      becomePe(i, count, port, self, command);
    pes[static_cast<size_t>(i)] = {pid, pid > 0};
    if (pid < 0) {
      std::fprintf(stderr, "piton-run: error: cannot start PE %d: %s\n", i, std::strerror(errno));
      failed = i;
      code = 1;
    }
  }
  Clock::time_point terminateAt = Clock::time_point::max(), killAt = terminateAt;
  bool terminated = false;
  std::chrono::microseconds pause(500);
  while (anyRunning(pes)) {
    reap(pes, failed, code);
    if (receivedSignal && failed < 0) {
      failed = count;
      code = 128 + receivedSignal;
      signalAll(pes, receivedSignal);
    }
    if (failed >= 0 && terminateAt == Clock::time_point::max()) {
      terminateAt = Clock::now() + kGrace;
      killAt = terminateAt + kTerminationGrace;
    }
    if (Clock::now() >= terminateAt && !terminated) {
      signalAll(pes, SIGTERM);
      terminated = true;
    }
    if (Clock::now() >= killAt)
      signalAll(pes, SIGKILL);
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::microseconds(20000));
  }
  if (failed >= 0)
    endOrphans();
  return code;
}

} // namespace piton
