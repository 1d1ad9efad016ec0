// The MIG instances of a card, as NVML reports them.
#include "sim/nvml/nvml_library.h"

namespace gvb::sim {
namespace {

bool is_instance(int place) { return card_settings(place).parent >= 0; }

}  // namespace
}  // namespace gvb::sim

namespace gvb::abi {

nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t device, unsigned* current, unsigned* pending) {
  GVB_SIM_NVML_DEVICE(nvmlDeviceGetMigMode, device);
  if (sim::settings().places == sim::settings().devices) return NVML_ERROR_NOT_SUPPORTED;
  if (current == nullptr || pending == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  *current = *pending = sim::card_settings(index).instances > 0 ? 1 : 0;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMaxMigDeviceCount(nvmlDevice_t device, unsigned* count) {
  GVB_SIM_NVML_DEVICE(nvmlDeviceGetMaxMigDeviceCount, device);
  if (count == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  *count = sim::card_settings(index).instances > 0 ? 7 : 0;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMigDeviceHandleByIndex(nvmlDevice_t device, unsigned number, nvmlDevice_t* instance) {
  GVB_SIM_NVML_DEVICE(nvmlDeviceGetMigDeviceHandleByIndex, device);
  if (instance == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  const sim::CardSettings& card = sim::card_settings(index);
  if (number >= card.instances) return NVML_ERROR_NOT_FOUND;
  *instance = sim::device_handle(static_cast<int>(card.first_instance + number));
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetDeviceHandleFromMigDeviceHandle(nvmlDevice_t device, nvmlDevice_t* card) {
  GVB_SIM_NVML_DEVICE(nvmlDeviceGetDeviceHandleFromMigDeviceHandle, device);
  if (card == nullptr || !sim::is_instance(index)) return NVML_ERROR_INVALID_ARGUMENT;
  *card = sim::device_handle(static_cast<int>(sim::card_settings(index).parent));
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceIsMigDeviceHandle(nvmlDevice_t device, unsigned* is_instance) {
  GVB_SIM_NVML_DEVICE(nvmlDeviceIsMigDeviceHandle, device);
  if (is_instance == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  *is_instance = sim::is_instance(index) ? 1 : 0;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetGpuInstanceId(nvmlDevice_t device, unsigned* id) {
  GVB_SIM_NVML_DEVICE(nvmlDeviceGetGpuInstanceId, device);
  if (id == nullptr || !sim::is_instance(index)) return NVML_ERROR_INVALID_ARGUMENT;
  *id = static_cast<unsigned>(sim::card_settings(index).instance);
  return NVML_SUCCESS;
}

// There is one compute instance per instance, which uses all of it.
nvmlReturn_t nvmlDeviceGetComputeInstanceId(nvmlDevice_t device, unsigned* id) {
  GVB_SIM_NVML_DEVICE(nvmlDeviceGetComputeInstanceId, device);
  if (id == nullptr || !sim::is_instance(index)) return NVML_ERROR_INVALID_ARGUMENT;
  *id = 0;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetAttributes_v2(nvmlDevice_t device, nvmlDeviceAttributes_t* attributes) {
  GVB_SIM_NVML_DEVICE(nvmlDeviceGetAttributes_v2, device);
  if (attributes == nullptr || !sim::is_instance(index)) return NVML_ERROR_INVALID_ARGUMENT;
  const sim::CardSettings& instance = sim::card_settings(index);
  *attributes = {};
  attributes->multiprocessorCount = static_cast<unsigned>(instance.sms);
  attributes->sharedCopyEngineCount = static_cast<unsigned>(instance.copy_engines);
  attributes->gpuInstanceSliceCount = attributes->computeInstanceSliceCount = static_cast<unsigned>(instance.slices);
  attributes->memorySizeMB = static_cast<unsigned long long>(instance.memory_mib);
  return NVML_SUCCESS;
}

}  // namespace gvb::abi
