// A fixed end-to-end unit of work, repeated for a time: how much of a card's throughput a layer leaves (OH-010). One
// unit:
//   16 MiB from pinned host memory to the device · C = A·B of 2048² half-precision matrices (which those 16 MiB are) ·
//   attention of 8 heads of 128 tokens of 64 values · 64 small kernels · 8 allocations of 2 MiB and their frees ·
//   1 MiB of results back to the host.
// All of it in order on the default stream. A call that reports success without doing its work must not make a unit
// fast: before each one, untimed, every output is overwritten with a poison value, and inputs and the part of C that is
// read back are others than the unit's before; after it all results are compared with what they must be.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/device_session.h"

namespace gvb {

struct WorkRequest {
  unsigned warmup_ms = 0;
  unsigned window_ms = 0;
};

struct Work {
  std::vector<double> unit_ns;  // one value per timed unit, in order
  // Random units in which the allocated blocks were written and read back: verified like all others, but not timed.
  unsigned untimed_units = 0;
};

// Throws kInvalidResult with the stage whose results are wrong.
Work measure_work(DeviceSession& session, const WorkRequest& request);

}  // namespace gvb
