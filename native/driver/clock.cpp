#include "driver/clock.h"

#include <algorithm>
#include <array>

namespace gvb {

TimerCalibration calibrate_timer() {
  std::array<int64_t, 2001> pairs;
  int64_t smallest = INT64_MAX;
  for (int64_t& pair : pairs) {
    const int64_t a = now_ns();
    const int64_t b = now_ns();
    pair = b - a;
    if (pair > 0) smallest = std::min(smallest, pair);
  }
  std::nth_element(pairs.begin(), pairs.begin() + pairs.size() / 2, pairs.end());
  return {static_cast<double>(smallest), static_cast<double>(pairs[pairs.size() / 2])};
}

}  // namespace gvb
