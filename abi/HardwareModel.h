// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every number of the NPU that compiler and machine use, once: cores, clocks, memory sizes,
// alignments and limits of each SoC. A literal such as a buffer size anywhere else is a defect.
// Sizes are bytes. Zero means that no value has been published.
#ifndef PITON_ABI_HARDWAREMODEL_H
#define PITON_ABI_HARDWAREMODEL_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace piton {

/// Generations that differ in programming model, not only in numbers.
enum class SocFamily : uint32_t { A2, A3, Ascend310P, Ascend310B, Ascend950 };

/// One SoC. Buffers are per core: UB per vector core, L1 and L0* per cube core.
struct HardwareModel {
  const char *name;           ///< as `TRITON_ASCEND_ARCH` and `--target` spell it
  const char *compilerTarget; ///< name the real NPU compiler takes; null where it knows none
  const char *arch;           ///< ISA of the cores, e.g. "dav-c220"
  SocFamily family;

  uint32_t aiCores;     ///< physical AI cores = residency of cube and mixed kernels
  uint32_t cubeCores;   ///< AIC
  uint32_t vectorCores; ///< AIV = residency of vector kernels
  uint32_t clockMHz;
  uint64_t gmBytes; ///< global memory (HBM); see memoryCapacity()
  uint64_t l2Bytes;

  uint64_t ubBytes;         ///< what a kernel may use
  uint64_t ubHardwareBytes; ///< what the core has; 950 keeps 8 KiB back
  uint64_t l1Bytes;
  uint64_t l0aBytes;
  uint64_t l0bBytes;
  uint64_t l0cBytes;
  uint64_t btBytes; ///< bias table
  uint32_t ubAlign;
  uint32_t l1Align;
  uint32_t l0abAlign; ///< one fractal
  uint32_t l0cAlign;
  uint64_t minDataCacheBytes; ///< SIMT data cache, taken from UB (950 only)
  uint64_t maxDataCacheBytes;

  uint32_t maxBlocks; ///< largest grid of one launch
  uint32_t systemCounterMHz;
  bool ffts;     ///< cross-core flags need the FFTS base address as first argument
  bool xFastest; ///< program ids: x varies fastest (950) instead of z (A2, A3)

  bool isA5() const { return family == SocFamily::Ascend950; }

  /// Physical cores that run blocks of a kernel with this `mixMode` ("aiv", "aic", "mix"):
  /// the number of blocks that are alive together.
  uint32_t coresFor(std::string_view mixMode) const {
    return mixMode == "aiv" ? vectorCores : aiCores;
  }

  /// gmBytes, or an assumed 8 GiB where none is published.
  uint64_t memoryCapacity() const { return gmBytes ? gmBytes : uint64_t(8) << 30; }
};

/// Largest grid of a launch on every SoC, UINT16_MAX.
inline constexpr uint32_t kMaxLaunchBlocks = 65535;

/// Used when nothing selects another SoC.
inline constexpr char kDefaultSoc[] = "Ascend910B3";

/// All SoCs, in the order of the published tables.
const std::vector<HardwareModel> &allHardwareModels();

/// Looks up a SoC by name; `Ascend950`, `Ascend910_95` and `Ascend910B4_1` are aliases. On failure
/// returns null and, if given, sets `error` to `TRITON_ASCEND_ARCH = <x> is invalid!` followed by
/// the list of candidates.
const HardwareModel *findHardwareModel(std::string_view name, std::string *error = nullptr);

/// The SoC that `TRITON_ASCEND_ARCH` names, or the default when it is unset or empty.
const HardwareModel *selectedHardwareModel(std::string *error = nullptr);

} // namespace piton

#endif // PITON_ABI_HARDWAREMODEL_H
