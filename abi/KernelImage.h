// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compiled artefact ("npubin"): a header, JSON metadata, and a
// position-independent ELF shared object. The checksum covers everything behind
// the header and is verified before the ELF is mapped, because dlopen of a
// truncated file can kill the process.
#ifndef PITON_ABI_KERNELIMAGE_H
#define PITON_ABI_KERNELIMAGE_H

#include "abi/KernelAbi.h"

#include <string>
#include <string_view>
#include <vector>

namespace piton {

/// How an image is executed. `Fast` is native code of the hand-over IR; `Model`
/// is reserved for instruction-level images; `Bisheng` holds a real NPU object
/// that this machine cannot launch.
enum class ImageKind : uint32_t { Fast = 1, Model = 2, Bisheng = 3 };

struct KernelArgument {
  ElementType type = ElementType::I32; ///< Pointer for buffers
  ElementType pointee = ElementType::I8;
  uint32_t offset = 0;     ///< in the packed argument block
  int32_t tensorKind = -1; ///< 0 input, 1 output, 2 both, -1 unknown
  std::string name;        ///< the Python name, may be empty
};

/// One row of the line table: code at [offset, next row's offset) of the text
/// belongs to this source line. Rows are sorted by offset; offsets are ELF
/// virtual addresses.
struct LineEntry {
  uint64_t address = 0;
  uint32_t file = 0; ///< index into KernelMetadata::files
  uint32_t line = 0;
};

struct KernelMetadata {
  ImageKind kind = ImageKind::Fast;
  std::string name;            ///< kernel symbol without kEntryPrefix
  std::string target;          ///< e.g. "Ascend910B3"
  std::string hostCpu;         ///< CPU the code was generated for
  std::string hostFeatures;    ///< features the code may use; checked at load
  std::string mixMode = "aiv"; ///< aiv, aic or mix
  std::string parallelMode = "simd";
  uint64_t arenaBytes = 0; ///< local memory of one block
  uint64_t stackBytes = 0; ///< upper bound of native stack use, 0 = unknown
  uint64_t argBytes = 0;
  uint64_t lockWords = 0;      ///< 8-byte words of the lock buffer
  uint64_t workspaceBytes = 0; ///< per block
  uint64_t sharedBytes = 0;    ///< per block, for its two sides; 0 where one runs for both
  bool canBlock = false;       ///< may wait for another block: run blocks as fibers
  bool distributed = false;    ///< needs an initialised symmetric heap
  std::vector<KernelArgument> arguments;
  std::vector<std::string> files;
  std::vector<LineEntry> lines;
};

/// Bytes of one element in memory.
uint32_t elementBytes(ElementType type);

/// Bytes of an argument's slot in the packed block: 8 for pointers and 64-bit scalars, else 4.
uint32_t argumentSlotBytes(ElementType type);

/// Serialises an image. Never fails.
std::string writeKernelImage(const KernelMetadata &metadata, std::string_view elf);

/// Parses and verifies an image. On failure returns false and sets `error` to one
/// sentence that names what is wrong and where; outputs are then untouched.
bool readKernelImage(std::string_view bytes, KernelMetadata &metadata, std::string_view &elf,
                     std::string &error);

} // namespace piton

#endif // PITON_ABI_KERNELIMAGE_H
