// Attention forward with TMA and wgmma: out = softmax(q kᵀ · scale) v; each block handles a tile of queries of one
// head. One thread loads; each of two or three warpgroups computes 64 queries. A warpgroup multiplies the scores of one
// block of keys while it adds the values of the previous one and computes its weights. The warpgroups alternate on the
// tensor cores, so that one's exponentials overlap with another's products (the schedule of FlashAttention-3, arXiv
// 2407.08608).
#pragma once

#include "attention_block.cuh"
#include "kernels/hopper.cuh"

namespace attention_sm90 {

namespace hw = gvb::hopper;

constexpr unsigned kStages = gvb::kSm90Stages, kQueriesEach = gvb::kSm90QueriesOfWarpgroup, kWarpgroupThreads = 128;

// 64 columns of a tile, so that each row has the 128 bytes of the swizzle.
template <unsigned kRows>
struct Slab {
  unsigned char rows[kRows][128];
};

template <unsigned kWidth>
struct alignas(1024) Shared {
  static constexpr gvb::AttentionTile kTile = gvb::attention_tile_sm90(kWidth);
  Slab<kTile.queries> queries[kWidth / 64];
  Slab<kTile.keys> keys[kStages][kWidth / 64];
  Slab<kTile.keys> values[kStages][kWidth / 64];
  hw::Barrier queries_full, keys_full[kStages], keys_free[kStages], values_full[kStages], values_free[kStages];
};

struct Maps {
  const hw::TensorMap &q, &k, &v, &out;  // of {width, heads, length, sequences}
};

struct Sizes {
  unsigned length, group;  // heads that share a KV head
  unsigned causal;
  float scale;  // 1/√D · log2(e)
};

// The queries and keys of a block.
template <unsigned kWidth>
struct Range {
  static constexpr gvb::AttentionTile kTile = gvb::attention_tile_sm90(kWidth);
  unsigned first, blocks;

  // With a causal mask later queries see more keys. The longest tiles run first, so that the card does not wait for one
  // at the end.
  __device__ __forceinline__ explicit Range(const Sizes& sizes) {
    first = (gridDim.x - 1 - blockIdx.x) * kTile.queries;
    const unsigned end = sizes.causal ? min(sizes.length, first + kTile.queries) : sizes.length;
    blocks = (end + kTile.keys - 1) / kTile.keys;
  }
  // The start of the j-th block of keys; counts down, so that blocks with masked keys come first.
  __device__ __forceinline__ unsigned start(unsigned j) const { return (blocks - 1 - j) * kTile.keys; }
};

template <unsigned kWidth>
__device__ __forceinline__ void load(Shared<kWidth>& shared, const Maps& maps, const Sizes& sizes) {
  const Range<kWidth> range(sizes);
  const int head = blockIdx.y, kv_head = blockIdx.y / sizes.group, sequence = blockIdx.z;
  const auto load_tile = [&](auto& slabs, const hw::TensorMap& map, hw::Barrier& full, int which, unsigned token) {
    hw::arrive_expecting(&full, sizeof slabs);
#pragma unroll
    for (unsigned slab = 0; slab < kWidth / 64; ++slab)
      hw::load_box(&slabs[slab], map, &full, static_cast<int>(slab * 64), which, static_cast<int>(token), sequence);
  };
  const auto load_keys = [&](unsigned j) {
    hw::wait(&shared.keys_free[j % kStages], j / kStages % 2 ^ 1);
    load_tile(shared.keys[j % kStages], maps.k, shared.keys_full[j % kStages], kv_head, range.start(j));
  };
  const auto load_values = [&](unsigned j) {
    hw::wait(&shared.values_free[j % kStages], j / kStages % 2 ^ 1);
    load_tile(shared.values[j % kStages], maps.v, shared.values_full[j % kStages], kv_head, range.start(j));
  };
  load_tile(shared.queries, maps.q, shared.queries_full, head, range.first);
  load_keys(0);
  for (unsigned j = 1; j < range.blocks; ++j) {
    load_keys(j);
    load_values(j - 1);
  }
  load_values(range.blocks - 1);
}

// One warpgroup's work.
template <class Format, unsigned kWidth>
struct Consumer {
  static constexpr gvb::AttentionTile kTile = gvb::attention_tile_sm90(kWidth);
  static constexpr unsigned kConsumers = gvb::attention_consumers_sm90(kWidth);

