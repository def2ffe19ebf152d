// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Front of the tile product: checks the request, settles the empty cases and
// picks the form for this machine.
#include "sim/Gemm.h"

#include "sim/GemmForms.h"
#include "sim/GemmReference.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace piton::sim {
namespace {

GemmIsa detectIsa() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ||
      !__builtin_cpu_supports("f16c"))
    return GemmIsa::Portable;
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
      !__builtin_cpu_supports("avx512vl") || !__builtin_cpu_supports("avx512dq"))
    return GemmIsa::Avx2;
  return __builtin_cpu_supports("avx512vnni") ? GemmIsa::Avx512Vnni : GemmIsa::Avx512;
#else
  return GemmIsa::Portable;
#endif
}

/// The most that PITON_GEMM_ISA lets the tile product use, to try the forms of lesser machines.
GemmIsa allowedIsa(const char *name) {
  if (!name || !*name)
    return GemmIsa::Avx512Vnni;
  for (GemmIsa isa : {GemmIsa::Portable, GemmIsa::Avx2, GemmIsa::Avx512, GemmIsa::Avx512Vnni})
    if (std::strcmp(name, gemmIsaName(isa)) == 0)
      return isa;
  std::fprintf(stderr,
               "piton: PITON_GEMM_ISA=%s is ignored; it takes portable, avx2, avx512 or "
               "avx512vnni\n",
               name);
  return GemmIsa::Avx512Vnni;
}

/// All bits zero is the zero of every type of C.
void clear(const GemmRequest &request) {
  int64_t bytes = static_cast<ElementType>(request.type) == ElementType::F64 ? 8 : 4;
  for (int64_t i = 0; i < request.m; ++i)
    std::memset(static_cast<char *>(request.c) + i * request.cRow * bytes, 0,
                size_t(request.n * bytes));
}

} // namespace

GemmIsa gemmBestIsa() {
  static const GemmIsa isa = std::min(detectIsa(), allowedIsa(std::getenv("PITON_GEMM_ISA")));
  return isa;
}

const char *gemmIsaName(GemmIsa isa) {
  switch (isa) {
  case GemmIsa::Portable:
    return "portable";
  case GemmIsa::Avx2:
    return "avx2";
  case GemmIsa::Avx512:
    return "avx512";
  case GemmIsa::Avx512Vnni:
    return "avx512vnni";
  }
  return "unknown";
}

bool gemmSupports(uint32_t type) {
  switch (static_cast<ElementType>(type)) {
  case ElementType::F16:
  case ElementType::BF16:
  case ElementType::F32:
  case ElementType::F64:
  case ElementType::I8:
    return true;
  default:
    return gemmF8Values(static_cast<ElementType>(type)) != nullptr;
  }
}

size_t gemmScratchBytes() { return size_t(detail::kScratchBytes); }

bool gemm(const GemmRequest &request, void *scratch, size_t scratchBytes) {
  return gemmFor(gemmBestIsa(), request, scratch, scratchBytes);
}

bool gemmFor(GemmIsa isa, const GemmRequest &request, void *scratch, size_t scratchBytes) {
  if (!gemmSupports(request.type) || !scratch || scratchBytes < gemmScratchBytes())
    return false;
  if (request.m <= 0 || request.n <= 0)
    return true;
  if (request.k <= 0) {
    if (request.flags & kGemmZeroInit)
      clear(request);
    return true;
  }
#if defined(__x86_64__)
  bool isI8 = static_cast<ElementType>(request.type) == ElementType::I8;
  if (isa == GemmIsa::Avx512Vnni && isI8)
    return detail::gemmAvx512Vnni(request, scratch), true;
  if (isa >= GemmIsa::Avx512 && !isI8)
    return detail::gemmAvx512(request, scratch), true;
  if (isa >= GemmIsa::Avx2)
    return detail::gemmAvx2(request, scratch), true;
#endif
  return gemmReference(request);
}

} // namespace piton::sim
