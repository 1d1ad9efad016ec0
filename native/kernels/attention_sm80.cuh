// Attention forward with mma.sync: out = softmax(q kᵀ · scale) v; each block handles a tile of 128 queries of one head,
// with four warps of 32 queries. Keys and values pass through shared memory 64 at a time: the next step's keys are
// copied while this step's values are used, and values while keys are. Scores and weights never leave the registers.
#pragma once

#include "attention_block.cuh"

struct AttentionSizes {
  unsigned length, heads, kv_heads, causal;
  float scale;  // 1/√D · log2(e)
};

namespace attention_sm80 {

constexpr gvb::AttentionTile kTile = gvb::attention_tile_sm80(64);
constexpr unsigned kThreads = kTile.threads, kQueries = kTile.queries, kKeys = kTile.keys;

// A tile of kRows rows is stored in slabs of 64 columns, so that every row of a slab has 128 bytes.
template <unsigned kRows>
__device__ __forceinline__ uint32_t offset_in_tile(unsigned row, unsigned column) {
  return column / 8 * (kRows * 128) + swizzled(row, column % 8);
}

// Fills rows from `rows` on with zeros.
template <unsigned kRows, unsigned kWidth>
__device__ __forceinline__ void copy_tile(uint32_t tile, const unsigned char* from, size_t stride, unsigned rows) {
  // A stride of rows that keeps the swizzle of a thread's column.
  constexpr unsigned kColumns = kWidth / 8, kRowsAtATime = kThreads / kColumns;
  static_assert(kRowsAtATime % 8 == 0);
  const unsigned row = threadIdx.x / kColumns, column = threadIdx.x % kColumns;
  const uint32_t to = tile + offset_in_tile<kRows>(row, column);
  from += row * stride + column * 16;
#pragma unroll
  for (unsigned done = 0; done < kRows; done += kRowsAtATime) {
    copy_async_16(to + done * 128, from, row + done < rows);
    from += kRowsAtATime * stride;
  }
}

// One warp's work: 32 queries as two tiles of 16, which share every operand from keys and values.
template <class Format, unsigned kWidth>
struct WarpTile {
  float scores[2][kKeys / 2];
  float out[2][kWidth / 2];
  SoftmaxRows rows[2];

  __device__ __forceinline__ void score(uint32_t queries, uint32_t keys) {
    const unsigned lane = threadIdx.x % 32, first = threadIdx.x / 32 * 32;
#pragma unroll
    for (auto& tile : scores)
#pragma unroll
      for (float& score : tile) score = 0;
// Unrolling further would need more registers than there are.
#pragma unroll 2
    for (unsigned k = 0; k < kWidth / 16; ++k) {
      uint32_t left[2][4];
#pragma unroll
      for (unsigned m = 0; m < 2; ++m)
        load_matrices(left[m],
                      queries + offset_in_tile<kQueries>(first + m * 16 + lane % 16, k * 2 + lane / 16));
#pragma unroll
      for (unsigned n = 0; n < kKeys / 16; ++n) {
        uint32_t right[4];
        load_matrices(right,
                      keys + offset_in_tile<kKeys>(n * 16 + lane / 16 * 8 + lane % 8, k * 2 + lane / 8 % 2));
#pragma unroll
        for (unsigned m = 0; m < 2; ++m) {
          multiply_add<Format>(&scores[m][8 * n], left[m], right[0], right[1]);
          multiply_add<Format>(&scores[m][8 * n + 4], left[m], right[2], right[3]);
        }
      }
    }
  }

  __device__ __forceinline__ void weigh(float scale) {
#pragma unroll
    for (unsigned m = 0; m < 2; ++m) {
      float kept[2];
      rows[m].update(scores[m], scale, kept);
      scale_rows(out[m], kept);
    }
  }

  __device__ __forceinline__ void add_values(uint32_t values) {
    const unsigned lane = threadIdx.x % 32;
#pragma unroll
    for (unsigned k = 0; k < kKeys / 16; ++k) {
      uint32_t left[2][4];
#pragma unroll
      for (unsigned m = 0; m < 2; ++m) weights_of<Format>(&scores[m][8 * k], left[m]);
#pragma unroll
      for (unsigned n = 0; n < kWidth / 16; ++n) {
        uint32_t right[4];
        load_matrices_transposed(right, values + offset_in_tile<kKeys>(k * 16 + lane % 16, n * 2 + lane / 16));
#pragma unroll
        for (unsigned m = 0; m < 2; ++m) {
          multiply_add<Format>(&out[m][8 * n], left[m], right[0], right[1]);
          multiply_add<Format>(&out[m][8 * n + 4], left[m], right[2], right[3]);
        }
      }
    }
  }

