// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private to the tile product: packing of operand tiles, which also converts
// them. Uses 256-bit instructions on every machine; wider ones bring nothing
// here, because the stores are the limit. Read GemmBlock.h on what such a file
// may include.
#ifndef PITON_SIM_GEMMPACK_H
#define PITON_SIM_GEMMPACK_H

#include "sim/GemmBlock.h"
#include "sim/GemmReference.h"

#include <immintrin.h>

namespace piton::sim::detail {
namespace {

inline __m128i load16Bytes(const void *p) {
  return _mm_loadu_si128(static_cast<const __m128i *>(p));
}

/// The first `bytes` of 16 or 32, zeros behind them; reads nothing beyond.
inline __m128i load16BytesPart(const void *p, int64_t bytes) {
  alignas(16) char buffer[16] = {};
  __builtin_memcpy(buffer, p, size_t(bytes));
  return _mm_load_si128(reinterpret_cast<const __m128i *>(buffer));
}
inline __m256i load32BytesPart(const void *p, int64_t bytes) {
  alignas(32) char buffer[32] = {};
  __builtin_memcpy(buffer, p, size_t(bytes));
  return _mm256_load_si256(reinterpret_cast<const __m256i *>(buffer));
}

// Sources: how eight lanes of 32 bits are made from an element type. `kPerUnit` elements make one
// lane; part() counts elements and gives zero for the missing ones.

struct SourceF32 {
  static constexpr int64_t kBytes = 4, kPerUnit = 1;
  static __m256 load(const char *p) { return _mm256_loadu_ps(reinterpret_cast<const float *>(p)); }
  static __m256 part(const char *p, int64_t n) {
    return _mm256_castsi256_ps(load32BytesPart(p, 4 * n));
  }
  static float one(const char *p) {
    float value;
    __builtin_memcpy(&value, p, 4);
    return value;
  }
};

/// Sources whose eight elements fit 16 bytes: `convert` widens them.
template <typename Derived, int64_t bytes> struct SourceNarrow {
  static constexpr int64_t kBytes = bytes, kPerUnit = 1;
  static __m256 load(const char *p) {
    if constexpr (bytes == 2)
      return Derived::convert(load16Bytes(p));
    else
      return Derived::convert(_mm_loadl_epi64(reinterpret_cast<const __m128i *>(p)));
  }
  static __m256 part(const char *p, int64_t n) {
    return Derived::convert(load16BytesPart(p, n * bytes));
  }
  static float one(const char *p) { return _mm256_cvtss_f32(part(p, 1)); }
};

struct SourceF16 : SourceNarrow<SourceF16, 2> {
  static __m256 convert(__m128i bits) { return _mm256_cvtph_ps(bits); }
};

struct SourceBF16 : SourceNarrow<SourceBF16, 2> {
  static __m256 convert(__m128i bits) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16));
  }
};

/// E5M2 is the upper half of F16.
struct SourceF8E5M2 : SourceNarrow<SourceF8E5M2, 1> {
  static __m256 convert(__m128i codes) {
    return _mm256_cvtph_ps(_mm_unpacklo_epi8(_mm_setzero_si128(), codes));
  }
};

/// E4M3FN is F16 without its top exponent bit, so 256 times too small; subnormals fit too. Only
/// the code 0x7f, NaN, reads as a number there.
struct SourceF8E4M3FN : SourceNarrow<SourceF8E4M3FN, 1> {
  static __m256 convert(__m128i codes) {
    __m128i wide = _mm_cvtepu8_epi16(codes);
    __m128i magnitude = _mm_and_si128(wide, _mm_set1_epi16(0x7f));
    __m128i sign = _mm_slli_epi16(_mm_andnot_si128(_mm_set1_epi16(0x7f), wide), 8);
    __m128i isNan = _mm_cmpeq_epi16(magnitude, _mm_set1_epi16(0x7f));
    __m128i half = _mm_or_si128(_mm_slli_epi16(magnitude, 7), sign);
    half = _mm_or_si128(half, _mm_and_si128(isNan, _mm_set1_epi16(0x7e00)));
    return _mm256_mul_ps(_mm256_cvtph_ps(half), _mm256_set1_ps(256));
  }
};

/// The FNUZ types, which no instruction knows, by table.
template <ElementType type> struct SourceF8Table {
  static constexpr int64_t kBytes = 1, kPerUnit = 1;
  static __m256 load(const char *p) { return part(p, 8); }
  static __m256 part(const char *p, int64_t n) {
    const float *values = gemmF8Values(type);
    alignas(32) float lanes[8] = {};
    for (int64_t i = 0; i < n; ++i)
      lanes[i] = values[static_cast<unsigned char>(p[i])];
    return _mm256_load_ps(lanes);
  }
  static float one(const char *p) { return _mm256_cvtss_f32(part(p, 1)); }
};

