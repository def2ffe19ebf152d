// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The control protocol between PE 0, who serves, and all PEs (PE 0 included): frames of a type and
// a payload over a Channel. Little endian, as every supported host is.
//
//   client                                server
//   Hello                              ->           who I am; checked, at most kMaxHelloBytes
//                                      <- Welcome(text) | Refused(text)     who PE 0 is, or why not
//                                      <- Start     once all PEs are there
//   Call(team, sequence, ...)          ->           my part of a collective call
//                                      <- Result    to every member, once all have called
//   Destroy(team)                      ->           the team's number may be used again
//   Exit(status)                       ->           aclshmem_global_exit
//                                      <- Exit(status) to all
//   Failed(text)                       ->           the job is lost
//   Still(count, text)                 ->           all `count` PEs of my host wait, and nobody has
//                                                   got on for a while; empty: not any more
//   Bye                                ->           in order: the connection's end is no failure
//                                      <- Failed(pe, text)  to all: the job is lost
#ifndef PITON_RUNTIME_SHMEM_FRAMES_H
#define PITON_RUNTIME_SHMEM_FRAMES_H

#include "runtime/shmem/Socket.h"

#include <cstdint>
#include <cstring>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace piton::shmem {

inline constexpr uint32_t kProtocolMagic = 0x4e544950; // "PITN"
inline constexpr uint32_t kProtocolVersion = 3;
inline constexpr uint32_t kMaxHelloBytes = 4096;
inline constexpr uint32_t kMaxFrameBytes = 64u << 20;

enum class FrameType : uint32_t {
  Hello = 1,
  Welcome,
  Refused,
  Start,
  Call,
  Result,
  Destroy,
  Exit,
  Bye,
  Failed,
  Still
};

struct FrameHeader {
  uint32_t magic = kProtocolMagic;
  FrameType type;
  uint32_t bytes; ///< of the payload
  uint32_t reserved = 0;
};

struct Frame {
  FrameType type;
  std::string payload;
};

/// Appends values to a payload.
class Writer {
public:
  template <typename T> Writer &value(T v) {
    static_assert(std::is_trivially_copyable_v<T>);
    out.append(reinterpret_cast<const char *>(&v), sizeof(v));
    return *this;
  }
  Writer &text(std::string_view s) {
    value(static_cast<uint32_t>(s.size()));
    out.append(s);
    return *this;
  }
  std::string out;
};

/// Takes values out of a payload that nobody has checked yet: after a read beyond its end ok() is
/// false and values are zero.
class Reader {
public:
  explicit Reader(std::string_view data) : data(data) {}
  template <typename T> T value() {
    static_assert(std::is_trivially_copyable_v<T>);
    T v = {};
    if (take(sizeof(v)))
      std::memcpy(&v, last, sizeof(v));
    return v;
  }
  std::string_view text() {
    auto size = value<uint32_t>();
    return take(size) ? std::string_view(last, size) : std::string_view();
  }
  bool ok() const { return good; }
  bool atEnd() const { return good && data.empty(); }

private:
  bool take(size_t size) {
    good = good && size <= data.size();
    if (!good)
      return false;
    last = data.data();
    data.remove_prefix(size);
    return true;
  }
  std::string_view data;
  const char *last = nullptr;
  bool good = true;
};

/// Cuts a channel's bytes into frames. Not thread-safe.
class FrameStream {
public:
  explicit FrameStream(std::unique_ptr<Channel> channel, uint32_t limit = kMaxHelloBytes)
      : link(std::move(channel)), limit(limit) {}

  /// Payloads above this are an error. Small until the other side is known.
  void setLimit(uint32_t bytes) { limit = bytes; }

  /// Moves what can be moved without blocking, the handshake included. False when the connection is
  /// over: closed() or error() says why; frames that came before are still there.
  bool pump();
  /// Sends what can be sent without blocking; an error shows at the next pump().
  void flush() {
    if (shaken)
      transmit();
  }

  void send(FrameType type, std::string_view payload);
  std::optional<Frame> next();

  bool wantsWrite() const { return outgoing.size() > sent || handshakeWants == Io::WantWrite; }
  bool flushed() const { return outgoing.size() == sent; }
  bool ready() const { return shaken; } ///< the handshake is done
  bool closed() const { return isClosed; }
  const std::string &error() const { return failure; }
  Channel &channel() { return *link; }
  int fd() const { return link->fd(); }

private:
  bool shake();
  bool receive();
  bool transmit();
  bool cut();

  std::unique_ptr<Channel> link;
  uint32_t limit;
  bool shaken = false, isClosed = false;
  Io handshakeWants = Io::WantRead;
  std::string incoming, outgoing;
  size_t sent = 0;
  std::deque<Frame> frames;
  std::string failure;
};

} // namespace piton::shmem

#endif // PITON_RUNTIME_SHMEM_FRAMES_H
