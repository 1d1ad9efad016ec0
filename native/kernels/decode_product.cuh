// y = x · Wᵀ for one to eight rows of x ("tokens"), for GPUs with bulk copies (sm_90): a decode step is bound by
// reading W, and by the gaps between its kernels. One warp fills a ring in shared memory by bulk copies; it does not
// wait for the previous grid, on whose results no weight depends, so that weights arrive while that grid ends. Eight
// more warps multiply. The operations before and after a product are fused into it: RMSNorm of the residual stream,
// SwiGLU.
//
// A block takes groups of eight rows of W, chunk by chunk of K; the warps share a chunk, 128 k each. In a warp of
// m16n8k16 the lane of group g (lane / 4) and place t (lane % 4) holds elements 2t, 2t+1, 2t+8 and 2t+9 of token g and
// of row g. As long as W and x agree, these may be any 16 elements of K: a lane reads eight adjacent ones, 8t … 8t+7 of
// 32, and gives them to two instructions. A line in shared memory is 64 bytes longer than a multiple of 128, so that
// eight lanes read from all 32 banks.
// Every sum has a fixed order, whichever block computes it: equal inputs give equal bits.
#pragma once

#include "kernels/decode_product_shape.h"
#include "kernels/hopper.cuh"

namespace gvb_decode {

using gvb::F16;
using namespace gvb::decode_product;
namespace hopper = gvb::hopper;

constexpr unsigned kPiece = 8;  // numbers in 16 bytes
constexpr unsigned kConsumers = 32 * kWarps;
constexpr unsigned kEach = kChunk / kWarps / 32;  // parts of 32 k per warp and chunk
constexpr unsigned kPiecesOfNorm = kMostNormed / kPiece / kConsumers;
constexpr float kEpsilon = 1e-5f;

struct Problem {
  const uint16_t* x;  // null: RMSNorm(residual + deltaScale · delta) · gain · outScale
  const float* residual;
  const uint16_t* delta;  // null: nothing is added
  const uint16_t* gain;
  float* sum;            // output: residual + deltaScale · delta
  uint16_t* normalised;  // output: x; null: not written
  const uint16_t* w;
  uint16_t* y;
  unsigned long long* blocks;
  float deltaScale, outScale;
  unsigned m, n, k;
  unsigned gated;  // W is gate over up, and y[m][n / 2] = silu(gate) · up
  unsigned stages;
};

class Product {
 public:
  __device__ __forceinline__ explicit Product(const Problem& problem)
      : p_(problem),
        full_(reinterpret_cast<hopper::Barrier*>(dynamic_shared())),
        empty_(full_ + kMostStages),
        scratch_(reinterpret_cast<float*>(empty_ + kMostStages)),
        sums_(scratch_ + 2 * kWarps),
        stages_(dynamic_shared() + kFixedBytes),
        x_(stages_ + problem.stages * kStageBytes),
        lane_(threadIdx.x % 32),
        warp_(threadIdx.x / 32),
        line_(line_bytes(problem.k)) {
    const unsigned long long groups = (problem.n + kRows - 1) / kRows;
    first_ = static_cast<unsigned>(groups * blockIdx.x / gridDim.x);
    end_ = static_cast<unsigned>(groups * (blockIdx.x + 1) / gridDim.x);
  }

  __device__ __forceinline__ void run() {
    begin_next_grid();
    if (threadIdx.x == 0) {
      for (unsigned i = 0; i < p_.stages; ++i) {
        hopper::init(full_ + i, 1);
        hopper::init(empty_ + i, kWarps);
      }
      hopper::fence_init();
    }
    __syncthreads();
    if (warp_ == kWarps) return load();
    if (p_.x != nullptr) {
      wait_for_previous_grid();
      copy_input();
    } else {
      normalise();
    }
    sync_barrier(1, kConsumers);
    if (threadIdx.x == 0 && p_.blocks != nullptr) atomicAdd(p_.blocks, 1ull);
    multiply();
  }

 private:
  // The row of W for row `i` of a group: four each of gate and up if the product is gated.
  __device__ __forceinline__ unsigned row_of(unsigned group, unsigned i) const {
    if (p_.gated != 0) return group * (kRows / 2) + i % (kRows / 2) + (i < kRows / 2 ? 0 : p_.n / 2);
    return min(group * kRows + i, p_.n - 1);  // rows past the end repeat the last one and are not written
  }

