#pragma once

#include <cstdint>

#include "sim/address_space.h"

namespace gvb::sim {

// Frees what cuMemAlloc, cuMemHostAlloc and their kin allocated under a context that ends.
void freeContextBlocks(uint64_t context);

// Gives back a block's addresses and what it counts for.
void freeBlock(const Block& block);

}  // namespace gvb::sim
