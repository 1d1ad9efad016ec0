#include "bench/mig_instances.h"

#include <array>

#include "bench/device_session.h"
#include "bench/gpu_monitor.h"
#include "bench/nvml_query.h"

namespace gvb {
namespace {

MigInstance described(const NvmlApi& nvml, abi::nvmlDevice_t instance, const ListedGpu& card) {
  const NvmlQuery ask{nullptr};
  MigInstance found;
  found.uuid = nvml_uuid(nvml, instance).value_or("");
  std::array<char, 96> name{};
  if (nvml.nvmlDeviceGetName && nvml.nvmlDeviceGetName(instance, name.data(), name.size()) == abi::NVML_SUCCESS)
    found.name = name.data();
  found.parent = card.uuid;
  found.parent_index = card.index;
  found.gpu_instance = ask.value<unsigned>("nvmlDeviceGetGpuInstanceId", nvml.nvmlDeviceGetGpuInstanceId, instance);
  found.compute_instance =
      ask.value<unsigned>("nvmlDeviceGetComputeInstanceId", nvml.nvmlDeviceGetComputeInstanceId, instance);
  const auto attributes =
      ask.value<abi::nvmlDeviceAttributes_t>("nvmlDeviceGetAttributes_v2", nvml.nvmlDeviceGetAttributes_v2, instance);
  if (attributes) found.multiprocessors = attributes->multiprocessorCount;
  const auto memory = ask.value<abi::nvmlMemory_t>("nvmlDeviceGetMemoryInfo", nvml.nvmlDeviceGetMemoryInfo, instance);
  if (memory) found.memory_bytes = memory->total;
  return found;
}

std::optional<abi::nvmlDevice_t> handle_of(const NvmlApi& nvml, const ListedGpu& card) {
  return NvmlQuery{nullptr}.value<abi::nvmlDevice_t>("nvmlDeviceGetHandleByIndex_v2",
                                                     nvml.nvmlDeviceGetHandleByIndex_v2, card.index);
}

std::vector<abi::nvmlDevice_t> instances_of(const NvmlApi& nvml, abi::nvmlDevice_t card) {
  const NvmlQuery ask{nullptr};
  const auto most = ask.value<unsigned>("nvmlDeviceGetMaxMigDeviceCount", nvml.nvmlDeviceGetMaxMigDeviceCount, card);
  std::vector<abi::nvmlDevice_t> found;
  // Numbers without an instance may precede others.
  for (unsigned number = 0; number < most.value_or(0); ++number)
    if (const auto instance = ask.value<abi::nvmlDevice_t>("nvmlDeviceGetMigDeviceHandleByIndex",
                                                           nvml.nvmlDeviceGetMigDeviceHandleByIndex, card, number))
      found.push_back(*instance);
  return found;
}

}  // namespace

std::vector<MigInstance> mig_instances(const Nvml& library) {
  std::vector<MigInstance> found;
  for (const ListedGpu& card : listed_gpus(library))
    if (const auto device = handle_of(library.api, card))
      for (abi::nvmlDevice_t instance : instances_of(library.api, *device))
        found.push_back(described(library.api, instance, card));
  return found;
}

// Without privileges a card in MIG mode does not list the processes of its instances; these do themselves.
std::vector<PlaceProcesses> processes_by_place(const Nvml& library) {
  const NvmlApi& nvml = library.api;
  std::vector<PlaceProcesses> found;
  for (const ListedGpu& card : listed_gpus(library)) {
    const auto device = handle_of(nvml, card);
    if (!device) continue;
    const std::vector<abi::nvmlDevice_t> instances = instances_of(nvml, *device);
    if (instances.empty()) found.push_back({card.uuid, gpu_processes(nvml, *device)});
    for (abi::nvmlDevice_t instance : instances)
      found.push_back({nvml_uuid(nvml, instance).value_or(""), gpu_processes(nvml, instance)});
  }
  return found;
}

}  // namespace gvb
