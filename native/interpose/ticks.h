// Delays counted in ticks of the processor's counter, calibrated once: a loop on the system clock overshoots by 20 to
// 40 ns, as much as the delays to be injected.
#pragma once

#include "base/processor_counter.h"
#include "base/wait.h"

namespace gvb::interpose {

// The counter, and the clock at that moment.
struct CounterMoment {
  int64_t ns;
  uint64_t ticks;
};

// Keeps the tightest of several tries: a thread that is descheduled between the two readings would take its time slice
// (4 ms and more) for an error of the counter.
inline CounterMoment counter_moment() {
  constexpr int kTries = 50;
  constexpr int64_t kTightNs = 500;
  CounterMoment best{0, 0};
  int64_t bracket = INT64_MAX;
  for (int i = 0; i < kTries && bracket > kTightNs; ++i) {
    const int64_t before = now_ns();
    const uint64_t ticks = processor_counter();
    const int64_t after = now_ns();
    if (after - before >= bracket) continue;
    bracket = after - before;
    best = {before + bracket / 2, ticks};
  }
  return best;
}

// Measures over 20 ms: a reading error of 50 ns at either end is then 5 ppm.
inline double calibrate_ticks_per_ns() {
  const CounterMoment from = counter_moment();
  spin_for_ns(20'000'000);
  const CounterMoment to = counter_moment();
  return static_cast<double>(to.ticks - from.ticks) / static_cast<double>(to.ns - from.ns);
}

}  // namespace gvb::interpose
