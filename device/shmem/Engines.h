// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies between PEs by the engine that the host chose for the peer: load and store (MTE), the copy
// engine's ring (SDMA), a work queue with a doorbell (UDMA), or the network to another host (ROCE).
// No kernel source changes with it. The rings and the order of writing them are in
// abi/TransferQueues.h, requests to the network in abi/RemoteEngine.h.
#ifndef PITON_DEVICE_SHMEM_ENGINES_H
#define PITON_DEVICE_SHMEM_ENGINES_H

#include "abi/TransferQueues.h"
#include "device/shmem/Primitives.h"

/// A lambda in device code: nothing may stay a call.
#define PITON_INLINE_LAMBDA __attribute__((always_inline))

namespace piton::device {

/// Vector cores of this launch: one a block, or both where its sides run at the same time.
PITON_DEVICE uint32_t coreCount() {
  BlockContext *b = block();
  return b->grid[0] * b->grid[1] * b->grid[2] * b->sides;
}
PITON_DEVICE uint32_t coreIndex() {
  BlockContext *b = block();
  uint32_t block = (b->pid[2] * b->grid[1] + b->pid[1]) * b->grid[0] + b->pid[0];
  return block * b->sides + b->side;
}

/// How long a wait spins before it gives its core away.
constexpr int kSpins = 64, kEagerSpins = 16;

/// Waits for an engine: `done()` says when.
template <typename Fn> PITON_DEVICE void waitForEngine(const void *word, Fn done) {
  WaitRequest what = {};
  what.kind = static_cast<uint32_t>(WaitKind::Engine);
  what.word = word;
  what.team = kTeamInvalid;
  for (int i = 0; i < kSpins; ++i) {
    if (done())
      return;
    pause();
  }
  while (!done())
    waitFor(what);
}

/// The last step of a doorbell: the engine looks now instead of some time later.
PITON_DEVICE void ringEngine(EngineRegisters *registers) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  wakeIfAsleep(&registers->sleeping, &registers->wake);
}

/// A ring has one producer at a time, but more blocks than rings may be alive. Nobody waits with a
/// lock held: a wait may be the end of a block that is stopped.
PITON_DEVICE bool tryLock(uint64_t *word) {
  return __atomic_exchange_n(word, uint64_t(1), __ATOMIC_ACQUIRE) == 0;
}
PITON_DEVICE void unlockWord(uint64_t *word) { __atomic_store_n(word, 0, __ATOMIC_RELEASE); }

/// Looks at every page of what an engine will be given, so that a wrong pointer is an error at the
/// kernel's line and not of the engine.
PITON_DEVICE void touch(const void *memory, uint64_t bytes) {
  auto *at = static_cast<const volatile uint8_t *>(memory);
  for (uint64_t i = 0; i < bytes; i += 4096)
    (void)at[i];
  if (bytes)
    (void)at[bytes - 1];
}

//===-- SDMA ----------------------------------------------------------------------------------===//

struct SdmaRing {
  SdmaWorkspace *work;
  SdmaChannel *channel;
  SdmaFlags *flags;
};

PITON_DEVICE SdmaRing sdmaRingOfCore(DeviceState *s) {
  auto *work = reinterpret_cast<SdmaWorkspace *>(s->sdmaWorkspace);
  uint32_t channel = sdmaChannelOf(coreIndex());
  return {work, &work->channels[channel], &work->coreFlags[channel]};
}

/// Takes the ring's lock as soon as there is room for an entry.
PITON_DEVICE void sdmaAcquire(const SdmaRing &ring) {
  waitForEngine(&ring.channel->head, [&]() PITON_INLINE_LAMBDA {
    if (!tryLock(&ring.flags->lock))
      return false;
    if (sdmaHasRoom(*ring.channel))
      return true;
    unlockWord(&ring.flags->lock);
    return false;
  });
}

PITON_DEVICE void sdmaStart(const SdmaRing &ring) {
  traceStep(Step::DoorbellStore, ring.channel);
  sdmaRing(*ring.channel);
  ringEngine(&ring.work->registers);
}

