#include "bench/gpu_state.h"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <mutex>

namespace gvb {

using abi::NVML_ERROR_INSUFFICIENT_SIZE;
using abi::NVML_SUCCESS;

namespace {

using ListProcesses = decltype(NvmlApi::nvmlDeviceGetComputeRunningProcesses_v3);

std::optional<std::vector<GpuProcess>> listed_by(ListProcesses list, abi::nvmlDevice_t device, NvmlRefusals* refusals) {
  std::vector<abi::nvmlProcessInfo_t> infos(64);
  abi::nvmlReturn_t code = list ? NVML_ERROR_INSUFFICIENT_SIZE : abi::NVML_ERROR_FUNCTION_NOT_FOUND;
  unsigned count = 0;
  // The list may grow between two calls, so each call leaves room for more than the last one reported.
  for (int attempt = 0; attempt < 4 && code == NVML_ERROR_INSUFFICIENT_SIZE; ++attempt) {
    if (count > infos.size()) infos.resize(count + 64);
    count = static_cast<unsigned>(infos.size());
    code = list(device, &count, infos.data());
  }
  if (code != NVML_SUCCESS) {
    note_refusal(refusals, "nvmlDeviceGetComputeRunningProcesses", code);
    return std::nullopt;
  }
  std::vector<GpuProcess> processes;
  for (unsigned i = 0; i < count; ++i) {
    const bool known = infos[i].usedGpuMemory != abi::NVML_VALUE_NOT_AVAILABLE;
    processes.push_back(
        {infos[i].pid, known ? std::optional<uint64_t>(infos[i].usedGpuMemory) : std::nullopt, std::nullopt});
  }
  return processes;
}

// Drivers list MPS clients separately. A client may be in both lists: nvidia-smi calls such a process "M+C".
void mark_clients(std::vector<GpuProcess>* processes, const std::vector<GpuProcess>& clients) {
  for (GpuProcess& process : *processes) process.mps_client = false;
  for (const GpuProcess& client : clients) {
    const auto known = std::find_if(processes->begin(), processes->end(),
                                    [&](const GpuProcess& process) { return process.pid == client.pid; });
    const auto at = known == processes->end() ? processes->insert(known, client) : known;
    if (client.used_bytes) at->used_bytes = client.used_bytes;
    at->mps_client = true;
  }
}

}  // namespace

std::optional<std::vector<GpuProcess>> gpu_processes(const NvmlApi& nvml, abi::nvmlDevice_t device,
                                                     NvmlRefusals* refusals) {
  if (!device) return std::nullopt;
  auto processes = listed_by(nvml.nvmlDeviceGetComputeRunningProcesses_v3, device, refusals);
  if (!processes) return std::nullopt;
  const auto clients = listed_by(nvml.nvmlDeviceGetMPSComputeRunningProcesses_v3, device, nullptr);
  if (clients) mark_clients(&*processes, *clients);
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

// A search visits every GPU of the machine, and a sampler asks ten times a second.
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

std::optional<std::vector<ProcessUtilization>> process_utilization(const NvmlApi& nvml, abi::nvmlDevice_t device,
                                                                   uint64_t since_us, NvmlRefusals* refusals) {
  std::vector<abi::nvmlProcessUtilizationSample_t> samples(256);
  auto count = static_cast<unsigned>(samples.size());
  const auto ask = nvml.nvmlDeviceGetProcessUtilization;
  const abi::nvmlReturn_t code =
      ask ? ask(device, samples.data(), &count, since_us) : abi::NVML_ERROR_FUNCTION_NOT_FOUND;
  std::vector<ProcessUtilization> processes;
  if (code == abi::NVML_ERROR_NOT_FOUND) return processes;
  if (code != NVML_SUCCESS) {
    note_refusal(refusals, "nvmlDeviceGetProcessUtilization", code);
    return std::nullopt;
  }
  for (unsigned i = 0; i < std::min<size_t>(count, samples.size()); ++i)
    processes.push_back(
        {samples[i].pid, samples[i].smUtil, samples[i].memUtil, static_cast<double>(samples[i].timeStamp)});
  return processes;
}

std::optional<GpuUtilization> read_utilization(const NvmlApi& nvml, const std::string& uuid, uint64_t since_us) {
  const abi::nvmlDevice_t device = remembered_handle(nvml, uuid);
  if (!device) return std::nullopt;
  GpuUtilization utilization;
  if (const auto rates = NvmlQuery{nullptr}.value<abi::nvmlUtilization_t>("nvmlDeviceGetUtilizationRates",
                                                                          nvml.nvmlDeviceGetUtilizationRates, device))
    utilization.gpu_percent = rates->gpu;
  utilization.processes = process_utilization(nvml, device, since_us);
  return utilization;
}

GpuState read_gpu_state(const NvmlApi& nvml, abi::nvmlDevice_t device, GpuDetail detail, NvmlRefusals* refusals) {
  GpuState state;
  if (!device) return state;
  const NvmlQuery ask{refusals};
  state.sm_clock_mhz =
      ask.value<unsigned>("nvmlDeviceGetClockInfo (SM)", nvml.nvmlDeviceGetClockInfo, device, abi::NVML_CLOCK_SM);
  state.memory_clock_mhz =
      ask.value<unsigned>("nvmlDeviceGetClockInfo (memory)", nvml.nvmlDeviceGetClockInfo, device, abi::NVML_CLOCK_MEM);
  state.temperature_c =
      ask.value<unsigned>("nvmlDeviceGetTemperature", nvml.nvmlDeviceGetTemperature, device, abi::NVML_TEMPERATURE_GPU);
  if (const auto milliwatts = ask.value<unsigned>("nvmlDeviceGetPowerUsage", nvml.nvmlDeviceGetPowerUsage, device))
    state.power_w = *milliwatts / 1000.0;
  if (const auto rates = ask.value<abi::nvmlUtilization_t>("nvmlDeviceGetUtilizationRates",
                                                           nvml.nvmlDeviceGetUtilizationRates, device)) {
    state.gpu_percent = rates->gpu;
    state.memory_percent = rates->memory;
  }
  const auto reasons = NvmlQuery{nullptr}.value<unsigned long long>(
      "nvmlDeviceGetCurrentClocksEventReasons", nvml.nvmlDeviceGetCurrentClocksEventReasons, device);
  // The name before driver 535.
  const auto older = reasons ? reasons
                             : ask.value<unsigned long long>("nvmlDeviceGetCurrentClocksThrottleReasons",
                                                             nvml.nvmlDeviceGetCurrentClocksThrottleReasons, device);
  if (older) state.event_reasons = *older;
  if (const auto memory =
          ask.value<abi::nvmlMemory_t>("nvmlDeviceGetMemoryInfo", nvml.nvmlDeviceGetMemoryInfo, device)) {
    state.used_bytes = memory->used;
    state.free_bytes = memory->free;
    state.total_bytes = memory->total;
  }
  if (detail == GpuDetail::kReadings) return state;
  // On an H200 the highest clock takes 1.1 ms, and the lists of processes half as long as all the other readings
  // together.
  state.max_sm_clock_mhz =
      ask.value<unsigned>("nvmlDeviceGetMaxClockInfo", nvml.nvmlDeviceGetMaxClockInfo, device, abi::NVML_CLOCK_SM);
  state.performance_state = ask.value<int>("nvmlDeviceGetPerformanceState", nvml.nvmlDeviceGetPerformanceState, device);
  if (const auto mode = ask.value<int>("nvmlDeviceGetPersistenceMode", nvml.nvmlDeviceGetPersistenceMode, device))
    state.persistence_mode = *mode != 0;
  state.processes = gpu_processes(nvml, device, refusals);
  return state;
}

}  // namespace gvb
