// LLM-007: one large block: allocated, touched for the first time, and held so that other processes can check the card.
#pragma once

#include <cstdint>
#include <optional>

#include "bench/blocks.h"

namespace gvb {

struct LargeAllocationRequest {
  AllocationApi api = AllocationApi::kMemAlloc;
  size_t bytes = 0;
  uint64_t seed = 0;  // for the places to check
};

struct LargeAllocation {
  size_t bytes = 0;  // rounded to whole granules for virtual memory
  double alloc_ns = 0;
  std::optional<double> create_ns;  // for virtual memory: cuMemCreate alone
  double touch_ns = 0;              // filling all of it with zeros, until the fill was over
};

// Frees the block of an earlier call. Throws kInvalidResult if the granted memory is not contiguous memory of that
// size: words written before the fill must be zero after it, and both ends must hold what is written then.
LargeAllocation allocate_large(DeviceSession& session, const LargeAllocationRequest& request);

struct LargeFree {
  double free_ns = 0;
};
// Frees the block that is held.
LargeFree free_large(DeviceSession& session);

}  // namespace gvb
