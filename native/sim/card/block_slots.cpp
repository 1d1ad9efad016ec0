#include "sim/card/block_slots.h"

#include <algorithm>
#include <cmath>

namespace gvb::sim {
namespace {

constexpr double kRounding = 1e-9;

}  // namespace

// A kernel of fewer blocks than there are multiprocessors takes its part of each: many such kernels fill the card too.
void BlockSlots::take(const Blocks& running) {
  const double spread = std::min(running.each, running.count / (running.multiprocessors * sm_limit_));
  const double blocks = spread < 1 ? spread : std::floor(spread + kRounding);
  for (size_t i = 0; i < taken_.size(); ++i) taken_[i] += blocks * running.takes[i];
}

bool BlockSlots::fits(const Blocks& kernel) const {
  for (size_t i = 0; i < taken_.size(); ++i)
    if (taken_[i] + kernel.takes[i] > 1 + kRounding) return false;
  return true;
}

}  // namespace gvb::sim
