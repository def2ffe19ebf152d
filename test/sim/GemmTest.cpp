// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The forms of the tile product against the plain loops, on random requests.
// Operands lie in buffers of exactly the bytes they span, so that a sanitizer
// sees a read too far; what lies between their elements is NaN (or 77), and what
// lies between the rows of C must survive.
#include "sim/Gemm.h"

#include "sim/GemmReference.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <vector>

using namespace piton;
using namespace piton::sim;

namespace {

constexpr ElementType kTypes[] = {
    ElementType::F32,    ElementType::F64,        ElementType::F16,
    ElementType::BF16,   ElementType::I8,         ElementType::F8E4M3FN,
    ElementType::F8E5M2, ElementType::F8E4M3FNUZ, ElementType::F8E5M2FNUZ};

int64_t bytesOf(ElementType type) {
  switch (type) {
  case ElementType::F64:
    return 8;
  case ElementType::F32:
    return 4;
  case ElementType::F16:
  case ElementType::BF16:
    return 2;
  default:
    return 1;
  }
}

int64_t bytesOfC(ElementType type) { return type == ElementType::F64 ? 8 : 4; }

/// How the values of a test are chosen.
enum class Values {
  Integers, ///< small: every order of summation gives the same, so results must be equal
  Special,  ///< integers with NaN, infinities and zeros among them; equal, too
  Codes,    ///< any bit pattern of the type, without NaN and infinity
};

uint16_t encodeF16(float value) { // exact for the small integers and the specials used here
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint16_t sign = uint16_t(bits >> 16 & 0x8000);
  if (std::isnan(value))
    return 0x7e01;
  if (std::isinf(value))
    return sign | 0x7c00;
  if (value == 0)
    return sign;
  return uint16_t(sign | (((bits >> 23 & 0xff) - 127 + 15) << 10) | (bits >> 13 & 0x3ff));
}

uint8_t encodeF8(ElementType type, float value) {
  const float *table = gemmF8Values(type);
  for (unsigned code = 0; code < 256; ++code)
    if (std::isnan(value) ? std::isnan(table[code]) : table[code] == value)
      return uint8_t(code);
  return 0; // a type without infinities
}

void put(ElementType type, char *at, float value) {
  switch (type) {
  case ElementType::F64: {
    double wide = value;
    std::memcpy(at, &wide, 8);
    return;
  }
  case ElementType::F32:
    std::memcpy(at, &value, 4);
    return;
  case ElementType::F16: {
    uint16_t bits = encodeF16(value);
    std::memcpy(at, &bits, 2);
    return;
  }
  case ElementType::BF16: {
    uint16_t bits = uint16_t(std::bit_cast<uint32_t>(value) >> 16);
    std::memcpy(at, &bits, 2);
    return;
  }
  case ElementType::I8:
    *at = static_cast<char>(static_cast<int8_t>(value));
    return;
  default:
    *at = static_cast<char>(encodeF8(type, value));
  }
}

/// One element, by a 1 x 1 x 1 product.
double read(ElementType type, const void *at) {
  if (type == ElementType::I8)
    return *static_cast<const int8_t *>(at);
  char one[8];
  put(type, one, 1);
  double wide = 0;
  float value = 0;
  GemmRequest request{at, one, &value, 1, 1, 1, 1, 1, 1, 1, 1, uint32_t(type), kGemmZeroInit};
  if (type == ElementType::F64)
    request.c = &wide;
  EXPECT_TRUE(gemmReference(request));
  return type == ElementType::F64 ? wide : double(value);
}

class Random {
public:
  explicit Random(uint64_t seed) : engine(seed) {}
  int64_t range(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(engine);
  }
  int64_t pick(std::initializer_list<int64_t> list) {
    return list.begin()[range(0, int64_t(list.size()) - 1)];
  }

private:
  std::mt19937_64 engine;
};

/// A matrix somewhere in a buffer that holds nothing else.
struct Matrix {
  std::unique_ptr<char[]> buffer;
  int64_t bytes = 0;
  int64_t origin = 0; ///< byte of element (0, 0)
  int64_t row = 0, col = 0;

