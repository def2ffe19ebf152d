// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Moving data and signals between heaps, on the host's behalf.

#include "runtime/shmem/Report.h"
#include "runtime/shmem/World.h"

#include <cstring>

namespace piton::shmem {

/// Checks the symmetric side of a transfer and finds it on the peer.
int World::resolve(const char *call, const void *symmetric, uint64_t bytes, int pe,
                   Transfer &out) const {
  if (isLost())
    return const_cast<World *>(this)->checkAlive(call);
  if (pe < 0 || pe >= peCount())
    return report(ACLSHMEM_INVALID_PARAM, std::string(call) + ": PE " + std::to_string(pe) +
                                              " is not one of 0 to " +
                                              std::to_string(peCount() - 1));
  const SymmetricHeap *heap = heapOf(symmetric, bytes);
  if (!heap)
    return report(ACLSHMEM_INVALID_PARAM, std::string(call) + ": the " + std::to_string(bytes) +
                                              " bytes at the symmetric address do not lie in the "
                                              "symmetric heap");
  out.pe = pe;
  out.offset = heap->offsetOf(symmetric);
  out.remote = static_cast<char *>(heap->bases[static_cast<size_t>(pe)]) + out.offset;
  out.hostHeap = heap == &hostHeap;
  out.bytes = bytes;
  return ACLSHMEM_SUCCESS;
}

/// The network notices at once that a peer is gone.
int World::explain(const char *call, int code) {
  bool byNetwork = code && state.remote && code != ACLSHMEM_NOT_SUPPORTED;
  return byNetwork ? awaitLoss(call, code) : code;
}

/// The other side of a transfer is any memory of this process; what no memory has is found here.
static int checkLocal(const char *call, const void *local) {
  if (local)
    return ACLSHMEM_SUCCESS;
  return report(ACLSHMEM_INVALID_PARAM, std::string(call) + ": the local address is null");
}

int World::put(const char *call, void *symmetric, const void *local, uint64_t bytes, int pe,
               bool blocking) {
  Transfer transfer;
  if (int code = resolve(call, symmetric, bytes, pe, transfer); code || bytes == 0)
    return code;
  if (int code = checkLocal(call, local))
    return code;
  transfer.local = const_cast<void *>(local);
  Transport &engine = engineFor(pe);
  int code = engine.put(transfer);
  if (!code && blocking)
    code = engine.quiet(pe);
  ringDoorbell(boardOf(pe));
  return explain(call, code);
}

int World::get(const char *call, void *local, const void *symmetric, uint64_t bytes, int pe,
               bool blocking) {
  Transfer transfer;
  if (int code = resolve(call, symmetric, bytes, pe, transfer); code || bytes == 0)
    return code;
  if (int code = checkLocal(call, local))
    return code;
  transfer.local = local;
  Transport &engine = engineFor(pe);
  int code = engine.get(transfer);
  return explain(call, !code && blocking ? engine.quiet(pe) : code);
}

int World::putStrided(const char *call, void *symmetric, const void *local,
                      ptrdiff_t symmetricStride, ptrdiff_t localStride, uint64_t elementBytes,
                      uint64_t count, int pe) {
  if (int code = count ? checkLocal(call, local) : 0)
    return code;
  auto *to = static_cast<char *>(symmetric);
  const auto *from = static_cast<const char *>(local);
  Transfer transfer;
  for (uint64_t i = 0; i < count; ++i, to += symmetricStride, from += localStride) {
    if (int code = resolve(call, to, elementBytes, pe, transfer))
      return code;
    transfer.local = const_cast<char *>(from);
    if (int code = directFor(pe).put(transfer))
      return explain(call, code);
  }
  if (count == 0)
    return ACLSHMEM_SUCCESS;
  int code = directFor(pe).quiet(pe);
  ringDoorbell(boardOf(pe));
  return explain(call, code);
}

int World::getStrided(const char *call, void *local, const void *symmetric, ptrdiff_t localStride,
                      ptrdiff_t symmetricStride, uint64_t elementBytes, uint64_t count, int pe) {
  if (int code = count ? checkLocal(call, local) : 0)
    return code;
  auto *to = static_cast<char *>(local);
  const auto *from = static_cast<const char *>(symmetric);
  Transfer transfer;
  for (uint64_t i = 0; i < count; ++i, to += localStride, from += symmetricStride) {
    if (int code = resolve(call, from, elementBytes, pe, transfer))
      return code;
    transfer.local = to;
    if (int code = directFor(pe).get(transfer))
      return explain(call, code);
  }
  return explain(call, count ? directFor(pe).quiet(pe) : ACLSHMEM_SUCCESS);
}

int World::signal(const char *call, int32_t *word, int32_t value, int op, int pe) {
  if (op != kSignalSet && op != kSignalAdd)
    return report(ACLSHMEM_INVALID_VALUE, std::string(call) + ": signal operation " +
                                              std::to_string(op) +
                                              " is neither 0 (SET) nor 1 (ADD)");
  if (reinterpret_cast<uintptr_t>(word) % sizeof(*word))
    return report(ACLSHMEM_INVALID_PARAM,
                  std::string(call) + ": the signal's address is no multiple of 4");
  Transfer place;
  if (int code = resolve(call, word, sizeof(*word), pe, place))
    return code;
  SignalRequest request{pe,           static_cast<int32_t *>(place.remote),
                        place.offset, place.hostHeap,
                        value,        static_cast<SignalOp>(op)};
  int code = engineFor(pe).signal(request);
  ringDoorbell(boardOf(pe));
  return explain(call, code);
}

/// A PE of this host may be reached by an engine and by load and store: between them only the
/// engine's end is an order. One of another host is reached by the network alone.
int World::fence() {
  if (state.sdmaWorkspace || state.queueInfo)
    return quiet("aclshmem_fence");
  for (auto &transport : transports)
    if (int code = transport->fence(kAllPes))
      return explain("aclshmem_fence", code);
  return ACLSHMEM_SUCCESS;
}

int World::quiet(const char *call) {
  for (auto &transport : transports)
    if (int code = transport->quiet(kAllPes))
      return explain(call, code);
  return ACLSHMEM_SUCCESS;
}

int World::ownerOf(const void *address) const {
  int owner = heapOwner(state, reinterpret_cast<uint64_t>(address));
  return owner < 0 && hostHeap.contains(address) ? pe() : owner;
}

} // namespace piton::shmem
