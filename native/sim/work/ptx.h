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

struct PtxEntry {
  std::string name;
  int most_threads = 0;  // of a block, by .maxntid; 0: it says nothing
};

// The result of loading PTX: its entries and variables, or an error code and a one-line reason.
struct Ptx {
  abi::CUresult code = abi::CUDA_SUCCESS;
  std::string error;
  std::vector<PtxEntry> entries;
  std::vector<PtxGlobal> globals;
};

// Parses only the frame (directives, braces, entries, variables): kernels run by name, not by their instructions.
// `driver_version` (13000 for CUDA 13.0) limits the ISA, `cc` the target.
Ptx parse_ptx(const char* text, int driver_version, int cc);

}  // namespace gvb::sim
