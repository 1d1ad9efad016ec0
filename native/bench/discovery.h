// How long a program takes to find its GPUs through NVML, using the addresses from dlsym, which a layer may intercept.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "bench/cancel.h"
#include "bench/target.h"

namespace gvb {

enum class DiscoveryStep { kInit, kCount, kHandle, kName, kUuid, kMemory, kPci, kMig };
constexpr size_t kDiscoverySteps = 8;

struct DiscoveryRequest : Target {
  unsigned repeats = 0;  // warm passes after the first
};

// One round of queries; a step that queries every device sums over the devices.
struct DiscoveryPass {
  double total_ns = 0;
  std::array<double, kDiscoverySteps> steps_ns{};
};

// The function called in a step: the address that dlsym returned.
struct DiscoveryFunction {
  std::string name;
  std::string owner;         // empty if no object owns the address
  bool intercepted = false;  // the owner is not NVML
};

struct Discovery {
  double load_ns = 0;   // dlopen and resolving; about 0 if the process had NVML loaded already
  DiscoveryPass first;  // cold unless the process had initialised NVML before
  std::vector<DiscoveryPass> repeats;
  std::vector<std::string> uuids;
  std::vector<DiscoveryFunction> functions;  // by step
};

Discovery measure_discovery(const DiscoveryRequest& request, const CancelToken& token);

}  // namespace gvb
