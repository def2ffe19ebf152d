// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the PEs of one host hand the descriptor of their common memory to each other: over a unix
// socket with a random abstract name, which is in no file system and ends with its process. Both
// sides check with the kernel (SO_PEERCRED) that the other one is the same user, so no other user
// can map a heap.
#ifndef PITON_RUNTIME_SHMEM_HOSTLINK_H
#define PITON_RUNTIME_SHMEM_HOSTLINK_H

#include "runtime/shmem/Socket.h"

#include <functional>
#include <string>
#include <vector>

namespace piton::shmem {

/// What two processes must have in common to share memory: the running kernel, the network
/// namespace (abstract names are per namespace) and the user.
std::string hostIdentity();

/// The side that has the descriptor.
class HostLinkServer {
public:
  /// Starts to listen. False on failure, which is reported.
  bool open();
  /// For the PEs of the host: what they need to connect. Not to be shown to strangers.
  const std::string &ticket() const { return name; }
  /// Hands `file` to `pes`. Gives up at the deadline, saying which PEs are missing, or, silently,
  /// when `lost` is true.
  int serve(int file, const std::vector<int> &pes, Clock::time_point deadline,
            const std::function<bool()> &lost);

private:
  Fd listener;
  std::string name;
};

/// The other side: fetches the descriptor as PE `pe`.
int fetchFile(const std::string &ticket, int pe, Clock::time_point deadline,
              const std::function<bool()> &lost, Fd &out);

} // namespace piton::shmem

#endif // PITON_RUNTIME_SHMEM_HOSTLINK_H
