#include "sim/kernels/bandwidth.h"

#include <algorithm>

#include "sim/clock.h"

namespace gvb::sim {
namespace {

constexpr uint32_t kFactor = 2654435761u, kMark = 0x9e3779b9u;  // as in kernels/bandwidth.cu
constexpr size_t kPieceBytes = 16;

// The last arguments, which all these kernels share.
struct Report {
  uint64_t span, blocks;
};

// The model of this card: a block on every multiprocessor draws all that the memory gives, fewer blocks draw their
// part.
double part_of(const Geometry& geometry, const CardSettings& card) {
  return std::min(1.0, blocks_of(geometry) / static_cast<double>(card.sms));
}

Plan moving(double bytes, const Report& report, const Geometry& geometry, const CardSettings& card) {
  const double part = part_of(geometry, card);
  Plan plan;
  plan.nanoseconds = bytes / (card.dram_gbs * part);
  plan.demand = demand_of(kDram, part);
  plan.demand[kL2] = part * card.dram_gbs / std::max(card.dram_gbs, l2_gbs(card));
  plan.touches = {{report.span, 16, 8, Access::kBoth}};
  count_blocks(&plan, report.blocks, geometry);
  return plan;
}

// What fits into the L2 cache comes at its rate, as far as it is there.
void read_again(double set_bytes, double bytes, double part, const CardSettings& card, Plan* plan) {
  plan->set.bytes = set_bytes;
  plan->set.touched = bytes;
  if (set_bytes > static_cast<double>(card.l2_mib * kMiB)) return;
  const double faster = std::max(1.0, l2_gbs(card) / card.dram_gbs);
  plan->nanoseconds /= faster;
  plan->demand = demand_of(kL2, part);
  plan->set.miss_slowness = faster;
  plan->set.miss_dram = part * faster;
}

void stamp(const Report& report, const Placement& placement) {
  auto* span = reinterpret_cast<uint64_t*>(report.span);
  span[0] = std::min(span[0], device_clock(placement.start));
  span[1] = std::max(span[1], device_clock(placement.end));
}

struct Piece {
  uint32_t x, y, z, w;
};

Piece piece_at(uint64_t index, uint32_t seed) {
  const uint32_t x = (static_cast<uint32_t>(index) * 3 + seed) * kFactor;
  return {x, x + kFactor, x + 2 * kFactor, x ^ (x + kFactor) ^ (x + 2 * kFactor) ^ kMark};
}

bool holds(const Piece* pieces, uint64_t index, uint32_t seed) {
  const Piece expected = piece_at(index, seed);
  return std::memcmp(&pieces[index], &expected, sizeof expected) == 0;
}

}  // namespace

// Does not check the pieces: kernels that wait in the queue would take seconds to read them repeatedly.
Plan plan_bandwidth_read(const Arguments& arguments, const Geometry& geometry, const CardSettings& card) {
  const auto in = arguments.get<uint64_t>(0), count = arguments.get<uint64_t>(1);
  const Report report{arguments.get<uint64_t>(3), arguments.get<uint64_t>(4)};
  const double bytes = static_cast<double>(count) * kPieceBytes * arguments.get<unsigned>(2);
  Plan plan = moving(bytes, report, geometry, card);
  read_again(static_cast<double>(count) * kPieceBytes, bytes, part_of(geometry, card), card, &plan);
  plan.set.address = in;
  plan.touches.push_back({in, count * kPieceBytes, kPieceBytes, Access::kRead});
  plan.run = [report](const Placement& placement) { stamp(report, placement); };
  return plan;
}

Plan plan_bandwidth_write(const Arguments& arguments, const Geometry& geometry, const CardSettings& card) {
  const auto out = arguments.get<uint64_t>(0), count = arguments.get<uint64_t>(1);
  const auto seed = arguments.get<uint32_t>(3);
  const Report report{arguments.get<uint64_t>(4), arguments.get<uint64_t>(5)};
  const double bytes = static_cast<double>(count) * kPieceBytes * arguments.get<unsigned>(2);
  Plan plan = moving(bytes, report, geometry, card);
  plan.touches.push_back({out, count * kPieceBytes, kPieceBytes, Access::kBoth});
  plan.run = [=](const Placement& placement) {
    stamp(report, placement);
    auto* pieces = reinterpret_cast<Piece*>(out);
    // A kernel that would write the same values again changes nothing.
    if (holds(pieces, 0, seed) && holds(pieces, count - 1, seed)) return;
    for (uint64_t i = 0; i < count; ++i) pieces[i] = piece_at(i, seed);
  };
  return plan;
}

Plan plan_bandwidth_copy(const Arguments& arguments, const Geometry& geometry, const CardSettings& card) {
  const auto in = arguments.get<uint64_t>(0), out = arguments.get<uint64_t>(1), count = arguments.get<uint64_t>(2);
  const Report report{arguments.get<uint64_t>(4), arguments.get<uint64_t>(5)};
  const size_t size = count * kPieceBytes;
  Plan plan = moving(2.0 * static_cast<double>(size) * arguments.get<unsigned>(3), report, geometry, card);
  plan.touches.push_back({in, size, kPieceBytes, Access::kRead});
  plan.touches.push_back({out, size, kPieceBytes, Access::kBoth});
  plan.run = [=](const Placement& placement) {
    stamp(report, placement);
    const auto* from = reinterpret_cast<const Piece*>(in);
    auto* to = reinterpret_cast<Piece*>(out);
    if (std::memcmp(to, from, kPieceBytes) == 0 && std::memcmp(to + count - 1, from + count - 1, kPieceBytes) == 0)
      return;
    std::memmove(to, from, size);
  };
  return plan;
}

}  // namespace gvb::sim