  char *at() const { return buffer.get() + origin; }
};

Matrix makeMatrix(Random &random, ElementType type, int64_t rows, int64_t cols, Values values) {
  Matrix result;
  int64_t size = bytesOf(type);
  switch (random.range(0, 4)) {
  case 0: // row-major, dense
    result.row = cols;
    result.col = 1;
    break;
  case 1: // row-major with a gap
    result.row = cols + random.range(1, 40);
    result.col = 1;
    break;
  case 2: // transposed with or without a gap
    result.row = 1;
    result.col = rows + random.pick({0, 0, 1, 7, 64});
    break;
  case 3: // both strides above 1
    result.col = random.range(2, 3);
    result.row = cols * result.col + random.range(0, 3);
    break;
  default: // one row or one column for all: broadcast
    result.row = random.range(0, 1);
    result.col = result.row ? 0 : random.range(0, 1);
  }
  if (random.range(0, 3) == 0)
    result.row = -result.row;
  if (random.range(0, 5) == 0)
    result.col = -result.col;
  int64_t lastRow = result.row * (rows - 1), lastCol = result.col * (cols - 1);
  int64_t low = std::min<int64_t>(lastRow, 0) + std::min<int64_t>(lastCol, 0);
  int64_t high = std::max<int64_t>(lastRow, 0) + std::max<int64_t>(lastCol, 0);
  result.bytes = (high - low + 1) * size;
  result.origin = -low * size;
  result.buffer = std::make_unique<char[]>(size_t(result.bytes));
  float filler = type == ElementType::I8 ? 77 : std::numeric_limits<float>::quiet_NaN();
  for (int64_t i = 0; i < result.bytes; i += size)
    put(type, result.buffer.get() + i, filler);
  int64_t bound = type == ElementType::I8 ? 128 : size == 1 ? 2 : 4;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < cols; ++j) {
      char *at = result.at() + (i * result.row + j * result.col) * size;
      if (values == Values::Codes) {
        do {
          for (int64_t b = 0; b < size; ++b)
            at[b] = char(random.range(-128, 127));
          if (size > 2) // exponents near 0: the bound on the error below must not overflow
            at[size - 1] = char(random.pick({0x3f, 0xbf - 256}));
          if (size == 2)
            at[1] = char(at[1] & 0xbf);
        } while (!std::isfinite(read(type, at)));
        continue;
      }
      float value = float(random.range(-bound, bound - 1));
      if (values == Values::Special && type != ElementType::I8) {
        int64_t which = random.range(0, 199);
        value = which == 0   ? std::numeric_limits<float>::quiet_NaN()
                : which == 1 ? std::numeric_limits<float>::infinity()
                : which == 2 ? -std::numeric_limits<float>::infinity()
                : which < 40 ? 0.0f
                             : value;
      }
      put(type, at, value);
    }
  return result;
}

double readC(ElementType type, const char *c, int64_t index) {
  if (type == ElementType::F64) {
    double value;
    std::memcpy(&value, c + 8 * index, 8);
    return value;
  }
  if (type == ElementType::I8) {
    int32_t value;
    std::memcpy(&value, c + 4 * index, 4);
    return value;
  }
  float value;
  std::memcpy(&value, c + 4 * index, 4);
  return value;
}

/// Sum over k of |a| * |b| for one element of C.
double magnitude(const GemmRequest &request, ElementType type, int64_t i, int64_t j) {
  double sum = 0;
  int64_t size = bytesOf(type);
  for (int64_t p = 0; p < request.k; ++p)
    sum += std::fabs(read(type, static_cast<const char *>(request.a) +
                                    (i * request.aRow + p * request.aCol) * size) *
                     read(type, static_cast<const char *>(request.b) +
                                    (p * request.bRow + j * request.bCol) * size));
  return sum;
}

class Scratch {
public:
  Scratch() : memory(std::aligned_alloc(64, (gemmScratchBytes() + 63) / 64 * 64), &std::free) {}
  void *get() const { return memory.get(); }

private:
  std::unique_ptr<void, decltype(&std::free)> memory;
};

