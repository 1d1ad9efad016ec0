// OH-008's block: launches at a slow, steady pace, each timed from the call to its return and then waited for, untimed,
// so that a compute limiter sees a tenant far below its share.
#pragma once

#include <vector>

#include "bench/prepared_launch.h"

namespace gvb {

struct PacedLaunchRequest {
  LaunchCall call = LaunchCall::kKernel;
  unsigned count = 0;
  unsigned warmup = 0;
  uint64_t period_ns = 0;  // between two calls
  uint64_t spin_ns = 0;    // duration of every block of the kernel; 0: the kernel ends at once
  unsigned grid = 1;       // number of blocks
  uint64_t core = 0;       // index of the processor to use
};

struct PacedLaunches {
  std::vector<double> took_ns;      // only the call
  std::vector<unsigned> preempted;  // indices of calls during which the scheduler preempted the thread
};

PacedLaunches measure_paced_launches(DeviceSession& session, const PacedLaunchRequest& request);

}  // namespace gvb
