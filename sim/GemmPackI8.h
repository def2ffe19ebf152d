// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private to the tile product: packing of I8 tiles for instructions that
// multiply groups of successive k. `Format` says how a group looks:
//   Groups4: four bytes, A offset by 128 to unsigned as VNNI wants it; the
//            product is then too large by 128 * (column sum of B), the bias.
//   Groups2: two elements of 16 bits, for AVX2's signed multiply-add.
#ifndef PITON_SIM_GEMMPACKI8_H
#define PITON_SIM_GEMMPACKI8_H

#include "sim/GemmPack.h"

namespace piton::sim::detail {
namespace {

/// Transposes 16 registers of 16 bytes.
inline void transpose16Bytes(__m128i (&r)[16]) {
  // Four rounds of interleaving register i with register i + 8: a perfect shuffle of all 256
  // bytes each, four of which exchange the row and the column number.
  for (int round = 0; round < 4; ++round) {
    __m128i t[16];
    for (int i = 0; i < 8; ++i) {
      t[2 * i] = _mm_unpacklo_epi8(r[i], r[i + 8]);
      t[2 * i + 1] = _mm_unpackhi_epi8(r[i], r[i + 8]);
    }
    for (int i = 0; i < 16; ++i)
      r[i] = t[i];
  }
}

struct Groups4 {
  using Source = SourceBytes4;
  static constexpr int64_t kPerUnit = 4, kStoredBytes = 1;
  static constexpr bool kBias = true;

  /// 16 elements of a row of A.
  static void storeA(char *dst, __m128i elements) {
    _mm_store_si128(reinterpret_cast<__m128i *>(dst),
                    _mm_xor_si128(elements, _mm_set1_epi8(char(0x80))));
  }
  static void storeOneA(char *dst, signed char element) { *dst = char(element ^ 0x80); }
  static void storeOneB(char *dst, signed char element) { *dst = element; }

  /// 16 columns of one group of rows.
  static void storeB(char *dst, const __m128i (&rows)[4]) {
    __m128i low01 = _mm_unpacklo_epi8(rows[0], rows[1]);
    __m128i high01 = _mm_unpackhi_epi8(rows[0], rows[1]);
    __m128i low23 = _mm_unpacklo_epi8(rows[2], rows[3]);
    __m128i high23 = _mm_unpackhi_epi8(rows[2], rows[3]);
    __m128i *out = reinterpret_cast<__m128i *>(dst);
    _mm_store_si128(out, _mm_unpacklo_epi16(low01, low23));
    _mm_store_si128(out + 1, _mm_unpackhi_epi16(low01, low23));
    _mm_store_si128(out + 2, _mm_unpacklo_epi16(high01, high23));
    _mm_store_si128(out + 3, _mm_unpackhi_epi16(high01, high23));
  }

  static void makeBias(int *bias, const char *panel, int64_t width, int64_t units) {
    const __m256i ones8 = _mm256_set1_epi8(1);
    const __m256i ones16 = _mm256_set1_epi16(1);
    for (int64_t c = 0; c < width; c += 8) {
      __m256i sum = _mm256_setzero_si256();
      for (int64_t u = 0; u < units; ++u) {
        const void *from = panel + (u * width + c) * 4;
        __m256i group = _mm256_load_si256(static_cast<const __m256i *>(from));
        __m256i pairs = _mm256_maddubs_epi16(ones8, group);
        sum = _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, ones16));
      }
      _mm256_store_si256(reinterpret_cast<__m256i *>(bias + c), _mm256_slli_epi32(sum, 7));
    }
  }
};

struct Groups2 {
  using Source = SourceBytes2;
  static constexpr int64_t kPerUnit = 2, kStoredBytes = 2;
  static constexpr bool kBias = false;

  static void storeA(char *dst, __m128i elements) {
    _mm256_store_si256(reinterpret_cast<__m256i *>(dst), _mm256_cvtepi8_epi16(elements));
  }
  static void storeOneA(char *dst, signed char element) {
    short wide = short(element);
    __builtin_memcpy(dst, &wide, 2);
  }
  static void storeOneB(char *dst, signed char element) { storeOneA(dst, element); }

  static void storeB(char *dst, const __m128i (&rows)[2]) {
    storeA(dst, _mm_unpacklo_epi8(rows[0], rows[1]));
    storeA(dst + 32, _mm_unpackhi_epi8(rows[0], rows[1]));
  }

  static void makeBias(int *, const char *, int64_t, int64_t) {}
};

