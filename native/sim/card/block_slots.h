// Where the blocks of kernels have room: a multiprocessor has so many threads, registers, places for blocks and so much
// shared memory, and a block starts only where all of what it takes is free.
#pragma once

#include <array>

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

// The multiprocessor of a client that has most room. Blocks are spread evenly over those that the client may use.
class BlockSlots {
 public:
  explicit BlockSlots(double sm_limit) : sm_limit_(sm_limit) {}

  void take(const Blocks& running);
  bool fits(const Blocks& kernel) const;  // one block of it does

 private:
  double sm_limit_;
  Slots taken_{};
};

}  // namespace gvb::sim
