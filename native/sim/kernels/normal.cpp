#include "sim/kernels/normal.h"

#include "bench/llm/normal_value.h"

namespace gvb::sim {
namespace {

// Writes elements `first` to `end` of `out`; `index` maps each to an element of the sequence. The format is a template
// argument because a model has hundreds of millions of elements.
template <Number kNumber, class Index>
void store_normal(uint64_t out, uint64_t first, uint64_t end, uint64_t seed, const Index& index) {
  for (uint64_t i = first; i < end; ++i)
    store_number(reinterpret_cast<void*>(out), i, normal_value(seed, index(i)), kNumber);
}

template <class Index>
void store_normal(uint64_t out, const Range& part, uint64_t seed, Number number, const Index& index) {
  const size_t each = bytes_of(number);
  const uint64_t first = (part.begin - out) / each, end = (part.end - out + each - 1) / each;
  switch (number) {
    case Number::kF16:
      return store_normal<Number::kF16>(out, first, end, seed, index);
    case Number::kBf16:
      return store_normal<Number::kBf16>(out, first, end, seed, index);
    case Number::kF32:
      return store_normal<Number::kF32>(out, first, end, seed, index);
    case Number::kE4m3:
      return store_normal<Number::kE4m3>(out, first, end, seed, index);
  }
}

}  // namespace

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
    store_normal(out, part, seed, number, [](uint64_t i) { return i; });
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
    store_normal(out, part, seed, number, [=](uint64_t i) { return first + i / columns * stride + i % columns; });
  };
  return plan;
}

}  // namespace gvb::sim
