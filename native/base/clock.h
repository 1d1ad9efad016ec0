// Host time: CLOCK_MONOTONIC_RAW, one timebase for all processes of a machine, never slewed.
#pragma once

#include <time.h>

#include <cstddef>
#include <cstdint>

namespace gvb {

inline int64_t now_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC_RAW, &t);
  return static_cast<int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

struct TimerCalibration {
  double resolution_ns;  // smallest non-zero difference of two readings
  double pair_cost_ns;   // median of a pair of readings with nothing between
};

TimerCalibration calibrate_timer();

// What one reading takes, in ns.
struct ReadingCost {
  double least;
  double median;
};

// Each series is of sixteen readings: a single pair shows the clock's resolution rather than its cost.
ReadingCost measure_reading_cost(size_t series);

}  // namespace gvb
