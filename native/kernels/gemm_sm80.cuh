// C = A · Bᵀ with mma.sync, cp.async and ldmatrix; sums in single precision. A and B are m × k and n × k, C is m × n,
// all in row-major order. Rows are multiples of 16 bytes. A block computes 128 × 256 of C, a warp 64 × 64 of it.
// While a warp multiplies one half of a stage, it loads the next half's fragments and begins copies of a later stage, few
// at a time. A stage's barrier is in the middle of the stage before it, so that after it there is something to multiply.
#pragma once

#include "kernels/ampere.cuh"
#include "kernels/gemm_shape.h"
#include "kernels/tile_order.cuh"

namespace gvb::gemm_sm80 {

constexpr unsigned kGroup = 16;
constexpr unsigned kPieces = kRowBytes / 16, kHalves = 2;
static_assert(kRowBytes == 32 * kHalves, "mma.sync takes 32 bytes of K");
constexpr unsigned kWarpRows = 64, kWarpColumns = 64, kWarpsAcross = kTileColumns / kWarpColumns;

struct Extent {
  unsigned m, n, k;  // k in bytes
};

// For a tile of 64-byte rows: the eight rows of a matrix fall into eight groups of banks.
__device__ __forceinline__ uint32_t place(uint32_t row, uint32_t piece) {
  return row * kRowBytes + (piece ^ row / 2 % kPieces) * 16;
}

// The offset of the stage after that at `stage`.
__device__ __forceinline__ uint32_t after(uint32_t stage) {
  return stage == (kStages - 1) * kStageBytes ? 0 : stage + kStageBytes;
}

// Loads tiles of A and B. Rows beyond the edge repeat the last one; their results are not stored.
class Source {
 public:
  static constexpr unsigned kRowsAtOnce = kThreads / kPieces;
  static constexpr unsigned kCopies = (kTileRows + kTileColumns) / kRowsAtOnce;

  __device__ __forceinline__ Source(const unsigned char* a, const unsigned char* b, const Extent& extent, unsigned top,
                                    unsigned left)
      : k_(extent.k),
        to_(shared_address(dynamic_shared()) + place(threadIdx.x / kPieces, threadIdx.x % kPieces)),
        at_(threadIdx.x % kPieces * 16) {
#pragma unroll
    for (unsigned i = 0; i < kCopies; ++i) {
      const bool of_a = i * kRowsAtOnce < kTileRows;
      const unsigned row = threadIdx.x / kPieces + i * kRowsAtOnce;
      const unsigned wanted = of_a ? top + row : left + row - kTileRows, rows = of_a ? extent.m : extent.n;
      from_[i] = (of_a ? a : b) + static_cast<uint64_t>(wanted < rows ? wanted : rows - 1) * k_ + at_;
    }
  }

  // Begins the copies of a stage from `first` on, up to `end`, of kCopies.
  __device__ __forceinline__ void copy(unsigned first, unsigned end) {
#pragma unroll
    for (unsigned i = first; i < end; ++i) {
      copy_async_16(to_ + stage_ + i * kRowsAtOnce * kRowBytes, from_[i], at_ < k_);
      from_[i] += kRowBytes;
    }
  }

  __device__ __forceinline__ void end_stage() {
    at_ += kRowBytes;
    stage_ = after(stage_);
    commit_copies();
  }

 private:
  static_assert(kRowsAtOnce % 8 == 0, "the swizzle of all rows of a thread is the same");
  static_assert(kTileRows % kRowsAtOnce == 0, "a copy is of A or of B");

  const unsigned k_;
  const uint32_t to_;
  unsigned stage_ = 0, at_;
  const unsigned char* from_[kCopies];
};

using Sums = float[4][8][4];  // of a warp: 16 rows, 8 columns, and a lane's values from mma.sync

__device__ __forceinline__ unsigned warp_row() { return threadIdx.x / 32 / kWarpsAcross * kWarpRows; }
__device__ __forceinline__ unsigned warp_column() { return threadIdx.x / 32 % kWarpsAcross * kWarpColumns; }

// Of a warp's rows of A and of B, 16 rows each, in half a stage.
struct Fragments {
  uint32_t left[4][4], right[4][4];
};

class Reader {
 public:
  __device__ __forceinline__ Reader() {
    const unsigned lane = threadIdx.x % 32;
    const uint32_t shared = shared_address(dynamic_shared());
#pragma unroll
    for (unsigned half = 0; half < kHalves; ++half) {
      left_[half] = shared + place(warp_row() + lane % 16, half * 2 + lane / 16);
      right_[half] = shared + kTileRows * kRowBytes +
                     place(warp_column() + lane / 16 * 8 + lane % 8, half * 2 + lane / 8 % 2);
    }
  }

