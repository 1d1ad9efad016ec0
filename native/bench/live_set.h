// OH-007's cells: a pair of one allocation and one free, and a pointer query, with various numbers of live blocks.
// Every cell rebuilds its set, because blocks left from a larger set are scattered and cost more (on an H200 0.7 us per
// pair at 1 024).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "bench/device_session.h"

namespace gvb {

struct LiveSetRequest {
  size_t bytes = 0;             // size of a block
  std::vector<uint64_t> lives;  // live blocks per cell, in the order of measurement
  unsigned count = 0;           // pairs per cell
  unsigned warmup = 0;
  unsigned queries = 0;  // pointer queries per sample, since one call is too short to be timed; 0: none
  uint64_t seed = 0;     // for the blocks to free
  uint64_t core = 0;     // index of the processor to use
};

struct LiveSetCell {
  uint64_t live = 0;  // in addition to the pair's own block
  std::vector<double> alloc_ns;
  std::vector<double> free_ns;   // frees a random live block, possibly the new one
  std::vector<double> query_ns;  // one cuPointerGetAttribute
  // Device memory of this process by NVML before the first block, with the live blocks and after the last free; nullopt
  // if it cannot tell.
  std::optional<uint64_t> used_before, used_live, used_after;
};

std::vector<LiveSetCell> measure_live_sets(DeviceSession& session, const LiveSetRequest& request);

}  // namespace gvb
