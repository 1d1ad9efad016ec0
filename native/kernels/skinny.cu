// y = x · Wᵀ for few rows of x on the CUDA cores, for GPUs without a better kernel. Names are extern "C": the simulated
// driver executes them by name.

#include "ampere.cuh"

namespace skinny_plain {

constexpr unsigned kTokens = 4;  // rows of x that share a read of W
constexpr unsigned kWholeWarp = 0xffffffff;

template <class Format>
__device__ __forceinline__ float added(float sum, uint32_t weights, uint32_t values) {
  const float2 w = unpack<Format>(weights), x = unpack<Format>(values);
  return fmaf(w.y, x.y, fmaf(w.x, x.x, sum));
}

// A warp computes one element of y for each row of x. The order of the additions is fixed, so that equal inputs give
// equal bits.
template <class Format>
__device__ __forceinline__ void skinny(const uint4* x, const uint4* w, uint16_t* y, unsigned long long* blocks,
                                       unsigned m, unsigned n, unsigned k) {
  const unsigned row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  const unsigned pieces = k / 8;
  if (threadIdx.x == 0 && blocks != nullptr) atomicAdd(blocks, 1ull);
  if (row >= n) return;
  w += static_cast<size_t>(row) * pieces;
  for (unsigned first = 0; first < m; first += kTokens) {
    float sums[kTokens] = {};
#pragma unroll 4
    for (unsigned piece = lane; piece < pieces; piece += 32) {
      const uint4 weights = __ldg(w + piece);
#pragma unroll
      for (unsigned token = 0; token < kTokens; ++token) {
        if (first + token >= m) break;
        const uint4 values = __ldg(x + static_cast<size_t>(first + token) * pieces + piece);
        sums[token] = added<Format>(sums[token], weights.x, values.x);
        sums[token] = added<Format>(sums[token], weights.y, values.y);
        sums[token] = added<Format>(sums[token], weights.z, values.z);
        sums[token] = added<Format>(sums[token], weights.w, values.w);
      }
    }
#pragma unroll
    for (unsigned token = 0; token < kTokens; ++token) {
      for (unsigned step = 16; step > 0; step /= 2) sums[token] += __shfl_xor_sync(kWholeWarp, sums[token], step);
      if (lane == 0 && first + token < m)
        y[static_cast<size_t>(first + token) * n + row] = static_cast<uint16_t>(gvb::encode<Format>(sums[token]));
    }
  }
}

}  // namespace skinny_plain

// x: m × k, w: n × k, y: m × n, row-major; k is a multiple of 64. Every block adds 1 to *blocks unless that is null.
#define GVB_SKINNY(name, Format)                                                                                       \
  extern "C" __global__ void name(const uint4* x, const uint4* w, uint16_t* y, float*, unsigned*,                      \
                                  unsigned long long* blocks, unsigned m, unsigned n, unsigned k) {                    \
    skinny_plain::skinny<Format>(x, w, y, blocks, m, n, k);                                                                          \
  }
GVB_SKINNY(gvb_skinny_fma_f16, gvb::F16)
GVB_SKINNY(gvb_skinny_fma_bf16, gvb::Bf16)
