// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks of what a caller of the C API has given: memory of the process behind a pointer, amounts
// of elements in bytes. `which` names the argument in the report.
#ifndef PITON_RUNTIME_SHMEM_ARGUMENTS_H
#define PITON_RUNTIME_SHMEM_ARGUMENTS_H

#include <cstddef>
#include <cstdint>

namespace piton::shmem {

/// ACLSHMEM_SUCCESS, or the code of the report: null, or some of the bytes cannot be read. Looks at
/// every page.
int checkReadable(const char *call, const char *which, const void *at, uint64_t bytes);

/// The same for bytes that will be written; what they hold stays.
int checkWritable(const char *call, const char *which, void *at, uint64_t bytes);

/// The same for a pointer that may be null.
inline int checkReadableIfGiven(const char *call, const char *which, const void *at,
                                uint64_t bytes) {
  return at ? checkReadable(call, which, at, bytes) : 0;
}

/// Bytes of `count` elements; an amount that no memory has stays one.
inline size_t bytesOf(size_t count, size_t elementBytes) {
  size_t out;
  return __builtin_mul_overflow(count, elementBytes, &out) ? SIZE_MAX : out;
}
inline ptrdiff_t strideBytes(ptrdiff_t stride, ptrdiff_t elementBytes) {
  ptrdiff_t out;
  return __builtin_mul_overflow(stride, elementBytes, &out) ? stride < 0 ? PTRDIFF_MIN : PTRDIFF_MAX
                                                            : out;
}

} // namespace piton::shmem

#endif // PITON_RUNTIME_SHMEM_ARGUMENTS_H
