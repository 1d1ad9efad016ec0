#include "bench/gpu_state.h"

#include <unistd.h>

#include <map>
#include <mutex>

namespace gvb {

using abi::NVML_ERROR_INSUFFICIENT_SIZE;
using abi::NVML_SUCCESS;

namespace {

template <class Value, class Function, class... Arguments>
std::optional<Value> query(Function function, Arguments... arguments) {
  Value value{};
  if (!function || function(arguments..., &value) != NVML_SUCCESS) return std::nullopt;
  return value;
}

using ListProcesses = decltype(NvmlApi::nvmlDeviceGetComputeRunningProcesses_v3);

bool append_processes(ListProcesses list, abi::nvmlDevice_t device, std::vector<GpuProcess>& out) {
  if (!list) return false;
  std::vector<abi::nvmlProcessInfo_t> infos(64);
  abi::nvmlReturn_t code = NVML_ERROR_INSUFFICIENT_SIZE;
  unsigned count = 0;
  // The list may grow between two calls; it is asked for again with what the last call said plus room.
  for (int attempt = 0; attempt < 4 && code == NVML_ERROR_INSUFFICIENT_SIZE; ++attempt) {
    if (count > infos.size()) infos.resize(count + 64);
    count = static_cast<unsigned>(infos.size());
    code = list(device, &count, infos.data());
  }
  if (code != NVML_SUCCESS) return false;
  for (unsigned i = 0; i < count; ++i) {
    const bool known = infos[i].usedGpuMemory != abi::NVML_VALUE_NOT_AVAILABLE;
    out.push_back({infos[i].pid, known ? std::optional<uint64_t>(infos[i].usedGpuMemory) : std::nullopt});
  }
  return true;
}

}  // namespace

std::optional<std::vector<GpuProcess>> gpu_processes(const NvmlApi& nvml, abi::nvmlDevice_t device) {
  std::vector<GpuProcess> processes;
  if (!device || !append_processes(nvml.nvmlDeviceGetComputeRunningProcesses_v3, device, processes))
    return std::nullopt;
  // Drivers list MPS clients apart; one that has no such list has no such clients.
  append_processes(nvml.nvmlDeviceGetMPSComputeRunningProcesses_v3, device, processes);
  return processes;
}

std::optional<uint64_t> used_bytes(const DeviceSession& session) {
  const auto processes = gpu_processes(session.driver.nvml.api, session.nvml_device);
  if (processes)
    for (const GpuProcess& process : *processes)
      if (process.pid == static_cast<unsigned>(getpid())) return process.used_bytes;
  return std::nullopt;
}

VisibleMemory visible_memory(const DeviceSession& session) {
  size_t free_bytes = 0, total = 0;
  const auto info = session.cuda.api.cuMemGetInfo_v2;
  if (!info || info(&free_bytes, &total) != abi::CUDA_SUCCESS) return {};
  return {free_bytes, total};
}

namespace {

// A search goes through every GPU of the machine; a sampler asks ten times a second.
abi::nvmlDevice_t remembered_handle(const NvmlApi& nvml, const std::string& uuid) {
  static std::mutex mutex;
  static auto& handles = *new std::map<std::string, abi::nvmlDevice_t>;
  const std::lock_guard<std::mutex> lock(mutex);
  const auto known = handles.find(uuid);
  if (known != handles.end()) return known->second;
  const abi::nvmlDevice_t handle = nvml_handle(nvml, uuid);
  if (handle) handles.emplace(uuid, handle);
  return handle;
}

}  // namespace

std::optional<GpuState> read_gpu_state(const NvmlApi& nvml, const std::string& uuid, GpuDetail detail) {
  const abi::nvmlDevice_t device = remembered_handle(nvml, uuid);
  if (!device) return std::nullopt;
  return read_gpu_state(nvml, device, detail);
}

GpuState read_gpu_state(const NvmlApi& nvml, abi::nvmlDevice_t device, GpuDetail detail) {
  GpuState state;
  if (!device) return state;
  state.sm_clock_mhz = query<unsigned>(nvml.nvmlDeviceGetClockInfo, device, abi::NVML_CLOCK_SM);
  state.memory_clock_mhz = query<unsigned>(nvml.nvmlDeviceGetClockInfo, device, abi::NVML_CLOCK_MEM);
  state.temperature_c = query<unsigned>(nvml.nvmlDeviceGetTemperature, device, abi::NVML_TEMPERATURE_GPU);
  state.power_mw = query<unsigned>(nvml.nvmlDeviceGetPowerUsage, device);
  if (const auto rates = query<abi::nvmlUtilization_t>(nvml.nvmlDeviceGetUtilizationRates, device)) {
    state.gpu_percent = rates->gpu;
    state.memory_percent = rates->memory;
  }
  const auto reasons = query<unsigned long long>(nvml.nvmlDeviceGetCurrentClocksEventReasons, device);
  // The name before driver 535.
  const auto older =
      reasons ? reasons : query<unsigned long long>(nvml.nvmlDeviceGetCurrentClocksThrottleReasons, device);
  if (older) state.event_reasons = *older;
  if (const auto memory = query<abi::nvmlMemory_t>(nvml.nvmlDeviceGetMemoryInfo, device)) {
    state.used_bytes = memory->used;
    state.free_bytes = memory->free;
    state.total_bytes = memory->total;
  }
  if (detail == GpuDetail::kReadings) return state;
  // On an H200 the highest clock takes 1.1 ms, and the lists of processes half as long as all the readings.
  state.max_sm_clock_mhz = query<unsigned>(nvml.nvmlDeviceGetMaxClockInfo, device, abi::NVML_CLOCK_SM);
  state.performance_state = query<int>(nvml.nvmlDeviceGetPerformanceState, device);
  state.persistence_mode = query<int>(nvml.nvmlDeviceGetPersistenceMode, device);
  state.processes = gpu_processes(nvml, device);
  return state;
}

}  // namespace gvb
