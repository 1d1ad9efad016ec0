// C = A · Bᵀ on Hopper with TMA and wgmma; sums in single precision. A and B are m × k and n × k, C is m × n, all in
// row-major order. Sizes need not be multiples of a tile: TMA reads zeros outside a matrix and writes nothing there.
//
// fast.cu (github.com/pranjalssh/fast.cu) has published the gain of each of these choices: a tile of 128 × 256 for two
// warpgroups of 64 rows, a third warpgroup that loads, persistent blocks, two blocks that share the loads of B, and
// tiles stored by TMA.
#pragma once

#include "kernels/gemm_shape.h"
#include "kernels/hopper.cuh"
#include "kernels/tile_order.cuh"

namespace gvb::gemm_sm90 {

using namespace hopper;

constexpr unsigned kPairsOfGroup = 8;

struct GemmExtent {
  unsigned m, n, k;
};

// The tiles of one block, in order; both blocks of a cluster get tiles of the same columns, one below the other.
class Tiles {
 public:
  GVB_DEVICE explicit Tiles(const GemmExtent& extent)
      : pairs_down_((extent.m + 2 * kTileRows - 1) / (2 * kTileRows)),
        across_((extent.n + kTileColumns - 1) / kTileColumns),
        next_(blockIdx.x / kBlocksOfCluster) {}

  GVB_DEVICE bool take() {
    if (next_ >= pairs_down_ * across_) return false;
    const TilePlace place = place_of_tile(next_, pairs_down_, across_, kPairsOfGroup);
    row_ = (place.row * kBlocksOfCluster + rank_in_cluster()) * kTileRows;
    column_ = place.column * kTileColumns;
    next_ += gridDim.x / kBlocksOfCluster;
    return true;
  }
  GVB_DEVICE int row() const { return static_cast<int>(row_); }
  GVB_DEVICE int column() const { return static_cast<int>(column_); }

 private:
  const unsigned pairs_down_, across_;
  unsigned next_, row_ = 0, column_ = 0;
};

// A ring of stages: full[i] completes when its tiles have arrived, empty[i] when both blocks' consumers are done with
// it.
class Ring {
 public:
  GVB_DEVICE Ring() : shared_(dynamic_shared()), full_(reinterpret_cast<Barrier*>(shared_ + kBarriersAt)) {}

  GVB_DEVICE void initialise() const {
    for (unsigned i = 0; i < kStages; ++i) {
      init(&full_[i], 1);
      init(&full_[kStages + i], kConsumers * kBlocksOfCluster);
    }
    fence_init();
  }
  GVB_DEVICE unsigned char* tile_a() const { return shared_ + stage_ * kStageBytes; }
  GVB_DEVICE unsigned char* tile_b() const { return tile_a() + kTileABytes; }
  GVB_DEVICE unsigned char* stored(unsigned consumer) const {
    return shared_ + kStages * kStageBytes + consumer * kBoxes * kBoxBytes;
  }
  GVB_DEVICE Barrier* full() const { return &full_[stage_]; }
  GVB_DEVICE void wait_full() const { wait(&full_[stage_], parity_); }
  GVB_DEVICE void wait_empty() const { wait_cluster(&full_[kStages + stage_], parity_ ^ 1); }
  // Called by a warpgroup for a stage that it has used.
  GVB_DEVICE void release(unsigned stage) const {
    const unsigned thread = threadIdx.x % kWarpgroupThreads;
    if (thread < kBlocksOfCluster) arrive_at(&full_[kStages + stage], thread);
  }
  GVB_DEVICE unsigned stage() const { return stage_; }
  GVB_DEVICE void advance() {
    if (++stage_ < kStages) return;
    stage_ = 0;
    parity_ ^= 1;
  }

