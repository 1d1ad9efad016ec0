// One operation repeated for a given time from a given start, as each of several tenants does at the same time.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "bench/device_session.h"

namespace gvb {

// The repeated operation: an allocation and its free, cuMemGetInfo, or a launch (timed without the synchronisation that
// follows it).
enum class WindowOperation { kAllocFree, kMemGetInfo, kLaunch };

struct WindowRequest {
  WindowOperation operation = WindowOperation::kAllocFree;
  size_t bytes = 0;         // size of an allocation; 0: the granularity
  int64_t start_at_ns = 0;  // CLOCK_MONOTONIC_RAW; if the time has passed, starts at once and reports it
  uint64_t window_ns = 0;
  unsigned warmup = 0;
  size_t most_samples = 1;
};

struct Window {
  // Relative to start_at_ns.
  double started_ns = 0;
  double ended_ns = 0;
  uint64_t operations = 0;
  // For allocations: how often blocks were written and read back, besides the operations.
  uint64_t verified = 0;
  // Bytes that this process uses on the device, before and after; nullopt if NVML cannot report it.
  std::optional<uint64_t> used_before, used_after;
  // When a sample's operation began (relative to start_at_ns) and how long it took. If there are more than most_samples
  // operations, every second, fourth, … one is kept.
  std::vector<double> at_ns;
  std::vector<double> took_ns;
};

Window measure_window(DeviceSession& session, const WindowRequest& request);

}  // namespace gvb
