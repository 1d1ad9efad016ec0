#include "bench/gpu_monitor.h"

#include <time.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/clock.h"
#include "driver/error.h"

namespace gvb {

using abi::NVML_SUCCESS;

namespace {

// Per GPU: 100 s at the usual interval. A reader that is later than that is presumed gone.
constexpr size_t kMostKept = 1000;
constexpr uint64_t kProcessSampleAgeUs = 1'000'000;  // NVML's longest sampling period

std::string text_of(const NvmlApi& nvml, abi::nvmlReturn_t code) {
  const char* text = nvml.nvmlErrorString ? nvml.nvmlErrorString(code) : nullptr;
  return text ? text : "code " + std::to_string(code);
}

void start_nvml(const NvmlApi& nvml) {
  if (!nvml.nvmlInit_v2)
    throw Failure(FailureKind::kNoDriver,
                  "There is no NVML (libnvidia-ml.so.1): install the NVIDIA driver, or start the container with --gpus "
                  "all.");
  const abi::nvmlReturn_t code = nvml.nvmlInit_v2();
  if (code != NVML_SUCCESS)
    throw Failure(FailureKind::kNoDriver, "nvmlInit_v2 failed: " + text_of(nvml, code) +
                                              ". Load the NVIDIA kernel module; nvidia-smi has to work first.");
}

uint64_t realtime_us() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000 + static_cast<uint64_t>(now.tv_nsec) / 1000;
}

std::optional<double> rate(double before, double after, int64_t elapsed_ns) {
  // A counter that decreased was reset, so the rate is unknown.
  if (after < before || elapsed_ns <= 0) return std::nullopt;
  return (after - before) / (static_cast<double>(elapsed_ns) / 1e9);
}

ProcessSample& of_process(std::vector<ProcessSample>* samples, unsigned pid) {
  for (ProcessSample& sample : *samples)
    if (sample.pid == pid) return sample;
  ProcessSample added;
  added.pid = pid;
  samples->push_back(added);
  return samples->back();
}

std::optional<unsigned> percentage(unsigned value) {
  return value <= 100 ? std::optional<unsigned>(value) : std::nullopt;
}

std::string milliseconds(int64_t nanoseconds) { return std::to_string((nanoseconds + 500'000) / 1'000'000) + " ms"; }

}  // namespace

abi::nvmlDevice_t monitored_device(const NvmlApi& nvml, const std::string& uuid) {
  start_nvml(nvml);
  const abi::nvmlDevice_t device = nvml_handle(nvml, uuid);
  if (!device) throw Failure(FailureKind::kNoSuchDevice, "Expected a GPU that NVML knows but received " + uuid + ".");
  return device;
}

std::vector<ListedGpu> listed_gpus(const Nvml& library) {
  const NvmlApi& nvml = library.api;
  start_nvml(nvml);
  const NvmlQuery ask{nullptr};
  const unsigned count = ask.value<unsigned>("nvmlDeviceGetCount_v2", nvml.nvmlDeviceGetCount_v2).value_or(0);
  std::vector<ListedGpu> gpus;
  for (unsigned i = 0; i < count; ++i) {
    // A GPU that this process may not use (another cgroup, or lost) has no handle.
    const auto device =
        ask.value<abi::nvmlDevice_t>("nvmlDeviceGetHandleByIndex_v2", nvml.nvmlDeviceGetHandleByIndex_v2, i);
    const auto uuid = device ? nvml_uuid(nvml, *device) : std::nullopt;
    std::array<char, 96> name{};
    if (!uuid) continue;
    if (nvml.nvmlDeviceGetName) nvml.nvmlDeviceGetName(*device, name.data(), name.size());
    gpus.push_back({i, *uuid, name.data(), library.simulated});
  }
  return gpus;
}

GpuMonitor::GpuMonitor(const NvmlApi& nvml, abi::nvmlDevice_t device, int64_t interval_ns)
    : nvml_(nvml), device_(device), interval_ns_(interval_ns) {}

// It has a thread of its own, which nothing may leave.
void GpuMonitor::run() {
  std::string failure = "an unknown failure";
  try {
    return sample_until_stopped();
  } catch (const std::exception& error) {
    failure = error.what();
  } catch (...) {
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  failure_ = std::move(failure);
}

void GpuMonitor::sample_until_stopped() {
  check_pcie();
  const int64_t begin = now_ns();
  for (uint64_t tick = 0; !stop_.stopped();) {
    NvmlRefusals refusals;
    keep(sample(&refusals), refusals);
    // On the grid of the first sample, so that a slow reading or late wake-up does not shift later samples.
    const auto passed = static_cast<uint64_t>((now_ns() - begin) / interval_ns_) + 1;
    const uint64_t next = std::max(tick + 1, passed);
    if (stop_.wait_until(begin + static_cast<int64_t>(next) * interval_ns_)) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    missed_ += next - tick - 1;
    tick = next;
  }
}

MonitorReport GpuMonitor::take() {
  const std::lock_guard<std::mutex> lock(mutex_);
  MonitorReport report;
  report.samples = {std::make_move_iterator(samples_.begin()), std::make_move_iterator(samples_.end())};
  samples_.clear();
  report.taken = taken_;
  report.missed = missed_;
  report.lost = lost_;
  report.failure = failure_;
  for (const auto& [call, value] : missing_) report.missing.push_back(value);
  return report;
}

// Each direction takes 20 ms inside NVML. If that does not fit into the interval, drops the traffic and keeps the
// interval.
void GpuMonitor::check_pcie() {
  constexpr int kTries = 3;  // the first ones may have been interrupted
  int64_t fastest = INT64_MAX;
  for (int i = 0; i < kTries && fastest > interval_ns_ / 2 && !stop_.stopped(); ++i) {
    CardSample unused;
    const int64_t from = now_ns();
    read_pcie(&unused, nullptr);
    fastest = std::min(fastest, now_ns() - from);
  }
  if (fastest > interval_ns_ / 2)
    no_pcie_ = "reading it takes " + milliseconds(fastest) + ", more than half of the interval of " +
               milliseconds(interval_ns_) + "; use a longer interval";
}

CardSample GpuMonitor::sample(NvmlRefusals* refusals) {
  CardSample sample;
  sample.at_ns = now_ns();
  const GpuState state = read_gpu_state(nvml_, device_, GpuDetail::kReadings, refusals);
  sample.gpu_percent = state.gpu_percent;
  sample.memory_percent = state.memory_percent;
  sample.used_bytes = state.used_bytes;
  sample.total_bytes = state.total_bytes;
  sample.power_w = state.power_w;
  sample.temperature_c = state.temperature_c;
  sample.sm_clock_mhz = state.sm_clock_mhz;
  sample.memory_clock_mhz = state.memory_clock_mhz;
  sample.event_reasons = state.event_reasons;
  if (const auto millijoules = NvmlQuery{refusals}.value<unsigned long long>(
          "nvmlDeviceGetTotalEnergyConsumption", nvml_.nvmlDeviceGetTotalEnergyConsumption, device_))
    sample.energy_j = static_cast<double>(*millijoules) / 1000;
  read_nvlink(&sample, refusals);
  sample.processes = processes(refusals);
  // Read last, because it takes longest: the other values are then close to the sample's time.
  if (no_pcie_.empty()) read_pcie(&sample, refusals);
  return sample;
}

void GpuMonitor::read_pcie(CardSample* sample, NvmlRefusals* refusals) const {
  const NvmlQuery ask{refusals};
  const auto kilobytes = [&](const char* call, abi::nvmlPcieUtilCounter_t way) {
    return ask.value<unsigned>(call, nvml_.nvmlDeviceGetPcieThroughput, device_, way);
  };
  if (const auto received = kilobytes("nvmlDeviceGetPcieThroughput (received)", abi::NVML_PCIE_UTIL_RX_BYTES))
    sample->pcie_received = 1e3 * *received;
  if (const auto sent = kilobytes("nvmlDeviceGetPcieThroughput (sent)", abi::NVML_PCIE_UTIL_TX_BYTES))
    sample->pcie_sent = 1e3 * *sent;
}

std::optional<GpuMonitor::LinkCounters> GpuMonitor::link_counters(NvmlRefusals* refusals) const {
  constexpr const char* kCall = "nvmlDeviceGetFieldValues (NVLink)";
  std::array<abi::nvmlFieldValue_t, 2> fields{};
  fields[0].fieldId = abi::NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX;
  fields[1].fieldId = abi::NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX;
  for (abi::nvmlFieldValue_t& field : fields) field.scopeId = abi::kAllNvLinks;
  const auto ask = nvml_.nvmlDeviceGetFieldValues;
  const int64_t at = now_ns();
  abi::nvmlReturn_t code =
      ask ? ask(device_, static_cast<int>(fields.size()), fields.data()) : abi::NVML_ERROR_FUNCTION_NOT_FOUND;
  for (const abi::nvmlFieldValue_t& field : fields) {
    if (code == NVML_SUCCESS) code = field.nvmlReturn;
    // A counter of another width would overflow in an undocumented way.
    const bool is_known = field.valueType == abi::NVML_VALUE_TYPE_UNSIGNED_LONG_LONG ||
                          field.valueType == abi::NVML_VALUE_TYPE_UNSIGNED_LONG;
    if (code == NVML_SUCCESS && !is_known) code = abi::NVML_ERROR_NOT_SUPPORTED;
  }
  if (code != NVML_SUCCESS) {
    note_refusal(refusals, kCall, code);
    return std::nullopt;
  }
  constexpr double kKiB = 1024;
  return LinkCounters{at, kKiB * static_cast<double>(fields[0].value.ullVal),
                      kKiB * static_cast<double>(fields[1].value.ullVal)};
}

void GpuMonitor::read_nvlink(CardSample* sample, NvmlRefusals* refusals) {
  const std::optional<LinkCounters> counters = link_counters(refusals);
  if (counters && last_link_) {
    const int64_t elapsed = counters->at_ns - last_link_->at_ns;
    sample->nvlink_sent = rate(last_link_->sent, counters->sent, elapsed);
    sample->nvlink_received = rate(last_link_->received, counters->received, elapsed);
  }
  last_link_ = counters;
}

std::vector<ProcessSample> GpuMonitor::processes(NvmlRefusals* refusals) const {
  std::vector<ProcessSample> samples;
  if (const auto listed = gpu_processes(nvml_, device_, refusals))
    for (const GpuProcess& process : *listed) {
      ProcessSample& sample = of_process(&samples, process.pid);
      sample.used_bytes = process.used_bytes;
      sample.mps_client = process.mps_client;
    }
  const uint64_t since = realtime_us() - kProcessSampleAgeUs;
  auto utilization = process_utilization(nvml_, device_, since, refusals).value_or(std::vector<ProcessUtilization>());
  // A process may be listed more than once: the latest entry counts.
  std::sort(utilization.begin(), utilization.end(),
            [](const ProcessUtilization& a, const ProcessUtilization& b) { return a.at_us < b.at_us; });
  for (const ProcessUtilization& process : utilization) {
    // Drivers also list entries that are no process or no percentage (github.com/Syllo/nvtop/issues/110).
    if (process.pid == 0 || process.at_us < static_cast<double>(since)) continue;
    ProcessSample& sample = of_process(&samples, process.pid);
    sample.sm_percent = percentage(process.sm_percent);
    sample.memory_percent = percentage(process.memory_percent);
  }
  return samples;
}

void GpuMonitor::keep(CardSample sample, const NvmlRefusals& refusals) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto note = [this](const char* call, const std::string& reason) {
    MissingValue& value = missing_[call];
    value.call = call;
    value.reason = reason;
    ++value.samples;
  };
  for (const NvmlRefusal& refusal : refusals)
    note(refusal.call, std::string(refusal.call) + " says: " + text_of(nvml_, refusal.code));
  if (!no_pcie_.empty()) {
    note("nvmlDeviceGetPcieThroughput (received)", no_pcie_);
    note("nvmlDeviceGetPcieThroughput (sent)", no_pcie_);
  }
  if (samples_.size() == kMostKept) {
    samples_.pop_front();
    ++lost_;
  }
  samples_.push_back(std::move(sample));
  ++taken_;
}

}  // namespace gvb
