// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tile of D is accumulated in fp32 by the tile product, which packs its operands itself, then
// scaled, added to C and rounded. Tiles go to the members of the team as they come.

#include "sim/Product.h"

#include "abi/KernelAbi.h"
#include "sim/Gemm.h"
#include "sim/Team.h"
#include "sim/Worker.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <immintrin.h>

namespace piton::sim {
namespace {

/// Large enough that packing is little of the work, small enough for the second-level cache.
constexpr int64_t kTileRows = 192, kTileColumns = 512;
/// Below that many multiplications a second thread costs more than it saves.
constexpr double kSerialProducts = 1 << 16;

//===-- Element conversion ------------------------------------------------------------------===//

float fromHalf(uint16_t bits) {
  uint32_t sign = uint32_t(bits & 0x8000) << 16, exponent = bits >> 10 & 31, mantissa = bits & 1023;
  if (exponent == 31)
    return std::bit_cast<float>(sign | 0x7F800000 | mantissa << 13);
  float value = exponent ? std::bit_cast<float>((exponent + 112) << 23 | mantissa << 13)
                         : static_cast<float>(mantissa) * 0x1p-24f;
  return sign ? -value : value;
}

uint16_t toHalf(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value), sign = bits >> 16 & 0x8000, rest = bits << 1 >> 1;
  if (rest > 0x7F800000) // NaN, kept quiet
    return static_cast<uint16_t>(sign | 0x7E00 | (rest >> 13 & 1023));
  if (rest >= 0x477FF000) // rounds to infinity
    return static_cast<uint16_t>(sign | 0x7C00);
  if (rest < 0x38800000) // denormal: let the addition round
    return static_cast<uint16_t>(
        sign | (std::bit_cast<uint32_t>(std::bit_cast<float>(rest) + 0.5f) - 0x3F000000));
  uint32_t odd = rest >> 13 & 1;
  return static_cast<uint16_t>(sign | (rest + 0xFFF + odd - 0x38000000) >> 13);
}

float fromBrain(uint16_t bits) { return std::bit_cast<float>(uint32_t(bits) << 16); }

uint16_t toBrain(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits << 1) > 0xFF000000)
    return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

float load(const void *data, int64_t index, ElementType type) {
  if (type == ElementType::F32)
    return static_cast<const float *>(data)[index];
  uint16_t bits = static_cast<const uint16_t *>(data)[index];
  return type == ElementType::F16 ? fromHalf(bits) : fromBrain(bits);
}

