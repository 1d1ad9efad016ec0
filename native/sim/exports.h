// Declarations of every exported driver function: a definition with another signature fails to link.
#pragma once

#include "driver/cuda_abi.h"

namespace gvb::abi {

#define GVB_CUDA(name, base, version, params) extern "C" __attribute__((visibility("default"))) CUresult name params;
#include "driver/cuda_functions.inc"
#include "sim/extra_functions.inc"
#undef GVB_CUDA

}  // namespace gvb::abi
