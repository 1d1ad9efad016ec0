// Attention forward with TMA and wgmma: out = softmax(q kᵀ · scale) v. A block stays on its multiprocessor and takes one
// tile of queries of a head after the other, so that the next one's queries and keys arrive while this one ends. One
// thread loads; each of two or three warpgroups computes 64 queries. A warpgroup multiplies the scores of one
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
  Slab<kTile.queries> out[kWidth / 64];
  hw::Barrier queries_full, queries_free;
  hw::Barrier keys_full[kStages], keys_free[kStages], values_full[kStages], values_free[kStages];
  unsigned tile[2];  // this one and the next; `Sizes::tiles` or more: none
};

struct Maps {
  const hw::TensorMap &q, &k, &v, &out;  // of {width, heads, length, sequences}
};

struct Sizes {
  unsigned length, heads, group;  // heads that share a KV head
  unsigned tiles;                 // of all heads and sequences
  unsigned causal;
  float scale;  // 1/√D · log2(e)
};

// The queries and keys of a tile.
template <unsigned kWidth>
struct Range {
  static constexpr gvb::AttentionTile kTile = gvb::attention_tile_sm90(kWidth);
  unsigned head, sequence, first, blocks;

  // With a causal mask later queries see more keys. The longest tiles of a head run first, so that the card does not
  // wait for one at the end.
  __device__ __forceinline__ Range(const Sizes& sizes, unsigned tile) {
    const unsigned of_head = (sizes.length + kTile.queries - 1) / kTile.queries, of_all = tile / of_head;
    head = of_all % sizes.heads;
    sequence = of_all / sizes.heads;
    first = (of_head - 1 - tile % of_head) * kTile.queries;
    const unsigned end = sizes.causal ? min(sizes.length, first + kTile.queries) : sizes.length;
    blocks = (end + kTile.keys - 1) / kTile.keys;
  }
};

// Loads tiles in the order in which the blocks ask for them. The first is that of the block's place; each launch takes as
// many tickets as it has tiles, because every block learns by one ticket that there is no more.
template <unsigned kWidth>
__device__ __forceinline__ void load(Shared<kWidth>& shared, const Maps& maps, const Sizes& sizes,
                                     unsigned long long* tickets) {
  unsigned next = 0;  // blocks of keys are numbered through all tiles
  unsigned tile = blockIdx.x;
  for (unsigned turn = 0; tile < sizes.tiles; ++turn) {
    const Range<kWidth> range(sizes, tile);
    const unsigned end = next + range.blocks, kv_head = range.head / sizes.group;
    const auto load_tile = [&](auto& slabs, const hw::TensorMap& map, hw::Barrier& full, unsigned which, unsigned token) {
      hw::arrive_expecting(&full, sizeof slabs);
#pragma unroll
      for (unsigned slab = 0; slab < kWidth / 64; ++slab)
        hw::load_box(&slabs[slab], map, &full, static_cast<int>(slab * 64), static_cast<int>(which),
                     static_cast<int>(token), static_cast<int>(range.sequence));
    };
    // Counts down, so that blocks with masked keys come first.
    const auto key_of = [&](unsigned n) { return (end - 1 - n) * Range<kWidth>::kTile.keys; };
    const auto load_keys = [&](unsigned n) {
      hw::wait(&shared.keys_free[n % kStages], n / kStages % 2 ^ 1);
      load_tile(shared.keys[n % kStages], maps.k, shared.keys_full[n % kStages], kv_head, key_of(n));
    };
    const auto load_values = [&](unsigned n) {
      hw::wait(&shared.values_free[n % kStages], n / kStages % 2 ^ 1);
      load_tile(shared.values[n % kStages], maps.v, shared.values_full[n % kStages], kv_head, key_of(n));
    };
    load_keys(next);
    hw::wait(&shared.queries_free, turn % 2 ^ 1);
    shared.tile[turn % 2] = tile;
    load_tile(shared.queries, maps.q, shared.queries_full, range.head, range.first);
    for (unsigned n = next + 1; n + 1 < end; ++n) {
      load_keys(n);
      load_values(n - 1);
    }
    // Late, so that no tile waits for a block that has a long one, and early enough to be known when this one is loaded.
    const unsigned long long ticket = atomicAdd(tickets, 1ull);
    if (range.blocks > 1) {
      load_keys(end - 1);
      load_values(end - 2);
    }
    load_values(end - 1);
    next = end;
    tile = gridDim.x + static_cast<unsigned>(ticket % sizes.tiles);
    if (tile < sizes.tiles) continue;
    hw::wait(&shared.queries_free, turn % 2);
    shared.tile[(turn + 1) % 2] = tile;
    hw::arrive(&shared.queries_full);
  }
}

// One warpgroup's work.
template <class Format, unsigned kWidth>
struct Consumer {
  static constexpr gvb::AttentionTile kTile = gvb::attention_tile_sm90(kWidth);
  static constexpr unsigned kConsumers = gvb::attention_consumers_sm90(kWidth);

