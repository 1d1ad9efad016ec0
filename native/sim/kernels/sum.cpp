#include "sim/kernels/sum.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

#include "bench/nccl/part_value.h"
#include "kernels/ordered_sum_shape.h"

namespace gvb::sim {

namespace {

// Which of the first half of a block's threads changes places with the first one, so that every launch adds other
// pairs.
unsigned exchanged_of_launch() {
  static std::atomic<unsigned> launches{0};
  return settings().unordered_sums != 0 ? 1 + launches++ % (kOrderedSumThreads / 2 - 1) : 0;
}

}  // namespace

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

// In the order of kernels/ordered_sum.cu.
Plan plan_ordered_sum(const Arguments& arguments, const Geometry& geometry, const CardSettings& card) {
  const auto in = arguments.get<uint64_t>(0), out = arguments.get<uint64_t>(2);
  const auto count = arguments.get<uint32_t>(1), stride = arguments.get<uint32_t>(3);
  const unsigned blocks = geometry.grid[0], rows = geometry.grid[1];
  Plan plan;
  plan.nanoseconds = static_cast<double>(count) * rows * sizeof(float) / card.dram_gbs;
  plan.demand = demand_of(kDram);
  plan.touches = {{in, size_t{count} * rows * sizeof(float), sizeof(float), Access::kRead},
                  {out, (size_t{stride} * (rows - 1) + blocks) * sizeof(float), sizeof(float), Access::kBoth}};
  plan.run = [=, exchanged = exchanged_of_launch()](const Placement&) {
    for (size_t row = 0; row < rows; ++row)
      for (unsigned block = 0; block < blocks; ++block) {
        std::array<float, kOrderedSumThreads> parts{};
        for (unsigned first = block * kOrderedSumThreads; first < count; first += blocks * kOrderedSumThreads)
          for (unsigned i = first; i < std::min(count, first + kOrderedSumThreads); ++i)
            parts[i - first] += reinterpret_cast<const float*>(in)[row * count + i];
        std::swap(parts[0], parts[exchanged]);
        for (unsigned half = kOrderedSumThreads / 2; half > 0; half /= 2)
          for (unsigned i = 0; i < half; ++i) parts[i] += parts[i + half];
        reinterpret_cast<float*>(out)[row * stride + block] = parts[0];
      }
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
