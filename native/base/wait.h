// Ways to wait, by now_ns().
#pragma once

#include <sched.h>

#include <algorithm>

#include "base/clock.h"

namespace gvb {

// For loops that wait for another processor: leaves more of the core to the other hyper-thread.
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

// Returns late by as much as the scheduler takes: 50 us and more.
inline void sleep_until(int64_t at) {
  for (int64_t left; (left = at - now_ns()) > 0;) nap_ns(left);
}

// Sleeps for most of the time, then yields. Calls `check`, which may throw, every 10 ms.
template <class Check>
void wait_until(int64_t at, const Check& check, int64_t yielding_ns = 100'000) {
  constexpr int64_t kNapNs = 10'000'000;
  for (int64_t left; (left = at - now_ns()) > 0;) {
    check();
    if (left > yielding_ns)
      nap_ns(std::min(left - yielding_ns, kNapNs));
    else
      sched_yield();
  }
}

// For several processes that begin at one time on fewer processors. They yield to each other, because a spinning
// process would keep the others on its processor from beginning. All must be awake by then: one that wakes up later
// waits for another's time slice. An idle processor of a virtual machine takes hundreds of microseconds to wake up.
template <class Check>
void wait_for_release(int64_t at, const Check& check) {
  wait_until(at, check, 2'000'000);
}

// Called after this process has noted its start: another process that waits on this processor can then note its own
// start now instead of after this one's time slice.
inline void let_others_begin() {
  constexpr int kOthers = 16;
  for (int i = 0; i < kOthers; ++i) sched_yield();
}

}  // namespace gvb