  // A step reads no weight twice, and L2 does not hold them until the next step: they should evict each other rather
  // than activations and the KV cache.
  __device__ __forceinline__ void load() const {
    const uint64_t policy = hopper::evict_first();
    unsigned stage = 0, parity = 1;
    for (unsigned group = first_; group < end_; ++group)
      for (unsigned begin = 0; begin < p_.k; begin += kChunk) {
        const unsigned bytes = min(kChunk, p_.k - begin) * 2;
        hopper::wait(empty_ + stage, parity);
        if (lane_ == 0) hopper::arrive_expecting(full_ + stage, bytes * kRows);
        __syncwarp();
        if (lane_ < kRows)
          hopper::load_bytes(stages_ + stage * kStageBytes + lane_ * kLineBytes,
                             p_.w + static_cast<size_t>(row_of(group, lane_)) * p_.k + begin, bytes, full_ + stage,
                             policy);
        if (++stage == p_.stages) {
          stage = 0;
          parity ^= 1;
        }
      }
  }

  __device__ __forceinline__ uint4* input(unsigned token, unsigned piece) const {
    return reinterpret_cast<uint4*>(x_ + token * line_) + piece;
  }

  // Bypasses L1, which may hold data from before the previous grid's writes.
  __device__ __forceinline__ void copy_input() const {
    const unsigned pieces = p_.k / kPiece;
    const auto* x = reinterpret_cast<const uint4*>(p_.x);
    for (unsigned i = threadIdx.x; i < p_.m * pieces; i += kConsumers) *input(i / pieces, i % pieces) = __ldcg(x + i);
  }

  struct Values {
    float of[kPiece];
  };
  static __device__ __forceinline__ Values unpacked(const uint4& halves) {
    const float2 a = unpack<F16>(halves.x), b = unpack<F16>(halves.y), c = unpack<F16>(halves.z),
                 d = unpack<F16>(halves.w);
    return {{a.x, a.y, b.x, b.y, c.x, c.y, d.x, d.y}};
  }

  // Every block normalises for itself; the first one stores the sum, not over the residual, which others may still
  // read.
  __device__ __forceinline__ void normalise() {
    const unsigned pieces = p_.k / kPiece;
    uint4 gains[kPiecesOfNorm];
#pragma unroll
    for (unsigned i = 0; i < kPiecesOfNorm; ++i)
      if (threadIdx.x + i * kConsumers < pieces)
        gains[i] = *(reinterpret_cast<const uint4*>(p_.gain) + threadIdx.x + i * kConsumers);
    wait_for_previous_grid();
    for (unsigned token = 0; token < p_.m; ++token) {
      Values values[kPiecesOfNorm];
      float squares = 0;
#pragma unroll
      for (unsigned i = 0; i < kPiecesOfNorm; ++i) {
        const unsigned piece = threadIdx.x + i * kConsumers;
        if (piece >= pieces) continue;
        values[i] = residual_piece(token, piece);
#pragma unroll
        for (unsigned j = 0; j < kPiece; ++j) squares += values[i].of[j] * values[i].of[j];
      }
      const float factor = p_.outScale * rsqrtf(sum_of_warps(squares, token % 2) / static_cast<float>(p_.k) + kEpsilon);
#pragma unroll
      for (unsigned i = 0; i < kPiecesOfNorm; ++i) {
        const unsigned piece = threadIdx.x + i * kConsumers;
        if (piece < pieces) put_normalised(token, piece, values[i], factor, unpacked(gains[i]));
      }
    }
  }

  __device__ __forceinline__ Values residual_piece(unsigned token, unsigned piece) const {
    const size_t at = (static_cast<size_t>(token) * p_.k) / kPiece + piece;
    const auto* from = reinterpret_cast<const float4*>(p_.residual) + at * 2;
    const float4 low = __ldcg(from), high = __ldcg(from + 1);
    Values values = {{low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w}};
    if (p_.delta == nullptr) return values;
    const Values more = unpacked(__ldcg(reinterpret_cast<const uint4*>(p_.delta) + at));
#pragma unroll
    for (unsigned j = 0; j < kPiece; ++j) values.of[j] += p_.deltaScale * more.of[j];
    if (blockIdx.x == 0) {
      auto* to = reinterpret_cast<float4*>(p_.sum) + at * 2;
      to[0] = {values.of[0], values.of[1], values.of[2], values.of[3]};
      to[1] = {values.of[4], values.of[5], values.of[6], values.of[7]};
    }
    return values;
  }

  __device__ __forceinline__ float sum_of_warps(float value, unsigned side) const {
    for (unsigned distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffffffu, value, distance);
    if (lane_ == 0) scratch_[side * kWarps + warp_] = value;
    sync_barrier(1, kConsumers);
    float sum = 0;
    for (unsigned i = 0; i < kWarps; ++i) sum += scratch_[side * kWarps + i];
    return sum;
  }

