// Whether a process whose kernel failed can go on by resetting its primary context. Runs in a fresh process, which is
// not used for anything else.
#pragma once

#include <cstdint>
#include <string>

#include "bench/cancel.h"
#include "bench/faults.h"

namespace gvb {

struct ContextReset {
  FaultAnswer fault;
  int reset_code = 0;  // of cuDevicePrimaryCtxReset_v2
  std::string reset_name;
  std::string failed;              // what failed after it; empty: the first kernel ran
  int64_t first_result_at_ns = 0;  // CLOCK_MONOTONIC_RAW; 0: there was none
  bool result_correct = false;
};

ContextReset reset_after_fault(const DeviceTarget& target, const CancelToken& token);

}  // namespace gvb
