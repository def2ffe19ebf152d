// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// 8-bit float conversions, which neither MLIR nor x86 has. Down-conversion rounds to
// nearest even; what overflows becomes infinity (E5M2), the largest value (E4M3FN) or NaN
// (FNUZ), as torch casts do.
#include <cstdint>

namespace {

struct Format {
  int exponentBits, mantissaBits, bias;
  bool hasInfinity; ///< all-ones exponent is inf/NaN as in IEEE
  bool fnuz;        ///< one NaN, 0x80, and no negative zero
};
constexpr Format kE4M3FN{4, 3, 7, false, false};
constexpr Format kE5M2{5, 2, 15, true, false};
constexpr Format kE4M3FNUZ{4, 3, 8, false, true};
constexpr Format kE5M2FNUZ{5, 2, 16, false, true};

template <Format f> inline float widen(uint8_t x) {
  const uint32_t sign = uint32_t(x >> 7) << 31;
  const int exponent = (x >> f.mantissaBits) & ((1 << f.exponentBits) - 1);
  const uint32_t mantissa = x & ((1 << f.mantissaBits) - 1);
  const int top = (1 << f.exponentBits) - 1;
  const uint32_t nan = 0x7fc00000u;
  if (f.fnuz && x == 0x80)
    return __builtin_bit_cast(float, nan);
  if (f.hasInfinity && exponent == top)
    return __builtin_bit_cast(float, sign | (mantissa ? nan : 0x7f800000u));
  if (!f.hasInfinity && !f.fnuz && (x & 0x7f) == 0x7f)
    return __builtin_bit_cast(float, sign | nan);
  if (exponent == 0) {
    float magnitude = float(mantissa) *
                      __builtin_bit_cast(float, uint32_t(127 + 1 - f.bias - f.mantissaBits) << 23);
    return sign ? -magnitude : magnitude;
  }
  return __builtin_bit_cast(float, sign | uint32_t(exponent - f.bias + 127) << 23 |
                                       mantissa << (23 - f.mantissaBits));
}

template <Format f> inline uint8_t narrow(float value) {
  const uint32_t bits = __builtin_bit_cast(uint32_t, value);
  const uint8_t sign = uint8_t((bits >> 31) << 7);
  const uint32_t magnitude = bits & 0x7fffffffu;
  const int top = (1 << f.exponentBits) - 1;
  const uint8_t nan = f.fnuz ? 0x80
                      : f.hasInfinity
                          ? uint8_t(sign | (top << f.mantissaBits) | (1 << (f.mantissaBits - 1)))
                          : uint8_t(sign | 0x7f);
  const uint8_t overflow = f.hasInfinity ? uint8_t(sign | (top << f.mantissaBits))
                           : f.fnuz      ? nan
                                         : uint8_t(sign | 0x7e);
  if (magnitude > 0x7f800000u)
    return nan;
  if (magnitude == 0x7f800000u)
    return overflow;
  int exponent = int(magnitude >> 23) - 127;
  uint32_t full = (magnitude & 0x7fffffu) | 0x800000u;
  if ((magnitude >> 23) == 0)
    return f.fnuz ? 0 : sign; // far below the smallest 8-bit value
  int shift = 23 - f.mantissaBits, out = exponent + f.bias;
  if (out <= 0) {
    shift += 1 - out;
    out = 0;
  }
  if (shift > 25)
    return f.fnuz ? 0 : sign;
  uint32_t kept = full >> shift, rest = full & ((1u << shift) - 1), half = 1u << (shift - 1);
  kept += rest > half || (rest == half && (kept & 1));
  uint32_t result = out == 0 ? kept : (uint32_t(out - 1) << f.mantissaBits) + kept;
  // The largest finite code of each format.
  const uint32_t limit = f.hasInfinity ? uint32_t(top << f.mantissaBits) - 1 : f.fnuz ? 0x7f : 0x7e;
  if (result > limit)
    return overflow;
  if (f.fnuz && result == 0)
    return 0;
  return uint8_t(sign | result);
}

} // namespace

#define PITON_DEVICE extern "C" __attribute__((visibility("default"), const, nothrow))

#define PITON_FLOAT8(NAME, FORMAT)                                                                 \
  PITON_DEVICE float piton_widen_##NAME(uint8_t x) { return widen<FORMAT>(x); }                    \
  PITON_DEVICE uint8_t piton_narrow_##NAME(float x) { return narrow<FORMAT>(x); }

PITON_FLOAT8(f8E4M3FN, kE4M3FN)
PITON_FLOAT8(f8E5M2, kE5M2)
PITON_FLOAT8(f8E4M3FNUZ, kE4M3FNUZ)
PITON_FLOAT8(f8E5M2FNUZ, kE5M2FNUZ)