  Shared<kWidth>& shared;
  const Sizes& sizes;
  const Range<kWidth> range;
  const unsigned which;  // index among the consumers
  float scores[kTile.keys / 2];
  uint32_t weights[kTile.keys / 16][4];
  float out[kWidth / 2];
  SoftmaxRows rows;

  __device__ __forceinline__ Consumer(Shared<kWidth>& its_shared, const Sizes& its_sizes, unsigned its_which)
      : shared(its_shared), sizes(its_sizes), range(its_sizes), which(its_which) {
#pragma unroll
    for (float& value : out) value = 0;
  }

  __device__ __forceinline__ bool speaks() const { return threadIdx.x % kWarpgroupThreads == 0; }

  // Starts scores = queries · keysᵀ for the j-th block.
  __device__ __forceinline__ void start_scores(unsigned j) {
    hw::fence_multiply();
#pragma unroll
    for (unsigned slab = 0; slab < kWidth / 64; ++slab) {
      const uint64_t left = hw::describe_k_major(shared.queries[slab].rows[which * kQueriesEach]);
      const uint64_t right = hw::describe_k_major(&shared.keys[j % kStages][slab]);
#pragma unroll
      for (unsigned k = 0; k < 4; ++k)
        hw::multiply<Format>(scores, left + hw::descriptor_step(32 * k), right + hw::descriptor_step(32 * k),
                           slab + k > 0);
    }
    hw::commit_multiply();
  }

  // Starts out += weights · values for the j-th block.
  __device__ __forceinline__ void start_out(unsigned j) {
    hw::fence_multiply();
    const uint64_t right = hw::describe_mn_major(&shared.values[j % kStages], sizeof(Slab<kTile.keys>));
#pragma unroll
    for (unsigned k = 0; k < kTile.keys / 16; ++k)
      hw::multiply<Format, true>(out, weights[k], right + hw::descriptor_step(2048 * k));
    hw::commit_multiply();
  }

  __device__ __forceinline__ void wait_for_keys(unsigned j) const {
    hw::wait(&shared.keys_full[j % kStages], j / kStages % 2);
  }
  __device__ __forceinline__ void wait_for_values(unsigned j) const {
    hw::wait(&shared.values_full[j % kStages], j / kStages % 2);
  }
  __device__ __forceinline__ void free_keys(unsigned j) const {
    if (speaks()) hw::arrive(&shared.keys_free[j % kStages]);
  }
  __device__ __forceinline__ void free_values(unsigned j) const {
    if (speaks()) hw::arrive(&shared.values_free[j % kStages]);
  }

  __device__ __forceinline__ unsigned own_row() const {
    return which * kQueriesEach + threadIdx.x % kWarpgroupThreads / 32 * 16 + threadIdx.x % 32 / 4;
  }

  __device__ __forceinline__ void mask(unsigned j) {
    const unsigned start = range.start(j), last = sizes.length - 1, row = range.first + own_row();
    const unsigned unmasked = sizes.causal ? range.first + which * kQueriesEach + 1 : sizes.length;
    if (start + kTile.keys <= unmasked) return;
    const unsigned last_seen[2] = {sizes.causal ? row : last, sizes.causal ? row + 8 : last};
    mask_keys(scores, start + threadIdx.x % 4 * 2, last_seen);
  }

  __device__ __forceinline__ void pack_weights() {
#pragma unroll
    for (unsigned k = 0; k < kTile.keys / 16; ++k) weights_of<Format>(&scores[8 * k], weights[k]);
  }

  // Orders the warpgroups: each starts its products after the previous one has started its own.
  __device__ __forceinline__ void take_turn() const { sync_barrier(1 + which, 2 * kWarpgroupThreads); }
  __device__ __forceinline__ void pass_turn(bool last_step) const {
    if (!last_step || which + 1 < kConsumers) arrive_barrier(1 + (which + 1) % kConsumers, 2 * kWarpgroupThreads);
  }

  // The first block has no earlier values to add.
  __device__ __forceinline__ void first_step() {
    hw::wait(&shared.queries_full, 0);
    wait_for_keys(0);
    start_scores(0);
    hw::wait_multiply<0>();
    hw::hold(scores);
    free_keys(0);
    mask(0);
    float kept[2];
    rows.update(scores, sizes.scale, kept);
    pack_weights();
  }

