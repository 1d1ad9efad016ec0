// Utilization per process, from samples that NVML takes itself.
#include <time.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <mutex>
#include <vector>

#include "sim/nvml/nvml_library.h"

namespace gvb::sim {
namespace {

// NVML's own period is 1/6 s to 1 s.
constexpr int64_t kPeriodNs = 100'000'000;

int64_t realtime_us() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<int64_t>(now.tv_sec) * 1'000'000 + now.tv_nsec / 1000;
}

class ProcessSamples {
 public:
  // The latest sample of each process that used the card in the last full period.
  std::vector<abi::nvmlProcessUtilizationSample_t> latest(int place) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const KernelTimes times = nvml_region().kernel_times(place);
    if (times.at - at_ >= kPeriodNs) take(times, place);
    return samples_;
  }

 private:
  void take(const KernelTimes& times, int place) {
    const auto period = static_cast<double>(times.at - at_);
    const auto memory = static_cast<unsigned>(nvml_region().settings().card(place).memory_percent);
    std::map<int, double> before;
    before.swap(before_);
    samples_.clear();
    for (const KernelTimes::Of& process : times.processes) {
      before_[process.pid] = process.ns;
      const auto percent = static_cast<unsigned>(std::lround(100 * (process.ns - before[process.pid]) / period));
      if (at_ != 0 && percent > 0)
        samples_.push_back({static_cast<unsigned>(process.pid), static_cast<unsigned long long>(realtime_us()), percent,
                            memory, 0, 0});
    }
    at_ = times.at;
  }

  std::mutex mutex_;
  int64_t at_ = 0;
  std::map<int, double> before_;
  std::vector<abi::nvmlProcessUtilizationSample_t> samples_;
};

ProcessSamples& samples_of(int place) {
  static auto& of_cards = *new std::array<ProcessSamples, kMaxDevices>;
  return of_cards[static_cast<size_t>(place)];
}

}  // namespace
}  // namespace gvb::sim

namespace gvb::abi {

// Without the setting `process_utilization`, answers as a card that no process has used in the last second.
nvmlReturn_t nvmlDeviceGetProcessUtilization(nvmlDevice_t device, nvmlProcessUtilizationSample_t* samples,
                                             unsigned* count, unsigned long long since) {
  GVB_SIM_NVML_DEVICE(nvmlDeviceGetProcessUtilization, device);
  if (count == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  std::vector<nvmlProcessUtilizationSample_t> found;
  if (sim::nvml_region().settings().process_utilization != 0) found = sim::samples_of(index).latest(index);
  found.erase(std::remove_if(found.begin(), found.end(), [&](const auto& each) { return each.timeStamp <= since; }),
              found.end());
  const unsigned room = *count;
  *count = static_cast<unsigned>(found.size());
  if (found.empty()) return NVML_ERROR_NOT_FOUND;
  if (samples == nullptr || found.size() > room) return NVML_ERROR_INSUFFICIENT_SIZE;
  std::copy(found.begin(), found.end(), samples);
  return NVML_SUCCESS;
}

}  // namespace gvb::abi
