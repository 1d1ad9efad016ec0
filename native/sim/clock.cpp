#include "sim/clock.h"

#include <sched.h>

#include <algorithm>

namespace gvb::sim {
namespace {

constexpr int64_t kSleepFrom = 2000000;
constexpr int64_t kSpunRest = 300000;
constexpr int64_t kWakingUp = 60000;  // timer slack: a sleeping thread wakes up this late

}  // namespace

int64_t clock_reading() {
  constexpr size_t kSeries = 8;
  static const auto value = static_cast<int64_t>(std::min(measure_reading_cost(kSeries).least, 1000.0));
  return value;
}

void wait_until(int64_t target) {
  const int64_t left = target - raw_now();
  if (left >= kSleepFrom) nap_ns(left - kSpunRest);
  // On average the loop sees its target half a reading late, and another half passes before the caller sees it.
  spin_until(target - clock_reading());
}

void sleep_for(int64_t nanoseconds) {
  if (nanoseconds > 2 * kWakingUp) return nap_ns(nanoseconds - kWakingUp);
  for (const int64_t until = raw_now() + nanoseconds; raw_now() < until;) sched_yield();
}

double device_clock_rate() { return 1 + settings().clock_drift_ppm * 1e-6; }

uint64_t device_clock(int64_t raw) {
  const Settings& card = settings();
  const auto drift = static_cast<int64_t>(static_cast<double>(raw) * (card.clock_drift_ppm * 1e-6));
  const auto now = static_cast<uint64_t>(card.clock_offset_ns + raw + drift);
  return now - now % static_cast<uint64_t>(card.timer_step_ns);
}

}  // namespace gvb::sim
