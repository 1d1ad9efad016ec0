#include "sim/kernels/load.h"

#include <algorithm>
#include <cmath>

#include "bench/load_work.h"
#include "sim/clock.h"
#include "sim/mps/mps_client.h"

namespace gvb::sim {
namespace {

// Blocks credit their work at the end of every chunk of every wave.
struct Credits {
  uint64_t work;
  uint64_t events;

  uint64_t until(double part) const {
    const auto events_over =
        static_cast<uint64_t>(std::floor(static_cast<double>(events) * std::clamp(part, 0.0, 1.0)));
    return static_cast<uint64_t>(static_cast<double>(work) * static_cast<double>(events_over) /
                                 static_cast<double>(events));
  }
};

void credit(LedgerHead* ledger, const Credits& credits, uint64_t began, uint64_t ended) {
  auto* bins = reinterpret_cast<uint64_t*>(ledger + 1);
  uint64_t credited = 0;
  for (uint64_t bin = began / ledger->bin_ns; credited < credits.work; ++bin) {
    const uint64_t bin_ends = (bin + 1) * ledger->bin_ns;
    const bool all = ended < bin_ends || bin_ends < bin;
    const double part = static_cast<double>(bin_ends - began) / static_cast<double>(ended - began);
    const uint64_t until = all ? credits.work : credits.until(part);
    bins[std::min(bin - ledger->first_bin, ledger->bins - 1)] += until - credited;
    credited = until;
  }
}

void use_multiprocessors(LedgerHead* ledger, unsigned count) {
  for (unsigned sm = 0; sm < count; ++sm) ledger->census[sm / 64] |= uint64_t{1} << (sm % 64);
}

void store(uint64_t address, uint64_t value) {
  __atomic_store_n(reinterpret_cast<uint64_t*>(address), value, __ATOMIC_RELEASE);
}

}  // namespace

Plan plan_pause(const Arguments& arguments, const Geometry&, const CardSettings&) {
  Plan plan;
  plan.nanoseconds = static_cast<double>(arguments.get<uint64_t>(0)) / device_clock_rate();
  return plan;
}

Plan plan_load(const Arguments& arguments, const Geometry& geometry, const CardSettings& card) {
  const auto stamps = arguments.get<uint64_t>(0), scratch = arguments.get<uint64_t>(1),
             ledger_at = arguments.get<uint64_t>(2), stop = arguments.get<uint64_t>(3);
  const auto chunks = arguments.get<uint32_t>(4), rounds = arguments.get<uint32_t>(5),
             multiplier = arguments.get<uint32_t>(6), expected = arguments.get<uint32_t>(7);
  const uint64_t rounds_of_block = uint64_t{chunks} * rounds;
  const double waves = std::ceil(blocks_of(geometry) / resident_blocks(geometry, card));
  const auto blocks = static_cast<uint64_t>(blocks_of(geometry));
  const Credits credits{blocks * rounds_of_block, static_cast<uint64_t>(waves) * chunks};
  const int all = visible_multiprocessors(static_cast<int>(&card - &card_settings(0)));
  const int visible = geometry.multiprocessors > 0 ? static_cast<int>(geometry.multiprocessors) : all;
  const auto multiprocessors = static_cast<unsigned>(std::min<double>(blocks_of(geometry), visible));
  const bool wrong = load_result({rounds_of_block, multiplier}) != expected;
  Plan plan;
  plan.nanoseconds = waves * static_cast<double>(rounds_of_block) * kRoundNs / device_clock_rate();
  plan.touches = {{stamps, 16, 8, Access::kWrite},
                  {scratch, 16, 8, Access::kBoth},
                  {ledger_at, sizeof(LedgerHead), 8, Access::kBoth},
                  {stop, 4, 4, Access::kRead}};
  plan.run = [=](const Placement& placement) {
    auto* ledger = reinterpret_cast<LedgerHead*>(ledger_at);
    const uint64_t began = device_clock(placement.start), ended = std::max(device_clock(placement.end), began + 1);
    credit(ledger, credits, began, ended);
    use_multiprocessors(ledger, multiprocessors);
    if (wrong) ledger->wrong += blocks;
    store(stamps, began);
    store(stamps + 8, ended);
  };
  return plan;
}

}  // namespace gvb::sim
