#pragma once

#include <algorithm>
#include <functional>

#include "sim_parts.h"

namespace test {

constexpr int kSamples = 500;

// How long a host or a kernel may wait for the other before the test assumes a hang.
constexpr long long kHangNs = 200'000'000'000;

inline double shortest_of(const std::function<double()>& sample, int samples = kSamples) {
  double shortest = sample();
  for (int i = 1; i < samples; ++i) shortest = std::min(shortest, sample());
  return shortest;
}

inline double timed(const std::function<void()>& call) {
  const long long from = raw_now();
  call();
  return double(raw_now() - from);
}

// The cost of a clock reading, averaged over many: a single one can be shorter than a tick of the clock.
inline double reading_cost() {
  return shortest_of([] {
    return timed([] {
             for (int i = 0; i < 100; ++i) raw_now();
           }) /
           100;
  });
}

template <class T>
T* mapped(size_t count) {
  void* at = nullptr;
  CHECK_EQUAL(cuMemHostAlloc(&at, count * sizeof(T), CU_MEMHOSTALLOC_DEVICEMAP), CUDA_SUCCESS);
  return static_cast<T*>(at);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

// Compares the shortest of many calls with the card's setting. However busy a machine is, some call runs undisturbed;
// the excess over the setting is the code around it, bounded in clock readings of the same machine. A sanitizer slows
// that code down and not the clock, so that only the setting is a bound there: 24 to 130 us more were seen for a graph.
inline void check_shortest(const char* what, double shortest, double setting, double readings = 8) {
  const double reading = reading_cost();
  std::printf("       %-24s %10.1f ns (set to %.1f, %+.1f readings)\n", what, shortest, setting,
              (shortest - setting) / reading);
  // The simulator's own loop ends up to two readings early.
  CHECK(shortest >= setting - 2 * reading);
  if (!kSanitized) CHECK(shortest <= setting + readings * reading);
}

}  // namespace test
