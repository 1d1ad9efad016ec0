// A compute limit with known error, settling time and coverage: it lets kernels run one at a time and keeps the device
// idle between them, so that they run for the given share of the device's time. To idle, it runs a kernel of one block
// that waits by the device's clock. Nothing depends on when the host wakes up, and on the simulated GPU the idle time
// is computed instead of waited for.
#pragma once

#include "driver/cuda_abi.h"

namespace gvb::interpose {

abi::CUresult shared_launch(abi::CUfunction kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                            unsigned bz, unsigned shared, abi::CUstream stream, void** parameters, void** extra);
abi::CUresult shared_launch_ex(const abi::CUlaunchConfig* config, abi::CUfunction kernel, void** parameters,
                               void** extra);
abi::CUresult shared_cooperative(abi::CUfunction kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                 unsigned by, unsigned bz, unsigned shared, abi::CUstream stream, void** parameters);
abi::CUresult shared_graph(abi::CUgraphExec graph, abi::CUstream stream);

}  // namespace gvb::interpose
