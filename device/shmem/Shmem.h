// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The aclshmem device functions: who am I, where does an object lie on another PE, put and get,
// signals and waits, order, barriers, atomics, teams. Templates over the element type; Wrappers.cpp
// gives them the names that kernels call. Everything is inlined into the kernel, so that an error
// or a wait is at the line of the kernel that asked for it.
#ifndef PITON_DEVICE_SHMEM_SHMEM_H
#define PITON_DEVICE_SHMEM_SHMEM_H

#include "device/shmem/Engines.h"

namespace piton::device {

//===-- Identity and addresses ----------------------------------------------------------------===//

PITON_DEVICE int32_t myPe() { return state()->myPe; }
PITON_DEVICE int32_t peCount() { return state()->peCount; }

PITON_DEVICE void checkPe(DeviceState *s, int32_t pe) {
  if (__builtin_expect(static_cast<uint32_t>(pe) >= static_cast<uint32_t>(s->peCount), 0))
    fail(DeviceError::PeOutOfRange, pe, s->peCount);
}

/// An address in this PE's heap as an offset that is valid on every PE.
PITON_DEVICE uint64_t symmetricOffset(DeviceState *s, const void *address) {
  uint64_t offset = reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(s->heapBase);
  if (__builtin_expect(offset >= s->heapBytes, 0))
    fail(DeviceError::NotSymmetric, static_cast<int64_t>(reinterpret_cast<uintptr_t>(address)),
         static_cast<int64_t>(reinterpret_cast<uintptr_t>(s->heapBase)),
         static_cast<int64_t>(s->heapBytes));
  return offset;
}

/// The same object of `bytes` on PE `pe`: offset in my heap, plus that PE's heap.
template <typename T> PITON_DEVICE T *ptr(T *address, int32_t pe, uint64_t bytes = 0) {
  DeviceState *s = state();
  checkPe(s, pe);
  uint64_t offset = symmetricOffset(s, address);
  checkRange(s, offset, bytes);
  return reinterpret_cast<T *>(reinterpret_cast<uintptr_t>(s->p2pHeapBase[pe]) + offset);
}

//===-- Order ---------------------------------------------------------------------------------===//

/// What this core has put on this host is at its place.
PITON_DEVICE void quietHere() {
  drainEngines(state());
  pipeBarrier(Pipe::All);
}
/// What it has put anywhere is.
PITON_DEVICE void quiet() {
  quietHere();
  remoteOrder(state(), RemoteOp::Quiet);
}
/// What it puts next comes after what it has put, by whichever engine.
PITON_DEVICE void fence() {
  quietHere();
  remoteOrder(state(), RemoteOp::Fence);
}

//===-- Other hosts ---------------------------------------------------------------------------===//

template <typename T> PITON_DEVICE constexpr uint32_t elementTypeOf() {
  if constexpr (__is_same(T, _Float16))
    return static_cast<uint32_t>(ElementType::F16);
  else if constexpr (__is_same(T, __bf16))
    return static_cast<uint32_t>(ElementType::BF16);
  else if constexpr (__is_same(T, float))
    return static_cast<uint32_t>(ElementType::F32);
  else
    return static_cast<uint32_t>(sizeof(T) == 1   ? ElementType::I8
                                 : sizeof(T) == 2 ? ElementType::I16
                                 : sizeof(T) == 4 ? ElementType::I32
                                                  : ElementType::I64);
}

/// Put or Get.
template <typename T>
PITON_DEVICE void remoteCopy(RemoteOp op, const T *symmetric, const T *local, uint64_t bytes,
                             int32_t pe, uint32_t flags) {
  DeviceState *s = state();
  RemoteRequest request = remoteRequest(s, op, symmetricOffset(s, symmetric), bytes, pe, flags);
  request.local = const_cast<T *>(local);
  if (bytes)
    requestRemote(request);
}

/// An operation on one value; gives the old one if `flags` want it.
template <typename T>
PITON_DEVICE T remoteValue(RemoteOp op, const T *symmetric, T value, int32_t pe, uint32_t flags,
                           T compare = {}) {
  using Word = Bits<sizeof(T)>::Type;
  DeviceState *s = state();
  RemoteRequest request = remoteRequest(s, op, symmetricOffset(s, symmetric), sizeof(T), pe, flags);
  request.type = elementTypeOf<T>();
  request.value = __builtin_bit_cast(Word, value);
  request.compare = __builtin_bit_cast(Word, compare);
  requestRemote(request);
  return __builtin_bit_cast(T, static_cast<Word>(request.result));
}

//===-- Put and get ---------------------------------------------------------------------------===//

/// Sources of puts and targets of gets may be any memory. Complete after quiet, or with
/// kRemoteBlocking after quietHere.
template <typename T>
PITON_DEVICE void put(T *target, const T *source, uint64_t bytes, int32_t pe, uint32_t flags = 0) {
  DeviceState *s = state();
  checkPe(s, pe);
  if (isRemote(s, pe))
    return remoteCopy(RemoteOp::Put, target, source, bytes, pe, flags);
  transfer(s, /*isPut=*/true, ptr(target, pe, bytes), const_cast<T *>(source), bytes, pe);
}
template <typename T>
PITON_DEVICE void get(T *target, const T *source, uint64_t bytes, int32_t pe, uint32_t flags = 0) {
  DeviceState *s = state();
  checkPe(s, pe);
  if (isRemote(s, pe))
    return remoteCopy(RemoteOp::Get, source, target, bytes, pe, flags);
  transfer(s, /*isPut=*/false, ptr(const_cast<T *>(source), pe, bytes), target, bytes, pe);
}

/// One value: as a signal that is set.
template <typename T> PITON_DEVICE void p(T *target, T value, int32_t pe) {
  pipeBarrier(Pipe::All); // what was stored before is visible to who sees the value
  DeviceState *s = state();
  checkPe(s, pe);
  if (isRemote(s, pe))
    return (void)remoteValue(RemoteOp::Set, target, value, pe, kRemoteOrdered);
  T *remote = ptr(target, pe);
  scalarStore(remote, value);
  dcciCacheline(remote);
  wakeSleepers(s, pe);
}
template <typename T> PITON_DEVICE T g(T *source, int32_t pe) {
  DeviceState *s = state();
  checkPe(s, pe);
  if (isRemote(s, pe))
    return remoteValue(RemoteOp::Fetch, source, T{}, pe, kRemoteReturns);
  T *remote = ptr(source, pe);
  dcciCacheline(remote);
  return scalarLoad(remote);
}

//===-- Signals -------------------------------------------------------------------------------===//

/// SET: an ordinary scalar store and the write-back of its line; no atomic, no doorbell.
template <typename T> PITON_DEVICE void signalSet(T *word, T value, int32_t pe) {
  T *remote = ptr(word, pe);
  scalarStore(remote, value);
  dcciCacheline(remote);
}

/// ADD: through local memory and MTE3 in its atomic mode.
template <typename T> PITON_DEVICE void signalAdd(T *word, T value, int32_t pe) {
  Core core;
  T *remote = ptr(word, pe);
  pipeBarrier(Pipe::All);
  scalarToUb(core, value);
  setFlag(Pipe::S, Pipe::Mte3, 0);
  waitFlag(Pipe::S, Pipe::Mte3, 0);
  setAtomicAdd(core);
  copyUb2Gm(core, remote);
  setAtomicNone(core);
  pipeBarrier(Pipe::All);
}

/// To another host the network sets or adds, behind what was put there before.
template <typename T>
PITON_DEVICE void signalOp(T *word, T value, int32_t op, int32_t pe, uint32_t flags = 0) {
  pipeBarrier(Pipe::All);
  DeviceState *s = state();
  checkPe(s, pe);
  if (op != kSignalSet && op != kSignalAdd)
    fail(DeviceError::BadSignalOp, op);
  if (isRemote(s, pe))
    return (void)remoteValue(op == kSignalSet ? RemoteOp::Set : RemoteOp::Add, word, value, pe,
                             flags | kRemoteOrdered);
  if (op == kSignalSet)
    signalSet(word, value, pe);
  else
    signalAdd(word, value, pe);
  wakeSleepers(s, pe);
}

/// With kRemoteBlocking the source may change when it returns.
template <typename T>
PITON_DEVICE void putSignal(T *target, const T *source, uint64_t bytes, int32_t *word,
                            int32_t value, int32_t op, int32_t pe, uint32_t flags = 0) {
  put(target, source, bytes, pe);
  quietHere();
  signalOp(word, value, op, pe, flags);
}

//===-- Waits ---------------------------------------------------------------------------------===//

template <typename T> PITON_DEVICE bool compare(T seen, int32_t op, T value) {
  switch (op) {
  case kCompareEq:
    return seen == value;
  case kCompareNe:
    return seen != value;
  case kCompareGt:
    return seen > value;
  case kCompareGe:
    return seen >= value;
  case kCompareLt:
    return seen < value;
  case kCompareLe:
    return seen <= value;
  default:
    fail(DeviceError::BadCompare, op);
  }
}

/// One look at a word: the line is invalidated first, so that memory is read.
template <typename T> PITON_DEVICE T look(const T *word) {
  dcciCacheline(word);
  return scalarLoad(word);
}

template <typename T> PITON_DEVICE int64_t asInteger(T value) {
  if constexpr (__is_integral(T))
    return static_cast<int64_t>(value);
  else
    return static_cast<int64_t>(__builtin_bit_cast(typename Bits<sizeof(T)>::Type, value));
}

/// Waits until `holds(word)`; never writes, so any number of waiters may share a word. `what` says
/// what is waited for, should it never come.
template <typename T, typename Fn>
PITON_DEVICE T waitUntil(const T *word, WaitRequest &what, Fn holds) {
  T seen = look(word);
  for (int i = 0; i < kSpins; ++i) {
    if (holds(seen))
      return seen;
    if (i >= kEagerSpins) // a pause may take as long as the signal
      pause();
    seen = look(word);
  }
  what.word = word;
  what.known = 0;
  while (!holds(seen)) {
    what.seen = asInteger(seen);
    waitFor(what);
    seen = look(word);
  }
  return seen;
}

template <typename T> PITON_DEVICE T waitUntil(const T *word, int32_t op, T value) {
  WaitRequest what = {};
  what.kind = static_cast<uint32_t>(WaitKind::Signal);
  what.compare = op;
  what.wanted = asInteger(value);
  what.team = kTeamInvalid;
  return waitUntil(word, what, [=](T seen) { return compare(seen, op, value); });
}

/// `count` words, 64 bytes apart: a line is written by one core only.
template <typename T> PITON_DEVICE void waitSlots(const T *words, int64_t count, T value) {
  for (int64_t i = 0; i < count; ++i)
    (void)waitUntil(words + i * static_cast<int64_t>(kSyncSlotBytes / sizeof(T)), kCompareEq,
                    value);
}

template <typename T> PITON_DEVICE int32_t test(const T *word, int32_t op, T value) {
  return compare(look(word), op, value);
}

//===-- Teams ---------------------------------------------------------------------------------===//

/// The record of a team this PE belongs to, or null.
PITON_DEVICE TeamRecord *teamOf(DeviceState *s, int32_t team) {
  if (team < 0 || team >= kMaxTeams)
    return nullptr;
  return s->teams[team];
}

PITON_DEVICE int32_t teamMyPe(int32_t team) {
  TeamRecord *record = teamOf(state(), team);
  return record ? record->myPe : -1;
}
PITON_DEVICE int32_t teamPeCount(int32_t team) {
  TeamRecord *record = teamOf(state(), team);
  return record ? record->size : -1;
}
PITON_DEVICE int32_t teamTranslatePe(int32_t from, int32_t pe, int32_t into) {
  DeviceState *s = state();
  TeamRecord *a = teamOf(s, from), *b = teamOf(s, into);
  if (!a || !b || pe < 0 || pe >= a->size)
    return -1;
  return b->fromWorld[a->toWorld[pe]];
}

//===-- Barriers ------------------------------------------------------------------------------===//

/// All cores of this launch meet: the hardware's SyncAll. The count only grows, so that a fast
/// core may be in the next meeting already.
PITON_DEVICE void syncAllCores() {
  uint64_t cores = coreCount();
  if (cores == 1)
    return;
  uint64_t *arrived = block()->coreBarrier;
  uint64_t mine = __atomic_add_fetch(arrived, 1, __ATOMIC_ACQ_REL);
  uint64_t needed = (mine + cores - 1) / cores * cores;
  WaitRequest what = {};
  what.kind = static_cast<uint32_t>(WaitKind::Cores);
  what.compare = kCompareGe;
  what.wanted = static_cast<int64_t>(needed);
  (void)waitUntil(arrived, what, [=](uint64_t seen) { return seen >= needed; });
}

/// Both sides of a block meet (kernels whose sides run at the same time).
PITON_DEVICE void meetSides() {
  auto *arrived = reinterpret_cast<uint64_t *>(block()->shared);
  uint64_t mine = __atomic_add_fetch(arrived, 1, __ATOMIC_ACQ_REL);
  uint64_t needed = (mine + 1) / 2 * 2;
  WaitRequest what = {};
  what.kind = static_cast<uint32_t>(WaitKind::Sides);
  what.compare = kCompareGe;
  what.wanted = static_cast<int64_t>(needed);
  (void)waitUntil(arrived, what, [=](uint64_t seen) { return seen >= needed; });
}

/// My flag of a team's barrier, which only I write.
PITON_DEVICE void raiseFlag(DeviceState *s, int32_t *slot, int32_t count) {
  scalarStore(slot, count);
  dcciCacheline(slot);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  auto *words = reinterpret_cast<uint32_t *>(slot);
  wakeIfAsleep(words + 1, words, /*isBell=*/false);
  // Blocks on other PEs sleep on their own doorbell.
  for (int32_t pe = 0; pe < s->peCount; ++pe)
    if (pe != s->myPe && s->boards && s->boards[pe])
      wakeIfAsleep(&s->boards[pe]->doorbell.sleepers, &s->boards[pe]->doorbell.bell);
}

/// Some member of a team is on another host.
PITON_DEVICE bool spansHosts(DeviceState *s, TeamRecord *record) {
  if (__builtin_expect(!s->remote, 1))
    return false;
  for (int32_t i = 0; i < record->size; ++i)
    if (isRemote(s, record->toWorld[i]))
      return true;
  return false;
}

/// Between hosts nobody can look at another's flag, so it is sent: in round r to the member 2^r
/// further, until all have heard of all. One core does it.
PITON_DEVICE void crossBarrier(DeviceState *s, TeamRecord *record, int32_t count) {
  WaitRequest what = {};
  what.kind = static_cast<uint32_t>(WaitKind::Signal);
  what.compare = kCompareEq;
  what.wanted = count;
  what.team = record->index;
  uint64_t slot = 1;
  for (int32_t distance = 1; distance < record->size; distance *= 2, ++slot) {
    auto *mine = reinterpret_cast<int32_t *>(s->syncPool + syncSlotOffset(record->index, slot));
    int32_t to = record->toWorld[(record->myPe + distance) % record->size];
    signalOp(mine, count, static_cast<int32_t>(kSignalSet), to);
    (void)waitUntil(mine, what, [=](int32_t flag) { return barrierPassed(flag, count); });
  }
}

/// Pulls: every PE writes its own flag and reads the others', which are split over the cores. A
/// fast PE may be in the next barrier already, hence count or count + 1.
PITON_DEVICE void barrier(int32_t team) {
  if (team == kTeamInvalid)
    return;
  DeviceState *s = state();
  TeamRecord *record = teamOf(s, team);
  if (!record)
    fail(DeviceError::BadTeam, team);
  quiet();
  uint64_t slotOffset = s->syncPool + syncSlotOffset(team, 0);
  auto *counter =
      reinterpret_cast<int32_t *>(s->syncCounter + static_cast<uint64_t>(team) * kSyncSlotBytes);
  auto *own = reinterpret_cast<int32_t *>(slotOffset);
  auto count = static_cast<int32_t>(static_cast<uint32_t>(scalarLoad(counter)) + 1);
  syncAllCores(); // every core has read the counter, and what it put is out
  bool crosses = spansHosts(s, record);
  if (crosses && coreIndex() == 0) {
    crossBarrier(s, record, count);
    scalarStore(own, count); // keeps pace, as both kinds share the counter
  }
  uint32_t size = static_cast<uint32_t>(record->size), me = static_cast<uint32_t>(record->myPe);
  uint32_t core = coreIndex(), readers = crosses ? 0 : barrierReaders(size, coreCount());
  if (core < readers && me % readers == core)
    raiseFlag(s, own, count);
  WaitRequest what = {};
  what.kind = static_cast<uint32_t>(WaitKind::Barrier);
  what.compare = kCompareEq;
  what.wanted = count;
  what.team = team;
  if (core < readers)
    for (uint32_t i = core; i < size; i += readers)
      if (i != me)
        (void)waitUntil(ptr(own, record->toWorld[i]), what,
                        [=](int32_t flag) { return barrierPassed(flag, count); });
  if (core == 0)
    scalarStore(counter, count);
  syncAllCores();
}

//===-- Atomics -------------------------------------------------------------------------------===//

/// `flags` says whether the old value is wanted: to another host nobody waits for it in vain.
template <typename T, typename Fn>
PITON_DEVICE T atomic(RemoteOp op, T *target, T value, int32_t pe, uint32_t flags, Fn update,
                      T compare = {}) {
  DeviceState *s = state();
  checkPe(s, pe);
  if (isRemote(s, pe))
    return remoteValue(op, target, value, pe, flags, compare);
  T old = update(ptr(target, pe));
  wakeSleepers(s, pe);
  return old;
}
template <typename T>
PITON_DEVICE T atomicFetchAdd(T *target, T value, int32_t pe, uint32_t flags = kRemoteReturns) {
  return atomic(RemoteOp::Add, target, value, pe, flags,
                [=](T *word) PITON_INLINE_LAMBDA { return atomicAdd(word, value); });
}
/// An update to combine(old, value).
template <typename T, typename Fn>
PITON_DEVICE T atomicCombine(RemoteOp op, T *target, T value, int32_t pe, uint32_t flags,
                             Fn combine, T compare = {}) {
  return atomic(
      op, target, value, pe, flags,
      [=](T *word) PITON_INLINE_LAMBDA { return atomicUpdate(word, value, combine); }, compare);
}
template <typename T>
PITON_DEVICE T atomicFetchAnd(T *target, T value, int32_t pe, uint32_t flags = kRemoteReturns) {
  return atomicCombine(RemoteOp::And, target, value, pe, flags,
                       [](T a, T b) { return static_cast<T>(a & b); });
}
template <typename T>
PITON_DEVICE T atomicFetchOr(T *target, T value, int32_t pe, uint32_t flags = kRemoteReturns) {
  return atomicCombine(RemoteOp::Or, target, value, pe, flags,
                       [](T a, T b) { return static_cast<T>(a | b); });
}
template <typename T>
PITON_DEVICE T atomicFetchXor(T *target, T value, int32_t pe, uint32_t flags = kRemoteReturns) {
  return atomicCombine(RemoteOp::Xor, target, value, pe, flags,
                       [](T a, T b) { return static_cast<T>(a ^ b); });
}
template <typename T> PITON_DEVICE T atomicSwap(T *target, T value, int32_t pe) {
  return atomicCombine(RemoteOp::Swap, target, value, pe, kRemoteReturns, [](T, T b) { return b; });
}
template <typename T> PITON_DEVICE void atomicSet(T *target, T value, int32_t pe) {
  (void)atomicCombine(RemoteOp::Set, target, value, pe, 0, [](T, T b) { return b; });
}
template <typename T> PITON_DEVICE T atomicCompareSwap(T *target, T cond, T value, int32_t pe) {
  return atomicCombine(
      RemoteOp::CompareSwap, target, value, pe, kRemoteReturns,
      [=](T a, T b) { return a == cond ? b : a; }, cond);
}

//===-- Cycle profiles ------------------------------------------------------------------------===//

/// Counts a frame of this block: its start is subtracted, its end added.
PITON_DEVICE void profileFrame(int32_t frame, bool ends) {
  DeviceState *s = state();
  uint32_t core = coreIndex();
  if (__builtin_expect(!s->profile, 1) || s->profile->pe != s->myPe ||
      static_cast<uint32_t>(frame) >= kProfileFrames || core >= kProfileBlocks)
    return;
  pipeBarrier(Pipe::All);
  int64_t now = systemCycle(s);
  ProfileBlock &counts = s->profile->blocks[core];
  __atomic_fetch_add(&counts.cycles[frame], ends ? now : -now, __ATOMIC_RELAXED);
  if (ends)
    __atomic_fetch_add(&counts.counts[frame], 1, __ATOMIC_RELAXED);
}

} // namespace piton::device

#endif // PITON_DEVICE_SHMEM_SHMEM_H
