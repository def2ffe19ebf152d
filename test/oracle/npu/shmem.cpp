// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Symmetric-heap functions for several ranks in one process.
// Pointer arguments with the same position on all ranks are symmetric. Signals carry the clock of
// their sender's scalar pipe, barriers join the clocks of all members, non-blocking puts run on a
// pipe of their own that quiet joins.
#include "machine.h"

static std::map<u64, Clock> signal_clock;
struct Barrier {
  int n = 0;
  u64 gen = 0;
  Clock in, out;
};
static std::map<std::string, Barrier> barriers;
void clear_shmem() {
  signal_clock.clear();
  barriers.clear();
}

static u8 *remote(u8 *p, int pe) {
  for (auto &g : gm)
    if (p >= g.base && p < g.base + g.size) {
      if (pe == g.rank)
        return p;
      for (auto &h : gm)
        if (h.group == g.group && h.group >= 0 && h.rank == pe)
          return h.base + (p - g.base);
    }
  error("not-symmetric",
        "remote access to rank " + std::to_string(pe) + " at an address that is not symmetric");
  return p;
}
static u8 *elem(Desc1 *d, i64 E) { return U(d->data) + d->off * E; }
static void copy(Desc1 *d, Desc1 *s, i64 E, u64 n, int pe, bool get, bool nbi, const char *name) {
  begin(nbi ? NBI : S, name);
  u8 *src = elem(s, E), *dst = elem(d, E);
  if (get)
    src = remote(src, pe);
  else
    dst = remote(dst, pe);
  rd(GM, src, n);
  touch(GM, (u64)dst, n, true, false, src);
  memcpy(dst, src, n);
  progress();
}
static void publish(u8 *p) {
  signal_clock[(u64)p].join(fired(S));
  progress();
}
template <class T> static bool holds(T a, int cmp, T b) {
  switch (cmp) {
  case 0:
    return a == b;
  case 1:
    return a != b;
  case 2:
    return a > b;
  case 3:
    return a >= b;
  case 4:
    return a < b;
  default:
    return a <= b;
  }
}
template <class T> static void wait_for(u8 *p, int cmp, T v, const char *name) {
  while (!holds<T>(*(volatile T *)p, cmp, v))
    yield_blocked(std::string(name) + " value " + std::to_string((double)v));
  begin(S, name);
  cur->K[S].join(signal_clock[(u64)p]);
}
static void barrier(const char *name, bool vector_only) {
  begin(S, name);
  Barrier &b = barriers[name];
  int need = 0;
  for (int k = 0; k < ncores; k++)
    if (!vector_only || cores[k].kind == 1)
      need++;
  for (int q = 0; q < NP; q++)
    b.in.join(fired(q));
  u64 g = b.gen;
  if (++b.n == need) {
    b.out = b.in;
    b.in = Clock();
    b.n = 0;
    b.gen++;
    progress();
  } else
    while (b.gen == g)
      yield_blocked(name);
  for (auto &k : cur->K)
    k.join(b.out);
}
template <class T> static void sig_put(u8 *p, T v, int op) { *(T *)p = op ? (T)(*(T *)p + v) : v; }
extern "C" {
int _mlir_ciface_aclshmem_my_pe() { return cur->rank; }
int _mlir_ciface_aclshmem_n_pes() { return n_ranks; }
int _mlir_ciface_aclshmem_team_my_pe(int) { return cur->rank; }
int _mlir_ciface_aclshmem_team_n_pes(int) { return n_ranks; }
void _mlir_ciface_aclshmem_quiet() {
  count("quiet");
  cur->K[S].c[cur->id * NP + NBI] = cur->seq[NBI];
}
void _mlir_ciface_aclshmem_fence() {
  count("fence");
  cur->K[NBI].c[cur->id * NP + NBI] = cur->seq[NBI];
} // orders, does not wait
void _mlir_ciface_aclshmem_barrier_all() { barrier("barrier_all", false); }
void _mlir_ciface_aclshmemx_barrier_all_vec() { barrier("barrier_all_vec", true); }
void _mlir_ciface_aclshmem_barrier(int) { barrier("barrier_all", false); }
void _mlir_ciface_aclshmemx_barrier_vec(int) { barrier("barrier_all_vec", true); }
void _mlir_ciface_aclshmemx_signal_op(Desc1 *d, int v, int op, int pe) {
  begin(S, "signal_op");
  u8 *p = remote(elem(d, 4), pe);
  sig_put<int32_t>(p, v, op);
  publish(p);
}
int _mlir_ciface_aclshmem_signal_wait_until(Desc1 *d, int cmp, int v) {
  u8 *p = elem(d, 4);
  wait_for<int32_t>(p, cmp, v, "signal_wait_until");
  return *(int *)p;
}
#define TYPE(N, T)                                                                                 \
  void _mlir_ciface_aclshmem_ptr_##N(Desc1 *r, Desc1 *p, int pe) {                                 \
    *r = *p;                                                                                       \
    r->alloc = r->data = remote(elem(p, sizeof(T)), pe);                                           \
    r->off = 0;                                                                                    \
  }                                                                                                \
  void _mlir_ciface_aclshmem_##N##_putmem(Desc1 *d, Desc1 *s, u32 n, int pe) {                     \
    copy(d, s, sizeof(T), n, pe, false, false, "putmem");                                          \
  }                                                                                                \
  void _mlir_ciface_aclshmem_##N##_putmem_nbi(Desc1 *d, Desc1 *s, u32 n, int pe) {                 \
    copy(d, s, sizeof(T), n, pe, false, true, "putmem_nbi");                                       \
  }                                                                                                \
  void _mlir_ciface_aclshmem_##N##_getmem(Desc1 *d, Desc1 *s, u32 n, int pe) {                     \
    copy(d, s, sizeof(T), n, pe, true, false, "getmem");                                           \
  }                                                                                                \
  void _mlir_ciface_aclshmem_##N##_getmem_nbi(Desc1 *d, Desc1 *s, u32 n, int pe) {                 \
    copy(d, s, sizeof(T), n, pe, true, true, "getmem_nbi");                                        \
  }                                                                                                \
  void _mlir_ciface_aclshmem_##N##_putmem_signal(Desc1 *d, Desc1 *s, u32 n, Desc1 *g, int v,       \
                                                 int op, int pe) {                                 \
    copy(d, s, sizeof(T), n, pe, false, false, "putmem_signal");                                   \
    u8 *p = remote(elem(g, 4), pe);                                                                \
    sig_put<int32_t>(p, v, op);                                                                    \
    publish(p);                                                                                    \
  }                                                                                                \
  void _mlir_ciface_aclshmem_##N##_p(Desc1 *d, T v, int pe) {                                      \
    begin(S, #N "_p");                                                                             \
    u8 *p = remote(elem(d, sizeof(T)), pe);                                                        \
    *(T *)p = v;                                                                                   \
    publish(p);                                                                                    \
  }                                                                                                \
  T _mlir_ciface_aclshmem_consume_token_##N(T v, int) { return v; }
