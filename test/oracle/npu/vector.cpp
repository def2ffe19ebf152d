// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Vector instructions: arithmetic, compare, select, convert, fill, broadcast, reductions.
#include "machine.h"

// ---- which elements take part: counter mode (number of elements) or bit mask per repeat
struct Lanes {
  i64 reps;
  int n;
  bool counter;
  u64 total, lo, hi;
  Lanes(u64 cfg, int wide, bool masked = true)
      : n(256 / wide), counter(bits(cur->ctrl, 56, 1)), total(cur->mask_lo & 0xffffffff),
        lo(cur->mask_lo), hi(cur->mask_hi) {
    reps = bits(cfg, 56, 8);
    if (!masked) {
      counter = false;
      lo = hi = ~0ull;
    }
    if (counter)
      reps = (total + n - 1) / n;
  }
  bool on(i64 r, int l) const {
    return counter ? (u64)(r * n + l) < total : l < 64 ? (lo >> l) & 1 : (hi >> (l - 64)) & 1;
  }
};
struct Strides {
  i64 db, ab, bb, dr, ar, br;
}; // dst/src0/src1 block and repeat strides in 32-byte blocks
static Strides two(u64 c) {
  return {(i64)bits(c, 0, 8),  (i64)bits(c, 8, 8),  (i64)bits(c, 16, 8),
          (i64)bits(c, 24, 8), (i64)bits(c, 32, 8), (i64)bits(c, 40, 8)};
}
static Strides one(u64 c) {
  return {(i64)bits(c, 0, 16),
          (i64)bits(c, 16, 16),
          0,
          (i64)(bits(c, 32, 8) | bits(c, 52, 4) << 8),
          (i64)bits(c, 40, 12),
          0};
}
template <class T> static T *at(void *p, i64 r, int l, i64 rs, i64 bs) {
  const int E = 32 / sizeof(T);
  return (T *)(U(p) + r * rs * 32 + (l / E) * bs * 32 + (l % E) * sizeof(T));
}
// tell the checker about the active elements of one repeat of one operand, block by block
template <class T> static void track(const Lanes &L, void *p, i64 r, i64 rs, i64 bs, bool w) {
  if (!g_check) {
    if (!p)
      return;
  }
  const int E = 32 / sizeof(T);
  for (int l0 = 0; l0 < L.n; l0 += E) {
    int s = -1;
    for (int l = l0; l <= l0 + E; l++) {
      bool a = l < l0 + E && l < L.n && L.on(r, l);
      if (a && s < 0)
        s = l;
      if (!a && s >= 0) {
        touch(UB, (u64)at<T>(p, r, s, rs, bs), (l - s) * sizeof(T), w);
        s = -1;
      }
    }
  }
}
template <class T, class F>
static void binary(const char *name, void *d, void *a, void *b, u64 c, F f) {
  begin(V, name);
  Lanes L(c, sizeof(T));
  Strides s = two(c);
  T t[256 / sizeof(T)];
  for (i64 r = 0; r < L.reps; r++) {
    track<T>(L, a, r, s.ar, s.ab, false);
    track<T>(L, b, r, s.br, s.bb, false);
    track<T>(L, d, r, s.dr, s.db, true);
    for (int l = 0; l < L.n; l++)
      if (L.on(r, l))
        t[l] = f(*at<T>(a, r, l, s.ar, s.ab), *at<T>(b, r, l, s.br, s.bb));
    for (int l = 0; l < L.n; l++)
      if (L.on(r, l))
        *at<T>(d, r, l, s.dr, s.db) = t[l];
  }
}
template <class A, class D, class F>
static void unary(const char *name, void *d, void *a, u64 c, F f) {
  begin(V, name);
  Lanes L(c, std::max(sizeof(A), sizeof(D)));
  Strides s = one(c);
  D t[256];
  for (i64 r = 0; r < L.reps; r++) {
    track<A>(L, a, r, s.ar, s.ab, false);
    track<D>(L, d, r, s.dr, s.db, true);
    for (int l = 0; l < L.n; l++)
      if (L.on(r, l))
        t[l] = f(*at<A>(a, r, l, s.ar, s.ab));
    for (int l = 0; l < L.n; l++)
      if (L.on(r, l))
        *at<D>(d, r, l, s.dr, s.db) = t[l];
  }
}
template <class T> static T vmax(T x, T y) {
  if constexpr (!std::is_integral_v<T>) {
    if (x != x)
      return x;
    if (y != y)
      return y;
  }
  return x > y ? x : y;
}
template <class T> static T vmin(T x, T y) {
  if constexpr (!std::is_integral_v<T>) {
    if (x != x)
      return x;
    if (y != y)
      return y;
  }
  return x < y ? x : y;
}
template <class T> static T wadd(T x, T y) {
  if constexpr (std::is_integral_v<T>)
    return (T)((u64)x + (u64)y);
  else
    return x + y;
}
template <class T> static T wsub(T x, T y) {
  if constexpr (std::is_integral_v<T>)
    return (T)((u64)x - (u64)y);
  else
    return x - y;
}
template <class T> static T wmul(T x, T y) {
  if constexpr (std::is_integral_v<T>)
    return (T)((u64)x * (u64)y);
  else
    return x * y;
}
template <class T> static T shl(T x, u64 k) { return k >= sizeof(T) * 8 ? (T)0 : (T)((u64)x << k); }
template <class T> static T shr(T x, u64 k, u64 round) {
  if (k >= sizeof(T) * 8)
    return x < 0 ? (T)-1 : (T)0;
  T y = (T)(x >> k);
  return round && k && (x >> (k - 1) & 1) ? (T)(y + 1) : y;
}
extern "C" {
#define BIN(N, sfx, T, ex)                                                                         \
  void hivm_##N##_##sfx(void *d, void *a, void *b, u64 c) {                                        \
    binary<T>(#N "." #sfx, d, a, b, c, [](T x, T y) -> T { return ex; });                          \
  }
#define BIN4(N, ex)                                                                                \
  BIN(N, f32, float, ex) BIN(N, f16, half, ex) BIN(N, s32, int32_t, ex) BIN(N, s16, int16_t, ex)
BIN4(VADD, wadd(x, y))
BIN4(VSUB, wsub(x, y))
BIN4(VMUL, wmul(x, y))
BIN4(VMAX, vmax(x, y))
BIN4(VMIN, vmin(x, y))
BIN(VDIV, f32, float, x / y)
BIN(VDIV, f16, half, x / y)
BIN(VAND, u16, uint16_t, x &y)
BIN(VOR, u16, uint16_t, x | y)
BIN(VAND, s16, int16_t, x &y)
BIN(VOR, s16, int16_t, x | y)
#define SCA(N, sfx, T, PT, ex)                                                                     \
  void hivm_##N##_##sfx(void *d, void *a, PT k, u64 c) {                                           \
    T y = (T)k;                                                                                    \
    unary<T, T>(#N "." #sfx, d, a, c, [y](T x) -> T { return ex; });                               \
  }
#define SCA4(N, ex)                                                                                \
  SCA(N, f32, float, float, ex)                                                                    \
  SCA(N, f16, half, half, ex) SCA(N, s32, int32_t, u64, ex) SCA(N, s16, int16_t, u64, ex)
SCA4(VADDS, wadd(x, y))
SCA4(VMULS, wmul(x, y))
SCA4(VMAXS, vmax(x, y))
SCA4(VMINS, vmin(x, y))
#define SHIFT(sfx, T)                                                                              \
  void hivm_VSHL_##sfx(void *d, void *a, u64 k, u64 c) {                                           \
    unary<T, T>("VSHL." #sfx, d, a, c, [k](T x) -> T { return shl(x, k); });                       \
  }                                                                                                \
  void hivm_VSHR_##sfx(void *d, void *a, u64 k, u64 c, u64 rnd) {                                  \
    unary<T, T>("VSHR." #sfx, d, a, c, [k, rnd](T x) -> T { return shr(x, k, rnd); });             \
  }
SHIFT(s32, int32_t)
SHIFT(u32, u32)
SHIFT(s16, int16_t)
SHIFT(u16, uint16_t)
#define UN(N, sfx, T, ex)                                                                          \
  void hivm_##N##_##sfx(void *d, void *a, u64 c) {                                                 \
    unary<T, T>(#N "." #sfx, d, a, c, [](T x) -> T { return ex; });                                \
  }
#define UNF(N, ex) UN(N, f32, float, (float)(ex)) UN(N, f16, half, (half)(ex))
UNF(VEXP, expf((float)x))
UNF(VLN, logf((float)x))
UNF(VABS, fabsf((float)x))
UNF(VSQRT, sqrtf((float)x))
UNF(VREC, 1.0f / (float)x)
UNF(VRSQRT, 1.0f / sqrtf((float)x))
UN(VRELU, f32, float, x > 0 || x != x ? x : 0)
UN(VRELU, f16, half, x > (half)0 || x != x ? x : (half)0)
UN(VRELU, s32, int32_t, x > 0 ? x : 0)
UN(VNOT, u16, uint16_t, (uint16_t)~x) UN(VNOT, s16, int16_t, (int16_t)~x)
}
// ---- conversions
static double rounded(double x, char m) {
  switch (m) {
  case 'a':
    return round(x);
  case 'f':
    return floor(x);
  case 'c':
    return ceil(x);
  case 'z':
    return trunc(x);
  default:
    return nearbyint(x);
  }
}
template <class T> static T to_int(double x) { // x already integral
  if (x != x)
    return 0;
  if (bits(cur->ctrl, 59, 1) && sizeof(T) < 8 && fabs(x) < 9.2e18)
    return (T)(i64)x;
  double lo = (double)std::numeric_limits<T>::min(), hi = (double)std::numeric_limits<T>::max();
  return x <= lo ? std::numeric_limits<T>::min() : x >= hi ? std::numeric_limits<T>::max() : (T)x;
}
template <class T> static T narrow(i64 x) {
  if (bits(cur->ctrl, 59, 1))
    return (T)x;
  return x < std::numeric_limits<T>::min()   ? std::numeric_limits<T>::min()
         : x > std::numeric_limits<T>::max() ? std::numeric_limits<T>::max()
                                             : (T)x;
}
// f64 -> narrower float with the given rounding: take the nearest value and step to the neighbour
// on the wanted side
template <class T, class Bits> static T to_float(double x, char m) {
  T y = (T)(float)x;
  if constexpr (sizeof(T) == 4)
    y = (T)x;
  else if (m == 'r' && (double)(float)x != x)
    y = (T)x;
  if (m == 'r' || x != x || x == 0 || std::isinf(x))
    return y;
  auto step = [](T v, bool up) {
    Bits b;
    memcpy(&b, &v, sizeof b);
    const Bits sign = (Bits)1 << (sizeof(T) * 8 - 1);
    bool neg = b & sign;
    Bits mag = b & (Bits)~sign;
    if (!mag) {
      b = up ? 1 : (Bits)(sign | 1);
    } else {
      mag = (up != neg) ? mag + 1 : mag - 1;
      b = (b & sign) | mag;
    }
    T r;
    memcpy(&r, &b, sizeof r);
    return r;
  };
  double dy = (double)(float)y;
  if constexpr (sizeof(T) == 4)
    dy = y;
  if (dy == x)
    return y;
  T lo = dy < x ? y : step(y, false), hi = dy > x ? y : step(y, true);
  switch (m) {
  case 'f':
    return lo;
  case 'c':
    return hi;
  case 'z':
    return x > 0 ? lo : hi;
  case 'o': {
    Bits b;
    memcpy(&b, &lo, sizeof b);
    return b & 1 ? lo : hi;
  }
  default: {
    double dl = (double)(float)lo, dh = (double)(float)hi;
    if constexpr (sizeof(T) == 4) {
      dl = lo;
      dh = hi;
    }
    return x - dl < dh - x ? lo : x - dl > dh - x ? hi : x > 0 ? hi : lo;
  } // 'a'
  }
}
extern "C" {
#define CV(N, A, D, ex)                                                                            \
  void hivm_VCONV_##N##_v220(void *d, void *a, u64 c) {                                            \
    unary<A, D>("VCONV." #N, d, a, c, [](A x) -> D { return ex; });                                \
  }
CV(f162f32, half, float, (float)x)
CV(bf162f32, bf16, float, (float)x)
CV(s82f16, int8_t, half, (half)x)
CV(u82f16, u8, half, (half)x)
CV(s162f32, int16_t, float, (float)x)
CV(s322s64_1, int32_t, i64, (i64)x)
CV(s642s32_1, i64, int32_t, narrow<int32_t>(x))
CV(s322s16, int32_t, int16_t, narrow<int16_t>(x))
#define CVR(m)                                                                                     \
  CV(f162s8##m, half, int8_t, to_int<int8_t>(rounded((float)x, #m[0])))                            \
  CV(f162u8##m, half, u8, to_int<u8>(rounded((float)x, #m[0])))                                    \
  CV(f162s16##m, half, int16_t, to_int<int16_t>(rounded((float)x, #m[0])))                         \
  CV(f162s32##m, half, int32_t, to_int<int32_t>(rounded((float)x, #m[0])))                         \
  CV(bf162s32##m, bf16, int32_t, to_int<int32_t>(rounded((float)x, #m[0])))                        \
  CV(f322s32##m, float, int32_t, to_int<int32_t>(rounded(x, #m[0])))                               \
  CV(f322s16##m, float, int16_t, to_int<int16_t>(rounded(x, #m[0])))                               \
  CV(f322s64##m, float, i64, to_int<i64>(rounded(x, #m[0])))                                       \
  CV(f322f32##m, float, float, (float)rounded(x, #m[0]))                                           \
  CV(f322f16##m, float, half, (to_float<half, uint16_t>(x, #m[0])))                                \
  CV(f322bf16##m, float, bf16, (to_float<bf16, uint16_t>(x, #m[0])))                               \
  CV(s162f16##m, int16_t, half, (to_float<half, uint16_t>(x, #m[0])))                              \
  CV(s322f32##m, int32_t, float, (to_float<float, u32>(x, #m[0])))                                 \
  CV(s642f32##m##_1, i64, float, (#m[0] == 'r' ? (float)x : to_float<float, u32>((double)x, #m[0])))
CVR(r)
CVR(a)
CVR(f)
CVR(c)
CVR(z)
CV(f322f16o, float, half, (to_float<half, uint16_t>(x, 'o')))
// ---- fill, copy, broadcast
#define FILL(sfx, T, PT)                                                                           \
  void hivm_MOVEV_##sfx(void *d, PT k, u64 c) {                                                    \
    begin(V, "MOVEV." #sfx);                                                                       \
    T y = (T)k;                                                                                    \
    Lanes L(c, sizeof(T));                                                                         \
    Strides s = one(c);                                                                            \
    for (i64 r = 0; r < L.reps; r++) {                                                             \
      track<T>(L, d, r, s.dr, s.db, true);                                                         \
      for (int l = 0; l < L.n; l++)                                                                \
        if (L.on(r, l))                                                                            \
          *at<T>(d, r, l, s.dr, s.db) = y;                                                         \
    }                                                                                              \
  }
FILL(f32, float, float)
FILL(f16, half, half)
FILL(s32, int32_t, u64)
FILL(u32, u32, u64) FILL(s16, int16_t, u64) FILL(u16, uint16_t, u64) FILL(bf16, bf16, bf16)
}
// VCOPY in counter mode: the count is per repeat and the repeat field is honoured
template <class T> static void vcopy(const char *name, void *d, void *a, u64 c) {
  if (!bits(cur->ctrl, 56, 1) || !bits(c, 56, 8)) {
    unary<T, T>(name, d, a, c, [](T x) { return x; });
    return;
  }
  begin(V, name);
  Strides s = one(c);
  i64 reps = bits(c, 56, 8), n = cur->mask_lo & 0xffffffff;
  const int E = 32 / sizeof(T);
  for (i64 r = 0; r < reps; r++) {
    std::vector<T> t(n);
    for (i64 l = 0; l < n; l += E)
      rd(UB, at<T>(a, r, l, s.ar, s.ab), std::min<i64>(E, n - l) * sizeof(T));
    for (i64 l = 0; l < n; l++)
      t[l] = *at<T>(a, r, l, s.ar, s.ab);
    for (i64 l = 0; l < n; l += E)
      wr(UB, at<T>(d, r, l, s.dr, s.db), std::min<i64>(E, n - l) * sizeof(T));
    for (i64 l = 0; l < n; l++)
      *at<T>(d, r, l, s.dr, s.db) = t[l];
  }
}
template <class T> static void vbrcb(const char *name, void *d, void *a, u64 c) {
  begin(V, name);
  i64 reps = bits(c, 56, 8);
  Strides s = one(c);
  for (i64 r = 0; r < reps; r++) {
    T t[8];
    rd(UB, (T *)a + r * 8, 8 * sizeof(T));
    memcpy(t, (T *)a + r * 8, sizeof t);
    for (int k = 0; k < 8; k++) {
      T *D = (T *)(U(d) + r * s.dr * 32 + k * s.db * 32);
      wr(UB, D, 32);
      for (unsigned l = 0; l < 32 / sizeof(T); l++)
        D[l] = t[k];
    }
  }
}
extern "C" {
void hivm_VCOPY_u32(void *d, void *a, u64 c) { vcopy<u32>("VCOPY.u32", d, a, c); }
void hivm_VCOPY_u16(void *d, void *a, u64 c) { vcopy<uint16_t>("VCOPY.u16", d, a, c); }
void hivm_VBRCB_b32(void *d, void *a, u64 c) { vbrcb<u32>("VBRCB.b32", d, a, c); }
void hivm_VBRCB_b16(void *d, void *a, u64 c) { vbrcb<uint16_t>("VBRCB.b16", d, a, c); }
}
// ---- reductions: cfg dstRep@0:16 srcBlk@16:16 srcRep@32:16 repeat@56:8
struct Red {
  i64 dr, sb, sr;
};
static Red red(u64 c) { return {(i64)bits(c, 0, 16), (i64)bits(c, 16, 16), (i64)bits(c, 32, 16)}; }
template <class T> static void vcadd(const char *name, void *d, void *a, u64 c, u64 mode) {
  begin(V, name);
  Lanes L(c, sizeof(T));
  Red q = red(c);
  T total = (T)0;
  for (i64 r = 0; r < L.reps; r++) {
    track<T>(L, a, r, q.sr, q.sb, false);
    std::vector<T> v(L.n);
    bool any = false;
    for (int l = 0; l < L.n; l++) {
      bool on = L.on(r, l);
      any |= on;
      v[l] = on ? *at<T>(a, r, l, q.sr, q.sb) : (T)0;
    }
    if (!any)
      continue;
    for (size_t n = L.n; n > 1; n /= 2)
      for (size_t i = 0; i < n / 2; i++)
        v[i] = v[2 * i] + v[2 * i + 1]; // adjacent pairs, level by level
    if (mode) {
      total = total + v[0];
      continue;
    }
    T *o = (T *)d + r * q.dr;
    wr(UB, o, sizeof(T));
    *o = v[0];
  }
  if (mode) {
    cur->acc = (double)(float)total;
    cur->acc_size = sizeof(T);
  }
}
template <class T, class F>
static void vcextreme(const char *name, void *d, void *a, u64 c, u64 order, F better) {
  begin(V, name);
  Lanes L(c, sizeof(T));
  Red q = red(c);
  T gv{};
  i64 gi = -1;
  for (i64 r = 0; r < L.reps; r++) {
    track<T>(L, a, r, q.sr, q.sb, false);
    int bi = -1;
    T bv{};
    for (int l = 0; l < L.n; l++)
      if (L.on(r, l)) {
        T x = *at<T>(a, r, l, q.sr, q.sb);
        if (bi < 0 || better(x, bv)) {
          bi = l;
          bv = x;
        }
      }
    if (bi < 0)
      continue;
    if (gi < 0 || better(bv, gv)) {
      gv = bv;
      gi = r * L.n + bi;
    }
    cur->max_min = 0;
    memcpy(&cur->max_min, &gv, sizeof(T));
    cur->max_min |= (u64)gi << 32;
    if (order == 2) {
      T *o = (T *)d + r * q.dr;
      wr(UB, o, sizeof(T));
      *o = bv;
    } else if (order == 3) {
      u32 *o = (u32 *)d + r * q.dr;
      wr(UB, o, 4);
      *o = bi;
    } else {
      T *o = (T *)d + r * q.dr * 2;
      wr(UB, o, 2 * sizeof(T));
      T iv;
      u32 u = bi;
      memcpy(&iv, &u, sizeof(T));
      o[order == 0 ? 0 : 1] = bv;
      memcpy(o + (order == 0 ? 1 : 0), &iv, sizeof(T));
    }
  }
}
// g elements of a repeat give one result
template <class T, class F>
static void vgroup(const char *name, void *d, void *a, u64 c, int g, F f) {
  begin(V, name);
  Lanes L(c, sizeof(T));
  Red q = red(c);
  int outs = L.n / g;
  for (i64 r = 0; r < L.reps; r++) {
    track<T>(L, a, r, q.sr, q.sb, false);
    for (int k = 0; k < outs; k++) {
      std::vector<T> v;
      for (int l = k * g; l < k * g + g; l++)
        if (L.on(r, l))
          v.push_back(*at<T>(a, r, l, q.sr, q.sb));
      if (v.empty())
        continue;
      while (v.size() > 1) {
        std::vector<T> w;
        for (size_t i = 0; i + 1 < v.size(); i += 2)
          w.push_back(f(v[i], v[i + 1]));
        if (v.size() & 1)
          w.push_back(v.back());
        v = w;
      }
      T *o = (T *)d + r * q.dr * outs + k;
      wr(UB, o, sizeof(T));
      *o = v[0];
    }
  }
}
extern "C" {
#define REDUCE(sfx, T)                                                                             \
  void hivm_VCADD_##sfx##_order(void *d, void *a, u64 c, u64 m) {                                  \
    vcadd<T>("VCADD." #sfx, d, a, c, m);                                                           \
  }                                                                                                \
  void hivm_VCMAX_##sfx##_order_v220(void *d, void *a, u64 c, u64 o) {                             \
    vcextreme<T>("VCMAX." #sfx, d, a, c, o, [](T x, T y) { return x > y; });                       \
  }                                                                                                \
  void hivm_VCMIN_##sfx##_order_v220(void *d, void *a, u64 c, u64 o) {                             \
    vcextreme<T>("VCMIN." #sfx, d, a, c, o, [](T x, T y) { return x < y; });                       \
  }                                                                                                \
  void hivm_VCGADD_##sfx(void *d, void *a, u64 c) {                                                \
    vgroup<T>("VCGADD." #sfx, d, a, c, 32 / sizeof(T), [](T x, T y) -> T { return x + y; });       \
  }                                                                                                \
  void hivm_VCGMAX_##sfx(void *d, void *a, u64 c) {                                                \
    vgroup<T>("VCGMAX." #sfx, d, a, c, 32 / sizeof(T), [](T x, T y) -> T { return vmax(x, y); });  \
  }                                                                                                \
  void hivm_VCGMIN_##sfx(void *d, void *a, u64 c) {                                                \
    vgroup<T>("VCGMIN." #sfx, d, a, c, 32 / sizeof(T), [](T x, T y) -> T { return vmin(x, y); });  \
  }                                                                                                \
  void hivm_VCPADD_##sfx(void *d, void *a, u64 c) {                                                \
    vgroup<T>("VCPADD." #sfx, d, a, c, 2, [](T x, T y) -> T { return x + y; });                    \
  }
REDUCE(f32, float) REDUCE(f16, half)
}
// ---- compare: packed bits, stored contiguously; with a bit mask all lanes are compared
template <class T, class F>
static void compare(const char *name, void *d, void *a, void *b, T k, u64 c, F f) {
  begin(V, name);
  Lanes L(c, sizeof(T));
  Strides s = b ? two(c) : one(c);
  if (!L.counter)
    L.lo = L.hi = ~0ull;
  for (i64 r = 0; r < L.reps; r++) {
    u8 *D = U(d) + r * L.n / 8, o[16] = {0};
    int last = 0;
    track<T>(L, a, r, s.ar, s.ab, false);
    if (b)
      track<T>(L, b, r, s.br, s.bb, false);
    for (int l = 0; l < L.n; l++)
      if (L.on(r, l)) {
        last = l / 8 + 1;
        if (f(*at<T>(a, r, l, s.ar, s.ab), b ? *at<T>(b, r, l, s.br, s.bb) : k))
          o[l / 8] |= 1 << (l % 8);
      }
    wr(UB, D, last);
    memcpy(D, o, last);
  }
}
template <class T> static void select(const char *name, void *d, void *a, void *b, u64 c) {
  begin(V, name);
  Lanes L(c, sizeof(T));
  Strides s = two(c);
  int mode = bits(c, 48, 2);
  T k;
  memcpy(&k, cur->cmpmask, sizeof(T));
  T t[128];
  u8 *m = mode == 1 ? U(b) : mode == 2 ? ub_at(cur->cmpmask[0]) : (u8 *)cur->cmpmask;
  for (i64 r = 0; r < L.reps; r++) {
    u8 *mr = mode ? m + r * L.n / 8 : m;
    int n = 0;
    for (int l = 0; l < L.n; l++)
      if (L.on(r, l))
        n = l + 1;
    if (mode)
      rd(UB, mr, (n + 7) / 8);
    track<T>(L, a, r, s.ar, s.ab, false);
    if (mode != 1)
      track<T>(L, b, r, s.br, s.bb, false);
    track<T>(L, d, r, s.dr, s.db, true);
    for (int l = 0; l < L.n; l++)
      if (L.on(r, l))
        t[l] = (mr[l / 8] >> (l % 8) & 1) ? *at<T>(a, r, l, s.ar, s.ab)
               : mode == 1                ? k
                                          : *at<T>(b, r, l, s.br, s.bb);
    for (int l = 0; l < L.n; l++)
      if (L.on(r, l))
        *at<T>(d, r, l, s.dr, s.db) = t[l];
  }
}
extern "C" {
#define CMP(OP, sfx, T, PT, op)                                                                    \
  void hivm_VCMPV_##OP##_##sfx(void *d, void *a, void *b, u64 c) {                                 \
    compare<T>("VCMPV." #OP "." #sfx, d, a, b, T(), c, [](T x, T y) -> bool { return x op y; });   \
  }                                                                                                \
  void hivm_VCMPVS_##OP##_##sfx(void *d, void *a, PT k, u64 c) {                                   \
    compare<T>("VCMPVS." #OP "." #sfx, d, a, nullptr, (T)k, c,                                     \
               [](T x, T y) -> bool { return x op y; });                                           \
  }
#define CMP2(OP, op) CMP(OP, f32, float, float, op) CMP(OP, f16, half, half, op)
CMP2(EQ, ==)
CMP2(NE, !=)
CMP2(LT, <)
CMP2(LE, <=)
CMP2(GT, >) CMP2(GE, >=) CMP(EQ, s32, int32_t, u64, ==) void hivm_SET_CMPMASK(void *p) {
  begin(V, "SET.CMPMASK");
  rd(UB, p, 16);
  memcpy(cur->cmpmask, p, 16);
}
void hivm_VSEL_f32_1(void *d, void *a, void *b, u64 c) { select<float>("VSEL.f32", d, a, b, c); }
void hivm_VSEL_f16_1(void *d, void *a, void *b, u64 c) { select<half>("VSEL.f16", d, a, b, c); }
}
