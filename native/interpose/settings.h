// What the interposer does, from GVB_INTERPOSE: a comma-separated list of `function=+delay`, `memory=SIZE`,
// `sm=PERCENT` and `hooks=export+dlsym+procaddress`. Wrong settings end the process with a reason: a calibration layer
// that guesses would calibrate nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "driver/api_tables.h"

namespace gvb::interpose {

struct Settings {
  // By function index; hooked functions without a delay have 0.
  int64_t delay_ns[kCudaFunctionCount] = {};
  bool hooked[kCudaFunctionCount] = {};
  uint64_t memory_limit = 0;  // bytes; 0: none
  unsigned sm_percent = 100;
  bool hooks_dlsym = true;
  bool hooks_procaddress = true;
};

// Throws std::invalid_argument with a message in the house form.
Settings parse_settings(const std::string& text);

}  // namespace gvb::interpose
