// SCHED-001: the host's cost of launching alternately in two contexts of one process.
#pragma once

#include <vector>

#include "bench/device_session.h"

namespace gvb {

struct AlternationRequest {
  unsigned count = 1;  // launches of each kind
};

// Time from the call of cuCtxSetCurrent until the launch after it has returned; one value per launch.
struct ContextAlternation {
  std::vector<double> alternating_ns;  // in a different context than the previous launch
  std::vector<double> staying_ns;      // in the same context, which is made current again
};

// Creates a second context for the duration of the call. Throws kInvalidResult if a kernel did not run.
ContextAlternation measure_alternation(DeviceSession& session, const AlternationRequest& request);

}  // namespace gvb
