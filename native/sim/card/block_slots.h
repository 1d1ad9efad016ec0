// Where the blocks of kernels have room: a multiprocessor has so many threads, registers, places for blocks and so much
// shared memory, and a block starts only where all of what it takes is free.
#pragma once

#include <array>
#include <vector>

namespace gvb::sim {

// Fractions of what a multiprocessor has: threads, registers, shared memory, places for blocks.
using Slots = std::array<double, 4>;

// The blocks of a kernel.
struct Blocks {
  double count = 0;            // 0: it is no kernel
  double each = 0;             // so many run on a multiprocessor at a time
  double multiprocessors = 1;  // of the card
  Slots takes{};               // what a block takes
};

// The multiprocessors that a client may use, and what its kernels take of each. The blocks of a kernel are spread
// evenly; those that remain go where most room is.
class BlockSlots {
 public:
  explicit BlockSlots(double sm_limit) : sm_limit_(sm_limit) {}

  void take(const Blocks& running);
  bool fits(const Blocks& kernel) const;  // one block of it does

 private:
  // Multiprocessors of which the same is taken: most are alike, and every launch looks here.
  struct Alike {
    double count;
    Slots taken;
  };
  void give(double count, const Slots& taken);

  double sm_limit_;
  std::vector<Alike> alike_;  // empty: nothing is taken
};

}  // namespace gvb::sim
