// NVML alone: a coordinator reads it without loading libcuda.
#pragma once

#include <optional>
#include <string>

#include "driver/api_tables.h"

namespace gvb {

struct Nvml {
  std::optional<std::string> path;  // nullopt: there is no libnvidia-ml.so.1
  NvmlApi api;                      // the driver's own functions: correct readings of the GPU even under a layer
  NvmlApi dlsym;                    // functions as a program finds them: a layer may change what they report
  bool simulated = false;           // also if LD_LIBRARY_PATH, not a request, names the simulation

  // Loads libnvidia-ml.so.1 at first use: the machine's, or the one in `simulated_folder`. A process keeps the one it
  // loaded first; asking for the other is a driver conflict.
  static const Nvml& load(const std::optional<std::string>& simulated_folder);
};

}  // namespace gvb
