// Attention forward with mma.sync: out = softmax(q kᵀ · scale) v; each block handles a tile of 128 queries of one head,
// with four warps of 32 queries. Blocks of keys and values pass through shared memory, the last ones first. A warp
// multiplies the scores of the next block of keys while it turns those of this block into weights, so that the tensor
// cores work during the exponentials. Scores and weights never leave the registers.
#pragma once

#include "attention_block.cuh"

struct AttentionSizes {
  unsigned length, heads, kv_heads, causal;
  float scale;  // 1/√D · log2(e)
};

namespace attention_sm80 {

constexpr unsigned kThreads = gvb::kSm80AttentionThreads, kQueries = gvb::kSm80AttentionQueries, kQueriesOfWarp = 32;
static_assert(kThreads / 32 * kQueriesOfWarp == kQueries);

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

// Weights are 2^(score · scale - shift). A row's shift follows its maximum only when weights would exceed
// 2^kMostGrowth, so sums rarely shrink (as in FlashAttention-4). Rounding is relative, so only a weight that was 1 has
// an error more.
constexpr float kMostGrowth = 8;

// One warp's work: 32 queries as two tiles of 16, which share every operand from keys and values.
template <class Format, unsigned kWidth>
class WarpTile {
 public:
  static constexpr unsigned kKeys = gvb::attention_keys_sm80(kWidth);
  using Scores = float[2][kKeys / 2];
  using Weights = uint32_t[kKeys / 16][2][4];
  using Largest = float[2][2];

  __device__ __forceinline__ WarpTile(uint32_t queries, uint32_t keys, uint32_t values, float scale) : scale_(scale) {
    const unsigned lane = threadIdx.x % 32, first = threadIdx.x / 32 * kQueriesOfWarp;
    query_at_ = queries + swizzled(first + lane % 16, lane / 16);
    key_at_ = keys + swizzled(lane / 16 * 8 + lane % 8, lane / 8 % 2);
    value_at_ = values + swizzled(lane % 16, lane / 16);
#pragma unroll
    for (unsigned m = 0; m < 2; ++m) {
#pragma unroll
      for (float& value : out_[m]) value = 0;
      shift_[m][0] = shift_[m][1] = -INFINITY;
      sum_[m][0] = sum_[m][1] = 0;
    }
  }

  // Multiplies scores of the keys in a stage.
  __device__ __forceinline__ void score(Scores& scores, uint32_t stage) {
    multiply_scores(scores, stage, [](unsigned) {});
  }

  // The same, while it turns scores of another block into weights.
  __device__ __forceinline__ void score_and_weigh(Scores& next, uint32_t stage, Weights& weights,
                                                  const Scores& scores) {
    multiply_scores(next, stage, [&](unsigned k) {
#pragma unroll
      for (unsigned i = k * kParts / kSteps; i < (k + 1) * kParts / kSteps; ++i) weigh(weights, scores, i);
    });
  }

  __device__ __forceinline__ void weigh_all(Weights& weights, const Scores& scores) {
#pragma unroll
    for (unsigned i = 0; i < kParts; ++i) weigh(weights, scores, i);
  }

  // The largest of the thread's scores of each row. True if one has grown so much that sums must shrink.
  __device__ __forceinline__ bool measure(Largest& largest, const Scores& scores) const {
    bool grown = false;
#pragma unroll
    for (unsigned m = 0; m < 2; ++m)
#pragma unroll
      for (unsigned row = 0; row < 2; ++row) {
        float now = scores[m][2 * row];
#pragma unroll
        for (unsigned i = 2 * row; i < kKeys / 2; i += 4) now = fmaxf(now, fmaxf(scores[m][i], scores[m][i + 1]));
        largest[m][row] = now;
        grown = grown || fmaf(now, scale_, -shift_[m][row]) > kMostGrowth;
      }
    return grown;
  }

  // Every row must have seen a key.
  __device__ __forceinline__ void shrink(const Largest& largest) {
#pragma unroll
    for (unsigned m = 0; m < 2; ++m) {
      float kept[2];
#pragma unroll
      for (unsigned row = 0; row < 2; ++row) {
        const float now = fmaxf(shift_[m][row], largest_of_row(largest[m][row]) * scale_);
        kept[row] = power_of_two(shift_[m][row] - now);
        shift_[m][row] = now;
        sum_[m][row] *= kept[row];
      }
      scale_rows(out_[m], kept);
    }
  }

  // Adds the values in a stage, each loaded while those before it are multiplied.
  __device__ __forceinline__ void add_values(const Weights& weights, uint32_t stage) {
    constexpr unsigned kCount = kKeys / 16 * kSteps;
    uint32_t right[2][4];
    load_values(right[0], 0, stage);
#pragma unroll
    for (unsigned i = 0; i < kCount; ++i) {
      if (i + 1 < kCount) load_values(right[(i + 1) % 2], i + 1, stage);
      const uint32_t(&values)[4] = right[i % 2];
      const unsigned k = i / kSteps, n = i % kSteps;
#pragma unroll
      for (unsigned m = 0; m < 2; ++m) {
        multiply_add<Format>(&out_[m][8 * n], weights[k][m], values[0], values[1]);
        multiply_add<Format>(&out_[m][8 * n + 4], weights[k][m], values[2], values[3]);
      }
    }
  }

