// SCHED-001: what it costs the host that one process launches in two contexts in turn.
#pragma once

#include <vector>

#include "bench/device_session.h"

namespace gvb {

struct AlternationRequest {
  unsigned count = 1;  // launches of each kind
};

// From cuCtxSetCurrent to the return of the launch behind it; a value a launch.
struct ContextAlternation {
  std::vector<double> alternating_ns;  // in the other context than the launch before
  std::vector<double> staying_ns;      // in the same one, which is made current again
};

// Makes a second context for as long as it takes. Throws kInvalidResult where a kernel did not run.
ContextAlternation measure_alternation(DeviceSession& session, const AlternationRequest& request);

}  // namespace gvb
