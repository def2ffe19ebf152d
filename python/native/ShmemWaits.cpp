// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The typed wait and test families of `shmem._pyshmem`.

#include "python/native/ShmemModule.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>

namespace nb = nanobind;
using namespace nb::literals;
using namespace piton::python;

namespace {

/// The typed wait and test families; words come as addresses, lists of values as lists, results as
/// values.
template <typename T> struct WaitCalls {
  void (*wait)(T *, T);
  void (*until)(T *, int, T);
  void (*all)(T *, size_t, const int *, int, T);
  void (*any)(T *, size_t, const int *, int, T, size_t *);
  void (*some)(T *, size_t, size_t *, const int *, int, T, size_t *);
  void (*allVector)(T *, size_t, const int *, int, T *);
  void (*anyVector)(T *, size_t, const int *, int, T *, size_t *);
  void (*someVector)(T *, size_t, size_t *, const int *, int, T *, size_t *);
  void (*test)(T *, int, T, int *);
  void (*testAny)(T *, size_t, const int *, int, T, size_t *);
  void (*testSome)(T *, size_t, size_t *, const int *, int, T, size_t *);
  void (*testAllVector)(T *, size_t, const int *, int, T *, int *);
  void (*testAnyVector)(T *, size_t, const int *, int, T *, size_t *);
  void (*testSomeVector)(T *, size_t, size_t *, const int *, int, T *, size_t *);
};

/// Which of n words are left out: nonzero entries; none if absent.
class Status {
public:
  Status(const std::optional<std::vector<int>> &given, size_t n) : given(given) {
    if (given && given->size() != n)
      throw nb::value_error(("status has " + std::to_string(given->size()) + " entries for " +
                             std::to_string(n) + " words")
                                .c_str());
  }
  const int *data() const { return given ? given->data() : nullptr; }

private:
  const std::optional<std::vector<int>> &given;
};

/// What n words are compared with: one value, or a list of n.
template <typename T> T &comparand(T &value, size_t) { return value; }
template <typename T> T *comparand(std::vector<T> &values, size_t n) {
  if (values.size() != n)
    throw nb::value_error(("values has " + std::to_string(values.size()) + " entries for " +
                           std::to_string(n) + " words")
                              .c_str());
  return values.data();
}

/// Binds the forms over several words. Value: T, or std::vector<T> for the _vector forms.
template <typename T, typename Value> struct SeveralWords {
  using Selection = std::optional<std::vector<int>>;
  nb::module_ &m;
  const char *value = std::is_same_v<T, Value> ? "value" : "values";

  template <typename Result, typename Body> void define(const std::string &name, Body body) const {
    m.def(
        name.c_str(),
        [body](Number<Address> words, Number<size_t> n, Selection selection, Number<int> cmp,
               Value value) -> Result {
          Status status(selection, n);
          return body(pointer<T>(words), n, status.data(), cmp, comparand<T>(value, n));
        },
        "ivars"_a, "nelems"_a, "status"_a.none(), "cmp"_a, nb::arg(value));
  }
  template <typename Call> void all(const std::string &name, Call call) const {
    define<void>(name,
                 [call](T *words, Number<size_t> n, const int *status, Number<int> cmp,
                        auto value) { checked([&] { call(words, n, status, cmp, value); }); });
  }
  template <typename Call> void any(const std::string &name, Call call) const {
    define<size_t>(
        name, [call](T *words, Number<size_t> n, const int *status, Number<int> cmp, auto value) {
          size_t out = SIZE_MAX;
          checked([&] { call(words, n, status, cmp, value, &out); });
          return out;
        });
  }
  template <typename Call> void some(const std::string &name, Call call) const {
    define<std::vector<size_t>>(
        name, [call](T *words, Number<size_t> n, const int *status, Number<int> cmp, auto value) {
          // Not filled: of a wrong number of words the call will say so.
          auto indices = std::make_unique_for_overwrite<size_t[]>(n);
          size_t out = 0;
          checked([&] { call(words, n, indices.get(), status, cmp, value, &out); });
          return std::vector<size_t>(indices.get(), indices.get() + out);
        });
  }
  template <typename Call> void test(const std::string &name, Call call) const {
    define<bool>(
        name, [call](T *words, Number<size_t> n, const int *status, Number<int> cmp, auto value) {
          int out = 0;
          checked([&] { call(words, n, status, cmp, value, &out); });
          return out != 0;
        });
  }
};

template <typename T> void bindFamily(nb::module_ &m, const std::string &type, WaitCalls<T> calls) {
  auto name = [&](const char *suffix) { return "aclshmem_" + type + suffix; };
  m.def(
      name("_wait").c_str(),
      [calls](Number<Address> word, T value) {
        checked([&] { calls.wait(pointer<T>(word), value); });
      },
      "ivar"_a, "value"_a);
  m.def(
      name("_wait_until").c_str(),
      [calls](Number<Address> word, Number<int> cmp, T value) {
        checked([&] { calls.until(pointer<T>(word), cmp, value); });
      },
      "ivar"_a, "cmp"_a, "value"_a);
  m.def(
      name("_test").c_str(),
      [calls](Number<Address> word, Number<int> cmp, T value) {
        int out = 0;
        checked([&] { calls.test(pointer<T>(word), cmp, value, &out); });
        return out != 0;
      },
      "ivar"_a, "cmp"_a, "value"_a);
  SeveralWords<T, T> one{m};
  one.all(name("_wait_until_all"), calls.all);
  one.any(name("_wait_until_any"), calls.any);
  one.some(name("_wait_until_some"), calls.some);
  one.any(name("_test_any"), calls.testAny);
  one.some(name("_test_some"), calls.testSome);
  SeveralWords<T, std::vector<T>> each{m};
  each.all(name("_wait_until_all_vector"), calls.allVector);
  each.any(name("_wait_until_any_vector"), calls.anyVector);
  each.some(name("_wait_until_some_vector"), calls.someVector);
  each.test(name("_test_all_vector"), calls.testAllVector);
  each.any(name("_test_any_vector"), calls.testAnyVector);
  each.some(name("_test_some_vector"), calls.testSomeVector);
}

} // namespace

void piton::python::bindWaits(nb::module_ &m) {
#define BIND_WAITS(name, T)                                                                        \
  bindFamily<T>(                                                                                   \
      m, #name,                                                                                    \
      {aclshmem_##name##_wait, aclshmem_##name##_wait_until, aclshmem_##name##_wait_until_all,     \
       aclshmem_##name##_wait_until_any, aclshmem_##name##_wait_until_some,                        \
       aclshmem_##name##_wait_until_all_vector, aclshmem_##name##_wait_until_any_vector,           \
       aclshmem_##name##_wait_until_some_vector, aclshmem_##name##_test,                           \
       aclshmem_##name##_test_any, aclshmem_##name##_test_some, aclshmem_##name##_test_all_vector, \
       aclshmem_##name##_test_any_vector, aclshmem_##name##_test_some_vector});
  ACLSHMEM_P2P_TYPES(BIND_WAITS)
}