void check(Random &random, GemmIsa isa, ElementType type, Values values, int64_t m, int64_t n,
           int64_t k) {
  Matrix a = makeMatrix(random, type, m, k, values);
  Matrix b = makeMatrix(random, type, k, n, values);
  int64_t cBytes = bytesOfC(type);
  int64_t cRow = n + random.pick({0, 0, 1, 13});
  std::vector<char> start(size_t(((m - 1) * cRow + n) * cBytes));
  for (int64_t i = 0; i < int64_t(start.size()); i += cBytes) {
    int32_t number = int32_t(random.range(-9, 9));
    float single = float(number);
    double wide = number;
    std::memcpy(start.data() + i,
                cBytes == 8               ? static_cast<void *>(&wide)
                : type == ElementType::I8 ? static_cast<void *>(&number)
                                          : static_cast<void *>(&single),
                size_t(cBytes));
  }
  std::vector<char> expected = start, actual = start;
  uint32_t flags = random.range(0, 1) ? kGemmZeroInit : 0;
  GemmRequest request{a.at(), b.at(), expected.data(), m,    n, k, a.row, a.col, b.row,
                      b.col,  cRow,   uint32_t(type),  flags};
  ASSERT_TRUE(gemmReference(request));
  request.c = actual.data();
  Scratch scratch;
  // Garbage from earlier requests must not matter.
  std::memset(scratch.get(), 0xff, gemmScratchBytes());
  ASSERT_TRUE(gemmFor(isa, request, scratch.get(), gemmScratchBytes()));

  SCOPED_TRACE(testing::Message() << gemmIsaName(isa) << " type " << int(type) << " values "
                                  << int(values) << " m " << m << " n " << n << " k " << k << " a "
                                  << a.row << "," << a.col << " b " << b.row << "," << b.col
                                  << " c " << cRow << " flags " << flags);
  double epsilon = type == ElementType::F64 ? 0x1p-52 : 0x1p-23;
  for (int64_t index = 0; index * cBytes < int64_t(start.size()); ++index) {
    double want = readC(type, expected.data(), index), got = readC(type, actual.data(), index);
    if (std::memcmp(expected.data() + index * cBytes, actual.data() + index * cBytes,
                    size_t(cBytes)) == 0 ||
        want == got || (std::isnan(want) && std::isnan(got)))
      continue;
    int64_t i = index / cRow, j = index % cRow;
    double bound = values == Values::Codes && type != ElementType::I8 && j < n
                       ? double(k + 1) * epsilon * (magnitude(request, type, i, j) + 9)
                       : 0;
    ASSERT_LE(std::fabs(want - got), bound) << "row " << i << " column " << j;
  }
}

class GemmTest : public testing::TestWithParam<GemmIsa> {
protected:
  void SetUp() override {
    if (GetParam() > gemmBestIsa())
      GTEST_SKIP() << "this machine has only " << gemmIsaName(gemmBestIsa());
  }
  /// PITON_TEST_SEED repeats a run.
  static uint64_t seed() {
    static const uint64_t value = [] {
      const char *text = std::getenv("PITON_TEST_SEED");
      uint64_t chosen = text ? std::strtoull(text, nullptr, 0) : std::random_device()();
      std::printf("PITON_TEST_SEED=%llu\n", static_cast<unsigned long long>(chosen));
      return chosen;
    }();
    return value;
  }
};

TEST_P(GemmTest, SmallShapesAreExact) {
  Random random(seed());
  for (ElementType type : kTypes)
    for (int64_t n : {1, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33})
      for (int64_t m : {1, 2, 5, 6, 7, 12, 13})
        check(random, GetParam(), type, Values::Integers, m, n, random.range(1, 20));
}

TEST_P(GemmTest, RandomShapesAreExact) {
  Random random(seed() + 1);
  for (ElementType type : kTypes)
    for (int run = 0; run < 25; ++run)
      check(random, GetParam(), type, Values::Integers, random.range(1, 200), random.range(1, 200),
            random.range(1, 200));
}

TEST_P(GemmTest, SeveralBlocks) { // beyond the rows and the depth packed at a time
  Random random(seed() + 2);
  for (ElementType type : kTypes) {
    check(random, GetParam(), type, Values::Integers, 241 + random.range(0, 20), 35, 21);
    check(random, GetParam(), type, Values::Integers, 19, 33, 257 + random.range(0, 300));
    check(random, GetParam(), type, Values::Integers, 7, 18, 1025 + random.range(0, 70));
  }
}

TEST_P(GemmTest, NanAndInfinityPropagate) {
  Random random(seed() + 3);
  for (ElementType type : kTypes)
    for (int run = 0; run < 12; ++run)
      check(random, GetParam(), type, Values::Special, random.range(1, 70), random.range(1, 70),
            random.range(1, 40));
}

TEST_P(GemmTest, EveryCodeWithinRounding) { // denormals, all F8 codes, -128
  Random random(seed() + 4);
  for (ElementType type : kTypes)
    for (int run = 0; run < 12; ++run)
      check(random, GetParam(), type, Values::Codes, random.range(1, 50), random.range(1, 50),
            random.range(1, 300));
}

TEST_P(GemmTest, DenormalsAreKept) {
  Scratch scratch;
  uint16_t a[4] = {1, 1, 1, 1}, b[4] = {0x3f80, 0x3f80, 0x3f80, 0x3f80}; // 2^-133 and 1 as BF16
  float c = 0;
  GemmRequest request{a, b, &c, 1, 1, 4, 4, 1, 1, 1, 1, uint32_t(ElementType::BF16), 0};
  ASSERT_TRUE(gemmFor(GetParam(), request, scratch.get(), gemmScratchBytes()));
  EXPECT_EQ(c, 0x1p-131f);
}

