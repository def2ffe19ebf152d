// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The names that kernels link: `_mlir_ciface_<symbol>`, in kernels for both cores of an AI core
// with the suffix `.cube` or `.vector` (PITON_SYMBOL_SUFFIX). A memref comes as a pointer to its
// descriptor, a memref result is written through the first argument. Compiled four times: aic, aiv,
// mix_aic, mix_aiv.
#include "device/shmem/Shmem.h"

#ifndef PITON_SYMBOL_SUFFIX
#define PITON_SYMBOL_SUFFIX ""
#endif

using namespace piton;
using namespace piton::device;

namespace {

/// MLIR's descriptor of a strided memref.
template <typename T, int Rank> struct MemRef {
  T *allocated, *aligned;
  int64_t offset, sizes[Rank], strides[Rank];
  PITON_DEVICE T *data() const { return aligned + offset; }
};
template <typename T> using Gm = const MemRef<T, 1>;

using half = _Float16;
using bfloat16 = __bf16;
using int8 = int8_t;
using int16 = int16_t;
using int32 = int32_t;
using int64 = int64_t;
using uint8 = uint8_t;
using uint16 = uint16_t;
using uint32 = uint32_t;
using uint64 = uint64_t;

} // namespace

/// RESULT aclshmem_x(PARAMETERS): the function's own name does not matter, its label is what links.
#define EXPORT(RESULT, NAME, ...)                                                                  \
  extern "C" __attribute__((visibility("default"), always_inline)) RESULT wrap_##NAME(             \
      __VA_ARGS__) __asm__("_mlir_ciface_" #NAME PITON_SYMBOL_SUFFIX);                             \
  extern "C" RESULT wrap_##NAME(__VA_ARGS__)

#define INTEGERS(X) X(int8) X(int16) X(int32) X(int64)
#define UNSIGNED(X) X(uint8) X(uint16) X(uint32) X(uint64)
#define REALS(X) X(half) X(float) X(bfloat16)

//===-- Identity, order, barriers, teams ------------------------------------------------------===//

EXPORT(int32, aclshmem_my_pe) { return myPe(); }
EXPORT(int32, aclshmem_n_pes) { return peCount(); }
EXPORT(int32, aclshmem_team_my_pe, int32 team) { return teamMyPe(team); }
EXPORT(int32, aclshmem_team_n_pes, int32 team) { return teamPeCount(team); }
EXPORT(int32, aclshmem_team_translate_pe, int32 from, int32 pe, int32 into) {
  return teamTranslatePe(from, pe, into);
}
EXPORT(void, aclshmem_quiet) { quiet(); }
EXPORT(void, aclshmem_fence) { fence(); }
EXPORT(void, aclshmem_barrier, int32 team) { barrier(team); }
EXPORT(void, aclshmem_barrier_all) { barrier(kTeamWorld); }
EXPORT(void, aclshmemx_barrier_vec, int32 team) { barrier(team); }
EXPORT(void, aclshmemx_barrier_all_vec) { barrier(kTeamWorld); }
EXPORT(void, aclshmem_sync, int32 team) { barrier(team); }
EXPORT(void, aclshmem_sync_all) { barrier(kTeamWorld); }

EXPORT(void, aclshmemx_prof_start, int32 frame) { profileFrame(frame, false); }
EXPORT(void, aclshmemx_prof_end, int32 frame) { profileFrame(frame, true); }

/// Called by the compiler, not by kernels.
EXPORT(void, piton_meet_sides) { meetSides(); }

//===-- Typed families ------------------------------------------------------------------------===//

#define ACLSHMEM_PTR_WRAPPER(T)                                                                    \
  EXPORT(void, aclshmem_ptr_##T, MemRef<T, 1> *result, Gm<T> *source, int32 pe) {                  \
    T *remote = ptr(source->data(), pe);                                                           \
    *result = {remote, remote, 0, {source->sizes[0]}, {source->strides[0]}};                       \
  }

#define ACLSHMEM_P_WRAPPER(T)                                                                      \
  EXPORT(void, aclshmem_##T##_p, Gm<T> *target, T value, int32 pe) { p(target->data(), value, pe); }

#define ACLSHMEM_G_WRAPPER(T)                                                                      \
  EXPORT(T, aclshmem_##T##_g, Gm<T> *source, int32 pe) { return g(source->data(), pe); }

/// Blocking and not: a copy by load and store is complete when it returns.
#define ACLSHMEM_COPY_WRAPPER(T)                                                                   \
  EXPORT(void, aclshmem_##T##_putmem, Gm<T> *target, Gm<T> *source, uint32 bytes, int32 pe) {      \
    put(target->data(), source->data(), bytes, pe, kRemoteBlocking);                               \
    quietHere();                                                                                   \
  }                                                                                                \
  EXPORT(void, aclshmem_##T##_putmem_nbi, Gm<T> *target, Gm<T> *source, uint32 bytes, int32 pe) {  \
    put(target->data(), source->data(), bytes, pe);                                                \
  }                                                                                                \
  EXPORT(void, aclshmem_##T##_getmem, Gm<T> *target, Gm<T> *source, uint32 bytes, int32 pe) {      \
    get(target->data(), source->data(), bytes, pe, kRemoteBlocking);                               \
    quietHere();                                                                                   \
  }                                                                                                \
  EXPORT(void, aclshmem_##T##_getmem_nbi, Gm<T> *target, Gm<T> *source, uint32 bytes, int32 pe) {  \
    get(target->data(), source->data(), bytes, pe);                                                \
  }

#define ACLSHMEM_PUT_SIGNAL_WRAPPER(T)                                                             \
  EXPORT(void, aclshmem_##T##_putmem_signal, Gm<T> *target, Gm<T> *source, uint32 bytes,           \
         Gm<int32> *word, int32 value, int32 op, int32 pe) {                                       \
    putSignal(target->data(), source->data(), bytes, word->data(), value, op, pe,                  \
              kRemoteBlocking);                                                                    \
  }                                                                                                \
  EXPORT(void, aclshmem_##T##_putmem_signal_nbi, Gm<T> *target, Gm<T> *source, uint32 bytes,       \
         Gm<int32> *word, int32 value, int32 op, int32 pe) {                                       \
    putSignal(target->data(), source->data(), bytes, word->data(), value, op, pe, 0);              \
  }

#define ACLSHMEM_WAIT_WRAPPER(T)                                                                   \
  EXPORT(int32, aclshmem_wait_##T, Gm<T> *words, int32 count, T value) {                           \
    waitSlots(words->data(), count, value);                                                        \
    return 0;                                                                                      \
  }

#define ACLSHMEM_WAIT_UNTIL_WRAPPER(T)                                                             \
  EXPORT(void, aclshmem_wait_until_##T, Gm<T> *word, int32 op, T value) {                          \
    (void)waitUntil(word->data(), op, value);                                                      \
  }                                                                                                \
  EXPORT(int32, aclshmem_test_##T, Gm<T> *word, int32 op, T value) {                               \
    return test(word->data(), op, value);                                                          \
  }

#define EACH_OF_12(X) REALS(X) INTEGERS(X) UNSIGNED(X) X(char)
#define EACH_OF_11(X) REALS(X) INTEGERS(X) UNSIGNED(X)
#define EACH_WAITABLE(X) X(float) INTEGERS(X) UNSIGNED(X) X(char)

EACH_OF_12(ACLSHMEM_PTR_WRAPPER)
EACH_OF_12(ACLSHMEM_P_WRAPPER)
EACH_OF_12(ACLSHMEM_G_WRAPPER)
EACH_OF_12(ACLSHMEM_COPY_WRAPPER)
EACH_OF_11(ACLSHMEM_PUT_SIGNAL_WRAPPER)
INTEGERS(ACLSHMEM_WAIT_WRAPPER)
EACH_WAITABLE(ACLSHMEM_WAIT_UNTIL_WRAPPER)

EXPORT(void, aclshmemx_signal_op, Gm<int32> *word, int32 value, int32 op, int32 pe) {
  signalOp(word->data(), value, op, pe);
}
EXPORT(int32, aclshmem_signal_wait_until, Gm<int32> *word, int32 op, int32 value) {
  return waitUntil(word->data(), op, value);
}

//===-- Atomics -------------------------------------------------------------------------------===//

#define ACLSHMEM_ADD_WRAPPER(T)                                                                    \
  EXPORT(void, aclshmem_##T##_atomic_add, Gm<T> *target, T value, int32 pe) {                      \
    (void)atomicFetchAdd(target->data(), value, pe, 0);                                            \
  }

#define ACLSHMEM_FETCH_WRAPPER(T)                                                                  \
  EXPORT(T, aclshmem_##T##_atomic_fetch, Gm<T> *source, int32 pe) {                                \
    return g(source->data(), pe);                                                                  \
  }                                                                                                \
  EXPORT(void, aclshmem_##T##_atomic_set, Gm<T> *target, T value, int32 pe) {                      \
    atomicSet(target->data(), value, pe);                                                          \
  }                                                                                                \
  EXPORT(T, aclshmem_##T##_atomic_swap, Gm<T> *target, T value, int32 pe) {                        \
    return atomicSwap(target->data(), value, pe);                                                  \
  }

#define ACLSHMEM_BITS_WRAPPER(T)                                                                   \
  EXPORT(T, aclshmem_##T##_atomic_fetch_add, Gm<T> *target, T value, int32 pe) {                   \
    return atomicFetchAdd(target->data(), value, pe);                                              \
  }                                                                                                \
  EXPORT(void, aclshmem_##T##_atomic_inc, Gm<T> *target, int32 pe) {                               \
    (void)atomicFetchAdd(target->data(), T(1), pe, 0);                                             \
  }                                                                                                \
  EXPORT(T, aclshmem_##T##_atomic_fetch_inc, Gm<T> *target, int32 pe) {                            \
    return atomicFetchAdd(target->data(), T(1), pe);                                               \
  }                                                                                                \
  EXPORT(T, aclshmem_##T##_atomic_compare_swap, Gm<T> *target, T cond, T value, int32 pe) {        \
    return atomicCompareSwap(target->data(), cond, value, pe);                                     \
  }                                                                                                \
  ACLSHMEM_BITWISE(T, and, And) ACLSHMEM_BITWISE(T, or, Or) ACLSHMEM_BITWISE(T, xor, Xor)

// `and`, `or` and `xor` are operators of C++, so only the whole name is ever one token.
#define ACLSHMEM_BITWISE(T, LOWER, UPPER)                                                          \
  EXPORT(void, aclshmem_##T##_atomic_##LOWER, Gm<T> *target, T value, int32 pe) {                  \
    (void)atomicFetch##UPPER(target->data(), value, pe, 0);                                        \
  }                                                                                                \
  EXPORT(T, aclshmem_##T##_atomic_fetch_##LOWER, Gm<T> *target, T value, int32 pe) {               \
    return atomicFetch##UPPER(target->data(), value, pe);                                          \
  }

REALS(ACLSHMEM_ADD_WRAPPER)
INTEGERS(ACLSHMEM_ADD_WRAPPER)
ACLSHMEM_ADD_WRAPPER(uint32)
ACLSHMEM_ADD_WRAPPER(uint64)
ACLSHMEM_FETCH_WRAPPER(float)
ACLSHMEM_FETCH_WRAPPER(int32)
ACLSHMEM_FETCH_WRAPPER(int64)
ACLSHMEM_FETCH_WRAPPER(uint32)
ACLSHMEM_FETCH_WRAPPER(uint64)
ACLSHMEM_BITS_WRAPPER(int32)
ACLSHMEM_BITS_WRAPPER(int64)
ACLSHMEM_BITS_WRAPPER(uint32)
ACLSHMEM_BITS_WRAPPER(uint64)

//===-- consume_token: a dependency for the compiler, nothing at run time
//----------------------===//

#define CONSUME_TOKEN_SCALAR_WRAPPER(T)                                                            \
  EXPORT(T, aclshmem_consume_token_##T, T value, int32) { return value; }
#define CONSUME_TOKEN_PTR_WRAPPER(T, R)                                                            \
  EXPORT(void, aclshmem_consume_token_##T##_ptr_##R##d, MemRef<T, R> *result,                      \
         const MemRef<T, R> *value, int32) {                                                       \
    *result = *value;                                                                              \
  }
#define CONSUME_TOKEN_WRAPPERS(T)                                                                  \
  CONSUME_TOKEN_SCALAR_WRAPPER(T)                                                                  \
  CONSUME_TOKEN_PTR_WRAPPER(T, 1)                                                                  \
  CONSUME_TOKEN_PTR_WRAPPER(T, 2)                                                                  \
  CONSUME_TOKEN_PTR_WRAPPER(T, 3)                                                                  \
  CONSUME_TOKEN_PTR_WRAPPER(T, 4)                                                                  \
  CONSUME_TOKEN_PTR_WRAPPER(T, 5)

REALS(CONSUME_TOKEN_WRAPPERS)
INTEGERS(CONSUME_TOKEN_WRAPPERS)
UNSIGNED(CONSUME_TOKEN_WRAPPERS)
CONSUME_TOKEN_WRAPPERS(char)
