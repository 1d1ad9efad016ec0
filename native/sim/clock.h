#pragma once

#include "base/wait.h"
#include "sim/settings.h"

namespace gvb::sim {

// The device timeline is kept in this clock's nanoseconds: it is the same in all processes of a host.
inline int64_t raw_now() { return now_ns(); }

int64_t clock_reading();  // nanoseconds that a raw_now() takes

// Returns at `target` of raw_now(); far targets are slept towards, the rest is spun.
void wait_until(int64_t target);

// For about so long: asleep for the most part, so that others have the processor.
void sleep_for(int64_t nanoseconds);

// What %globaltimer of the simulated cards reads at a moment of raw_now().
uint64_t device_clock(int64_t raw);
double device_clock_rate();

// The host time a call is set to cost, counted from construction: real work done meanwhile is part of it.
class HostCost {
 public:
  explicit HostCost(double nanoseconds) : until_(raw_now() - clock_reading() / 2 + static_cast<int64_t>(nanoseconds)) {}
  ~HostCost() { wait_until(until_); }
  HostCost(const HostCost&) = delete;
  HostCost& operator=(const HostCost&) = delete;
  int64_t until() const { return until_; }

 private:
  int64_t until_;
};

}  // namespace gvb::sim