TEST_P(GemmTest, I8ExtremesAndWrap) {
  Scratch scratch;
  std::vector<int8_t> a(4096, -128), b(4096, -128);
  std::vector<int32_t> c(1, std::numeric_limits<int32_t>::max());
  GemmRequest request{
      a.data(), b.data(), c.data(), 1, 1, 4096, 4096, 1, 1, 1, 1, uint32_t(ElementType::I8), 0};
  ASSERT_TRUE(gemmFor(GetParam(), request, scratch.get(), gemmScratchBytes()));
  EXPECT_EQ(c[0], int32_t(uint32_t(0x7fffffff) + (uint32_t(1) << 26)));
}

TEST_P(GemmTest, EmptySizes) {
  Scratch scratch;
  float a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8}, c[4] = {9, 9, 9, 9};
  GemmRequest request{a, b, c, 2, 2, 0, 2, 1, 2, 1, 2, uint32_t(ElementType::F32), 0};
  ASSERT_TRUE(gemmFor(GetParam(), request, scratch.get(), gemmScratchBytes()));
  EXPECT_EQ(c[3], 9);
  request.flags = kGemmZeroInit;
  request.n = 1;
  ASSERT_TRUE(gemmFor(GetParam(), request, scratch.get(), gemmScratchBytes()));
  EXPECT_EQ(c[0], 0);
  EXPECT_EQ(c[1], 9);
  EXPECT_EQ(c[2], 0);
  request.m = 0;
  request.k = 2;
  c[0] = 3;
  ASSERT_TRUE(gemmFor(GetParam(), request, scratch.get(), gemmScratchBytes()));
  EXPECT_EQ(c[0], 3);
}

TEST_P(GemmTest, RefusesWhatItCannotDo) {
  Scratch scratch;
  int32_t a = 1, b = 1, c = 5;
  GemmRequest request{&a, &b, &c, 1, 1, 1, 1, 1, 1, 1, 1, uint32_t(ElementType::I32), 0};
  EXPECT_FALSE(gemmFor(GetParam(), request, scratch.get(), gemmScratchBytes()));
  request.type = 1000;
  EXPECT_FALSE(gemmFor(GetParam(), request, scratch.get(), gemmScratchBytes()));
  request.type = uint32_t(ElementType::F32);
  EXPECT_FALSE(gemmFor(GetParam(), request, scratch.get(), gemmScratchBytes() - 1));
  EXPECT_FALSE(gemmFor(GetParam(), request, nullptr, gemmScratchBytes()));
  EXPECT_EQ(c, 5);
}

INSTANTIATE_TEST_SUITE_P(Isa, GemmTest,
                         testing::Values(GemmIsa::Portable, GemmIsa::Avx2, GemmIsa::Avx512,
                                         GemmIsa::Avx512Vnni),
                         [](const auto &info) { return std::string(gemmIsaName(info.param)); });

TEST(GemmReferenceTest, F8Values) {
  const float *e4m3 = gemmF8Values(ElementType::F8E4M3FN);
  EXPECT_EQ(e4m3[0x01], 0x1p-9f);
  EXPECT_EQ(e4m3[0x38], 1.0f);
  EXPECT_EQ(e4m3[0x7e], 448.0f);
  EXPECT_TRUE(std::isnan(e4m3[0x7f]) && std::isnan(e4m3[0xff]));
  EXPECT_TRUE(std::signbit(e4m3[0x80]));
  const float *e5m2 = gemmF8Values(ElementType::F8E5M2);
  EXPECT_EQ(e5m2[0x01], 0x1p-16f);
  EXPECT_EQ(e5m2[0x7b], 57344.0f);
  EXPECT_TRUE(std::isinf(e5m2[0x7c]) && std::isnan(e5m2[0x7d]));
  const float *e4m3z = gemmF8Values(ElementType::F8E4M3FNUZ);
  EXPECT_EQ(e4m3z[0x7f], 240.0f);
  EXPECT_EQ(e4m3z[0x01], 0x1p-10f);
  EXPECT_TRUE(std::isnan(e4m3z[0x80]));
  const float *e5m2z = gemmF8Values(ElementType::F8E5M2FNUZ);
  EXPECT_EQ(e5m2z[0x7f], 57344.0f);
  EXPECT_EQ(e5m2z[0x01], 0x1p-17f);
  EXPECT_TRUE(std::isnan(e5m2z[0x80]));
  EXPECT_EQ(gemmF8Values(ElementType::F16), nullptr);
}

} // namespace
