// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// C entry points of include/piton/shmem.h: signals and the typed wait and test families.

#include "runtime/shmem/Arguments.h"
#include "runtime/shmem/Process.h"
#include "runtime/shmem/Report.h"

#include <bit>
#include <cstring>
#include <type_traits>

using namespace piton;
using namespace piton::shmem;

namespace {

int badCompare(const char *call, int compare) {
  return report(ACLSHMEM_INVALID_VALUE, std::string(call) + ": comparison " +
                                            std::to_string(compare) +
                                            " is none of 0 (EQ) to 5 (LE)");
}

template <typename T> T load(const T *word) {
  if constexpr (std::is_same_v<T, float>) {
    uint32_t bits = __atomic_load_n(reinterpret_cast<const uint32_t *>(word), __ATOMIC_ACQUIRE);
    float value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
  } else {
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
  }
}

/// A family's words: element i is compared with values[i], or with values[0] if not `vector`.
template <typename T> struct Words {
  const char *call;
  T *words;
  size_t count;
  const int *status;
  int compare;
  const T *values;
  bool vector;

  bool included(size_t i) const { return !status || status[i] == 0; }
  T wanted(size_t i) const { return values[vector ? i : 0]; }
  bool holds(size_t i) const { return compareWord(load(words + i), compare, wanted(i)); }

  /// False, after a report, if the arguments are unusable.
  bool valid() const {
    if (compare < 0 || compare > 5)
      return badCompare(call, compare), false;
    if (count == 0)
      return true;
    if (reinterpret_cast<uintptr_t>(words) % sizeof(T))
      return report(ACLSHMEM_INVALID_PARAM, std::string(call) +
                                                ": the address of the words is no " +
                                                "multiple of " + std::to_string(sizeof(T))),
             false;
    size_t bytes = bytesOf(count, sizeof(T));
    WorldRef world = currentWorld();
    bool known = world && world->heapOf(words, bytes);
    if (!known && checkReadable(call, count > 1 ? "the words" : "the word", words, bytes))
      return false;
    return !checkReadableIfGiven(call, "status", status, bytesOf(count, sizeof(int))) &&
           (!vector || !checkReadable(call, "values", values, bytes));
  }
  /// Where a result goes; false after a report.
  template <typename Out> bool takes(Out *out) const {
    return !checkWritable(call, "res_out", out, sizeof(*out));
  }
  bool takesIndices(size_t *indices) const {
    return count == 0 || !checkWritable(call, "indices", indices, bytesOf(count, sizeof(size_t)));
  }

  size_t any() const {
    for (size_t i = 0; i < count; ++i)
      if (included(i) && holds(i))
        return i;
    return SIZE_MAX;
  }
  bool all() const {
    for (size_t i = 0; i < count; ++i)
      if (included(i) && !holds(i))
        return false;
    return true;
  }
  size_t some(size_t *indices) const {
    size_t found = 0;
    for (size_t i = 0; i < count; ++i)
      if (included(i) && holds(i))
        indices[found++] = i;
    return found;
  }
  /// The first word from `at` on that counts and does not hold yet, or the first that counts.
  size_t missing(size_t at) const {
    for (size_t i = at; i < count; ++i)
      if (included(i) && !holds(i))
        return i;
    for (size_t i = 0; i < count; ++i)
      if (included(i))
        return i;
    return SIZE_MAX;
  }
  WaitTarget target(size_t i) const {
    WaitTarget out{
        .kind = WaitKind::Signal, .call = call, .word = words + i, .wordBytes = sizeof(T)};
    out.compare = compare;
    if constexpr (std::is_same_v<T, float>) {
      out.type = WordType::Float;
      out.wanted = std::bit_cast<uint32_t>(wanted(i));
    } else {
      out.type = std::is_signed_v<T> ? WordType::Signed : WordType::Unsigned;
      out.wanted = static_cast<int64_t>(wanted(i));
    }
    return out;
  }

  /// Waits until ready(); sleeps at, and shows, one word after the other that does not hold yet.
  template <typename Ready> int wait(const Ready &ready) const {
    WorldRef world = requireWorld(call);
    if (!world)
      return lastStatus();
    size_t at = missing(0);
    if (at == SIZE_MAX)
      return ACLSHMEM_SUCCESS;
    if (int code = world->checkAlive(call))
      return code;
    bool done = false;
    auto moved = [&] { return (done = ready()) || holds(at); };
    for (; !done; at = missing(at))
      if (int code = world->waitOn(target(at), moved))
        return code;
    return ACLSHMEM_SUCCESS;
  }
};

template <typename T> void waitAll(const Words<T> &words) {
  clearStatus();
  if (words.valid())
    words.wait([&] { return words.all(); });
}

template <typename T> void waitAny(const Words<T> &words, size_t *out) {
  clearStatus();
  if (!words.takes(out))
    return;
  *out = SIZE_MAX;
  if (words.valid())
    words.wait([&] { return (*out = words.any()) != SIZE_MAX; });
}

template <typename T> void waitSome(const Words<T> &words, size_t *indices, size_t *out) {
  clearStatus();
  if (!words.takes(out))
    return;
  *out = 0;
  if (words.valid() && words.takesIndices(indices))
    words.wait([&] { return (*out = words.some(indices)) != 0; });
}

template <typename T> void testAll(const Words<T> &words, int *out) {
  clearStatus();
  if (words.takes(out))
    *out = words.valid() && words.all();
}

template <typename T> void testAny(const Words<T> &words, size_t *out) {
  clearStatus();
  if (words.takes(out))
    *out = words.valid() ? words.any() : SIZE_MAX;
}

template <typename T> void testSome(const Words<T> &words, size_t *indices, size_t *out) {
  clearStatus();
  if (words.takes(out))
    *out = words.valid() && words.takesIndices(indices) ? words.some(indices) : 0;
}

} // namespace

