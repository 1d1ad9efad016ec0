// A compute limit of known effect: it allows one launch at a time, times it on the device and then holds the caller, so
// that the device is busy for the given share of the time. The time between a launch and its kernel counts as busy, so
// the share is exact only for kernels much longer than that. Graphs and cooperative launches are not limited.
#pragma once

#include "driver/cuda_abi.h"

namespace gvb::interpose {

abi::CUresult limited_launch(abi::CUfunction kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                             unsigned bz, unsigned shared, abi::CUstream stream, void** parameters, void** extra);
abi::CUresult limited_launch_ex(const abi::CUlaunchConfig* config, abi::CUfunction kernel, void** parameters,
                                void** extra);

}  // namespace gvb::interpose
