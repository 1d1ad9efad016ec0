// Faults injected into this process (IS-010). The process is unusable afterwards: its context is lost, or it is killed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "bench/device_session.h"

namespace gvb {

enum class FaultKind { kOutOfBounds, kMisaligned, kTrap, kAssert };

struct FaultRequest {
  FaultKind fault = FaultKind::kOutOfBounds;
};

// The kernel of that kind: it takes the address for its stamp, or 0.
const char* fault_kernel(FaultKind fault);

// Result of waiting for the faulty kernel.
struct FaultAnswer {
  int code = 0;
  std::string name;
  int64_t told_at_ns = 0;  // CLOCK_MONOTONIC_RAW, when the call returned that said it
};

FaultAnswer raise_fault(DeviceSession& session, const FaultRequest& request);
// In the current context, which is lost afterwards.
FaultAnswer raise_fault(const Cuda& cuda, FaultKind fault, const CancelToken& token);

// Starts a kernel that fills the device and does not end (except after seconds, so that no card stays busy). Throws
// kInvalidResult if it does not run, or if another kernel of the process could start beside it. The process must be
// killed.
struct EndlessKernel {
  unsigned blocks = 0;
  std::optional<bool> card_full;  // nullopt: it was not seen
};
EndlessKernel start_endless(DeviceSession& session);

// Allocations and frees for a time, so that a kill or stop hits the process inside one of them.
struct StormRequest {
  size_t bytes = 0;  // size of an allocation
  unsigned for_ms = 0;
};
struct Storm {
  uint64_t allocations = 0;
};
Storm allocation_storm(DeviceSession& session, const StormRequest& request);

// Allocates until it is refused and frees nothing. Once it holds `most_bytes`, it asks for more than any card has,
// because others need the rest.
struct HoardRequest {
  size_t most_bytes = 0;
};
struct Hoard {
  uint64_t bytes = 0;
  // The code of the refused allocation.
  int code = 0;
  std::string name;
};
Hoard hoard(DeviceSession& session, const HoardRequest& request);

}  // namespace gvb
