// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes kernel images out of the compiled test kernels.
#ifndef PITON_TEST_SIM_TESTIMAGE_H
#define PITON_TEST_SIM_TESTIMAGE_H

#include "abi/KernelImage.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <iterator>
#include <string>

namespace piton::test {

inline const std::string &testElf() {
  static const std::string bytes = [] {
    std::ifstream file(PITON_TEST_KERNELS, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }();
  return bytes;
}

/// ELF address of a kernel's entry.
inline uint64_t entryAddress(const std::string &kernel) {
  void *library = dlopen(PITON_TEST_KERNELS, RTLD_NOW | RTLD_LOCAL);
  void *entry = library ? dlsym(library, (kEntryPrefix + kernel).c_str()) : nullptr;
  Dl_info info = {};
  if (!entry || !dladdr(entry, &info))
    std::abort();
  return reinterpret_cast<uint64_t>(entry) - reinterpret_cast<uint64_t>(info.dli_fbase);
}

/// Metadata of a test kernel; line 12 of <kernel>.py covers its code.
inline KernelMetadata testMetadata(const std::string &kernel) {
  KernelMetadata m;
  m.name = kernel;
  m.target = "Ascend910B3";
  m.hostCpu = "x86-64";
  m.arenaBytes = 4096;
  m.stackBytes = 4096;
  m.argBytes = 32;
  m.files = {"/home/user/" + kernel + ".py"};
  m.lines = {{entryAddress(kernel), 0, 12}};
  return m;
}

inline std::string testImage(const KernelMetadata &metadata) {
  return writeKernelImage(metadata, testElf());
}

/// An argument block of 32 bytes.
struct Args {
  alignas(8) uint8_t bytes[32] = {};
  template <typename T> Args &set(unsigned offset, T value) {
    std::memcpy(bytes + offset, &value, sizeof(value));
    return *this;
  }
};

} // namespace piton::test

#endif // PITON_TEST_SIM_TESTIMAGE_H
