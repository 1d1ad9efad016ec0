// Finds by bisection the largest block that is granted in addition to the held memory (FRAG-001).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "bench/memory_path.h"

namespace gvb {

struct LargestBlockRequest {
  MemoryPath path = MemoryPath::kMemAlloc;
  uint64_t free_bytes = 0;    // free memory in which to search
  uint64_t beyond_bytes = 0;  // tried first and expected to be refused; 0: not tried
  uint64_t granule_bytes = 1;
  unsigned most_probes = 48;
  uint64_t most_ns = 1;
};

struct LargestBlock {
  uint64_t bytes = 0;                     // 0: not even a granule was granted
  std::optional<uint64_t> refused_bytes;  // smallest refused request
  unsigned probes = 0;
  bool decided = false;   // the size is known to the granule; false: a limit on probes or time ended the search
  bool again = false;     // the block was granted a second time and held what was written to it
  bool beyond = false;    // more than is free was granted
  std::string no_memory;  // why the block granted the second time is not real memory
  std::string refusal;    // code of the last refusal; empty: none
};

LargestBlock find_largest_block(DeviceSession& session, const LargestBlockRequest& request);

}  // namespace gvb
