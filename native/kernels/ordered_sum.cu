// Sums in an order that the grid alone decides: whoever cuts or merges its launch changes the last bits. Names are
// extern "C": the simulated driver executes them by name.

#include "ordered_sum_shape.h"

// out[row · stride + block] = the sum of the elements of a row of `count` that the block meets in steps of the grid.
extern "C" __global__ void __launch_bounds__(256)
    gvb_ordered_sum(const float* in, unsigned count, float* out, unsigned stride) {
  using gvb::kOrderedSumThreads;
  __shared__ float parts[kOrderedSumThreads];
  const float* row = in + static_cast<size_t>(blockIdx.y) * count;
  float sum = 0;
#pragma unroll 1
  for (unsigned i = blockIdx.x * kOrderedSumThreads + threadIdx.x; i < count; i += gridDim.x * kOrderedSumThreads)
    sum += row[i];
  parts[threadIdx.x] = sum;
#pragma unroll 1
  for (unsigned half = kOrderedSumThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
  }
  if (threadIdx.x == 0) out[static_cast<size_t>(blockIdx.y) * stride + blockIdx.x] = parts[0];
}
