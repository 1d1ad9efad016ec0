// The GPU monitor with an NVML stub.
#include "bench/gpu_monitor.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <thread>
#include <vector>

#include "base/wait.h"
#include "check.h"
#include "failure_of.h"

namespace test {
namespace {

using namespace gvb;
using namespace gvb::abi;

std::atomic<unsigned> readings{0};
std::atomic<bool> power_fails{false};

nvmlReturn_t power(nvmlDevice_t, unsigned* milliwatts) {
  *milliwatts = 1000 * ++readings;
  return power_fails ? NVML_ERROR_UNKNOWN : NVML_SUCCESS;
}

// Counts 1024 KiB more with each call, and starts again at 0 after the third.
nvmlReturn_t fields(nvmlDevice_t, int count, nvmlFieldValue_t* values) {
  static unsigned calls = 0;
  ++calls;
  for (int i = 0; i < count; ++i) {
    values[i].nvmlReturn = NVML_SUCCESS;
    values[i].valueType = NVML_VALUE_TYPE_UNSIGNED_LONG_LONG;
    values[i].value.ullVal = calls <= 3 ? 1024ULL * calls : 0;
  }
  return NVML_SUCCESS;
}

nvmlReturn_t narrow_fields(nvmlDevice_t, int count, nvmlFieldValue_t* values) {
  for (int i = 0; i < count; ++i) values[i].valueType = NVML_VALUE_TYPE_UNSIGNED_INT;
  return NVML_SUCCESS;
}

// One process twice, the older sample last; one without a percentage; an entry that is no process; and an old one.
nvmlReturn_t odd_processes(nvmlDevice_t, nvmlProcessUtilizationSample_t* samples, unsigned* count,
                           unsigned long long since) {
  const nvmlProcessUtilizationSample_t listed[] = {{7, since + 20, 40, 4, 0, 0},
                                                   {7, since + 10, 90, 9, 0, 0},
                                                   {8, since + 10, 2147483632, 3, 0, 0},
                                                   {0, since + 10, 50, 5, 0, 0},
                                                   {9, since - 10, 60, 6, 0, 0}};
  *count = 5;
  std::copy(std::begin(listed), std::end(listed), samples);
  return NVML_SUCCESS;
}

nvmlReturn_t listed(const std::vector<nvmlProcessInfo_t>& processes, unsigned* count, nvmlProcessInfo_t* infos) {
  *count = static_cast<unsigned>(processes.size());
  std::copy(processes.begin(), processes.end(), infos);
  return NVML_SUCCESS;
}

nvmlReturn_t compute_processes(nvmlDevice_t, unsigned* count, nvmlProcessInfo_t* infos) {
  return listed({{7, 100, 0, 0}, {8, 200, 0, 0}}, count, infos);
}

// One that is in the other list, too, without its memory, and one that is in this list alone.
nvmlReturn_t mps_clients(nvmlDevice_t, unsigned* count, nvmlProcessInfo_t* infos) {
  return listed({{8, NVML_VALUE_NOT_AVAILABLE, 0, 0}, {9, 300, 0, 0}}, count, infos);
}

const char* text(nvmlReturn_t code) { return code == NVML_ERROR_FUNCTION_NOT_FOUND ? "Function Not Found" : "Other"; }

NvmlApi nvml_with_power() {
  NvmlApi nvml;
  nvml.nvmlDeviceGetPowerUsage = power;
  nvml.nvmlErrorString = text;
  return nvml;
}

nvmlDevice_t some_device() { return reinterpret_cast<nvmlDevice_t>(1); }

// Runs until it has taken that many samples.
template <class Check>
void run_until(GpuMonitor* monitor, const Check& enough) {
  std::thread thread([&] { monitor->run(); });
  while (!enough()) nap_ns(1'000'000);
  monitor->stop();
  thread.join();
}

const MissingValue* missing(const MonitorReport& report, const std::string& call) {
  for (const MissingValue& value : report.missing)
    if (value.call == call) return &value;
  return nullptr;
}

void what_is_not_there_is_no_value() {
  const NvmlApi nvml = nvml_with_power();
  GpuMonitor monitor(nvml, some_device(), 1'000'000);
  readings = 0;
  run_until(&monitor, [] { return readings > 4; });
  const MonitorReport report = monitor.take();
  CHECK_EQUAL(report.taken, report.samples.size());
  CHECK_EQUAL(report.samples[0].power_w.value_or(0), 1.0);
  CHECK_EQUAL(report.samples[3].power_w.value_or(0), 4.0);
  for (const CardSample& sample : report.samples) CHECK(!sample.gpu_percent && !sample.energy_j && !sample.pcie_sent);
  const MissingValue* energy = missing(report, "nvmlDeviceGetTotalEnergyConsumption");
  CHECK(energy != nullptr && energy->samples == report.taken);
  CHECK(energy != nullptr && energy->reason == "nvmlDeviceGetTotalEnergyConsumption says: Function Not Found");
  CHECK(missing(report, "nvmlDeviceGetPowerUsage") == nullptr);
  CHECK(monitor.take().samples.empty());
}

void a_failing_call_is_a_gap() {
  const NvmlApi nvml = nvml_with_power();
  GpuMonitor monitor(nvml, some_device(), 1'000'000);
  readings = 0;
  run_until(&monitor, [] {
    power_fails = readings > 2;
    return readings > 6;
  });
  power_fails = false;
  const MonitorReport report = monitor.take();
  const MissingValue* value = missing(report, "nvmlDeviceGetPowerUsage");
  CHECK(value != nullptr && value->samples > 0 && value->samples < report.taken);
  uint64_t without = 0;
  for (const CardSample& sample : report.samples) without += !sample.power_w;
  CHECK(value != nullptr && value->samples == without);
}

// Samples that are not taken are kept up to a limit; the oldest are dropped.
void kept_samples_are_limited() {
  const NvmlApi nvml = nvml_with_power();
  GpuMonitor monitor(nvml, some_device(), 10'000);
  readings = 0;
  run_until(&monitor, [] { return readings > 1500; });
  const MonitorReport report = monitor.take();
  CHECK_EQUAL(report.samples.size(), size_t{1000});
  CHECK_EQUAL(report.lost, report.taken - 1000);
  CHECK_EQUAL(report.samples.back().power_w.value_or(0), static_cast<double>(report.taken));
}

void a_counter_that_begins_anew_has_no_rate() {
  NvmlApi nvml;
  nvml.nvmlDeviceGetPowerUsage = power;
  nvml.nvmlDeviceGetFieldValues = fields;
  GpuMonitor monitor(nvml, some_device(), 1'000'000);
  readings = 0;
  run_until(&monitor, [] { return readings > 5; });
  const MonitorReport report = monitor.take();
  CHECK(!report.samples[0].nvlink_sent);
  CHECK(report.samples[1].nvlink_sent.value_or(0) > 0);
  CHECK(report.samples[2].nvlink_received.value_or(0) > 0);
  CHECK(!report.samples[3].nvlink_sent);
  CHECK_EQUAL(report.samples[4].nvlink_sent.value_or(-1), 0.0);
}

void a_counter_of_another_width_is_not_read() {
  NvmlApi nvml = nvml_with_power();
  nvml.nvmlDeviceGetFieldValues = narrow_fields;
  GpuMonitor monitor(nvml, some_device(), 1'000'000);
  readings = 0;
  run_until(&monitor, [] { return readings > 2; });
  const MonitorReport report = monitor.take();
  CHECK(missing(report, "nvmlDeviceGetFieldValues (NVLink)") != nullptr);
}

void processes_are_of_their_latest_sample() {
  NvmlApi nvml = nvml_with_power();
  nvml.nvmlDeviceGetProcessUtilization = odd_processes;
  GpuMonitor monitor(nvml, some_device(), 1'000'000);
  readings = 0;
  run_until(&monitor, [] { return readings > 0; });
  const std::vector<ProcessSample> processes = monitor.take().samples[0].processes;
  CHECK_EQUAL(processes.size(), size_t{2});
  for (const ProcessSample& process : processes) {
    CHECK(!process.used_bytes);
    if (process.pid == 7) CHECK(process.sm_percent == 40u && process.memory_percent == 4u);
    if (process.pid == 8) CHECK(!process.sm_percent && process.memory_percent == 3u);
  }
}

void clients_of_mps_are_told_from_other_processes() {
  NvmlApi nvml = nvml_with_power();
  nvml.nvmlDeviceGetComputeRunningProcesses_v3 = compute_processes;
  nvml.nvmlDeviceGetMPSComputeRunningProcesses_v3 = mps_clients;
  const auto processes = gpu_processes(nvml, some_device());
  CHECK_EQUAL(processes->size(), size_t{3});
  for (const GpuProcess& process : *processes) {
    CHECK_EQUAL(process.used_bytes.value_or(0), uint64_t{100} * (process.pid - 6));
    CHECK(process.mps_client == (process.pid != 7));
  }
  nvml.nvmlDeviceGetMPSComputeRunningProcesses_v3 = nullptr;
  const auto unlisted = gpu_processes(nvml, some_device());
  CHECK_EQUAL(unlisted->size(), size_t{2});
  for (const GpuProcess& process : *unlisted) CHECK(!process.mps_client);
}

void an_exception_ends_sampling_and_not_the_process() {
  NvmlApi nvml = nvml_with_power();
  nvml.nvmlDeviceGetTemperature = [](nvmlDevice_t, nvmlTemperatureSensors_t, unsigned*) -> nvmlReturn_t {
    throw std::bad_alloc();
  };
  GpuMonitor monitor(nvml, some_device(), 1'000'000);
  monitor.run();
  CHECK(monitor.take().failure == std::bad_alloc().what());
}

void without_nvml_it_says_what_to_do() {
  const NvmlApi none;
  CHECK(failure_of([&] { monitored_device(none, "GPU-0"); }).find("install the NVIDIA driver") != std::string::npos);
  CHECK(failure_of([&] { listed_gpus(Nvml{}); }).find("libnvidia-ml.so.1") != std::string::npos);
}

}  // namespace
}  // namespace test

int main() {
  using namespace test;
  what_is_not_there_is_no_value();
  a_failing_call_is_a_gap();
  kept_samples_are_limited();
  a_counter_that_begins_anew_has_no_rate();
  a_counter_of_another_width_is_not_read();
  processes_are_of_their_latest_sample();
  clients_of_mps_are_told_from_other_processes();
  an_exception_ends_sampling_and_not_the_process();
  without_nvml_it_says_what_to_do();
  return report("gpu_monitor_test");
}
