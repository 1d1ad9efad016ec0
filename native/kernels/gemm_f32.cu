// C = A · Bᵀ in single precision on the CUDA cores. A and B are m × k and n × k, C is m × n, all in row-major order; k
// is a multiple of 8, n of 4, and no matrix has 2^32 numbers. A block computes 128 × 128 of C, a thread 16 × 8 of it.
//
// A multiplication a cycle leaves two reads of registers, one of each bank, even registers and odd ones (measured on
// sm_90: three reads of one bank take three cycles). So each multiplication keeps a factor from the one before, and the
// factor and the sum that it reads are of different banks.
//
// How this is written decides the order of its instructions: of 50 forms with the same arithmetic, within 2 % in
// instructions, this is the fastest, and a loop for a rest of K behind it costs 3 % (measured on sm_90).

#include <cstdint>

#include "kernels/ampere.cuh"
#include "kernels/gemm_shape.h"
#include "kernels/tile_order.cuh"

namespace gvb::gemm_f32 {

constexpr unsigned kGroup = 16;
// Rows and columns of C that a thread computes, in pieces of 4 × 4, and threads of a warp down and across them.
constexpr unsigned kRows = 16, kColumns = 8, kDown = 8, kAcross = 4;
constexpr unsigned kWarpRows = kDown * kRows, kWarpColumns = kAcross * kColumns;
constexpr unsigned kWarpsAcross = kTile / kWarpColumns;
static_assert(kThreads / 32 == kTile / kWarpRows * kWarpsAcross, "the warps of a block cover its tile");
// Sums are stored four at a time, so those of even columns have even registers, as have the factors of even places that
// are read four at a time. Exchanging columns 0 and 1, 2 and 3 and so on of a tile of B puts a factor and its sum into
// different banks.
constexpr unsigned kExchanged = 1;

struct Extent {
  unsigned m, n;
};

// A thread's part of a tile: four numbers along K of each of some rows. Rows beyond the edge repeat the last one; their
// results are not stored.
template <unsigned Exchanged>
class Source {
 public:
  __device__ __forceinline__ Source(const float* matrix, unsigned first, unsigned rows, unsigned k) {
#pragma unroll
    for (unsigned i = 0; i < kPieces; ++i) {
      const unsigned row = first + row_of_tile() + i * kApart;
      from_[i] = matrix + static_cast<uint64_t>(row < rows ? row : rows - 1) * k + first_of_depth();
    }
  }

  // Reads the next kDepth of K.
  __device__ __forceinline__ void read() {
#pragma unroll
    for (unsigned i = 0; i < kPieces; ++i) {
      values_[i] = *reinterpret_cast<const float4*>(from_[i]);
      from_[i] += kDepth;
    }
  }

  __device__ __forceinline__ void write(float* tile) const {
#pragma unroll
    for (unsigned i = 0; i < kPieces; ++i) {
      float* to = tile + first_of_depth() * kRow + (row_of_tile() ^ Exchanged) + i * kApart;
      to[0] = values_[i].x;
      to[kRow] = values_[i].y;
      to[2 * kRow] = values_[i].z;
      to[3 * kRow] = values_[i].w;
    }
  }

 private:
  static constexpr unsigned kAlong = kDepth / 4, kPieces = kTile * kAlong / kThreads, kApart = kThreads / kAlong;
  static_assert(kApart % (kExchanged + 1) == 0, "the rows of all pieces are exchanged alike");

  static __device__ __forceinline__ unsigned row_of_tile() { return threadIdx.x / kAlong; }
  static __device__ __forceinline__ unsigned first_of_depth() { return threadIdx.x % kAlong * 4; }

