// NVML alone: a coordinator reads it without loading libcuda.
#pragma once

#include <optional>
#include <string>

#include "driver/api_tables.h"

namespace gvb {

struct Nvml {
  std::optional<std::string> path;  // nullopt: there is no libnvidia-ml.so.1
  NvmlApi api;                      // bare: what a process reads of the GPU is the truth even under a layer
  NvmlApi dlsym;                    // as a program finds it: what a layer answers, never the truth
  bool simulated = false;           // also where LD_LIBRARY_PATH and not a request names it

  // Loads libnvidia-ml.so.1 at first use: the machine's, or the one in `simulated_folder`. A process keeps the one it
  // loaded first; asking for the other is a driver conflict.
  static const Nvml& load(const std::optional<std::string>& simulated_folder);
};

}  // namespace gvb