 private:
  unsigned char* shared_;
  Barrier* full_;
  unsigned stage_ = 0, parity_ = 0;
};

// Called by one thread. Each block loads its A and half of the B that both use.
GVB_DEVICE void load_tiles(const TensorMap& a, const TensorMap& b, const GemmExtent& extent, unsigned depth) {
  constexpr unsigned kHalf = kTileColumns / kBlocksOfCluster;
  const unsigned rank = rank_in_cluster();
  Ring ring;
  for (Tiles tiles(extent); tiles.take();)
    for (unsigned k = 0; k < extent.k; k += depth, ring.advance()) {
      ring.wait_empty();
      arrive_expecting(ring.full(), kStageBytes);
      load_box(ring.tile_a(), a, ring.full(), static_cast<int>(k), tiles.row());
      load_box_to((1 << kBlocksOfCluster) - 1, ring.tile_b() + rank * kHalf * kRowBytes, b, ring.full(),
                  static_cast<int>(k), tiles.column() + static_cast<int>(rank * kHalf));
    }
}

// The sums of this warpgroup's 64 rows of a tile. While a stage is multiplied, the previous one is released.
template <class Format>
GVB_DEVICE void multiply_tile(float (&sums)[kTileColumns / 2], Ring& ring, unsigned consumer, unsigned steps) {
  unsigned before = 0;
  for (unsigned step = 0; step < steps; ++step, ring.advance()) {
    ring.wait_full();
    const uint64_t a = describe_k_major(ring.tile_a() + consumer * 64 * kRowBytes);
    const uint64_t b = describe_k_major(ring.tile_b());
    fence_multiply();
#pragma unroll
    for (unsigned part = 0; part < kRowBytes / 32; ++part)
      multiply<Format>(sums, a + descriptor_step(part * 32), b + descriptor_step(part * 32), step + part > 0);
    commit_multiply();
    wait_multiply<1>();
    if (step > 0) ring.release(before);
    before = ring.stage();
  }
  wait_multiply<0>();
  hold(sums);
  ring.release(before);
}

template <class Output>
GVB_DEVICE void store_tile(const float (&sums)[kTileColumns / 2], const TensorMap& c, unsigned char* stored,
                           unsigned consumer, const Tiles& tiles) {
  const unsigned thread = threadIdx.x % kWarpgroupThreads, lane = thread % 32, barrier = 1 + consumer;
  const unsigned row = thread / 32 * 16 + lane % 16;
#pragma unroll
  for (unsigned box = 0; box < kTileColumns / kBoxColumns; ++box) {
    unsigned char* place = stored + box % kBoxes * kBoxBytes;
    // Waits until what was there has been stored.
    if (thread == 0) wait_stores_read<kBoxes - 1>();
    sync_barrier(barrier, kWarpgroupThreads);
#pragma unroll
    for (unsigned i = 0; i < kBoxColumns / 16; ++i) {
      const unsigned first = box * (kBoxColumns / 2) + 8 * i;
      uint32_t packed[4];
#pragma unroll
      for (unsigned j = 0; j < 4; ++j) packed[j] = pack<Output>(sums[first + 2 * j], sums[first + 2 * j + 1]);
      store_matrices(shared_address(place) + swizzled(row, i * 2 + lane / 16), packed);
    }
    fence_async();
    sync_barrier(barrier, kWarpgroupThreads);
    if (thread != 0) continue;
    store_box(c, place, tiles.column() + static_cast<int>(box * kBoxColumns),
              tiles.row() + static_cast<int>(consumer * kRowsOfStore));
    commit_stores();
  }
}

template <class Format, class Output>
GVB_DEVICE void multiply_tiles(const TensorMap& c, const GemmExtent& extent, unsigned depth) {
  const unsigned consumer = threadIdx.x / kWarpgroupThreads - 1;
  float sums[kTileColumns / 2];
  Ring ring;
  for (Tiles tiles(extent); tiles.take();) {
    multiply_tile<Format>(sums, ring, consumer, (extent.k + depth - 1) / depth);
    store_tile<Output>(sums, c, ring.stored(consumer), consumer, tiles);
  }
  if (threadIdx.x % kWarpgroupThreads == 0) wait_stores_read<0>();
}

// `depth`: the part of K in a stage.
template <class Format, class Output>
GVB_DEVICE void gemm(const TensorMap& a, const TensorMap& b, const TensorMap& c, const GemmExtent& extent,
                     unsigned depth) {
  if (threadIdx.x == 0) {
    Ring().initialise();
    prefetch(a);
    prefetch(b);
    prefetch(c);
  }
  meet_cluster();
  if (threadIdx.x < kWarpgroupThreads) {
    give_registers<40>();
    if (threadIdx.x == 0) load_tiles(a, b, extent, depth);
    __syncwarp();
  } else {
    take_registers<232>();
    multiply_tiles<Format, Output>(c, extent, depth);
    __syncwarp();
  }
  // A block must not end while the other one may still write to its shared memory.
  meet_cluster();
}

}  // namespace gvb::gemm_sm90

#define GVB_GEMM_SM90(name, Format, Output, depth)                                                             \
  extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(gvb::gemm_sm90::kThreads, 1)          \
      name(const __grid_constant__ gvb::hopper::TensorMap a, const __grid_constant__ gvb::hopper::TensorMap b, \
           const __grid_constant__ gvb::hopper::TensorMap c, unsigned m, unsigned n, unsigned k,               \
           unsigned long long* blocks) {                                                                       \
    count_block(blocks);                                                                                       \
    gvb::gemm_sm90::gemm<Format, Output>(a, b, c, {m, n, k}, depth);                                           \
  }
