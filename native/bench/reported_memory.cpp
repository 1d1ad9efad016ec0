#include "bench/reported_memory.h"

#include <algorithm>
#include <utility>

#include "bench/gpu_monitor.h"

namespace gvb {

using abi::CUDA_SUCCESS;
using abi::NVML_SUCCESS;

namespace {

ReportedSizes of_info(const DeviceSession& session) {
  ReportedSizes sizes{"cuMemGetInfo", 0, {}, {}, {}};
  size_t free_bytes = 0, total = 0;
  sizes.code = session.cuda.require(session.cuda.api.cuMemGetInfo_v2, "cuMemGetInfo_v2")(&free_bytes, &total);
  if (sizes.code != CUDA_SUCCESS) return sizes;
  sizes.total_bytes = total;
  sizes.free_bytes = free_bytes;
  // A layer may report more free memory than there is.
  if (free_bytes <= total) sizes.used_bytes = total - free_bytes;
  return sizes;
}

ReportedSizes of_total(const DeviceSession& session) {
  ReportedSizes sizes{"cuDeviceTotalMem", 0, {}, {}, {}};
  size_t total = 0;
  const auto ask = session.cuda.require(session.cuda.api.cuDeviceTotalMem_v2, "cuDeviceTotalMem_v2");
  sizes.code = ask(&total, session.device);
  if (sizes.code == CUDA_SUCCESS) sizes.total_bytes = total;
  return sizes;
}

// Fills either version of the structure; the report stays empty if NVML fails.
template <class Memory>
ReportedSizes with_answer(ReportedSizes sizes, const Memory& memory) {
  if (sizes.code != NVML_SUCCESS) return sizes;
  sizes.total_bytes = memory.total;
  sizes.used_bytes = memory.used;
  sizes.free_bytes = memory.free;
  return sizes;
}

ReportedSizes of_nvml(const NvmlApi& nvml, abi::nvmlDevice_t device) {
  ReportedSizes sizes{"nvmlDeviceGetMemoryInfo", abi::NVML_ERROR_FUNCTION_NOT_FOUND, {}, {}, {}};
  abi::nvmlMemory_t memory{};
  if (nvml.nvmlDeviceGetMemoryInfo) sizes.code = nvml.nvmlDeviceGetMemoryInfo(device, &memory);
  return with_answer(std::move(sizes), memory);
}

ReportedSizes of_nvml_v2(const NvmlApi& nvml, abi::nvmlDevice_t device) {
  ReportedSizes sizes{"nvmlDeviceGetMemoryInfo_v2", abi::NVML_ERROR_FUNCTION_NOT_FOUND, {}, {}, {}};
  abi::nvmlMemory_v2_t memory{};
  memory.version = abi::nvmlMemory_v2;
  if (nvml.nvmlDeviceGetMemoryInfo_v2) sizes.code = nvml.nvmlDeviceGetMemoryInfo_v2(device, &memory);
  return with_answer(std::move(sizes), memory);
}

// By the functions that a program finds. `device`: the measured one, which may be a MIG instance and then has no index.
std::vector<std::string> shown_uuids(Nvml nvml, abi::nvmlDevice_t device) {
  nvml.api = nvml.dlsym;
  std::vector<std::string> uuids;
  for (ListedGpu& gpu : listed_gpus(nvml)) uuids.push_back(std::move(gpu.uuid));
  const auto measured = device ? nvml_uuid(nvml.api, device) : std::nullopt;
  if (measured && std::find(uuids.begin(), uuids.end(), *measured) == uuids.end()) uuids.push_back(*measured);
  return uuids;
}

}  // namespace

ReportedMemory reported_memory(DeviceSession& session) {
  ReportedMemory reported;
  reported.sizes = {of_info(session), of_total(session)};
  constexpr auto kCount = abi::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
  reported.multiprocessors = device_attribute(session.cuda, session.device, kCount);
  const Cuda bare = session.driver.cuda(SymbolPath::kBare);
  reported.bare_multiprocessors = device_attribute(bare, session.device, kCount);
  reported.bare_uuid = device_uuid(bare, session.device);
  // The handle also comes from the functions that a program finds.
  const NvmlApi& nvml = session.driver.nvml.dlsym;
  abi::nvmlDevice_t device = nullptr;
  if (!nvml.nvmlInit_v2 || nvml.nvmlInit_v2() != NVML_SUCCESS) return reported;
  device = nvml_handle(nvml, session.uuid);
  reported.uuids = shown_uuids(session.driver.nvml, device);
  if (!device) return reported;
  reported.sizes.push_back(of_nvml(nvml, device));
  reported.sizes.push_back(of_nvml_v2(nvml, device));
  reported.processes = gpu_processes(nvml, device);
  return reported;
}

}  // namespace gvb
