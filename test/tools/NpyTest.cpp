// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// .npy files: round trip, what NumPy writes, and damaged ones.

#include "tools/Npy.h"

#include <gtest/gtest.h>

#include <random>

using namespace piton;

namespace {

std::string fileOf(const std::string &dict, const std::string &data, char version = 1) {
  std::string length = {static_cast<char>(dict.size()), '\0'};
  if (version > 1)
    length += std::string(2, '\0');
  return "\x93NUMPY" + std::string(1, version) + std::string(1, '\0') + length + dict + data;
}

std::string refusal(const std::string &file) {
  NpyHeader header;
  std::string_view data;
  std::string error;
  EXPECT_FALSE(readNpy(file, header, data, error));
  EXPECT_TRUE(header.type.empty());
  return error;
}

TEST(Npy, RoundTrip) {
  for (const NpyHeader &in : {NpyHeader{"f4", {2, 3}}, NpyHeader{"i8", {}}, NpyHeader{"b1", {5}},
                              NpyHeader{"V2", {0, 4}}, NpyHeader{"u2", {1, 1, 7}}}) {
    std::string preamble = npyPreamble(in), data(in.bytes(), 'x');
    EXPECT_EQ(preamble.size() % 64, 0u);
    NpyHeader out;
    std::string_view view;
    std::string error, file = preamble + data;
    ASSERT_TRUE(readNpy(file, out, view, error)) << error;
    EXPECT_EQ(out.type, in.type);
    EXPECT_EQ(out.shape, in.shape);
    EXPECT_EQ(view, data);
  }
}

TEST(Npy, WhatNumPyWrites) {
  NpyHeader header;
  std::string_view data;
  std::string error;
  for (char version : {1, 2, 3}) {
    std::string file = fileOf("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }     \n",
                              "abcdefgh", version);
    ASSERT_TRUE(readNpy(file, header, data, error)) << error;
    EXPECT_EQ(header.type, "f4");
    EXPECT_EQ(header.shape, std::vector<uint64_t>{2});
    EXPECT_EQ(data, "abcdefgh");
  }
}

TEST(Npy, Refusals) {
  EXPECT_EQ(refusal("hello"), "it is not a .npy file");
  EXPECT_EQ(refusal(""), "it is not a .npy file");
  EXPECT_EQ(refusal(fileOf("{'descr': '<f4', 'fortran_order': True, 'shape': (2,2), }", "")),
            "it is in Fortran order; save numpy.ascontiguousarray(a) instead");
  EXPECT_EQ(refusal(fileOf("{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }", "")),
            "its type '>f4' is not supported");
  EXPECT_EQ(refusal(fileOf("{'descr': '<c8', 'fortran_order': False, 'shape': (2,), }", "")),
            "its type '<c8' is not supported");
  EXPECT_EQ(
      refusal(fileOf("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }", "")),
      "it holds a structured type; only plain numbers are supported");
  EXPECT_EQ(refusal(fileOf("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", "abcd")),
            "it holds 4 bytes of data, its header announces 12");
  EXPECT_EQ(refusal(fileOf("{'descr': '<f4', 'fortran_order': False, 'shape': (9999999999, "
                           "9999999999), }",
                           "")),
            "its shape is too large");
  EXPECT_EQ(refusal(fileOf("{'descr': '<f4'", "")), "its header is malformed");
  EXPECT_EQ(refusal(fileOf("{'shape': (2,), }", "")), "its header is malformed");
}

TEST(Npy, DamagedFilesNeverCrash) {
  std::mt19937_64 random(3);
  std::string file = npyPreamble({"f4", {2, 3}}) + std::string(24, 'x');
  for (int round = 0; round < 5000; ++round) {
    std::string bytes = file.substr(0, round % 2 ? file.size() : random() % file.size());
    for (int k = 0; k < 3 && !bytes.empty(); ++k)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    NpyHeader header;
    std::string_view data;
    std::string error;
    if (readNpy(bytes, header, data, error)) {
      EXPECT_EQ(data.size(), header.bytes());
    } else {
      EXPECT_FALSE(error.empty());
    }
  }
}

} // namespace
