// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions in tiles that stay in the first cache. Halves are summed in fp32 and rounded once.
// Compiled for AVX2 with F16C, which Piton needs anyway.
#include "Combine.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <immintrin.h>
#include <type_traits>

namespace piton::torch_device {
namespace {

constexpr size_t kTile = 1024;

struct Half {
  uint16_t bits;
};
struct Bfloat {
  uint16_t bits;
};

template <typename T> struct Wide {
  using type = T;
};
template <> struct Wide<Half> {
  using type = float;
};
template <> struct Wide<Bfloat> {
  using type = float;
};

float widen(Half value) { return _cvtsh_ss(value.bits); }
float widen(Bfloat value) { return std::bit_cast<float>(uint32_t(value.bits) << 16); }
template <typename T> T widen(T value) { return value; }

void narrow(float value, Half &out) { out.bits = _cvtss_sh(value, _MM_FROUND_TO_NEAREST_INT); }
void narrow(float value, Bfloat &out) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  out.bits = static_cast<uint16_t>(value != value ? 0x7fc0 : rounded);
}
template <typename T> void narrow(T value, T &out) { out = value; }

void load(const Half *from, float *to, size_t count) {
  size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    __m128i bits;
    std::memcpy(&bits, from + i, sizeof bits);
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(bits));
  }
  for (; i < count; ++i)
    to[i] = widen(from[i]);
}

template <typename T> void load(const T *from, typename Wide<T>::type *to, size_t count) {
  for (size_t i = 0; i < count; ++i)
    to[i] = widen(from[i]);
}

void store(const float *from, Half *to, size_t count) {
  size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    __m128i bits = _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT);
    std::memcpy(to + i, &bits, sizeof bits);
  }
  for (; i < count; ++i)
    narrow(from[i], to[i]);
}

template <typename T> void store(const typename Wide<T>::type *from, T *to, size_t count) {
  for (size_t i = 0; i < count; ++i)
    narrow(from[i], to[i]);
}

/// Integers wrap around.
template <typename T, typename F> T wrapping(T a, T b, F operation) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<std::common_type_t<T, int>>;
    return static_cast<T>(operation(static_cast<U>(a), static_cast<U>(b)));
  } else {
    return operation(a, b);
  }
}

template <Combine kind, typename W> W apply(W a, W b) {
  if constexpr (kind == Combine::Product)
    return wrapping(a, b, [](auto x, auto y) { return x * y; });
  else if constexpr (kind == Combine::Min)
    return std::min(a, b);
  else if constexpr (kind == Combine::Max)
    return std::max(a, b);
  else
    return wrapping(a, b, [](auto x, auto y) { return x + y; });
}

template <Combine kind, typename T>
void combineTiles(const std::vector<const void *> &sources, void *out, size_t count) {
  using W = Wide<T>::type;
  W sum[kTile], next[kTile];
  for (size_t at = 0; at < count; at += kTile) {
    const size_t n = std::min(kTile, count - at);
    load(static_cast<const T *>(sources[0]) + at, sum, n);
    for (size_t s = 1; s < sources.size(); ++s) {
      const T *source = static_cast<const T *>(sources[s]) + at;
      if constexpr (std::is_same_v<T, W>) {
        for (size_t i = 0; i < n; ++i)
          sum[i] = apply<kind>(sum[i], source[i]);
      } else {
        load(source, next, n);
        for (size_t i = 0; i < n; ++i)
          sum[i] = apply<kind>(sum[i], next[i]);
      }
    }
    if constexpr (kind == Combine::Mean && std::is_floating_point_v<W>)
      for (size_t i = 0; i < n; ++i)
        sum[i] /= static_cast<W>(sources.size());
    store(sum, static_cast<T *>(out) + at, n);
  }
}

template <typename T>
void combineAs(Combine kind, const std::vector<const void *> &sources, void *out, size_t count) {
  switch (kind) {
  case Combine::Sum:
    return combineTiles<Combine::Sum, T>(sources, out, count);
  case Combine::Product:
    return combineTiles<Combine::Product, T>(sources, out, count);
  case Combine::Min:
    return combineTiles<Combine::Min, T>(sources, out, count);
  case Combine::Max:
    return combineTiles<Combine::Max, T>(sources, out, count);
  case Combine::Mean:
    return combineTiles<Combine::Mean, T>(sources, out, count);
  }
}

} // namespace

size_t elementBytes(Element element) {
  switch (element) {
  case Element::I8:
  case Element::U8:
    return 1;
  case Element::F16:
  case Element::BF16:
    return 2;
  case Element::F64:
  case Element::I64:
    return 8;
  default:
    return 4;
  }
}

void combine(Element element, Combine operation, const std::vector<const void *> &sources,
             void *out, size_t count) {
  switch (element) {
  case Element::F32:
    return combineAs<float>(operation, sources, out, count);
  case Element::F64:
    return combineAs<double>(operation, sources, out, count);
  case Element::F16:
    return combineAs<Half>(operation, sources, out, count);
  case Element::BF16:
    return combineAs<Bfloat>(operation, sources, out, count);
  case Element::I8:
    return combineAs<int8_t>(operation, sources, out, count);
  case Element::U8:
    return combineAs<uint8_t>(operation, sources, out, count);
  case Element::I32:
    return combineAs<int32_t>(operation, sources, out, count);
  case Element::I64:
    return combineAs<int64_t>(operation, sources, out, count);
  }
}

} // namespace piton::torch_device
