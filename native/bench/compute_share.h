// The share of the device's compute time that a tenant gets. Kernels that fill the device are kept queued, and each
// stamps its start and end: without a limit they run back to back; a limiter leaves gaps.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/device_session.h"
#include "bench/occupied.h"

namespace gvb {

struct ComputeShareRequest {
  unsigned duration_ms = 0;        // how long the host keeps launching
  unsigned blocks = 0;             // 0: 500 waves
  unsigned threads_per_block = 0;  // 0: so many that no room is left on a multiprocessor
  uint64_t spin_ns = 0;            // duration of every block
  unsigned in_flight = 1;          // most unfinished launches at any time
  unsigned bin_ms = 1;             // device time
};

struct ComputeShare {
  size_t launches = 0;
  double kernel_ns = 0;      // median
  double busy_share = 0;     // between the first kernel's start and the last one's end
  std::vector<double> bins;  // whole windows from the first start on; the remainder after the last one is not included
};

// `kernels`: at least one, in the order of their launches on one stream.
ComputeShare share_of(const std::vector<Occupied>& kernels, double bin_ns);

ComputeShare measure_compute_share(DeviceSession& session, const ComputeShareRequest& request);

}  // namespace gvb
