// The random inputs of kernels: element `index` of a sequence, computed from a seed independently of the others. Uses
// integer arithmetic and one rounded product, so that device and host get the same bits.
#pragma once

#include "bench/llm/number_bits.h"

namespace gvb {

// The output function of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
GVB_HOST_DEVICE inline uint64_t mixed(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// The sum of eight uniform 16-bit values, with mean 0 and variance 1: a normal distribution except for an excess
// kurtosis of -0.15 and no values beyond 4.9.
GVB_HOST_DEVICE inline float normal_value(uint64_t seed, uint64_t index) {
  constexpr uint64_t kStep = 0x9e3779b97f4a7c15u;
  constexpr float kHalfOfDeviation = 1.0f / (2 * 53509.92f);
  int sum = 0;
  for (uint64_t half = 0; half < 2; ++half) {
    const uint64_t bits = mixed(mixed(seed) + kStep * (2 * index + half));
    for (unsigned part = 0; part < 4; ++part) sum += static_cast<int>(bits >> (16 * part) & 0xffff);
  }
  return static_cast<float>(2 * sum - 8 * 65535) * kHalfOfDeviation;
}

}  // namespace gvb
