// A compute limit of known effect: one launch at a time, each timed on the device and its caller then held, so that the
// device is busy for the given share of the time. What lies between a launch and its kernel counts as busy, so the
// share is exact for kernels that are long against that. Graphs and cooperative launches pass.
#pragma once

#include "driver/cuda_abi.h"

namespace gvb::interpose {

abi::CUresult limited_launch(abi::CUfunction kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                             unsigned bz, unsigned shared, abi::CUstream stream, void** parameters, void** extra);
abi::CUresult limited_launch_ex(const abi::CUlaunchConfig* config, abi::CUfunction kernel, void** parameters,
                                void** extra);

}  // namespace gvb::interpose
