// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ROCE: the heaps of other hosts, over UCX. It lives in a library of its own (libpiton_roce.so)
// that is loaded when a job needs it, so that nothing else depends on UCX, and UCX, which installs
// signal handlers and memory hooks when it is loaded, comes with both switched off.
#ifndef PITON_RUNTIME_TRANSPORTS_ROCE_ROCE_H
#define PITON_RUNTIME_TRANSPORTS_ROCE_ROCE_H

#include "runtime/transports/Transport.h"

#include <memory>
#include <string>
#include <vector>

namespace piton::shmem {

/// What the transport needs of the process; the library links to nothing of Piton's.
struct RoceSetup {
  int pe, peCount;
  void *heapBase; ///< device side
  uint64_t heapBytes;
  int (*report)(int code, const char *message); ///< stores and logs an error, returns the code
  /// Something moved; a peer of another host may have stored to the own heap: wakes those who sleep
  /// on it.
  void (*arrived)(void *context);
  bool (*lost)(void *context); ///< the job is lost: nothing is waited for any more
  /// Runs body(data) as a thread of the library, whose work is none of the program's.
  void (*serve)(void (*body)(void *), void *data);
  void *context;
};

/// A transport to be connected: what address() gives on every PE is exchanged by the caller.
class RoceTransport : public Transport {
public:
  virtual std::string address() = 0;
  /// `addresses` by PE. Endpoints are made when first used. Returns a code, reported.
  virtual int connect(const std::vector<std::string> &addresses) = 0;
  /// The host-side heap, which comes later: as address() and connect().
  virtual std::string addHostHeap(void *base, uint64_t bytes) = 0;
  virtual int connectHostHeaps(const std::vector<std::string> &addresses) = 0;
  /// For kernels; lives as long as the transport.
  virtual const RemoteEngine &remoteEngine() const = 0;
};

/// Loads the library and makes the transport; null on failure, which is reported.
std::unique_ptr<RoceTransport> makeRoceTransport(const RoceSetup &setup);

/// The library's only symbol, of this type; the caller owns the result. Null on failure, reported.
using RoceFactory = RoceTransport *(*)(const RoceSetup *setup);
inline constexpr char kRoceFactory[] = "piton_roce_create";

} // namespace piton::shmem

#endif // PITON_RUNTIME_TRANSPORTS_ROCE_ROCE_H
