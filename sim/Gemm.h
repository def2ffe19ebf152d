// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tile product of the simulated cube core: C (+)= A * B on tiles in any
// memory. A kernel reaches it through BlockServices::gemm; the worker that runs
// the block supplies the scratch, so nothing here allocates, starts threads or
// keeps state.
#ifndef PITON_SIM_GEMM_H
#define PITON_SIM_GEMM_H

#include "abi/KernelAbi.h"

#include <cstddef>

namespace piton::sim {

/// Instruction sets that the product has a form for, each including the ones before it.
enum class GemmIsa {
  Portable,   ///< plain loops, any machine
  Avx2,       ///< AVX2 + FMA + F16C
  Avx512,     ///< AVX-512 F, BW, VL, DQ; I8 as Avx2
  Avx512Vnni, ///< and VNNI for I8
};

/// The best form for this machine; cpuid is asked once.
GemmIsa gemmBestIsa();

/// "portable", "avx2", ...; for messages and benchmarks.
const char *gemmIsaName(GemmIsa isa);

/// True for F32, F64, F16, BF16, I8 and the four F8 types.
bool gemmSupports(uint32_t type);

/// Bytes of scratch that gemm() needs, whatever the request.
size_t gemmScratchBytes();

/// Runs one request. `scratch` is 64-byte aligned and used by no other thread meanwhile; C
/// overlaps neither A nor B. Any strides and any M, N, K are right (a size of 0 or below is
/// empty; K = 0 still clears C under kGemmZeroInit); fast are A and B that are contiguous along
/// either dimension. F16, BF16 and F8 are converted to F32 exactly and accumulated in F32, in an
/// order that depends on the machine; I8 is exact modulo 2^32. NaN and infinity propagate as IEEE
/// 754 says, denormals are kept. Returns false, with C untouched, for an unsupported type or too
/// little scratch.
bool gemm(const GemmRequest &request, void *scratch, size_t scratchBytes);

/// The same with the instruction set given, which the machine must have; for tests and benchmarks.
bool gemmFor(GemmIsa isa, const GemmRequest &request, void *scratch, size_t scratchBytes);

} // namespace piton::sim

#endif // PITON_SIM_GEMM_H
