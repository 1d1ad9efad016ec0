// The pairs of OH-002, OH-003 and OH-007: an allocation and a free through the pointers an application gets and, in
// turn, through the driver's own, in one process and context. Either way has live blocks of its own: a layer knows
// nothing of what was allocated past it, and must not miss what it has seen. Every sample is four turns, A B B A, and
// chance decides which is A: what one turn leaves behind, in the driver or in the caches, meets the next.
#pragma once

#include "bench/live_blocks.h"
#include "bench/paired_function.h"

namespace gvb {

struct AllocationPairRequest {
  size_t bytes = 0;   // of a block
  unsigned live = 0;  // blocks of either way, beside the one of the turn
  FreeOrder order = FreeOrder::kFifo;
  unsigned count = 0;   // samples of a visit
  unsigned warmup = 0;  // further ones, before those of every visit
  unsigned visits = 1;  // each to another core
  uint64_t seed = 0;    // of the order within a sample, and of the victims
  uint64_t core = 0;    // whose turn is the first
};

struct AllocationPairs {
  PairBlock allocation, free;
};

AllocationPairs measure_allocation_pairs(DeviceSession& session, const AllocationPairRequest& request);

}  // namespace gvb