  Shared<kWidth>& shared;
  const Sizes& sizes;
  const unsigned which;  // index among the consumers
  unsigned first = 0;    // of the queries
  // Blocks of keys are numbered through all tiles; those of this one, and the first of which the mask leaves these
  // queries some keys.
  unsigned begin = 0, seen = 0, end = 0;
  float scores[kTile.keys / 2];
  uint32_t weights[kTile.keys / 16][4];
  float out[kWidth / 2];
  SoftmaxRows rows;

  __device__ __forceinline__ Consumer(Shared<kWidth>& its_shared, const Sizes& its_sizes, unsigned its_which)
      : shared(its_shared), sizes(its_sizes), which(its_which) {}

  // Waits for the queries of a tile; false: there are no more.
  __device__ __forceinline__ bool take_tile(unsigned turn) {
    hw::wait(&shared.queries_full, turn % 2);
    const unsigned tile = shared.tile[turn % 2];
    if (tile >= sizes.tiles) return false;
    const Range<kWidth> range(sizes, tile);
    first = range.first;
    begin = end;
    end = begin + range.blocks;
    const unsigned own_blocks = (first + (which + 1) * kQueriesEach + kTile.keys - 1) / kTile.keys;
    seen = sizes.causal ? end - min(own_blocks, range.blocks) : begin;
    rows = SoftmaxRows();
#pragma unroll
    for (float& value : out) value = 0;
    return true;
  }

  __device__ __forceinline__ bool speaks() const { return threadIdx.x % kWarpgroupThreads == 0; }

  // Starts scores = queries · keysᵀ for the n-th block.
  __device__ __forceinline__ void start_scores(unsigned n) {
    hw::fence_multiply();
#pragma unroll
    for (unsigned slab = 0; slab < kWidth / 64; ++slab) {
      const uint64_t left = hw::describe_k_major(shared.queries[slab].rows[which * kQueriesEach]);
      const uint64_t right = hw::describe_k_major(&shared.keys[n % kStages][slab]);
#pragma unroll
      for (unsigned k = 0; k < 4; ++k)
        hw::multiply<Format>(scores, left + hw::descriptor_step(32 * k), right + hw::descriptor_step(32 * k),
                           slab + k > 0);
    }
    hw::commit_multiply();
  }

  // Starts out += weights · values for the n-th block.
  __device__ __forceinline__ void start_out(unsigned n) {
    hw::fence_multiply();
    const uint64_t right = hw::describe_mn_major(&shared.values[n % kStages], sizeof(Slab<kTile.keys>));
#pragma unroll
    for (unsigned k = 0; k < kTile.keys / 16; ++k)
      hw::multiply<Format, true>(out, weights[k], right + hw::descriptor_step(2048 * k));
    hw::commit_multiply();
  }

  __device__ __forceinline__ void wait_for_keys(unsigned n) const {
    hw::wait(&shared.keys_full[n % kStages], n / kStages % 2);
  }
  __device__ __forceinline__ void wait_for_values(unsigned n) const {
    hw::wait(&shared.values_full[n % kStages], n / kStages % 2);
  }
  __device__ __forceinline__ void free_keys(unsigned n) const {
    if (!speaks()) return;
    hw::arrive(&shared.keys_free[n % kStages]);
    if (n + 1 == end) hw::arrive(&shared.queries_free);
  }
  __device__ __forceinline__ void free_values(unsigned n) const {
    if (speaks()) hw::arrive(&shared.values_free[n % kStages]);
  }

  __device__ __forceinline__ unsigned own_row() const {
    return which * kQueriesEach + threadIdx.x % kWarpgroupThreads / 32 * 16 + threadIdx.x % 32 / 4;
  }

