// Whether a process can recover by itself after its kernel failed.
#include "kernels/ptx.h"
#include "probe/probe.h"

namespace gvb::probe {
namespace {

void reset(Run& run) {
  run.enter();
  abi::CUmodule module = nullptr;
  abi::CUfunction kernel = nullptr;
  run.need(cuda::cuModuleLoadDataEx, &module, gvb_ptx_faults, 0, nullptr, nullptr);
  run.need(cuda::cuModuleGetFunction, &kernel, module, "gvb_out_of_bounds");
  CUdeviceptr no_stamp = 0;
  void* parameters[] = {&no_stamp};
  run.need(cuda::cuLaunchKernel, kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr);
  run.call(cuda::cuCtxSynchronize);
  run.call(cuda::cuDevicePrimaryCtxReset_v2, run.device);
  run.need(cuda::cuDevicePrimaryCtxRetain, &run.context, run.device);
  run.need(cuda::cuCtxSetCurrent, run.context);
  run.follow_up();
}

}  // namespace

Probes reset_probes() {
  return {recovery_probe({"reset of the primary context after a fault", "", reset, nullptr, true})};
}

}  // namespace gvb::probe
