// What a program is told of its memory and multiprocessors, by every function that it may ask.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/gpu_state.h"

namespace gvb {

// The report of one function; a value that it does not report is empty.
struct ReportedSizes {
  std::string source;
  int code = 0;  // of CUDA or NVML; nothing is known where it is not 0
  std::optional<uint64_t> total_bytes, used_bytes, free_bytes;
};

struct ReportedMemory {
  std::vector<ReportedSizes> sizes;
  std::optional<std::vector<GpuProcess>> processes;  // as NVML lists them to a program
  std::optional<int> multiprocessors;
  std::optional<int> bare_multiprocessors;  // as the driver itself says it
};

// Through the functions that a program finds, so that a layer answers where it wants to.
ReportedMemory reported_memory(DeviceSession& session);

}  // namespace gvb
