// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels for the tests of sim/ and runtime/, as the code generator would emit them: one entry per
// kernel, no run-time library. Built into a shared object of its own, never sanitised.

#include "abi/KernelAbi.h"
#include "abi/RemoteEngine.h"

using namespace piton;

namespace {
template <typename T> T argument(const uint8_t *args, unsigned offset) {
  return *reinterpret_cast<const T *>(args + offset);
}
int64_t linear(const BlockContext *c) {
  return (int64_t(c->pid[0]) * c->grid[1] + c->pid[1]) * c->grid[2] + c->pid[2];
}
} // namespace

#define KERNEL(name)                                                                               \
  extern "C" __attribute__((visibility("default"), noinline)) void piton_entry_##name(             \
      const uint8_t *args, BlockContext *c)

/// (out*, n): out[i] = i for the 16 elements of this block.
KERNEL(iota) {
  auto *out = argument<int32_t *>(args, 0);
  int32_t n = argument<int32_t>(args, 8);
  for (int32_t k = 0; k < 16; ++k) {
    int32_t i = int32_t(linear(c)) * 16 + k;
    if (i < n)
      out[i] = i;
  }
}

KERNEL(nothing) {}

/// (out*): out[block] = what the network gives for offset 8 * block. The last block of 5 fails.
KERNEL(fetch) {
  if (linear(c) == 4)
    c->services->assertFail(c, "enough", "fetch.py", 1);
  RemoteRequest request = {};
  request.op = RemoteOp::Fetch;
  request.pe = 1;
  request.flags = kRemoteReturns;
  request.offset = uint64_t(linear(c)) * 8;
  request.bytes = 8;
  c->services->remote(c, &request);
  argument<uint64_t *>(args, 0)[linear(c)] = request.result;
}

/// (counts*): counts[linear block] += 1.
KERNEL(count) { __atomic_fetch_add(argument<int32_t *>(args, 0) + linear(c), 1, __ATOMIC_RELAXED); }

/// (out*): the order in which blocks run: out[next++] = x, y, z. Word 0 is the counter.
KERNEL(order) {
  auto *out = argument<uint32_t *>(args, 0);
  uint32_t at = __atomic_fetch_add(out, 1, __ATOMIC_RELAXED);
  for (int d = 0; d < 3; ++d)
    out[1 + at * 3 + d] = c->pid[d];
}

/// (word*): uses all of its arena and fails the block if another one changes it meanwhile.
KERNEL(arena) {
  uint64_t bytes = argument<uint64_t>(args, 8);
  uint8_t mark = uint8_t(linear(c) + 1);
  if (reinterpret_cast<uint64_t>(c->arena) & 63)
    c->services->assertFail(c, "arena is not aligned", "arena.py", 1);
  for (uint64_t i = 0; i < bytes; ++i)
    c->arena[i] = mark;
  c->services->yield(c);
  for (uint64_t i = 0; i < bytes; ++i)
    if (c->arena[i] != mark)
      c->services->assertFail(c, "arena is shared", "arena.py", 2);
  __atomic_fetch_add(argument<int32_t *>(args, 0), 1, __ATOMIC_RELAXED);
}

/// (word*): all blocks meet, three times over.
KERNEL(barrier) {
  auto *word = argument<uint32_t *>(args, 0);
  uint32_t blocks = c->grid[0] * c->grid[1] * c->grid[2];
  for (uint32_t round = 1; round <= 3; ++round) {
    __atomic_fetch_add(word, 1, __ATOMIC_ACQ_REL);
    while (__atomic_load_n(word, __ATOMIC_ACQUIRE) < round * blocks)
      c->services->yield(c);
  }
}

/// (out*): the two sides of a block meet in what they share; out[2 * block + side] = 1 + what the
/// other one left there.
KERNEL(sides) {
  auto *out = argument<uint32_t *>(args, 0);
  auto *shared = reinterpret_cast<uint32_t *>(c->shared);
  shared[1 + c->side] += 10 * (c->side + 1);
  __atomic_fetch_add(shared, 1, __ATOMIC_ACQ_REL);
  while (__atomic_load_n(shared, __ATOMIC_ACQUIRE) < c->sides)
    c->services->yield(c);
  out[2 * linear(c) + c->side] = 1 + shared[2 - c->side];
}

