// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// piton-run and npu-smi as programs: results, files, and one clear error for each misuse.

#include "test/sim/TestImage.h"
#include "tools/Npy.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>

namespace fs = std::filesystem;
using namespace piton;
using namespace piton::test;

namespace {

struct Result {
  int status;
  std::string text; ///< standard output and error
};

Result shell(const std::string &command) {
  Result result = {-1, ""};
  FILE *pipe = popen((command + " 2>&1").c_str(), "r");
  char buffer[4096];
  for (size_t n; (n = fread(buffer, 1, sizeof(buffer), pipe)) > 0;)
    result.text.append(buffer, n);
  result.status = pclose(pipe);
  return result;
}

class PitonRun : public testing::Test {
protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "piton-run-test-XXXXXX").string();
    folder = mkdtemp(name.data());
    KernelMetadata m = testMetadata("iota");
    m.argBytes = 16;
    m.arguments = {{ElementType::Pointer, ElementType::I32, 0, 1, "out"},
                   {ElementType::I32, ElementType::I8, 8, -1, "n"}};
    write("iota.npubin", testImage(m));
    m = testMetadata("product");
    m.arguments = {{ElementType::Pointer, ElementType::F32, 0, 0, "a"},
                   {ElementType::Pointer, ElementType::F32, 8, 0, "b"},
                   {ElementType::Pointer, ElementType::F32, 16, 1, "c"},
                   {ElementType::U32, ElementType::I8, 24, -1, "type"}};
    write("product.npubin", testImage(m));
  }
  void TearDown() override { fs::remove_all(folder); }

  void write(const std::string &name, const std::string &bytes) {
    std::ofstream(folder / name, std::ios::binary) << bytes;
  }
  std::string readBack(const std::string &name) {
    std::ifstream file(folder / name, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }
  Result run(const std::string &arguments) {
    return shell("cd " + folder.string() + " && " PITON_RUN " " + arguments);
  }
  void fails(const std::string &arguments, const std::string &part) {
    Result result = run(arguments);
    EXPECT_NE(result.status, 0) << arguments;
    EXPECT_NE(result.text.find("piton-run: error: "), std::string::npos) << result.text;
    EXPECT_NE(result.text.find(part), std::string::npos) << result.text;
  }

  fs::path folder;
};

template <typename T> std::string bytesOf(const std::vector<T> &values) {
  return std::string(reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T));
}

TEST_F(PitonRun, WritesOutputs) {
  Result result = run("iota.npubin --grid 7 --arg zeros:i32:10x10 --arg i32:99 --out=results");
  ASSERT_EQ(result.status, 0) << result.text;
  std::string file = readBack("results/out.npy"), error;
  NpyHeader header;
  std::string_view data;
  ASSERT_TRUE(readNpy(file, header, data, error)) << error;
  EXPECT_EQ(header.type, "i4");
  EXPECT_EQ(header.shape, (std::vector<uint64_t>{10, 10}));
  std::vector<int32_t> values(100);
  std::memcpy(values.data(), data.data(), data.size());
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(values[i], i < 99 ? i : 0);
}

TEST_F(PitonRun, ReadsArrays) {
  std::vector<float> a(16), unit(16);
  for (int i = 0; i < 16; ++i) {
    a[i] = float(i) / 2;
    unit[i] = i % 5 == 0;
  }
  write("a.npy", npyPreamble({"f4", {4, 4}}) + bytesOf(a));
  write("b.npy", npyPreamble({"f4", {4, 4}}) + bytesOf(unit));
  Result result = run("product.npubin --grid 1,1,1 --arg a.npy --arg b.npy --arg zeros:f32:4x4 "
                      "--arg u32:11 --out . --repeat 3");
  ASSERT_EQ(result.status, 0) << result.text;
  EXPECT_NE(result.text.find("product: median of 3 launches"), std::string::npos) << result.text;
  EXPECT_EQ(readBack("c.npy"), npyPreamble({"f4", {4, 4}}) + bytesOf(a));
  EXPECT_TRUE(fs::exists(folder / "a.npy"));
}

