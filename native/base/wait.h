// Ways to let time pass, by now_ns().
#pragma once

#include <sched.h>

#include <algorithm>

#include "base/clock.h"

namespace gvb {

// In a loop that waits for another processor: leaves the hyper-thread beside this one more room.
inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

inline void spin_until(int64_t at) {
  while (now_ns() < at) {
  }
}

inline void spin_for_ns(int64_t duration) { spin_until(now_ns() + duration); }

// A signal may end it early.
inline void nap_ns(int64_t duration) {
  const timespec nap{static_cast<time_t>(duration / 1'000'000'000), static_cast<long>(duration % 1'000'000'000)};
  nanosleep(&nap, nullptr);
}

// Ends as late as the scheduler makes it: 50 us and more.
inline void sleep_until(int64_t at) {
  for (int64_t left; (left = at - now_ns()) > 0;) nap_ns(left);
}

// For several processes that begin at one time on fewer processors: asleep for the most part, then yielding to each
// other, because one that spins keeps those beside it from their beginning. `check` is called every 10 ms and may
// throw.
template <class Check>
void wait_until(int64_t at, const Check& check) {
  constexpr int64_t kYieldNs = 100'000, kNapNs = 10'000'000;
  for (int64_t left; (left = at - now_ns()) > 0;) {
    check();
    if (left > kYieldNs)
      nap_ns(std::min(left - kYieldNs, kNapNs));
    else
      sched_yield();
  }
}

// After its beginning was noted: whoever waits on this processor notes its own, and not after this one's time slice.
inline void let_others_begin() {
  constexpr int kOthers = 16;
  for (int i = 0; i < kOthers; ++i) sched_yield();
}

}  // namespace gvb
