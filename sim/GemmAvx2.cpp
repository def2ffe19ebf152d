// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tile product on AVX2, FMA and F16C: 6 rows by two registers, twelve
// accumulators of the sixteen registers.
#include "sim/GemmPackI8.h"

namespace piton::sim::detail {
namespace {

inline __m256i firstLanes32(int n) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
inline __m256i firstLanes64(int n) {
  return _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_setr_epi64x(0, 1, 2, 3));
}

struct FloatOps {
  using Unit = float;
  using Acc = float;
  using Reg = __m256;
  static constexpr int kLanes = 8, kRows = 6;
  static constexpr bool kBias = false;
  static Reg zero() { return _mm256_setzero_ps(); }
  static Reg load(const float *p) { return _mm256_loadu_ps(p); }
  static Reg loadPart(const float *p, int n) { return _mm256_maskload_ps(p, firstLanes32(n)); }
  static void store(float *p, Reg x) { _mm256_storeu_ps(p, x); }
  static void storePart(float *p, Reg x, int n) { _mm256_maskstore_ps(p, firstLanes32(n), x); }
  static Reg loadB(const float *p) { return _mm256_load_ps(p); }
  static Reg broadcast(const float *p) { return _mm256_broadcast_ss(p); }
  static Reg multiplyAdd(Reg a, Reg b, Reg acc) { return _mm256_fmadd_ps(a, b, acc); }
};

struct DoubleOps {
  using Unit = double;
  using Acc = double;
  using Reg = __m256d;
  static constexpr int kLanes = 4, kRows = 6;
  static constexpr bool kBias = false;
  static Reg zero() { return _mm256_setzero_pd(); }
  static Reg load(const double *p) { return _mm256_loadu_pd(p); }
  static Reg loadPart(const double *p, int n) { return _mm256_maskload_pd(p, firstLanes64(n)); }
  static void store(double *p, Reg x) { _mm256_storeu_pd(p, x); }
  static void storePart(double *p, Reg x, int n) { _mm256_maskstore_pd(p, firstLanes64(n), x); }
  static Reg loadB(const double *p) { return _mm256_load_pd(p); }
  static Reg broadcast(const double *p) { return _mm256_broadcast_sd(p); }
  static Reg multiplyAdd(Reg a, Reg b, Reg acc) { return _mm256_fmadd_pd(a, b, acc); }
};

/// vpmaddwd on widened elements: vpmaddubsw takes twice as many bytes, but saturates.
struct I8Ops {
  using Unit = int;
  using Acc = int;
  using Reg = __m256i;
  static constexpr int kLanes = 8, kRows = 6;
  static constexpr bool kBias = false;
  static Reg zero() { return _mm256_setzero_si256(); }
  static Reg load(const int *p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i *>(p)); }
  static Reg loadPart(const int *p, int n) { return _mm256_maskload_epi32(p, firstLanes32(n)); }
  static void store(int *p, Reg x) { _mm256_storeu_si256(reinterpret_cast<__m256i *>(p), x); }
  static void storePart(int *p, Reg x, int n) { _mm256_maskstore_epi32(p, firstLanes32(n), x); }
  static Reg loadB(const int *p) { return _mm256_load_si256(reinterpret_cast<const __m256i *>(p)); }
  static Reg broadcast(const int *p) { return _mm256_set1_epi32(*p); }
  static Reg multiplyAdd(Reg a, Reg b, Reg acc) {
    return _mm256_add_epi32(acc, _mm256_madd_epi16(a, b));
  }
};

} // namespace

void gemmAvx2(const GemmRequest &request, void *scratch) {
  switch (static_cast<ElementType>(request.type)) {
  case ElementType::F64:
    return runBlocks<DoubleOps, DoublePacking>(request, scratch);
  case ElementType::I8:
    return runBlocks<I8Ops, I8Packing<Groups2>>(request, scratch);
  default:
    return runFloat<FloatOps>(request, scratch);
  }
}

} // namespace piton::sim::detail
