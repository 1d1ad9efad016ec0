// y = x · Wᵀ for 1 to 64 rows of x ("tokens"), bound by reading W: tensor cores compute the sums even for one token, so
// that a multiprocessor only waits for W. One module per kernel (skinny_sm80_NUMBER_TOKENS.cu).
//
// A block takes kRows rows of W and a part of K. Its warps form RowWarps groups of 32 rows; those of a group share K:
// each takes every (8 / RowWarps)-th unit of 64 k. W goes from memory to registers, 16 bytes per lane, two units ahead.
// In a warp of m16n8k16 the lane of group g (lane / 4) and place t (lane % 4) holds elements 2t, 2t+1, 2t+8 and 2t+9 of
// row g. As long as W and x agree, these may be any 16 elements of K: a lane reads eight adjacent ones, 8t … 8t+7 of
// 32, and gives four each to two instructions. x is staged in shared memory, where a line is 64 bytes longer than a
// multiple of 128, so that eight lanes read from all 32 banks.
// Every sum has a fixed order, so that equal inputs give equal bits: along K in a warp, then over the warps of a group,
// then over the blocks that share rows, which the last one to finish adds up.

#pragma once

#include "ampere.cuh"

namespace skinny_sm80 {

constexpr unsigned kWarps = 8, kThreads = 32 * kWarps;
constexpr unsigned kWarpRows = 32;
constexpr unsigned kUnit = 64;       // of K
constexpr unsigned kUnitsAhead = 2;  // per warp, in registers
constexpr unsigned kPiece = 8;       // elements in 16 bytes
constexpr unsigned kHalves = 2;      // of a unit: 32 k, one piece per lane

struct Problem {
  const uint4* x;
  const uint4* w;
  uint16_t* y;
  float* partial;     // of each block that shares rows: token by token
  unsigned* arrived;  // by group of rows: number of finished blocks; 0 between launches
  unsigned long long* blocks;
  unsigned m, n, k;
};

// `Tiles` is the number of tiles of 8 tokens.
template <class Format, unsigned Tiles, unsigned RowWarps>
class Skinny {
  static constexpr unsigned kDepth = kWarps / RowWarps;  // warps that share a group's K
  static constexpr unsigned kRows = kWarpRows * RowWarps, kTokens = 8 * Tiles;
  static constexpr unsigned kChunk = kDepth * kUnitsAhead * kUnit;  // of K, staged at once
  static constexpr unsigned kLine = kChunk / kPiece + 4;            // of a token, in pieces
  static constexpr unsigned kSide = kTokens * kLine;                // one staged chunk
  static_assert(kDepth == 1 || kDepth * kTokens * kRows * sizeof(float) <= 2 * kSide * sizeof(uint4));

 public:
  // Shared memory: two chunks of x, later overwritten by the warps' sums, and a flag.
  static constexpr unsigned kSharedBytes = 2 * kSide * sizeof(uint4) + sizeof(uint4);

  __device__ __forceinline__ explicit Skinny(const Problem& problem)
      : problem_(problem),
        x_(reinterpret_cast<uint4*>(dynamic_shared())),
        sums_of_warps_(reinterpret_cast<float*>(x_)),
        last_(reinterpret_cast<unsigned*>(x_ + 2 * kSide)),
        lane_(threadIdx.x % 32),
        warp_(threadIdx.x / 32),
        place_(warp_ % kDepth),
        pieces_(problem.k / kPiece) {
    const unsigned units = problem.k / kUnit;
    begin_ = static_cast<unsigned>(static_cast<unsigned long long>(units) * blockIdx.y / gridDim.y);
    end_ = static_cast<unsigned>(static_cast<unsigned long long>(units) * (blockIdx.y + 1) / gridDim.y);
    const unsigned first = blockIdx.x * kRows + warp_ / kDepth * kWarpRows + lane_ / 4;
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) {
      // Rows past the end repeat the last one and are not written.
      const unsigned row = min(first + 8 * i, problem.n - 1);
      rows_[i] = problem.w + static_cast<size_t>(row) * pieces_ + lane_ % 4;
    }
  }

