// Samples NVML's readings of one GPU at a set interval, on the thread that runs it, and keeps the samples until they
// are taken.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/stop_signal.h"
#include "bench/gpu_state.h"

namespace gvb {

struct ProcessSample {
  unsigned pid = 0;
  std::optional<uint64_t> used_bytes;
  std::optional<bool> mps_client;  // see GpuProcess; also nullopt if no list has it
  // Percentage of NVML's own sampling period in which one of its kernels ran, or accessed memory; also nullopt if NVML
  // has listed none in the last second.
  std::optional<unsigned> sm_percent, memory_percent;
};

struct CardSample {
  int64_t at_ns = 0;  // before the NVML calls
  std::optional<unsigned> gpu_percent, memory_percent;
  std::optional<uint64_t> used_bytes, total_bytes;
  std::optional<double> power_w, energy_j;  // energy: since the driver was loaded
  std::optional<unsigned> temperature_c, sm_clock_mhz, memory_clock_mhz;
  // Bytes per second over NVML's window of 20 ms.
  std::optional<double> pcie_received, pcie_sent;
  // Bytes per second since the previous sample; nullopt in the first one.
  std::optional<double> nvlink_received, nvlink_sent;
  std::optional<uint64_t> event_reasons;
  std::vector<ProcessSample> processes;
};

// A value that NVML did not report.
struct MissingValue {
  std::string call;
  std::string reason;
  uint64_t samples = 0;  // number of samples without it
};

struct MonitorReport {
  std::vector<CardSample> samples;  // those that were not taken before
  uint64_t taken = 0;               // all samples so far
  uint64_t missed = 0;              // intervals without a sample, because the previous one took too long
  uint64_t lost = 0;                // samples dropped because they were not taken in time
  std::vector<MissingValue> missing;
  std::string failure;  // why sampling ended before it was stopped; empty: it did not
};

// NVML's handle; throws if there is no NVML, it fails to start, or it knows no such GPU.
abi::nvmlDevice_t monitored_device(const NvmlApi& nvml, const std::string& uuid);

class GpuMonitor {
 public:
  GpuMonitor(const NvmlApi& nvml, abi::nvmlDevice_t device, int64_t interval_ns);

  void run();  // returns once stopped, or when sampling fails; does not throw
  void stop() { stop_.stop(); }
  MonitorReport take();

 private:
  struct LinkCounters {
    int64_t at_ns;
    double sent, received;  // bytes
  };

  void sample_until_stopped();
  void check_pcie();
  CardSample sample(NvmlRefusals* refusals);
  void read_pcie(CardSample* sample, NvmlRefusals* refusals) const;
  void read_nvlink(CardSample* sample, NvmlRefusals* refusals);
  std::optional<LinkCounters> link_counters(NvmlRefusals* refusals) const;
  std::vector<ProcessSample> processes(NvmlRefusals* refusals) const;
  void keep(CardSample sample, const NvmlRefusals& refusals);

  const NvmlApi& nvml_;
  const abi::nvmlDevice_t device_;
  const int64_t interval_ns_;
  StopSignal stop_;
  std::optional<LinkCounters> last_link_;
  std::string no_pcie_;  // why it is not read; empty: it is

  std::mutex mutex_;  // guards the members below
  std::deque<CardSample> samples_;
  uint64_t taken_ = 0, missed_ = 0, lost_ = 0;
  std::map<std::string, MissingValue> missing_;
  std::string failure_;
};

// A GPU that NVML lists; listed_gpus keeps NVML's order.
struct ListedGpu {
  unsigned index = 0;
  std::string uuid;
  std::string name;
  bool simulated = false;
};
// Throws if there is no NVML or it fails to start.
std::vector<ListedGpu> listed_gpus(const Nvml& nvml);

}  // namespace gvb
