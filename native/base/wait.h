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

// Asleep for the most part, then yielding. `check` is called every 10 ms and may throw.
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

// For several processes that begin at one time on fewer processors. They yield to each other, because one that spins
// keeps those beside it from their beginning. All have to be awake by then: one that wakes up later waits for the end
// of another's time slice. An idle processor of a virtual machine takes hundreds of microseconds to wake up.
template <class Check>
void wait_for_release(int64_t at, const Check& check) {
  wait_until(at, check, 2'000'000);
}

// After its beginning was noted: whoever waits on this processor notes its own, and not after this one's time slice.
inline void let_others_begin() {
  constexpr int kOthers = 16;
  for (int i = 0; i < kOthers; ++i) sched_yield();
}

}  // namespace gvb