  __device__ __forceinline__ void put_normalised(unsigned token, unsigned piece, const Values& values, float factor,
                                                 const Values& gain) const {
    const auto scaled = [&](unsigned i) { return values.of[i] * factor * gain.of[i]; };
    const uint4 halves = {pack<F16>(scaled(0), scaled(1)), pack<F16>(scaled(2), scaled(3)),
                          pack<F16>(scaled(4), scaled(5)), pack<F16>(scaled(6), scaled(7))};
    *input(token, piece) = halves;
    if (blockIdx.x == 0 && p_.normalised != nullptr)
      *(reinterpret_cast<uint4*>(p_.normalised) + (static_cast<size_t>(token) * p_.k) / kPiece + piece) = halves;
  }

  __device__ __forceinline__ void multiply() const {
    unsigned stage = 0, parity = 0;
    for (unsigned group = first_; group < end_; ++group) {
      float sums[4] = {};
      for (unsigned begin = 0; begin < p_.k; begin += kChunk) {
        hopper::wait(full_ + stage, parity);
        add_chunk(sums, stages_ + stage * kStageBytes, begin);
        __syncwarp();
        if (lane_ == 0) hopper::arrive(empty_ + stage);
        if (++stage == p_.stages) {
          stage = 0;
          parity ^= 1;
        }
      }
      write(group, sums);
    }
  }

  __device__ __forceinline__ void add_chunk(float (&sums)[4], const unsigned char* rows, unsigned begin) const {
    const unsigned char* row = rows + lane_ / 4 * kLineBytes + lane_ % 4 * 16;
    const unsigned char* token = x_ + lane_ / 4 * line_ + begin * 2 + lane_ % 4 * 16;
#pragma unroll
    for (unsigned i = 0; i < kEach; ++i) {
      const unsigned part = (warp_ * kEach + i) * 32;
      if (begin + part >= p_.k) continue;
      const uint4 w = *reinterpret_cast<const uint4*>(row + part * 2);
      uint4 x = {0, 0, 0, 0};
      if (lane_ / 4 < p_.m) x = *reinterpret_cast<const uint4*>(token + part * 2);
      multiply_add<F16>(sums, {x.x, 0, x.y, 0}, w.x, w.y);
      multiply_add<F16>(sums, {x.z, 0, x.w, 0}, w.z, w.w);
    }
  }

  // A lane holds two rows of one token. The buffer has two sides, so that none is overwritten before the group before
  // last has been read.
  __device__ __forceinline__ void write(unsigned group, const float (&sums)[4]) const {
    float* side = sums_ + group % 2 * kWarps * kMostTokens * kRows;
    const unsigned token = lane_ / 4;
    if (token < p_.m) {
      float* mine = side + (warp_ * kMostTokens + token) * kRows + lane_ % 4 * 2;
      mine[0] = sums[0];
      mine[1] = sums[1];
    }
    sync_barrier(1, kConsumers);
    const auto total = [&](unsigned i) {
      float sum = 0;
#pragma unroll
      for (unsigned warp = 0; warp < kWarps; ++warp) sum += side[warp * kMostTokens * kRows + i];
      return sum;
    };
    if (p_.gated != 0) {
      constexpr unsigned kHalf = kRows / 2;
      if (threadIdx.x >= p_.m * kHalf) return;
      const unsigned of = threadIdx.x / kHalf, column = threadIdx.x % kHalf;
      const float gate = total(of * kRows + column), up = total(of * kRows + kHalf + column);
      store(of, group * kHalf + column, p_.n / 2, gate / (1.0f + __expf(-gate)) * up);
    } else if (threadIdx.x < p_.m * kRows && group * kRows + threadIdx.x % kRows < p_.n) {
      store(threadIdx.x / kRows, group * kRows + threadIdx.x % kRows, p_.n, total(threadIdx.x));
    }
  }

  __device__ __forceinline__ void store(unsigned token, unsigned column, unsigned columns, float value) const {
    p_.y[static_cast<size_t>(token) * columns + column] = static_cast<uint16_t>(pack<F16>(value, 0));
  }

  const Problem p_;
  hopper::Barrier* const full_;
  hopper::Barrier* const empty_;
  float* const scratch_;
  float* const sums_;
  unsigned char* const stages_;
  unsigned char* const x_;
  const unsigned lane_, warp_, line_;
  unsigned first_, end_;
};

}  // namespace gvb_decode

// k is a multiple of 32. Every block adds 1 to *blocks unless that is null.
extern "C" __global__ void __launch_bounds__(gvb::decode_product::kThreads, 2)
    gvb_decode_product(const uint16_t* x, const float* residual, const uint16_t* delta, const uint16_t* gain,
                       float* sum, uint16_t* normalised, const uint16_t* w, uint16_t* y, unsigned long long* blocks,
                       float deltaScale, float outScale, unsigned m, unsigned n, unsigned k, unsigned gated,
                       unsigned stages) {
  gvb_decode::Product({x, residual, delta, gain, sum, normalised, w, y, blocks, deltaScale, outScale, m, n, k, gated,
                       stages})
      .run();
}
