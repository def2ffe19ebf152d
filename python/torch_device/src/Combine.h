// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The arithmetic of a reduction over ranks: element by element in the order of the ranks, so that
// every rank computes the same bits.
#ifndef PITON_TORCH_COMBINE_H
#define PITON_TORCH_COMBINE_H

#include "SharedReduce.h"

#include <vector>

namespace piton::torch_device {

size_t elementBytes(Element element);

/// out[i] = sources[0][i] op sources[1][i] op ...; `out` may be one of the sources.
void combine(Element element, Combine operation, const std::vector<const void *> &sources,
             void *out, size_t count);

} // namespace piton::torch_device

#endif // PITON_TORCH_COMBINE_H
