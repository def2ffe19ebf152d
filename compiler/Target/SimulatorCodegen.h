// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM half of the simulator back end: an LLVM module with one kernel becomes a
// position-independent shared object in memory, with its line table.
#ifndef PITON_COMPILER_TARGET_SIMULATORCODEGEN_H
#define PITON_COMPILER_TARGET_SIMULATORCODEGEN_H

#include "abi/KernelImage.h"

#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>
#include <vector>

namespace piton {

struct CodegenOptions {
  std::string entry;    ///< the one exported symbol
  std::string cpu;      ///< empty: this machine's
  std::string features; ///< empty: this machine's
  bool loopVectorize = true;
  std::string *dump = nullptr; ///< optimised LLVM IR and assembly are appended
};

struct CodegenResult {
  std::string elf;
  std::string cpu;
  std::string features;
  std::vector<std::string> files;
  std::vector<LineEntry> lines;
};

/// Links the device library, optimises, generates code and links the shared object.
/// Safe to call from several threads at once. The error text is one sentence.
llvm::Expected<CodegenResult> generateSharedObject(std::unique_ptr<llvm::Module> module,
                                                   const CodegenOptions &options);

/// True when the device library defines a function of this name.
bool deviceLibraryDefines(llvm::StringRef name);

/// The CPU and the feature string that code is generated for by default.
std::string hostCpuName();
std::string hostCpuFeatures();

} // namespace piton

#endif // PITON_COMPILER_TARGET_SIMULATORCODEGEN_H
