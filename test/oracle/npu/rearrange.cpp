// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Vector instructions that move elements: transpose, gather, compaction, sort.
#include "machine.h"
#include <cmath>

// ---- VNCHWCONV: 16 block addresses on each side, from a pair of VA registers
static u8 *va(i64 n, int i) { return ub_at(cur->va[(n + i / 8) & 7][i % 8]); }
template <int W> static void transpose(const char *name, i64 dv, i64 sv, u64 c, u64 dh, u64 sh) {
  begin(V, name);
  i64 reps = bits(c, 56, 8), ds = bits(c, 0, 16) * 32, ss = bits(c, 16, 16) * 32;
  const int C = W == 1 ? 16 : 32 / W, B = C * W;
  if (reps == 1)
    ds = ss = 0;
  for (i64 r = 0; r < reps; r++) {
    u8 t[16][32];
    for (int i = 0; i < 16; i++) {
      u8 *p = va(sv, i) + r * ss + (W == 1 ? sh * 16 : 0);
      rd(UB, p, B);
      memcpy(t[i], p, B);
    }
    for (int q = 0; q < 16; q++) { // output block q
      u8 *p = va(dv, q) + r * ds + (W == 1 ? dh * 16 : 0);
      wr(UB, p, B);
      for (int i = 0; i < C; i++)
        memcpy(p + i * W, W == 4 ? &t[(q % 2) * 8 + i][(q / 2) * 4] : &t[i][q * W], W);
    }
  }
}
template <class T> static void gather(const char *name, void *d, void *off, u64 c) {
  begin(V, name);
  const int n = 256 / sizeof(T);
  bool counter = bits(cur->ctrl, 56, 1);
  u64 total = cur->mask_lo & 0xffffffff;
  i64 reps = counter ? (total + n - 1) / n : bits(c, 56, 8), dr = bits(c, 32, 8) | bits(c, 52, 4)
                                                                                       << 8;
  u64 base = bits(c, 0, 32);
  for (i64 r = 0; r < reps; r++)
    for (int l = 0; l < n; l++) {
      bool on = counter
          ? (u64)(r * n + l)<total : l<64 ? cur->mask_lo >> l & 1 : cur->mask_hi>>(l - 64) & 1;
      if (!on)
        continue;
      u32 *o = (u32 *)off + r * n + l;
      rd(UB, o, 4);
      T *s = (T *)ub_at(base + *o), *p = (T *)(U(d) + r * dr * 32) + l;
      if ((*o + base) % sizeof(T))
        error("misaligned-gather", "VGATHER offset is not a multiple of the element size");
      rd(UB, s, sizeof(T));
      wr(UB, p, sizeof(T));
      *p = *s;
    }
}
template <class T> static void compact(const char *name, void *d, void *a, void *b, u64 c) {
  begin(V, name);
  const int E = 32 / sizeof(T), n = 256 / sizeof(T);
  bool counter = bits(cur->ctrl, 56, 1);
  i64 reps = bits(c, 0, 8) | bits(c, 56, 8) << 8, bs = bits(c, 8, 8), pat = bits(c, 16, 8),
      ar = bits(c, 24, 16), br = bits(c, 40, 16),
      per = counter ? (i64)(cur->mask_lo & 0xffffffff) : n, k = 0;
  T *o = (T *)d;
  for (i64 r = 0; r < reps; r++)
    for (i64 l = 0; l < per; l++) {
      bool take = pat == 7 || (pat == 1 && l % 2 == 0) || (pat == 2 && l % 2 == 1) ||
                  (pat >= 3 && pat <= 6 && l % 4 == pat - 3);
      if (pat == 0) {
        u8 *m = U(b) + r * br * 32 + l / 8;
        rd(UB, m, 1);
        take = *m >> (l % 8) & 1;
      }
      if (!take)
        continue;
      T *s = (T *)(U(a) + r * ar * 32 + (l / E) * bs * 32) + l % E;
      rd(UB, s, sizeof(T));
      wr(UB, o + k, sizeof(T));
      o[k++] = *s;
    }
  cur->rsvd_cnt = k;
}
struct Rec {
  u32 score, index;
}; // 8 bytes for both score types
template <class T> static T score(const Rec &r) {
  T t;
  memcpy(&t, &r.score, sizeof t);
  return t;
}
// descending; NaN by its sign, positive first and negative last (the sort template pads with
// negative NaN and needs it last; a guess)
template <class T> static int nan_rank(T v) { return v == v ? 0 : std::signbit((float)v) ? -1 : 1; }
template <class T> static bool before(const Rec &x, const Rec &y) {
  T a = score<T>(x), b = score<T>(y);
  int ra = nan_rank(a), rb = nan_rank(b);
  return ra != rb ? ra > rb : ra == 0 && a > b;
}
template <class T> static void sort32(const char *name, void *d, void *a, void *ix, u64 c) {
  begin(V, name);
  i64 reps = bits(c, 56, 8);
  for (i64 r = 0; r < reps; r++) {
    T *x = (T *)a + r * 32;
    u32 *y = (u32 *)ix + r * 32;
    rd(UB, x, 32 * sizeof(T));
    rd(UB, y, 128);
    Rec p[32];
    for (int k = 0; k < 32; k++) {
      p[k] = {0, y[k]};
      memcpy(&p[k].score, x + k, sizeof(T));
    }
    std::stable_sort(p, p + 32, before<T>);
    wr(UB, (Rec *)d + r * 32, 256);
    memcpy((Rec *)d + r * 32, p, 256);
  }
}
template <class T> static void merge(const char *name, void *d, u64 list, u64 lens, u64 c) {
  begin(V, name);
  int valid = bits(c, 8, 4), reps = bits(c, 0, 8);
  bool stop = bits(c, 12, 1);
  i64 tot = 0;
  Rec *o = (Rec *)d;
  for (int k = 0; k < 4; k++)
    if (valid >> k & 1)
      tot += bits(lens, 16 * k, 16);
  for (int r = 0; r < reps; r++) {
    std::vector<Rec> v[4], all;
    size_t p[4] = {0, 0, 0, 0};
    for (int k = 0; k < 4; k++)
      if (valid >> k & 1) {
        i64 n = bits(lens, 16 * k, 16);
        Rec *s = (Rec *)ub_at(bits(list, 16 * k, 16) << 3) + r * tot;
        rd(UB, s, n * 8);
        v[k].assign(s, s + n);
      }
    for (;;) {
      int best = -1;
      bool out = false;
      for (int k = 0; k < 4; k++) {
        if (p[k] >= v[k].size()) {
          out |= (valid >> k & 1);
          continue;
        }
        if (best < 0 || before<T>(v[k][p[k]], v[best][p[best]]))
          best = k;
      }
      if (best < 0 || (stop && out))
        break;
      all.push_back(v[best][p[best]++]);
    }
    wr(UB, o, all.size() * 8);
    memcpy(o, all.data(), all.size() * 8);
    o += tot;
  }
}
extern "C" {
void hivm_S_VNCHWCONV_b16(i64 dv, i64 sv, u64 c) { transpose<2>("VNCHWCONV.b16", dv, sv, c, 0, 0); }
void hivm_S_VNCHWCONV_b32(i64 dv, i64 sv, u64 c) { transpose<4>("VNCHWCONV.b32", dv, sv, c, 0, 0); }
void hivm_S_VNCHWCONV_b8(i64 dv, i64 sv, u64 c, u64 dh, u64 sh) {
  transpose<1>("VNCHWCONV.b8", dv, sv, c, dh, sh);
}
void hivm_VGATHER_b32(void *d, void *o, u64 c) { gather<u32>("VGATHER.b32", d, o, c); }
void hivm_VGATHER_b16(void *d, void *o, u64 c) { gather<uint16_t>("VGATHER.b16", d, o, c); }
void hivm_VREDUCEv2_b32(void *d, void *a, void *b, u64 c) {
  compact<u32>("VREDUCEv2.b32", d, a, b, c);
}
void hivm_VREDUCEv2_b16(void *d, void *a, void *b, u64 c) {
  compact<uint16_t>("VREDUCEv2.b16", d, a, b, c);
}
void hivm_VBS32_f32(void *d, void *a, void *i, u64 c) { sort32<float>("VBS32.f32", d, a, i, c); }
void hivm_VBS32_f16(void *d, void *a, void *i, u64 c) { sort32<half>("VBS32.f16", d, a, i, c); }
void hivm_VMRGSORT_f32_V220(void *d, void *l, u64 n, u64 c) {
  merge<float>("VMRGSORT.f32", d, (u64)l, n, c);
}
void hivm_VMRGSORT_f16_V220(void *d, void *l, u64 n, u64 c) {
  merge<half>("VMRGSORT.f16", d, (u64)l, n, c);
}
}
