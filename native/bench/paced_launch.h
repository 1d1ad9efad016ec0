// OH-008's block: launches at a steady, slow pace, each timed from the call to its return and waited for, untimed, so
// that whoever limits the tenant's compute finds it far below its share. Every other one is made through the driver's
// own pointer: what the host does to a launch meanwhile is in both.
#pragma once

#include <vector>

#include "bench/prepared_launch.h"

namespace gvb {

struct PacedLaunchRequest {
  LaunchCall call;
  unsigned count;  // of each kind
  unsigned warmup;
  uint64_t period_ns;  // from one call to the next
  uint64_t spin_ns;    // of every block of the kernel; 0: the kernel ends at once
  unsigned grid;       // blocks
  uint64_t seed;       // of the order within each pair
  uint64_t core;       // whose turn it is
};

struct PacedLaunches {
  bool intercepted;
  // The call alone, one of each pair.
  std::vector<double> hooked_ns, bare_ns;
};

PacedLaunches measure_paced_launches(DeviceSession& session, const PacedLaunchRequest& request);

}  // namespace gvb
