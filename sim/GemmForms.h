// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private to the tile product: its entry per instruction set and the sizes that
// they share. Each entry lives in a file built with that instruction set's flags
// and is called only on a machine that has it.
#ifndef PITON_SIM_GEMMFORMS_H
#define PITON_SIM_GEMMFORMS_H

#include "abi/KernelAbi.h"

namespace piton::sim::detail {

/// Rows of A packed at a time.
inline constexpr int64_t kBlockRows = 240;
/// Bytes of K (after conversion) packed at a time: 256 floats, 1024 int8.
inline constexpr int64_t kBlockDepthBytes = 1024;
/// Distance of packed rows of A. The line more than the depth spreads the rows over the sets of
/// the L1 cache.
inline constexpr int64_t kPackedRowBytes = kBlockDepthBytes + 64;
/// Bytes of one row of a packed panel of B: two 64-byte registers.
inline constexpr int64_t kMaxPanelBytes = 128;
inline constexpr int64_t kDepthElements32 = kBlockDepthBytes / 4;
inline constexpr int64_t kScratchBytes =
    kBlockRows * kPackedRowBytes + kDepthElements32 * kMaxPanelBytes;

/// M, N, K are positive and `type` is one that gemmSupports() accepts.
void gemmAvx2(const GemmRequest &request, void *scratch);
/// Every type but I8.
void gemmAvx512(const GemmRequest &request, void *scratch);
/// I8 only.
void gemmAvx512Vnni(const GemmRequest &request, void *scratch);

} // namespace piton::sim::detail

#endif // PITON_SIM_GEMMFORMS_H
