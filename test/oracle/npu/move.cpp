// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// DMA and copy instructions, except the ones that feed the cube.
#include "machine.h"
void check_defined(int space, const u8 *src, i64 n);

template <class T> static void combine(u8 *d, const u8 *s, i64 n, int op) {
  for (i64 k = 0; k < n / (i64)sizeof(T); k++) {
    T x = ((T *)d)[k], y = ((const T *)s)[k];
    ((T *)d)[k] = op == 0 ? (T)(x + y) : op == 1 ? (x > y ? x : y) : (x < y ? x : y);
  }
}
// store n bytes to GM under the atomic mode of CTRL; tracked_src (or null) is the on-chip source
// for the checker
void store_gm(u8 *d, const u8 *s, i64 n, int space, const u8 *tracked) {
  int type = bits(cur->ctrl, 6, 3), op = bits(cur->ctrl, 9, 2);
  if (tracked) {
    rd(space, tracked, n);
    check_defined(space, tracked, n);
  }
  if (!type) {
    touch(GM, (u64)d, n, true, false, s);
    memcpy(d, s, n);
    return;
  }
  touch(GM, (u64)d, n, true, true);
  switch (type) {
  case 1:
    combine<float>(d, s, n, op);
    break;
  case 2:
    combine<half>(d, s, n, op);
    break;
  case 3:
    combine<int16_t>(d, s, n, op);
    break;
  case 4:
    combine<int32_t>(d, s, n, op);
    break;
  case 5:
    combine<int8_t>(d, s, n, op);
    break;
  case 6:
    combine<bf16>(d, s, n, op);
    break;
  default:
    stop_run("not-modelled", "atomic store type " + std::to_string(type));
  }
  count("atomic store");
  n_inst--;
}
static void gm_to_ub(u8 *D, u8 *Sx, u64 a, u64 g, int E, const char *name) {
  begin(MTE2, name);
  i64 n = bits(a, 4, 12), len = bits(a, 16, 21), lp = bits(a, 48, 6) * E, rp = bits(a, 54, 6) * E,
      sgap = bits(g, 0, 32), dgap = bits(g, 32, 32);
  if (!len)
    return;
  for (i64 i = 0; i < n; i++) {
    i64 tot = lp + len + rp, al = (tot + 31) / 32 * 32;
    rd(GM, Sx, len);
    wr(UB, D, al);
    for (i64 k = 0; k < lp; k += E)
      memcpy(D + k, &cur->pad_value, E);
    memcpy(D + lp, Sx, len);
    for (i64 k = 0; k < rp; k += E)
      memcpy(D + lp + len + k, &cur->pad_value, E);
    memset(D + tot, 0xEE, al - tot); // dummy bytes: content not defined
    D += al + dgap * 32;
    Sx += len + sgap;
  }
}
static void ub_to_gm(u8 *D, u8 *Sx, u64 a, u64 g, const char *name) {
  begin(MTE3, name);
  i64 n = bits(a, 4, 12), len = bits(a, 16, 21), sgap = bits(g, 0, 32), dgap = bits(g, 32, 32);
  for (i64 i = 0; i < n; i++) {
    store_gm(D, Sx, len, UB, Sx);
    D += len + dgap;
    Sx += (len + 31) / 32 * 32 + sgap * 32;
  }
}
struct Burst {
  i64 n, len, sgap, dgap;
};
static Burst burst(u64 a, i64 unit) {
  return {(i64)bits(a, 4, 12), (i64)bits(a, 16, 16) * unit, (i64)bits(a, 32, 16) * unit,
          (i64)bits(a, 48, 16) * unit};
}
static void plain(int pipe, int dsp, u8 *D, int ssp, u8 *Sx, Burst b, const char *name) {
  begin(pipe, name);
  for (i64 i = 0; i < b.n; i++) {
    rd(ssp, Sx, b.len);
    wr(dsp, D, b.len);
    memmove(D, Sx, b.len);
    D += b.len + b.dgap;
    Sx += b.len + b.sgap;
  }
}
extern "C" {
#define ALIGN(b, E)                                                                                \
  void hivm_MOV_OUT_TO_UB_ALIGN_##b##_V220(void *d, void *s, u64 x, u64 y) {                       \
    yield_turn();                                                                                  \
    gm_to_ub(U(d), U(s), x, y, E, "MOV.OUT.TO.UB.ALIGN." #b);                                      \
  }                                                                                                \
  void hivm_MOV_UB_TO_OUT_ALIGN_##b##_V220(void *d, void *s, u64 x, u64 y) {                       \
    ub_to_gm(U(d), U(s), x, y, "MOV.UB.TO.OUT.ALIGN." #b);                                         \
  }
ALIGN(b8, 1) ALIGN(b16, 2) ALIGN(b32, 4) void hivm_MOV_UB_TO_UB_v220(void *d, void *s, u64 a) {
  plain(V, UB, U(d), UB, U(s), burst(a, 32), "MOV.UB.TO.UB");
}
void hivm_MOV_OUT_TO_L1_v220(void *d, void *s, u64 a, u64 pad_mode) {
  if (pad_mode)
    stop_run("not-modelled", "MOV.OUT.TO.L1 with pad mode");
  plain(MTE2, L1, U(X(L1, d)), GM, U(s), burst(a, 32), "MOV.OUT.TO.L1");
}
void hivm_MOV_L1_TO_OUT_V220_CUBE(void *d, void *s, u64 a) {
  begin(MTE3, "MOV.L1.TO.OUT");
  Burst b = burst(a, 32);
  u8 *D = U(d), *Sx = U(X(L1, s));
  for (i64 i = 0; i < b.n; i++) {
    store_gm(D, Sx, b.len, L1, Sx);
    D += b.len + b.dgap;
    Sx += b.len + b.sgap;
  }
}
void hivm_MOV_L1_TO_FB_v220(void *d, void *s, u64 a) {
  plain(FIX, FB, U(X(FB, d)), L1, U(X(L1, s)), burst(a, 128), "MOV.L1.TO.FB");
}
void hivm_MOV_L1_TO_BT(u64 bt, void *s, u64 a) {
  begin(MTE1, "MOV.L1.TO.BT");
  i64 n = bits(a, 4, 12), len = bits(a, 16, 16) * 64, sgap = bits(a, 32, 16) * 64,
      dgap = bits(a, 48, 16) * 64;
  bool widen = bits(a, 3, 1);
  u8 *D = cur->mem[BT].base + bt, *Sx = U(X(L1, s));
  for (i64 i = 0; i < n; i++) {
    i64 sl = widen ? len / 2 : len;
    rd(L1, Sx, sl);
    wr(BT, D, len);
    if (widen)
      for (i64 k = 0; k < len / 4; k++)
        ((float *)D)[k] = (float)((half *)Sx)[k];
    else
      memcpy(D, Sx, len);
    D += len + dgap;
    Sx += sl + sgap;
  }
}
}
