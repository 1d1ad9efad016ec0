// CUDA_VISIBLE_DEVICES in the forms that schedulers and users use. The variable must be set when a program starts.
#include <string>

#include "probe/probe.h"
#include "probe/process.h"

namespace gvb::probe {
namespace {

void again_with(const Run& run, const std::string& list) {
  become(run, {"", list, environment_with({"CUDA_VISIBLE_DEVICES=" + list}), -1});
}

void first(Run& run) { again_with(run, "0"); }
void second(Run& run) { again_with(run, "1"); }
void reversed(Run& run) { again_with(run, "1,0"); }

void by_uuid(Run& run) {
  run.initialise();
  abi::CUuuid uuid{};
  run.need(cuda::cuDeviceGetUuid_v2, &uuid, run.device);
  again_with(run, "GPU-" + uuid_text(uuid));
}

// Reports the GPUs in their order, and runs work on the first.
void look(Run& run) {
  run.need(cuda::cuInit, 0);
  int count = 0;
  run.need(cuda::cuDeviceGetCount, &count);
  report::data("number of GPUs", std::to_string(count));
  for (int i = 0; i < count; ++i) {
    abi::CUdevice device = 0;
    abi::CUuuid uuid{};
    run.need(cuda::cuDeviceGet, &device, i);
    run.need(cuda::cuDeviceGetUuid_v2, &uuid, device);
    report::data("GPU " + std::to_string(i), uuid_text(uuid));
  }
  run.need(cuda::cuDeviceGet, &run.device, 0);
  run.need(cuda::cuDevicePrimaryCtxRetain, &run.context, run.device);
  run.need(cuda::cuCtxSetCurrent, run.context);
  run.use_memory("memory");
  run.finish();
}

}  // namespace

Probes visible_device_probes() {
  return {
      {"CUDA_VISIBLE_DEVICES=0", "HAMi#585", first, look},
      {"CUDA_VISIBLE_DEVICES=1", "HAMi#1381", second, look},
      {"CUDA_VISIBLE_DEVICES=1,0", "HAMi#722", reversed, look},
      {"CUDA_VISIBLE_DEVICES=UUID", "k8s-device-plugin#467", by_uuid, look},
  };
}

}  // namespace gvb::probe