TYPE(half, half)
TYPE(float, float)
TYPE(bfloat16, bf16)
TYPE(char, char)
TYPE(int8, int8_t)
TYPE(int16, int16_t)
TYPE(int32, int32_t)
TYPE(int64, i64)
TYPE(uint8, u8)
TYPE(uint16, uint16_t)
TYPE(uint32, u32)
TYPE(uint64, u64)
#define WAIT(N, T)                                                                                 \
  int _mlir_ciface_aclshmem_wait_##N(Desc1 *d, int n, T v) {                                       \
    for (int i = 0; i < n; i++)                                                                    \
      wait_for<T>(elem(d, sizeof(T)) + i * 64, 0, v, "wait_" #N);                                  \
    return 0;                                                                                      \
  }                                                                                                \
  void _mlir_ciface_aclshmem_wait_until_##N(Desc1 *d, int cmp, T v) {                              \
    wait_for<T>(elem(d, sizeof(T)), cmp, v, "wait_until_" #N);                                     \
  }
WAIT(int8, int8_t)
WAIT(int16, int16_t)
WAIT(int32, int32_t)
WAIT(int64, i64)
WAIT(uint8, u8)
WAIT(uint16, uint16_t)
WAIT(uint32, u32)
WAIT(uint64, u64)
WAIT(float, float)
// consume_token on a pointer of rank n: the descriptor is passed through
void npu_consume_ptr(void *result, void *value, int rank) { memcpy(result, value, 24 + 16 * rank); }
}