  const float* from_[kPieces];
  float4 values_[kPieces];
};

// Each read of shared memory is a whole line, or the same for several threads.
__device__ __forceinline__ unsigned first_row() {
  return threadIdx.x / 32 / kWarpsAcross * kWarpRows + threadIdx.x % 32 / kAcross * 4;
}
__device__ __forceinline__ unsigned first_column() {
  return threadIdx.x / 32 % kWarpsAcross * kWarpColumns + threadIdx.x % kAcross * 4;
}

template <unsigned N, unsigned Step>
__device__ __forceinline__ void read_fragment(float (&to)[N], const float* row) {
#pragma unroll
  for (unsigned i = 0; i < N; i += 4) {
    const float4 piece = *reinterpret_cast<const float4*>(row + i / 4 * Step);
    to[i] = piece.x;
    to[i + 1] = piece.y;
    to[i + 2] = piece.z;
    to[i + 3] = piece.w;
  }
}

// Every second row runs backwards: the right factor at its turn is kept.
__device__ __forceinline__ void multiply(float (&sums)[kRows][kColumns], const float (&left)[kRows],
                                         const float (&right)[kColumns]) {
#pragma unroll
  for (unsigned i = 0; i < kRows; ++i)
#pragma unroll
    for (unsigned step = 0; step < kColumns; ++step) {
      const unsigned j = i % 2 == 0 ? step : kColumns - 1 - step;
      float& sum = sums[i][j ^ kExchanged];
      sum = fmaf(left[i], right[j], sum);
    }
}

__device__ __forceinline__ void store(const float (&sums)[kRows][kColumns], float* c, const Extent& extent,
                                      unsigned top, unsigned left) {
#pragma unroll
  for (unsigned i = 0; i < kRows; ++i) {
    const unsigned row = top + first_row() + i / 4 * (kDown * 4) + i % 4;
#pragma unroll
    for (unsigned j = 0; j < kColumns; j += 4) {
      const unsigned column = left + first_column() + j / 4 * (kAcross * 4);
      float* to = c + static_cast<uint64_t>(row) * extent.n + column;
      if (row < extent.m && column < extent.n)
        *reinterpret_cast<float4*>(to) = {sums[i][j], sums[i][j + 1], sums[i][j + 2], sums[i][j + 3]};
    }
  }
}

}  // namespace gvb::gemm_f32

extern "C" __global__ void __launch_bounds__(gvb::gemm_f32::kThreads, 2)
    gvb_gemm_f32(const float* a, const float* b, float* c, unsigned m, unsigned n, unsigned k,
                 unsigned long long* blocks) {
  count_block(blocks);
  using namespace gvb::gemm_f32;
  GVB_DYNAMIC_SHARED(float, tiles);
  const unsigned down = (m + kTile - 1) / kTile, across = (n + kTile - 1) / kTile;
  const TilePlace tile = place_of_tile(blockIdx.x, down, across, kGroup);
  const unsigned top = tile.row * kTile, left = tile.column * kTile;
  Source<0> from_a(a, top, m, k);
  Source<kExchanged> from_b(b, left, n, k);
  float sums[kRows][kColumns] = {};
  from_a.read();
  from_b.read();
  from_a.write(tiles);
  from_b.write(tiles + kTileFloats);
  __syncthreads();
  float lefts[2][kRows], rights[2][kColumns];
  read_fragment<kRows, kDown * 4>(lefts[0], tiles + first_row());
  read_fragment<kColumns, kAcross * 4>(rights[0], tiles + kTileFloats + first_column());
  // While a tile is multiplied, the next one is read and written, and each step reads the factors of the one after it.
  for (unsigned depth = 0, which = 0; depth < k; depth += kDepth, which ^= 1) {
    const float *tile_a = tiles + which * 2 * kTileFloats, *tile_b = tile_a + kTileFloats;
    float *next_a = tiles + (which ^ 1) * 2 * kTileFloats, *next_b = next_a + kTileFloats;
    const bool more = depth + kDepth < k;
    if (more) {
      from_a.read();
      from_b.read();
    }
#pragma unroll
    for (unsigned step = 0; step < kDepth; ++step) {
      if (step == kDepth / 2 && more) {
        from_a.write(next_a);
        from_b.write(next_b);
      }
      const bool last = step == kDepth - 1;
      if (last) __syncthreads();
      const float* row_of_a = last ? next_a : tile_a + (step + 1) * kRow;
      const float* row_of_b = last ? next_b : tile_b + (step + 1) * kRow;
      read_fragment<kRows, kDown * 4>(lefts[(step + 1) % 2], row_of_a + first_row());
      read_fragment<kColumns, kAcross * 4>(rights[(step + 1) % 2], row_of_b + first_column());
      multiply(sums, lefts[step % 2], rights[step % 2]);
    }
  }
  store(sums, c, {m, n}, top, left);
}
