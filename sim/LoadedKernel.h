// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A fast-mode kernel image mapped into this process: its entry, where its code lies, and the way
// back from a code address to the Python line.
#ifndef PITON_SIM_LOADEDKERNEL_H
#define PITON_SIM_LOADEDKERNEL_H

#include "runtime/Executor.h"

#include <atomic>

namespace piton::sim {

class LoadedKernel final : public Kernel {
public:
  /// Verifies `image`, checks that this CPU has the features its code uses, and maps it.
  static piton_status_t load(std::string_view image, std::shared_ptr<const Kernel> &out);
  ~LoadedKernel() override;

  KernelEntry entry() const { return entryPoint; }

  /// True if `pc` lies in the image's code.
  bool contains(uint64_t pc) const { return pc >= textBegin && pc < textEnd; }

  /// "file:line" of a code address in this process; empty if the line table does not cover it.
  std::string lineOf(uint64_t pc) const;

  /// Moving estimate of one block's time, nanoseconds; 0 before the first launch. Decides whether
  /// waking other threads pays.
  mutable std::atomic<uint32_t> blockNanoseconds{0};

private:
  piton_status_t map(std::string_view elf);

  void *handle = nullptr;
  KernelEntry entryPoint = nullptr;
  uint64_t base = 0, textBegin = 0, textEnd = 0;
};

/// The first of the comma-separated LLVM feature names ("+avx2,+fma") that this CPU lacks, or an
/// empty text. Names that denote tuning rather than instructions are ignored.
std::string missingCpuFeature(std::string_view features);

} // namespace piton::sim

#endif // PITON_SIM_LOADEDKERNEL_H
