// What gvb_load computes and where it writes: shared by the loop that launches it and the simulated GPU.
#pragma once

#include <cstdint>

namespace gvb {

// The layout is Ledger's of kernels/load.cu; bins follow it.
struct LedgerHead {
  uint64_t first_bin;
  uint64_t bin_ns;
  uint64_t bins;
  uint64_t wrong;  // threads whose arithmetic came out wrong
  uint64_t census[8];
  uint64_t halt;  // set by a block that saw that the host wants kernels to stop
};

// A round of a block's threads: so many steps x -> m x + c that need each other's results.
constexpr uint32_t kLoadIncrement = 0x9e3779b1u;
constexpr unsigned kStepsOfRound = 16;

// What `rounds` rounds do to a word.
struct LoadArithmetic {
  uint64_t rounds;
  uint32_t multiplier;
};
// x -> scale x + offset: x -> m x + c, so many times, by squaring.
struct LoadMap {
  uint32_t scale = 1;
  uint32_t offset = 0;
  uint32_t of(uint32_t word) const { return scale * word + offset; }
};
inline LoadMap load_map(const LoadArithmetic& of) {
  LoadMap map;
  uint32_t step_scale = of.multiplier, step_offset = kLoadIncrement;
  for (uint64_t steps = of.rounds * kStepsOfRound; steps > 0; steps /= 2) {
    if (steps % 2 == 1) map = {map.scale * step_scale, map.offset * step_scale + step_offset};
    step_offset += step_offset * step_scale;
    step_scale *= step_scale;
  }
  return map;
}
// Of 0.
inline uint32_t load_result(const LoadArithmetic& of) { return load_map(of).offset; }

}  // namespace gvb
