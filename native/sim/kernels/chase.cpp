#include "sim/kernels/chase.h"

#include <algorithm>
#include <cmath>

#include "kernels/chase_report.h"
#include "kernels/strong_loads_shape.h"
#include "sim/card/facts.h"
#include "sim/clock.h"
#include "sim/driver.h"

namespace gvb::sim {
namespace {

double mean_hit_ns(const CardSettings& card) { return card.l2_hit_ns + card.l2_far_ns / 2; }

// Loads of one latency, in the words of a report.
void put(uint64_t* report, double nanoseconds, double cycles_per_ns, uint64_t loads) {
  if (loads == 0) return;
  const auto cycles = static_cast<unsigned>(std::lround(std::min(nanoseconds * cycles_per_ns, 4e9)));
  const unsigned bin = chase_bin(cycles);
  report[kChaseCounts + bin] += loads;
  report[kChaseSums + bin] += loads * cycles;
}

// What a walk met on the card.
struct Walked {
  uint64_t loads;   // of all blocks
  uint64_t blocks;  // each has one load under way while another context has the card
  double cycles_per_ns;
  CardSettings card;
};

void report_latencies(uint64_t* report, const Walked& walked, const Placement& placement) {
  const CardSettings& card = walked.card;
  const double touched = static_cast<double>(walked.loads) * kChaseLineBytes;
  const double queued = card.l2_queue_ns * placement.beside / touched;
  const auto missed = std::min(walked.loads, static_cast<uint64_t>(std::llround(placement.missed / kChaseLineBytes)));
  uint64_t hits = walked.loads - missed;
  const std::vector<Pause> longest{{placement.pause_from, placement.pause_to}};
  const bool one = placement.pauses.empty() && placement.pause_to != 0;
  for (const Pause& pause : one ? longest : placement.pauses) {
    const uint64_t held = std::min(hits, walked.blocks);
    put(report, static_cast<double>(pause.to - pause.from), walked.cycles_per_ns, held);
    hits -= held;
  }
  put(report, card.l2_hit_ns + queued, walked.cycles_per_ns, hits - hits / 2);
  put(report, card.l2_hit_ns + card.l2_far_ns + queued, walked.cycles_per_ns, hits / 2);
  put(report, card.l2_miss_ns + queued, walked.cycles_per_ns, missed);
}

}  // namespace

// The links are computed for who copies them. A walk does not need them.
Plan plan_chase_link(const Arguments& arguments, const Geometry& geometry, const CardSettings& card) {
  const auto lines = arguments.get<uint64_t>(0), order = arguments.get<uint64_t>(1);
  const auto count = arguments.get<uint32_t>(2);
  const size_t bytes = size_t{count} * kChaseLineBytes;
  Plan plan;
  plan.nanoseconds = 2.0 * static_cast<double>(bytes) / card.dram_gbs;
  plan.demand = demand_of(kDram);
  plan.set = {lines, static_cast<double>(bytes), static_cast<double>(bytes), 1, 0, 0};
  plan.touches = {{lines, bytes, kChaseLineBytes, Access::kWrite},
                  {order, count * sizeof(uint32_t), sizeof(uint32_t), Access::kRead}};
  count_blocks(&plan, arguments.get<uint64_t>(3), geometry);
  plan.compute = [=](const Range&, const DeferredResults::Need& need) {
    need({order, order + count * sizeof(uint32_t)});
    const auto* places = reinterpret_cast<const uint32_t*>(order);
    auto* words = reinterpret_cast<uint32_t*>(lines);
    for (size_t i = 0; i < count; ++i) words[places[i] * size_t{kChaseLineWords}] = places[i + 1 == count ? 0 : i + 1];
  };
  return plan;
}

// Blocks start at even distances in the cycle, and whole passes end where another one starts. All run at the same time.
Plan plan_chase(const Arguments& arguments, const Geometry& geometry, const CardSettings& card) {
  const auto lines = arguments.get<uint64_t>(0), starts = arguments.get<uint64_t>(2), ends = arguments.get<uint64_t>(4),
             report_at = arguments.get<uint64_t>(5);
  const auto count = arguments.get<uint32_t>(1), steps = arguments.get<uint32_t>(3);
  const auto blocks = static_cast<uint64_t>(blocks_of(geometry));
  const double loads_at_once = static_cast<double>(blocks) * kChaseLineBytes / mean_hit_ns(card);
  const double set_bytes = static_cast<double>(count) * kChaseLineBytes;
  Plan plan;
  plan.nanoseconds = steps * mean_hit_ns(card);
  plan.demand = demand_of(kL2, std::min(1.0, loads_at_once / l2_gbs(card)));
  plan.set = {lines,
              set_bytes,
              static_cast<double>(blocks) * steps * kChaseLineBytes,
              card.l2_miss_ns / mean_hit_ns(card),
              std::min(1.0, loads_at_once / card.dram_gbs),
              card.l2_queue_ns / mean_hit_ns(card)};
  plan.touches = {{lines, static_cast<size_t>(set_bytes), kChaseLineBytes, Access::kUnseen},
                  {starts, blocks * sizeof(uint32_t), sizeof(uint32_t), Access::kRead},
                  {ends, blocks * sizeof(uint32_t), sizeof(uint32_t), Access::kWrite},
                  {report_at, kChaseWords * sizeof(uint64_t), sizeof(uint64_t), Access::kBoth}};
  const double cycles_per_ns = sm_clock_khz(static_cast<int>(&card - &card_settings(0))) * 1e-6;
  plan.run = [=, walked = Walked{blocks * steps, blocks, cycles_per_ns, card}](const Placement& placement) {
    const uint64_t passes = blocks * steps / std::max(1U, count);
    for (uint64_t block = 0; block < blocks; ++block)
      reinterpret_cast<uint32_t*>(ends)[block] = reinterpret_cast<uint32_t*>(starts)[(block + passes) % blocks];
    auto* report = reinterpret_cast<uint64_t*>(report_at);
    const uint64_t began = device_clock(placement.start), ended = device_clock(placement.end);
    report[kChaseBegan] = std::min(report[kChaseBegan], began);
    report[kChaseEnded] = std::max(report[kChaseEnded], ended);
    report[kChaseNs] += blocks * (ended - began);
    report[kChaseCycles] += static_cast<uint64_t>(std::llround(
        static_cast<double>(blocks * static_cast<uint64_t>(placement.end - placement.start)) * cycles_per_ns));
    report_latencies(report, walked, placement);
  };
  return plan;
}

// Every load reads memory. What neighbours did just before the launch adds to it.
Plan plan_strong_loads(const Arguments& arguments, const Geometry&, const CardSettings& card) {
  const auto word = arguments.get<uint64_t>(0), cycles = arguments.get<uint64_t>(1);
  const double ns = card.l2_miss_ns + region().leaked_ns();
  const double cycles_per_ns = sm_clock_khz(static_cast<int>(&card - &card_settings(0))) * 1e-6;
  Plan plan;
  plan.nanoseconds = 2 * kStrongLoads * ns;
  plan.touches = {{word, sizeof(uint32_t), sizeof(uint32_t), Access::kRead},
                  {cycles, 2 * kStrongLoads * sizeof(uint32_t), sizeof(uint32_t), Access::kWrite}};
  plan.run = [=](const Placement&) {
    for (unsigned i = 0; i < 2 * kStrongLoads; ++i)
      reinterpret_cast<uint32_t*>(cycles)[i] = static_cast<uint32_t>(std::lround(ns * cycles_per_ns));
  };
  return plan;
}

}  // namespace gvb::sim
