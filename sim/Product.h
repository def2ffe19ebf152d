// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whole matrix products, tile by tile on the threads of a team.
#ifndef PITON_SIM_PRODUCT_H
#define PITON_SIM_PRODUCT_H

#include "runtime/Executor.h"

namespace piton::sim {

/// See ProductRequest. Fails for another type and when the host has no memory for the tiles.
piton_status_t runProduct(const ProductRequest &request);

} // namespace piton::sim

#endif // PITON_SIM_PRODUCT_H
