// What gvb_chase reports, for the kernel, the measurement and the simulated driver.
#pragma once

namespace gvb {

constexpr unsigned kChaseLineBytes = 128, kChaseLineWords = 32;

// Bins of latencies in cycles: one each below 64, then 32 for every power of two. The last one is just below 2^32.
constexpr unsigned kChaseBins = 896;
constexpr unsigned chase_bin(unsigned cycles) {
  unsigned octave = 0;
  for (; cycles >= 64; cycles >>= 1) octave += 32;
  return octave + cycles;
}

// 8-byte words: four of all blocks together, then a count of each bin, then the sum of each bin's latencies.
enum ChaseWord : unsigned {
  kChaseBegan,   // the first block's stamp of %globaltimer
  kChaseEnded,   // the last block's
  kChaseCycles,  // of all blocks, from begin to end
  kChaseNs,      // the same time by %globaltimer
  kChaseCounts,
  kChaseSums = kChaseCounts + kChaseBins,
  kChaseWords = kChaseSums + kChaseBins
};

}  // namespace gvb
