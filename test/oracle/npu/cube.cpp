// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cube side: fills of L1, GM->L1 with layout change, L1->L0 loads, matrix multiply, L0C->GM.
#include "machine.h"

template <class T> static void fill_l1(void *d, u64 c, T v, const char *name) {
  begin(MTE2, name);
  u8 *D = U(X(L1, d));
  i64 reps = bits(c, 0, 15), blk = bits(c, 16, 15), gap = bits(c, 32, 15);
  for (i64 r = 0; r < reps; r++) {
    wr(L1, D, blk * 32);
    for (i64 i = 0; i < blk * 32 / (i64)sizeof(T); i++)
      ((T *)D)[i] = v;
    D += (blk + gap) * 32;
  }
}
template <class T> static void nd2nz(void *d, void *s, u64 a, u64 b, const char *name) {
  begin(MTE2, name);
  d = X(L1, d);
  const int C0 = 32 / sizeof(T);
  i64 nd = bits(a, 4, 12), rows = bits(a, 16, 16), cols = bits(a, 32, 16), smat = bits(a, 48, 16),
      pitch = bits(b, 0, 16), c0s = bits(b, 16, 16), ns = bits(b, 32, 16), dmat = bits(b, 48, 16);
  for (i64 k = 0; k < nd; k++)
    for (i64 r = 0; r < rows; r++) {
      T *src = (T *)s + k * smat + r * pitch;
      rd(GM, src, cols * sizeof(T));
      for (i64 c1 = 0; c1 * C0 < cols; c1++) {
        T *D = (T *)(U(d) + (c1 * c0s + r * ns) * 32) + k * dmat;
        wr(L1, D, 32);
        for (int l = 0; l < C0; l++)
          D[l] = c1 * C0 + l < cols ? src[c1 * C0 + l] : (T)0;
      }
    }
}
// read n bytes of L1 that go to dst; piece(): the same transfer again in parts, called only if a
// race is in sight
template <class F> static void feed(const void *src, size_t n, F piece) {
  defer(true);
  rd(L1, src, n);
  defer(false);
  if (any_deferred())
    piece([](const void *s, void *d, size_t k) {
      defer(true);
      rd(L1, s, k);
      defer(false);
      attach(d, k);
    });
}
static void load_2d(int sp, void *d, void *s, u64 a, u64 tr, u64 down, int E, const char *name) {
  begin(MTE1, name);
  d = X(sp, d);
  s = X(L1, s);
  i64 idx = bits(a, 0, 16), reps = bits(a, 16, 8), ss = bits(a, 24, 16), gap = bits(a, 44, 16);
  for (i64 r = 0; r < reps; r++) {
    u8 *F = U(s) + (idx + (down ? -r : r) * ss) * 512, *D = U(d) + r * (gap + 1) * 512;
    wr(sp, D, 512);
    detach(D, 512);
    feed(F, 512, [&](auto part) {
      if (!tr || E != 2)
        for (int i = 0; i < 512; i += 32)
          part(F + i, D + i, 32);
      else
        for (int i = 0; i < 16; i++)
          for (int j = 0; j < 16; j++)
            part(F + (i * 16 + j) * 2, D + (j * 16 + i) * 2, 2);
    });
    if (!tr || E != 2)
      memcpy(D, F, 512);
    else
      for (int i = 0; i < 16; i++)
        for (int j = 0; j < 16; j++)
          ((uint16_t *)D)[j * 16 + i] = ((uint16_t *)F)[i * 16 + j];
  }
}
static void load_2d_transpose_s8(int sp, void *d, void *s, u64 a, u64 frac, const char *name) {
  begin(MTE1, name);
  d = X(sp, d);
  s = X(L1, s);
  i64 idx = bits(a, 0, 16), reps = bits(a, 16, 8), ss = bits(a, 24, 16), gap = bits(a, 44, 16),
      half2 = 512 * (1 + (i64)bits(frac, 0, 16));
  bool down = bits(a, 63, 1);
  for (i64 r = 0; r < reps; r++) {
    u8 *F = U(s) + (idx + (down ? -r : r) * ss) * 1024, *D = U(d) + r * (1024 + gap * 512);
    wr(sp, D, 512);
    wr(sp, D + half2, 512);
    detach(D, 512);
    detach(D + half2, 512);
    feed(F, 1024, [&](auto part) {
      for (int n = 0; n < 32; n++)
        for (int k = 0; k < 32; k++)
          part(F + k * 32 + n, D + (n / 16) * half2 + (n % 16) * 32 + k, 1);
    });
    for (int n = 0; n < 32; n++)
      for (int k = 0; k < 32; k++)
        (D + (n / 16) * half2)[(n % 16) * 32 + k] = F[k * 32 + n];
  }
}
// image (C1, H, W, C0) in L1 -> matrix in L0; rows are output positions, columns (c1, kh, kw, c0)
template <class T> static void load_3d(int sp, void *d, void *s, u64 a, u64 b, const char *name) {
  begin(MTE1, name);
  d = X(sp, d);
  s = X(L1, s);
  const int C0 = 32 / sizeof(T);
  i64 step_k = bits(a, 0, 16), step_m = bits(a, 16, 16), pos_k = bits(a, 32, 16),
      pos_m = bits(a, 48, 16);
  if (!step_k || !step_m)
    return;
  i64 sw = bits(b, 0, 6), sh = bits(b, 6, 6), kw = bits(b, 12, 8) | bits(b, 44, 1) << 8,
      kh = bits(b, 20, 8) | bits(b, 45, 1) << 8, dw = bits(b, 28, 8), dh = bits(b, 36, 8);
  bool tr = bits(b, 46, 1) || sp == L0B;
  u64 fm = cur->fmatrix[bits(b, 47, 1)];
  i64 W = bits(fm, 0, 16), H = bits(fm, 16, 16), pl = bits(fm, 32, 8), pr = bits(fm, 40, 8),
      pt = bits(fm, 48, 8);
  sw = std::max<i64>(sw, 1);
  sh = std::max<i64>(sh, 1);
  kw = std::max<i64>(kw, 1);
  kh = std::max<i64>(kh, 1);
  dw = std::max<i64>(dw, 1);
  dh = std::max<i64>(dh, 1);
  i64 wout = (W + pl + pr - dw * (kw - 1) - 1) / sw + 1;
  if (wout < 1)
    wout = 1;
  T pad;
  memcpy(&pad, &cur->padding, sizeof pad);
  auto cell = [&](i64 row, i64 col) -> T * { // start of the C0 group, or null outside the image
    i64 oh = row / wout, ow = row % wout, g = col / C0, x = g % kw, y = g / kw % kh,
        c1 = g / (kw * kh), ih = oh * sh + y * dh - pt, iw = ow * sw + x * dw - pl;
    return ih < 0 || iw < 0 || ih >= H || iw >= W ? nullptr
                                                  : (T *)s + ((c1 * H + ih) * W + iw) * C0;
  };
  if (!tr) {
    i64 m1 = (step_m + 15) / 16, k1 = (step_k + C0 - 1) / C0;
    for (i64 i = 0; i < m1; i++)
      for (i64 k = 0; k < k1; k++)
        for (int r = 0; r < 16; r++) {
          T *D = (T *)d + ((i * k1 + k) * 16 + r) * C0,
            *F = cell(pos_m + i * 16 + r, pos_k + k * C0);
          wr(sp, D, 32);
          detach(D, 32);
          if (F) {
            feed(F, 32, [&](auto part) { part(F, D, 32); });
            memcpy(D, F, 32);
          } else
            for (int l = 0; l < C0; l++)
              D[l] = pad;
        }
    return;
  }
  i64 K1 = (step_k + 15) / 16,
      M1 = (step_m + C0 - 1) / C0; // rows become k, columns become m (L0A) or n (L0B)
  for (i64 k = 0; k < K1; k++)
    for (i64 m = 0; m < M1; m++) {
      T *D = (T *)d + (sp == L0A ? k * M1 + m : m * K1 + k) * 16 * C0;
      wr(sp, D, 512);
      detach(D, 512);
      for (int mc = 0; mc < C0; mc++)
        for (int kr = 0; kr < 16; kr++) {
          i64 col = pos_k + k * 16 + kr;
          T *F = k * 16 + kr < step_k ? cell(pos_m + m * C0 + mc, col / C0 * C0)
                                      : nullptr /* columns past stepK are not read */;
          T *d1 = &D[kr * C0 + mc];
          if (F)
            feed(F + col % C0, sizeof(T), [&](auto part) { part(F + col % C0, d1, sizeof(T)); });
          *d1 = F ? F[col % C0] : pad;
        }
    }
}
static float hf32(float x) { // keep 10 mantissa bits (CTRL[46], rounding CTRL[47])
  u32 u;
  memcpy(&u, &x, 4);
  if ((u & 0x7f800000) == 0x7f800000)
    return x;
  if (!bits(cur->ctrl, 47, 1))
    u += 0xfff + (u >> 13 & 1);
  u &= ~0x1fffu;
  memcpy(&x, &u, 4);
  return x;
}
template <class A, class C> static void mad(void *cc, void *a, void *b, u64 cfg, const char *name) {
  begin(M, name);
  u64 bias_at = (u64)cc < (1ull << 44) ? (u64)cc >> 32 : 0;
  if ((u64)cc < (1ull << 44))
    cc = (void *)((u64)cc & 0xffffffff);
  cc = X(L0C, cc);
  a = X(L0A, a);
  b = X(L0B, b);
  const int C0 = 32 / sizeof(A);
  i64 m = bits(cfg, 0, 12), k = bits(cfg, 12, 12), n = bits(cfg, 24, 12);
  int unit = bits(cfg, 55, 2);
  bool bias = bits(cfg, 62, 1), zero = bits(cfg, 63, 1);
  if (!m || !k || !n)
    return;
  if (unit) {
    now.join(cur->unit_fix);
    cur->K[M].join(cur->unit_fix);
    cur->unit_m = fired(M);
  }
  i64 m1 = (m + 15) / 16, n1 = (n + 15) / 16, k1 = (k + C0 - 1) / C0;
  if (std::is_same_v<A, float> && bits(cfg, 58, 1))
    k1 = (k + 15) / 16 * 2;
  bool gemv = m == 1; // one row: A is k consecutive elements
  rd(L0A, a, gemv ? k * sizeof(A) : m1 * k1 * 512);
  rd(L0B, b, n1 * k1 * 512);
  if (!zero && !bias)
    rd(L0C, cc, m1 * n1 * 256 * sizeof(C));
  wr(L0C, cc, m1 * n1 * 256 * sizeof(C));
  if (bias)
    rd(BT, cur->mem[BT].base + bias_at, n * sizeof(C));
  if (any_attached()) { // races on padding: follow them into the rows and columns of C
    C *c = (C *)cc;
    if (zero)
      detach(cc, m1 * n1 * 256 * sizeof(C));
    for (i64 i = 0; i < m; i++) {
      clear_deferred();
      for (i64 x = 0; x < k; x++)
        follow(gemv ? (A *)a + x
                    : (A *)a + ((i / 16) * k1 + x / C0) * 16 * C0 + (i % 16) * C0 + x % C0);
      if (any_deferred())
        for (i64 j = 0; j < n1; j++)
          attach(c + (j * m1 + i / 16) * 256 + (i % 16) * 16, 16 * sizeof(C));
    }
    for (i64 j = 0; j < n; j++) {
      clear_deferred();
      for (i64 x = 0; x < k; x++)
        follow((A *)b + ((x / C0) * n1 + j / 16) * 16 * C0 + (j % 16) * C0 + x % C0);
      if (any_deferred())
        for (i64 i = 0; i < m; i++)
          attach(c + ((j / 16) * m1 + i / 16) * 256 + (i % 16) * 16 + j % 16, sizeof(C));
    }
  }
  const A *pa = (A *)a, *pb = (A *)b;
  C *pc = (C *)cc, *pbias = (C *)(cur->mem[BT].base + bias_at);
  bool hf = std::is_same_v<A, float> && bits(cur->ctrl, 46, 1);
  for (i64 i = 0; i < m1 * 16; i++)
    for (i64 j = 0; j < n1 * 16; j++) {
      C &out = pc[((j / 16) * m1 + i / 16) * 256 + (i % 16) * 16 + j % 16];
      C acc = bias ? (j < n ? pbias[j] : (C)0) : zero ? (C)0 : out;
      if (gemv && i) {
        out = (C)0;
        continue;
      }
      for (i64 x0 = 0; x0 < k;
           x0 += C0) { // products of one K0 group are summed wide, then rounded once
        typename std::conditional<std::is_integral_v<C>, i64, double>::type sum = 0;
        for (i64 x = x0; x < std::min(k, x0 + C0); x++) {
          A va = gemv ? pa[x] : pa[((i / 16) * k1 + x / C0) * 16 * C0 + (i % 16) * C0 + x % C0],
            vb = pb[((x / C0) * n1 + j / 16) * 16 * C0 + (j % 16) * C0 + x % C0];
          if constexpr (std::is_integral_v<C>)
            sum += (i64)va * (i64)vb;
          else if (hf)
            sum += (double)hf32((float)va) * hf32((float)vb);
          else
            sum += (double)(float)va * (double)(float)vb;
        }
        if constexpr (std::is_integral_v<C>) {
          i64 t = acc + sum;
          acc = t > INT32_MAX ? INT32_MAX : t < INT32_MIN ? INT32_MIN : (C)t;
        } else
          acc = (C)(acc + sum);
      }
      out = acc;
    }
}
static double clip(double x, double lo, double hi) { return x < lo ? lo : x > hi ? hi : x; }
// one element of L0C through the quantisation unit; code and scale word
template <class C, class D> static D quantise(C v, int code, u64 q) {
  u32 sb = bits(q, 13, 19) << 13;
  float scale;
  memcpy(&scale, &sb, 4);
  int off = (int)(bits(q, 37, 9) << 23) >> 23;
  bool sign = bits(q, 46, 1);
  switch (code) {
  case 0:
  case 1:
  case 16:
    return (D)v;
  case 8:
  case 9:
  case 23:
  case 24: {
    double t = (double)v;
    if (bits(q, 36, 1))
      t = clip((double)((i64)v >> bits(q, 32, 4)), -32768, 32767);
    double r = clip(nearbyint((float)t * scale), -256, 255) + off;
    return (D)(sign ? (int)clip(r, -128, 127) : (int)clip(r, 0, 255));
  }
  case 10:
  case 11:
    return (D)((float)v * scale);
  case 12:
  case 13:
    return (D)(float)clip((double)((i64)v >> (bits(q, 32, 4) + 1)), -32768, 32767);
  default:
    stop_run("not-modelled", "FIX quantisation code " + std::to_string(code));
  }
}
template <class C, class D> static void fix(void *d, void *s, u64 a, u64 b, const char *name) {
  begin(FIX, name);
  s = X(L0C, s);
  i64 n = bits(a, 4, 12), m = bits(a, 16, 16), dst = bits(a, 32, 32), src = bits(b, 0, 16);
  int unit = bits(b, 32, 2), code = bits(b, 34, 5), relu = bits(b, 39, 3);
  bool split = bits(b, 42, 1), nd = bits(b, 43, 1);
  if (unit) {
    now.join(cur->unit_m);
    cur->K[FIX].join(cur->unit_m);
    cur->unit_fix = fired(FIX);
  }
  if (relu > 1)
    stop_run("not-modelled", "FIX relu mode " + std::to_string(relu));
  if (split && (nd || sizeof(D) != 4))
    stop_run("not-modelled", "FIX channel split in this form");
  bool vec = code == 8 || code == 10 || code == 12 || code == 23;
  u8 *table = cur->mem[FB].base + bits(cur->fpc, 8, 8) * 128;
  i64 count_nd = nd ? std::max<i64>(1, bits(cur->nd_para, 0, 16)) : 1,
      snd = bits(cur->nd_para, 16, 16) * 1024, dnd = bits(cur->nd_para, 32, 16);
  if (vec)
    rd(FB, table, n * 8);
  bool suspicious = any_attached();
  i64 W = nd ? n : split ? 8 : sizeof(D) == 1 ? 32 : 16; // columns that are contiguous in GM
  std::vector<D> row(W);
  for (i64 t = 0; t < count_nd; t++)
    for (i64 j0 = 0; j0 < n; j0 += W)
      for (i64 i = 0; i < m; i++) {
        i64 w = std::min(W, n - j0);
        for (i64 j = 0; j < w; j++) {
          C *x = (C *)(U(s) + t * snd) + (((j0 + j) / 16) * src + i) * 16 + (j0 + j) % 16;
          if ((j0 + j) % 16 == 0 || j == 0)
            rd(L0C, x, std::min<i64>(16 - (j0 + j) % 16, w - j) * sizeof(C));
          if (suspicious)
            use_attached(x);
          C v = *x;
          if (relu && v < 0)
            v = 0;
          u64 q = cur->quant_pre;
          if (vec)
            memcpy(&q, table + (j0 + j) * 8, 8);
          row[j] = quantise<C, D>(v, code, q);
        }
        u8 *D0 =
            nd ? U((D *)d + t * dnd + i * dst) : U(d) + (j0 / W) * dst * 32 + i * w * sizeof(D);
        store_gm(D0, U(row.data()), w * sizeof(D), GM, nullptr);
      }
}
extern "C" {
void hivm_CREATE_CBUF_MATRIX_f16_h(void *d, u64 c, half k) {
  fill_l1<half>(d, c, k, "CREATE.CBUF.f16");
}
void hivm_CREATE_CBUF_MATRIX_f32_h(void *d, u64 c, half k) {
  fill_l1<float>(d, c, (float)k, "CREATE.CBUF.f32");
}
void hivm_CREATE_CBUF_MATRIX_bf16_ori(void *d, u64 c, bf16 k) {
  fill_l1<bf16>(d, c, k, "CREATE.CBUF.bf16");
}
void hivm_CREATE_CBUF_MATRIX_v2_u16(void *d, u64 c, u64 k) {
  fill_l1<uint16_t>(d, c, (uint16_t)k, "CREATE.CBUF.u16");
}
#define NZ(sfx, T)                                                                                 \
  void hivm_MOV_OUT_TO_L1_MULTI_ND2NZ_##sfx(void *d, void *s, u64 a, u64 b) {                      \
    nd2nz<T>(d, s, a, b, "ND2NZ." #sfx);                                                           \
  }
NZ(f16, uint16_t)
NZ(bf16, uint16_t)
NZ(s16, uint16_t)
NZ(u16, uint16_t)
NZ(s8, u8)
NZ(u8, u8)
NZ(f32s, u32)
NZ(s32s, u32)
NZ(u32s, u32)
#define L2D(mem, sp, sfx, E)                                                                       \
  void hivm_LOAD_L1_TO_##mem##_2D_V220_##sfx##_addr(void *d, void *s, u64 a, u64 tr, u64 mode) {   \
    load_2d(sp, d, s, a, tr, mode, E, "LOAD." #mem ".2D." #sfx);                                   \
  }
L2D(L0A, L0A, f16, 2)
L2D(L0A, L0A, s8, 1)
L2D(L0B, L0B, f16, 2)
L2D(L0B, L0B, bf16, 2)
L2D(L0B, L0B, f32, 4)
L2D(L0B, L0B, s8, 1) void hivm_LOAD_L1_TO_L0A_2D_TRANSPOSE_s8(void *d, void *s, u64 a, u64 f) {
  load_2d_transpose_s8(L0A, d, s, a, f, "LOAD.L0A.2D.TRANSPOSE.s8");
}
void hivm_LOAD_L1_TO_L0B_2D_TRANSPOSE_s8(void *d, void *s, u64 a, u64 f) {
  load_2d_transpose_s8(L0B, d, s, a, f, "LOAD.L0B.2D.TRANSPOSE.s8");
}
#define L3D(mem, sfx, T)                                                                           \
  void hivm_LOAD_L1_TO_##mem##_3DV2_##sfx(void *d, void *s, u64 a, u64 b) {                        \
    load_3d<T>(mem, d, s, a, b, "LOAD." #mem ".3DV2." #sfx);                                       \
  }
L3D(L0A, f16, uint16_t)
L3D(L0B, f16, uint16_t)
L3D(L0A, f32, u32) L3D(L0B, f32, u32) void hivm_MAD_f162f32(void *c, void *a, void *b, u64 x) {
  mad<half, float>(c, a, b, x, "MAD.f162f32");
}
void hivm_MAD_bf162f32(void *c, void *a, void *b, u64 x) {
  mad<bf16, float>(c, a, b, x, "MAD.bf162f32");
}
void hivm_MAD_f322f32(void *c, void *a, void *b, u64 x) {
  mad<float, float>(c, a, b, x, "MAD.f322f32");
}
void hivm_MAD_s8(void *c, void *a, void *b, u64 x) { mad<int8_t, int32_t>(c, a, b, x, "MAD.s8"); }
#define FIXP(sfx, C, D)                                                                            \
  void hivm_FIX_L0C_TO_OUT_##sfx(void *d, void *s, u64 a, u64 b) {                                 \
    fix<C, D>(d, s, a, b, "FIX." #sfx);                                                            \
  }
FIXP(f32, float, float)
FIXP(f2h, float, half)
FIXP(f322bf16, float, bf16)
FIXP(s32, int32_t, int32_t)
FIXP(s322f16, int32_t, half) FIXP(s322s16, int32_t, int16_t) FIXP(s322s8, int32_t, int8_t)
}
