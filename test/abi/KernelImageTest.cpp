// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Round trip of an image, and that no truncation, bit flip or forged field gets past the reader.

#include "abi/KernelImage.h"

#include <gtest/gtest.h>

#include <cstring>
#include <elf.h>
#include <random>

using namespace piton;

namespace {

/// The smallest ELF that the reader accepts: a header and one segment.
std::string tinyElf() {
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_type = ET_DYN;
  header.e_machine = EM_X86_64;
  header.e_phoff = sizeof(header);
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 1;
  Elf64_Phdr segment = {};
  segment.p_type = PT_LOAD;
  segment.p_filesz = sizeof(header) + sizeof(segment);
  std::string out(reinterpret_cast<const char *>(&header), sizeof(header));
  return out.append(reinterpret_cast<const char *>(&segment), sizeof(segment));
}

KernelMetadata sample() {
  KernelMetadata m;
  m.name = "add_kernel";
  m.target = "Ascend910B3";
  m.hostCpu = "znver3";
  m.hostFeatures = "+avx2,+fma";
  m.mixMode = "mix";
  m.arenaBytes = 4096;
  m.sharedBytes = 192;
  m.stackBytes = 512;
  m.argBytes = 24;
  m.lockWords = 8;
  m.workspaceBytes = 128;
  m.canBlock = true;
  m.arguments = {{ElementType::Pointer, ElementType::F32, 0, 0, "x"},
                 {ElementType::Pointer, ElementType::F16, 8, 1, "out"},
                 {ElementType::I32, ElementType::I8, 16, -1, "n"}};
  m.files = {"/home/user/add.py", "h\xc3\xa4lp.py"};
  m.lines = {{0x1000, 0, 12}, {0x1010, 1, 7}};
  return m;
}

bool read(std::string_view bytes, std::string &error) {
  KernelMetadata m;
  std::string_view elf;
  return readKernelImage(bytes, m, elf, error);
}

TEST(KernelImage, RoundTrip) {
  KernelMetadata in = sample(), out;
  std::string elf = tinyElf(), image = writeKernelImage(in, elf), error;
  std::string_view code;
  ASSERT_TRUE(readKernelImage(image, out, code, error)) << error;
  EXPECT_EQ(code, elf);
  EXPECT_EQ((code.data() - image.data()) % 64, 0);
  EXPECT_EQ(out.name, in.name);
  EXPECT_EQ(out.target, in.target);
  EXPECT_EQ(out.hostCpu, in.hostCpu);
  EXPECT_EQ(out.hostFeatures, in.hostFeatures);
  EXPECT_EQ(out.mixMode, in.mixMode);
  EXPECT_EQ(out.parallelMode, in.parallelMode);
  EXPECT_EQ(out.arenaBytes, in.arenaBytes);
  EXPECT_EQ(out.sharedBytes, in.sharedBytes);
  EXPECT_EQ(out.stackBytes, in.stackBytes);
  EXPECT_EQ(out.argBytes, in.argBytes);
  EXPECT_EQ(out.lockWords, in.lockWords);
  EXPECT_EQ(out.workspaceBytes, in.workspaceBytes);
  EXPECT_TRUE(out.canBlock);
  EXPECT_FALSE(out.distributed);
  ASSERT_EQ(out.arguments.size(), 3u);
  EXPECT_EQ(out.arguments[1].pointee, ElementType::F16);
  EXPECT_EQ(out.arguments[1].tensorKind, 1);
  EXPECT_EQ(out.arguments[2].name, "n");
  EXPECT_EQ(out.files, in.files);
  ASSERT_EQ(out.lines.size(), 2u);
  EXPECT_EQ(out.lines[1].address, 0x1010u);
  EXPECT_EQ(out.lines[1].line, 7u);
}

TEST(KernelImage, EveryTruncationIsRefused) {
  std::string image = writeKernelImage(sample(), tinyElf());
  for (size_t n = 0; n < image.size(); ++n) {
    std::string error;
    ASSERT_FALSE(read(std::string_view(image).substr(0, n), error)) << n;
    ASSERT_FALSE(error.empty());
  }
}

TEST(KernelImage, EveryBitFlipIsRefused) {
  std::string image = writeKernelImage(sample(), tinyElf());
  for (size_t i = 0; i < image.size() * 8; ++i) {
    image[i / 8] ^= 1 << (i % 8);
    std::string error;
    ASSERT_FALSE(read(image, error)) << i;
    image[i / 8] ^= 1 << (i % 8);
  }
}

TEST(KernelImage, RandomBytesAreRefused) {
  std::mt19937_64 random(7);
  std::string image = writeKernelImage(sample(), tinyElf());
  for (int round = 0; round < 2000; ++round) {
    std::string bytes = image;
    for (int k = 0; k < 16; ++k)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    std::string error;
    if (bytes != image)
      ASSERT_FALSE(read(bytes, error));
  }
}

/// Metadata that a correct checksum does not make right.
TEST(KernelImage, ForgedMetadataIsRefused) {
  auto refused = [](auto &&change, const char *expected) {
    KernelMetadata m = sample();
    change(m);
    std::string error;
    EXPECT_FALSE(read(writeKernelImage(m, tinyElf()), error)) << expected;
    EXPECT_NE(error.find(expected), std::string::npos) << error;
  };
  using M = KernelMetadata;
  refused([](M &m) { m.name.clear(); }, "no name");
  refused([](M &m) { m.name.assign(5000, 'x'); }, "at most 4096");
  refused([](M &m) { m.mixMode = "simd"; }, "none of aiv, aic, mix");
  refused([](M &m) { m.kind = ImageKind(9); }, "'kind' is 9");
  refused([](M &m) { m.kind = ImageKind(0); }, "kind 0");
  refused([](M &m) { m.arenaBytes = UINT64_MAX; }, "'arenaBytes'");
  refused([](M &m) { m.argBytes = 16; }, "argument 2 at offset 16");
  refused([](M &m) { m.arguments[1].offset = 4; }, "argument 1 at offset 4");
  refused([](M &m) { m.arguments[0].tensorKind = 3; }, "tensor kind 3");
  refused([](M &m) { m.arguments[0].type = ElementType(99); }, "argument 0 is malformed");
  refused([](M &m) { m.lines[0].file = 2; }, "row 0 of the line table");
  refused([](M &m) { m.lines[1].address = 0; }, "row 1 of the line table");
}

TEST(KernelImage, BadCodeIsRefused) {
  auto refused = [](std::string elf, const char *expected) {
    std::string error;
    EXPECT_FALSE(read(writeKernelImage(sample(), elf), error)) << expected;
    EXPECT_NE(error.find(expected), std::string::npos) << error;
  };
  refused("", "less than an ELF header");
  refused(std::string(200, 'x'), "not an x86-64 ELF shared object");
  std::string elf = tinyElf();
  refused(elf.substr(0, sizeof(Elf64_Ehdr)), "program headers lie behind");
  Elf64_Phdr segment;
  std::memcpy(&segment, elf.data() + sizeof(Elf64_Ehdr), sizeof(segment));
  segment.p_filesz = UINT64_MAX;
  std::memcpy(elf.data() + sizeof(Elf64_Ehdr), &segment, sizeof(segment));
  refused(elf, "segment 0 lies behind");
  // An NPU object is carried, not inspected.
  KernelMetadata m = sample();
  m.kind = ImageKind::Bisheng;
  std::string error;
  EXPECT_TRUE(read(writeKernelImage(m, "npu object"), error)) << error;
}

TEST(KernelImage, NonUtf8NamesSurviveAsReplacements) {
  KernelMetadata m = sample(), out;
  m.files[0] = "caf\xe9.py";
  std::string image = writeKernelImage(m, tinyElf()), error;
  std::string_view elf;
  ASSERT_TRUE(readKernelImage(image, out, elf, error)) << error;
  EXPECT_EQ(out.files[0], "caf\xef\xbf\xbd.py");
}

TEST(KernelImage, OutputsUntouchedOnFailure) {
  KernelMetadata m;
  m.name = "before";
  std::string_view elf = "before";
  std::string error;
  EXPECT_FALSE(readKernelImage("PITONIMG", m, elf, error));
  EXPECT_EQ(m.name, "before");
  EXPECT_EQ(elf, "before");
}

} // namespace
