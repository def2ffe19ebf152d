// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM half of the simulator back end: an LLVM module with one kernel becomes a
// position-independent shared object in memory, with its line table.
#ifndef PITON_COMPILER_TARGET_SIMULATORCODEGEN_H
#define PITON_COMPILER_TARGET_SIMULATORCODEGEN_H

#include "abi/KernelImage.h"

#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace piton {

/// The CPU that code is generated for.
struct CodegenCpu {
  std::string name;     ///< as LLVM calls it
  std::string features; ///< every feature the code may use, "+a,+b"; the loader checks them
  bool avx512 = false;  ///< vectors of 512 bits, with masks for bytes and words
};

/// What `cpu` and `features` say, else PITON_HOST_CPU, else this machine. Fails on a name
/// that LLVM does not know and on a CPU that kernels cannot run on.
llvm::Expected<CodegenCpu> resolveCpu(llvm::StringRef cpu, llvm::StringRef features);

struct CodegenOptions {
  std::string entry; ///< the one exported symbol
  CodegenCpu cpu;
  bool loopVectorize = true;
  bool cubeOnly = false;       ///< a kernel for cube cores alone: device functions of that kind
  std::string *dump = nullptr; ///< optimised LLVM IR and assembly are appended
  std::vector<std::pair<std::string, double>> *times = nullptr; ///< milliseconds per step
};

struct CodegenResult {
  std::string elf;
  std::vector<std::string> files;
  std::vector<LineEntry> lines;
};

/// Links the device library, optimises, generates code and links the shared object.
/// Safe to call from several threads at once. The error text is one sentence.
llvm::Expected<CodegenResult> generateSharedObject(std::unique_ptr<llvm::LLVMContext> context,
                                                   std::unique_ptr<llvm::Module> module,
                                                   const CodegenOptions &options);

/// Appends the processor time since the last lap to a list, when there is one.
class StepTimer {
public:
  using Times = std::vector<std::pair<std::string, double>>;
  explicit StepTimer(Times *times) : times(times), start(times ? now() : 0) {}
  void lap(const char *name) {
    if (!times)
      return;
    double end = now();
    times->push_back({name, end - start});
    start = end;
  }

private:
  static double now() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return double(time.tv_sec) * 1e3 + double(time.tv_nsec) * 1e-6;
  }
  Times *times;
  double start;
};

/// True when the device library defines a function of this name.
bool deviceLibraryDefines(llvm::StringRef name);

/// The LLVM type, as text, of a function for distributed kernels by its full link name; nothing
/// when the library has none of that name.
std::optional<std::string> shmemLibrarySignature(llvm::StringRef linkName);

} // namespace piton

#endif // PITON_COMPILER_TARGET_SIMULATORCODEGEN_H
