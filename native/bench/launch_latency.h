// OH-001's block: isolated launches, one in flight, each timed from the call to its return, to the kernel's first
// instruction and to the end of a spinning synchronisation.
#pragma once

#include <optional>
#include <vector>

#include "bench/clock_mapping.h"
#include "bench/prepared_launch.h"

namespace gvb {

struct LaunchRequest {
  LaunchCall call = LaunchCall::kKernel;
  unsigned count = 0;
  unsigned warmup = 0;
  uint64_t seed = 0;  // for the random 50-200 us gaps, which keep launches from locking onto a periodic disturbance
  uint64_t core = 0;  // index of the processor to use
};

struct LaunchBlock {
  std::vector<double> submit_ns;
  std::vector<double> start_ns;
  std::vector<double> round_trip_ns;
  std::optional<int> core;
  MappingQuality mapping;
};

LaunchBlock measure_launches(DeviceSession& session, const LaunchRequest& request);

}  // namespace gvb
