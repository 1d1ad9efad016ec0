// A compute limit whose error, settling and coverage are known: it lets kernels run one at a time and leaves the device
// idle between them, so that they run for the given share of the device's time. The idle time is a kernel of one block
// that waits by the device's clock. Nothing depends on when the host wakes up, and on the simulated GPU it is computed
// and not waited for.
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
