#include "sim/kernels/neighbour.h"

#include <algorithm>

#include "sim/clock.h"

namespace gvb::sim {
namespace {

// Constants of this card's model that no setting covers.
constexpr double kPageLoadNs = 500;       // a load that misses the TLB
constexpr double kPageDram = 0.5;         // fraction of the DRAM rate when a card full of threads makes such loads
constexpr double kIssueRoundNs = 50;      // 64 instructions per thread on full multiprocessors
constexpr double kTinyBlockNs = 1;        // time between two blocks being scheduled
constexpr double kRequestRoundNs = 1000;  // a load and the arithmetic that waits for it
constexpr double kRequestMemory = 0.8;    // fraction of the L2 and DRAM rates while a request's step runs

// 32 counters, 128 bytes apart; the simulation uses only the first.
Span counters_of(uint64_t blocks) { return {blocks, 32 * 128, 8, Access::kBoth}; }

// A kernel whose only effect is to count its blocks.
Plan counted(double nanoseconds, uint64_t blocks, const Geometry& geometry) {
  Plan plan;
  plan.nanoseconds = nanoseconds;
  plan.touches = {counters_of(blocks)};
  plan.run = [blocks, count = static_cast<uint64_t>(blocks_of(geometry))](const Placement&) { add(blocks, count); };
  return plan;
}

uint32_t* words_at(uint64_t address) { return reinterpret_cast<uint32_t*>(address); }

struct Stretch {
  uint64_t start, end, multiprocessor;
};

void write_stretch(uint64_t stretches, uint64_t room, uint64_t used, const Stretch& stretch) {
  const uint64_t place = (*reinterpret_cast<uint64_t*>(used))++;
  if (place < room) reinterpret_cast<Stretch*>(stretches)[place] = stretch;
}

}  // namespace

Plan plan_tiny_blocks(const Arguments& arguments, const Geometry& geometry, const CardSettings&) {
  return counted(blocks_of(geometry) * kTinyBlockNs, arguments.get<uint64_t>(0), geometry);
}

Plan plan_sweep(const Arguments& arguments, const Geometry& geometry, const CardSettings& card) {
  const auto words = arguments.get<uint64_t>(0);
  const size_t bytes = arguments.get<uint64_t>(1) * 16;
  const double all = static_cast<double>(bytes) * arguments.get<unsigned>(2);
  const bool cached = bytes <= static_cast<size_t>(card.l2_mib) << 20;
  Plan plan = counted(all / (cached ? l2_gbs(card) : card.dram_gbs), arguments.get<uint64_t>(3), geometry);
  plan.demand = demand_of(cached ? kL2 : kDram);
  plan.touches.push_back({words, bytes, 16, Access::kRead});
  return plan;
}

Plan plan_touch_pages(const Arguments& arguments, const Geometry& geometry, const CardSettings& card) {
  const size_t bytes = arguments.get<uint64_t>(1) * arguments.get<uint64_t>(2);
  const double loads = waves(geometry, card) * arguments.get<unsigned>(3);
  Plan plan = counted(loads * kPageLoadNs, arguments.get<uint64_t>(4), geometry);
  plan.demand = demand_of(kDram, kPageDram);
  plan.touches.push_back({arguments.get<uint64_t>(0), bytes, 4, Access::kRead});
  return plan;
}

Plan plan_issue(const Arguments& arguments, const Geometry& geometry, const CardSettings& card) {
  const double rounds = waves(geometry, card) * arguments.get<unsigned>(0);
  return counted(rounds * kIssueRoundNs, arguments.get<uint64_t>(2), geometry);
}

Plan plan_arrived(const Arguments& arguments, const Geometry&, const CardSettings&) {
  const auto words = arguments.get<uint64_t>(0), count = arguments.get<uint64_t>(1),
             blocks = arguments.get<uint64_t>(3);
  const auto expected = arguments.get<uint32_t>(2);
  Plan plan;
  plan.touches = {{words, count * 4, 4, Access::kRead}, counters_of(blocks)};
  plan.run = [=](const Placement&) {
    if (words_at(words)[0] == expected && words_at(words)[count - 1] == expected) add(blocks, 1);
  };
  return plan;
}

Plan plan_mark_ends(const Arguments& arguments, const Geometry& geometry, const CardSettings&) {
  const auto words = arguments.get<uint64_t>(0), count = arguments.get<uint64_t>(1),
             blocks = arguments.get<uint64_t>(3);
  const auto value = arguments.get<uint32_t>(2);
  Plan plan;
  plan.touches = {{words, count * 4, 4, Access::kBoth}, counters_of(blocks)};
  plan.run = [=, ran = static_cast<uint64_t>(blocks_of(geometry))](const Placement&) {
    words_at(words)[0] = words_at(words)[count - 1] = value;
    add(blocks, ran);
  };
  return plan;
}

Plan plan_request_step(const Arguments& arguments, const Geometry&, const CardSettings&) {
  const auto set = arguments.get<uint64_t>(0), set_count = arguments.get<uint64_t>(1),
             words = arguments.get<uint64_t>(3), stamps = arguments.get<uint64_t>(7);
  const auto rounds = arguments.get<unsigned>(2), count = arguments.get<unsigned>(4), seed = arguments.get<unsigned>(5),
             step = arguments.get<unsigned>(6);
  Plan plan;
  plan.nanoseconds = rounds * kRequestRoundNs;
  plan.demand[kL2] = plan.demand[kDram] = kRequestMemory;
  plan.touches = {{set, set_count * 16, 16, Access::kRead},
                  {words, count * size_t{4}, 4, step == 0 ? Access::kWrite : Access::kBoth},
                  {stamps, 16, 8, Access::kBoth}};
  plan.run = [=](const Placement& placement) {
    for (unsigned i = 0; i < count; ++i)
      words_at(words)[i] = (step == 0 ? seed + i : words_at(words)[i]) * 1664525u + 1013904223u;
    if (step == 0) publish_stamp(stamps, device_clock(placement.start));
    publish_stamp(stamps + 8, std::max(*reinterpret_cast<uint64_t*>(stamps + 8), device_clock(placement.end)));
  };
  return plan;
}

// Block i is on multiprocessor i, i + n, … of the n of its partition or card; all run as long as the kernel does,
// without its pauses.
Plan plan_trace_blocks(const Arguments& arguments, const Geometry& geometry, const CardSettings& card) {
  const auto stretches = arguments.get<uint64_t>(0), room = arguments.get<uint64_t>(1),
             used = arguments.get<uint64_t>(2), spin = arguments.get<uint64_t>(3), gap = arguments.get<uint64_t>(4);
  Plan plan;
  plan.nanoseconds = waves(geometry, card) * static_cast<double>(spin) / device_clock_rate();
  plan.touches = {{stretches, room * sizeof(Stretch), 8, Access::kBoth}, {used, 8, 8, Access::kBoth}};
  const uint64_t sms = geometry.multiprocessors > 0 ? geometry.multiprocessors : static_cast<uint64_t>(card.sms);
  plan.run = [=, blocks = static_cast<uint64_t>(blocks_of(geometry))](const Placement& placement) {
    const std::vector<Pause> longest{{placement.pause_from, placement.pause_to}};
    const bool one = placement.pauses.empty() && placement.pause_to != 0;
    for (uint64_t block = 0; block < blocks; ++block) {
      uint64_t from = device_clock(placement.start);
      for (const Pause& pause : one ? longest : placement.pauses) {
        const uint64_t paused = device_clock(pause.from), resumed = device_clock(pause.to);
        if (resumed - paused <= gap) continue;
        write_stretch(stretches, room, used, {from, paused, block % sms});
        from = resumed;
      }
      write_stretch(stretches, room, used, {from, device_clock(placement.end), block % sms});
    }
  };
  return plan;
}

}  // namespace gvb::sim
