// Where and when the blocks of a tenant ran; shows how tenants share a device.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/device_session.h"

namespace gvb {

struct BlockTraceRequest {
  int64_t start_at_ns = 0;  // CLOCK_MONOTONIC_RAW
  uint64_t window_ns = 0;   // how long blocks are kept running
  uint64_t spin_ns = 0;     // duration of a block
  uint64_t gap_ns = 0;      // a block that does not see the timer for longer was not running
};

// Intervals during which a block of the tenant ran on a multiprocessor; intervals less than gap_ns apart are merged.
struct BlockTrace {
  double origin_ms = 0;  // by %globaltimer; `from` and `to` count from there
  std::vector<unsigned> multiprocessor;
  std::vector<double> from_ns;
  std::vector<double> to_ns;
  uint64_t blocks = 0;
};

BlockTrace trace_blocks(DeviceSession& session, const BlockTraceRequest& request);

}  // namespace gvb
