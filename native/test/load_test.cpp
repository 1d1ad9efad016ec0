// A tenant's load on the simulated GPU: its work, its bins and its gaps, and what a layer could fake.
#include "bench/load.h"

#include <algorithm>
#include <initializer_list>
#include <numeric>
#include <string>

#include "base/clock.h"
#include "bench/latest.h"
#include "bench/load_work.h"
#include "test/check.h"
#include "test/failure_of.h"

using namespace gvb;
using test::failure_of;

namespace {

LoadRequest request_of(LoadCall call, uint64_t kernel_ns) {
  LoadRequest request;
  request.call = call;
  request.kernel_ns = kernel_ns;
  request.in_flight = 4;
  request.start_at_ns = now_ns();
  request.duration_ns = 500'000'000;
  request.bin_ns = 100'000'000;
  request.gap_ns = 50'000;
  request.most_listed = 64;
  return request;
}

void test_latest() {
  Latest none(0), few(3), many(3);
  for (const double value : {1.0, 2.0}) few.add(value);
  for (const double value : {1.0, 2.0, 3.0, 4.0, 5.0}) {
    many.add(value);
    none.add(value);
  }
  CHECK(none.in_order().empty());
  CHECK((few.in_order() == std::vector<double>{1, 2}));
  CHECK((many.in_order() == std::vector<double>{3, 4, 5}));
}

double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

uint32_t result_step_by_step(uint64_t rounds, uint32_t multiplier) {
  uint32_t x = 0;
  for (uint64_t step = 0; step < rounds * kStepsOfRound; ++step) x = x * multiplier + kLoadIncrement;
  return x;
}

void test_arithmetic() {
  for (const uint64_t rounds : std::initializer_list<uint64_t>{0, 1, 2, 3, 7, 64, 1000}) {
    CHECK(load_result({rounds, 1664525}) == result_step_by_step(rounds, 1664525));
    CHECK(load_result({rounds, 22695477}) == result_step_by_step(rounds, 22695477));
  }
}

// 264 blocks of 1024 threads run at a time.
void check_load(const Load& load, const LoadRequest& request) {
  CHECK(load.multiprocessors == 132 && load.multiprocessors_used.size() == 132);
  CHECK(load.kernels == load.launches * request.nodes);
  CHECK(load.work == static_cast<double>(load.kernels) * static_cast<double>(load.rounds) * load.blocks);
  CHECK(sum(load.bins) == load.work);
  CHECK(load.started_ns >= 0 && load.started_ns < static_cast<double>(request.bin_ns));
  CHECK(load.bins.size() == static_cast<size_t>(load.ended_ns / static_cast<double>(request.bin_ns)) + 1);
  CHECK(load.busy_ns <= load.ended_ns - load.started_ns);
  CHECK(load.kernels_listed.at_ns.size() == std::min<uint64_t>(load.kernels, request.most_listed));
  CHECK(load.calls_ns.size() == std::min<uint64_t>(load.launches, request.most_listed));
  CHECK(load.most_in_flight <= request.in_flight);
}

void test_shapes(DeviceSession& session) {
  for (const LoadCall call : {LoadCall::kKernel, LoadCall::kKernelEx, LoadCall::kGraph, LoadCall::kCooperative,
                              LoadCall::kThreadKernel, LoadCall::kThreadGraph}) {
    LoadRequest request = request_of(call, 1'000'000);
    const Load load = measure_load(session, request);
    check_load(load, request);
    CHECK(load.blocks == 264);
    // The calibration includes the kernel's own microsecond.
    CHECK_NEAR(load.kernels_listed.took_ns.back(), 1e6, 2e4);
    CHECK(load.ended_ns - load.started_ns >= 0.9 * static_cast<double>(request.duration_ns));
    request.in_flight = 1;
    request.rounds = load.rounds;
    request.start_at_ns = now_ns();
    const Load one_by_one = measure_load(session, request);
    check_load(one_by_one, request);
    CHECK(one_by_one.rounds == load.rounds && one_by_one.most_in_flight <= 1);
  }
}

void test_grids(DeviceSession& session) {
  LoadRequest many = request_of(LoadCall::kKernel, 1'000'000);
  many.blocks_per_multiprocessor = 1000;
  const Load blocks = measure_load(session, many);
  check_load(blocks, many);
  CHECK(blocks.blocks == 132'000 && blocks.rounds < 10);
  LoadRequest nodes = request_of(LoadCall::kGraph, 100'000);
  nodes.nodes = 100;
  const Load graph = measure_load(session, nodes);
  check_load(graph, nodes);
  LoadRequest one = request_of(LoadCall::kKernel, 1'000'000);
  one.blocks = 1;
  const Load alone = measure_load(session, one);
  CHECK(alone.blocks == 1 && alone.multiprocessors_used.size() == 1);
}

// A second load starts after the first one's end on the device, and bins keep their numbers.
void test_bins(DeviceSession& session) {
  LoadRequest request = request_of(LoadCall::kKernel, 1'000'000);
  const Load first = measure_load(session, request);
  request.start_at_ns = now_ns() + 50'000'000;
  const Load second = measure_load(session, request);
  CHECK(second.host_started_ns >= 0);
  CHECK(second.first_bin >= first.first_bin + static_cast<double>(first.bins.size()) - 1);
  request.bin_ns = 20'000'000;
  request.start_at_ns = now_ns();
  const Load fine = measure_load(session, request);
  CHECK(fine.bins.size() >= 25 && fine.first_bin > 4 * second.first_bin);
}

// Computed ahead of the host, kernels run back to back: every gap of 0 ns and more is listed.
void test_gaps(DeviceSession& session) {
  LoadRequest request = request_of(LoadCall::kKernel, 100'000);
  request.in_flight = 1;
  request.gap_ns = 0;
  const Load load = measure_load(session, request);
  CHECK(load.gaps == load.kernels - 1);
  CHECK(load.gaps_listed.at_ns.size() == 64);
  for (size_t i = 1; i < load.gaps_listed.at_ns.size(); ++i)
    CHECK(load.gaps_listed.at_ns[i] >= load.gaps_listed.at_ns[i - 1] + load.gaps_listed.took_ns[i - 1]);
}

void test_refusals(DeviceSession& session) {
  LoadRequest nodes = request_of(LoadCall::kKernel, 1'000'000);
  nodes.nodes = 2;
  CHECK(failure_of([&] { measure_load(session, nodes); }).find("Expected one kernel per launch") == 0);
  LoadRequest bins = request_of(LoadCall::kKernel, 1'000'000);
  bins.bin_ns = 1;
  CHECK(failure_of([&] { measure_load(session, bins); }).find("Expected at most 1000000 bins") == 0);
}

void test_cancel(const Driver& driver) {
  CancelToken token;
  DeviceSession session(driver, DeviceTarget(), token);
  token.cancel();
  CHECK(failure_of([&] { measure_load(session, request_of(LoadCall::kKernel, 1'000'000)); }) == "aborted");
}

}  // namespace

int main() {
  test_latest();
  test_arithmetic();
  const Driver& driver = Driver::load(std::nullopt);
  {
    const CancelToken token;
    DeviceSession session(driver, DeviceTarget(), token);
    test_shapes(session);
    test_grids(session);
    test_bins(session);
    test_gaps(session);
    test_refusals(session);
  }
  test_cancel(driver);
  return test::report("load_test");
}
