// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `__hmf_*` functions that Triton-Ascend's libdevice names, over libm. Half and
// bfloat16 forms compute in float and round once. A kernel calls them by name; they
// are linked as bitcode and inlined.
#include <cstdint>

#define PITON_DEVICE extern "C" __attribute__((visibility("default"), const, nothrow))

// The spellings of one unary function: <n>f and <n>Dh of the classic set, <n>_fp32 and
// <n>_fp16 of the SIMT set.
#define PITON_UNARY(NAME, EXPRESSION)                                                              \
  static inline float NAME##_value(float x) { return EXPRESSION; }                                 \
  PITON_DEVICE float __hmf_##NAME##f(float x) { return NAME##_value(x); }                          \
  PITON_DEVICE _Float16 __hmf_##NAME##Dh(_Float16 x) { return (_Float16)NAME##_value((float)x); }  \
  PITON_DEVICE __bf16 __hmf_##NAME##Db(__bf16 x) { return (__bf16)NAME##_value((float)x); }        \
  PITON_DEVICE float __hmf_##NAME##_fp32(float x) { return NAME##_value(x); }                      \
  PITON_DEVICE _Float16 __hmf_##NAME##_fp16(_Float16 x) { return (_Float16)NAME##_value((float)x); }

#define PITON_BINARY(NAME, EXPRESSION)                                                             \
  static inline float NAME##_value(float x, float y) { return EXPRESSION; }                        \
  PITON_DEVICE float __hmf_##NAME##f(float x, float y) { return NAME##_value(x, y); }              \
  PITON_DEVICE _Float16 __hmf_##NAME##Dh(_Float16 x, _Float16 y) {                                 \
    return (_Float16)NAME##_value((float)x, (float)y);                                             \
  }                                                                                                \
  PITON_DEVICE __bf16 __hmf_##NAME##Db(__bf16 x, __bf16 y) {                                       \
    return (__bf16)NAME##_value((float)x, (float)y);                                               \
  }                                                                                                \
  PITON_DEVICE float __hmf_##NAME##_fp32(float x, float y) { return NAME##_value(x, y); }          \
  PITON_DEVICE _Float16 __hmf_##NAME##_fp16(_Float16 x, _Float16 y) {                              \
    return (_Float16)NAME##_value((float)x, (float)y);                                             \
  }

static inline float fromBits(uint32_t bits) { return __builtin_bit_cast(float, bits); }

/// The modified Bessel function I0: its power series below 15, the asymptotic one above.
static float besselI0(float value) {
  double x = __builtin_fabs((double)value);
  if (!(x < 800.0))
    return value != value ? value : fromBits(0x7f800000u);
  if (x < 15.0) {
    double quarter = x * x * 0.25, term = 1, sum = 1;
    for (int k = 1; k < 80; ++k) {
      term *= quarter / ((double)k * k);
      sum += term;
      if (term < sum * 1e-17)
        break;
    }
    return (float)sum;
  }
  double term = 1, sum = 1;
  for (int k = 1; k < 20; ++k) {
    double odd = 2.0 * k - 1.0;
    term *= odd * odd / (8.0 * x * k);
    sum += term;
    if (term < sum * 1e-17)
      break;
  }
  return (float)(__builtin_exp(x) * sum / __builtin_sqrt(6.283185307179586 * x));
}

/// The inverse of erf: a rational start, then Newton steps in double.
static float inverseErf(float value) {
  double y = value;
  if (!(y > -1.0 && y < 1.0))
    return y == 1.0    ? fromBits(0x7f800000u)
           : y == -1.0 ? fromBits(0xff800000u)
                       : fromBits(0x7fc00000u);
  if (y == 0.0)
    return value;
  double l = __builtin_log1p(-y * y), a = 0.147, b = 2.0 / (3.141592653589793 * a) + 0.5 * l;
  double x = __builtin_copysign(__builtin_sqrt(__builtin_sqrt(b * b - l / a) - b), y);
  for (int i = 0; i < 4; ++i) {
    // Near 1 the complement keeps the digits that erf loses.
    double error = y > 0 ? (1.0 - y) - __builtin_erfc(x) : __builtin_erfc(-x) - (1.0 + y);
    x -= error * 0.8862269254527580 * __builtin_exp(x * x);
  }
  return (float)x;
}

static float divideTowardsZero(float x, float y) {
  float q = x / y;
  if (!(__builtin_fabsf(q) <= 3.4028234663852886e38f) || q == 0.0f)
    return __builtin_isinf(q) && !__builtin_isinf(x) && y != 0.0f
               ? __builtin_copysignf(3.4028234663852886e38f, q)
               : q;
  // q is the nearest; step back when its magnitude exceeds the exact quotient's.
  double exact = (double)x / (double)y;
  bool above = __builtin_fabs((double)q) > __builtin_fabs(exact) ||
               (__builtin_fabs((double)q) == __builtin_fabs(exact) &&
                __builtin_fabs((double)q * (double)y) > __builtin_fabs((double)x));
  return above ? __builtin_bit_cast(float, __builtin_bit_cast(uint32_t, q) - 1) : q;
}

