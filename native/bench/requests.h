// A tenant that serves requests at a fixed rate: each runs a number of kernels one after the other and copies their
// result to the host. Requests arrive whether or not the previous one is done (open loop), and a latency counts from
// the arrival, so it includes the wait for earlier requests.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "bench/device_session.h"

namespace gvb {

struct RequestsRequest {
  int64_t start_at_ns = 0;  // CLOCK_MONOTONIC_RAW; if the time has passed, starts at once and reports it
  uint64_t window_ns = 0;
  uint64_t grace_ns = 0;   // how long after the window requests that arrived in it are still served
  uint64_t period_ns = 0;  // between arrivals; 0: a request arrives when the previous one is done
  unsigned kernels = 1;    // per request
  unsigned rounds = 0;     // per kernel; 0: calibrated before the start to make it last kernel_ns alone
  uint64_t kernel_ns = 0;
  uint64_t bytes = 0;  // copied to the host
};

struct Requests {
  unsigned rounds = 0;  // per kernel, as used
  // Relative to start_at_ns.
  double started_ns = 0;
  double ended_ns = 0;
  uint64_t offered = 0;  // requests that arrived in the window
  // Per served request, all of them verified: its arrival (relative to start_at_ns), the time until its result was
  // there, and the device time from its first kernel's start to its last one's end.
  std::vector<double> arrived_ns;
  std::vector<double> latency_ns;
  std::vector<double> device_ns;
  // Read at the end of the window, before the neighbours stop; nullopt if NVML does not report it.
  std::optional<unsigned> sm_clock_mhz;
};

// Throws kInvalidResult if a request's result is wrong. Requests that have not started when the window and the grace
// time are over are dropped.
Requests serve_requests(DeviceSession& session, const RequestsRequest& request);

}  // namespace gvb
