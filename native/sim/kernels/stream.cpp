#include "sim/kernels/stream.h"

#include <numeric>

namespace gvb::sim {
namespace {

constexpr uint32_t kWordFactor = 2654435761u;
constexpr size_t kCounterBytes = size_t{32} * 128;
constexpr size_t kReadByThread = size_t{16} * 16, kWrittenByThread = 16;

size_t bytes_of(const Geometry& geometry, size_t bytes_of_thread) {
  return static_cast<size_t>(blocks_of(geometry)) * geometry.block[0] * bytes_of_thread;
}

Plan moving(double bytes, const CardSettings& card) {
  Plan plan;
  plan.nanoseconds = bytes / card.dram_gbs;
  plan.demand = demand_of(kDram);
  return plan;
}

}  // namespace

Plan plan_stream_read(const Arguments& arguments, const Geometry& geometry, const CardSettings& card) {
  const auto in = arguments.get<uint64_t>(0), counters = arguments.get<uint64_t>(1);
  const size_t bytes = bytes_of(geometry, kReadByThread);
  Plan plan = moving(static_cast<double>(bytes), card);
  plan.touches = {{in, bytes, 16, Access::kRead}, {counters, kCounterBytes, 8, Access::kBoth}};
  plan.run = [=](const Placement&) {
    const auto* words = reinterpret_cast<const uint32_t*>(in);
    add(counters, std::accumulate(words, words + bytes / sizeof(uint32_t), uint32_t{0}));
  };
  return plan;
}

Plan plan_stream_write(const Arguments& arguments, const Geometry& geometry, const CardSettings& card) {
  const auto out = arguments.get<uint64_t>(0);
  const size_t bytes = bytes_of(geometry, kWrittenByThread);
  const auto seed = arguments.get<uint32_t>(1);
  Plan plan = moving(static_cast<double>(bytes), card);
  plan.touches = {{out, bytes, 16, Access::kWrite}};
  plan.run = [=](const Placement&) {
    auto* words = reinterpret_cast<uint32_t*>(out);
    for (uint32_t i = 0; i < bytes / sizeof(uint32_t); ++i) words[i] = (i + seed) * kWordFactor;
  };
  count_blocks(&plan, arguments.get<uint64_t>(2), geometry);
  return plan;
}

Plan plan_stream_copy(const Arguments& arguments, const Geometry& geometry, const CardSettings& card) {
  const auto in = arguments.get<uint64_t>(0), out = arguments.get<uint64_t>(1);
  const size_t bytes = bytes_of(geometry, kWrittenByThread);
  Plan plan = moving(2 * static_cast<double>(bytes), card);
  plan.touches = {{in, bytes, 16, Access::kRead}, {out, bytes, 16, Access::kWrite}};
  plan.run = [=](const Placement&) {
    std::memmove(reinterpret_cast<void*>(out), reinterpret_cast<const void*>(in), bytes);
  };
  count_blocks(&plan, arguments.get<uint64_t>(2), geometry);
  return plan;
}

}  // namespace gvb::sim