  __device__ __forceinline__ void step(unsigned j) {
    wait_for_keys(j);
    take_turn();
    start_scores(j);
    wait_for_values(j - 1);
    start_out(j - 1);
    pass_turn(j + 1 == range.blocks);
    hw::wait_multiply<1>();
    hw::hold(scores);
    free_keys(j);
    mask(j);
    float kept[2];
    rows.update(scores, sizes.scale, kept);
    hw::wait_multiply<0>();
    hw::hold(out);
    free_values(j - 1);
    pack_weights();
    scale_rows(out, kept);
  }

  __device__ __forceinline__ void run() {
    if (range.blocks > 1 && which + 1 == kConsumers) pass_turn(false);
    first_step();
    for (unsigned j = 1; j < range.blocks; ++j) step(j);
    const unsigned last = range.blocks - 1;
    wait_for_values(last);
    start_out(last);
    hw::wait_multiply<0>();
    hw::hold(out);
  }

  // Goes through the shared memory of the warpgroup's own queries. The tensor map drops rows after the last query.
  __device__ __forceinline__ void store(const hw::TensorMap& map) {
    const float inverse[2] = {rows.inverse_sum(0), rows.inverse_sum(1)};
    scale_rows(out, inverse);
    const unsigned row = own_row(), lane = threadIdx.x % 32;
#pragma unroll
    for (unsigned group = 0; group < kWidth / 8; ++group)
#pragma unroll
      for (unsigned half = 0; half < 2; ++half)
        store_shared(shared_address(&shared.queries[group / 8]) + swizzled(row + 8 * half, group % 8) + lane % 4 * 4,
                     pack<Format>(out[4 * group + 2 * half], out[4 * group + 2 * half + 1]));
    hw::fence_async();
    sync_barrier(1 + kConsumers + which, kWarpgroupThreads);
    if (!speaks() || range.first + which * kQueriesEach >= sizes.length) return;
#pragma unroll
    for (unsigned slab = 0; slab < kWidth / 64; ++slab)
      hw::store_box(map, shared.queries[slab].rows[which * kQueriesEach], static_cast<int>(slab * 64), blockIdx.y,
                    static_cast<int>(range.first + which * kQueriesEach), blockIdx.z);
    hw::commit_stores();
    hw::wait_stores_read<0>();
  }
};

// Grid: tiles of queries, heads, sequences.
template <class Format, unsigned kWidth>
__device__ __forceinline__ void attend(const Maps& maps, const Sizes& sizes) {
  constexpr unsigned kConsumers = gvb::attention_consumers_sm90(kWidth);
  static_assert(sizeof(Shared<kWidth>) <= gvb::attention_tile_sm90(kWidth).shared_bytes);
  auto& shared = *reinterpret_cast<Shared<kWidth>*>(dynamic_shared());
  if (threadIdx.x == 0) {
    hw::init(&shared.queries_full, 1);
    for (unsigned stage = 0; stage < kStages; ++stage) {
      hw::init(&shared.keys_full[stage], 1);
      hw::init(&shared.values_full[stage], 1);
      hw::init(&shared.keys_free[stage], kConsumers);
      hw::init(&shared.values_free[stage], kConsumers);
    }
    hw::fence_init();
  }
  __syncthreads();
  // Uses a shuffle to tell the compiler that a warp does not diverge here.
  const unsigned which = __shfl_sync(0xffffffffu, threadIdx.x / kWarpgroupThreads, 0);
  if (which == kConsumers) {
    hw::give_registers<kConsumers == 2 ? 40 : 32>();
    if (threadIdx.x == kConsumers * kWarpgroupThreads) load(shared, maps, sizes);
  } else {
    hw::take_registers<kConsumers == 2 ? 232 : 160>();
    Consumer<Format, kWidth> consumer(shared, sizes, which);
    consumer.run();
    consumer.store(maps.out);
  }
}

}  // namespace attention_sm90

#define GVB_ATTENTION_SM90(name, Format, width)                                                                     \
  extern "C" __global__ void __launch_bounds__(gvb::attention_tile_sm90(width).threads, 1)                          \
      name(const __grid_constant__ gvb::hopper::TensorMap q, const __grid_constant__ gvb::hopper::TensorMap k,      \
           const __grid_constant__ gvb::hopper::TensorMap v, const __grid_constant__ gvb::hopper::TensorMap out,    \
           unsigned long long* counter, unsigned length, unsigned group, unsigned causal, float scale) {            \
    attention_sm90::attend<gvb::Format, width>({q, k, v, out}, {length, group, causal, scale});                     \
    count_block(counter);                                                                                           \
  }