/// (word*, block): all blocks meet, but block `block` stores to address 16 first.
KERNEL(barrier_without) {
  auto *word = argument<uint32_t *>(args, 0);
  uint32_t blocks = c->grid[0] * c->grid[1] * c->grid[2];
  if (linear(c) == argument<int64_t>(args, 8)) {
    while (__atomic_load_n(word, __ATOMIC_ACQUIRE) < blocks - 1)
      c->services->yield(c);
    *reinterpret_cast<volatile int32_t *>(16) = 1;
  }
  __atomic_fetch_add(word, 1, __ATOMIC_ACQ_REL);
  while (__atomic_load_n(word, __ATOMIC_ACQUIRE) < blocks)
    c->services->yield(c);
}

/// (word*, value): adds 1 to word[2], waits until *word reaches value, then adds 1 to word[1].
KERNEL(await) {
  auto *word = argument<uint32_t *>(args, 0);
  uint32_t value = argument<uint32_t>(args, 8);
  __atomic_fetch_add(word + 2, 1, __ATOMIC_RELAXED);
  while (__atomic_load_n(word, __ATOMIC_ACQUIRE) < value)
    c->services->yield(c);
  __atomic_fetch_add(word + 1, 1, __ATOMIC_RELAXED);
}

/// (word*): adds 1 without atomics under the block lock.
KERNEL(locked) {
  auto *word = argument<volatile uint32_t *>(args, 0);
  auto *lock = reinterpret_cast<uint64_t *>(c->lockBuffer);
  for (int i = 0; i < 3; ++i) {
    c->services->lock(c, lock);
    uint32_t value = *word;
    c->services->yield(c);
    *word = value + 1;
    c->services->unlock(c, lock);
  }
}

/// (address, block): block `block` loads from the address.
KERNEL(load_at) {
  if (linear(c) == argument<int64_t>(args, 8))
    *reinterpret_cast<volatile int32_t *>(c->arena) = *argument<volatile int32_t *>(args, 0);
}

KERNEL(store_at) {
  if (linear(c) == argument<int64_t>(args, 8))
    *argument<volatile int32_t *>(args, 0) = 1;
}

/// (unused, divisor): block `divisor` of a grid divides by zero.
KERNEL(divide) {
  volatile int64_t d = linear(c) - argument<int64_t>(args, 8);
  *reinterpret_cast<volatile int64_t *>(c->arena) = 7 / d;
}

KERNEL(overflow) {
  volatile uint8_t page[8192];
  page[0] = args ? args[0] : 0;
  piton_entry_overflow(args, c);
  page[1] = page[0];
}

/// (unused, block): block `block` fails an assertion.
KERNEL(check) {
  if (linear(c) == argument<int64_t>(args, 8))
    c->services->assertFail(c, "x < y", "/home/user/check.py", 42);
}

/// (word*): says it runs, then never ends.
KERNEL(spin) {
  auto *word = argument<uint32_t *>(args, 0);
  __atomic_store_n(word, 1, __ATOMIC_RELEASE);
  for (;;)
    asm volatile("" ::: "memory");
}

/// (data*, type, count): prints.
KERNEL(print) {
  int64_t shape[2] = {2, 2};
  PrintOperand operand = {argument<const void *>(args, 0), 4, argument<uint32_t>(args, 8), 2,
                          shape};
  c->services->print(c, "value", 0, &operand, 1);
}

/// (a*, b*, c*): a 4x4 product of f32.
KERNEL(product) {
  GemmRequest r = {};
  r.a = argument<void *>(args, 0);
  r.b = argument<void *>(args, 8);
  r.c = argument<void *>(args, 16);
  r.m = r.n = r.k = 4;
  r.aRow = r.bRow = r.cRow = 4;
  r.aCol = r.bCol = 1;
  r.type = argument<uint32_t>(args, 24);
  r.flags = kGemmZeroInit;
  c->services->gemm(c, &r);
}

/// (out*): counts a little, slowly enough that several threads take part.
KERNEL(busy) {
  volatile uint64_t x = 0;
  for (int i = 0; i < 20000; ++i)
    x = x + 1;
  __atomic_fetch_add(argument<int32_t *>(args, 0) + linear(c), 1, __ATOMIC_RELAXED);
}
