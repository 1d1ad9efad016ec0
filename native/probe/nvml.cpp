// NVML queries of monitoring programs and frameworks.
#include <unistd.h>

#include <array>

#include "probe/probe.h"

namespace gvb::probe {
namespace {

using abi::nvmlDevice_t;

// Creates a context, so that NVML lists this process.
nvmlDevice_t enter(Run& run) {
  run.enter();
  run.load_nvml();
  nvmlDevice_t handle = nullptr;
  abi::CUuuid uuid{};
  run.need(cuda::cuDeviceGetUuid_v2, &uuid, run.device);
  run.need(cuda::nvmlDeviceGetHandleByUUID, ("GPU-" + uuid_text(uuid)).c_str(), &handle);
  return handle;
}

void memory(Run& run) {
  abi::nvmlMemory_t info{};
  run.need(cuda::nvmlDeviceGetMemoryInfo, enter(run), &info);
  run.expect("a total", info.total > 0);
  run.expect("used and free are not above total", info.used <= info.total && info.free <= info.total);
}

void memory_v2(Run& run) {
  abi::nvmlMemory_v2_t info{};
  info.version = abi::nvmlMemory_v2;
  run.need(cuda::nvmlDeviceGetMemoryInfo_v2, enter(run), &info);
  run.expect("a total", info.total > 0);
  run.expect("used and free are not above total", info.used <= info.total && info.free <= info.total);
}

void processes(Run& run) {
  const nvmlDevice_t handle = enter(run);
  std::array<abi::nvmlProcessInfo_t, 256> all{};
  unsigned none = 0, count = all.size();
  run.call(cuda::nvmlDeviceGetComputeRunningProcesses_v3, handle, &none, nullptr);
  run.need(cuda::nvmlDeviceGetComputeRunningProcesses_v3, handle, &count, all.data());
  bool listed = false;
  for (unsigned i = 0; i < count && i < all.size(); ++i)
    listed = listed || all[i].pid == static_cast<unsigned>(getpid());
  // In a PID namespace of its own a process does not find itself, natively either.
  report::data("this process is listed", listed ? "yes" : "no");
}

}  // namespace

Probes nvml_probes() {
  return {
      {"NVML memory, version 1", "HAMi#1196", memory},
      {"NVML memory, version 2", "vllm#40937", memory_v2},
      {"NVML process list", "k8s-vgpu-scheduler#4", processes},
  };
}

}  // namespace gvb::probe
