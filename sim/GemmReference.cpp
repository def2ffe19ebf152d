// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See GemmReference.h. Kept free of every trick: one function decodes one
// element of any type, one loop nest multiplies.
#include "sim/GemmReference.h"

#include <array>
#include <bit>
#include <cstring>
#include <limits>

namespace piton::sim {
namespace {

/// How an F8 type departs from "sign, exponent, mantissa, subnormals at exponent 0".
struct F8Format {
  int mantissaBits;
  int bias;
  bool infinities;   ///< IEEE: the top exponent is infinity and NaN
  bool unsignedZero; ///< FNUZ: no negative zero, its code is the only NaN
};

constexpr float powerOfTwo(int exponent) {
  float value = 1;
  for (; exponent > 0; --exponent)
    value *= 2;
  for (; exponent < 0; ++exponent)
    value /= 2;
  return value;
}

constexpr float decodeF8(unsigned code, F8Format format) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  unsigned magnitude = code & 0x7f;
  int exponent = int(magnitude >> format.mantissaBits);
  int mantissa = int(magnitude & ((1u << format.mantissaBits) - 1));
  int topExponent = (1 << (7 - format.mantissaBits)) - 1;
  float sign = code & 0x80 ? -1.0f : 1.0f;
  if (format.unsignedZero && code == 0x80)
    return nan;
  if (format.infinities && exponent == topExponent)
    return mantissa ? nan : sign * std::numeric_limits<float>::infinity();
  if (!format.infinities && !format.unsignedZero && magnitude == 0x7f)
    return nan;
  float one = float(1 << format.mantissaBits);
  if (exponent == 0)
    return sign * (float(mantissa) / one) * powerOfTwo(1 - format.bias);
  return sign * (1 + float(mantissa) / one) * powerOfTwo(exponent - format.bias);
}

using F8Table = std::array<float, 256>;

constexpr F8Table makeF8Table(F8Format format) {
  F8Table table{};
  for (unsigned code = 0; code < 256; ++code)
    table[code] = decodeF8(code, format);
  return table;
}

constexpr F8Table kE4M3FN = makeF8Table({3, 7, false, false});
constexpr F8Table kE5M2 = makeF8Table({2, 15, true, false});
constexpr F8Table kE4M3FNUZ = makeF8Table({3, 8, false, true});
constexpr F8Table kE5M2FNUZ = makeF8Table({2, 16, false, true});

template <typename T> T loadAt(const void *base, int64_t index) {
  T value;
  std::memcpy(&value, static_cast<const char *>(base) + index * int64_t(sizeof(T)), sizeof(T));
  return value;
}

float decodeF16(uint16_t bits) {
  int exponent = (bits >> 10) & 0x1f;
  int mantissa = bits & 0x3ff;
  float sign = bits & 0x8000 ? -1.0f : 1.0f;
  if (exponent == 0x1f)
    return mantissa ? std::numeric_limits<float>::quiet_NaN()
                    : sign * std::numeric_limits<float>::infinity();
  if (exponent == 0)
    return sign * float(mantissa) * powerOfTwo(-24);
  return sign * float(0x400 | mantissa) * powerOfTwo(exponent - 25);
}

struct LoadF32 {
  static float at(const void *base, int64_t index) { return loadAt<float>(base, index); }
};
struct LoadF64 {
  static double at(const void *base, int64_t index) { return loadAt<double>(base, index); }
};
struct LoadF16 {
  static float at(const void *base, int64_t index) {
    return decodeF16(loadAt<uint16_t>(base, index));
  }
};
struct LoadBF16 {
  static float at(const void *base, int64_t index) {
    return std::bit_cast<float>(uint32_t(loadAt<uint16_t>(base, index)) << 16);
  }
};
/// Unsigned, so that an overflowing sum wraps instead of being undefined.
struct LoadI8 {
  static uint32_t at(const void *base, int64_t index) {
    return uint32_t(int32_t(loadAt<int8_t>(base, index)));
  }
};
template <const F8Table &table> struct LoadF8 {
  static float at(const void *base, int64_t index) { return table[loadAt<uint8_t>(base, index)]; }
};

template <typename Load> void multiply(const GemmRequest &request) {
  using Acc = decltype(Load::at(nullptr, 0));
  Acc *c = static_cast<Acc *>(request.c);
  for (int64_t i = 0; i < request.m; ++i)
    for (int64_t j = 0; j < request.n; ++j) {
      Acc &out = c[i * request.cRow + j];
      Acc sum = request.flags & kGemmZeroInit ? Acc(0) : out;
      for (int64_t p = 0; p < request.k; ++p)
        sum += Load::at(request.a, i * request.aRow + p * request.aCol) *
               Load::at(request.b, p * request.bRow + j * request.bCol);
      out = sum;
    }
}

} // namespace

const float *gemmF8Values(ElementType type) {
  switch (type) {
  case ElementType::F8E4M3FN:
    return kE4M3FN.data();
  case ElementType::F8E5M2:
    return kE5M2.data();
  case ElementType::F8E4M3FNUZ:
    return kE4M3FNUZ.data();
  case ElementType::F8E5M2FNUZ:
    return kE5M2FNUZ.data();
  default:
    return nullptr;
  }
}

bool gemmReference(const GemmRequest &request) {
  switch (static_cast<ElementType>(request.type)) {
  case ElementType::F32:
    return multiply<LoadF32>(request), true;
  case ElementType::F64:
    return multiply<LoadF64>(request), true;
  case ElementType::F16:
    return multiply<LoadF16>(request), true;
  case ElementType::BF16:
    return multiply<LoadBF16>(request), true;
  case ElementType::I8:
    return multiply<LoadI8>(request), true;
  case ElementType::F8E4M3FN:
    return multiply<LoadF8<kE4M3FN>>(request), true;
  case ElementType::F8E5M2:
    return multiply<LoadF8<kE5M2>>(request), true;
  case ElementType::F8E4M3FNUZ:
    return multiply<LoadF8<kE4M3FNUZ>>(request), true;
  case ElementType::F8E5M2FNUZ:
    return multiply<LoadF8<kE5M2FNUZ>>(request), true;
  default:
    return false;
  }
}

} // namespace piton::sim