  // Goes through the shared memory of the warp's own queries, so that whole rows are written.
  __device__ __forceinline__ void store(uint32_t queries, unsigned char* to, size_t stride, unsigned left) {
    const unsigned lane = threadIdx.x % 32, first = threadIdx.x / 32 * kQueriesOfWarp;
    __syncwarp();
#pragma unroll
    for (unsigned m = 0; m < 2; ++m) {
      const float inverse[2] = {1.0f / sum_of_row(sum_[m][0]), 1.0f / sum_of_row(sum_[m][1])};
      scale_rows(out_[m], inverse);
#pragma unroll
      for (unsigned group = 0; group < kWidth / 8; ++group)
#pragma unroll
        for (unsigned half = 0; half < 2; ++half)
          store_shared(queries + offset_in_tile<kQueries>(first + m * 16 + half * 8 + lane / 4, group) + lane % 4 * 4,
                       pack<Format>(out_[m][4 * group + 2 * half], out_[m][4 * group + 2 * half + 1]));
    }
    __syncwarp();
    constexpr unsigned kColumns = kWidth / 8;
#pragma unroll
    for (unsigned i = lane; i < kQueriesOfWarp * kColumns; i += 32) {
      const unsigned row = first + i / kColumns, column = i % kColumns;
      if (row < left)
        *reinterpret_cast<uint4*>(to + row * stride + column * 16) =
            load_shared_16(queries + offset_in_tile<kQueries>(row, column));
    }
  }

 private:
  static constexpr unsigned kSteps = kWidth / 16, kParts = kKeys / 4;

  // 16 columns of the warp's queries and of a block of keys.
  struct Fragments {
    uint32_t left[2][4], right[kKeys / 16][4];
  };

  // The columns of a fragment decide bits 5 and 6 of its swizzled address, and its slab.
  template <unsigned kRows>
  __device__ __forceinline__ static uint32_t address(uint32_t at, unsigned k) {
    return (at ^ k % 4 * 32) + k / 4 * (kRows * 128);
  }

  __device__ __forceinline__ void load(Fragments& to, unsigned k, uint32_t stage) const {
#pragma unroll
    for (unsigned m = 0; m < 2; ++m) load_matrices(to.left[m], address<kQueries>(query_at_, k) + m * 16 * 128);
#pragma unroll
    for (unsigned n = 0; n < kKeys / 16; ++n)
      load_matrices(to.right[n], address<kKeys>(key_at_ + stage, k) + n * 16 * 128);
  }

  __device__ __forceinline__ void load_values(uint32_t (&to)[4], unsigned i, uint32_t stage) const {
    load_matrices_transposed(to, address<kKeys>(value_at_ + stage, i % kSteps) + i / kSteps * 16 * 128);
  }

  // Loads a step's fragments while it multiplies those of the step before, and does `meanwhile` of each step.
  template <class Meanwhile>
  __device__ __forceinline__ void multiply_scores(Scores& scores, uint32_t stage, const Meanwhile& meanwhile) {
#pragma unroll
    for (auto& tile : scores)
#pragma unroll
      for (float& score : tile) score = 0;
    Fragments fragments[2];
    load(fragments[0], 0, stage);
#pragma unroll
    for (unsigned k = 0; k < kSteps; ++k) {
      if (k + 1 < kSteps) load(fragments[(k + 1) % 2], k + 1, stage);
      const Fragments& of = fragments[k % 2];
#pragma unroll
      for (unsigned n = 0; n < kKeys / 16; ++n)
#pragma unroll
        for (unsigned m = 0; m < 2; ++m) {
          multiply_add<Format>(&scores[m][8 * n], of.left[m], of.right[n][0], of.right[n][1]);
          multiply_add<Format>(&scores[m][8 * n + 4], of.left[m], of.right[n][2], of.right[n][3]);
        }
      meanwhile(k);
    }
  }

  // Turns one of kParts parts of the scores into weights.
  __device__ __forceinline__ void weigh(Weights& weights, const Scores& scores, unsigned part) {
    const unsigned m = part % 2, group = part / 2;
    float weight[4];
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) {
      weight[i] = power_of_two(fmaf(scores[m][4 * group + i], scale_, -shift_[m][i / 2]));
      sum_[m][i / 2] += weight[i];
    }
#pragma unroll
    for (unsigned i = 0; i < 2; ++i)
      weights[group / 2][m][group % 2 * 2 + i] = pack<Format>(weight[2 * i], weight[2 * i + 1]);
  }

  const float scale_;
  uint32_t query_at_, key_at_, value_at_;  // a lane's addresses of the first fragments
  float out_[2][kWidth / 2];
  float shift_[2][2], sum_[2][2];  // `sum_` covers only the thread's own columns
};