  // Goes through the shared memory of the warp's own queries, so that whole rows are written.
  __device__ __forceinline__ void store(uint32_t queries, unsigned char* to, size_t stride, unsigned left) {
    const unsigned lane = threadIdx.x % 32, first = threadIdx.x / 32 * 32;
    __syncwarp();
#pragma unroll
    for (unsigned m = 0; m < 2; ++m) {
      const float inverse[2] = {rows[m].inverse_sum(0), rows[m].inverse_sum(1)};
      scale_rows(out[m], inverse);
#pragma unroll
      for (unsigned group = 0; group < kWidth / 8; ++group)
#pragma unroll
        for (unsigned half = 0; half < 2; ++half)
          store_shared(
              queries + offset_in_tile<kQueries>(first + m * 16 + half * 8 + lane / 4, group) + lane % 4 * 4,
              pack<Format>(out[m][4 * group + 2 * half], out[m][4 * group + 2 * half + 1]));
    }
    __syncwarp();
    constexpr unsigned kColumns = kWidth / 8;
#pragma unroll
    for (unsigned i = lane; i < 32 * kColumns; i += 32) {
      const unsigned row = first + i / kColumns, column = i % kColumns;
      if (row < left)
        *reinterpret_cast<uint4*>(to + row * stride + column * 16) =
            load_shared_16(queries + offset_in_tile<kQueries>(row, column));
    }
  }
};

// Grid: tiles of queries, heads, sequences. q and out are [sequence][token][head][kWidth]; k and v the same with
// kv_heads.
template <class Format, unsigned kWidth>
__device__ __forceinline__ void attend(const unsigned char* q, const unsigned char* k, const unsigned char* v,
                                       unsigned char* out, const AttentionSizes& sizes) {
  constexpr size_t kRowBytes = kWidth * 2;
  const size_t stride = sizes.heads * kRowBytes, kv_stride = sizes.kv_heads * kRowBytes;
  // With a causal mask later queries see more keys. The longest tiles run first, so that the card does not wait for one
  // at the end.
  const unsigned first = (gridDim.x - 1 - blockIdx.x) * kQueries, left = sizes.length - first;
  const size_t token = static_cast<size_t>(blockIdx.z) * sizes.length;
  const size_t mine = (token + first) * stride + blockIdx.y * kRowBytes;
  const size_t theirs = token * kv_stride + blockIdx.y / (sizes.heads / sizes.kv_heads) * kRowBytes;
  q += mine;
  out += mine;
  k += theirs;
  v += theirs;

  const uint32_t queries = shared_address(dynamic_shared()), keys = queries + kQueries * kRowBytes,
                 values = keys + kKeys * kRowBytes;
  const unsigned end = sizes.causal ? min(sizes.length, first + kQueries) : sizes.length;
  const unsigned unmasked = sizes.causal ? first + 1 : sizes.length;  // keys visible to every query of the tile
  const unsigned row = first + threadIdx.x / 32 * 32 + threadIdx.x % 32 / 4;

  WarpTile<Format, kWidth> tile;
#pragma unroll
  for (auto& part : tile.out)
#pragma unroll
    for (float& value : part) value = 0;

  unsigned block = (end - 1) / kKeys;
  copy_tile<kQueries, kWidth>(queries, q, stride, left);
  copy_tile<kKeys, kWidth>(keys, k + block * kKeys * kv_stride, kv_stride, sizes.length - block * kKeys);
  commit_copies();
  for (;; --block) {
    const unsigned start = block * kKeys, present = sizes.length - start;
    wait_copies<0>();
    __syncthreads();
    copy_tile<kKeys, kWidth>(values, v + start * kv_stride, kv_stride, present);
    commit_copies();
    tile.score(queries, keys);
    if (start + kKeys > unmasked) {
#pragma unroll
      for (unsigned m = 0; m < 2; ++m) {
        const unsigned above = row + m * 16, last = sizes.length - 1;
        const unsigned last_seen[2] = {sizes.causal ? above : last, sizes.causal ? above + 8 : last};
        mask_keys(tile.scores[m], start + threadIdx.x % 4 * 2, last_seen);
      }
    }
    wait_copies<0>();
    __syncthreads();
    if (block > 0) copy_tile<kKeys, kWidth>(keys, k + (start - kKeys) * kv_stride, kv_stride, kKeys);
    commit_copies();
    tile.weigh(sizes.scale);
    tile.add_values(values);
    if (block == 0) break;
  }
  tile.store(queries, out, stride, left);
}

}  // namespace attention_sm80

#define GVB_ATTENTION_SM80(name, Format, width)                                                                     \
  extern "C" __global__ void __launch_bounds__(128, 2)                                                              \
      name(const unsigned char* q, const unsigned char* k, const unsigned char* v, unsigned char* out,              \
           unsigned long long* counter, unsigned length, unsigned heads, unsigned kv_heads, unsigned causal,        \
           float scale) {                                                                                           \
    attention_sm80::attend<gvb::Format, width>(q, k, v, out, {length, heads, kv_heads, causal, scale});             \
    count_block(counter);                                                                                           \
  }
