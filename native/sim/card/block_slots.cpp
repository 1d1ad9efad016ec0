#include "sim/card/block_slots.h"

#include <algorithm>
#include <cmath>

namespace gvb::sim {
namespace {

constexpr double kRounding = 1e-9;

// What a multiprocessor would have given out of what it has least of, with one more block.
double fullest(const Slots& taken, const Slots& block) {
  double most = 0;
  for (size_t i = 0; i < taken.size(); ++i)
    if (block[i] > 0) most = std::max(most, taken[i] + block[i]);
  return most;
}

Slots with(Slots taken, const Slots& block, double times) {
  for (size_t i = 0; i < taken.size(); ++i) taken[i] += times * block[i];
  return taken;
}

bool is_same(const Slots& one, const Slots& other) {
  for (size_t i = 0; i < one.size(); ++i)
    if (std::abs(one[i] - other[i]) > kRounding) return false;
  return true;
}

}  // namespace

void BlockSlots::give(double count, const Slots& taken) {
  if (count == 0) return;
  for (Alike& each : alike_)
    if (is_same(each.taken, taken)) {
      each.count += count;
      return;
    }
  alike_.push_back({count, taken});
}

void BlockSlots::take(const Blocks& running) {
  if (running.count == 0) return;
  const double places = std::max(1.0, std::round(running.multiprocessors * sm_limit_));
  const double resident = std::min(running.count, std::floor(running.each + kRounding) * places);
  const double everywhere = std::floor(resident / places);
  double rest = resident - everywhere * places;
  std::vector<Alike> before = std::move(alike_);
  alike_.clear();
  if (before.empty()) before.push_back({places, Slots{}});
  std::sort(before.begin(), before.end(), [&](const Alike& one, const Alike& other) {
    return fullest(one.taken, running.takes) < fullest(other.taken, running.takes);
  });
  for (const Alike& each : before) {
    const double more = std::min(rest, each.count);
    give(more, with(each.taken, running.takes, everywhere + 1));
    give(each.count - more, with(each.taken, running.takes, everywhere));
    rest -= more;
  }
}

bool BlockSlots::fits(const Blocks& kernel) const {
  const auto has_room = [&](const Alike& each) { return fullest(each.taken, kernel.takes) <= 1 + kRounding; };
  return alike_.empty() || std::any_of(alike_.begin(), alike_.end(), has_room);
}

}  // namespace gvb::sim
