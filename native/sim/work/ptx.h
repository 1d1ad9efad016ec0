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

// The result of loading PTX: its entries and variables, or an error code and a one-line reason.
struct Ptx {
  abi::CUresult code = abi::CUDA_SUCCESS;
  std::string error;
  std::vector<std::string> entries;
  std::vector<PtxGlobal> globals;
};

// Parses only the frame (directives, braces, entries, variables): kernels run by name, not by their instructions.
// `driver_version` limits the ISA: 13.0 supports 9.0, 12.x supports 8.x. `cc` limits the target.
Ptx parse_ptx(const char* text, int driver_version, int cc);

}  // namespace gvb::sim
