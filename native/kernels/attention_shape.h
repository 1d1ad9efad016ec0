// Parameters of the attention kernels that the host needs.
#pragma once

namespace gvb {

struct AttentionTile {
  unsigned queries, keys, threads, shared_bytes;
};

constexpr unsigned kSm80AttentionQueries = 128, kSm80AttentionThreads = 128;
// Keys a block: as many as leave enough registers.
constexpr unsigned attention_keys_sm80(unsigned width) { return width == 128 ? 32 : 64; }

// `stages`: blocks of keys in shared memory, and of values.
constexpr AttentionTile attention_tile_sm80(unsigned width, unsigned stages) {
  const unsigned keys = attention_keys_sm80(width), rows = kSm80AttentionQueries + 2 * stages * keys;
  return {kSm80AttentionQueries, keys, kSm80AttentionThreads, rows * width * 2};
}

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
