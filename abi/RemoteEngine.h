// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a kernel reaches PEs of other hosts, whose heaps it can neither load from nor store to: it
// hands a request to a service of its block (abi/KernelAbi.h), which starts it on the network
// engine of the process (DeviceState::remote) and lets other blocks run until it is done.
//
// Freestanding. Written by runtime/transports; called by sim/.
#ifndef PITON_ABI_REMOTEENGINE_H
#define PITON_ABI_REMOTEENGINE_H

#include <cstdint>

namespace piton {

enum class RemoteOp : uint32_t {
  Put = 0, ///< `bytes` from `local` to the heap of the PE
  Get,     ///< the other way
  Set,     ///< stores `value`, of 1, 2, 4 or 8 bytes
  Fetch,   ///< loads a value of 1, 2, 4 or 8 bytes
  Add,     ///< atomic, of `type`: integers wrap, F16, BF16 and F32 round
  And,     ///< atomic, like the rest on 4 or 8 bytes
  Or,
  Xor,
  Swap,
  CompareSwap, ///< stores `value` if `compare` is there
  Fence,       ///< what follows is visible to each PE after what came before
  Quiet        ///< all that was started is done; `pe` does not matter
};

/// Flags of a request.
inline constexpr uint32_t kRemoteBlocking = 1; ///< done and visible there when the call returns
inline constexpr uint32_t kRemoteOrdered = 2;  ///< behind what was started before
inline constexpr uint32_t kRemoteReturns = 4;  ///< `result` gets the old value; blocks

struct RemoteRequest {
  RemoteOp op;
  int32_t pe;
  uint32_t flags;
  uint32_t type;   ///< ElementType, of Add
  uint64_t offset; ///< in the heap of the PE; the range lies in it
  void *local;     ///< of Put and Get; must stay until the operation is done
  uint64_t bytes;
  uint64_t value;
  uint64_t compare;
  uint64_t result;
};
static_assert(sizeof(RemoteRequest) == 64);

/// An operation that somebody waits for.
struct RemoteTicket;

enum class RemoteStatus : int32_t { Failed = -1, Done = 0, Pending = 1 };

/// Any thread; no function blocks.
struct RemoteEngine {
  void *self;
  /// Starts `request`. Pending comes with a ticket, which goes back by poll() or abandon().
  RemoteStatus (*start)(void *self, RemoteRequest *request, RemoteTicket **ticket);
  /// Drives the engine a little. Unless it is Pending, `request` has its result and the ticket is
  /// no more.
  RemoteStatus (*poll)(void *self, RemoteTicket *ticket, RemoteRequest *request);
  /// Nobody waits any more.
  void (*abandon)(void *self, RemoteTicket *ticket);
  /// Why an operation on the PE failed: NUL-terminated, cut to `bytes`.
  void (*why)(void *self, int32_t pe, char *text, uint64_t bytes);
};

} // namespace piton

#endif // PITON_ABI_REMOTEENGINE_H
