// Blocks of random sizes, allocated and freed in random order, like the memory of a long-lived process (FRAG-001 to
// FRAG-003). The plan follows from the seed alone, before anything is allocated.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "bench/held_memory.h"

namespace gvb {

struct MemoryChurnRequest {
  MemoryPath path = MemoryPath::kMemAlloc;
  uint64_t fill_bytes = 0;      // total size of all blocks before any is freed
  uint64_t smallest_bytes = 1;  // smallest block; sizes are log-uniform, in whole steps of the path
  uint64_t largest_bytes = 1;
  uint64_t turnover = 0;    // calls in between: each frees a random block or allocates one of a new size
  uint64_t keep_bytes = 0;  // at the end random blocks are freed until no more than this is held
  // Allocates only the blocks that would be left at the end, in random order, and frees nothing.
  bool compact = false;
  uint64_t most_ns = 1;  // time limit; the churn stops wherever it is
  uint64_t seed = 0;
};

struct MemoryChurn {
  uint64_t blocks = 0;  // blocks held at the end
  uint64_t held_bytes = 0;
  uint64_t operations = 0;  // number of allocations and frees
  double took_ns = 0;
  bool timed_out = false;
  std::vector<Refusal> refusals;  // a refused allocation ends the filling; a failed free loses the block
  std::string no_memory;          // as in MemoryFill
};

// Holds the blocks until release_memory, in addition to what is held already.
MemoryChurn churn_memory(DeviceSession& session, const MemoryChurnRequest& request);

// Sizes of blocks with a sum of at most `fill_bytes`, in the order of allocation, and the blocks (by index) that are
// freed at random and kept, so that at most `keep_bytes` are left.
struct ChurnPlan {
  std::vector<size_t> sizes;
  std::vector<size_t> freed;  // indices, in the order of the frees
  std::vector<size_t> kept;   // indices, ascending
};
struct ChurnSizes {
  uint64_t step, smallest, largest;
};
ChurnPlan plan_churn(std::mt19937_64 random, uint64_t fill_bytes, const ChurnSizes& sizes, uint64_t keep_bytes);

}  // namespace gvb