  __device__ __forceinline__ void run() {
    clear_missing_tokens();
    stage(begin_, 0);
#pragma unroll
    for (unsigned ahead = 0; ahead < kUnitsAhead; ++ahead) load(ahead, begin_ + ahead * kDepth + place_);
    unsigned side = 0;
    for (unsigned chunk = begin_; chunk < end_; chunk += kDepth * kUnitsAhead, side ^= 1) {
      wait_copies<0>();
      // The chunk is complete for all threads, and none still reads the previous one.
      __syncthreads();
      stage(chunk + kDepth * kUnitsAhead, side ^ 1);
#pragma unroll
      for (unsigned ahead = 0; ahead < kUnitsAhead; ++ahead) {
        const unsigned unit = chunk + ahead * kDepth + place_;
        if (unit < end_) multiply(ahead, side);
        load(ahead, unit + kDepth * kUnitsAhead);
      }
    }
    finish();
  }

 private:
  // Clears the missing tokens' lines, which would otherwise hold old shared memory.
  __device__ __forceinline__ void clear_missing_tokens() {
    for (unsigned i = problem_.m * kLine + threadIdx.x; i < kSide; i += kThreads) x_[i] = x_[kSide + i] = {0, 0, 0, 0};
  }

  __device__ __forceinline__ void stage(unsigned unit, unsigned side) {
    constexpr unsigned kPieces = kChunk / kPiece;
    const unsigned from = unit * (kUnit / kPiece), until = end_ * (kUnit / kPiece);
    for (unsigned i = threadIdx.x; i < problem_.m * kPieces; i += kThreads) {
      const unsigned token = i / kPieces, piece = i % kPieces;
      if (from + piece < until)
        copy_async_16(shared_address(x_ + side * kSide + token * kLine + piece),
                      problem_.x + static_cast<size_t>(token) * pieces_ + from + piece, true);
    }
    commit_copies();
  }

  __device__ __forceinline__ void load(unsigned ahead, unsigned unit) {
    if (unit >= end_) return;
#pragma unroll
    for (unsigned i = 0; i < 4; ++i)
#pragma unroll
      for (unsigned half = 0; half < kHalves; ++half)
        weights_[ahead][i][half] = load_once_16(rows_[i] + unit * (kUnit / kPiece) + half * 4);
  }

  __device__ __forceinline__ void multiply(unsigned ahead, unsigned side) {
    const unsigned unit = (ahead * kDepth + place_) * (kUnit / kPiece);
#pragma unroll
    for (unsigned half = 0; half < kHalves; ++half)
#pragma unroll
      for (unsigned tile = 0; tile < Tiles; ++tile) {
        const uint4 x = x_[side * kSide + (tile * 8 + lane_ / 4) * kLine + unit + half * 4 + lane_ % 4];
#pragma unroll
        for (unsigned pair = 0; pair < 2; ++pair) {
          const uint4 upper = weights_[ahead][2 * pair][half], lower = weights_[ahead][2 * pair + 1][half];
          multiply_add<Format>(sums_[pair][tile], {upper.x, lower.x, upper.y, lower.y}, x.x, x.y);
          multiply_add<Format>(sums_[pair][tile], {upper.z, lower.z, upper.w, lower.w}, x.z, x.w);
        }
      }
  }

  // Calls use(row of the block, token, sum) for every sum of this thread.
  template <class Use>
  __device__ __forceinline__ void each_own(const Use& use) {
#pragma unroll
    for (unsigned pair = 0; pair < 2; ++pair)
#pragma unroll
      for (unsigned tile = 0; tile < Tiles; ++tile)
#pragma unroll
        for (unsigned i = 0; i < 4; ++i)
          use(warp_ / kDepth * kWarpRows + pair * 16 + i / 2 * 8 + lane_ / 4, tile * 8 + lane_ % 4 * 2 + i % 2,
              sums_[pair][tile][i]);
  }

