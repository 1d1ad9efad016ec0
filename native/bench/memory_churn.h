// Blocks of random sizes, allocated and freed in random order: what a long-lived process leaves behind it (FRAG-001 to
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
  uint64_t fill_bytes = 0;      // of all blocks before any is freed
  uint64_t smallest_bytes = 1;  // of a block: its size is log-uniform, in whole steps of the path
  uint64_t largest_bytes = 1;
  uint64_t turnover = 0;    // calls between: a random block freed, or one of a new size allocated
  uint64_t keep_bytes = 0;  // in the end random blocks are freed until no more than this is held
  // Only what is left in the end is allocated, in a random order, and nothing is freed.
  bool compact = false;
  uint64_t most_ns = 1;  // after which it ends wherever it is
  uint64_t seed = 0;
};

struct MemoryChurn {
  uint64_t blocks = 0;  // that are held in the end
  uint64_t held_bytes = 0;
  uint64_t operations = 0;  // allocations and frees
  double took_ns = 0;
  bool timed_out = false;
  std::vector<Refusal> refusals;  // an allocation that was refused ends the filling; a free that failed loses the block
  std::string no_memory;          // as MemoryFill
};

// Held until release_memory, beside what is held already.
MemoryChurn churn_memory(DeviceSession& session, const MemoryChurnRequest& request);

// Sizes of blocks whose sum is no more than `fill` bytes, and which of them stay when blocks are freed at random until
// no more than `keep` bytes are left: their places among the sizes, in the order in which they were allocated.
struct ChurnPlan {
  std::vector<size_t> sizes;
  std::vector<size_t> freed;  // places, in the order in which they are freed
  std::vector<size_t> kept;   // places, ascending
};
struct ChurnSizes {
  uint64_t step, smallest, largest;
};
ChurnPlan plan_churn(std::mt19937_64 random, uint64_t fill_bytes, const ChurnSizes& sizes, uint64_t keep_bytes);

}  // namespace gvb
