// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tile product as three plain loops: what the tests hold the fast forms
// against, and the form for machines that have none of their instruction sets.
// Also the F8 decoding that both share.
#ifndef PITON_SIM_GEMMREFERENCE_H
#define PITON_SIM_GEMMREFERENCE_H

#include "abi/KernelAbi.h"

namespace piton::sim {

/// C (+)= A * B in the order of k, every product rounded to C's type. Types and sizes as gemm();
/// returns false, with C untouched, for an unsupported type.
bool gemmReference(const GemmRequest &request);

/// The 256 values of an F8 type; null for any other type.
const float *gemmF8Values(ElementType type);

} // namespace piton::sim

#endif // PITON_SIM_GEMMREFERENCE_H
