// What a tenant sees of the card's timing: loads that no cache of a multiprocessor answers, a launch, and a wait for
// nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/device_session.h"

namespace gvb {

struct TimingRequest {
  int64_t start_at_ns = 0;  // CLOCK_MONOTONIC_RAW; if the time has passed, starts at once
  uint64_t window_ns = 0;
  uint64_t period_ns = 0;  // from sample to sample; 0: at once
};

// One value per sample.
struct Timings {
  double started_ns = 0;                                // relative to start_at_ns
  std::vector<double> volatile_cycles, acquire_cycles;  // median of the loads
  std::vector<double> launch_ns, sync_ns;               // cuLaunchKernel; cuCtxSynchronize of an idle context
};

Timings probe_timing(DeviceSession& session, const TimingRequest& request);

}  // namespace gvb