TEST_F(PitonRun, Info) {
  Result result = run("product.npubin --info");
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.text, "kernel product\ntarget Ascend910B3, mix mode aiv\n"
                         "local memory of a block 4096 bytes\n"
                         "argument 0 a: pointer to f32 (input)\n"
                         "argument 1 b: pointer to f32 (input)\n"
                         "argument 2 c: pointer to f32 (output)\n"
                         "argument 3 type: u32\n");
}

TEST_F(PitonRun, Misuse) {
  EXPECT_NE(run("").status, 0);
  EXPECT_EQ(run("--help").status, 0);
  fails("missing.npubin --grid 1", "cannot read 'missing.npubin'");
  fails("--frobnicate", "unknown option '--frobnicate'");
  fails("iota.npubin --arg null --arg i32:1", "--grid is missing");
  fails("iota.npubin --grid", "--grid needs a value");
  fails("iota.npubin --grid 1,2,3,4", "expected one to three numbers");
  fails("iota.npubin --grid 99999999999", "expected one to three numbers");
  fails("iota.npubin --grid 1 --arg null", "takes 2 arguments, 1 are given");
  fails("iota.npubin --grid 1 --arg null --arg zeros:i32:4",
        "argument 1 ('n'): the kernel takes a scalar of type i32 here, not an array");
  fails("iota.npubin --grid 1 --arg i32:4 --arg i32:4", "the kernel takes pointer here");
  fails("iota.npubin --grid 1 --arg zeros:f16:4 --arg i32:4",
        "the array's elements ('f2') have 2 bytes, the kernel's (i32) 4");
  fails("iota.npubin --grid 1 --arg zeros:i32:4y --arg i32:4", "'4y' is no shape");
  fails("iota.npubin --grid 1 --arg zeros:i32:99999999999999 --arg i32:4", "cannot allocate");
  fails("iota.npubin --grid 1 --arg null --arg i32:4000000000", "4000000000 does not fit into i32");
  fails("iota.npubin --grid 1 --arg null --arg i32:4x", "'4x' is no integer");
  fails("iota.npubin --grid 1 --arg null --arg f32:1", "the kernel takes i32 here");
  fails("iota.npubin --grid 1 --arg nothere.npy --arg i32:1", "cannot read 'nothere.npy'");
  fails("iota.npubin --grid 1 --arg iota.npubin --arg i32:1", "it is not a .npy file");
  fails("iota.npubin --grid 1 --arg null --arg i32:1 --out iota.npubin/x", "--out iota.npubin/x");
  fails("iota.npubin --grid 1 --arg null --arg i32:1",
        "/home/user/iota.py:12: invalid store to unmapped address 0x0 (a null pointer?)");
  write("broken.npubin", readBack("iota.npubin").substr(0, 5000));
  fails("broken.npubin --grid 1", "truncated or damaged");
}

TEST(NpuSmi, ListsDevices) {
  Result result = shell("PITON_DEVICE_COUNT=3 TRITON_ASCEND_ARCH=Ascend950 " NPU_SMI " info");
  EXPECT_EQ(result.status, 0);
  EXPECT_NE(result.text.find("| 2    Ascend950PR_9589     | OK "), std::string::npos)
      << result.text;
  EXPECT_EQ(result.text.find("| 3    Ascend"), std::string::npos);
  result = shell("PITON_DEVICE_COUNT=3 " NPU_SMI " info -l");
  EXPECT_NE(result.text.find("Total Count                    : 3"), std::string::npos);
  result = shell("TRITON_ASCEND_ARCH=H100 " NPU_SMI " info");
  EXPECT_NE(result.status, 0);
  EXPECT_NE(result.text.find("TRITON_ASCEND_ARCH = H100 is invalid!"), std::string::npos);
  EXPECT_NE(shell(NPU_SMI " frobnicate").status, 0);
}

} // namespace
