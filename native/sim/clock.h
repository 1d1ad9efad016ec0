#pragma once

#include "base/wait.h"
#include "sim/settings.h"

namespace gvb::sim {

// The device timeline uses this clock, which is the same in all processes of a host.
inline int64_t raw_now() { return now_ns(); }

int64_t clock_reading();  // cost of one raw_now() in nanoseconds

// Returns at `target` of raw_now(): sleeps until shortly before a distant target, then spins.
void wait_until(int64_t target);

// Sleeps for about this long, so that other threads have the processor.
void sleep_for(int64_t nanoseconds);

// The value of %globaltimer on the simulated cards at a time of raw_now().
uint64_t device_clock(int64_t raw);
double device_clock_rate();

// Spends the host time that a call is set to cost, counted from construction: work done meanwhile is part of it.
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
