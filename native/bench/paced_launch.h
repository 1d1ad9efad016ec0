// OH-008's block: launches at a steady, slow pace, each timed from the call to its return and waited for, untimed, so
// that a compute limiter sees the tenant far below its share.
#pragma once

#include <vector>

#include "bench/prepared_launch.h"

namespace gvb {

struct PacedLaunchRequest {
  LaunchCall call = LaunchCall::kKernel;
  unsigned count = 0;
  unsigned warmup = 0;
  uint64_t period_ns = 0;  // from one call to the next
  uint64_t spin_ns = 0;    // of every block of the kernel; 0: the kernel ends at once
  unsigned grid = 1;       // blocks
  uint64_t core = 0;       // whose turn it is
};

struct PacedLaunches {
  std::vector<double> took_ns;      // the call alone
  std::vector<unsigned> preempted;  // places of those during which the scheduler gave the processor to others
};

PacedLaunches measure_paced_launches(DeviceSession& session, const PacedLaunchRequest& request);

}  // namespace gvb