// Grid: tiles of queries, heads, sequences. q and out are [sequence][token][head][kWidth]; k and v the same with
// kv_heads.
template <class Format, unsigned kWidth, unsigned kStages>
__device__ __forceinline__ void attend(const unsigned char* q, const unsigned char* k, const unsigned char* v,
                                       unsigned char* out, const AttentionSizes& sizes) {
  using Tile = WarpTile<Format, kWidth>;
  constexpr unsigned kKeys = Tile::kKeys, kRowBytes = kWidth * 2, kBlockBytes = kKeys * kRowBytes;
  static_assert(kKeys % kQueriesOfWarp == 0,
                "the mask hides keys of one block alone from a warp, and no row sees none of it");
  const size_t stride = size_t{sizes.heads} * kRowBytes, kv_stride = size_t{sizes.kv_heads} * kRowBytes;
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
                 values = keys + kStages * kBlockBytes;
  const unsigned end = sizes.causal ? min(sizes.length, first + kQueries) : sizes.length;
  const unsigned row = first + threadIdx.x / 32 * kQueriesOfWarp;
  const unsigned last = (end - 1) / kKeys;
  // The last block of keys that the warp's queries see, and the only one of which they may not see all.
  const unsigned own = sizes.causal ? min(last, row / kKeys) : last;

  const auto stage_of = [](unsigned block) { return block % kStages * kBlockBytes; };
  const auto copy = [&](uint32_t to, const unsigned char* from, unsigned block) {
    copy_tile<kKeys, kWidth>(to + stage_of(block), from + block * kKeys * kv_stride, kv_stride,
                             sizes.length - block * kKeys);
  };
  const auto wait = [] {
    wait_copies<0>();
    __syncthreads();
  };
  // Afterwards the block's keys are there, and with two stages the values for the weights that are computed meanwhile.
  // Begins the copies of what is needed next.
  const auto begin_scores = [&](unsigned block) {
    wait();
    if (kStages > 1) {
      if (block > 0) copy(keys, k, block - 1);
      copy(values, v, block);
    } else if (block < last) {
      copy(values, v, block + 1);
    }
    commit_copies();
  };
  // Waits, with one stage, until the next keys can replace the block's and the values are there.
  const auto end_scores = [&](unsigned block) {
    if (kStages > 1) return;
    wait();
    // Copies the first block again at the end: a branch would split the loop, in which ptxas mixes products with
    // exponentials, and cost 4 %.
    copy(keys, k, max(block, 1u) - 1);
    commit_copies();
  };

  Tile tile(queries, keys, values, sizes.scale);
  typename Tile::Scores scores;
  typename Tile::Weights weights;
  typename Tile::Largest largest;
  copy_tile<kQueries, kWidth>(queries, q, stride, left);
  copy(keys, k, last);
  commit_copies();
  unsigned block = last;
  for (; block > own; --block) {
    begin_scores(block);
    end_scores(block);
  }
  begin_scores(block);
  tile.score(scores, stage_of(block));
  if (sizes.causal || (block + 1) * kKeys > sizes.length) {
#pragma unroll
    for (unsigned m = 0; m < 2; ++m) {
      const unsigned above = row + m * 16 + threadIdx.x % 32 / 4, all = sizes.length - 1;
      const unsigned last_seen[2] = {sizes.causal ? above : all, sizes.causal ? above + 8 : all};
      mask_keys(scores[m], block * kKeys + threadIdx.x % 4 * 2, last_seen);
    }
  }
  tile.measure(largest, scores);
  tile.shrink(largest);
  end_scores(block);
  while (block > 0) {
    --block;
    begin_scores(block);
    typename Tile::Scores next;
    tile.score_and_weigh(next, stage_of(block), weights, scores);
    end_scores(block);
    const bool grown = tile.measure(largest, next);
    tile.add_values(weights, stage_of(block + 1));
    if (__any_sync(0xffffffffu, grown)) tile.shrink(largest);
#pragma unroll
    for (unsigned m = 0; m < 2; ++m)
#pragma unroll
      for (unsigned i = 0; i < kKeys / 2; ++i) scores[m][i] = next[m][i];
  }
  wait();
  if (kStages == 1) {
    copy(values, v, 0);
    commit_copies();
  }
  tile.weigh_all(weights, scores);
  if (kStages == 1) wait();
  tile.add_values(weights, stage_of(0));
  tile.store(queries, out, stride, left);
}

}  // namespace attention_sm80

// A block needs the shared memory of gvb::attention_tile_sm80(width, stages).
#define GVB_ATTENTION_SM80(name, Format, width, stages)                                                                \
  extern "C" __global__ void __launch_bounds__(128, 2) name(                                                           \
      const unsigned char* q, const unsigned char* k, const unsigned char* v, unsigned char* out,                      \
      unsigned long long* counter, unsigned length, unsigned heads, unsigned kv_heads, unsigned causal, float scale) { \
    attention_sm80::attend<gvb::Format, width, stages>(q, k, v, out, {length, heads, kv_heads, causal, scale});        \
    count_block(counter);                                                                                              \
  }
