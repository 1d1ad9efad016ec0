// C = A · Bᵀ with mma.sync, cp.async and ldmatrix; sums in single precision. A and B are m × k and n × k, C is m × n,
// all in row-major order. Rows are multiples of 16 bytes. A block computes 128 × 256 of C, a warp 64 × 64 of it.
#pragma once

#include "kernels/ampere.cuh"
#include "kernels/gemm_shape.h"
#include "kernels/tile_order.cuh"

namespace gvb::gemm_sm80 {

constexpr unsigned kGroup = 16;
constexpr unsigned kPieces = kRowBytes / 16;

struct Extent {
  unsigned m, n, k;  // k in bytes
};

// For a tile of 64-byte rows: the eight rows of a matrix fall into eight groups of banks.
__device__ __forceinline__ uint32_t place(uint32_t row, uint32_t piece) {
  return row * kRowBytes + (piece ^ row / 2 % kPieces) * 16;
}

// Loads tiles of A and B. Rows beyond the edge repeat the last one; their results are not stored.
class Source {
 public:
  __device__ __forceinline__ Source(const unsigned char* a, const unsigned char* b, const Extent& extent, unsigned top,
                                    unsigned left)
      : k_(extent.k), shared_(shared_address(dynamic_shared())), at_(threadIdx.x % kPieces * 16) {
#pragma unroll
    for (unsigned i = 0; i < kCopies; ++i) {
      const unsigned row = threadIdx.x / kPieces + i * kRowsAtOnce;
      const bool of_a = row < kTileRows;
      const unsigned wanted = of_a ? top + row : left + row - kTileRows, rows = of_a ? extent.m : extent.n;
      from_[i] = (of_a ? a : b) + static_cast<uint64_t>(wanted < rows ? wanted : rows - 1) * k_ + at_;
    }
  }

  __device__ __forceinline__ void copy_next() {
    const bool valid = at_ < k_;
    const uint32_t to = shared_ + stage_ * kStageBytes + place(threadIdx.x / kPieces, threadIdx.x % kPieces);
#pragma unroll
    for (unsigned i = 0; i < kCopies; ++i) {
      copy_async_16(to + i * kRowsAtOnce * kRowBytes, from_[i], valid);
      from_[i] += kRowBytes;
    }
    at_ += kRowBytes;
    stage_ = (stage_ + 1) % kStages;
    commit_copies();
  }

 private:
  static constexpr unsigned kRowsAtOnce = kThreads / kPieces;
  static constexpr unsigned kCopies = (kTileRows + kTileColumns) / kRowsAtOnce;
  static_assert(kRowsAtOnce % 8 == 0, "the swizzle of all rows of a thread is the same");

  const unsigned k_;
  const uint32_t shared_;
  unsigned at_, stage_ = 0;
  const unsigned char* from_[kCopies];
};

using Sums = float[4][8][4];  // of a warp: 16 rows, 8 columns, and a lane's values from mma.sync

__device__ __forceinline__ unsigned warp_row() { return threadIdx.x / 32 / 4 * 64; }
__device__ __forceinline__ unsigned warp_column() { return threadIdx.x / 32 % 4 * 64; }

template <class Format>
__device__ __forceinline__ void multiply_stage(Sums& sums, uint32_t stage) {
  const unsigned lane = threadIdx.x % 32;
  const uint32_t tile_b = stage + kTileRows * kRowBytes;
#pragma unroll
  for (unsigned part = 0; part < kRowBytes / 32; ++part) {
    uint32_t left[4][4], right[4][4];
#pragma unroll
    for (unsigned i = 0; i < 4; ++i)
      load_matrices(left[i], stage + place(warp_row() + i * 16 + lane % 16, part * 2 + lane / 16));
#pragma unroll
    for (unsigned i = 0; i < 4; ++i)
      load_matrices(right[i],
                    tile_b + place(warp_column() + i * 16 + lane / 16 * 8 + lane % 8, part * 2 + lane / 8 % 2));
#pragma unroll
    for (unsigned i = 0; i < 4; ++i)
#pragma unroll
      for (unsigned j = 0; j < 8; ++j)
        multiply_add<Format>(sums[i][j], left[i], right[j / 2][j % 2 * 2], right[j / 2][j % 2 * 2 + 1]);
  }
}

template <class Output>
__device__ __forceinline__ void store(const Sums& sums, uint32_t* c, const Extent& extent, unsigned top,
                                      unsigned left) {
  const unsigned lane = threadIdx.x % 32;
#pragma unroll
  for (unsigned i = 0; i < 4; ++i)
#pragma unroll
    for (unsigned half = 0; half < 2; ++half) {
      const unsigned row = top + warp_row() + i * 16 + half * 8 + lane / 4;
      if (row >= extent.m) continue;
#pragma unroll
      for (unsigned j = 0; j < 8; ++j) {
        const unsigned column = left + warp_column() + j * 8 + lane % 4 * 2;
        if (column < extent.n)
          c[(static_cast<uint64_t>(row) * extent.n + column) / 2] =
              pack<Output>(sums[i][j][half * 2], sums[i][j][half * 2 + 1]);
      }
    }
}

template <class Format, class Output>
__device__ __forceinline__ void gemm(const unsigned char* a, const unsigned char* b, uint32_t* c,
                                     const Extent& extent) {
  const unsigned down = (extent.m + kTileRows - 1) / kTileRows, across = (extent.n + kTileColumns - 1) / kTileColumns;
  const TilePlace tile = place_of_tile(blockIdx.x, down, across, kGroup);
  const unsigned top = tile.row * kTileRows, left = tile.column * kTileColumns;
  const uint32_t shared = shared_address(dynamic_shared());
  Source source(a, b, extent, top, left);
  for (unsigned i = 0; i + 1 < kStages; ++i) source.copy_next();
  Sums sums = {};
  const unsigned steps = (extent.k + kRowBytes - 1) / kRowBytes;
  for (unsigned step = 0; step < steps; ++step) {
    wait_copies<kStages - 2>();
    __syncthreads();
    source.copy_next();
    multiply_stage<Format>(sums, shared + step % kStages * kStageBytes);
  }
  store<Output>(sums, c, extent, top, left);
}

}  // namespace gvb::gemm_sm80

#define GVB_GEMM_SM80(name, Format, Output, bytes)                                                          \
  extern "C" __global__ void __launch_bounds__(gvb::gemm_sm80::kThreads, 1)                                 \
      name(const unsigned char* a, const unsigned char* b, uint32_t* c, unsigned m, unsigned n, unsigned k, \
           unsigned long long* blocks) {                                                                    \
    count_block(blocks);                                                                                    \
    gvb::gemm_sm80::gemm<Format, Output>(a, b, c, {m, n, k * bytes});                                       \
  }
