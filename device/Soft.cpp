// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Helpers that LLVM's code generator calls by name: 128-bit division and the float
// conversions that the CPU lacks. Debian 12's libgcc misses some of them, and an
// image may depend on libm and libmvec only. Bit arithmetic throughout, so that no
// function here can end in a call of itself.
#include <cstdint>

using u128 = unsigned __int128;
using i128 = __int128;

namespace {

int leadingZeros(u128 x) {
  uint64_t high = uint64_t(x >> 64);
  return high ? __builtin_clzll(high) : 64 + __builtin_clzll(uint64_t(x));
}

/// Quotient and remainder; a zero divisor traps as the CPU's own division does.
u128 divide(u128 a, u128 b, u128 &rest) {
  if (b == 0)
    __builtin_trap();
  if (uint64_t(a >> 64) == 0 && uint64_t(b >> 64) == 0) {
    rest = uint64_t(a) % uint64_t(b);
    return uint64_t(a) / uint64_t(b);
  }
  if (a < b) {
    rest = a;
    return 0;
  }
  int shift = leadingZeros(b) - leadingZeros(a);
  u128 quotient = 0;
  for (u128 d = b << shift; shift >= 0; --shift, d >>= 1) {
    quotient <<= 1;
    if (a >= d) {
      a -= d;
      quotient |= 1;
    }
  }
  rest = a;
  return quotient;
}

/// Rounds a float of kMant stored mantissa bits to one of kOut, to nearest even.
template <typename In, int kMant, int kExp, int kOutMant, int kOutExp> uint16_t narrow(In bits) {
  const int inBias = (1 << (kExp - 1)) - 1, outBias = (1 << (kOutExp - 1)) - 1;
  const In one = 1;
  uint16_t sign = uint16_t((bits >> (kMant + kExp)) << 15);
  int exponent = int((bits >> kMant) & ((one << kExp) - 1));
  In mantissa = bits & ((one << kMant) - 1);
  const uint16_t infinity = uint16_t(((1 << kOutExp) - 1) << kOutMant);
  if (exponent == (1 << kExp) - 1) {
    if (mantissa == 0)
      return sign | infinity;
    return sign | infinity | uint16_t(1 << (kOutMant - 1)) |
           uint16_t(mantissa >> (kMant - kOutMant));
  }
  if (exponent == 0 && mantissa == 0)
    return sign;
  int e = exponent == 0 ? 1 - inBias : exponent - inBias;
  In full = exponent == 0 ? mantissa : mantissa | (one << kMant);
  int shift = kMant - kOutMant; // bits to drop for a normal result
  int outExp = e + outBias;
  if (outExp <= 0) {
    shift += 1 - outExp;
    outExp = 0;
  }
  if (shift > kMant + 2)
    return sign; // below half of the smallest denormal
  In kept = full >> shift, rest = full & ((one << shift) - 1), half = one << (shift - 1);
  if (rest > half || (rest == half && (kept & 1)))
    ++kept;
  // A carry out of the mantissa moves into the exponent by itself.
  uint64_t result =
      outExp == 0 ? uint64_t(kept) : (uint64_t(outExp - 1) << kOutMant) + uint64_t(kept);
  if (result >= infinity)
    return sign | infinity;
  return sign | uint16_t(result);
}

float widenHalf(uint16_t h) {
  uint32_t sign = uint32_t(h >> 15) << 31, exponent = (h >> 10) & 31, mantissa = h & 1023;
  uint32_t bits;
  if (exponent == 31) {
    bits = sign | 0x7f800000u | (mantissa << 13) | (mantissa ? 0x400000u : 0);
  } else if (exponent) {
    bits = sign | ((exponent + 112) << 23) | (mantissa << 13);
  } else if (mantissa) {
    int shift = __builtin_clz(mantissa) - 21;
    bits = sign | uint32_t(113 - shift) << 23 | ((mantissa << shift) & 1023) << 13;
  } else {
    bits = sign;
  }
  return __builtin_bit_cast(float, bits);
}

} // namespace

#define PITON_SOFT extern "C" __attribute__((visibility("hidden"), used))

PITON_SOFT u128 __udivti3(u128 a, u128 b) {
  u128 rest;
  return divide(a, b, rest);
}
PITON_SOFT u128 __umodti3(u128 a, u128 b) {
  u128 rest;
  divide(a, b, rest);
  return rest;
}
PITON_SOFT i128 __divti3(i128 a, i128 b) {
  u128 rest, quotient = divide(a < 0 ? -u128(a) : u128(a), b < 0 ? -u128(b) : u128(b), rest);
  return (a < 0) != (b < 0) ? i128(-quotient) : i128(quotient);
}
PITON_SOFT i128 __modti3(i128 a, i128 b) {
  u128 rest;
  divide(a < 0 ? -u128(a) : u128(a), b < 0 ? -u128(b) : u128(b), rest);
  return a < 0 ? i128(-rest) : i128(rest);
}
PITON_SOFT i128 __multi3(i128 a, i128 b) {
  uint64_t al = uint64_t(a), bl = uint64_t(b);
  u128 low;
  uint64_t high;
  __asm__("mulq %3" : "=a"(al), "=d"(high) : "0"(al), "r"(bl) : "cc");
  low = (u128(high) << 64) | al;
  uint64_t cross = uint64_t(u128(a) >> 64) * bl + uint64_t(a) * uint64_t(u128(b) >> 64);
  return i128(low + (u128(cross) << 64));
}

// Half and bfloat16 values travel in the low bits of xmm0.
PITON_SOFT _Float16 __truncsfhf2(float x) {
  return __builtin_bit_cast(_Float16,
                            narrow<uint32_t, 23, 8, 10, 5>(__builtin_bit_cast(uint32_t, x)));
}
PITON_SOFT _Float16 __truncdfhf2(double x) {
  return __builtin_bit_cast(_Float16,
                            narrow<uint64_t, 52, 11, 10, 5>(__builtin_bit_cast(uint64_t, x)));
}
PITON_SOFT __bf16 __truncsfbf2(float x) {
  return __builtin_bit_cast(__bf16, narrow<uint32_t, 23, 8, 7, 8>(__builtin_bit_cast(uint32_t, x)));
}
PITON_SOFT __bf16 __truncdfbf2(double x) {
  return __builtin_bit_cast(__bf16,
                            narrow<uint64_t, 52, 11, 7, 8>(__builtin_bit_cast(uint64_t, x)));
}
PITON_SOFT float __extendhfsf2(_Float16 x) { return widenHalf(__builtin_bit_cast(uint16_t, x)); }
