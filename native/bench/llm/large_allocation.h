// LLM-007: one large block, allocated, touched for the first time, and held so that others can look at the card.
#pragma once

#include <cstdint>

#include "bench/blocks.h"

namespace gvb {

struct LargeAllocationRequest {
  AllocationApi api = AllocationApi::kMemAlloc;
  size_t bytes = 0;
  uint64_t seed = 0;  // of the places that are looked at
};

struct LargeAllocation {
  size_t bytes = 0;  // whole granules, for virtual memory
  double alloc_ns = 0;
  double touch_ns = 0;  // a fill of all of it with zeros, until it was over
};

// Frees what an earlier call left. Throws kInvalidResult where what was granted is not contiguous memory of that size:
// words that were written to it before are zero after the fill, and both of its ends hold what is written then.
LargeAllocation allocate_large(DeviceSession& session, const LargeAllocationRequest& request);

struct LargeFree {
  double free_ns = 0;
};
// Of the block that is held.
LargeFree free_large(DeviceSession& session);

}  // namespace gvb
