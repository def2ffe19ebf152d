// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sockets of the control plane.

#include "runtime/shmem/Socket.h"

#include "runtime/shmem/Report.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string_view>
#include <unistd.h>

namespace piton::shmem {

Fd::~Fd() {
  if (fd >= 0)
    close(fd);
}

//===-- Addresses ---------------------------------------------------------------------------===//

std::string SocketAddress::text() const {
  char host[INET6_ADDRSTRLEN] = "?";
  if (storage.ss_family == AF_INET6) {
    const auto *in6 = reinterpret_cast<const sockaddr_in6 *>(&storage);
    inet_ntop(AF_INET6, &in6->sin6_addr, host, sizeof(host));
    return "[" + std::string(host) + "]:" + std::to_string(port());
  }
  const auto *in = reinterpret_cast<const sockaddr_in *>(&storage);
  inet_ntop(AF_INET, &in->sin_addr, host, sizeof(host));
  return std::string(host) + ":" + std::to_string(port());
}

uint16_t SocketAddress::port() const {
  return ntohs(storage.ss_family == AF_INET6
                   ? reinterpret_cast<const sockaddr_in6 *>(&storage)->sin6_port
                   : reinterpret_cast<const sockaddr_in *>(&storage)->sin_port);
}

bool resolve(const std::string &host, uint16_t port, int family, SocketAddress &out,
             std::string &error) {
  addrinfo hints = {}, *found = nullptr;
  hints.ai_family = family;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  int failed = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (failed) {
    error = "cannot resolve host '" + host +
            "': " + (failed == EAI_SYSTEM ? errnoText(errno) : gai_strerror(failed));
    return false;
  }
  std::memcpy(&out.storage, found->ai_addr, found->ai_addrlen);
  out.length = found->ai_addrlen;
  freeaddrinfo(found);
  return true;
}

static bool isHostName(std::string_view host) {
  return !host.empty() && host.size() <= 253 &&
         std::all_of(host.begin(), host.end(),
                     [](unsigned char c) { return std::isalnum(c) || c == '.' || c == '-'; });
}

bool parseUrl(const std::string &url, SocketAddress &out, std::string &error) {
  auto bad = [&](const char *why) {
    error = "'" + url + "' is no address of PE 0: " + why +
            "; expected tcp://HOST:PORT or tcp6://[ADDRESS]:PORT with a port from 1025 to 65535";
    return false;
  };
  bool v6 = url.starts_with("tcp6://");
  if (!v6 && !url.starts_with("tcp://"))
    return bad(url.empty() ? "it is empty" : "it does not start with tcp:// or tcp6://");
  std::string rest = url.substr(v6 ? 7 : 6), host;
  size_t colon = rest.rfind(':');
  if (v6) {
    size_t close = rest.find(']');
    if (rest.empty() || rest[0] != '[' || close == std::string::npos)
      return bad("the IPv6 address is not in brackets");
    host = rest.substr(1, close - 1);
    colon = close + 1;
    if (colon >= rest.size() || rest[colon] != ':')
      return bad("there is no port");
  } else {
    if (colon == std::string::npos)
      return bad("there is no port");
    host = rest.substr(0, colon);
    if (!isHostName(host))
      return bad("the host is no IPv4 address or name of letters, digits, '.' and '-'");
  }
  std::string digits = rest.substr(colon + 1);
  if (digits.empty() || digits.size() > 5 ||
      !std::all_of(digits.begin(), digits.end(), [](unsigned char c) { return std::isdigit(c); }))
    return bad("the port is no number");
  long port = std::stol(digits);
  if (port <= 1024 || port > 65535)
    return bad("the port is out of range");
  std::string why;
  if (!resolve(host, static_cast<uint16_t>(port), v6 ? AF_INET6 : AF_INET, out, why))
    return bad(why.c_str());
  return true;
}

std::string hostName() {
  char name[128] = "?";
  gethostname(name, sizeof(name) - 1);
  return name;
}

SocketAddress localAddress(int fd) {
  SocketAddress out;
  out.length = sizeof(out.storage);
  if (getsockname(fd, reinterpret_cast<sockaddr *>(&out.storage), &out.length) != 0)
    out.length = 0;
  return out;
}

//===-- Connections -------------------------------------------------------------------------===//

Fd listenAt(const SocketAddress &address, std::string &error) {
  Fd fd(socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  int on = 1;
  if (fd)
    setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)); // connections in TIME_WAIT
  if (fd && bind(fd.get(), address.get(), address.length) == 0 && listen(fd.get(), 1024) == 0)
    return fd;
  error = "PE 0 cannot listen at " + address.text() + ": " + errnoText(errno) +
          (errno == EADDRINUSE ? "; another job or program uses the port, choose another one" : "");
  return Fd();
}

