// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bit-level decoding of element types.

#include "sim/Element.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace piton::sim {
namespace {

template <typename T> T at(const void *data, uint64_t index) {
  T value;
  std::memcpy(&value, static_cast<const uint8_t *>(data) + index * sizeof(T), sizeof(T));
  return value;
}

/// What the all-ones exponent and the sign bit of zero mean.
enum class Specials {
  IEEE, ///< infinities and NaNs
  FN,   ///< no infinity; NaN is all ones
  FNUZ  ///< no infinity, no negative zero; NaN is the pattern of -0
};

double decode(uint32_t bits, int exponentBits, int mantissaBits, int bias, Specials specials) {
  uint32_t mantissaMask = (1u << mantissaBits) - 1, exponentMask = (1u << exponentBits) - 1;
  uint32_t mantissa = bits & mantissaMask, exponent = bits >> mantissaBits & exponentMask;
  bool negative = bits >> (exponentBits + mantissaBits) & 1;
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  if (specials == Specials::IEEE && exponent == exponentMask)
    return mantissa ? nan : (negative ? -1 : 1) * std::numeric_limits<double>::infinity();
  if (specials == Specials::FN && exponent == exponentMask && mantissa == mantissaMask)
    return nan;
  if (specials == Specials::FNUZ && negative && exponent == 0 && mantissa == 0)
    return nan;
  double value = exponent ? std::ldexp(1.0 + std::ldexp(mantissa, -mantissaBits),
                                       static_cast<int>(exponent) - bias)
                          : std::ldexp(mantissa, 1 - bias - mantissaBits);
  return negative ? -value : value;
}

} // namespace

bool isFloat(ElementType type) {
  switch (type) {
  case ElementType::F16:
  case ElementType::BF16:
  case ElementType::F32:
  case ElementType::F64:
  case ElementType::F8E4M3FN:
  case ElementType::F8E5M2:
  case ElementType::F8E4M3FNUZ:
  case ElementType::F8E5M2FNUZ:
    return true;
  default:
    return false;
  }
}

bool isUnsigned(ElementType type) {
  switch (type) {
  case ElementType::I1:
  case ElementType::U8:
  case ElementType::U16:
  case ElementType::U32:
  case ElementType::U64:
  case ElementType::Pointer:
    return true;
  default:
    return false;
  }
}

double floatElement(const void *data, uint64_t index, ElementType type) {
  switch (type) {
  case ElementType::F64:
    return at<double>(data, index);
  case ElementType::F32:
    return at<float>(data, index);
  case ElementType::F16:
    return decode(at<uint16_t>(data, index), 5, 10, 15, Specials::IEEE);
  case ElementType::BF16:
    return decode(at<uint16_t>(data, index), 8, 7, 127, Specials::IEEE);
  case ElementType::F8E4M3FN:
    return decode(at<uint8_t>(data, index), 4, 3, 7, Specials::FN);
  case ElementType::F8E5M2:
    return decode(at<uint8_t>(data, index), 5, 2, 15, Specials::IEEE);
  case ElementType::F8E4M3FNUZ:
    return decode(at<uint8_t>(data, index), 4, 3, 8, Specials::FNUZ);
  case ElementType::F8E5M2FNUZ:
    return decode(at<uint8_t>(data, index), 5, 2, 16, Specials::FNUZ);
  default:
    return static_cast<double>(integerElement(data, index, type));
  }
}

int64_t integerElement(const void *data, uint64_t index, ElementType type) {
  switch (type) {
  case ElementType::I1:
    return at<uint8_t>(data, index) & 1;
  case ElementType::I8:
    return at<int8_t>(data, index);
  case ElementType::U8:
    return at<uint8_t>(data, index);
  case ElementType::I16:
    return at<int16_t>(data, index);
  case ElementType::U16:
    return at<uint16_t>(data, index);
  case ElementType::I32:
    return at<int32_t>(data, index);
  case ElementType::U32:
    return at<uint32_t>(data, index);
  case ElementType::I64:
  case ElementType::U64:
  case ElementType::Pointer:
    return at<int64_t>(data, index);
  default:
    return static_cast<int64_t>(floatElement(data, index, type));
  }
}

} // namespace piton::sim
