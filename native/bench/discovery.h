// How long a program takes to find its GPUs through NVML, by the addresses dlsym gives it, which a layer may hook.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "bench/cancel.h"

namespace gvb {

enum class DiscoveryStep { kInit, kCount, kHandle, kName, kUuid, kMemory, kPci, kMig };
constexpr size_t kDiscoverySteps = 8;

// The NVML function of a step.
const char* function_of(DiscoveryStep step);

// One round of questions; a step asked of every device is the sum over them.
struct DiscoveryPass {
  std::array<double, kDiscoverySteps> steps_ns{};
  double total_ns = 0;
};

struct Discovery {
  double load_ns;       // dlopen and resolving; about 0 where the process had NVML loaded already
  DiscoveryPass first;  // cold where the process had not initialised NVML before
  std::vector<DiscoveryPass> repeats;
  std::vector<std::string> uuids;
  // By step: who owns the address that was called, and whether that is not NVML itself.
  std::array<std::string, kDiscoverySteps> owners;
  std::array<bool, kDiscoverySteps> intercepted;
};

Discovery measure_discovery(const std::optional<std::string>& simulated_folder, unsigned repeats,
                            const CancelToken& token);

}  // namespace gvb
