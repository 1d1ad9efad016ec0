// The pairs of OH-002, OH-003 and OH-007: an allocation and a free through the pointers an application gets,
// alternating with the driver's own, in one process and context. Each path has its own live blocks: a layer must see
// the frees of exactly the blocks whose allocation it saw. Every sample is four turns, A B B A, where chance decides
// which path is A, so that what one turn leaves in the driver or the caches affects both paths alike.
#pragma once

#include "bench/live_blocks.h"
#include "bench/paired_function.h"

namespace gvb {

struct AllocationPairRequest {
  size_t bytes = 0;   // size of a block
  unsigned live = 0;  // blocks per path, besides the one being timed
  FreeOrder order = FreeOrder::kFifo;
  unsigned count = 0;   // samples per visit
  unsigned warmup = 0;  // further ones before those of every visit
  unsigned visits = 1;  // each on another core
  uint64_t seed = 0;    // for the order within a sample, and the blocks to free
  uint64_t core = 0;    // index of the first visit's core
};

struct AllocationPairs {
  PairBlock allocation, free;
};

AllocationPairs measure_allocation_pairs(DeviceSession& session, const AllocationPairRequest& request);

}  // namespace gvb
