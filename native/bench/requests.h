// A tenant that serves requests at a fixed rate: each is a number of kernels, one after the other, and a copy of their
// result to the host. Requests arrive whether or not the one before is done (open loop), and a latency counts from the
// arrival: what a request waits for its predecessor is part of it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "bench/device_session.h"

namespace gvb {

struct RequestsRequest {
  int64_t start_at_ns = 0;  // CLOCK_MONOTONIC_RAW; a time that has passed starts at once, and says so
  uint64_t window_ns = 0;
  uint64_t grace_ns = 0;   // for which requests that arrived in the window are still served after it
  uint64_t period_ns = 0;  // from one arrival to the next; 0: each when the one before is done
  unsigned kernels = 1;    // of a request
  unsigned rounds = 0;     // of a kernel; 0: as many as make it last kernel_ns alone, measured before the start
  uint64_t kernel_ns = 0;
  uint64_t bytes = 0;  // that are copied to the host
};

struct Requests {
  unsigned rounds = 0;  // of a kernel, as done
  // Relative to start_at_ns.
  double started_ns = 0;
  double ended_ns = 0;
  uint64_t offered = 0;  // requests that arrived in the window
  // Of each request that was served, all of them verified: when it arrived (relative to start_at_ns), how long after
  // that its result was there, and how long the device took from its first kernel's start to its last one's end.
  std::vector<double> arrived_ns;
  std::vector<double> latency_ns;
  std::vector<double> device_ns;
  // Read at the end of the window, before the neighbours stop; nullopt if NVML does not report it.
  std::optional<unsigned> sm_clock_mhz;
};

// Throws kInvalidResult where a request's result is not what its kernels compute. Requests that
// have not been begun when the window and the grace are over are given up.
Requests serve_requests(DeviceSession& session, const RequestsRequest& request);

}  // namespace gvb
