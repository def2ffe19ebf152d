// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the control plane needs of sockets: addresses, and non-blocking byte channels that are plain
// TCP or (Tls.h) encrypted.
#ifndef PITON_RUNTIME_SHMEM_SOCKET_H
#define PITON_RUNTIME_SHMEM_SOCKET_H

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <sys/socket.h>
#include <utility>

namespace piton::shmem {

using Clock = std::chrono::steady_clock;

/// Owner of a file descriptor.
class Fd {
public:
  Fd() = default;
  explicit Fd(int fd) : fd(fd) {}
  Fd(Fd &&other) noexcept : fd(std::exchange(other.fd, -1)) {}
  Fd &operator=(Fd &&other) noexcept {
    std::swap(fd, other.fd);
    return *this;
  }
  ~Fd();
  int get() const { return fd; }
  int release() { return std::exchange(fd, -1); }
  void reset() { *this = Fd(); }
  explicit operator bool() const { return fd >= 0; }

private:
  int fd = -1;
};

/// An IPv4 or IPv6 address with port.
struct SocketAddress {
  sockaddr_storage storage = {};
  socklen_t length = 0;
  const sockaddr *get() const { return reinterpret_cast<const sockaddr *>(&storage); }
  /// "10.0.0.1:80" or "[::1]:80".
  std::string text() const;
  uint16_t port() const;
};

/// Resolves "tcp://host:port" (IPv4) or "tcp6://[address]:port". On failure returns false and says
/// in `error` which part is wrong and what it should be.
bool parseUrl(const std::string &url, SocketAddress &out, std::string &error);
/// Resolves a host name or literal of the given family (AF_INET, AF_INET6, AF_UNSPEC).
bool resolve(const std::string &host, uint16_t port, int family, SocketAddress &out,
             std::string &error);

/// This host's name.
std::string hostName();

/// The local end of a bound socket.
SocketAddress localAddress(int fd);

/// Non-blocking, close-on-exec listening socket. The text of a failure names the address.
Fd listenAt(const SocketAddress &address, std::string &error);

/// Makes the user's socket one as of listenAt, and ours, also on failure; it must be bound to the
/// port of `address`.
Fd adoptListener(int fd, const SocketAddress &address, std::string &error);

/// One attempt to connect, until `deadline` or until `stopped` (asked several times a second) says
/// so. On success the socket is non-blocking.
Fd connectOnce(const SocketAddress &address, Clock::time_point deadline, std::string &error,
               const std::function<bool()> &stopped);

/// No delays, and a dead host is noticed within seconds.
void tuneConnection(int fd);

/// Waits until poll() reports any of `events` on `fd` or the deadline passes (false).
bool waitFor(int fd, short events, Clock::time_point deadline);

enum class Io {
  Done,      ///< made progress
  WantRead,  ///< again when the socket is readable
  WantWrite, ///< again when it is writable
  Closed,    ///< the other side ended the connection in order
  Failed     ///< see error()
};

/// A byte channel over a non-blocking socket. Not thread-safe.
class Channel {
public:
  virtual ~Channel() = default;
  /// Must return Done before bytes are moved.
  virtual Io handshake() { return Io::Done; }
  virtual Io read(void *data, size_t size, size_t &got) = 0;
  virtual Io write(const void *data, size_t size, size_t &put) = 0;
  /// Bytes that were received already and that poll() therefore does not report.
  virtual bool hasBuffered() const { return false; }
  /// Who the other side proved to be; empty without TLS.
  virtual std::string peerName() const { return {}; }
  const std::string &error() const { return failure; }
  int fd() const { return socket.get(); }

protected:
  explicit Channel(Fd socket) : socket(std::move(socket)) {}
  Fd socket;
  std::string failure;
};

std::unique_ptr<Channel> makePlainChannel(Fd socket);

} // namespace piton::shmem

#endif // PITON_RUNTIME_SHMEM_SOCKET_H
