// The same card by the driver's own functions, past a layer: what a call takes without it, in the same process.
#pragma once

#include "bench/blocks.h"

namespace gvb {

// A second session on the primary context, opened at first use and kept like other state of `session`. Throws
// kFunctionMissing if the driver lacks a function of `api`, or if one was overwritten in the driver itself.
DeviceSession& driver_alone(DeviceSession& session, AllocationApi api);

}  // namespace gvb
