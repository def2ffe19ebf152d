// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text of device prints for every kind of element, and element decoding at its edges.

#include "sim/DevicePrint.h"
#include "sim/Element.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

using namespace piton;
using namespace piton::sim;

namespace {

constexpr uint32_t kPid[3] = {1, 2, 3};

template <typename T>
std::string print(ElementType type, std::vector<T> values, bool hex = false,
                  const char *prefix = " x: ", std::vector<int64_t> shape = {}) {
  if (shape.empty() && values.size() > 1)
    shape = {static_cast<int64_t>(values.size())};
  PrintOperand operand = {values.data(), values.size(), static_cast<uint32_t>(type),
                          static_cast<uint32_t>(shape.size()), shape.data()};
  std::string out;
  formatPrint(out, kPid, prefix, hex, &operand, 1);
  return out;
}

TEST(DevicePrint, Scalars) {
  EXPECT_EQ(print<int32_t>(ElementType::I32, {-7}), "pid (1, 2, 3) idx () x: -7\n");
  EXPECT_EQ(print<uint8_t>(ElementType::U8, {200}), "pid (1, 2, 3) idx () x: 200\n");
  EXPECT_EQ(print<int8_t>(ElementType::I8, {-56}), "pid (1, 2, 3) idx () x: -56\n");
  EXPECT_EQ(print<uint8_t>(ElementType::I1, {1}), "pid (1, 2, 3) idx () x: 1\n");
  EXPECT_EQ(print<int64_t>(ElementType::I64, {INT64_MIN}),
            "pid (1, 2, 3) idx () x: -9223372036854775808\n");
  EXPECT_EQ(print<uint64_t>(ElementType::U64, {UINT64_MAX}),
            "pid (1, 2, 3) idx () x: 18446744073709551615\n");
  EXPECT_EQ(print<uint64_t>(ElementType::Pointer, {0xabc}), "pid (1, 2, 3) idx () x: 0xabc\n");
  EXPECT_EQ(print<float>(ElementType::F32, {1.5f}), "pid (1, 2, 3) idx () x: 1.500000\n");
  EXPECT_EQ(print<double>(ElementType::F64, {-0.25}), "pid (1, 2, 3) idx () x: -0.250000\n");
  EXPECT_EQ(print<uint16_t>(ElementType::F16, {0x3C00}), "pid (1, 2, 3) idx () x: 1.000000\n");
  EXPECT_EQ(print<uint16_t>(ElementType::BF16, {0xC000}), "pid (1, 2, 3) idx () x: -2.000000\n");
  EXPECT_EQ(print<float>(ElementType::F32, {INFINITY}), "pid (1, 2, 3) idx () x: inf\n");
}

TEST(DevicePrint, HexadecimalIsAsWideAsTheType) {
  EXPECT_EQ(print<int8_t>(ElementType::I8, {-1}, true), "pid (1, 2, 3) idx () x: 0xff\n");
  EXPECT_EQ(print<int32_t>(ElementType::I32, {10}, true), "pid (1, 2, 3) idx () x: 0x0000000a\n");
  EXPECT_EQ(print<float>(ElementType::F32, {1.0f}, true), "pid (1, 2, 3) idx () x: 0x3f800000\n");
}

TEST(DevicePrint, IndicesArePadded) {
  std::string text =
      print<int32_t>(ElementType::I32, std::vector<int32_t>(24, 5), false, " x: ", {2, 12});
  EXPECT_EQ(text.substr(0, text.find('\n')), "pid (1, 2, 3) idx (0,  0) x: 5");
  EXPECT_NE(text.find("idx (0, 11) x: 5\n"), std::string::npos);
  EXPECT_NE(text.find("idx (1,  3) x: 5\n"), std::string::npos);
}

TEST(DevicePrint, Prefixes) {
  for (const char *prefix : {"sum", " sum: ", "sum:", "sum: "})
    EXPECT_EQ(print<int32_t>(ElementType::I32, {1}, false, prefix),
              "pid (1, 2, 3) idx () sum: 1\n");
  std::string out;
  formatPrint(out, kPid, "here", false, nullptr, 0);
  EXPECT_EQ(out, "pid (1, 2, 3) here: \n");
}

TEST(DevicePrint, SeveralOperandsAreNumbered) {
  int32_t a = 1;
  float b = 2;
  PrintOperand operands[2] = {{&a, 1, static_cast<uint32_t>(ElementType::I32), 0, nullptr},
                              {&b, 1, static_cast<uint32_t>(ElementType::F32), 0, nullptr}};
  std::string out;
  formatPrint(out, kPid, " x: ", false, operands, 2);
  EXPECT_EQ(out, "pid (1, 2, 3) idx () x: (operand 0) 1\n"
                 "pid (1, 2, 3) idx () x: (operand 1) 2.000000\n");
}

TEST(Element, FloatsAtTheirEdges) {
  auto value = [](uint32_t bits, ElementType type) { return floatElement(&bits, 0, type); };
  EXPECT_EQ(value(0x0001, ElementType::F16), std::ldexp(1, -24));
  EXPECT_EQ(value(0x7BFF, ElementType::F16), 65504);
  EXPECT_TRUE(std::isinf(value(0x7C00, ElementType::F16)));
  EXPECT_TRUE(std::isnan(value(0x7E00, ElementType::F16)));
  EXPECT_EQ(value(0x7E, ElementType::F8E4M3FN), 448);
  EXPECT_TRUE(std::isnan(value(0x7F, ElementType::F8E4M3FN)));
  EXPECT_EQ(value(0x01, ElementType::F8E4M3FN), std::ldexp(1, -9));
  EXPECT_EQ(value(0x7B, ElementType::F8E5M2), 57344);
  EXPECT_TRUE(std::isinf(value(0xFC, ElementType::F8E5M2)));
  EXPECT_EQ(value(0x7F, ElementType::F8E4M3FNUZ), 240);
  EXPECT_TRUE(std::isnan(value(0x80, ElementType::F8E4M3FNUZ)));
  EXPECT_EQ(value(0x7F, ElementType::F8E5M2FNUZ), 57344);
  EXPECT_EQ(value(0x0001, ElementType::BF16), std::ldexp(1, -133));
}

} // namespace
