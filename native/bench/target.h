// The driver and device of a request.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "driver/symbol_paths.h"

namespace gvb {

// The first visible device, an NVML index, or a UUID ("GPU-…", "MIG-…") or its unambiguous beginning.
using DeviceSelector = std::variant<std::monostate, int, std::string>;

struct Target {
  std::optional<std::string> simulated_driver;  // folder of the simulation; nullopt: the machine's own driver
};

struct DeviceTarget : Target {
  DeviceSelector device;
  SymbolPath path = SymbolPath::kRuntime;
};

}  // namespace gvb
