// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What device code may ask of the hardware, and no more: scalar store, cache-line write-back, pipe
// flags, atomic mode, copy from local to global memory, doorbell. device/shmem is written over
// these, so the order of its steps can be compared with the documented one: with
// PITON_DEVICE_TRACE every primitive reports itself (test/device).
//
// On the simulator's x86 host memory is coherent and stores keep their order, except stores past
// the cache, which pipeBarrier orders. Cache-line operations are therefore only compiler fences.
#ifndef PITON_DEVICE_SHMEM_PRIMITIVES_H
#define PITON_DEVICE_SHMEM_PRIMITIVES_H

#include "abi/DeviceState.h"
#include "abi/KernelAbi.h"

#define PITON_DEVICE inline __attribute__((always_inline))

namespace piton::device {

/// What a primitive reports to a trace.
enum class Step : uint32_t {
  ReadState,
  ScalarStore,
  ScalarLoad,
  CacheLine, ///< clean and invalidate
  PipeBarrier,
  SetFlag,
  WaitFlag,
  AtomicAddOn,
  AtomicOff,
  ScalarToUb,
  CopyUbToGm,
  CopyGmToGm,
  Atomic,
  Wait,
  Wake,
  QueueFetch,
  QueueSlot,
  QueueEntry,
  QueueSegment,
  DoorbellStore,
  Remote ///< a request for the network
};

#ifdef PITON_DEVICE_TRACE
// The test's own machine: its state, its block, and where steps go.
DeviceState *tracedState();
BlockContext *tracedBlock();
void traceStep(Step step, const volatile void *address);
#else
PITON_DEVICE void traceStep(Step, const volatile void *) {}
#endif

/// The block that runs; the code generator puts its address here (never a call in the image).
extern "C" BlockContext *piton_block_context(void) __attribute__((const));

PITON_DEVICE BlockContext *block() {
#ifdef PITON_DEVICE_TRACE
  return tracedBlock();
#else
  return piton_block_context();
#endif
}

/// This PE's state, at its constant address.
PITON_DEVICE DeviceState *state() {
#ifdef PITON_DEVICE_TRACE
  traceStep(Step::ReadState, nullptr);
  return tracedState();
#else
  return reinterpret_cast<DeviceState *>(kDeviceStateAddress);
#endif
}

PITON_DEVICE void compilerFence() { __asm__ __volatile__("" ::: "memory"); }

//===-- Scalar unit ---------------------------------------------------------------------------===//

template <unsigned Bytes> struct Bits;
template <> struct Bits<1> {
  using Type = uint8_t;
};
template <> struct Bits<2> {
  using Type = uint16_t;
};
template <> struct Bits<4> {
  using Type = uint32_t;
};
template <> struct Bits<8> {
  using Type = uint64_t;
};

/// An ordinary store by the scalar unit. Whoever sees it sees what was stored before.
template <typename T> PITON_DEVICE void scalarStore(T *address, T value) {
  using Word = Bits<sizeof(T)>::Type;
  traceStep(Step::ScalarStore, address);
  __atomic_store_n(reinterpret_cast<Word *>(address), __builtin_bit_cast(Word, value),
                   __ATOMIC_RELEASE);
}

template <typename T> PITON_DEVICE T scalarLoad(const T *address) {
  using Word = Bits<sizeof(T)>::Type;
  traceStep(Step::ScalarLoad, address);
  return __builtin_bit_cast(
      T, __atomic_load_n(reinterpret_cast<const Word *>(address), __ATOMIC_ACQUIRE));
}

/// Cleans and invalidates one cache line: what was stored there becomes visible to other PEs, what
/// is loaded next comes from memory. Between compiler fences, so that it is neither dropped nor
/// moved.
PITON_DEVICE void dcciCacheline(const volatile void *address) {
  compilerFence();
  traceStep(Step::CacheLine, address);
  compilerFence();
}

//===-- Pipes ---------------------------------------------------------------------------------===//

enum class Pipe : uint32_t { S = 0, V = 1, M = 2, Mte1 = 3, Mte2 = 4, Mte3 = 5, All = 6 };

/// Waits for a pipe to drain. The host's pipes are its store buffers.
PITON_DEVICE void pipeBarrier(Pipe pipe) {
  compilerFence();
  traceStep(Step::PipeBarrier, reinterpret_cast<void *>(static_cast<uintptr_t>(pipe)));
  __builtin_ia32_sfence();
  compilerFence();
}

PITON_DEVICE void setFlag(Pipe, Pipe, uint32_t event) {
  traceStep(Step::SetFlag, reinterpret_cast<void *>(static_cast<uintptr_t>(event)));
  compilerFence();
}
PITON_DEVICE void waitFlag(Pipe, Pipe, uint32_t event) {
  compilerFence();
  traceStep(Step::WaitFlag, reinterpret_cast<void *>(static_cast<uintptr_t>(event)));
}

//===-- Local memory and copies ---------------------------------------------------------------===//

/// What a call needs of a vector core: a piece of local memory and the mode of MTE3.
struct Core {
  alignas(32) uint8_t ub[64];
  bool atomicAdd = false;
};

PITON_DEVICE void setAtomicAdd(Core &core) {
  traceStep(Step::AtomicAddOn, nullptr);
  core.atomicAdd = true;
}
PITON_DEVICE void setAtomicNone(Core &core) {
  traceStep(Step::AtomicOff, nullptr);
  core.atomicAdd = false;
}

/// One value into local memory.
template <typename T> PITON_DEVICE void scalarToUb(Core &core, T value) {
  traceStep(Step::ScalarToUb, core.ub);
  __builtin_memcpy(core.ub, &value, sizeof(T));
}

/// old + value in the type's own arithmetic; integers wrap.
template <typename T> PITON_DEVICE T plus(T old, T value) {
  if constexpr (__is_same(T, _Float16) || __is_same(T, __bf16))
    return static_cast<T>(static_cast<float>(old) + static_cast<float>(value));
  else if constexpr (__is_integral(T))
    return static_cast<T>(static_cast<uint64_t>(old) + static_cast<uint64_t>(value));
  else
    return old + value;
}

/// memory = combine(memory, value), atomically; gives the old value.
template <typename T, typename Fn> PITON_DEVICE T atomicUpdate(T *address, T value, Fn combine) {
  using Word = Bits<sizeof(T)>::Type;
  auto *word = reinterpret_cast<Word *>(address);
  traceStep(Step::Atomic, address);
  Word seen = __atomic_load_n(word, __ATOMIC_RELAXED);
  for (;;) {
    Word next = __builtin_bit_cast(Word, combine(__builtin_bit_cast(T, seen), value));
    if (__atomic_compare_exchange_n(word, &seen, next, /*weak=*/true, __ATOMIC_ACQ_REL,
                                    __ATOMIC_RELAXED))
      return __builtin_bit_cast(T, seen);
  }
}

template <typename T> PITON_DEVICE T atomicAdd(T *address, T value) {
  if constexpr (__is_integral(T)) {
    using Word = Bits<sizeof(T)>::Type;
    traceStep(Step::Atomic, address);
    return static_cast<T>(__atomic_fetch_add(reinterpret_cast<Word *>(address),
                                             static_cast<Word>(value), __ATOMIC_ACQ_REL));
  } else {
    return atomicUpdate(address, value, [](T old, T x) { return plus(old, x); });
  }
}

/// MTE3: one value from local to global memory, added to what is there in atomic mode.
template <typename T> PITON_DEVICE void copyUb2Gm(Core &core, T *target) {
  traceStep(Step::CopyUbToGm, target);
  T value;
  __builtin_memcpy(&value, core.ub, sizeof(T));
  if (core.atomicAdd)
    (void)atomicAdd(target, value);
  else
    scalarStore(target, value);
}

/// MTE2 and MTE3 together: global to global memory. The host needs no detour through local memory.
PITON_DEVICE void copyGm2Gm(void *target, const void *source, uint64_t bytes) {
  traceStep(Step::CopyGmToGm, target);
  auto *to = static_cast<uint8_t *>(target);
  auto *from = static_cast<const uint8_t *>(source);
  if (bytes >= 512) {
    // A target at a cache line's start makes large copies up to a fifth faster (measured on Zen 4).
    uint64_t head = -reinterpret_cast<uintptr_t>(to) % 64;
    __builtin_memcpy_inline(to, from, 64);
    to += head;
    from += head;
    bytes -= head;
    __asm__ __volatile__("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes)::"memory");
    return;
  }
  compilerFence();
  for (; bytes >= 8; bytes -= 8, to += 8, from += 8) {
    uint64_t word;
    __builtin_memcpy(&word, from, 8);
    __builtin_memcpy(to, &word, 8);
  }
  for (; bytes; --bytes)
    *to++ = *from++;
  compilerFence();
}

/// The NPU's cycle counter: the host's, in NPU cycles.
PITON_DEVICE int64_t systemCycle(const DeviceState *s) {
  unsigned __int128 scaled =
      static_cast<unsigned __int128>(__builtin_ia32_rdtsc()) * s->cyclesPerTick;
  return static_cast<int64_t>(scaled >> 32);
}

//===-- The machine around the core -----------------------------------------------------------===//

PITON_DEVICE void pause() { __builtin_ia32_pause(); }

/// Gives the core to others while `request` does not hold; returns to look again.
PITON_DEVICE void waitFor(const WaitRequest &request) {
  traceStep(Step::Wait, request.word);
  block()->services->wait(block(), &request);
}

/// Ends the block with an error at the line of the call.
[[noreturn]] PITON_DEVICE void fail(DeviceError error, int64_t value, int64_t a = 0,
                                    int64_t b = 0) {
  block()->services->deviceError(block(), static_cast<uint32_t>(error), value, a, b);
  __builtin_unreachable();
}

/// Hands a request to the network.
PITON_DEVICE void requestRemote(RemoteRequest &request) {
  traceStep(Step::Remote, request.local);
  block()->services->remote(block(), &request);
}

/// Wakes whoever sleeps on a futex word, if `sleepers` says that somebody does: on a bell, which is
/// then counted up, or on a word that has changed by itself. What was stored must be fenced.
PITON_DEVICE void wakeIfAsleep(const uint32_t *sleepers, uint32_t *word, bool isBell = true) {
  if (__atomic_load_n(sleepers, __ATOMIC_RELAXED) == 0)
    return;
  traceStep(Step::Wake, word);
  if (isBell)
    __atomic_fetch_add(word, 1, __ATOMIC_RELEASE);
  block()->services->wake(block(), word);
}

/// Wakes whoever sleeps on a word of PE `pe`, now that it has changed.
PITON_DEVICE void wakeSleepers(DeviceState *state, int32_t pe) {
  PeBoard **boards = state->boards;
  if (!boards || !boards[pe])
    return; // on another host
  Doorbell &bell = boards[pe]->doorbell;
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  wakeIfAsleep(&bell.sleepers, &bell.bell);
}

} // namespace piton::device

#endif // PITON_DEVICE_SHMEM_PRIMITIVES_H
