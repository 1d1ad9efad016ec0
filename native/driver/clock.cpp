#include "driver/clock.h"

#include <algorithm>
#include <array>

namespace gvb {

void wait_until(int64_t at) {
  constexpr int64_t kSpinNs = 200'000;
  for (int64_t left; (left = at - now_ns()) > 0;) {
    if (left <= kSpinNs) continue;
    const timespec nap{(left - kSpinNs) / 1'000'000'000, (left - kSpinNs) % 1'000'000'000};
    nanosleep(&nap, nullptr);
  }
}

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
