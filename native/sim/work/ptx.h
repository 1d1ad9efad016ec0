#pragma once

#include <string>
#include <vector>

#include "driver/cuda_abi.h"

namespace gvb::sim {

// A variable in the memory of the device.
struct PtxGlobal {
  std::string name;
  size_t bytes;
};

// What loading a PTX text comes to: its entries and variables, or a code and the one-line reason.
struct Ptx {
  abi::CUresult code = abi::CUDA_SUCCESS;
  std::string error;
  std::vector<std::string> entries;
  std::vector<PtxGlobal> globals;
};

// Looks at the frame only (directives, braces, entries, variables): kernels run by name, not from their instructions.
// `driver_version` bounds the ISA: 13.0 knows 9.0, 12.x knows 8.x. `cc` bounds the target.
Ptx parse_ptx(const char* text, int driver_version, int cc);

}  // namespace gvb::sim
