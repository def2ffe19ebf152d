// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Frames in and out of a non-blocking channel.

#include "runtime/shmem/Frames.h"

namespace piton::shmem {

/// More than a PE ever sends before it is known.
static constexpr size_t kMaxEarlyFrames = 16;

void FrameStream::send(FrameType type, std::string_view payload) {
  FrameHeader header{.type = type, .bytes = static_cast<uint32_t>(payload.size())};
  if (sent == outgoing.size()) {
    outgoing.clear();
    sent = 0;
  }
  outgoing.append(reinterpret_cast<const char *>(&header), sizeof(header));
  outgoing.append(payload);
}

std::optional<Frame> FrameStream::next() {
  if (frames.empty())
    return std::nullopt;
  Frame frame = std::move(frames.front());
  frames.pop_front();
  return frame;
}

bool FrameStream::pump() {
  if (isClosed || !failure.empty())
    return false;
  if (!shaken && !shake())
    return failure.empty() && !isClosed;
  // Receive also when sending fails: the other side may have said why before it closed.
  bool sending = transmit();
  bool receiving = receive();
  return sending && receiving;
}

bool FrameStream::shake() {
  handshakeWants = link->handshake();
  if (handshakeWants == Io::Done) {
    shaken = true;
    return true;
  }
  if (handshakeWants == Io::Closed)
    isClosed = true;
  if (handshakeWants == Io::Failed)
    failure = link->error();
  return false;
}

bool FrameStream::transmit() {
  while (sent < outgoing.size()) {
    size_t put = 0;
    Io io = link->write(outgoing.data() + sent, outgoing.size() - sent, put);
    if (io == Io::WantRead || io == Io::WantWrite)
      return true;
    if (io == Io::Failed) {
      failure = link->error();
      return false;
    }
    if (io == Io::Closed) {
      isClosed = true;
      return false;
    }
    sent += put;
  }
  return true;
}

bool FrameStream::receive() {
  for (;;) {
    char buffer[16384];
    size_t got = 0;
    Io io = link->read(buffer, sizeof(buffer), got);
    if (io == Io::WantRead || io == Io::WantWrite)
      return true;
    if (io == Io::Closed) {
      isClosed = true;
      return false;
    }
    if (io == Io::Failed) {
      if (failure.empty())
        failure = link->error();
      return false;
    }
    incoming.append(buffer, got);
    if (!cut())
      return false;
  }
}

bool FrameStream::cut() {
  size_t at = 0;
  while (incoming.size() - at >= sizeof(FrameHeader)) {
    FrameHeader header;
    std::memcpy(&header, incoming.data() + at, sizeof(header));
    if (header.magic != kProtocolMagic || header.bytes > limit) {
      failure = header.magic != kProtocolMagic ? "the other side does not speak Piton's protocol"
                                               : "a message is longer than allowed";
      return false;
    }
    if (incoming.size() - at - sizeof(header) < header.bytes)
      break;
    if (limit <= kMaxHelloBytes && frames.size() == kMaxEarlyFrames) {
      failure = "too many messages before the first one was accepted";
      return false;
    }
    frames.push_back({header.type, incoming.substr(at + sizeof(header), header.bytes)});
    at += sizeof(header) + header.bytes;
  }
  incoming.erase(0, at);
  return true;
}

} // namespace piton::shmem
