// What cuGetProcAddress returns for other versions than those a layer was built for.
#include <string>

#include "probe/probe.h"

namespace gvb::probe {
namespace {

using abi::CUcontext;
using abi::CUdevice;
using abi::CUresult;
using Status = abi::CUdriverProcAddressQueryResult;

// Reports the code and whether there is an address; returns null if there is none.
void* ask(Run& run, const char* base, int version) {
  void* address = nullptr;
  Status status = abi::CU_GET_PROC_ADDRESS_SUCCESS;
  const int code =
      run.call(cuda::cuGetProcAddress_v2, base, &address, version, abi::CU_GET_PROC_ADDRESS_DEFAULT, &status);
  const std::string what = std::string(base) + " of " + std::to_string(version);
  report::data(what, (address ? "an address, " : "none, ") + std::to_string(status));
  return code == abi::CUDA_SUCCESS ? address : nullptr;
}

int driver_version(Run& run) {
  int version = 0;
  run.need(cuda::cuDriverGetVersion, &version);
  return version;
}

// Functions that CUDA 12 and 13 added or gave another ABI.
constexpr const char* kRecent[] = {
    "cuCtxCreate",      "cuStreamGetCaptureInfo",    "cuMemPrefetchAsync", "cuGraphAddNode", "cuKernelGetParamInfo",
    "cuGreenCtxCreate", "cuMemBatchDecompressAsync", "cuStreamGetDevice",  "cuMemGetMemPool"};

void newer(Run& run) {
  run.enter();
  const int version = driver_version(run);
  for (const char* base : kRecent) ask(run, base, version);
  for (const char* base : {"cuMemGetInfo", "cuMemAlloc", "gvbNoSuchFunction"}) ask(run, base, version + 10000);
  constexpr int kContextWithParameters = 12050;
  if (version < kContextWithParameters) return;
  // The version decides the ABI: a layer that checks only the name would return a function with other arguments.
  const auto create =
      reinterpret_cast<CUresult (*)(CUcontext*, void*, unsigned, CUdevice)>(ask(run, "cuCtxCreate", version));
  if (!create) return;
  CUcontext context = nullptr;
  report::calls("cuCtxCreate_v4");
  report::code("cuCtxCreate_v4", create(&context, nullptr, 0, run.device));
  if (context) run.need(cuda::cuCtxDestroy_v2, context);
}

void older(Run& run) {
  run.enter();
  const auto create = reinterpret_cast<CUresult (*)(CUcontext*, unsigned, CUdevice)>(ask(run, "cuCtxCreate", 3020));
  if (!create) throw Over("the driver lacks cuCtxCreate of version 3020");
  CUcontext context = nullptr;
  report::calls("cuCtxCreate_v2");
  report::code("cuCtxCreate_v2", create(&context, 0, run.device));
  if (context) run.need(cuda::cuCtxDestroy_v2, context);
}

}  // namespace

Probes entry_point_probes() {
  return {
      {"entry points newer than the layer", "gpu-manager#169", newer},
      {"entry points older than the layer", "HAMi-core#233", older},
  };
}

}  // namespace gvb::probe
