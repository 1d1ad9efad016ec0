// Attention forward with TMA and wgmma: out = softmax(q kᵀ · scale) v. A block stays on its multiprocessor and takes
// one tile of queries of a head after the other, so that the next one's queries and keys arrive while this one ends.
// One thread loads; each of two or three warpgroups computes 64 queries. A warpgroup multiplies the scores of one block
// of keys while it adds the values of the previous one and computes its weights. The warpgroups alternate on the tensor
// cores, so that one's exponentials overlap with another's products (the schedule of FlashAttention-3, arXiv
// 2407.08608). attention_sm90_pipelined.cuh has another schedule, for a head
// dimension of 64.
#pragma once

#include "attention_block.cuh"
#include "kernels/hopper.cuh"

namespace attention_sm90 {

namespace hw = gvb::hopper;

constexpr unsigned kQueriesEach = gvb::kSm90QueriesOfWarpgroup, kWarpgroupThreads = 128;

// 64 columns of a tile, so that each row has the 128 bytes of the swizzle.
template <unsigned kRows>
struct Slab {
  unsigned char rows[kRows][128];
};

// What every schedule needs.
template <unsigned kWidth>
struct Memory {
  static constexpr unsigned kColumns = kWidth;
  static constexpr unsigned kStages = gvb::attention_stages_sm90(kWidth);
  static constexpr unsigned kQueryTiles = gvb::attention_query_tiles_sm90(kWidth);
  static constexpr gvb::AttentionTile kTile = gvb::attention_tile_sm90(kWidth);
  Slab<kTile.queries> queries[kQueryTiles][kWidth / 64];
  Slab<kTile.keys> keys[kStages][kWidth / 64];
  Slab<kTile.keys> values[kStages][kWidth / 64];
  Slab<kTile.queries> out[kWidth / 64];
  hw::Barrier queries_full[kQueryTiles], queries_free[kQueryTiles];
  hw::Barrier keys_full[kStages], keys_free[kStages], values_full[kStages], values_free[kStages];

  __device__ __forceinline__ void init() {
    constexpr unsigned kConsumers = gvb::attention_consumers_sm90(kWidth);
    for (unsigned i = 0; i < kQueryTiles; ++i) {
      hw::init(&queries_full[i], 1);
      hw::init(&queries_free[i], kConsumers);
    }
    for (unsigned stage = 0; stage < kStages; ++stage) {
      hw::init(&keys_full[stage], 1);
      hw::init(&values_full[stage], 1);
      hw::init(&keys_free[stage], kConsumers);
      hw::init(&values_free[stage], kConsumers);
    }
    hw::fence_init();
  }
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

template <unsigned kWidth>
struct alignas(1024) Shared : Memory<kWidth> {
  unsigned tile[2];  // this one and the next; `Sizes::tiles` or more: none

