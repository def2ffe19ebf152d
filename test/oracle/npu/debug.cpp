// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Device print and assert as host functions. Each acts as a PIPE_ALL barrier before and after,
// because the closed back end supplies the ordering of the real ones.
#include "machine.h"
extern "C" void hivm_BARRIER(i64);
static std::vector<std::string> prints;
void clear_prints() { prints.clear(); }
std::string prints_json() {
  std::string j = "[";
  for (size_t i = 0; i < prints.size(); i++) {
    j += i ? ",\"" : "\"";
    for (char c : prints[i]) {
      if (c == '"' || c == '\\')
        j += '\\';
      if ((u8)c >= 32)
        j += c;
    }
    j += "\"";
  }
  return j + "]";
}
static double value(const std::string &t, const u8 *p) {
#define AS(N, T)                                                                                   \
  if (t == N) {                                                                                    \
    T v;                                                                                           \
    memcpy(&v, p, sizeof v);                                                                       \
    return (double)v;                                                                              \
  }
  AS("float", float) if (t == "half") {
    half v;
    memcpy(&v, p, 2);
    return (float)v;
  }
  if (t == "bfloat16_t") {
    bf16 v;
    memcpy(&v, p, 2);
    return (float)v;
  }
  AS("int32_t", int32_t)
  AS("int64_t", i64)
  AS("int16_t", int16_t)
  AS("int8_t", int8_t)
  AS("uint32_t", u32)
  AS("uint64_t", u64)
  AS("uint16_t", uint16_t)
  AS("uint8_t", u8) AS("bool", u8) stop_run("not-modelled", "print or assert of type " + t);
}
static int width(const std::string &t) {
  return t.find("64") != std::string::npos                   ? 8
         : t == "float" || t.find("32") != std::string::npos ? 4
         : t == "half" || t.find("16") != std::string::npos  ? 2
                                                             : 1;
}
// name: print_<1d..8d|scalar>_<type>_<ubuf|gm> or assert_...; scalar: address of the value, else of
// the descriptor
extern "C" void npu_debug(const char *name, const char *prefix, i64 len, void *arg, i64 hex) {
  std::string s = name;
  bool is_assert = s.rfind("assert", 0) == 0;
  s = s.substr(s.find('_') + 1);
  std::string rank = s.substr(0, s.find('_')), type = s.substr(s.find('_') + 1);
  int sp = type.rfind("_ubuf") != std::string::npos ? UB : GM;
  type = type.substr(0, type.rfind('_'));
  hivm_BARRIER(ALL);
  begin(S, is_assert ? "assert" : "print");
  std::vector<double> v;
  std::string shape;
  if (rank == "scalar")
    v.push_back(value(type, U(arg)));
  else {
    int n = rank[0] - '0';
    i64 *q = (i64 *)arg;
    u8 *base = U((void *)q[1]);
    i64 total = 1;
    const i64 *size = q + 3, *stride = q + 3 + n;
    int E = width(type);
    for (int k = 0; k < n; k++) {
      total *= size[k];
      shape += (k ? "x" : "") + std::to_string(size[k]);
    }
    for (i64 i = 0; i < total; i++) {
      i64 off = q[2], rest = i;
      for (int k = n - 1; k >= 0; k--) {
        off += rest % size[k] * stride[k];
        rest /= size[k];
      }
      rd(sp, base + off * E, E);
      v.push_back(value(type, base + off * E));
    }
  }
  std::string text(prefix, len);
  if (is_assert) {
    bool ok = true;
    for (double x : v)
      ok &= x != 0;
    if (!ok)
      error("device-assert", text);
  } else {
    std::string o = cur->name + ":" + text + (shape.empty() ? "" : "<" + shape + "> ");
    char b[40];
    for (size_t i = 0; i < v.size() && i < 64; i++) {
      if (hex)
        snprintf(b, sizeof b, "%s0x%lx", i ? ", " : "", (unsigned long)(i64)v[i]);
      else
        snprintf(b, sizeof b, "%s%g", i ? ", " : "", v[i]);
      o += b;
    }
    prints.push_back(o + (v.size() > 64 ? ", .." : ""));
  }
  hivm_BARRIER(ALL);
}
