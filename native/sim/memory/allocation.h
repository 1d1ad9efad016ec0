#pragma once

#include <cstdint>

#include "driver/cuda_abi.h"
#include "sim/memory/address_space.h"

namespace gvb::sim {

struct Context;

// Memory of the context's card that ends with the context.
abi::CUresult allocate_device(Context* context, size_t bytes, BlockKind kind, abi::CUdeviceptr* address);

// Frees what cuMemAlloc, cuMemHostAlloc and their kin allocated under a context that ends.
void free_context_blocks(uint64_t context);

// Gives back a block's addresses and what it counts for.
void free_block(const Block& block);

// Of a block that other processes were allowed to map: from now on no further one is.
void withdraw(const Block& block);

}  // namespace gvb::sim
