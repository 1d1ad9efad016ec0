// The kernels of chase.cu: cycles that visit every line, where walks arrive, and what they report.
#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "test/check.h"
#include "test/emulator/cuda.h"
#include "test/kernels_parts.h"
// Behind what makes them host code.
#include "kernels/chase.cu"

namespace {

using gvb::emulator::Launch;
using gvb::emulator::run;

constexpr unsigned kBlocks = 3, kStepsOfPass = 37, kLines = kBlocks * kStepsOfPass;
constexpr unsigned kStamp = 32;  // the emulator's clock goes on by so much at each reading

struct Cycle {
  std::vector<unsigned> order = std::vector<unsigned>(kLines), lines = std::vector<unsigned>(kLines * 32, ~0u), starts;
  std::vector<unsigned long long> blocks = std::vector<unsigned long long>(32 * 16);

  Cycle() {
    std::iota(order.begin(), order.end(), 0u);
    std::shuffle(order.begin(), order.end(), std::mt19937(1));
    run({{2, 1, 1}, {64, 1, 1}}, [&] { gvb_chase_link(lines.data(), order.data(), kLines, blocks.data()); });
    for (unsigned block = 0; block < kBlocks; ++block) starts.push_back(order[block * kStepsOfPass]);
  }
};

struct Walked {
  std::vector<unsigned> ends = std::vector<unsigned>(kBlocks, ~0u);
  std::vector<unsigned long long> report = std::vector<unsigned long long>(gvb::kChaseWords);

  Walked(const Cycle& cycle, unsigned loads) {
    report[gvb::kChaseBegan] = ~0ull;
    run({{kBlocks, 1, 1}, {32, 1, 1}},
        [&] { gvb_chase(cycle.lines.data(), kLines, cycle.starts.data(), loads, ends.data(), report.data()); });
  }

  unsigned long long sum_of(unsigned from) const {
    return std::accumulate(report.begin() + from, report.begin() + from + gvb::kChaseBins, 0ull);
  }
};

void test_cycles() {
  const Cycle cycle;
  CHECK(std::accumulate(cycle.blocks.begin(), cycle.blocks.end(), 0ull) == 2);
  std::vector<bool> visited(kLines);
  unsigned line = 0;
  for (unsigned i = 0; i < kLines; ++i) {
    CHECK(!visited[line]);
    visited[line] = true;
    for (unsigned word = 1; word < 32; ++word) CHECK(cycle.lines[line * 32 + word] == ~0u);
    line = cycle.lines[line * 32];
  }
  CHECK(line == 0);
}

void test_walks() {
  const Cycle cycle;
  for (const unsigned passes : {1u, 2u, 5u}) {
    const Walked walked(cycle, passes * kStepsOfPass);
    for (unsigned block = 0; block < kBlocks; ++block)
      CHECK(walked.ends[block] == cycle.starts[(block + passes) % kBlocks]);
    const unsigned long long loads = passes * kLines;
    CHECK(walked.sum_of(gvb::kChaseCounts) == loads);
    CHECK(walked.report[gvb::kChaseCounts + gvb::chase_bin(kStamp)] == loads);
    CHECK(walked.sum_of(gvb::kChaseSums) == loads * kStamp);
    CHECK(walked.report[gvb::kChaseBegan] < walked.report[gvb::kChaseEnded]);
    // The two clocks are one here, and the one of the cycles is read within the other's span.
    CHECK(walked.report[gvb::kChaseNs] == walked.report[gvb::kChaseCycles] + kBlocks * 2 * kStamp);
  }
}

// A line that is no line of the set ends the walk there.
void test_broken_cycle() {
  Cycle cycle;
  cycle.lines[cycle.order[5] * 32] = kLines;
  const Walked walked(cycle, kStepsOfPass);
  CHECK(walked.ends[0] == kLines);
  CHECK(walked.ends[1] == cycle.starts[2]);
  CHECK(walked.sum_of(gvb::kChaseCounts) == 6 + 2 * kStepsOfPass);
}

void test_bins() {
  CHECK(gvb::chase_bin(0) == 0 && gvb::chase_bin(63) == 63 && gvb::chase_bin(64) == 64 && gvb::chase_bin(65) == 64);
  CHECK(gvb::chase_bin(~0u) == gvb::kChaseBins - 1);
  for (unsigned cycles = 1; cycles < 100'000; ++cycles) {
    const unsigned before = gvb::chase_bin(cycles - 1), bin = gvb::chase_bin(cycles);
    CHECK(bin == before || bin == before + 1);
  }
}

}  // namespace

void test_chase_kernels() {
  test_cycles();
  test_walks();
  test_broken_cycle();
  test_bins();
}
