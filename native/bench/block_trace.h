// Where and when the blocks of a tenant ran; shows how tenants share a device.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/device_session.h"

namespace gvb {

struct BlockTraceRequest {
  int64_t start_at_ns = 0;  // CLOCK_MONOTONIC_RAW
  uint64_t window_ns = 0;   // how long blocks are kept running; at least one kernel runs
  uint64_t spin_ns = 0;     // duration of a block
  uint64_t gap_ns = 0;      // a block that does not see the timer for longer did not run
  unsigned blocks = 0;      // blocks per kernel; 0: two per multiprocessor
  unsigned in_flight = 0;   // most queued kernels; 0: enough to keep the device busy while the host is delayed
};

// Intervals during which a block of the tenant ran on a multiprocessor; intervals less than gap_ns apart are merged.
struct BlockTrace {
  double origin_ms = 0;  // of %globaltimer; from_ns and to_ns are relative to it
  std::vector<unsigned> multiprocessor;
  std::vector<double> from_ns;
  std::vector<double> to_ns;
  uint64_t blocks = 0;
};

BlockTrace trace_blocks(DeviceSession& session, const BlockTraceRequest& request);

}  // namespace gvb