/// One entry; a full ring is started first.
PITON_DEVICE void sdmaSubmit(const SdmaRing &ring, const void *source, void *target,
                             uint64_t bytes) {
  if (!sdmaHasRoom(*ring.channel)) {
    sdmaStart(ring);
    unlockWord(&ring.flags->lock);
    sdmaAcquire(ring);
  }
  traceStep(Step::QueueEntry, ring.channel);
  sdmaFill(*ring.channel, source, target, bytes);
  traceStep(Step::CacheLine, ring.channel);
}

PITON_DEVICE void sdmaCopy(DeviceState *s, void *target, const void *source, uint64_t bytes) {
  SdmaRing ring = sdmaRingOfCore(s);
  auto *to = static_cast<uint8_t *>(target);
  auto *from = static_cast<const uint8_t *>(source);
  sdmaAcquire(ring);
  for (uint64_t done = 0; done < bytes; done += kSdmaMaxBytes) {
    uint64_t rest = bytes - done;
    sdmaSubmit(ring, from + done, to + done, rest < kSdmaMaxBytes ? rest : kSdmaMaxBytes);
  }
  sdmaStart(ring);
  unlockWord(&ring.flags->lock);
}

/// A flag's new value is copied behind the work. What is waited for is the entry's end: blocks that
/// share a ring would take each other's flags for their own.
PITON_DEVICE void sdmaQuiet(DeviceState *s) {
  SdmaRing ring = sdmaRingOfCore(s);
  sdmaAcquire(ring);
  if (__atomic_load_n(&ring.channel->head, __ATOMIC_ACQUIRE) == ring.channel->tail) {
    unlockWord(&ring.flags->lock);
    return;
  }
  __atomic_store_n(&ring.flags->next, ring.flags->next + 1, __ATOMIC_RELEASE);
  sdmaSubmit(ring, &ring.flags->next, &ring.flags->seen, sizeof(uint64_t));
  sdmaStart(ring);
  uint32_t end = ring.channel->tail;
  unlockWord(&ring.flags->lock);
  waitForEngine(&ring.channel->head, [=]() PITON_INLINE_LAMBDA {
    dcciCacheline(&ring.flags->seen);
    return static_cast<int32_t>(__atomic_load_n(&ring.channel->head, __ATOMIC_ACQUIRE) - end) >= 0;
  });
}

//===-- UDMA ----------------------------------------------------------------------------------===//

/// Takes completions of a PE's queue until `enough(queue)`; the lock is then held. A failed one
/// ends the kernel.
template <typename Fn> PITON_DEVICE void udmaAcquire(UdmaQueueTable *table, int32_t pe, Fn enough) {
  UdmaWorkQueue &send = table->send[pe];
  waitForEngine(&send.tail, [&]() PITON_INLINE_LAMBDA {
    if (!tryLock(&table->locks[pe]))
      return false;
    if (enough(send))
      return true;
    uint8_t status = udmaPoll(send, table->completions[pe], kUdmaPollBatch);
    if (status == kUdmaOk && enough(send))
      return true;
    unlockWord(&table->locks[pe]);
    if (status != kUdmaOk)
      fail(DeviceError::TransferFailed, pe, status);
    return false;
  });
}

/// The documented send: queue, slot, entry, segment, flush, doorbell.
PITON_DEVICE void udmaSend(DeviceState *s, UdmaOpcode opcode, int32_t pe, void *remote,
                           const void *local, uint64_t bytes) {
  auto *table = reinterpret_cast<UdmaQueueTable *>(s->queueInfo);
  constexpr uint64_t kMaxEntry = uint64_t(1) << 30;
  for (uint64_t done = 0; done < bytes; done += kMaxEntry) {
    uint64_t rest = bytes - done;
    udmaAcquire(table, pe,
                [](UdmaWorkQueue &queue) PITON_INLINE_LAMBDA { return !udmaNearlyFull(queue); });
    UdmaRequest request = {opcode,
                           pe,
                           reinterpret_cast<uint64_t>(remote) + done,
                           reinterpret_cast<uint64_t>(local) + done,
                           static_cast<uint32_t>(rest < kMaxEntry ? rest : kMaxEntry),
                           {}};
    udmaPost(*table, static_cast<uint32_t>(pe), request,
             [](UdmaStep step, const void *address) PITON_INLINE_LAMBDA {
               constexpr Step kSteps[] = {Step::QueueFetch,   Step::QueueSlot, Step::QueueEntry,
                                          Step::QueueSegment, Step::CacheLine, Step::DoorbellStore};
               traceStep(kSteps[static_cast<uint32_t>(step)], address);
             });
    ringEngine(table->registers);
    unlockWord(&table->locks[pe]);
  }
}

