// The arithmetic and the output layout of gvb_load, shared by the loop that launches it and the simulated GPU.
#pragma once

#include <cstdint>

namespace gvb {

// The layout is Ledger's in kernels/load.cu; bins follow it.
struct LedgerHead {
  uint64_t first_bin;
  uint64_t bin_ns;
  uint64_t bins;
  uint64_t wrong;  // threads with a wrong arithmetic result
  uint64_t census[8];
  uint64_t halt;  // set by a block that saw the host's request to stop
};

// One round: this many steps x -> m x + c, each of which needs the previous result.
constexpr uint32_t kLoadIncrement = 0x9e3779b1u;
constexpr unsigned kStepsOfRound = 16;

// The effect of `rounds` rounds on a word.
struct LoadArithmetic {
  uint64_t rounds;
  uint32_t multiplier;
};
// x -> scale x + offset: the composition of all steps x -> m x + c, computed by squaring.
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
// For a start value of 0.
inline uint32_t load_result(const LoadArithmetic& of) { return load_map(of).offset; }

}  // namespace gvb
