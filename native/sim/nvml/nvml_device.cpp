#include <algorithm>
#include <cmath>

#include "sim/card/facts.h"
#include "sim/nvml/nvml_library.h"

namespace gvb::sim {
namespace {

constexpr unsigned kNoInstance = 0xFFFFFFFF;  // NVML's value outside MIG

abi::nvmlReturn_t text_of(const std::string& value, char* text, unsigned size) {
  if (text == nullptr) return abi::NVML_ERROR_INVALID_ARGUMENT;
  return copy_text(value, text, size) ? abi::NVML_SUCCESS : abi::NVML_ERROR_INSUFFICIENT_SIZE;
}

template <class T>
abi::nvmlReturn_t constant(T* to, T value) {
  if (to == nullptr) return abi::NVML_ERROR_INVALID_ARGUMENT;
  *to = value;
  return abi::NVML_SUCCESS;
}

abi::nvmlReturn_t clock_of(int place, abi::nvmlClockType_t type, unsigned* megahertz) {
  const int kilohertz = type == abi::NVML_CLOCK_MEM ? memory_clock_khz(place) : sm_clock_khz(place);
  return constant(megahertz, static_cast<unsigned>(kilohertz / 1000));
}

abi::nvmlReturn_t list(const std::vector<ProcessUse>& uses, unsigned* count, abi::nvmlProcessInfo_t* infos) {
  if (count == nullptr) return abi::NVML_ERROR_INVALID_ARGUMENT;
  const unsigned room = *count;
  *count = static_cast<unsigned>(uses.size());
  if (uses.size() > room) return abi::NVML_ERROR_INSUFFICIENT_SIZE;
  if (!uses.empty() && infos == nullptr) return abi::NVML_ERROR_INVALID_ARGUMENT;
  for (size_t i = 0; i < uses.size(); ++i)
    infos[i] = {static_cast<unsigned>(uses[i].pid), static_cast<unsigned long long>(uses[i].bytes),
                uses[i].instance < 0 ? kNoInstance : static_cast<unsigned>(uses[i].instance),
                uses[i].instance < 0 ? kNoInstance : 0};
  return abi::NVML_SUCCESS;
}

}  // namespace
}  // namespace gvb::sim

namespace gvb::abi {

nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, unsigned* out) {
  GVB_SIM_NVML_DEVICE(nvmlDeviceGetIndex, device);
  return sim::constant(out, static_cast<unsigned>(index));
}

nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char* text, unsigned size) {
  GVB_SIM_NVML_DEVICE(nvmlDeviceGetName, device);
  return sim::text_of(sim::card_name(index), text, size);
}

nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char* text, unsigned size) {
  GVB_SIM_NVML_DEVICE(nvmlDeviceGetUUID, device);
  return sim::text_of(sim::card_uuid_text(index), text, size);
}

nvmlReturn_t nvmlDeviceGetVbiosVersion(nvmlDevice_t device, char* text, unsigned size) {
  GVB_SIM_NVML_DEVICE(nvmlDeviceGetVbiosVersion, device);
  return sim::text_of("simulated." + std::to_string(sim::nvml_region().settings().card(index).vbios), text, size);
}

nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t* memory) {
  GVB_SIM_NVML_DEVICE(nvmlDeviceGetMemoryInfo, device);
  if (sim::card_settings(index).integrated != 0) return NVML_ERROR_NOT_SUPPORTED;
  if (memory == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  const sim::MemoryUse use = sim::nvml_region().memory(index);
  memory->total = static_cast<unsigned long long>(use.total);
  memory->free = static_cast<unsigned long long>(use.free);
  memory->used = memory->total - memory->free;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t* memory) {
  GVB_SIM_NVML_DEVICE(nvmlDeviceGetMemoryInfo_v2, device);
  if (sim::card_settings(index).integrated != 0) return NVML_ERROR_NOT_SUPPORTED;
  if (memory == nullptr || memory->version != nvmlMemory_v2) return NVML_ERROR_INVALID_ARGUMENT;
  const sim::MemoryUse use = sim::nvml_region().memory(index);
  memory->total = static_cast<unsigned long long>(use.total);
  memory->reserved = static_cast<unsigned long long>(use.reserved);
  memory->free = static_cast<unsigned long long>(use.free);
  memory->used = static_cast<unsigned long long>(use.used);
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t* info) {
  GVB_SIM_NVML_DEVICE(nvmlDeviceGetPciInfo_v3, device);
  if (info == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  *info = {};
  info->bus = static_cast<unsigned>(sim::pci_bus(index));
  sim::copy_text(sim::pci_bus_id(index, 4), info->busIdLegacy, sizeof info->busIdLegacy);
  sim::copy_text(sim::pci_bus_id(index, 8), info->busId, sizeof info->busId);
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetPersistenceMode(nvmlDevice_t device, int* mode) {
  GVB_SIM_NVML_DEVICE(nvmlDeviceGetPersistenceMode, device);
  return sim::constant(mode, static_cast<int>(sim::nvml_region().settings().card(index).persistence));
}

nvmlReturn_t nvmlDeviceGetComputeMode(nvmlDevice_t device, int* mode) {
  GVB_SIM_NVML_DEVICE(nvmlDeviceGetComputeMode, device);
  return sim::constant(mode, 0);
}

nvmlReturn_t nvmlDeviceGetPerformanceState(nvmlDevice_t device, int* state) {
  GVB_SIM_NVML_DEVICE(nvmlDeviceGetPerformanceState, device);
  return sim::constant(state, static_cast<int>(sim::nvml_region().settings().card(index).performance_state));
}

nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device, nvmlTemperatureSensors_t sensor, unsigned* celsius) {
  GVB_SIM_NVML_DEVICE(nvmlDeviceGetTemperature, device);
  if (sensor != NVML_TEMPERATURE_GPU) return NVML_ERROR_INVALID_ARGUMENT;
  return sim::constant(celsius, static_cast<unsigned>(sim::nvml_region().settings().card(index).temperature_c));
}

nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned* milliwatts) {
  GVB_SIM_NVML_DEVICE(nvmlDeviceGetPowerUsage, device);
  return sim::constant(milliwatts,
                       static_cast<unsigned>(std::lround(1e3 * sim::nvml_region().settings().card(index).power_w)));
}

nvmlReturn_t nvmlDeviceGetPowerManagementLimit(nvmlDevice_t device, unsigned* milliwatts) {
  GVB_SIM_NVML_DEVICE(nvmlDeviceGetPowerManagementLimit, device);
  return sim::constant(
      milliwatts, static_cast<unsigned>(std::lround(1e3 * sim::nvml_region().settings().card(index).power_limit_w)));
}

nvmlReturn_t nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_t device, unsigned long long* millijoules) {
  GVB_SIM_NVML_DEVICE(nvmlDeviceGetTotalEnergyConsumption, device);
  return sim::constant(millijoules, static_cast<unsigned long long>(1e3 * sim::nvml_region().energy_j(index)));
}

nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t* rates) {
  GVB_SIM_NVML_DEVICE(nvmlDeviceGetUtilizationRates, device);
  const auto memory = static_cast<unsigned>(sim::nvml_region().settings().card(index).memory_percent);
  return sim::constant(rates, nvmlUtilization_t{sim::nvml_region().card(index).busy() ? 100U : 0U, memory});
}

nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, nvmlClockType_t type, unsigned* megahertz) {
  GVB_SIM_NVML_DEVICE(nvmlDeviceGetClockInfo, device);
  return sim::clock_of(index, type, megahertz);
}

nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, nvmlClockType_t type, unsigned* megahertz) {
  GVB_SIM_NVML_DEVICE(nvmlDeviceGetMaxClockInfo, device);
  return sim::clock_of(index, type, megahertz);
}

nvmlReturn_t nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice_t device, unsigned long long* reasons) {
  GVB_SIM_NVML_DEVICE(nvmlDeviceGetCurrentClocksEventReasons, device);
  return sim::constant(reasons,
                       static_cast<unsigned long long>(sim::nvml_region().settings().card(index).event_reasons));
}

nvmlReturn_t nvmlDeviceGetCurrentClocksThrottleReasons(nvmlDevice_t device, unsigned long long* reasons) {
  GVB_SIM_NVML_DEVICE(nvmlDeviceGetCurrentClocksThrottleReasons, device);
  return sim::constant(reasons,
                       static_cast<unsigned long long>(sim::nvml_region().settings().card(index).event_reasons));
}

nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device, unsigned* count, nvmlProcessInfo_t* infos) {
  GVB_SIM_NVML_DEVICE(nvmlDeviceGetComputeRunningProcesses_v3, device);
  return sim::list(sim::nvml_region().processes(index), count, infos);
}

nvmlReturn_t nvmlDeviceGetMPSComputeRunningProcesses_v3(nvmlDevice_t device, unsigned* count,
                                                        nvmlProcessInfo_t* infos) {
  GVB_SIM_NVML_DEVICE(nvmlDeviceGetMPSComputeRunningProcesses_v3, device);
  std::vector<sim::ProcessUse> uses = sim::nvml_region().processes(index);
  uses.erase(std::remove_if(uses.begin(), uses.end(), [](const sim::ProcessUse& use) { return !use.mps_client; }),
             uses.end());
  return sim::list(uses, count, infos);
}

nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int* major, int* minor) {
  GVB_SIM_NVML_DEVICE(nvmlDeviceGetCudaComputeCapability, device);
  if (major == nullptr || minor == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  *major = static_cast<int>(sim::card_settings(index).cc / 10);
  *minor = static_cast<int>(sim::card_settings(index).cc % 10);
  return NVML_SUCCESS;
}

}  // namespace gvb::abi
