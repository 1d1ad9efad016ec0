#include "sim/clock.h"

#include <algorithm>

namespace gvb::sim {
namespace {

constexpr int64_t kSleepFrom = 2000000;
constexpr int64_t kSpunRest = 300000;

}  // namespace

int64_t clockReading() {
  static const int64_t value = [] {
    int64_t best = 1000;
    for (int round = 0; round < 8; ++round) {
      constexpr int kReadings = 16;
      const int64_t from = rawNow();
      for (int i = 1; i < kReadings; ++i) rawNow();
      best = std::min(best, (rawNow() - from) / kReadings);
    }
    return best;
  }();
  return value;
}

void waitUntil(int64_t target) {
  int64_t left = target - rawNow();
  if (left >= kSleepFrom) {
    const int64_t sleep = left - kSpunRest;
    const timespec duration = {static_cast<time_t>(sleep / 1000000000), static_cast<long>(sleep % 1000000000)};
    nanosleep(&duration, nullptr);
  }
  // The loop notices its target half a reading late on average, and half a reading passes before its caller sees it.
  target -= clockReading();
  while (rawNow() < target) {
  }
}

double deviceClockRate() { return 1 + settings().clock_drift_ppm * 1e-6; }

uint64_t deviceClock(int64_t raw) {
  const Settings& card = settings();
  const auto drift = static_cast<int64_t>(static_cast<double>(raw) * (card.clock_drift_ppm * 1e-6));
  const auto now = static_cast<uint64_t>(card.clock_offset_ns + raw + drift);
  return now - now % static_cast<uint64_t>(card.timer_step_ns);
}

}  // namespace gvb::sim
