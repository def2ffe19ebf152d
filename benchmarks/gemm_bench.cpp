// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Speed of the tile product, in GFLOP/s (multiply and add count as two), per
// type, layout and instruction set; the median of several runs on one thread.
//   tile    one tile over and over, everything in cache
//   matrix  a 512 x 512 product by tiles of 128 x 128 x 64, operands read from
//           the matrices, C kept in a local tile over the K loop
//
// Usage: gemm_bench [type ...]     f32 f16 bf16 f64 i8 f8e4m3fn f8e5m2
#include "sim/Gemm.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

using namespace piton;
using namespace piton::sim;

namespace {

struct TypeRow {
  const char *name;
  ElementType type;
  int64_t bytes;
};
constexpr TypeRow kTypes[] = {
    {"f32", ElementType::F32, 4},       {"f16", ElementType::F16, 2},
    {"bf16", ElementType::BF16, 2},     {"f64", ElementType::F64, 8},
    {"i8", ElementType::I8, 1},         {"f8e4m3fn", ElementType::F8E4M3FN, 1},
    {"f8e5m2", ElementType::F8E5M2, 1},
};

using Buffer = std::unique_ptr<char, decltype(&std::free)>;

Buffer makeBuffer(size_t bytes) {
  size_t rounded = (bytes + 63) / 64 * 64;
  Buffer buffer(static_cast<char *>(std::aligned_alloc(64, rounded)), &std::free);
  if (!buffer) {
    std::fprintf(stderr, "gemm_bench: no memory for %zu bytes\n", rounded);
    std::exit(1);
  }
  std::memset(buffer.get(), 0, rounded); // zeros run at full speed and suit every type
  return buffer;
}

template <typename Function> double medianSeconds(int runs, Function &&function) {
  std::vector<double> seconds;
  for (int i = 0; i < runs; ++i) {
    auto start = std::chrono::steady_clock::now();
    function();
    seconds.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::nth_element(seconds.begin(), seconds.begin() + runs / 2, seconds.end());
  return seconds[size_t(runs / 2)];
}

/// Layouts as BLAS names them: which operand is transposed.
struct Layout {
  const char *name;
  bool transposeA, transposeB;
};
constexpr Layout kLayouts[] = {{"nn", false, false}, {"nt", false, true}, {"tn", true, false}};

void setStrides(GemmRequest &request, Layout layout, int64_t aLine, int64_t bLine) {
  request.aRow = layout.transposeA ? 1 : aLine;
  request.aCol = layout.transposeA ? aLine : 1;
  request.bRow = layout.transposeB ? 1 : bLine;
  request.bCol = layout.transposeB ? bLine : 1;
}

class Bench {
public:
  Bench(GemmIsa isa, const TypeRow &row)
      : isa(isa), row(row), a(makeBuffer(kBytes)), b(makeBuffer(kBytes)), c(makeBuffer(kBytes)),
        scratch(makeBuffer(gemmScratchBytes())) {}

  double tile(Layout layout, int64_t m, int64_t n, int64_t k) {
    GemmRequest request{a.get(), b.get(), c.get(), m, n, k, 0, 0, 0, 0, n, uint32_t(row.type), 0};
    setStrides(request, layout, layout.transposeA ? m : k, layout.transposeB ? k : n);
    int64_t times = std::max<int64_t>(1, 20'000'000 / (m * n * k));
    double seconds = medianSeconds(9, [&] {
      for (int64_t i = 0; i < times; ++i)
        run(request);
    });
    return 2e-9 * double(m * n * k * times) / seconds;
  }

  double matrix(Layout layout) {
    constexpr int64_t tileRows = 128, tileCols = 128, tileDepth = 64;
    GemmRequest request{a.get(), b.get(), c.get(), tileRows, tileCols,           tileDepth, 0,
                        0,       0,       0,       tileCols, uint32_t(row.type), 0};
    setStrides(request, layout, kSize, kSize);
    double seconds = medianSeconds(9, [&] {
      for (int64_t i = 0; i < kSize; i += tileRows)
        for (int64_t j = 0; j < kSize; j += tileCols)
          for (int64_t p = 0; p < kSize; p += tileDepth) {
            request.a = a.get() + (i * request.aRow + p * request.aCol) * row.bytes;
            request.b = b.get() + (p * request.bRow + j * request.bCol) * row.bytes;
            request.flags = p == 0 ? kGemmZeroInit : 0;
            run(request);
          }
    });
    return 2e-9 * double(kSize * kSize * kSize) / seconds;
  }

private:
  static constexpr int64_t kSize = 512;
  static constexpr size_t kBytes = size_t(kSize * kSize * 8);

  void run(const GemmRequest &request) {
    if (!gemmFor(isa, request, scratch.get(), gemmScratchBytes()))
      std::abort();
  }

  GemmIsa isa;
  TypeRow row;
  Buffer a, b, c, scratch;
};

} // namespace

int main(int argc, char **argv) {
  std::printf("%-11s %-9s %-3s %12s %12s %12s %12s %12s\n", "isa", "type", "", "128x128x64",
              "128x64x64", "64x128x64", "32x32x32", "matrix");
  for (GemmIsa isa : {GemmIsa::Avx2, GemmIsa::Avx512, GemmIsa::Avx512Vnni}) {
    if (isa > gemmBestIsa())
      break;
    for (const TypeRow &row : kTypes) {
      bool wanted =
          argc == 1 || std::find(argv + 1, argv + argc, std::string_view(row.name)) != argv + argc;
      bool same = isa != GemmIsa::Avx2 && // Avx512 runs I8 as Avx2, Avx512Vnni the rest as Avx512
                  (isa == GemmIsa::Avx512) == (row.type == ElementType::I8);
      if (!wanted || same)
        continue;
      Bench bench(isa, row);
      for (Layout layout : kLayouts)
        std::printf("%-11s %-9s %-3s %12.1f %12.1f %12.1f %12.1f %12.1f\n", gemmIsaName(isa),
                    row.name, layout.name, bench.tile(layout, 128, 128, 64),
                    bench.tile(layout, 128, 64, 64), bench.tile(layout, 64, 128, 64),
                    bench.tile(layout, 32, 32, 32), bench.matrix(layout));
    }
  }
  return 0;
}
