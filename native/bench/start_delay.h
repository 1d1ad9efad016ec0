// SCHED-004: how long a small kernel waits for the device, from its launch call to its first instruction, while kernels
// of other processes, or of this process in other streams, keep the device busy.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "bench/clock_mapping.h"

namespace gvb {

struct StartDelayRequest {
  int64_t start_at_ns = 0;  // CLOCK_MONOTONIC_RAW
  uint64_t window_ns = 0;   // time during which kernels are launched, one in flight
  uint64_t period_ns = 0;   // mean time from one call to the next
  uint64_t jitter_ns = 0;   // largest random shift of a call, so that calls do not lock onto a slice or a kernel
  uint64_t quiet_ns = 0;    // pause after the window for other work to end, before the clocks are mapped again
  uint64_t seed = 0;
  uint64_t hold_ns = 0;      // block duration of the kernels that this process keeps queued in other streams; 0: none
  unsigned queued = 1;       // number of these kernels, each in a stream of its own
  bool prioritised = false;  // the small kernel's stream has the highest priority, the others the lowest
};

struct StartDelays {
  double origin_ms = 0;           // of %globaltimer; called_ns is relative to it
  std::vector<double> called_ns;  // time of each launch call on the device's clock
  std::vector<double> delay_ns;   // time from each call to the kernel's first instruction
  std::vector<double> ahead;      // kernels of this process that had not ended at the call
  std::optional<bool> card_full;  // by the kernels that this process keeps queued; nullopt: none, or it was not seen
  MappingQuality mapping;
};

// Throws kFunctionMissing if priorities are requested but the device has only one, kInvalidResult if a kernel did not
// run, or if something else could start beside those that should fill the card.
StartDelays measure_start_delays(DeviceSession& session, const StartDelayRequest& request);

}  // namespace gvb
