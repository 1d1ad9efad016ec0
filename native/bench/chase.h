// Latencies of single loads from a working set: a walk through its lines of 128 bytes in random order, by one warp of
// each block. Stamps are of %globaltimer, which all processes of a GPU share.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/device_session.h"

namespace gvb {

struct ChaseSet {
  unsigned eighths = 1;  // its size, in eighths of the L2 cache that the device reports
  unsigned blocks = 0;   // that walk it side by side; 0: one a multiprocessor
};

struct ChaseRequest : ChaseSet {
  int64_t start_at_ns = 0;  // CLOCK_MONOTONIC_RAW
  uint64_t window_ns = 0;   // in which walks are launched
};

struct ChasePassesRequest : ChaseSet {
  unsigned passes = 1;  // through the whole set; 0: only makes it, for passes of later calls
};

struct Chase {
  uint64_t l2_bytes = 0;
  uint64_t bytes = 0;  // of the set, in whole lines for every block
  unsigned blocks = 0;
  double cycles_per_ns = 0;  // of the multiprocessors' clock, in these walks; 0: there was none
  double origin_ms = 0;      // of %globaltimer; `from` and `to` are counted from there
  // Begin of the first block and end of the last one, of each walk.
  std::vector<double> from_ns;
  std::vector<double> to_ns;
  // Latencies of the loads of walks, in bins of a few per cent: the walk, the mean in cycles, and how many.
  std::vector<double> walk;
  std::vector<double> cycles;
  std::vector<double> loads;
};

// Walks the set for a time, after two passes that are not reported. The set stays in memory until the session ends or
// another one is asked for. Throws kInvalidResult where a walk did not arrive where it must.
Chase chase_for(DeviceSession& session, const ChaseRequest& request);
// One walk; nothing comes before it.
Chase chase_passes(DeviceSession& session, const ChasePassesRequest& request);

}  // namespace gvb
