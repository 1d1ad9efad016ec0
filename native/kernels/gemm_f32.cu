// C = A · Bᵀ in single precision on the CUDA cores. A and B are m × k and n × k, C is m × n, all in row-major order; k
// is a multiple of 4, and no matrix has 2^32 numbers. A block computes 128 × 128 of C, a thread 8 × 8 of it.

#include <cstdint>

#include "kernels/ampere.cuh"
#include "kernels/gemm_shape.h"
#include "kernels/tile_order.cuh"

namespace gvb::gemm_f32 {

constexpr unsigned kGroup = 16;

struct Extent {
  unsigned m, n, k;
};

// A thread's part of a tile: four numbers along K of two rows. Rows beyond the edge repeat the last one; their results
// are not stored.
class Source {
 public:
  __device__ __forceinline__ Source(const float* matrix, unsigned first, unsigned rows, unsigned k)
      : matrix_(matrix), at_(threadIdx.x % 4 * 4), k_(k) {
    const unsigned row = first + threadIdx.x / 4;
    row_[0] = (row < rows ? row : rows - 1) * k;
    row_[1] = (row + kTile / 2 < rows ? row + kTile / 2 : rows - 1) * k;
  }

  // Reads the next kDepth of K.
  __device__ __forceinline__ void read() {
#pragma unroll
    for (unsigned i = 0; i < 2; ++i) {
      values_[i] = {0, 0, 0, 0};
      if (at_ < k_) values_[i] = *reinterpret_cast<const float4*>(matrix_ + row_[i] + at_);
    }
    at_ += kDepth;
  }

  __device__ __forceinline__ void write(float* tile) const {
#pragma unroll
    for (unsigned i = 0; i < 2; ++i) {
      float* to = tile + threadIdx.x % 4 * 4 * kRow + threadIdx.x / 4 + i * (kTile / 2);
      to[0] = values_[i].x;
      to[kRow] = values_[i].y;
      to[2 * kRow] = values_[i].z;
      to[3 * kRow] = values_[i].w;
    }
  }

 private:
  const float* const matrix_;
  unsigned at_;
  const unsigned k_;
  unsigned row_[2];
  float4 values_[2];
};

// A warp computes 32 × 64, each thread 2 × 2 pieces of 4 × 4, so that each read of shared memory is a whole line or the
// same for eight threads.
__device__ __forceinline__ unsigned first_row() { return threadIdx.x / 64 * 32 + threadIdx.x % 32 / 8 * 4; }
__device__ __forceinline__ unsigned first_column() { return threadIdx.x / 32 % 2 * 64 + threadIdx.x % 8 * 4; }

__device__ __forceinline__ void read_fragment(float (&to)[8], const float* row, unsigned second) {
  const float4 low = *reinterpret_cast<const float4*>(row), high = *reinterpret_cast<const float4*>(row + second);
  to[0] = low.x;
  to[1] = low.y;
  to[2] = low.z;
  to[3] = low.w;
  to[4] = high.x;
  to[5] = high.y;
  to[6] = high.z;
  to[7] = high.w;
}

__device__ __forceinline__ void multiply_tiles(float (&sums)[8][8], const float* a, const float* b) {
#pragma unroll
  for (unsigned k = 0; k < kDepth; ++k) {
    float left[8], right[8];
    read_fragment(left, a + k * kRow + first_row(), 16);
    read_fragment(right, b + k * kRow + first_column(), 32);
#pragma unroll
    for (unsigned i = 0; i < 8; ++i)
#pragma unroll
      for (unsigned j = 0; j < 8; ++j) sums[i][j] = fmaf(left[i], right[j], sums[i][j]);
  }
}

__device__ __forceinline__ void store(const float (&sums)[8][8], float* c, const Extent& extent, unsigned top,
                                      unsigned left) {
#pragma unroll
  for (unsigned i = 0; i < 8; ++i) {
    const unsigned row = top + first_row() + i / 4 * 16 + i % 4;
#pragma unroll
    for (unsigned j = 0; j < 8; j += 4) {
      const unsigned column = left + first_column() + j / 4 * 32;
      float* to = c + static_cast<uint64_t>(row) * extent.n + column;
      if (row < extent.m && column < extent.n)
        *reinterpret_cast<float4*>(to) = {sums[i][j], sums[i][j + 1], sums[i][j + 2], sums[i][j + 3]};
    }
  }
}

}  // namespace gvb::gemm_f32

// n is a multiple of 4 too.
extern "C" __global__ void __launch_bounds__(gvb::gemm_f32::kThreads, 2)
    gvb_gemm_f32(const float* a, const float* b, float* c, unsigned m, unsigned n, unsigned k,
                 unsigned long long* blocks) {
  count_block(blocks);
  using namespace gvb::gemm_f32;
  GVB_DYNAMIC_SHARED(float, tiles);
  const unsigned down = (m + kTile - 1) / kTile, across = (n + kTile - 1) / kTile;
  const TilePlace tile = place_of_tile(blockIdx.x, down, across, kGroup);
  const unsigned top = tile.row * kTile, left = tile.column * kTile;
  Source from_a(a, top, m, k), from_b(b, left, n, k);
  from_a.read();
  from_b.read();
  float sums[8][8] = {};
  for (unsigned depth = 0, which = 0; depth < k; depth += kDepth, which ^= 1) {
    float* tile_a = tiles + which * 2 * kTileFloats;
    float* tile_b = tile_a + kTileFloats;
    from_a.write(tile_a);
    from_b.write(tile_b);
    __syncthreads();
    if (depth + kDepth < k) {
      from_a.read();
      from_b.read();
    }
    multiply_tiles(sums, tile_a, tile_b);
  }
  store(sums, c, {m, n, k}, top, left);
}
