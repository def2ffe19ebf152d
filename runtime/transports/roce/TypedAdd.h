// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Atomic addition for the types that a network adds not itself: it is done where the word lies.
// Rounds as the device library does: half and bfloat16 through float.
#ifndef PITON_RUNTIME_TRANSPORTS_ROCE_TYPEDADD_H
#define PITON_RUNTIME_TRANSPORTS_ROCE_TYPEDADD_H

#include "abi/KernelAbi.h"

#include <bit>
#include <immintrin.h>

namespace piton::shmem {

__attribute__((target("f16c"))) inline uint16_t addHalf(uint16_t a, float b) {
  return _cvtss_sh(_cvtsh_ss(a) + b, _MM_FROUND_TO_NEAREST_INT);
}
__attribute__((target("f16c"))) inline float halfToFloat(uint16_t value) {
  return _cvtsh_ss(value);
}

inline float bfloatToFloat(uint16_t value) {
  return std::bit_cast<float>(static_cast<uint32_t>(value) << 16);
}
/// To nearest, ties to even; a NaN stays one.
inline uint16_t floatToBfloat(float value) {
  auto bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7FFFFFFF) > 0x7F800000)
    return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

template <typename Word, typename Fn> uint64_t updateWord(void *address, Fn next) {
  auto *word = static_cast<Word *>(address);
  Word seen = __atomic_load_n(word, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(word, &seen, next(seen), false, __ATOMIC_ACQ_REL,
                                      __ATOMIC_RELAXED)) {
  }
  return seen;
}

/// Bytes of a type that typedAdd knows, else 0.
inline uint32_t typedAddBytes(ElementType type) {
  switch (type) {
  case ElementType::I8:
    return 1;
  case ElementType::I16:
  case ElementType::F16:
  case ElementType::BF16:
    return 2;
  case ElementType::F32:
    return 4;
  default:
    return 0;
  }
}

/// *address += value, both as bits of `type`; gives the old bits.
inline uint64_t typedAdd(ElementType type, void *address, uint64_t value) {
  auto half = static_cast<uint16_t>(value);
  switch (type) {
  case ElementType::I8:
    return __atomic_fetch_add(static_cast<uint8_t *>(address), static_cast<uint8_t>(value),
                              __ATOMIC_ACQ_REL);
  case ElementType::I16:
    return __atomic_fetch_add(static_cast<uint16_t *>(address), half, __ATOMIC_ACQ_REL);
  case ElementType::F16:
    return updateWord<uint16_t>(address,
                                [=](uint16_t old) { return addHalf(old, halfToFloat(half)); });
  case ElementType::BF16:
    return updateWord<uint16_t>(address, [=](uint16_t old) {
      return floatToBfloat(bfloatToFloat(old) + bfloatToFloat(half));
    });
  default:
    return updateWord<uint32_t>(address, [=](uint32_t old) {
      return std::bit_cast<uint32_t>(std::bit_cast<float>(old) +
                                     std::bit_cast<float>(static_cast<uint32_t>(value)));
    });
  }
}

} // namespace piton::shmem

#endif // PITON_RUNTIME_TRANSPORTS_ROCE_TYPEDADD_H
