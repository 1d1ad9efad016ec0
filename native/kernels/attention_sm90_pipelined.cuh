// The schedule of attention_sm90.cuh without a gap between tiles: a warpgroup multiplies the first scores of a tile
// while it adds the last values of the previous one, and leaves out tiles in which it has no queries. Needs room for
// the queries of two tiles and more than two blocks of keys. On an H200 it makes head dimension 64 up to 19 % faster;
// with 128, where two blocks fit, short sequences without a mask would be 1 to 2 % slower.
#pragma once

#include "attention_sm90.cuh"

namespace attention_sm90 {

// Where a tile is. No blocks of keys: there are no more tiles.
struct Place {
  unsigned first, blocks, head, sequence;
};

template <unsigned kWidth>
struct alignas(1024) PipelinedShared : Memory<kWidth> {
  // Of the last tiles. A warpgroup stores a tile before it frees the queries of the next one, so a place is free again
  // when it is written.
  Place places[4];

  __device__ __forceinline__ void announce(unsigned turn, unsigned, const Range<kWidth>& range) {
    places[turn % 4] = {range.first, range.blocks, range.head, range.sequence};
  }
  __device__ __forceinline__ void announce_end(unsigned turn, unsigned) { places[turn % 4].blocks = 0; }
};

template <class Format, unsigned kWidth>
struct PipelinedConsumer : Steps<Format, kWidth, PipelinedShared<kWidth>> {
  using Base = Steps<Format, kWidth, PipelinedShared<kWidth>>;
  using Base::Base, Base::kTile, Base::kConsumers, Base::kStages, Base::shared, Base::sizes, Base::which, Base::first,
      Base::begin, Base::seen, Base::end, Base::scores, Base::out, Base::rows;
  static_assert(PipelinedShared<kWidth>::kQueryTiles == 2);
  // A warpgroup skips so many blocks of keys while the values of the block before them are in use.
  static_assert(kStages >= 2 + (kTile.queries - kQueriesEach) / kTile.keys);

  unsigned turn = 0;  // tiles that were taken
  float kept[2];      // the factors by which `out` shrinks before the next values are added

  // Waits for the queries of the next tile; false: there are no more.
  __device__ __forceinline__ bool take_tile() {
    hw::wait(&shared.queries_full[turn % 2], turn / 2 % 2);
    const Place& place = shared.places[turn % 4];
    const unsigned blocks = place.blocks;
    if (blocks == 0) return false;
    first = place.first;
    begin = end;
    end = begin + blocks;
    const unsigned own_blocks = (first + (which + 1) * kQueriesEach + kTile.keys - 1) / kTile.keys;
    seen = sizes.causal ? end - min(own_blocks, blocks) : begin;
    ++turn;
    return true;
  }

  __device__ __forceinline__ void clear_out() {
#pragma unroll
    for (float& value : out) value = 0;
  }

  template <unsigned kKeys = kTile.keys>
  __device__ __forceinline__ void start_scores(unsigned n) {
    Base::template start_scores<kKeys>(shared.queries[(turn - 1) % 2], n);
  }

  // Shrinks the sums here, while the tensor cores multiply the scores.
  __device__ __forceinline__ void start_out(unsigned n) {
    scale_rows(out, kept);
    Base::start_out(n);
  }

  __device__ __forceinline__ void free_keys(unsigned n) const {
    if (!this->speaks()) return;
    hw::arrive(&shared.keys_free[n % kStages]);
    if (n + 1 == end) hw::arrive(&shared.queries_free[(turn - 1) % 2]);
  }

  // Masks the keys after the last one that a row sees, as mask_keys does, but compares with constants.
  template <unsigned kKeys>
  __device__ __forceinline__ void mask(unsigned n) {
    const unsigned start = (end - 1 - n) * kTile.keys, last = sizes.length - 1, row = first + this->own_row();
    const unsigned unmasked = sizes.causal ? first + which * kQueriesEach + 1 : sizes.length;
    if (start + kKeys <= unmasked) return;
    const unsigned column = start + threadIdx.x % 4 * 2;
    const int last_seen[2] = {static_cast<int>((sizes.causal ? row : last) - column),
                              static_cast<int>((sizes.causal ? row + 8 : last) - column)};
#pragma unroll
    for (unsigned i = 0; i < kKeys / 2; ++i)
      if (static_cast<int>(i / 4 * 8 + i % 2) > last_seen[i / 2 % 2]) scores[i] = -INFINITY;
  }

