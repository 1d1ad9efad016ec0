// The MIG instances of this machine, as NVML lists them, and the processes on each.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/gpu_state.h"
#include "driver/nvml.h"

namespace gvb {

struct MigInstance {
  std::string uuid, name;
  std::string parent;  // UUID of its card
  unsigned parent_index = 0;
  std::optional<unsigned> gpu_instance, compute_instance, multiprocessors;
  uint64_t memory_bytes = 0;
};

// The processes on a MIG instance, or on a card that has none.
struct PlaceProcesses {
  std::string uuid;
  std::optional<std::vector<GpuProcess>> processes;  // nullopt if NVML does not list them
};

// Both throw if there is no NVML or it fails to start.
std::vector<MigInstance> mig_instances(const Nvml& nvml);
std::vector<PlaceProcesses> processes_by_place(const Nvml& nvml);

}  // namespace gvb