/// I8 as lanes of four successive bytes.
struct SourceBytes4 {
  static constexpr int64_t kBytes = 1, kPerUnit = 4;
  static __m256 load(const char *p) { return _mm256_loadu_ps(reinterpret_cast<const float *>(p)); }
  static __m256 part(const char *p, int64_t n) {
    return _mm256_castsi256_ps(load32BytesPart(p, n));
  }
};

/// I8 as lanes of two successive elements of 16 bits.
struct SourceBytes2 {
  static constexpr int64_t kBytes = 1, kPerUnit = 2;
  static __m256 load(const char *p) {
    return _mm256_castsi256_ps(_mm256_cvtepi8_epi16(load16Bytes(p)));
  }
  static __m256 part(const char *p, int64_t n) {
    return _mm256_castsi256_ps(_mm256_cvtepi8_epi16(load16BytesPart(p, n)));
  }
};

inline void transpose8(__m256 (&r)[8]) {
  __m256 pairs[8], quads[8];
  for (int i = 0; i < 8; i += 2) {
    pairs[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
    pairs[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
  }
  for (int i = 0; i < 8; i += 4) {
    quads[i] = _mm256_shuffle_ps(pairs[i], pairs[i + 2], 0x44);
    quads[i + 1] = _mm256_shuffle_ps(pairs[i], pairs[i + 2], 0xee);
    quads[i + 2] = _mm256_shuffle_ps(pairs[i + 1], pairs[i + 3], 0x44);
    quads[i + 3] = _mm256_shuffle_ps(pairs[i + 1], pairs[i + 3], 0xee);
  }
  for (int i = 0; i < 4; ++i) {
    r[i] = _mm256_permute2f128_ps(quads[i], quads[i + 4], 0x20);
    r[i + 4] = _mm256_permute2f128_ps(quads[i], quads[i + 4], 0x31);
  }
}

/// dst[r][c] = src(r, c) for a source whose columns lie side by side, padded with zeros up to
/// `padded` columns, a multiple of 8. A row may be written up to its next multiple of 8 anyway.
template <typename Source>
void packRows(float *dst, int64_t dstRow, const char *src, int64_t rowBytes, int64_t rows,
              int64_t cols, int64_t padded) {
  const int64_t whole = cols & ~int64_t(7);
  for (int64_t r = 0; r < rows; ++r, dst += dstRow, src += rowBytes) {
    int64_t c = 0;
    for (; c < whole; c += 8)
      _mm256_store_ps(dst + c, Source::load(src + c * Source::kBytes));
    if (c < cols) {
      _mm256_store_ps(dst + c, Source::part(src + c * Source::kBytes, cols - c));
      c += 8;
    }
    for (; c < padded; c += 8)
      _mm256_store_ps(dst + c, _mm256_setzero_ps());
  }
}

/// The same for a source whose rows lie side by side: `elements` along them make the rows, which
/// are units of Source::kPerUnit.
template <typename Source>
void packTransposed(float *dst, int64_t dstRow, const char *src, int64_t colBytes, int64_t elements,
                    int64_t cols, int64_t padded) {
  constexpr int64_t step = 8 * Source::kPerUnit;
  for (int64_t e = 0; e < elements; e += step, dst += 8 * dstRow, src += step * Source::kBytes) {
    const int64_t here = smaller(step, elements - e);
    const int64_t rows = (here + Source::kPerUnit - 1) / Source::kPerUnit;
    int64_t c = 0;
    for (; c < cols; c += 8) {
      __m256 lines[8];
      const char *from = src + c * colBytes;
      if (here == step && cols - c >= 8) {
        for (int q = 0; q < 8; ++q)
          lines[q] = Source::load(from + q * colBytes);
      } else {
        for (int q = 0; q < 8; ++q)
          lines[q] = q < cols - c ? Source::part(from + q * colBytes, here) : _mm256_setzero_ps();
      }
      transpose8(lines);
      if (rows == 8) {
        for (int q = 0; q < 8; ++q)
          _mm256_store_ps(dst + q * dstRow + c, lines[q]);
      } else {
        for (int64_t q = 0; q < rows; ++q)
          _mm256_store_ps(dst + q * dstRow + c, lines[q]);
      }
    }
    for (; c < padded; c += 8)
      for (int64_t q = 0; q < rows; ++q)
        _mm256_store_ps(dst + q * dstRow + c, _mm256_setzero_ps());
  }
}

/// The same for any strides.
template <typename Source>
void packStrided(float *dst, int64_t dstRow, const char *src, int64_t rowBytes, int64_t colBytes,
                 int64_t rows, int64_t cols, int64_t padded) {
  for (int64_t r = 0; r < rows; ++r, dst += dstRow, src += rowBytes) {
    for (int64_t c = 0; c < cols; ++c)
      dst[c] = Source::one(src + c * colBytes);
    for (int64_t c = cols; c < padded; ++c)
      dst[c] = 0;
  }
}

/// Picks among the three by the strides, which are in elements.
template <typename Source>
void packFloat(float *dst, int64_t dstRow, const char *src, int64_t row, int64_t col, int64_t rows,
               int64_t cols, int64_t padded) {
  if (col == 1)
    return packRows<Source>(dst, dstRow, src, row * Source::kBytes, rows, cols, padded);
  if (row == 1)
    return packTransposed<Source>(dst, dstRow, src, col * Source::kBytes, rows, cols, padded);
  packStrided<Source>(dst, dstRow, src, row * Source::kBytes, col * Source::kBytes, rows, cols,
                      padded);
}

/// Packing of everything that is computed in F32.
template <typename Source> struct FloatPacking {
  static constexpr int64_t kElementBytes = Source::kBytes, kPerUnit = 1;

  static void packA(float *dst, const char *src, int64_t row, int64_t col, int64_t rows,
                    int64_t depth) {
    packFloat<Source>(dst, kPackedRowBytes / 4, src, row, col, rows, depth, 0);
  }
  static void packB(float *dst, int64_t width, const char *src, int64_t row, int64_t col,
                    int64_t depth, int64_t cols, float *) {
    packFloat<Source>(dst, width, src, row, col, depth, cols, width);
  }
};

/// And of F64. Such tiles are rare: eight columns at a time keep a transposed source in
/// cache, which is all the care it gets.
struct DoublePacking {
  static constexpr int64_t kElementBytes = 8, kPerUnit = 1;

  static void pack(double *dst, int64_t dstRow, const char *src, int64_t row, int64_t col,
                   int64_t rows, int64_t cols, int64_t padded) {
    if (col == 1) {
      for (int64_t r = 0; r < rows; ++r) {
        __builtin_memcpy(dst + r * dstRow, src + r * row * 8, size_t(cols) * 8);
        for (int64_t c = cols; c < padded; ++c)
          dst[r * dstRow + c] = 0;
      }
      return;
    }
    for (int64_t first = 0; first < cols; first += 8)
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t c = first; c < smaller(first + 8, cols); ++c)
          __builtin_memcpy(dst + r * dstRow + c, src + (r * row + c * col) * 8, 8);
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = cols; c < padded; ++c)
        dst[r * dstRow + c] = 0;
  }
  static void packA(double *dst, const char *src, int64_t row, int64_t col, int64_t rows,
                    int64_t depth) {
    pack(dst, kPackedRowBytes / 8, src, row, col, rows, depth, 0);
  }
  static void packB(double *dst, int64_t width, const char *src, int64_t row, int64_t col,
                    int64_t depth, int64_t cols, double *) {
    pack(dst, width, src, row, col, depth, cols, width);
  }
};

