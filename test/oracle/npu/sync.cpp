// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Flags, barriers, cross-core flags, special registers, scalar accesses and small scalar
// intrinsics.
#include "machine.h"

static std::map<u64, Clock>
    lock_clock; // block locks: clock released with the value stored at an address
static std::map<std::tuple<int, int, int>, std::map<int, std::deque<Clock>>>
    group_sets; // (mode, group, flag) -> member -> sets
void clear_sync() {
  lock_clock.clear();
  group_sets.clear();
}

static std::string flag_text(i64 s, i64 d, i64 e) {
  char b[80];
  snprintf(b, sizeof b, "(%s, %s, %ld)", pipe_name(s), pipe_name(d), (long)e);
  return b;
}
static void set_flag(i64 s, i64 d, i64 e) {
  count("SET.FLAG");
  progress();
  auto &q = cur->flags[{(int)s, (int)d, (int)e}];
  q.push_back(fired(s));
  if (q.size() > 1)
    error("flag-set-twice", "flag " + flag_text(s, d, e) + " set again before a wait");
}
static void wait_flag(i64 s, i64 d, i64 e) {
  count("WAIT.FLAG");
  progress();
  auto &q = cur->flags[{(int)s, (int)d, (int)e}];
  if (q.empty()) {
    error("flag-never-set", "wait for flag " + flag_text(s, d, e) + " that nobody has set");
    return;
  }
  join_scalar(d);
  cur->K[d].join(q.front());
  q.pop_front();
}
static int peer(int sub) { // core of the same rank and block
  for (int k = 0; k < ncores; k++) {
    Core &c = cores[k];
    if (c.rank == cur->rank && c.block == cur->block &&
        (sub < 0 ? c.kind == 0 : c.kind == 1 && c.sub == sub))
      return k;
  }
  return -1;
}
// mode 0: all cores of one kind in the launch; 1: the AIVs of one block; a round completes when
// every member has set
static void group_set(int mode, int flag, const Clock &f) {
  auto in = [&](Core &c) {
    return c.rank == cur->rank && c.kind == cur->kind && (mode == 0 || c.block == cur->block);
  };
  auto &g =
      group_sets[{mode, (cur->rank * 2 + cur->kind) * 65536 + (mode ? (int)cur->block : 0), flag}];
  g[cur->id].push_back(f);
  int members = 0;
  bool full = true;
  for (int k = 0; k < ncores; k++)
    if (in(cores[k])) {
      members++;
      if (!g.count(k) || g[k].empty())
        full = false;
    }
  if (!full || !members)
    return;
  Clock j = f;
  for (int k = 0; k < ncores; k++)
    if (in(cores[k])) {
      j.join(g[k].front());
      g[k].pop_front();
    }
  for (int k = 0; k < ncores; k++)
    if (in(cores[k]))
      cores[k].xflags[{-1, flag}].push_back(j);
}
extern "C" {
void hivm_SET_FLAG_IMM(i64 s, i64 d, i64 e) { set_flag(s, d, e); }
void hivm_SET_FLAG_REG(i64 s, i64 d, i64 e) { set_flag(s, d, e); }
void hivm_WAIT_FLAG_IMM(i64 s, i64 d, i64 e) { wait_flag(s, d, e); }
void hivm_WAIT_FLAG_REG(i64 s, i64 d, i64 e) { wait_flag(s, d, e); }
void hivm_BARRIER(i64 p) {
  count("BARRIER");
  progress();
  if (p == ALL) {
    Clock j = cur->K[S];
    for (int q = 0; q < NP; q++)
      j.join(fired(q));
    for (auto &k : cur->K)
      k = j;
  } else {
    join_scalar(p);
    cur->K[p].c[cur->id * NP + p] = cur->seq[p];
  }
}
void npu_sync_block_set(i64 tpipe, i64, i64 flag, i64 mode) {
  count("sync_block_set");
  progress();
  Clock f = fired(tpipe);
  if (mode != 2) {
    group_set(mode, flag, f);
    return;
  }
  if (cur->kind == 0) {
    for (int s = 0; s < 2; s++) {
      int k = peer(s);
      if (k >= 0)
        cores[k].xflags[{cur->id, (int)flag}].push_back(f);
    }
  } else {
    int k = peer(-1);
    if (k >= 0)
      cores[k].xflags[{cur->id, (int)flag}].push_back(f);
  }
}
void npu_sync_block_wait(i64, i64 pipe, i64 flag, i64) {
  count("sync_block_wait");
  progress();
  std::vector<int> from;
  if (cur->kind == 0) {
    for (int s = 0; s < 2; s++)
      if (peer(s) >= 0)
        from.push_back(peer(s));
  } else if (peer(-1) >= 0)
    from.push_back(peer(-1));
  for (;;) {
    auto &g = cur->xflags[{-1, (int)flag}];
    if (!g.empty()) {
      cur->K[pipe].join(g.front());
      g.pop_front();
      progress();
      return;
    }
    bool ready = !from.empty();
    for (int k : from)
      if (cur->xflags[{k, (int)flag}].empty())
        ready = false;
    if (ready)
      break;
    yield_blocked("cross-core flag " + std::to_string(flag));
  }
  progress();
  for (int k : from) {
    auto &q = cur->xflags[{k, (int)flag}];
    cur->K[pipe].join(q.front());
    q.pop_front();
  }
}
// ---- registers
void npu_set_mask_norm() {
  cur->ctrl &= ~(1ull << 56);
  cur->mask_lo = cur->mask_hi = ~0ull;
}
i64 hivm_GET_CTRL() { return cur->ctrl; }
void hivm_SET_CTRL(i64 v) {
  cur->ctrl = v;
  count("SET.CTRL");
}
void npu_set_ctrl_bit(i64 b, i64 v) {
  cur->ctrl = (cur->ctrl & ~(1ull << b)) | (u64)v << b;
  count("SET.CTRL");
}
i64 hivm_SBITSET0(i64 v, i64 b) { return v & ~(1ull << (b & 63)); }
i64 hivm_SBITSET1(i64 v, i64 b) { return v | (1ull << (b & 63)); }
void hivm_MOVEMASK(i64 which, i64 v) {
  count("MOVEMASK");
  if (which)
    cur->mask_hi = v;
  else
    cur->mask_lo = v;
}
void hivm_SET_MOV_PAD_VAL(i64 v) {
  cur->pad_value = v;
  count("SET.MOV.PAD.VAL");
}
void hivm_SET_ND_PARA(i64 v) {
  cur->nd_para = v;
  count("SET.ND.PARA");
}
void hivm_SET_FMATRIX(i64 v) {
  cur->fmatrix[0] = v;
  count("SET.FMATRIX");
}
void hivm_SET_FMATRIX_B(i64 v) {
  cur->fmatrix[1] = v;
  count("SET.FMATRIX.B");
}
void hivm_SET_PADDING(i64 v) {
  cur->padding = v;
  count("SET.PADDING");
}
void hivm_SET_QUANT_PRE(i64 v) {
  cur->quant_pre = v;
  count("SET.QUANT.PRE");
}
void hivm_SET_FPC(i64 v) {
  cur->fpc = v;
  count("SET.FPC");
}
void hivm_MOVEVA(i64 v, i64 h, i64 a, i64 b) {
  cur->va[v & 7][h & 7] = a;
  cur->va[v & 7][(h + 1) & 7] = b;
  count("MOVEVA");
}
i64 npu_get_block_idx() { return cur->block; }
i64 hivm_GET_BLOCK_IDX() { return cur->block; }
i64 npu_get_sub_block_idx() { return cur->sub; }
i64 hivm_GET_SUBBLOCKID() { return cur->sub; }
i64 npu_get_block_num() { return n_blocks; }
i64 hivm_GET_BLOCK_NUM() { return n_blocks; }
i64 hivm_GET_SUBBLOCKDIM() { return cur->kind == 1 && peer(1) >= 0 ? 2 : 1; }
i64 npu_get_sub_block_num() { return hivm_GET_SUBBLOCKDIM(); }
i64 hivm_GET_MAX_MIN_CNT() {
  count("GET.MAX.MIN.CNT");
  return cur->max_min;
}
i64 hivm_GET_RSVD_CNT() {
  count("GET.RSVD.CNT");
  return cur->rsvd_cnt;
}
i64 hivm_GET_ACC_VAL() {
  count("GET.ACC.VAL");
  i64 r = 0;
  if (cur->acc_size == 4) {
    float x = cur->acc;
    memcpy(&r, &x, 4);
  } else {
    half x = (half)cur->acc;
    memcpy(&r, &x, 2);
  }
  return r;
}
void npu_set_ffts_base_addr(i64) {}
void *hivm_get_sycl_fix_stack_object() {
  static char area[MAXCORES][32 << 10];
  return area[cur->id];
}
void hivm_DCCI(void *, i64) {
  count("DCCI");
  yield_blocked("a value in GM (DCCI loop)");
} // no data cache is modelled
void hivm_TRAP() { stop_run("trap", "TRAP executed"); }
// ---- scalar loads and stores; the ones on a lock buffer order the blocks
static Mem *lock_at(void *a) {
  for (auto &g : gm)
    if (g.kind == 1 && U(a) >= g.base && U(a) < g.base + g.size)
      return &g;
  return nullptr;
}
static void scalar(int sp, void *a, i64 n, bool w) {
  static int reads;
  if (sp == GM && !w && ++reads % 64 == 0)
    yield_turn(); // before begin: it sets what touch() reads
  begin(S, w ? "scalar.store" : "scalar.load");
  n_progress--;
  if (w)
    progress();
  if (sp == GM && lock_at(a)) {
    Clock &c = lock_clock[(u64)a];
    if (w)
      c.join(fired(S));
    else
      cur->K[S].join(c);
    return;
  }
  touch(sp, (u64)a, n, w);
}
#define SCALAR(n)                                                                                  \
  void npu_sload_as##n(void *a, i64 z) { scalar(n, a, z, false); }                                 \
  void npu_sstore_as##n(void *a, i64 z) { scalar(n, a, z, true); }
SCALAR(1)
SCALAR(2)
SCALAR(3)
SCALAR(4)
SCALAR(5)
SCALAR(6)
SCALAR(7)
// ---- hivm.hir.pointer_cast: allocated and aligned pointer are both the final address
#define BASE(n)                                                                                    \
  Desc1 npu_base_##n(i64 a) {                                                                      \
    Mem &m = cur->mem[n];                                                                          \
    return {m.base + a, m.base + a, 0, (i64)m.size - a, 1};                                        \
  }
BASE(2) BASE(3) BASE(4) BASE(5) BASE(6) Desc1 npu_base_1(i64 a) {
  return {(void *)a, (void *)a, 0, i64(1) << 40, 1};
}
// ---- bf16 conversion function that the runtime of some distributions lacks
bf16 __truncsfbf2(float f) {
  u32 u;
  memcpy(&u, &f, 4);
  if ((u & 0x7fffffff) > 0x7f800000)
    u |= 0x400000;
  else
    u += 0x7fff + ((u >> 16) & 1);
  uint16_t h = u >> 16;
  bf16 r;
  memcpy(&r, &h, 2);
  return r;
}
}
