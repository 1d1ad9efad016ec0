// What NVML reports about a device, read through the library's own addresses, so that a layer cannot change it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "bench/device_session.h"
#include "bench/nvml_query.h"

namespace gvb {

struct GpuProcess {
  unsigned pid;
  std::optional<uint64_t> used_bytes;
  // Whether it is in NVML's list of MPS clients; nullopt if NVML has no such list.
  std::optional<bool> mps_client;
};

struct GpuState {
  std::optional<unsigned> sm_clock_mhz, max_sm_clock_mhz, memory_clock_mhz, temperature_c;
  std::optional<double> power_w;
  std::optional<int> performance_state;
  std::optional<bool> persistence_mode;
  // Percentage of the last sampling period (NVML's own, 1/6 to 1 s) in which a kernel ran, or memory was accessed.
  std::optional<unsigned> gpu_percent, memory_percent;
  std::optional<uint64_t> event_reasons, used_bytes, free_bytes, total_bytes;
  std::optional<std::vector<GpuProcess>> processes;
};

// Only values that change and are cheap to read, or all.
enum class GpuDetail { kReadings, kAll };

// Without a device all values are unknown. `refusals` receives the failed calls; nullptr: they are not collected.
GpuState read_gpu_state(const NvmlApi& nvml, abi::nvmlDevice_t device, GpuDetail detail = GpuDetail::kAll,
                        NvmlRefusals* refusals = nullptr);
// nullopt if there is no NVML or it knows no such device.
std::optional<GpuState> read_gpu_state(const NvmlApi& nvml, const std::string& uuid, GpuDetail detail);

struct ProcessUtilization {
  unsigned pid;
  unsigned sm_percent;      // percentage of NVML's sampling period in which one of its kernels ran
  unsigned memory_percent;  // percentage of it in which it accessed memory
  double at_us;             // CLOCK_REALTIME
};

struct GpuUtilization {
  std::optional<unsigned> gpu_percent;
  // The latest entry of each process after the given time; NVML omits idle processes. nullopt if it cannot report them.
  std::optional<std::vector<ProcessUtilization>> processes;
};

// See GpuUtilization.
std::optional<std::vector<ProcessUtilization>> process_utilization(const NvmlApi& nvml, abi::nvmlDevice_t device,
                                                                   uint64_t since_us, NvmlRefusals* refusals = nullptr);

// nullopt if there is no NVML or it knows no such device.
std::optional<GpuUtilization> read_utilization(const NvmlApi& nvml, const std::string& uuid, uint64_t since_us);

// What cuMemGetInfo tells the process; a layer may change or refuse it.
struct VisibleMemory {
  std::optional<uint64_t> free_bytes, total_bytes;
};
VisibleMemory visible_memory(const DeviceSession& session);

// Compute processes with a context on the device, MPS clients included, each of them once; nullopt if NVML cannot
// report them.
std::optional<std::vector<GpuProcess>> gpu_processes(const NvmlApi& nvml, abi::nvmlDevice_t device,
                                                     NvmlRefusals* refusals = nullptr);

// Bytes that this process uses on the device; nullopt if NVML does not list it (e.g. in another PID namespace). The sum
// over all processes would be no substitute: it includes the neighbours.
std::optional<uint64_t> used_bytes(const DeviceSession& session);

}  // namespace gvb
