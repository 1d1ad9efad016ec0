// The order of a matrix's tiles, and the count of blocks that ran.
#pragma once

__device__ __forceinline__ void count_block(unsigned long long* blocks) {
  if (threadIdx.x == 0 && blocks != nullptr) atomicAdd(blocks, 1ull);
}

struct TilePlace {
  unsigned row, column;  // counted in tiles
};

// Orders the tiles down groups of `group` rows of tiles: concurrent tiles then share rows of A and of B, which the L2
// cache holds.
__device__ __forceinline__ TilePlace place_of_tile(unsigned index, unsigned down, unsigned across, unsigned group) {
  const unsigned first = index / (group * across) * group;
  const unsigned rows = down - first < group ? down - first : group, in_group = index - first * across;
  return {first + in_group % rows, in_group / rows};
}
