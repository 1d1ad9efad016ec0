// SCHED-004: how long a small kernel waits for the device, from its launch call to its first instruction, while the
// kernels of others, or of this process in another stream, keep the device busy.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/clock_mapping.h"

namespace gvb {

struct StartDelayRequest {
  int64_t start_at_ns = 0;  // CLOCK_MONOTONIC_RAW
  uint64_t window_ns = 0;   // in which kernels are launched, one in flight
  uint64_t period_ns = 0;   // from one call to the next
  uint64_t jitter_ns = 0;   // by how much a call is earlier or later at most, so that none locks onto a time slice
  uint64_t quiet_ns = 0;    // behind the window, before the clocks are mapped again: for what ran beside it to end
  uint64_t seed = 0;
  uint64_t hold_ns = 0;      // of the blocks of kernels that this process keeps queued in another stream; 0: none
  unsigned queued = 1;       // how many of them
  bool prioritised = false;  // the small kernel's stream has the highest priority, the other one the lowest
};

struct StartDelays {
  double origin_ms = 0;           // of %globaltimer
  std::vector<double> called_ns;  // when each launch was called, by the device's clock, from there
  std::vector<double> delay_ns;   // from the call to the first instruction
  std::vector<double> ahead;      // kernels of this process that were not over at the call
  MappingQuality mapping;
};

// Throws kFunctionMissing where priorities are asked for and the device has one alone, kInvalidResult where a kernel
// did not run.
StartDelays measure_start_delays(DeviceSession& session, const StartDelayRequest& request);

}  // namespace gvb
