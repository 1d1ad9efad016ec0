// Faults raised on purpose in this process (IS-010), which is unusable afterwards: its context is lost, or it is to be
// killed meanwhile.
#pragma once

#include <cstdint>
#include <string>

#include "bench/device_session.h"

namespace gvb {

enum class FaultKind { kOutOfBounds, kMisaligned, kTrap, kAssert };

struct FaultRequest {
  FaultKind fault = FaultKind::kOutOfBounds;
};

// The kernel of that kind: it takes the address for its stamp, or 0.
const char* fault_kernel(FaultKind fault);

// What the driver said when it was waited for the faulty kernel.
struct FaultAnswer {
  int code = 0;
  std::string name;
};

FaultAnswer raise_fault(DeviceSession& session, const FaultRequest& request);

// Starts a kernel that fills the device and does not end (it gives up after seconds, so that no card stays busy).
// Throws kInvalidResult where it does not run. The process is to be killed.
struct EndlessKernel {
  unsigned blocks = 0;
};
EndlessKernel start_endless(DeviceSession& session);

// Allocations and frees for a time: where the process is killed or stopped meanwhile, it is inside one of them.
struct StormRequest {
  size_t bytes = 0;  // of an allocation
  unsigned for_ms = 0;
};
struct Storm {
  uint64_t allocations = 0;
};
Storm allocation_storm(DeviceSession& session, const StormRequest& request);

// Allocates until it is refused and frees nothing. Where it got `most_bytes` before, it asks for more than any card
// has: others need what is left.
struct HoardRequest {
  size_t most_bytes = 0;
};
struct Hoard {
  uint64_t bytes = 0;
  // Of the allocation that was refused.
  int code = 0;
  std::string name;
};
Hoard hoard(DeviceSession& session, const HoardRequest& request);

}  // namespace gvb