  __device__ __forceinline__ void announce(unsigned turn, unsigned which, const Range<kWidth>&) {
    tile[turn % 2] = which;
  }
  __device__ __forceinline__ void announce_end(unsigned turn, unsigned which) { tile[turn % 2] = which; }
};

// Loads tiles in the order in which the blocks ask for them. The first is that of the block's place; each launch takes
// as many tickets as it has tiles, because every block learns by one ticket that there is no more.
template <class Shared>
__device__ __forceinline__ void load(Shared& shared, const Maps& maps, const Sizes& sizes,
                                     unsigned long long* tickets) {
  constexpr unsigned kWidth = Shared::kColumns, kStages = Shared::kStages, kQueryTiles = Shared::kQueryTiles;
  unsigned next = 0;  // blocks of keys are numbered through all tiles
  unsigned tile = blockIdx.x;
  for (unsigned turn = 0; tile < sizes.tiles; ++turn) {
    const Range<kWidth> range(sizes, tile);
    const unsigned end = next + range.blocks, kv_head = range.head / sizes.group;
    const auto load_tile = [&](auto& slabs, const hw::TensorMap& map, hw::Barrier& full, unsigned which,
                               unsigned token) {
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
    const unsigned at = turn % kQueryTiles;
    hw::wait(&shared.queries_free[at], turn / kQueryTiles % 2 ^ 1);
    shared.announce(turn, tile, range);
    load_tile(shared.queries[at], maps.q, shared.queries_full[at], range.head, range.first);
    for (unsigned n = next + 1; n + 1 < end; ++n) {
      load_keys(n);
      load_values(n - 1);
    }
    // Late, so that no tile waits for a block that has a long one, and early enough to be known when this one is
    // loaded.
    const unsigned long long ticket = atomicAdd(tickets, 1ull);
    if (range.blocks > 1) {
      load_keys(end - 1);
      load_values(end - 2);
    }
    load_values(end - 1);
    next = end;
    tile = gridDim.x + static_cast<unsigned>(ticket % sizes.tiles);
    if (tile < sizes.tiles) continue;
    const unsigned last = turn + 1;
    hw::wait(&shared.queries_free[last % kQueryTiles], last / kQueryTiles % 2 ^ 1);
    shared.announce_end(last, tile);
    hw::arrive(&shared.queries_full[last % kQueryTiles]);
  }
}

// What a warpgroup does in every schedule.
template <class Format, unsigned kWidth, class ItsShared>
struct Steps {
  using Shared = ItsShared;
  static constexpr gvb::AttentionTile kTile = gvb::attention_tile_sm90(kWidth);
  static constexpr unsigned kConsumers = gvb::attention_consumers_sm90(kWidth);
  static constexpr unsigned kStages = Shared::kStages;

  Shared& shared;
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

  __device__ __forceinline__ Steps(Shared& its_shared, const Sizes& its_sizes, unsigned its_which)
      : shared(its_shared), sizes(its_sizes), which(its_which) {}

  __device__ __forceinline__ bool speaks() const { return threadIdx.x % kWarpgroupThreads == 0; }

  // Returns the scores of the first kKeys of a block.
  template <unsigned kKeys>
  __device__ __forceinline__ float (&first_scores())[kKeys / 2] {
    return reinterpret_cast<float(&)[kKeys / 2]>(scores);
  }

  // Starts scores = queries · keysᵀ for the first kKeys of the n-th block.
  template <unsigned kKeys = kTile.keys, class Queries>
  __device__ __forceinline__ void start_scores(const Queries& queries, unsigned n) {
    hw::fence_multiply();
#pragma unroll
    for (unsigned slab = 0; slab < kWidth / 64; ++slab) {
      const uint64_t left = hw::describe_k_major(queries[slab].rows[which * kQueriesEach]);
      const uint64_t right = hw::describe_k_major(&shared.keys[n % kStages][slab]);
#pragma unroll
      for (unsigned k = 0; k < 4; ++k)
        hw::multiply<Format>(first_scores<kKeys>(), left + hw::descriptor_step(32 * k),
                             right + hw::descriptor_step(32 * k), slab + k > 0);
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
  __device__ __forceinline__ void free_values(unsigned n) const {
    if (speaks()) hw::arrive(&shared.values_free[n % kStages]);
  }

  __device__ __forceinline__ unsigned own_row() const {
    return which * kQueriesEach + threadIdx.x % kWarpgroupThreads / 32 * 16 + threadIdx.x % 32 / 4;
  }

  // Keys after the first kKeys weigh nothing.
  template <unsigned kKeys = kTile.keys>
  __device__ __forceinline__ void pack_weights() {
#pragma unroll
    for (unsigned k = 0; k < kKeys / 16; ++k) weights_of<Format>(&scores[8 * k], weights[k]);
#pragma unroll
    for (unsigned k = kKeys / 16; k < kTile.keys / 16; ++k)
#pragma unroll
      for (uint32_t& pair : weights[k]) pair = 0;
  }

  // Orders the warpgroups: each starts its products after the previous one has started its own.
  __device__ __forceinline__ void take_turn() const { sync_barrier(1 + which, 2 * kWarpgroupThreads); }
  __device__ __forceinline__ void pass_turn(bool last_step) const {
    if (!last_step || which + 1 < kConsumers) arrive_barrier(1 + (which + 1) % kConsumers, 2 * kWarpgroupThreads);
  }

  // Goes through shared memory, from which the previous tile must have been stored. The tensor map drops rows after the
  // last query.
  template <class PlaceOf>
  __device__ __forceinline__ void store(const hw::TensorMap& map, const float (&inverse)[2], unsigned its_first,
                                        const PlaceOf& place_of) {
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
    if (!speaks() || its_first + which * kQueriesEach >= sizes.length) return;
    const auto place = place_of();
#pragma unroll
    for (unsigned slab = 0; slab < kWidth / 64; ++slab)
      hw::store_box(map, shared.out[slab].rows[which * kQueriesEach], static_cast<int>(slab * 64),
                    static_cast<int>(place.head), static_cast<int>(its_first + which * kQueriesEach),
                    static_cast<int>(place.sequence));
    hw::commit_stores();
  }

  __device__ __forceinline__ void wait_for_store() const {
    if (speaks()) hw::wait_stores_read<0>();
  }
};

// Ends a tile before it begins the next one.
template <class Format, unsigned kWidth>
struct Consumer : Steps<Format, kWidth, Shared<kWidth>> {
  using Base = Steps<Format, kWidth, Shared<kWidth>>;
  using Base::Base, Base::kTile, Base::kConsumers, Base::kStages, Base::shared, Base::sizes, Base::which, Base::first,
      Base::begin, Base::seen, Base::end, Base::scores, Base::out, Base::rows;

  // Waits for the queries of a tile; false: there are no more.
  __device__ __forceinline__ bool take_tile(unsigned turn) {
    hw::wait(&shared.queries_full[0], turn % 2);
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

  __device__ __forceinline__ void free_keys(unsigned n) const {
    if (!this->speaks()) return;
    hw::arrive(&shared.keys_free[n % kStages]);
    if (n + 1 == end) hw::arrive(&shared.queries_free[0]);
  }
  __device__ __forceinline__ void mask(unsigned n) {
    const unsigned start = (end - 1 - n) * kTile.keys, last = sizes.length - 1, row = first + this->own_row();
    const unsigned unmasked = sizes.causal ? first + which * kQueriesEach + 1 : sizes.length;
    if (start + kTile.keys <= unmasked) return;
    const unsigned last_seen[2] = {sizes.causal ? row : last, sizes.causal ? row + 8 : last};
    mask_keys(scores, start + threadIdx.x % 4 * 2, last_seen);
  }

  // Every warpgroup has a turn in every step but the first of a tile.
  __device__ __forceinline__ void take_turn_of(unsigned n) const {
    if (n > begin) this->take_turn();
  }
  __device__ __forceinline__ void pass_turn_of(unsigned n) const {
    if (n > begin) this->pass_turn(n + 1 == end);
  }

  __device__ __forceinline__ void skip(unsigned n) const {
    this->wait_for_keys(n);
    take_turn_of(n);
    pass_turn_of(n);
    free_keys(n);
    this->wait_for_values(n);
    this->free_values(n);
  }

  // The first block that is seen has no earlier values to add.
  __device__ __forceinline__ void first_step() {
    this->wait_for_keys(seen);
    take_turn_of(seen);
    this->start_scores(shared.queries[0], seen);
    pass_turn_of(seen);
    hw::wait_multiply<0>();
    hw::hold(scores);
    free_keys(seen);
    mask(seen);
    float kept[2];
    rows.update(scores, sizes.scale, kept);
    this->pack_weights();
  }

  __device__ __forceinline__ void step(unsigned n) {
    this->wait_for_keys(n);
    this->take_turn();
    this->start_scores(shared.queries[0], n);
    this->wait_for_values(n - 1);
    this->start_out(n - 1);
    this->pass_turn(n + 1 == end);
    hw::wait_multiply<1>();
    hw::hold(scores);
    free_keys(n);
    mask(n);
    float kept[2];
    rows.update(scores, sizes.scale, kept);
    hw::wait_multiply<0>();
    hw::hold(out);
    this->free_values(n - 1);
    this->pack_weights();
    scale_rows(out, kept);
  }

  __device__ __forceinline__ void run() {
    if (end > begin + 1 && which + 1 == kConsumers) this->pass_turn(false);
    for (unsigned n = begin; n < seen; ++n) skip(n);
    first_step();
    for (unsigned n = seen + 1; n < end; ++n) step(n);
    this->wait_for_values(end - 1);
    this->start_out(end - 1);
    hw::wait_multiply<0>();
    hw::hold(out);
    this->free_values(end - 1);
  }

  // Returns how many tiles it took.
  __device__ __forceinline__ unsigned attend(const hw::TensorMap& map) {
    unsigned computed = 0;
    while (take_tile(computed)) {
      run();
      const float inverse[2] = {rows.inverse_sum(0), rows.inverse_sum(1)};
      this->store(map, inverse, first, [&] { return Range<kWidth>(sizes, shared.tile[computed % 2]); });
      ++computed;
    }
    this->wait_for_store();
    return computed;
  }
};

// Grid: at most as many blocks as there are tiles. `tickets`: a multiple of the tiles, which only these launches
// change. `counter`, if there is one: every tile that was computed adds 1.
template <class Consumer>
__device__ __forceinline__ void attend(const Maps& maps, const Sizes& sizes, unsigned long long* tickets,
                                       unsigned long long* counter) {
  using Shared = typename Consumer::Shared;
  constexpr unsigned kConsumers = Consumer::kConsumers;
  static_assert(sizeof(Shared) <= Consumer::kTile.shared_bytes);
  auto& shared = *reinterpret_cast<Shared*>(dynamic_shared());
  if (threadIdx.x == 0) shared.init();
  __syncthreads();
  // Uses a shuffle to tell the compiler that a warp does not diverge here.
  const unsigned which = __shfl_sync(0xffffffffu, threadIdx.x / kWarpgroupThreads, 0);
  if (which == kConsumers) {
    hw::give_registers<kConsumers == 2 ? 40 : 32>();
    if (threadIdx.x == kConsumers * kWarpgroupThreads) load(shared, maps, sizes, tickets);
  } else {
    hw::take_registers<kConsumers == 2 ? 232 : 160>();
    Consumer consumer(shared, sizes, which);
    const unsigned computed = consumer.attend(maps.out);
    if (counter != nullptr && threadIdx.x == 0) atomicAdd(counter, static_cast<unsigned long long>(computed));
  }
}

}  // namespace attention_sm90

#define GVB_ATTENTION_SM90(name, Consumer, Format, width)                                                             \
  extern "C" __global__ void __launch_bounds__(gvb::attention_tile_sm90(width).threads, 1)                            \
      name(const __grid_constant__ gvb::hopper::TensorMap q, const __grid_constant__ gvb::hopper::TensorMap k,        \
           const __grid_constant__ gvb::hopper::TensorMap v, const __grid_constant__ gvb::hopper::TensorMap out,      \
           unsigned long long* counter, unsigned long long* tickets, unsigned length, unsigned heads, unsigned group, \
           unsigned tiles, unsigned causal, float scale) {                                                            \
    attention_sm90::attend<attention_sm90::Consumer<gvb::Format, width>>(                                             \
        {q, k, v, out}, {length, heads, group, tiles, causal, scale}, tickets, counter);                              \
  }
