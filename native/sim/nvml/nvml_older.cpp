// Entry points of older NVML generations, which programs and layers built for them still call.
#include "sim/nvml/nvml_library.h"

namespace gvb::abi {

// nvmlProcessInfo_v1_t: before MIG.
struct OlderProcessInfo {
  unsigned pid;
  unsigned long long usedGpuMemory;
};

extern "C" {

#define GVB_OLDER __attribute__((visibility("default"))) nvmlReturn_t

GVB_OLDER nvmlInit() { return nvmlInit_v2(); }

GVB_OLDER nvmlInitWithFlags(unsigned) { return nvmlInit_v2(); }

GVB_OLDER nvmlDeviceGetCount(unsigned* count) { return nvmlDeviceGetCount_v2(count); }

GVB_OLDER nvmlDeviceGetHandleByIndex(unsigned index, nvmlDevice_t* device) {
  return nvmlDeviceGetHandleByIndex_v2(index, device);
}

GVB_OLDER nvmlDeviceGetComputeRunningProcesses_v2(nvmlDevice_t device, unsigned* count, nvmlProcessInfo_t* infos) {
  return nvmlDeviceGetComputeRunningProcesses_v3(device, count, infos);
}

GVB_OLDER nvmlDeviceGetComputeRunningProcesses(nvmlDevice_t device, unsigned* count, OlderProcessInfo* infos) {
  nvmlProcessInfo_t now[256];
  unsigned listed = sizeof now / sizeof now[0];
  if (count == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  if (const nvmlReturn_t code = nvmlDeviceGetComputeRunningProcesses_v3(device, &listed, now)) return code;
  const unsigned room = *count;
  *count = listed;
  if (listed > room) return NVML_ERROR_INSUFFICIENT_SIZE;
  if (listed > 0 && infos == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  for (unsigned i = 0; i < listed; ++i) infos[i] = {now[i].pid, now[i].usedGpuMemory};
  return NVML_SUCCESS;
}

#undef GVB_OLDER
}

}  // namespace gvb::abi
