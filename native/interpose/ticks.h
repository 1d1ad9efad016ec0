// Delays counted in ticks of the processor's counter, calibrated once: a loop on the system clock overshoots by 20 to
// 40 ns, as much as the delays to be injected.
#pragma once

#include "base/processor_counter.h"
#include "base/wait.h"

namespace gvb::interpose {

// Measures over 20 ms: a reading error of 50 ns at either end is then 5 ppm.
inline double calibrate_ticks_per_ns() {
  const int64_t from_ns = now_ns();
  const uint64_t from = processor_counter();
  spin_for_ns(20'000'000);
  const uint64_t to = processor_counter();
  return static_cast<double>(to - from) / static_cast<double>(now_ns() - from_ns);
}

}  // namespace gvb::interpose