  // The same for the block's sums over the warps that share K.
  template <class Use>
  __device__ __forceinline__ void each_of_block(const Use& use) {
    if constexpr (kDepth == 1) {
      each_own(use);
    } else {
      __syncthreads();  // x is no longer read
      each_own([&](unsigned row, unsigned token, float sum) {
        sums_of_warps_[(place_ * kTokens + token) * kRows + row] = sum;
      });
      __syncthreads();
      for (unsigned i = threadIdx.x; i < problem_.m * kRows; i += kThreads) {
        float sum = 0;
#pragma unroll
        for (unsigned place = 0; place < kDepth; ++place) sum += sums_of_warps_[place * kTokens * kRows + i];
        use(i % kRows, i / kRows, sum);
      }
    }
  }

  __device__ __forceinline__ void write(unsigned row, unsigned token, float sum) {
    const unsigned column = blockIdx.x * kRows + row;
    if (column < problem_.n && token < problem_.m)
      problem_.y[static_cast<size_t>(token) * problem_.n + column] = static_cast<uint16_t>(pack<Format>(sum, 0));
  }

  __device__ __forceinline__ void finish() {
    if (problem_.blocks != nullptr && threadIdx.x == 0) atomicAdd(problem_.blocks, 1ull);
    if (gridDim.y == 1) return each_of_block([&](unsigned row, unsigned token, float sum) { write(row, token, sum); });
    const size_t columns = static_cast<size_t>(gridDim.x) * kRows, part = columns * problem_.m;
    float* group = problem_.partial + static_cast<size_t>(blockIdx.x) * kRows;
    each_of_block([&](unsigned row, unsigned token, float sum) {
      if (token < problem_.m) group[blockIdx.y * part + token * columns + row] = sum;
    });
    if (!is_last()) return;
    for (unsigned i = threadIdx.x; i < problem_.m * kRows; i += kThreads) {
      float sum = 0;
#pragma unroll 4
      for (unsigned split = 0; split < gridDim.y; ++split)
        sum += __ldcg(group + split * part + i / kRows * columns + i % kRows);
      write(i % kRows, i / kRows, sum);
    }
  }

  // True for the last of the blocks that share the rows; it sees the others' sums (CUDA C++ Programming Guide, memory
  // fence functions).
  __device__ __forceinline__ bool is_last() {
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
      *last_ = atomicAdd(problem_.arrived + blockIdx.x, 1u) == gridDim.y - 1;
      if (*last_ != 0) problem_.arrived[blockIdx.x] = 0;
    }
    __syncthreads();
    __threadfence();
    return *last_ != 0;
  }

  const Problem problem_;
  uint4* const x_;
  float* const sums_of_warps_;
  unsigned* const last_;
  const unsigned lane_, warp_, place_, pieces_;
  unsigned begin_, end_;
  const uint4* rows_[4];
  uint4 weights_[kUnitsAhead][4][kHalves] = {};
  float sums_[2][Tiles][4] = {};
};

}  // namespace skinny_sm80

// x: m × k, w: n × k, y: m × n, row-major; k is a multiple of 64. Every block adds 1 to *blocks unless that is null.
// `Resident`: blocks per multiprocessor.
#define GVB_SKINNY_SM80(name, Format, Tiles, RowWarps, Resident)                                                     \
  extern "C" __global__ void __launch_bounds__(skinny_sm80::kThreads, Resident)                                      \
      name(const uint4* x, const uint4* w, uint16_t* y, float* partial, unsigned* arrived,                           \
           unsigned long long* blocks, unsigned m, unsigned n, unsigned k) {                                         \
    skinny_sm80::Skinny<gvb::Format, Tiles, RowWarps>({x, w, y, partial, arrived, blocks, m, n, k}).run();           \
  }
