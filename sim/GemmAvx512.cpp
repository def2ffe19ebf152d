// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tile product on AVX-512 F, BW, VL and DQ for all types but I8: 12 rows by
// two registers. BF16 is widened to F32 like F16: vdpbf16ps would flush
// denormals and round differently from the other machines.
#include "sim/GemmPack.h"

namespace piton::sim::detail {
namespace {

inline __mmask16 firstLanes32(int n) { return __mmask16((1u << n) - 1); }
inline __mmask8 firstLanes64(int n) { return __mmask8((1u << n) - 1); }

struct FloatOps {
  using Unit = float;
  using Acc = float;
  using Reg = __m512;
  static constexpr int kLanes = 16, kRows = 12;
  static constexpr bool kBias = false;
  static Reg zero() { return _mm512_setzero_ps(); }
  static Reg load(const float *p) { return _mm512_loadu_ps(p); }
  static Reg loadPart(const float *p, int n) { return _mm512_maskz_loadu_ps(firstLanes32(n), p); }
  static void store(float *p, Reg x) { _mm512_storeu_ps(p, x); }
  static void storePart(float *p, Reg x, int n) { _mm512_mask_storeu_ps(p, firstLanes32(n), x); }
  static Reg loadB(const float *p) { return _mm512_load_ps(p); }
  static Reg broadcast(const float *p) { return _mm512_set1_ps(*p); }
  static Reg multiplyAdd(Reg a, Reg b, Reg acc) { return _mm512_fmadd_ps(a, b, acc); }
};

struct DoubleOps {
  using Unit = double;
  using Acc = double;
  using Reg = __m512d;
  static constexpr int kLanes = 8, kRows = 12;
  static constexpr bool kBias = false;
  static Reg zero() { return _mm512_setzero_pd(); }
  static Reg load(const double *p) { return _mm512_loadu_pd(p); }
  static Reg loadPart(const double *p, int n) { return _mm512_maskz_loadu_pd(firstLanes64(n), p); }
  static void store(double *p, Reg x) { _mm512_storeu_pd(p, x); }
  static void storePart(double *p, Reg x, int n) { _mm512_mask_storeu_pd(p, firstLanes64(n), x); }
  static Reg loadB(const double *p) { return _mm512_load_pd(p); }
  static Reg broadcast(const double *p) { return _mm512_set1_pd(*p); }
  static Reg multiplyAdd(Reg a, Reg b, Reg acc) { return _mm512_fmadd_pd(a, b, acc); }
};

} // namespace

void gemmAvx512(const GemmRequest &request, void *scratch) {
  if (static_cast<ElementType>(request.type) == ElementType::F64)
    return runBlocks<DoubleOps, DoublePacking>(request, scratch);
  runFloat<FloatOps>(request, scratch);
}

} // namespace piton::sim::detail
