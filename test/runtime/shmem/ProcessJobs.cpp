// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PEs as processes, and what both kinds of jobs need.

#include "test/runtime/shmem/Jobs.h"

#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace piton::test {

uint16_t freePort() {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1; // never closed
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  bind(fd, reinterpret_cast<sockaddr *>(&address), length);
  getsockname(fd, reinterpret_cast<sockaddr *>(&address), &length);
  return ntohs(address.sin_port);
}

uint16_t portOf(const std::string &url) {
  return static_cast<uint16_t>(std::stoi(url.substr(url.rfind(':') + 1)));
}

void waitUntil(const std::function<bool()> &ready) {
  auto deadline = shmem::Clock::now() + std::chrono::seconds(40);
  while (!ready()) {
    if (shmem::Clock::now() >= deadline) {
      ADD_FAILURE() << "what this waits for has not come within 40 s";
      return;
    }
    usleep(5000);
  }
}

/// Sockets of this host whose own port it is.
static int socketsAt(uint16_t port, unsigned state) {
  std::ifstream table("/proc/net/tcp"); // "0: 0100007F:8235 00000000:0000 0A ..." behind a title
  int count = 0;
  for (std::string line; std::getline(table, line);) {
    unsigned local = 0, seen = 0;
    if (std::sscanf(line.c_str(), "%*d: %*x:%x %*x:%*x %x", &local, &seen) == 2)
      count += local == port && seen == state;
  }
  return count;
}

void awaitListener(const std::string &url) {
  waitUntil([port = portOf(url)] { return socketsAt(port, TCP_LISTEN) > 0; });
}

void awaitConnections(const std::string &url, int count) {
  waitUntil([=, port = portOf(url)] { return socketsAt(port, TCP_ESTABLISHED) >= count; });
}

SharedCount::SharedCount()
    : word(static_cast<int *>(
          mmap(nullptr, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
SharedCount::~SharedCount() { munmap(word, sizeof(int)); }

int connectTo(uint16_t port) {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  for (int i = 0; i < 1000; ++i) {
    if (connect(fd, reinterpret_cast<sockaddr *>(&address), sizeof(address)) == 0)
      return fd;
    usleep(20000);
  }
  return -1;
}

void sendGarbage(uint16_t port, const std::string &almost, const std::string &begun) {
  const std::string kinds[] = {"GET / HTTP/1.1\r\n\r\n", std::string(100000, '\xff'), almost,
                               begun};
  for (int i = 0; i < 20; ++i) {
    int fd = connectTo(port);
    const std::string &garbage = kinds[i % 4];
    [[maybe_unused]] ssize_t n = send(fd, garbage.data(), garbage.size(), MSG_NOSIGNAL);
    if (i % 2)
      close(fd);
  }
}

std::string freeUrl() { return "tcp://127.0.0.1:" + std::to_string(freePort()); }

namespace {

struct Child {
  pid_t pid = -1;
  int output = -1;
};

Child startChild(int pe, const std::function<int(int)> &body) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return {};
  Child child{fork(), ends[0]};
  if (child.pid == 0) {
    dup2(ends[1], STDOUT_FILENO);
    dup2(ends[1], STDERR_FILENO);
    int code = body(pe);
    if (testing::Test::HasFailure())
      code = 100;
    std::fflush(nullptr);
    _exit(code);
  }
  close(ends[1]);
  return child;
}

/// Appends what can be read until `deadline`; false at the pipe's end.
bool drain(Child &child, std::string &out, std::chrono::milliseconds wait) {
  pollfd entry = {child.output, POLLIN, 0};
  if (poll(&entry, 1, static_cast<int>(wait.count())) <= 0)
    return true;
  char buffer[4096];
  ssize_t n = read(child.output, buffer, sizeof(buffer));
  if (n > 0)
    out.append(buffer, static_cast<size_t>(n));
  return n > 0;
}

} // namespace

std::vector<ProcessResult> runProcesses(int count, const std::function<int(int)> &body,
                                        int seconds) {
  std::fflush(nullptr);
  std::vector<Child> children;
  for (int pe = 0; pe < count; ++pe)
    children.push_back(startChild(pe, body));
  std::vector<ProcessResult> results(static_cast<size_t>(count));
  auto deadline = shmem::Clock::now() + std::chrono::seconds(seconds);
  for (size_t i = 0; i < children.size(); ++i) {
    bool open = true;
    while (open && shmem::Clock::now() < deadline)
      open = drain(children[i], results[i].output, std::chrono::milliseconds(100));
    if (open)
      kill(children[i].pid, SIGKILL);
    int status = 0;
    waitpid(children[i].pid, &status, 0);
    close(children[i].output);
    if (WIFEXITED(status))
      results[i].exitCode = WEXITSTATUS(status);
    else
      results[i].signal = WTERMSIG(status);
  }
  return results;
}

aclshmemx_init_attr_t attributes(int pe, int count, const std::string &url, uint64_t heapBytes) {
  aclshmemx_init_attr_t attr = ACLSHMEMX_INIT_ATTR_DEFAULT;
  attr.my_pe = pe;
  attr.n_pes = count;
  attr.local_mem_size = heapBytes;
  std::strncpy(attr.ip_port, url.c_str(), sizeof(attr.ip_port) - 1);
  attr.option_attr.shm_init_timeout = attr.option_attr.control_operation_timeout = 20;
  return attr;
}

} // namespace piton::test

/// For TSan: UCX is not instrumented. What it writes to a heap for a peer, with a plain copy as a
/// network card would, has no visible order, and of its locks only the last unlock at exit is seen.
extern "C" const char *__tsan_default_suppressions() {
  return "called_from_lib:libucp.so.0\ncalled_from_lib:libuct.so.0\ncalled_from_lib:libucs.so.0\n"
         "race:ucp_put_handler\nmutex:_dl_call_fini\n";
}
