#pragma once

#include <optional>
#include <string>

#include "driver/symbol_paths.h"

namespace gvb::probe {

struct Options {
  std::string probe;
  std::string self;                      // path of this program
  std::string libcuda = "libcuda.so.1";  // argument for dlopen
  std::string nvml = "libnvidia-ml.so.1";
  std::string driver;  // path of the driver's libcuda
  std::string device;  // UUID; empty: the first device
  SymbolPath path = SymbolPath::kRuntime;
  std::optional<size_t> memory;      // bytes that the system grants
  std::optional<size_t> count;       // how many were made natively
  std::optional<std::string> token;  // in a second process: data from the first
};

// Throws std::invalid_argument.
Options parse_options(int count, char** arguments);

}  // namespace gvb::probe
