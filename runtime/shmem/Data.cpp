// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Moving data and signals between heaps, on the host's behalf.

#include "runtime/shmem/Arguments.h"
#include "runtime/shmem/Report.h"
#include "runtime/shmem/World.h"

#include <cstdio>
#include <cstring>

namespace piton::shmem {

static std::string hex(uint64_t value) {
  char text[32];
  std::snprintf(text, sizeof(text), "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

/// What is wrong with an address that shall be symmetric.
int World::reportNotSymmetric(const char *call, const char *which, const void *at,
                              uint64_t bytes) const {
  std::string out = std::string(call) + ": " + which + ", " + std::to_string(bytes) + " bytes at ";
  auto address = reinterpret_cast<uint64_t>(at);
  if (const SymmetricHeap *heap = heapOf(at)) {
    out += "heap + " + hex(heap->offsetOf(at)) +
           ", does not lie in the symmetric heap: memory for "
           "users ends at heap + " +
           hex(heap->userBytes);
  } else {
    out += hex(address) + ", does not lie in the symmetric heap";
    int owner = heapOwner(state, address);
    if (owner >= 0 && owner != pe())
      out += " of this PE but in that of PE " + std::to_string(owner) +
             " as it is mapped here; give the address in this PE's heap, and the PE's number";
    else
      out += " of this PE (" + hex(reinterpret_cast<uint64_t>(deviceHeap.base)) + " to " +
             hex(reinterpret_cast<uint64_t>(deviceHeap.base + deviceHeap.userBytes)) +
             "); allocate it with aclshmem_malloc";
  }
  return report(ACLSHMEM_INVALID_PARAM, out);
}

int World::checkPe(const char *call, int pe) const {
  if (isLost())
    return const_cast<World *>(this)->checkAlive(call);
  if (pe >= 0 && pe < peCount())
    return ACLSHMEM_SUCCESS;
  return report(ACLSHMEM_INVALID_PARAM, std::string(call) + ": PE " + std::to_string(pe) +
                                            " is not one of 0 to " + std::to_string(peCount() - 1));
}

/// Checks the symmetric side of a transfer and finds it on the peer.
int World::resolve(const char *call, const char *which, const void *symmetric, uint64_t bytes,
                   int pe, Transfer &out) const {
  if (int code = checkPe(call, pe))
    return code;
  const SymmetricHeap *heap = heapOf(symmetric, bytes);
  if (!heap || heap->offsetOf(symmetric) + bytes > heap->userBytes)
    return reportNotSymmetric(call, which, symmetric, bytes);
  place(*heap, symmetric, bytes, pe, out);
  return ACLSHMEM_SUCCESS;
}

/// An address of my heap, in the heap of a peer.
void World::place(const SymmetricHeap &heap, const void *symmetric, uint64_t bytes, int pe,
                  Transfer &out) const {
  out.pe = pe;
  out.offset = heap.offsetOf(symmetric);
  out.remote = static_cast<char *>(heap.bases[static_cast<size_t>(pe)]) + out.offset;
  out.hostHeap = &heap == &hostHeap;
  out.bytes = bytes;
}

/// The network notices at once that a peer is gone.
int World::explain(const char *call, int code) {
  bool isCallers = code == ACLSHMEM_NOT_SUPPORTED || code == ACLSHMEM_INVALID_PARAM;
  return code && state.remote && !isCallers ? awaitLoss(call, code) : code;
}

constexpr char kSource[] = "the source", kDestination[] = "the destination";

/// The local side may be any memory of this process.
static int checkLocal(const char *call, const Transfer &transfer, bool isPut) {
  return isPut ? checkReadable(call, kSource, transfer.local, transfer.bytes)
               : checkWritable(call, kDestination, transfer.local, transfer.bytes);
}

/// Starts a transfer whose symmetric side has been found.
int World::begin(const char *call, Transport &engine, const Transfer &transfer, bool isPut) {
  if (!transfer.local || !engine.findsBadMemory())
    if (int code = checkLocal(call, transfer, isPut))
      return code;
  int code = isPut ? engine.put(transfer) : engine.get(transfer);
  if (code != kBadLocalMemory)
    return explain(call, code);
  if ((code = checkLocal(call, transfer, isPut)))
    return code;
  return report(ACLSHMEM_SMEM_ERROR, std::string(call) + ": memory was taken away, or the system "
                                                         "has no more of it, during the transfer");
}

int World::put(const char *call, void *symmetric, const void *local, uint64_t bytes, int pe,
               bool blocking) {
  if (bytes == 0)
    return checkPe(call, pe);
  Transfer transfer;
  if (int code = resolve(call, kDestination, symmetric, bytes, pe, transfer))
    return code;
  transfer.local = const_cast<void *>(local);
  Transport &engine = engineFor(pe);
  if (int code = begin(call, engine, transfer, true))
    return code;
  int code = blocking ? engine.quiet(pe) : ACLSHMEM_SUCCESS;
  ringDoorbell(boardOf(pe));
  return explain(call, code);
}

int World::get(const char *call, void *local, const void *symmetric, uint64_t bytes, int pe,
               bool blocking) {
  if (bytes == 0)
    return checkPe(call, pe);
  Transfer transfer;
  if (int code = resolve(call, kSource, symmetric, bytes, pe, transfer))
    return code;
  transfer.local = local;
  Transport &engine = engineFor(pe);
  if (int code = begin(call, engine, transfer, false))
    return code;
  return explain(call, blocking ? engine.quiet(pe) : ACLSHMEM_SUCCESS);
}

/// Checks all elements of the symmetric side at once: nothing is moved if one lies outside.
int World::checkStrides(const char *call, const char *which, const void *symmetric,
                        const Strides &strides, uint64_t elementBytes, uint64_t count, int pe,
                        bool isPut) const {
  if (count > 1 && (isPut ? strides.symmetric : strides.local) == 0)
    return report(ACLSHMEM_INVALID_VALUE, std::string(call) +
                                              ": the stride of the destination is "
                                              "0: " +
                                              std::to_string(count) +
                                              " elements would go to the same place");
  uint64_t distance = strides.symmetric < 0 ? -static_cast<uint64_t>(strides.symmetric)
                                            : static_cast<uint64_t>(strides.symmetric);
  uint64_t before = 0, bytes = 0;
  if (__builtin_mul_overflow(distance, count - 1, &before) ||
      __builtin_add_overflow(before, elementBytes, &bytes))
    bytes = SIZE_MAX;
  Transfer ignored;
  const auto *first = static_cast<const char *>(symmetric);
  if (strides.symmetric < 0 && bytes != SIZE_MAX && heapOf(first))
    first = heapOf(first)->offsetOf(first) >= before ? first - before : nullptr;
  return resolve(call, which, first, bytes, pe, ignored);
}

int World::putStrided(const char *call, void *symmetric, const void *local, Strides strides,
                      uint64_t elementBytes, uint64_t count, int pe) {
  if (count == 0)
    return checkPe(call, pe);
  if (int code =
          checkStrides(call, kDestination, symmetric, strides, elementBytes, count, pe, true))
    return code;
  auto *to = static_cast<char *>(symmetric);
  const auto *from = static_cast<const char *>(local);
  Transfer transfer;
  for (uint64_t i = 0; i < count; ++i, to += strides.symmetric, from += strides.local) {
    if (int code = resolve(call, kDestination, to, elementBytes, pe, transfer))
      return code;
    transfer.local = const_cast<char *>(from);
    if (int code = begin(call, directFor(pe), transfer, true))
      return code;
  }
  int code = directFor(pe).quiet(pe);
  ringDoorbell(boardOf(pe));
  return explain(call, code);
}

int World::getStrided(const char *call, void *local, const void *symmetric, Strides strides,
                      uint64_t elementBytes, uint64_t count, int pe) {
  if (count == 0)
    return checkPe(call, pe);
  if (int code = checkStrides(call, kSource, symmetric, strides, elementBytes, count, pe, false))
    return code;
  auto *to = static_cast<char *>(local);
  const auto *from = static_cast<const char *>(symmetric);
  Transfer transfer;
  for (uint64_t i = 0; i < count; ++i, to += strides.local, from += strides.symmetric) {
    if (int code = resolve(call, kSource, from, elementBytes, pe, transfer))
      return code;
    transfer.local = to;
    if (int code = begin(call, directFor(pe), transfer, false))
      return code;
  }
  return explain(call, directFor(pe).quiet(pe));
}

/// Checks what a signal does, and finds its word on the peer.
int World::checkSignal(const char *call, const int32_t *word, int op, int pe, Transfer &out) const {
  if (op != kSignalSet && op != kSignalAdd)
    return report(ACLSHMEM_INVALID_VALUE, std::string(call) + ": signal operation " +
                                              std::to_string(op) +
                                              " is neither 0 (SET) nor 1 (ADD)");
  if (reinterpret_cast<uintptr_t>(word) % sizeof(*word))
    return report(ACLSHMEM_INVALID_PARAM,
                  std::string(call) + ": the signal's address is no multiple of 4");
  return resolve(call, "the signal word", word, sizeof(*word), pe, out);
}

int World::signal(const char *call, int32_t *word, int32_t value, int op, int pe) {
  Transfer place;
  if (int code = checkSignal(call, word, op, pe, place))
    return code;
  return sendSignal(call, place, value, static_cast<SignalOp>(op));
}

/// The data, then the signal behind it; nothing if the signal cannot be sent.
int World::putSignal(const char *call, void *symmetric, const void *local, uint64_t bytes, int pe,
                     bool blocking, int32_t *word, int32_t value, int op) {
  Transfer place;
  int code = checkSignal(call, word, op, pe, place);
  if (!code)
    code = put(call, symmetric, local, bytes, pe, blocking);
  if (!code)
    code = fence();
  return code ? code : sendSignal(call, place, value, static_cast<SignalOp>(op));
}

int World::sendSignal(const char *call, const Transfer &place, int32_t value, SignalOp op) {
  SignalRequest request{
      place.pe, static_cast<int32_t *>(place.remote), place.offset, place.hostHeap, value, op};
  int code = engineFor(place.pe).signal(request);
  ringDoorbell(boardOf(place.pe));
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
