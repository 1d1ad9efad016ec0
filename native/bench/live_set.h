// OH-007's cells: a pair of one allocation and one free, and a look at a pointer, among ever other numbers of live
// blocks. Every cell's set is rebuilt, because the remainder of a larger set is scattered and costs more (on an H200
// 0.7 us a pair at 1 024).
#pragma once

#include <cstdint>
#include <vector>

#include "bench/device_session.h"

namespace gvb {

struct LiveSetRequest {
  size_t bytes = 0;             // of a block
  std::vector<uint64_t> lives;  // live blocks of each cell, in the order of measurement
  unsigned count = 0;           // pairs of a cell
  unsigned warmup = 0;
  unsigned queries = 0;  // pointers looked at for one sample, as one call is too short to be timed; 0: none
  uint64_t seed = 0;     // of the victims
  uint64_t core = 0;     // whose turn it is
};

struct LiveSetCell {
  uint64_t live = 0;  // beside the block of the pair itself
  std::vector<double> alloc_ns;
  std::vector<double> free_ns;   // of a random one of all that are live, the new one included
  std::vector<double> query_ns;  // of one cuPointerGetAttribute
};

std::vector<LiveSetCell> measure_live_sets(DeviceSession& session, const LiveSetRequest& request);

}  // namespace gvb