PITON_UNARY(recip, 1.0f / x)
PITON_UNARY(relu, x != x ? x : (x > 0.0f ? x : 0.0f))
PITON_UNARY(sqrt, __builtin_sqrtf(x))
PITON_UNARY(rsqrt, 1.0f / __builtin_sqrtf(x))
PITON_UNARY(exp, __builtin_expf(x))
PITON_UNARY(exp2, __builtin_exp2f(x))
PITON_UNARY(expm1, __builtin_expm1f(x))
PITON_UNARY(log, __builtin_logf(x))
PITON_UNARY(log2, __builtin_log2f(x))
PITON_UNARY(log10, __builtin_log10f(x))
PITON_UNARY(log1p, __builtin_log1pf(x))
PITON_UNARY(fabs, __builtin_fabsf(x))
PITON_UNARY(sin, __builtin_sinf(x))
PITON_UNARY(cos, __builtin_cosf(x))
PITON_UNARY(tan, __builtin_tanf(x))
PITON_UNARY(asin, __builtin_asinf(x))
PITON_UNARY(acos, __builtin_acosf(x))
PITON_UNARY(atan, __builtin_atanf(x))
PITON_UNARY(sinh, __builtin_sinhf(x))
PITON_UNARY(cosh, __builtin_coshf(x))
PITON_UNARY(tanh, __builtin_tanhf(x))
PITON_UNARY(asinh, __builtin_asinhf(x))
PITON_UNARY(acosh, __builtin_acoshf(x))
PITON_UNARY(atanh, __builtin_atanhf(x))
PITON_UNARY(erf, __builtin_erff(x))
PITON_UNARY(erfc, __builtin_erfcf(x))
PITON_UNARY(erfinv, inverseErf(x))
PITON_UNARY(lgamma, __builtin_lgammaf(x))
PITON_UNARY(tgamma, __builtin_tgammaf(x))
PITON_UNARY(cbrt, __builtin_cbrtf(x))
PITON_UNARY(cyl_bessel_i0, besselI0(x))
PITON_UNARY(floor, __builtin_floorf(x))
PITON_UNARY(ceil, __builtin_ceilf(x))
PITON_UNARY(trunc, __builtin_truncf(x))
PITON_UNARY(round, __builtin_roundf(x))
PITON_UNARY(rint, __builtin_rintf(x))
PITON_UNARY(nearbyint, __builtin_nearbyintf(x))
PITON_UNARY(ilogb, x == 0.0f || x != x || __builtin_isinf(x) ? __builtin_logbf(x)
                                                             : (float)__builtin_ilogbf(x))
PITON_BINARY(pow, __builtin_powf(x, y))
PITON_BINARY(atan2, __builtin_atan2f(x, y))
PITON_BINARY(fmod, __builtin_fmodf(x, y))
PITON_BINARY(hypot, __builtin_hypotf(x, y))
PITON_BINARY(copysign, __builtin_copysignf(x, y))
PITON_BINARY(div_rz, divideTowardsZero(x, y))

PITON_DEVICE float __hmf_nextafter_fp32(float x, float y) { return __builtin_nextafterf(x, y); }
PITON_DEVICE _Float16 __hmf_nextafter_fp16(_Float16 x, _Float16 y) {
  if (x != x || y != y)
    return x + y;
  if (x == y)
    return y;
  uint16_t bits = __builtin_bit_cast(uint16_t, x);
  if ((bits & 0x7fff) == 0)
    bits = y > x ? 0x0001 : 0x8001;
  else
    bits = (x < y) == !(bits & 0x8000) ? bits + 1 : bits - 1;
  return __builtin_bit_cast(_Float16, bits);
}

PITON_DEVICE float __hmf_ldexpf(float x, int32_t e) { return __builtin_ldexpf(x, e); }
PITON_DEVICE _Float16 __hmf_ldexpDh(_Float16 x, int32_t e) {
  return (_Float16)__builtin_ldexpf((float)x, e);
}
PITON_DEVICE int32_t __hmf_float_as_int_fp32(float x) { return __builtin_bit_cast(int32_t, x); }
PITON_DEVICE bool __hmf_signbit_fp32(float x) { return __builtin_bit_cast(uint32_t, x) >> 31; }
PITON_DEVICE bool __hmf_signbit_fp16(_Float16 x) { return __builtin_bit_cast(uint16_t, x) >> 15; }
PITON_DEVICE int32_t __hmf_powi(int32_t x, int32_t n) {
  if (n < 0)
    return x == 1 ? 1 : x == -1 ? ((n & 1) ? -1 : 1) : 0;
  uint32_t result = 1, base = (uint32_t)x;
  for (uint32_t e = (uint32_t)n; e; e >>= 1, base *= base)
    if (e & 1)
      result *= base;
  return (int32_t)result;
}
