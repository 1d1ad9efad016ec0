#include "base/clock.h"

#include <algorithm>
#include <vector>

namespace gvb {

namespace {

int64_t median_of(std::vector<int64_t>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

TimerCalibration calibrate_timer() {
  std::vector<int64_t> pairs(2001);
  int64_t smallest = INT64_MAX;
  for (int64_t& pair : pairs) {
    const int64_t a = now_ns();
    const int64_t b = now_ns();
    pair = b - a;
    if (pair > 0) smallest = std::min(smallest, pair);
  }
  TimerCalibration calibration{};
  calibration.resolution_ns = static_cast<double>(smallest);
  calibration.pair_cost_ns = static_cast<double>(median_of(pairs));
  return calibration;
}

ReadingCost measure_reading_cost(size_t series) {
  constexpr int kReadings = 16;
  std::vector<int64_t> spans(series);
  for (int64_t& span : spans) {
    const int64_t from = now_ns();
    for (int i = 1; i < kReadings; ++i) now_ns();
    span = now_ns() - from;
  }
  const int64_t least = *std::min_element(spans.begin(), spans.end());
  return {static_cast<double>(least) / kReadings, static_cast<double>(median_of(spans)) / kReadings};
}

}  // namespace gvb