  // Blocks of keys that these queries do not see.
  __device__ __forceinline__ void skip() const {
    for (unsigned n = begin; n < seen; ++n) {
      this->wait_for_keys(n);
      this->take_turn();
      this->pass_turn(false);
      free_keys(n);
      this->wait_for_values(n);
      this->free_values(n);
    }
  }

  template <unsigned kKeys = kTile.keys>
  __device__ __forceinline__ void update(unsigned n) {
    hw::hold(this->template first_scores<kKeys>());
    free_keys(n);
    mask<kKeys>(n);
    rows.update(this->template first_scores<kKeys>(), sizes.scale, kept);
  }

  // A step without earlier values to add.
  __device__ __forceinline__ void first_step() {
    this->wait_for_keys(seen);
    this->take_turn();
    start_scores(seen);
    this->pass_turn(false);
    hw::wait_multiply<0>();
    update(seen);
    this->pack_weights();
    clear_out();
  }

  __device__ __forceinline__ void step(unsigned n) {
    this->wait_for_keys(n);
    this->take_turn();
    start_scores(n);
    this->wait_for_values(n - 1);
    start_out(n - 1);
    this->pass_turn(false);
    hw::wait_multiply<1>();
    update(n);
    hw::wait_multiply<0>();
    hw::hold(out);
    this->free_values(n - 1);
    this->pack_weights();
  }

  __device__ __forceinline__ void store(const hw::TensorMap& map, const float (&inverse)[2], const Place& place) {
    Base::store(map, inverse, place.first, [&]() -> const Place& { return place; });
  }

  // The first step of a tile, and the end of the one before it. kKeys: those of the block that these queries see.
  template <unsigned kKeys>
  __device__ __forceinline__ void change_tile(const hw::TensorMap& map) {
    this->wait_for_keys(seen);
    this->take_turn();
    start_scores<kKeys>(seen);
    this->wait_for_values(begin - 1);
    start_out(begin - 1);
    this->pass_turn(false);
    const float inverse[2] = {rows.inverse_sum(0), rows.inverse_sum(1)};
    rows = SoftmaxRows();
    hw::wait_multiply<1>();
    update<kKeys>(seen);
    hw::wait_multiply<0>();
    hw::hold(out);
    this->free_values(begin - 1);
    this->template pack_weights<kKeys>();
    store(map, inverse, shared.places[(turn - 2) % 4]);
    clear_out();
  }

  // The end of a tile that no other one follows at once.
  __device__ __forceinline__ void finish(const hw::TensorMap& map, unsigned its_turn, unsigned its_end) {
    this->wait_for_values(its_end - 1);
    start_out(its_end - 1);
    const float inverse[2] = {rows.inverse_sum(0), rows.inverse_sum(1)};
    rows = SoftmaxRows();
    hw::wait_multiply<0>();
    hw::hold(out);
    this->free_values(its_end - 1);
    store(map, inverse, shared.places[its_turn % 4]);
  }

  // Whether the mask leaves all of these queries no more than half of the first block of keys.
  __device__ __forceinline__ bool sees_half() const {
    return sizes.causal && first + (which + 1) * kQueriesEach <= (end - 1 - seen) * kTile.keys + kTile.keys / 2;
  }

  // Returns how many tiles it took. One loop, left at one place: with two, ptxas 13.0 no longer knows that the numbers
  // of blocks are the same for a warp, and moves descriptors through ordinary registers (measured: 2 to 11 %).
  __device__ __forceinline__ unsigned attend(const hw::TensorMap& map) {
    if (which + 1 == kConsumers) this->pass_turn(false);
    bool begun = false;  // whether values are left to be added
    while (true) {
      const bool more = take_tile(), idle = first + which * kQueriesEach >= sizes.length;
      if (!more || idle) {
        if (begun) finish(map, more ? turn - 2 : turn - 1, more ? begin : end);
        begun = false;
        if (!more) break;
        seen = end;
        skip();
        continue;
      }
      skip();
      if (!begun)
        first_step();
      else if (sees_half())
        change_tile<kTile.keys / 2>(map);
      else
        change_tile<kTile.keys>(map);
      begun = true;
      for (unsigned n = seen + 1; n < end; ++n) step(n);
    }
    this->wait_for_store();
    if (which == 0) this->take_turn();  // the last one that was passed
    return turn;
  }
};

}  // namespace attention_sm90
