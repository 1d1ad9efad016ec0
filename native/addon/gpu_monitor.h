// The threads that monitor GPUs for an environment.
#pragma once

#include "addon/job.h"

namespace gvb {

// Returns once they have ended, so that none is inside NVML while the process exits.
void stop_monitors_of(const Environment* owner);

}  // namespace gvb