  __device__ __forceinline__ void load(Fragments& to, uint32_t stage, unsigned half) const {
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) {
      load_matrices(to.left[i], left_[half] + stage + i * 16 * kRowBytes);
      load_matrices(to.right[i], right_[half] + stage + i * 16 * kRowBytes);
    }
  }

 private:
  uint32_t left_[kHalves], right_[kHalves];  // a lane's addresses in the first stage
};

// 16 rows of a warp's. Columns there and back, so that neighbouring multiplications share a fragment.
template <class Format>
__device__ __forceinline__ void multiply(Sums& sums, const Fragments& of, unsigned i) {
#pragma unroll
  for (unsigned step = 0; step < 8; ++step) {
    const unsigned j = i % 2 == 0 ? step : 7 - step;
    multiply_add<Format>(sums[i][j], of.left[i], of.right[j / 2][j % 2 * 2], of.right[j / 2][j % 2 * 2 + 1]);
  }
}

// Through shared memory, which nothing else uses any more, so that a warp writes whole rows of its own.
template <class Output>
__device__ __forceinline__ void store(const Sums& sums, uint32_t* c, const Extent& extent, unsigned top,
                                      unsigned left) {
  constexpr unsigned kRow = kWarpColumns * 2, kRowPieces = kRow / 16, kRowsOfStore = 32 / kRowPieces;
  static_assert(kThreads / 32 * kWarpRows * kRow <= kSharedBytes);
  const unsigned lane = threadIdx.x % 32;
  const uint32_t own = shared_address(dynamic_shared()) + threadIdx.x / 32 * kWarpRows * kRow;
#pragma unroll
  for (unsigned i = 0; i < 4; ++i)
#pragma unroll
    for (unsigned half = 0; half < 2; ++half)
#pragma unroll
      for (unsigned j = 0; j < 8; ++j)
        store_shared(own + swizzled(i * 16 + half * 8 + lane / 4, j) + lane % 4 * 4,
                     pack<Output>(sums[i][j][half * 2], sums[i][j][half * 2 + 1]));
  __syncwarp();
  const unsigned column = left + warp_column() + lane % kRowPieces * 8;
  if (column >= extent.n) return;
#pragma unroll
  for (unsigned i = 0; i < kWarpRows / kRowsOfStore; ++i) {
    const unsigned in_warp = i * kRowsOfStore + lane / kRowPieces, row = top + warp_row() + in_warp;
    if (row < extent.m)
      *reinterpret_cast<uint4*>(c + (static_cast<uint64_t>(row) * extent.n + column) / 2) =
          load_shared_16(own + swizzled(in_warp, lane % kRowPieces));
  }
}

template <class Format, class Output>
__device__ __forceinline__ void gemm(const unsigned char* a, const unsigned char* b, uint32_t* c,
                                     const Extent& extent) {
  const unsigned down = (extent.m + kTileRows - 1) / kTileRows, across = (extent.n + kTileColumns - 1) / kTileColumns;
  const TilePlace tile = place_of_tile(blockIdx.x, down, across, kGroup);
  const unsigned top = tile.row * kTileRows, left = tile.column * kTileColumns;
  constexpr unsigned kOfHalf = Source::kCopies / 2;  // copies that begin in half a stage's time
  Source source(a, b, extent, top, left);
#pragma unroll
  for (unsigned i = 0; i + 1 < kStages; ++i) {
    source.copy(0, Source::kCopies);
    source.end_stage();
  }
  Sums sums = {};
  const Reader reader;
  Fragments fragments[kHalves];
  wait_copies<kStages - 2>();
  __syncthreads();
  uint32_t stage = 0;
  reader.load(fragments[0], stage, 0);
  source.copy(0, kOfHalf);
  for (unsigned steps = (extent.k + kRowBytes - 1) / kRowBytes; steps > 0; --steps) {
#pragma unroll
    for (unsigned half = 0; half < kHalves; ++half) {
      if (half == 1) {
        source.end_stage();
        stage = after(stage);
        wait_copies<kStages - 2>();
        __syncthreads();
      }
#pragma unroll
      for (unsigned i = 0; i < 4; ++i) {
        // In the loop: before it, nvcc 13.0 makes another text of it, and so ptxas another order.
        if (i == 0) reader.load(fragments[1 - half], stage, 1 - half);
        multiply<Format>(sums, fragments[half], i);
        const unsigned first = half == 0 ? kOfHalf : 0;
        source.copy(first + i * kOfHalf / 4, first + (i + 1) * kOfHalf / 4);
      }
    }
  }
  wait_copies<0>();
  __syncthreads();
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
