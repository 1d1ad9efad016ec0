// The MIG instances of this machine, as NVML lists them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "driver/nvml.h"

namespace gvb {

struct MigInstance {
  std::string uuid, name;
  std::string parent;  // UUID of its card
  unsigned parent_index = 0;
  std::optional<unsigned> gpu_instance, compute_instance, multiprocessors;
  uint64_t memory_bytes = 0;
};

// Throws if there is no NVML or it fails to start.
std::vector<MigInstance> mig_instances(const Nvml& nvml);

}  // namespace gvb