template <typename Format>
void packRowsA(char *dst, const char *src, int64_t row, int64_t rows, int64_t depth) {
  for (int64_t r = 0; r < rows; ++r, dst += kPackedRowBytes, src += row) {
    int64_t p = 0;
    for (; p + 16 <= depth; p += 16)
      Format::storeA(dst + p * Format::kStoredBytes, load16Bytes(src + p));
    if (p < depth)
      Format::storeA(dst + p * Format::kStoredBytes, load16BytesPart(src + p, depth - p));
  }
}

template <typename Format>
void packTransposedA(char *dst, const char *src, int64_t col, int64_t rows, int64_t depth) {
  for (int64_t p = 0; p < depth; p += 16)
    for (int64_t r = 0; r < rows; r += 16) {
      const int64_t count = smaller(16, rows - r);
      __m128i lines[16];
      for (int q = 0; q < 16; ++q) {
        const char *from = src + (p + q) * col + r;
        lines[q] = q >= depth - p ? _mm_setzero_si128()
                   : count == 16  ? load16Bytes(from)
                                  : load16BytesPart(from, count);
      }
      transpose16Bytes(lines);
      for (int64_t q = 0; q < count; ++q)
        Format::storeA(dst + (r + q) * kPackedRowBytes + p * Format::kStoredBytes, lines[q]);
    }
}

template <typename Format>
void packStridedA(char *dst, const char *src, int64_t row, int64_t col, int64_t rows,
                  int64_t depth) {
  const int64_t padded = (depth + Format::kPerUnit - 1) / Format::kPerUnit * Format::kPerUnit;
  for (int64_t r = 0; r < rows; ++r, dst += kPackedRowBytes, src += row) {
    for (int64_t p = 0; p < depth; ++p)
      Format::storeOneA(dst + p * Format::kStoredBytes, src[p * col]);
    for (int64_t p = depth; p < padded; ++p)
      Format::storeOneA(dst + p * Format::kStoredBytes, 0);
  }
}

template <typename Format>
void packRowsB(char *dst, int64_t width, const char *src, int64_t row, int64_t depth,
               int64_t cols) {
  for (int64_t p = 0; p < depth; p += Format::kPerUnit)
    for (int64_t c = 0; c < width; c += 16, dst += 64) {
      const int64_t count = smaller(16, cols - c);
      __m128i lines[Format::kPerUnit];
      for (int q = 0; q < Format::kPerUnit; ++q) {
        const char *from = src + (p + q) * row + c;
        lines[q] = q >= depth - p || count <= 0 ? _mm_setzero_si128()
                   : count == 16                ? load16Bytes(from)
                                                : load16BytesPart(from, count);
      }
      Format::storeB(dst, lines);
    }
}

template <typename Format>
void packStridedB(char *dst, int64_t width, const char *src, int64_t row, int64_t col,
                  int64_t depth, int64_t cols) {
  for (int64_t p = 0; p < depth; p += Format::kPerUnit)
    for (int64_t c = 0; c < width; ++c)
      for (int64_t q = 0; q < Format::kPerUnit; ++q, dst += Format::kStoredBytes) {
        bool inside = p + q < depth && c < cols;
        Format::storeOneB(dst, inside ? src[(p + q) * row + c * col] : 0);
      }
}

/// Packing of I8. A panel of less than 16 columns, one register of AVX2, goes element by element.
template <typename Format> struct I8Packing {
  static constexpr int64_t kElementBytes = 1, kPerUnit = Format::kPerUnit;

  static void packA(int *dst, const char *src, int64_t row, int64_t col, int64_t rows,
                    int64_t depth) {
    char *out = reinterpret_cast<char *>(dst);
    if (col == 1)
      return packRowsA<Format>(out, src, row, rows, depth);
    if (row == 1)
      return packTransposedA<Format>(out, src, col, rows, depth);
    packStridedA<Format>(out, src, row, col, rows, depth);
  }

  static void packB(int *dst, int64_t width, const char *src, int64_t row, int64_t col,
                    int64_t depth, int64_t cols, int *bias) {
    char *out = reinterpret_cast<char *>(dst);
    if (col == 1 && width % 16 == 0)
      packRowsB<Format>(out, width, src, row, depth, cols);
    else if (row == 1)
      packTransposed<typename Format::Source>(reinterpret_cast<float *>(dst), width, src, col,
                                              depth, cols, width);
    else
      packStridedB<Format>(out, width, src, row, col, depth, cols);
    if constexpr (Format::kBias)
      Format::makeBias(bias, out, width, (depth + kPerUnit - 1) / kPerUnit);
  }
};

} // namespace
} // namespace piton::sim::detail

#endif // PITON_SIM_GEMMPACKI8_H