  __device__ __forceinline__ void mask(unsigned n) {
    const unsigned start = (end - 1 - n) * kTile.keys, last = sizes.length - 1, row = first + own_row();
    const unsigned unmasked = sizes.causal ? first + which * kQueriesEach + 1 : sizes.length;
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

  // Every warpgroup has a turn in every step but the first of a tile.
  __device__ __forceinline__ void take_turn_of(unsigned n) const {
    if (n > begin) take_turn();
  }
  __device__ __forceinline__ void pass_turn_of(unsigned n) const {
    if (n > begin) pass_turn(n + 1 == end);
  }

  __device__ __forceinline__ void skip(unsigned n) const {
    wait_for_keys(n);
    take_turn_of(n);
    pass_turn_of(n);
    free_keys(n);
    wait_for_values(n);
    free_values(n);
  }

  // The first block that is seen has no earlier values to add.
  __device__ __forceinline__ void first_step() {
    wait_for_keys(seen);
    take_turn_of(seen);
    start_scores(seen);
    pass_turn_of(seen);
    hw::wait_multiply<0>();
    hw::hold(scores);
    free_keys(seen);
    mask(seen);
    float kept[2];
    rows.update(scores, sizes.scale, kept);
    pack_weights();
  }

  __device__ __forceinline__ void step(unsigned n) {
    wait_for_keys(n);
    take_turn();
    start_scores(n);
    wait_for_values(n - 1);
    start_out(n - 1);
    pass_turn(n + 1 == end);
    hw::wait_multiply<1>();
    hw::hold(scores);
    free_keys(n);
    mask(n);
    float kept[2];
    rows.update(scores, sizes.scale, kept);
    hw::wait_multiply<0>();
    hw::hold(out);
    free_values(n - 1);
    pack_weights();
    scale_rows(out, kept);
  }

  __device__ __forceinline__ void run() {
    if (end > begin + 1 && which + 1 == kConsumers) pass_turn(false);
    for (unsigned n = begin; n < seen; ++n) skip(n);
    first_step();
    for (unsigned n = seen + 1; n < end; ++n) step(n);
    wait_for_values(end - 1);
    start_out(end - 1);
    hw::wait_multiply<0>();
    hw::hold(out);
    free_values(end - 1);
  }

  // Goes through shared memory, from which the previous tile must have been stored. The tensor map drops rows after the
  // last query.
  __device__ __forceinline__ void store(const hw::TensorMap& map, unsigned turn) {
    const float inverse[2] = {rows.inverse_sum(0), rows.inverse_sum(1)};
    scale_rows(out, inverse);
    wait_for_store();
    sync_barrier(1 + kConsumers + which, kWarpgroupThreads);
    const unsigned row = own_row(), lane = threadIdx.x % 32;
#pragma unroll
    for (unsigned group = 0; group < kWidth / 8; ++group)
#pragma unroll
      for (unsigned half = 0; half < 2; ++half)
        store_shared(shared_address(&shared.out[group / 8]) + swizzled(row + 8 * half, group % 8) + lane % 4 * 4,
                     pack<Format>(out[4 * group + 2 * half], out[4 * group + 2 * half + 1]));
    hw::fence_async();
    sync_barrier(1 + kConsumers + which, kWarpgroupThreads);
    if (!speaks() || first + which * kQueriesEach >= sizes.length) return;
    const Range<kWidth> range(sizes, shared.tile[turn % 2]);
#pragma unroll
    for (unsigned slab = 0; slab < kWidth / 64; ++slab)
      hw::store_box(map, shared.out[slab].rows[which * kQueriesEach], static_cast<int>(slab * 64),
                    static_cast<int>(range.head), static_cast<int>(first + which * kQueriesEach),
                    static_cast<int>(range.sequence));
    hw::commit_stores();
  }

  __device__ __forceinline__ void wait_for_store() const {
    if (speaks()) hw::wait_stores_read<0>();
  }
};

// Grid: at most as many blocks as there are tiles. `tickets`: a multiple of the tiles, which only these launches change.
// `counter`, if there is one: every tile that was computed adds 1.
template <class Format, unsigned kWidth>
__device__ __forceinline__ void attend(const Maps& maps, const Sizes& sizes, unsigned long long* tickets,
                                       unsigned long long* counter) {
  constexpr unsigned kConsumers = gvb::attention_consumers_sm90(kWidth);
  static_assert(sizeof(Shared<kWidth>) <= gvb::attention_tile_sm90(kWidth).shared_bytes);
  auto& shared = *reinterpret_cast<Shared<kWidth>*>(dynamic_shared());
  if (threadIdx.x == 0) {
    hw::init(&shared.queries_full, 1);
    hw::init(&shared.queries_free, kConsumers);
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
    if (threadIdx.x == kConsumers * kWarpgroupThreads) load(shared, maps, sizes, tickets);
  } else {
    hw::take_registers<kConsumers == 2 ? 232 : 160>();
    Consumer<Format, kWidth> consumer(shared, sizes, which);
    unsigned computed = 0;
    while (consumer.take_tile(computed)) {
      consumer.run();
      consumer.store(maps.out, computed);
      ++computed;
    }
    consumer.wait_for_store();
    if (counter != nullptr && threadIdx.x == 0) atomicAdd(counter, static_cast<unsigned long long>(computed));
  }
}

}  // namespace attention_sm90

#define GVB_ATTENTION_SM90(name, Format, width)                                                                     \
  extern "C" __global__ void __launch_bounds__(gvb::attention_tile_sm90(width).threads, 1)                          \
      name(const __grid_constant__ gvb::hopper::TensorMap q, const __grid_constant__ gvb::hopper::TensorMap k,      \
           const __grid_constant__ gvb::hopper::TensorMap v, const __grid_constant__ gvb::hopper::TensorMap out,    \
           unsigned long long* counter, unsigned long long* tickets, unsigned length, unsigned heads,               \
           unsigned group, unsigned tiles, unsigned causal, float scale) {                                          \
    attention_sm90::attend<gvb::Format, width>({q, k, v, out}, {length, heads, group, tiles, causal, scale},        \
                                               tickets, counter);                                                   \
  }