PITON_DEVICE void udmaQuiet(DeviceState *s) {
  auto *table = reinterpret_cast<UdmaQueueTable *>(s->queueInfo);
  for (uint32_t pe = 0; pe < table->count; ++pe) {
    if (!table->send[pe].buffer)
      continue;
    udmaAcquire(table, static_cast<int32_t>(pe),
                [](UdmaWorkQueue &queue) PITON_INLINE_LAMBDA { return queue.tail == queue.head; });
    unlockWord(&table->locks[pe]);
  }
}

//===-- ROCE ----------------------------------------------------------------------------------===//

/// This PE can neither load from the heap of `pe` nor store to it: it is on another host.
PITON_DEVICE bool isRemote(DeviceState *s, int32_t pe) {
  return __builtin_expect(!(s->transports[pe] & kTransportMte), 0);
}

/// All of `bytes` from `offset` on must lie in the heap: engines and network do not check.
PITON_DEVICE void checkRange(DeviceState *s, uint64_t offset, uint64_t bytes) {
  if (__builtin_expect(bytes > s->heapBytes - offset, 0))
    fail(DeviceError::OutsideHeap, static_cast<int64_t>(offset), static_cast<int64_t>(bytes),
         static_cast<int64_t>(s->heapBytes));
}

/// A request on `bytes` at `offset` of the heap of `pe`.
PITON_DEVICE RemoteRequest remoteRequest(DeviceState *s, RemoteOp op, uint64_t offset,
                                         uint64_t bytes, int32_t pe, uint32_t flags) {
  if (!s->remote)
    fail(DeviceError::Unreachable, pe);
  checkRange(s, offset, bytes);
  RemoteRequest request = {};
  request.op = op;
  request.pe = pe;
  request.flags = flags;
  request.offset = offset;
  request.bytes = bytes;
  return request;
}

/// Fence or Quiet, if the process has a network at all.
PITON_DEVICE void remoteOrder(DeviceState *s, RemoteOp op) {
  if (__builtin_expect(!s->remote, 1))
    return;
  RemoteRequest request = {};
  request.op = op;
  request.pe = -1;
  requestRemote(request);
}

//===-- By the peer's transport ---------------------------------------------------------------===//

/// Copies to (`isPut`) or from PE `pe`, of this host; `remote` is the address there. SDMA goes
/// before UDMA, both before load and store, as the host library does it; to itself a PE sends
/// nothing.
PITON_DEVICE void transfer(DeviceState *s, bool isPut, void *remote, void *local, uint64_t bytes,
                           int32_t pe) {
  uint8_t transports = s->transports[pe];
  if (__builtin_expect(transports & (kTransportSdma | kTransportUdma), 0) && pe != s->myPe) {
    touch(local, bytes);
    touch(remote, bytes);
    if (transports & kTransportSdma)
      sdmaCopy(s, isPut ? remote : local, isPut ? local : remote, bytes);
    else
      udmaSend(s, isPut ? UdmaOpcode::Write : UdmaOpcode::Read, pe, remote, local, bytes);
    return;
  }
  copyGm2Gm(isPut ? remote : local, isPut ? local : remote, bytes);
}

/// All that this core has handed to the engines of this host is at its place.
PITON_DEVICE void drainEngines(DeviceState *s) {
  if (s->sdmaWorkspace)
    sdmaQuiet(s);
  if (s->queueInfo)
    udmaQuiet(s);
}

} // namespace piton::device

#endif // PITON_DEVICE_SHMEM_ENGINES_H
