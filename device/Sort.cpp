// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// triton_sort: sorts rows of a tile along one dimension, stable, NaN last in ascending
// order (greatest), in place. Bottom-up merge sort into a scratch row that the
// caller supplies; no recursion, no allocation.
#include <cstdint>

namespace {

template <typename T> inline bool less(T a, T b) { return a < b; }
template <typename T> inline bool lessFloat(T a, T b) { return a < b || (b != b && a == a); }
template <> inline bool less(float a, float b) { return lessFloat(a, b); }
template <> inline bool less(double a, double b) { return lessFloat(a, b); }
template <> inline bool less(_Float16 a, _Float16 b) { return lessFloat((float)a, (float)b); }
template <> inline bool less(__bf16 a, __bf16 b) { return lessFloat((float)a, (float)b); }

template <typename T>
void sortRow(T *row, T *scratch, int64_t count, int64_t stride, bool descending) {
  for (int64_t i = 0; i < count; ++i)
    scratch[i] = row[i * stride];
  T *from = scratch, *into = scratch + count;
  for (int64_t width = 1; width < count; width *= 2) {
    for (int64_t start = 0; start < count; start += 2 * width) {
      int64_t middle = start + width < count ? start + width : count;
      int64_t end = start + 2 * width < count ? start + 2 * width : count;
      int64_t a = start, b = middle;
      for (int64_t k = start; k < end; ++k) {
        bool takeRight =
            a >= middle ||
            (b < end && (descending ? less(from[a], from[b]) : less(from[b], from[a])));
        into[k] = takeRight ? from[b++] : from[a++];
      }
    }
    T *swap = from;
    from = into;
    into = swap;
  }
  for (int64_t i = 0; i < count; ++i)
    row[i * stride] = from[i];
}

template <typename T>
void sortTile(void *data, void *scratch, int64_t outer, int64_t count, int64_t inner,
              int32_t descending) {
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < inner; ++i)
      sortRow(static_cast<T *>(data) + o * count * inner + i, static_cast<T *>(scratch), count,
              inner, descending != 0);
}

} // namespace

/// `data` is [outer, count, inner], contiguous; `scratch` holds 2 * count elements.
#define PITON_SORT(NAME, TYPE)                                                                     \
  extern "C" __attribute__((visibility("default"), nothrow)) void piton_sort_##NAME(               \
      void *data, void *scratch, int64_t outer, int64_t count, int64_t inner,                      \
      int32_t descending) {                                                                        \
    sortTile<TYPE>(data, scratch, outer, count, inner, descending);                                \
  }

PITON_SORT(i8, int8_t)
PITON_SORT(i16, int16_t)
PITON_SORT(i32, int32_t)
PITON_SORT(i64, int64_t)
PITON_SORT(f16, _Float16)
PITON_SORT(bf16, __bf16)
PITON_SORT(f32, float)
PITON_SORT(f64, double)
