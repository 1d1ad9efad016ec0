#include "sim/work/sum_kernels.h"

#include "bench/nccl/part_value.h"

namespace gvb::sim {

Plan plan_parts(const Arguments& arguments, const Geometry&, const CardSettings& card) {
  const auto numbers = arguments.get<uint64_t>(0), count = arguments.get<uint64_t>(1);
  const auto rank = arguments.get<uint32_t>(2), seed = arguments.get<uint32_t>(3);
  Plan plan;
  plan.nanoseconds = static_cast<double>(count) * sizeof(float) / card.dram_gbs;
  plan.demand = demand_of(kDram);
  plan.touches = {{numbers, count * sizeof(float), sizeof(float), Access::kWrite}};
  plan.run = [=](const Placement&) {
    auto* const to = reinterpret_cast<float*>(numbers);
    for (uint64_t i = 0; i < count; ++i) to[i] = static_cast<float>(part_value(i, rank, seed));
  };
  return plan;
}

Plan plan_sums_check(const Arguments& arguments, const Geometry&, const CardSettings& card) {
  const auto numbers = arguments.get<uint64_t>(0), count = arguments.get<uint64_t>(1);
  const auto results = arguments.get<uint64_t>(2), step = arguments.get<uint64_t>(3);
  const auto ranks = arguments.get<uint32_t>(4), seed = arguments.get<uint32_t>(5);
  const auto found = arguments.get<uint64_t>(6);
  Plan plan;
  plan.nanoseconds = static_cast<double>(count * results) * sizeof(float) / card.dram_gbs;
  plan.demand = demand_of(kDram);
  const uint64_t last = (results - 1) * step + count;
  plan.touches = {{numbers, last * sizeof(float), sizeof(float), Access::kRead}, {found, 16, 8, Access::kBoth}};
  plan.run = [=](const Placement&) {
    uint64_t right = 0;
    for (uint64_t place = 0; place < count; ++place) {
      uint32_t sum = 0;
      for (uint32_t rank = 0; rank < ranks; ++rank) sum += part_value(place, rank, seed);
      for (uint64_t i = 0; i < results; ++i)
        right += reinterpret_cast<const float*>(numbers)[i * step + place] == static_cast<float>(sum) ? 1 : 0;
    }
    add(found, right);
    add(found + 8, count * results - right);
  };
  return plan;
}

}  // namespace gvb::sim
