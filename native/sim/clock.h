#pragma once

#include <ctime>

#include "sim/settings.h"

namespace gvb::sim {

// The device timeline is kept in this clock's nanoseconds: it is the same in all processes of a host.
inline int64_t rawNow() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  return static_cast<int64_t>(now.tv_sec) * 1000000000 + now.tv_nsec;
}

inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

int64_t clockReading();  // nanoseconds that a rawNow() takes

// Returns at `target` of rawNow(); far targets are slept towards, the rest is spun.
void waitUntil(int64_t target);

// What %globaltimer of the simulated cards reads at a moment of rawNow().
uint64_t deviceClock(int64_t raw);
double deviceClockRate();

// The host time a call is set to cost, counted from construction: real work done meanwhile is part of it.
class HostCost {
 public:
  explicit HostCost(double nanoseconds) : until_(rawNow() - clockReading() / 2 + static_cast<int64_t>(nanoseconds)) {}
  ~HostCost() { waitUntil(until_); }
  HostCost(const HostCost&) = delete;
  HostCost& operator=(const HostCost&) = delete;
  int64_t until() const { return until_; }

 private:
  int64_t until_;
};

}  // namespace gvb::sim
