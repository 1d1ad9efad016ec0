// ERR-001: how long after a kernel failed the host knows of it. The process is lost afterwards: one fault each.
//
// The kernel writes the device's time to host memory and fails. The clocks are mapped before, because a context that
// failed answers nothing any more: over two series of exchanges, some time apart, whose line is continued for the
// millisecond until the fault (at the 5 ppm of an H200, 5 ns).
#pragma once

#include <string>

#include "bench/clock_mapping.h"
#include "bench/faults.h"

namespace gvb {

// How the host learns of it: it asks again and again, or is inside a call that waits.
enum class FaultWait { kQuery, kSynchronize };

struct FaultDetectionRequest {
  FaultKind fault = FaultKind::kOutOfBounds;
  FaultWait wait = FaultWait::kQuery;
};

struct FaultDetection {
  // Of the first call that told of an error; 0: none did within a second.
  int code = 0;
  std::string name;
  bool stamped = false;
  double latency_ns = 0;    // from the kernel's stamp until that call returned
  double submitted_ns = 0;  // from the stamp until the launch call returned
  uint64_t successes = 0;   // calls before that one which said that the kernel was over and well
  MappingQuality mapping;
};

FaultDetection detect_fault(DeviceSession& session, const FaultDetectionRequest& request);

}  // namespace gvb
