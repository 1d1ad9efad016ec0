// The functions that probes call, typed: those that the project resolves anyway (namespace gvb::cuda), and those that a
// probe declares itself with the same type.
#pragma once

#include "driver/cuda_abi.h"
#include "driver/nvml_abi.h"

namespace gvb::probe {

using abi::CUdeviceptr;
using abi::CUmemAccessDesc;
using abi::CUmemLocation;

// A function by its exported name; `base` and `version` are the arguments for cuGetProcAddress, null if it is not used.
struct Symbol {
  const char* exported;
  const char* base = nullptr;
  int version = 0;
};

template <class Signature>
struct Function : Symbol {
  using Pointer = Signature*;
};

}  // namespace gvb::probe

namespace gvb::cuda {

using namespace abi;

#define GVB_CUDA(name, base, version, params) \
  inline constexpr probe::Function<CUresult params> name{{#name, base, version}};
#define GVB_NVML(name, version, params) inline constexpr probe::Function<nvmlReturn_t params> name{{#name}};
#include "driver/cuda_functions.inc"
#include "driver/nvml_functions.inc"
#include "sim/extra_functions.inc"
#include "sim/nvml/extra_functions.inc"
#undef GVB_CUDA
#undef GVB_NVML

}  // namespace gvb::cuda
