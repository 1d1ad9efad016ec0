// Online softmax (Milakov and Gimelshein, arXiv 1805.02867) on accumulators in the layout that mma.sync and wgmma
// share: of a tile of 16 rows a thread holds rows lane / 4 and lane / 4 + 8, and in each group of eight columns two
// columns from lane % 4 · 2 on. Element i belongs to group i / 4, to the second row if i / 2 is odd, and to column i %
// 2 of the two.
#pragma once

#include "attention_shape.h"
#include "kernels/ampere.cuh"

// The maximum over the four threads that share a row.
__device__ __forceinline__ float largest_of_row(float x) {
  x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 1));
  return fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 2));
}

__device__ __forceinline__ float sum_of_row(float x) {
  x += __shfl_xor_sync(0xffffffffu, x, 1);
  return x + __shfl_xor_sync(0xffffffffu, x, 2);
}

// The softmax state of a thread's two rows. `sum` covers only the thread's own columns.
struct SoftmaxRows {
  float largest[2] = {-INFINITY, -INFINITY};
  float sum[2] = {0, 0};

  // Turns scores into weights, 2^((score - largest) · scale). `kept` is the factor by which earlier sums shrink.
  template <unsigned kCount>
  __device__ __forceinline__ void update(float (&scores)[kCount], float scale, float (&kept)[2]) {
#pragma unroll
    for (unsigned row = 0; row < 2; ++row) {
      float now = largest[row];
#pragma unroll
      for (unsigned i = 2 * row; i < kCount; i += 4) now = fmaxf(now, fmaxf(scores[i], scores[i + 1]));
      now = largest_of_row(now);
      // A row that has seen no key yet must not subtract infinity from infinity.
      const float shift = now == -INFINITY ? 0.0f : now * scale;
      kept[row] = power_of_two(fmaf(largest[row], scale, -shift));
      largest[row] = now;
      float weights = 0;
#pragma unroll
      for (unsigned i = 2 * row; i < kCount; i += 4) {
        scores[i] = power_of_two(fmaf(scores[i], scale, -shift));
        scores[i + 1] = power_of_two(fmaf(scores[i + 1], scale, -shift));
        weights += scores[i] + scores[i + 1];
      }
      sum[row] = sum[row] * kept[row] + weights;
    }
  }

  __device__ __forceinline__ float inverse_sum(unsigned row) const { return 1.0f / sum_of_row(sum[row]); }
};

// Masks the keys after the last one that a row sees. `first` is the key of scores[0].
template <unsigned kCount>
__device__ __forceinline__ void mask_keys(float (&scores)[kCount], unsigned first, const unsigned (&last_seen)[2]) {
#pragma unroll
  for (unsigned i = 0; i < kCount; ++i)
    if (first + i / 4 * 8 + i % 2 > last_seen[i / 2 % 2]) scores[i] = -INFINITY;
}

template <unsigned kCount>
__device__ __forceinline__ void scale_rows(float (&out)[kCount], const float (&factors)[2]) {
#pragma unroll
  for (unsigned i = 0; i < kCount; ++i) out[i] *= factors[i / 2 % 2];
}

// Packs the weights of 16 keys, two groups of eight, as the left operand of the next product. The layouts agree, so
// threads exchange nothing.
template <class Format>
__device__ __forceinline__ void weights_of(const float* scores, uint32_t (&operand)[4]) {
#pragma unroll
  for (unsigned i = 0; i < 4; ++i) operand[i] = pack<Format>(scores[2 * i], scores[2 * i + 1]);
}

// Counts a block that ran, if there is a counter.
__device__ __forceinline__ void count_block(unsigned long long* counter) {
  if (counter != nullptr && threadIdx.x == 0) atomicAdd(counter, 1ull);
}