Fd adoptListener(int given, const SocketAddress &address, std::string &error) {
  Fd fd(given);
  int flags = fcntl(given, F_GETFL), closing = fcntl(given, F_GETFD);
  if (flags < 0 || fcntl(given, F_SETFL, flags | O_NONBLOCK) < 0 ||
      fcntl(given, F_SETFD, closing | FD_CLOEXEC) < 0 || listen(given, 1024) != 0) {
    error = "cannot listen at it: " + errnoText(errno);
    if (errno == EBADF)
      fd.release();
    return Fd();
  }
  if (SocketAddress bound = localAddress(given); bound.port() != address.port()) {
    error =
        "it is bound to " + bound.text() + ", ip_port says port " + std::to_string(address.port());
    return Fd();
  }
  return fd;
}

bool waitFor(int fd, short events, Clock::time_point deadline) {
  for (;;) {
    auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd entry = {fd, events, 0};
    int n = poll(&entry, 1, static_cast<int>(std::clamp<long>(left, 0, 60000)));
    if (n > 0)
      return true;
    if ((n < 0 && errno != EINTR) || left <= 0)
      return false;
  }
}

Fd connectOnce(const SocketAddress &address, Clock::time_point deadline, std::string &error,
               const std::function<bool()> &stopped) {
  Fd fd(socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  int failed = fd ? 0 : errno, on = 1;
  // With no listener, a port that the system hands out to clients may be connected to itself. That
  // must not keep PE 0 from listening there, now or in the minute after.
  if (fd)
    setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (fd && connect(fd.get(), address.get(), address.length) != 0) {
    failed = errno;
    if (failed == EINPROGRESS) {
      socklen_t size = sizeof(failed);
      bool ready = false;
      while (!ready && !stopped() && Clock::now() < deadline)
        ready = waitFor(fd.get(), POLLOUT,
                        std::min(deadline, Clock::now() + std::chrono::milliseconds(50)));
      if (!ready)
        failed = ETIMEDOUT;
      else if (getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &failed, &size) != 0)
        failed = errno;
    }
  }
  if (failed) {
    error = errnoText(failed);
    return Fd();
  }
  if (localAddress(fd.get()).text() == address.text()) {
    error = errnoText(ECONNREFUSED);
    return Fd();
  }
  tuneConnection(fd.get());
  return fd;
}

void tuneConnection(int fd) {
  auto set = [fd](int level, int option, int value) {
    setsockopt(fd, level, option, &value, sizeof(value));
  };
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 1);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 1);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, 4000);
}

//===-- Plain channel -----------------------------------------------------------------------===//

namespace {

class PlainChannel final : public Channel {
public:
  explicit PlainChannel(Fd socket) : Channel(std::move(socket)) {}

  Io read(void *data, size_t size, size_t &got) override {
    ssize_t n = recv(fd(), data, size, 0);
    if (n > 0) {
      got = static_cast<size_t>(n);
      return Io::Done;
    }
    return n == 0 ? Io::Closed : again(Io::WantRead);
  }

  Io write(const void *data, size_t size, size_t &put) override {
    ssize_t n = send(fd(), data, size, MSG_NOSIGNAL);
    if (n >= 0) {
      put = static_cast<size_t>(n);
      return Io::Done;
    }
    return again(Io::WantWrite);
  }

private:
  Io again(Io want) {
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)
      return want;
    if (errno == ECONNRESET || errno == EPIPE)
      return Io::Closed; // how the end of a killed process looks
    failure = errnoText(errno);
    return Io::Failed;
  }
};

} // namespace

std::unique_ptr<Channel> makePlainChannel(Fd socket) {
  return std::make_unique<PlainChannel>(std::move(socket));
}

} // namespace piton::shmem
