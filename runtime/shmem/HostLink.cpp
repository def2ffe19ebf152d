// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passing the heaps' descriptor between the PEs of a host.

#include "runtime/shmem/HostLink.h"

#include "runtime/shmem/ControlServer.h"
#include "runtime/shmem/Report.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <poll.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <vector>

namespace piton::shmem {

namespace {

constexpr char kPrefix[] = "piton-shmem-";

/// The address of an abstract name.
socklen_t abstractAddress(const std::string &name, sockaddr_un &out) {
  out = {};
  out.sun_family = AF_UNIX;
  std::memcpy(out.sun_path + 1, name.data(), std::min(name.size(), sizeof(out.sun_path) - 1));
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
}

bool isSameUser(int fd) {
  ucred peer = {};
  socklen_t size = sizeof(peer);
  return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
}

/// A message of one byte with room for one file descriptor beside it.
struct DescriptorMessage {
  DescriptorMessage() {
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
  }
  DescriptorMessage(const DescriptorMessage &) = delete;

  char byte = 1;
  iovec data = {&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message = {};
};

bool sendDescriptor(int socket, int file) {
  DescriptorMessage out;
  cmsghdr *header = CMSG_FIRSTHDR(&out.message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &file, sizeof(int));
  return sendmsg(socket, &out.message, MSG_NOSIGNAL) == 1;
}

Fd receiveDescriptor(int socket) {
  DescriptorMessage in;
  if (recvmsg(socket, &in.message, MSG_CMSG_CLOEXEC) != 1)
    return Fd();
  cmsghdr *header = CMSG_FIRSTHDR(&in.message);
  if (!header || header->cmsg_type != SCM_RIGHTS || header->cmsg_len != CMSG_LEN(sizeof(int)))
    return Fd();
  int file = -1;
  std::memcpy(&file, CMSG_DATA(header), sizeof(int));
  return Fd(file);
}

} // namespace

std::string hostIdentity() {
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  struct stat net = {};
  stat("/proc/self/ns/net", &net);
  return boot + "/" + std::to_string(net.st_ino) + "/" + std::to_string(geteuid());
}

bool HostLinkServer::open() {
  unsigned char random[16];
  if (getrandom(random, sizeof(random), 0) != sizeof(random)) {
    reportErrno(ACLSHMEM_SMEM_ERROR, "no random numbers", errno);
    return false;
  }
  name = kPrefix;
  for (unsigned char byte : random) {
    char digits[3];
    std::snprintf(digits, sizeof(digits), "%02x", byte);
    name += digits;
  }
  sockaddr_un address;
  socklen_t length = abstractAddress(name, address);
  listener = Fd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listener || bind(listener.get(), reinterpret_cast<sockaddr *>(&address), length) != 0 ||
      listen(listener.get(), 1024) != 0) {
    reportErrno(ACLSHMEM_SMEM_ERROR, "cannot listen for the PEs of this host", errno);
    return false;
  }
  return true;
}

int HostLinkServer::serve(int file, const std::vector<int> &pes, Clock::time_point deadline,
                          const std::function<bool()> &lost) {
  std::vector<int> missing = pes;
  std::vector<Fd> open;
  while (!missing.empty()) {
    std::vector<pollfd> entries = {{listener.get(), POLLIN, 0}};
    for (const Fd &fd : open)
      entries.push_back({fd.get(), POLLIN, 0});
    if (lost())
      return ACLSHMEM_INNER_ERROR;
    auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0)
      return report(ACLSHMEM_TIMEOUT_ERROR, listPes(missing) +
                                                " of this host did not fetch the "
                                                "heaps in time (shm_create_timeout)");
    poll(entries.data(), entries.size(), static_cast<int>(std::min<long>(left, 200)));
    for (size_t i = open.size(); i-- > 0;) {
      if (!entries[i + 1].revents)
        continue;
      int32_t pe = -1;
      ssize_t n = recv(open[i].get(), &pe, sizeof(pe), 0);
      auto known = std::find(missing.begin(), missing.end(), pe);
      if (n == sizeof(pe) && known != missing.end() && sendDescriptor(open[i].get(), file))
        missing.erase(known);
      open.erase(open.begin() + static_cast<long>(i));
    }
    if (!entries[0].revents)
      continue;
    if (Fd fd(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)); fd) {
      if (isSameUser(fd.get()))
        open.push_back(std::move(fd));
      else
        log(LogLevel::Warning, "another user tried to fetch the symmetric heaps and was refused");
    }
  }
  return ACLSHMEM_SUCCESS;
}

int fetchFile(const std::string &ticket, int pe, Clock::time_point deadline,
              const std::function<bool()> &lost, Fd &out) {
  sockaddr_un address;
  socklen_t length = abstractAddress(ticket, address);
  Fd fd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!fd || connect(fd.get(), reinterpret_cast<sockaddr *>(&address), length) != 0)
    return reportErrno(ACLSHMEM_SMEM_ERROR,
                       "cannot connect to the PE of this host that holds the "
                       "symmetric heaps",
                       errno);
  if (!isSameUser(fd.get()))
    return report(ACLSHMEM_SMEM_ERROR,
                  "the process that offers the symmetric heaps belongs to another user");
  int32_t number = pe;
  if (send(fd.get(), &number, sizeof(number), MSG_NOSIGNAL) == sizeof(number)) {
    while (Clock::now() < deadline && !lost()) {
      if (!waitFor(fd.get(), POLLIN, Clock::now() + std::chrono::milliseconds(200)))
        continue;
      out = receiveDescriptor(fd.get());
      break;
    }
  }
  if (!out)
    return report(ACLSHMEM_SMEM_ERROR,
                  "the PE of this host that holds the symmetric heaps did not hand them out");
  return ACLSHMEM_SUCCESS;
}

} // namespace piton::shmem
