// The largest block that is granted beside what is held, by bisection (FRAG-001).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "bench/memory_path.h"

namespace gvb {

struct LargestBlockRequest {
  MemoryPath path = MemoryPath::kMemAlloc;
  uint64_t free_bytes = 0;    // in which it is looked for
  uint64_t beyond_bytes = 0;  // tried first: where that is granted, there is more than is said to be free; 0: nothing
  uint64_t granule_bytes = 1;
  unsigned most_probes = 48;
  uint64_t most_ns = 1;
};

struct LargestBlock {
  uint64_t bytes = 0;                     // 0: not even a granule
  std::optional<uint64_t> refused_bytes;  // the smallest that was refused
  unsigned probes = 0;
  bool decided = false;   // to the granule, before the limits of probes and of time
  bool again = false;     // it was granted a second time, and held what was written to it
  bool beyond = false;    // more than is free was granted
  std::string no_memory;  // why what was granted the second time is no memory
  std::string refusal;    // the code of the last one; empty: none
};

LargestBlock find_largest_block(DeviceSession& session, const LargestBlockRequest& request);

}  // namespace gvb
