#pragma once

#include <string>
#include <vector>

#include "driver/cuda_abi.h"

namespace gvb::sim {

// What loading a PTX text comes to: its entries, or a code and the one-line reason.
struct Ptx {
  abi::CUresult code = abi::CUDA_SUCCESS;
  std::string error;
  std::vector<std::string> entries;
};

// Looks at the frame only (directives, braces, entries): kernels run by name, not from their instructions.
// `driverVersion` bounds the ISA: 13.0 knows 9.0, 12.x knows 8.x. `cc` bounds the target.
Ptx parsePtx(const char* text, int driverVersion, int cc);

}  // namespace gvb::sim
