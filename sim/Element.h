// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values of every element type, decoded one at a time: for prints, references and tests, where
// being obviously right counts and speed does not.
#ifndef PITON_SIM_ELEMENT_H
#define PITON_SIM_ELEMENT_H

#include "abi/KernelAbi.h"

namespace piton::sim {

bool isFloat(ElementType type);
bool isUnsigned(ElementType type); ///< I1 and Pointer count as unsigned

/// Element `index` of the array at `data`, exactly. `type` is a float type.
double floatElement(const void *data, uint64_t index, ElementType type);

/// Element `index`, sign- or zero-extended. `type` is an integer or pointer type.
int64_t integerElement(const void *data, uint64_t index, ElementType type);

} // namespace piton::sim

#endif // PITON_SIM_ELEMENT_H
