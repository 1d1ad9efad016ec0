// Parameters of the attention kernels that the host needs.
#pragma once

namespace gvb {

struct AttentionTile {
  unsigned queries, keys, threads, shared_bytes;
};

constexpr AttentionTile attention_tile_sm80(unsigned width) { return {128, 64, 128, (128 + 2 * 64) * width * 2}; }

constexpr unsigned kSm90QueriesOfWarpgroup = 64;

// Two or three warpgroups of 64 queries, besides the one that loads: as many as leave each enough registers for its
// sums.
constexpr unsigned attention_consumers_sm90(unsigned width) { return width == 128 ? 2 : 3; }

// Tiles of queries in shared memory, and blocks of keys, and of values.
constexpr unsigned attention_query_tiles_sm90(unsigned width) { return width == 128 ? 1 : 2; }
constexpr unsigned attention_stages_sm90(unsigned width) { return width == 128 ? 2 : 4; }

constexpr AttentionTile attention_tile_sm90(unsigned width) {
  const unsigned consumers = attention_consumers_sm90(width), queries = kSm90QueriesOfWarpgroup * consumers, keys = 128;
  // The output has room for one tile.
  const unsigned rows = (attention_query_tiles_sm90(width) + 1) * queries + 2 * attention_stages_sm90(width) * keys;
  return {queries, keys, 128 * (consumers + 1), 2 * rows * width + 1024};
}

}  // namespace gvb
