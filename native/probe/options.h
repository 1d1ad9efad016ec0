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
  std::optional<size_t> memory;      // memory limit of the system in bytes
  std::optional<size_t> count;       // number of objects that were created natively
  std::optional<std::string> state;  // a file that the layer keeps for the tenant alone
  std::optional<std::string> token;  // data from the first process, for a second process
};

// Throws std::invalid_argument.
Options parse_options(int count, char** arguments);

}  // namespace gvb::probe
