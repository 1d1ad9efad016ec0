// Host time: CLOCK_MONOTONIC_RAW, one timebase for all processes of a machine, never slewed.
#pragma once

#include <time.h>

#include <cstddef>
#include <cstdint>

#include "base/clock_watch.h"
#include "base/processor_counter.h"

namespace gvb {

inline int64_t now_ns() {
  timespec t;
  const uint64_t before = processor_counter();
  clock_gettime(CLOCK_MONOTONIC_RAW, &t);
  const uint64_t after = processor_counter();
  const int64_t now = static_cast<int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
  ClockWatch::of_thread().saw(now, {before, after});
  return now;
}

struct TimerCalibration {
  double resolution_ns;  // smallest non-zero difference of two readings
  double pair_cost_ns;   // median cost of two adjacent readings
};

TimerCalibration calibrate_timer();

// Cost of one reading, in ns.
struct ReadingCost {
  double least;
  double median;
};

// Each series has sixteen readings: a single pair would show the clock's resolution, not its cost.
ReadingCost measure_reading_cost(size_t series);

}  // namespace gvb
