#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "sim_parts.h"

namespace test {

constexpr int kSamples = 500;

inline double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

inline double medianOf(const std::function<double()>& sample) {
  std::vector<double> values;
  for (int i = 0; i < kSamples; ++i) values.push_back(sample());
  return median(values);
}

inline double timed(const std::function<void()>& call) {
  const long long from = rawNow();
  call();
  return double(rawNow() - from);
}

// What a clock reading pair itself takes.
inline double readingCost() {
  return medianOf([] { return timed([] {}); });
}

template <class T>
T* mapped(size_t count) {
  void* at = nullptr;
  CHECK_EQUAL(cuMemHostAlloc(&at, count * sizeof(T), CU_MEMHOSTALLOC_DEVICEMAP), CUDA_SUCCESS);
  return static_cast<T*>(at);
}

inline void report(const char* what, double value, double truth) {
  std::printf("       %-24s %10.1f (truth %.1f, error %+.1f)\n", what, value, truth, value - truth);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr double kSlack = 20000;  // sanitizers slow the code down, not the clock
#else
constexpr double kSlack = 0;
#endif

}  // namespace test
