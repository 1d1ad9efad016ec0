// Arithmetic that simulated kernels use on the host.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "bench/llm/number_bits.h"

namespace gvb::sim {

template <class T>
T* at(uint64_t address) {
  return reinterpret_cast<T*>(address);
}

inline uint16_t half_of(float value) { return static_cast<uint16_t>(gvb::encode<F16>(value)); }

// Uses several sums, which the compiler keeps in one vector register; `count` must be a multiple of 8.
inline float dot(const float* a, const float* b, size_t count) {
  std::array<float, 8> sums{};
  for (size_t i = 0; i < count; i += sums.size())
    for (size_t j = 0; j < sums.size(); ++j) sums[j] += a[i + j] * b[i + j];
  float sum = 0;
  for (const float part : sums) sum += part;
  return sum;
}

}  // namespace gvb::sim
