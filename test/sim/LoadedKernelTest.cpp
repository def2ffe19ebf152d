// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loading images: which are refused, and that no damage brings the process down.

#include "test/sim/TestLaunch.h"

#include <gtest/gtest.h>

#include <random>

using namespace piton;
using namespace piton::test;

namespace {

TEST(LoadedKernel, ImagesAreToldApart) {
  // Equal descriptor numbers must not make the loader return an earlier library.
  for (int i = 0; i < 50; ++i) {
    auto nothing = load("nothing");
    int32_t word = 0;
    EXPECT_EQ(run(load("count"), Args().set(0, &word), 1), PITON_OK);
    EXPECT_EQ(run(nothing, Args().set(0, &word), 1), PITON_OK);
    EXPECT_EQ(word, 1);
  }
}

TEST(LoadedKernel, RefusedImages) {
  std::shared_ptr<const Kernel> kernel;
  auto refused = [&](const KernelMetadata &m, piton_status_t status, const char *part) {
    EXPECT_EQ(simulator().load(testImage(m), kernel), status);
    EXPECT_TRUE(has(lastError(), part)) << lastError();
    EXPECT_FALSE(kernel);
  };
  KernelMetadata m = testMetadata("nothing");
  m.hostCpu = "future";
  m.hostFeatures = "+sse4.2,-avx512f,+amx-bf16,+some-tuning-hint";
  if (!__builtin_cpu_supports("amx-bf16"))
    refused(m, PITON_ERROR_UNSUPPORTED, "uses 'amx-bf16', which this CPU lacks");
  m = testMetadata("nothing");
  m.name = "missing";
  refused(m, PITON_ERROR_INVALID_IMAGE, "no symbol 'piton_entry_missing'");
  m = testMetadata("nothing");
  m.kind = ImageKind::Bisheng;
  refused(m, PITON_ERROR_UNSUPPORTED, "real NPU");
  m.kind = ImageKind::Model;
  refused(m, PITON_ERROR_UNSUPPORTED, "model-mode");
}

TEST(LoadedKernel, CorruptImagesNeverCrash) {
  std::string image = testImage(testMetadata("nothing"));
  std::mt19937_64 random(1);
  for (int round = 0; round < 500; ++round) {
    std::string bytes = image.substr(0, round % 3 ? image.size() : random() % image.size());
    for (int k = 0; k < 8 && !bytes.empty(); ++k)
      bytes[random() % bytes.size()] ^= static_cast<char>(1 + random() % 255);
    std::shared_ptr<const Kernel> kernel;
    EXPECT_NE(simulator().load(bytes, kernel), PITON_OK);
    EXPECT_FALSE(kernel);
  }
}

} // namespace
