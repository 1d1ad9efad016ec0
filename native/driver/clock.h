// Host time: CLOCK_MONOTONIC_RAW, one timebase for all processes of a machine, never slewed.
#pragma once

#include <time.h>

#include <cstdint>

namespace gvb {

inline int64_t now_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC_RAW, &t);
  return static_cast<int64_t>(t.tv_sec) * 1000000000 + t.tv_nsec;
}

inline void spin_for_ns(int64_t duration) {
  const int64_t end = now_ns() + duration;
  while (now_ns() < end) {
  }
}

// Sleeps for most of the time, so that those who wait do not take the processors from each other. `check` is called
// every 10 ms and may throw.
template <class Check>
void wait_until(int64_t at, const Check& check) {
  constexpr int64_t kSpinNs = 200'000, kNapNs = 10'000'000;
  for (int64_t left; (left = at - now_ns()) > 0;) {
    check();
    if (left <= kSpinNs) continue;
    const timespec nap{0, static_cast<long>(left - kSpinNs < kNapNs ? left - kSpinNs : kNapNs)};
    nanosleep(&nap, nullptr);
  }
}

struct TimerCalibration {
  double resolution_ns;  // smallest non-zero difference of two readings
  double pair_cost_ns;   // median of a pair of readings with nothing between
};

TimerCalibration calibrate_timer();

}  // namespace gvb