/// Runs a request of any type but I8 and F64 on the given arithmetic.
template <typename Ops> void runFloat(const GemmRequest &request, void *scratch) {
  switch (static_cast<ElementType>(request.type)) {
  case ElementType::F32:
    return runBlocks<Ops, FloatPacking<SourceF32>>(request, scratch);
  case ElementType::F16:
    return runBlocks<Ops, FloatPacking<SourceF16>>(request, scratch);
  case ElementType::BF16:
    return runBlocks<Ops, FloatPacking<SourceBF16>>(request, scratch);
  case ElementType::F8E4M3FN:
    return runBlocks<Ops, FloatPacking<SourceF8E4M3FN>>(request, scratch);
  case ElementType::F8E5M2:
    return runBlocks<Ops, FloatPacking<SourceF8E5M2>>(request, scratch);
  case ElementType::F8E4M3FNUZ:
    return runBlocks<Ops, FloatPacking<SourceF8Table<ElementType::F8E4M3FNUZ>>>(request, scratch);
  case ElementType::F8E5M2FNUZ:
    return runBlocks<Ops, FloatPacking<SourceF8Table<ElementType::F8E5M2FNUZ>>>(request, scratch);
  default:
    return;
  }
}

} // namespace
} // namespace piton::sim::detail

#endif // PITON_SIM_GEMMPACK_H
