// The share of time a tenant gets of the device's compute. Kernels that fill the device are kept queued, and each
// stamps when it began and when it ended: without a limit one follows the other; a limiter leaves gaps.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/device_session.h"

namespace gvb {

struct ComputeShareRequest {
  unsigned duration_ms = 0;  // for which the host keeps launching
  unsigned blocks = 0;       // 0: 1000 for each of the device's multiprocessors
  unsigned threads_per_block = 1024;
  uint64_t spin_ns = 0;    // of every block
  unsigned in_flight = 1;  // most launches not over at any time
  unsigned bin_ms = 1;     // device time
};

// A kernel's stretch of device time. The layout is what gvb_occupy writes.
struct Occupied {
  uint64_t start;
  uint64_t end;
};

struct ComputeShare {
  size_t launches = 0;
  double kernel_ns = 0;      // median
  double busy_share = 0;     // from the first kernel's start to the last one's end
  std::vector<double> bins;  // whole windows from the first start on; what is left behind the last one is in none
};

// Of at least one kernel, in the order of their launches on one stream.
ComputeShare share_of(const std::vector<Occupied>& kernels, double bin_ns);

ComputeShare measure_compute_share(DeviceSession& session, const ComputeShareRequest& request);

}  // namespace gvb
