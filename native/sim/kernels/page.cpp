#include "sim/kernels/page.h"

#include <algorithm>

#include "bench/load_work.h"
#include "sim/clock.h"
#include "sim/kernels/load.h"

namespace gvb::sim {
namespace {

// The list of blocks is in mapped memory, so it still has its values of the launch.
std::vector<uint64_t> ends_in(const Arguments& arguments) {
  const auto* blocks = reinterpret_cast<const uint64_t*>(arguments.get<uint64_t>(0));
  const auto bytes = arguments.get<uint64_t>(1);
  const auto words = arguments.get<uint32_t>(2);
  std::vector<uint64_t> ends(words);
  for (uint32_t word = 0; word < words; ++word)
    ends[word] = blocks[word / 2] + (word % 2 == 0 ? 0 : bytes - sizeof(uint32_t));
  return ends;
}

uint32_t& word_at(uint64_t address) { return *reinterpret_cast<uint32_t*>(address); }

}  // namespace

Plan plan_write_ends(const Arguments& arguments, const Geometry&, const CardSettings&) {
  const auto seed = arguments.get<uint32_t>(3);
  Plan plan;
  auto ends = ends_in(arguments);
  for (const uint64_t end : ends) plan.touches.push_back({end, 4, 4, Access::kWrite});
  plan.run = [seed, ends = std::move(ends)](const Placement&) {
    for (size_t word = 0; word < ends.size(); ++word)
      word_at(ends[word]) = (static_cast<uint32_t>(word) + seed) * 2654435761u;
  };
  return plan;
}

Plan plan_read_ends(const Arguments& arguments, const Geometry&, const CardSettings&) {
  const auto found = arguments.get<uint64_t>(3);
  Plan plan;
  auto ends = ends_in(arguments);
  for (const uint64_t end : ends) plan.touches.push_back({end, 4, 4, Access::kRead});
  plan.touches.push_back({found, ends.size() * 4, 4, Access::kWrite});
  plan.run = [found, ends = std::move(ends)](const Placement&) {
    for (size_t word = 0; word < ends.size(); ++word) word_at(found + 4 * word) = word_at(ends[word]);
  };
  return plan;
}

Plan plan_stage(const Arguments& arguments, const Geometry& geometry, const CardSettings& card) {
  const auto stamps = arguments.get<uint64_t>(0), scratch = arguments.get<uint64_t>(1), in = arguments.get<uint64_t>(2),
             out = arguments.get<uint64_t>(3);
  const auto rounds = arguments.get<uint32_t>(4), multiplier = arguments.get<uint32_t>(5);
  Plan plan;
  plan.nanoseconds = waves(geometry, card) * rounds * kRoundNs / device_clock_rate();
  plan.seen = Seen::kFromEnd;
  plan.touches = {{stamps, 16, 8, Access::kWrite},
                  {scratch, 24, 8, Access::kBoth},
                  {in, 4, 4, Access::kRead},
                  {out, 4, 4, Access::kWrite}};
  plan.run = [=, blocks = static_cast<uint32_t>(blocks_of(geometry))](const Placement& placement) {
    word_at(out) = blocks * load_map({rounds, multiplier}).of(word_at(in));
    publish_stamp(stamps, device_clock(placement.start));
    publish_stamp(stamps + 8, device_clock(placement.end));
  };
  return plan;
}

}  // namespace gvb::sim
