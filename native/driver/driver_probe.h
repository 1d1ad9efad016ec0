// Checks whether this machine has a driver, without loading it in this process.
#ifndef GVB_DRIVER_DRIVER_PROBE_H_
#define GVB_DRIVER_DRIVER_PROBE_H_

#include <chrono>
#include <optional>
#include <string>

namespace gvb {

struct DriverProbe {
  std::optional<std::string> path;  // the libcuda.so.1 that dlopen finds
  std::string error;                // dlerror(), or how the process that called dlopen ended
  bool fatal = false;               // that process crashed or hung
};

// Uses a process of its own: a libcuda.so.1 that crashes or hangs while it is loaded harms nothing else. Throws
// std::system_error if no process can be created.
DriverProbe probe_driver(std::chrono::milliseconds patience);

}  // namespace gvb

#endif  // GVB_DRIVER_DRIVER_PROBE_H_
