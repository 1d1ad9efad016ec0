// What a program is told about its memory and multiprocessors, by every function that it may ask.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/gpu_state.h"

namespace gvb {

// The report of one function; values that it does not report are empty.
struct ReportedSizes {
  std::string source;
  int code = 0;  // of CUDA or NVML; if not 0, the values are unknown
  std::optional<uint64_t> total_bytes, used_bytes, free_bytes;
};

struct ReportedMemory {
  std::vector<ReportedSizes> sizes;
  std::string bare_uuid;                             // by the driver itself
  std::optional<std::vector<std::string>> uuids;     // of the GPUs that NVML shows to a program; none without NVML
  std::optional<std::vector<GpuProcess>> processes;  // as NVML lists them to a program
  std::optional<int> multiprocessors;
  std::optional<int> bare_multiprocessors;  // by the driver itself
};

// Uses the functions that a program finds, so that a layer can intercept them.
ReportedMemory reported_memory(DeviceSession& session);

}  // namespace gvb
