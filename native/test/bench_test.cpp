// Every measurement block once on the simulated GPU, mainly for the sanitizers; the truth tests in test/native check
// the numbers.
#include <algorithm>
#include <cmath>
#include <string>

#include "bench/call_pair.h"
#include "bench/gpu_state.h"
#include "bench/inspect.h"
#include "bench/launch_latency.h"
#include "bench/layer_probe.h"
#include "bench/memory_latency.h"
#include "bench/start_up.h"
#include "test/check.h"

using namespace gvb;

namespace {

double middle(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return samples[samples.size() / 2];
}

template <class Attempt>
std::string failure_of(const Attempt& attempt) {
  try {
    attempt();
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "";
}

void test_launches(DeviceSession& session) {
  for (const LaunchCall call : {LaunchCall::kKernel, LaunchCall::kKernelEx, LaunchCall::kGraph}) {
    const LaunchBlock block = measure_launches(session, {call, 100, 10, 1});
    CHECK(block.submit_ns.size() == 100 && block.start_ns.size() == 100 && block.round_trip_ns.size() == 100);
    CHECK(middle(block.submit_ns) >= 2400);
    // A sanitizer slows the simulated device's answers and so biases the clock mapping; the truth tests check values.
    CHECK(std::isfinite(middle(block.start_ns)) && std::isfinite(block.residual_ns));
    CHECK(middle(block.round_trip_ns) > middle(block.submit_ns));
    CHECK(block.tick_ns == 32);
  }
}

void test_memory(DeviceSession& session) {
  for (const AllocationApi api : {AllocationApi::kMemAlloc, AllocationApi::kMemCreate, AllocationApi::kAllocAsync}) {
    const AllocationBlock block = measure_allocations(session, {api, 0, 4, 20, 2});
    CHECK(block.bytes == 2 << 20);
    CHECK(block.alloc_ns.size() == 20 && block.free_ns.size() == 20);
  }
  for (const FreeOrder order : {FreeOrder::kFifo, FreeOrder::kLifo, FreeOrder::kRandom}) {
    const FreeBlock block = measure_frees(session, {65536, 16, order, 20, 2, 1});
    CHECK(block.free_ns.size() == 20);
    CHECK(middle(block.free_ns) >= 50'000);
    CHECK(block.used_before && block.used_after && *block.used_before == *block.used_after);
  }
  CHECK(measure_double_free(session) == abi::CUDA_ERROR_INVALID_VALUE);
}

void test_pairs(DeviceSession& session) {
  CHECK(pair_function_names().size() >= 25);
  for (const std::string& name : pair_function_names()) {
    const PairBlock block = measure_pair(session, {name, 4, 100, 20'000, 1});
    CHECK(block.hooked_ns.size() == 4 && block.bare_ns.size() == 4);
    CHECK(!block.owner.empty());
  }
  CHECK(failure_of([&] { measure_pair(session, {"cuNoSuchCall", 1, 1, 1, 1}); }).find("cuNoSuchCall") == 0);
}

void test_errors(DeviceSession& session) {
  CHECK(failure_of([&] {
          Module(session.cuda, "not PTX at all");
        }).find("cuModuleLoadDataEx returned CUDA_ERROR_INVALID") == 0);
  CHECK(failure_of([&] { session.module.function("absent"); }).find("CUDA_ERROR_NOT_FOUND") != std::string::npos);
  CHECK(failure_of([&] {
          measure_allocations(session, {AllocationApi::kMemAlloc, size_t{1} << 45, 1, 1, 0});
        }).find("CUDA_ERROR_OUT_OF_MEMORY") != std::string::npos);
  CHECK(!failure_of([&] { find_device(session.driver, session.cuda, 7); }).empty());
  CHECK(!failure_of([&] { find_device(session.driver, session.cuda, std::string("GPU-none")); }).empty());
  CHECK(!failure_of([&] { find_device(session.driver, session.cuda, std::string("x")); }).empty());
}

void test_views(DeviceSession& session) {
  const auto state = read_gpu_state(session.driver.nvml.api, session.uuid);
  CHECK(state && state->sm_clock_mhz && state->temperature_c && state->gpu_percent && state->persistence_mode);
  CHECK(state && state->processes && state->processes->size() == 1);
  CHECK(!read_gpu_state(session.driver.nvml.api, "GPU-none"));
  CHECK(visible_memory(session).total_bytes > 0);
  const Inspection seen = inspect(session.driver);
  CHECK(seen.devices.size() == 1 && !seen.cuda_error && !seen.nvml_error);
  const Provenance owners = provenance(session.driver);
  CHECK(owners.cuda.size() == kCudaFunctionCount);
  for (const FunctionOwners& row : owners.cuda)
    for (const std::string& owner : row.owners) CHECK(owner.find("libcuda.so.1") != std::string::npos);
}

void test_layer_probe(DeviceSession& session) {
  const LayerProbe probe = probe_layer(session, {uint64_t{1} << 20, uint64_t{1} << 50});
  CHECK(probe.visible_total_bytes.value_or(0) > 0);
  CHECK(!probe.pid_found && !probe.memory_limit_bytes && !probe.sm_percent);
  CHECK(probe.allocations.size() == 2);
  CHECK(probe.allocations[0].code == abi::CUDA_SUCCESS);
  CHECK(probe.allocations[1].code == abi::CUDA_ERROR_OUT_OF_MEMORY);
}

void test_cancel(const Driver& driver) {
  CancelToken token;
  DeviceSession session(driver, SymbolPath::kDlsym, 0, token);
  token.cancel();
  CHECK(failure_of([&] { measure_launches(session, {LaunchCall::kKernel, 1000, 0, 1}); }) == "aborted");
}

}  // namespace

int main() {
  const StartUp start =
      measure_start_up({std::nullopt, 0, SymbolPath::kRuntime, ContextApi::kPrimary, 2}, CancelToken());
  CHECK(start.result_correct && start.inactive_between && start.left_list_between.value_or(false));
  CHECK(start.init_ns >= 29e6 && start.context_ns >= 29e6 && start.retain_ns.size() == 2);
  const Driver& driver = Driver::load(std::nullopt);
  CHECK(driver.simulated);
  {
    CancelToken token;
    DeviceSession session(driver, SymbolPath::kRuntime, 0, token);
    test_launches(session);
    test_memory(session);
    test_pairs(session);
    test_errors(session);
    test_views(session);
    test_layer_probe(session);
  }
  test_cancel(driver);
  return test::report("bench_test");
}