#if defined(__x86_64__)
__attribute__((target("avx2,f16c"))) int64_t storeHalvesFast(const float *from, uint16_t *to,
                                                             int64_t count) {
  int64_t i = 0;
  for (; i + 8 <= count; i += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i *>(to + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
  return i;
}
#else
int64_t storeHalvesFast(const float *, uint16_t *, int64_t) { return 0; }
#endif

void storeRow(const float *from, void *to, int64_t count, ElementType type) {
  if (type == ElementType::F32) {
    std::memcpy(to, from, static_cast<size_t>(count) * sizeof(float));
    return;
  }
  auto *out = static_cast<uint16_t *>(to);
  int64_t i = 0;
  if (type == ElementType::F16) {
    if (gemmBestIsa() >= GemmIsa::Avx2)
      i = storeHalvesFast(from, out, count);
    for (; i < count; ++i)
      out[i] = toHalf(from[i]);
    return;
  }
  for (; i < count; ++i)
    out[i] = toBrain(from[i]);
}

//===-- Tiles -------------------------------------------------------------------------------===//

struct Job {
  const ProductRequest &request;
  int64_t elementBytes;
  int64_t tileRows, rowTiles, columnTiles, tiles;
  std::atomic<int64_t> next{0};
  std::atomic<bool> noMemory{false};
};

const void *at(const void *data, int64_t elements, int64_t elementBytes) {
  return static_cast<const char *>(data) + elements * elementBytes;
}

void finishRow(const Job &job, float *row, int64_t batch, int64_t i, int64_t j, int64_t count) {
  const ProductRequest &r = job.request;
  if (r.alpha != 1)
    for (int64_t x = 0; x < count; ++x)
      row[x] *= r.alpha;
  if (r.beta != 0) {
    int64_t first = batch * r.c.batch + i * r.c.row + j * r.c.column;
    for (int64_t x = 0; x < count; ++x)
      row[x] += r.beta * load(r.c.data, first + x * r.c.column, r.type);
  }
  int64_t to = batch * r.dBatch + i * r.dRow + j;
  storeRow(row, static_cast<char *>(r.d) + to * job.elementBytes, count, r.type);
}

void runTile(Job &job, int64_t tile, float *sums, uint8_t *scratch) {
  const ProductRequest &r = job.request;
  int64_t batch = tile / (job.rowTiles * job.columnTiles),
          rest = tile % (job.rowTiles * job.columnTiles);
  int64_t i = rest / job.columnTiles * job.tileRows, j = rest % job.columnTiles * kTileColumns;
  int64_t rows = std::min(job.tileRows, r.m - i), columns = std::min(kTileColumns, r.n - j);
  GemmRequest request = {};
  request.a = at(r.a.data, batch * r.a.batch + i * r.a.row, job.elementBytes);
  request.b = at(r.b.data, batch * r.b.batch + j * r.b.column, job.elementBytes);
  request.c = sums;
  request.m = rows;
  request.n = columns;
  request.k = r.k;
  request.aRow = r.a.row;
  request.aCol = r.a.column;
  request.bRow = r.b.row;
  request.bCol = r.b.column;
  request.cRow = columns;
  request.type = static_cast<uint32_t>(r.type);
  request.flags = kGemmZeroInit;
  (void)gemm(request, scratch, gemmScratchBytes()); // the type was checked
  for (int64_t row = 0; row < rows; ++row)
    finishRow(job, sums + row * columns, batch, i + row, j, columns);
}

void member(void *data, unsigned, unsigned) {
  auto &job = *static_cast<Job *>(data);
  if (job.next.load(std::memory_order_relaxed) >= job.tiles)
    return;
  thread_local Memory memory; // kept: a script multiplies again and again
  size_t scratchBytes = (gemmScratchBytes() + 63) & ~size_t(63);
  if (!memory.reserve(scratchBytes + kTileRows * kTileColumns * sizeof(float))) {
    job.noMemory.store(true, std::memory_order_relaxed);
    return;
  }
  auto *sums = reinterpret_cast<float *>(memory.data() + scratchBytes);
  for (int64_t tile; (tile = job.next.fetch_add(1, std::memory_order_relaxed)) < job.tiles;)
    runTile(job, tile, sums, memory.data());
}

} // namespace

piton_status_t runProduct(const ProductRequest &r) {
  if (r.type != ElementType::F16 && r.type != ElementType::BF16 && r.type != ElementType::F32)
    return piton::fail(PITON_ERROR_INVALID_ARGUMENT,
                       "piton_product: the type is none of fp16, bf16, fp32");
  if (r.batch <= 0 || r.m <= 0 || r.n <= 0)
    return PITON_OK;
  Job job{r, r.type == ElementType::F32 ? 4 : 2, 0, 0, 0, 0};
  job.columnTiles = (r.n + kTileColumns - 1) / kTileColumns;
  // Enough tiles for every thread of a small product.
  double products = static_cast<double>(r.batch) * static_cast<double>(r.m) *
                    static_cast<double>(r.n) * static_cast<double>(std::max<int64_t>(r.k, 1));
  unsigned threads = products < kSerialProducts ? 1 : threadBudget();
  int64_t share = (r.m * r.batch * job.columnTiles + threads - 1) / threads;
  job.tileRows = std::clamp<int64_t>((share + 7) / 8 * 8, 8, kTileRows);
  job.rowTiles = (r.m + job.tileRows - 1) / job.tileRows;
  job.tiles = r.batch * job.rowTiles * job.columnTiles;
  threads = static_cast<unsigned>(std::min<int64_t>(threads, job.tiles));
  if (threads <= 1)
    member(&job, 0, 1);
  else
    runTeam(/*mayUseOpenMP=*/true, threads, member, &job);
  if (job.noMemory.load() && job.next.load() < job.tiles)
    return piton::fail(PITON_ERROR_OUT_OF_MEMORY, "the host has no memory for a matrix product");
  return PITON_OK;
}

} // namespace piton::sim
