#include "sim/kernels/copy.h"

namespace gvb::sim {

Plan plan_mix_check(const Arguments& arguments, const Geometry&, const CardSettings& card) {
  const auto words = arguments.get<uint64_t>(0), count = arguments.get<uint64_t>(1);
  const auto seed = arguments.get<uint32_t>(2);
  const auto found = arguments.get<uint64_t>(3);
  Plan plan;
  plan.nanoseconds = static_cast<double>(count) * 4 / card.dram_gbs;
  plan.demand = demand_of(kDram);
  plan.touches = {{words, count * 4, 4, Access::kRead}, {found, 16, 8, Access::kBoth}};
  plan.run = [=](const Placement&) {
    uint64_t right = 0;
    for (uint64_t i = 0; i < count; ++i)
      right += reinterpret_cast<const uint32_t*>(words)[i] == (static_cast<uint32_t>(i) + seed) * 2654435761u ? 1 : 0;
    add(found, right);
    add(found + 8, count - right);
  };
  return plan;
}

}  // namespace gvb::sim
