// ERR-001: how long after a kernel's failure the host learns of it. The process is unusable afterwards, so it measures
// one fault.
//
// The kernel writes the device's time to host memory and fails. The clocks are mapped before, because a failed context
// does not respond any more. The line through two series of exchanges, some time apart, is extrapolated over the
// millisecond until the fault (5 ns at the 5 ppm of an H200).
#pragma once

#include <string>

#include "bench/clock_mapping.h"
#include "bench/faults.h"

namespace gvb {

// How the host learns of the fault: it queries repeatedly, or waits inside a call.
enum class FaultWait { kQuery, kSynchronize };

struct FaultDetectionRequest {
  FaultKind fault = FaultKind::kOutOfBounds;
  FaultWait wait = FaultWait::kQuery;
};

struct FaultDetection {
  // Code of the first call that reported an error; 0: none did within a second.
  int code = 0;
  std::string name;
  bool stamped = false;
  double latency_ns = 0;    // time from the kernel's stamp until that call returned
  double submitted_ns = 0;  // time from the stamp until the launch call returned; usually negative
  uint64_t successes = 0;   // earlier calls that reported that the kernel had ended without an error
  MappingQuality mapping;
};

FaultDetection detect_fault(DeviceSession& session, const FaultDetectionRequest& request);

}  // namespace gvb
