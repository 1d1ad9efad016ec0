// Host versions of the work unit's kernels.
#pragma once

#include <cstdint>

namespace gvb::sim {

// c = a · b of n × n matrices in row-major order; a and b hold IEEE half-precision numbers. Equal factors are
// multiplied once.
void multiply_half(const uint16_t* a, const uint16_t* b, float* c, unsigned n);

// out = softmax(q kᵀ / 8) v for each head of `length` tokens of 64 values.
void attend(const float* q, const float* k, const float* v, float* out, unsigned heads, unsigned length);

}  // namespace gvb::sim
