#include "sim/work/normal_kernels.h"

#include "bench/llm/normal_value.h"

namespace gvb::sim {

Plan plan_normal(const Arguments& arguments, const Geometry&, const CardSettings& card) {
  const auto out = arguments.get<uint64_t>(0);
  const auto count = arguments.get<uint64_t>(1), seed = arguments.get<uint64_t>(2);
  const auto number = static_cast<Number>(arguments.get<unsigned>(3));
  const size_t each = bytes_of(number);
  Plan plan;
  plan.nanoseconds = static_cast<double>(count * each) / card.dram_gbs;
  plan.demand = demand_of(kDram);
  plan.touches = {{out, count * each, each, Access::kWrite}};
  plan.compute = [=](const Range& part, const DeferredResults::Need&) {
    for (uint64_t i = (part.begin - out) / each; i * each < part.end - out; ++i)
      store_number(reinterpret_cast<void*>(out), i, normal_value(seed, i), number);
  };
  return plan;
}

Plan plan_normal_part(const Arguments& arguments, const Geometry&, const CardSettings& card) {
  const auto out = arguments.get<uint64_t>(0);
  const auto rows = arguments.get<uint64_t>(1), columns = arguments.get<uint64_t>(2);
  const auto stride = arguments.get<uint64_t>(3), first = arguments.get<uint64_t>(4), seed = arguments.get<uint64_t>(5);
  const auto number = static_cast<Number>(arguments.get<unsigned>(6));
  const size_t each = bytes_of(number), bytes = rows * columns * each;
  Plan plan;
  plan.nanoseconds = static_cast<double>(bytes) / card.dram_gbs;
  plan.demand = demand_of(kDram);
  plan.touches = {{out, bytes, each, Access::kWrite}};
  plan.compute = [=](const Range& part, const DeferredResults::Need&) {
    for (uint64_t i = (part.begin - out) / each; i * each < part.end - out; ++i)
      store_number(reinterpret_cast<void*>(out), i, normal_value(seed, first + i / columns * stride + i % columns),
                   number);
  };
  return plan;
}

}  // namespace gvb::sim
