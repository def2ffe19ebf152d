// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The I8 tile product on AVX-512 VNNI. vpdpbusd multiplies unsigned by signed
// bytes and adds four products without saturation: A goes in as a + 128, and
// C starts lower by 128 times the column sums of B, which is exact modulo 2^32.
#include "sim/GemmPackI8.h"

namespace piton::sim::detail {
namespace {

struct I8Ops {
  using Unit = int;
  using Acc = int;
  using Reg = __m512i;
  static constexpr int kLanes = 16, kRows = 12;
  static constexpr bool kBias = true;
  static __mmask16 first(int n) { return __mmask16((1u << n) - 1); }
  static Reg zero() { return _mm512_setzero_si512(); }
  static Reg load(const int *p) { return _mm512_loadu_si512(p); }
  static Reg loadPart(const int *p, int n) { return _mm512_maskz_loadu_epi32(first(n), p); }
  static void store(int *p, Reg x) { _mm512_storeu_si512(p, x); }
  static void storePart(int *p, Reg x, int n) { _mm512_mask_storeu_epi32(p, first(n), x); }
  static Reg sub(Reg x, Reg y) { return _mm512_sub_epi32(x, y); }
  static Reg loadB(const int *p) { return _mm512_load_si512(p); }
  static Reg broadcast(const int *p) { return _mm512_set1_epi32(*p); }
  static Reg multiplyAdd(Reg a, Reg b, Reg acc) { return _mm512_dpbusd_epi32(acc, a, b); }
};

} // namespace

void gemmAvx512Vnni(const GemmRequest &request, void *scratch) {
  runBlocks<I8Ops, I8Packing<Groups4>>(request, scratch);
}

} // namespace piton::sim::detail
