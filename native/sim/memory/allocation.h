#pragma once

#include <cstdint>

#include "driver/cuda_abi.h"
#include "sim/memory/address_space.h"

namespace gvb::sim {

struct Context;

// Allocates memory on the context's card that is freed with the context.
abi::CUresult allocate_device(Context* context, size_t bytes, BlockKind kind, abi::CUdeviceptr* address);

// Frees what cuMemAlloc, cuMemHostAlloc and similar calls allocated under a context that ends.
void free_context_blocks(uint64_t context);

// Gives back a block's addresses and the memory counted for it.
void free_block(const Block& block);

// Ends the sharing of a block with other processes: no further process can map it.
void withdraw(const Block& block);

}  // namespace gvb::sim