#define DEFINE_WAITS(name, T)                                                                      \
  void aclshmem_##name##_wait(T *ivar, T value) {                                                  \
    waitAll<T>({__func__, ivar, 1, nullptr, ACLSHMEM_CMP_NE, &value, false});                      \
  }                                                                                                \
  void aclshmem_##name##_wait_until(T *ivar, int cmp, T value) {                                   \
    waitAll<T>({__func__, ivar, 1, nullptr, cmp, &value, false});                                  \
  }                                                                                                \
  void aclshmem_##name##_wait_until_all(T *ivars, size_t n, const int *status, int cmp, T value) { \
    waitAll<T>({__func__, ivars, n, status, cmp, &value, false});                                  \
  }                                                                                                \
  void aclshmem_##name##_wait_until_any(T *ivars, size_t n, const int *status, int cmp, T value,   \
                                        size_t *out) {                                             \
    waitAny<T>({__func__, ivars, n, status, cmp, &value, false}, out);                             \
  }                                                                                                \
  void aclshmem_##name##_wait_until_some(T *ivars, size_t n, size_t *indices, const int *status,   \
                                         int cmp, T value, size_t *out) {                          \
    waitSome<T>({__func__, ivars, n, status, cmp, &value, false}, indices, out);                   \
  }                                                                                                \
  void aclshmem_##name##_wait_until_all_vector(T *ivars, size_t n, const int *status, int cmp,     \
                                               T *values) {                                        \
    waitAll<T>({__func__, ivars, n, status, cmp, values, true});                                   \
  }                                                                                                \
  void aclshmem_##name##_wait_until_any_vector(T *ivars, size_t n, const int *status, int cmp,     \
                                               T *values, size_t *out) {                           \
    waitAny<T>({__func__, ivars, n, status, cmp, values, true}, out);                              \
  }                                                                                                \
  void aclshmem_##name##_wait_until_some_vector(                                                   \
      T *ivars, size_t n, size_t *indices, const int *status, int cmp, T *values, size_t *out) {   \
    waitSome<T>({__func__, ivars, n, status, cmp, values, true}, indices, out);                    \
  }                                                                                                \
  void aclshmem_##name##_test(T *ivars, int cmp, T value, int *out) {                              \
    testAll<T>({__func__, ivars, 1, nullptr, cmp, &value, false}, out);                            \
  }                                                                                                \
  void aclshmem_##name##_test_any(T *ivars, size_t n, const int *status, int cmp, T value,         \
                                  size_t *out) {                                                   \
    testAny<T>({__func__, ivars, n, status, cmp, &value, false}, out);                             \
  }                                                                                                \
  void aclshmem_##name##_test_some(T *ivars, size_t n, size_t *indices, const int *status,         \
                                   int cmp, T value, size_t *out) {                                \
    testSome<T>({__func__, ivars, n, status, cmp, &value, false}, indices, out);                   \
  }                                                                                                \
  void aclshmem_##name##_test_all_vector(T *ivars, size_t n, const int *status, int cmp,           \
                                         T *values, int *out) {                                    \
    testAll<T>({__func__, ivars, n, status, cmp, values, true}, out);                              \
  }                                                                                                \
  void aclshmem_##name##_test_any_vector(T *ivars, size_t n, const int *status, int cmp,           \
                                         T *values, size_t *out) {                                 \
    testAny<T>({__func__, ivars, n, status, cmp, values, true}, out);                              \
  }                                                                                                \
  void aclshmem_##name##_test_some_vector(T *ivars, size_t n, size_t *indices, const int *status,  \
                                          int cmp, T *values, size_t *out) {                       \
    testSome<T>({__func__, ivars, n, status, cmp, values, true}, indices, out);                    \
  }
ACLSHMEM_P2P_TYPES(DEFINE_WAITS)

//===-- Signals -----------------------------------------------------------------------------===//

void aclshmemx_signal_op(int32_t *sig_addr, int32_t signal, int sig_op, int pe) {
  if (WorldRef world = requireWorld(__func__))
    world->signal(__func__, sig_addr, signal, sig_op, pe);
}

void aclshmem_signal_wait_until(int32_t *sig_addr, int cmp, int32_t cmp_val) {
  waitAll<int32_t>({__func__, sig_addr, 1, nullptr, cmp, &cmp_val, false});
}
