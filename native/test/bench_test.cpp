// Every measurement block once on the simulated GPU, mainly for the sanitizers; the accuracy tests in test/native check
// the numbers.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "base/clock.h"
#include "base/wait.h"
#include "bench/allocation_pair.h"
#include "bench/call_pair.h"
#include "bench/compute_share.h"
#include "bench/discovery.h"
#include "bench/full_blocks.h"
#include "bench/full_check.h"
#include "bench/gpu_state.h"
#include "bench/inspect.h"
#include "bench/launch_latency.h"
#include "bench/layer_probe.h"
#include "bench/live_set.h"
#include "bench/memory_churn.h"
#include "bench/memory_latency.h"
#include "bench/on_core.h"
#include "bench/on_node.h"
#include "bench/paced_launch.h"
#include "bench/start_up.h"
#include "test/check.h"
#include "test/failure_of.h"

using namespace gvb;
using test::failure_of;

namespace {

double middle(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return samples[samples.size() / 2];
}

// Numbers of open files on an H200 with driver 580: NVML opens 6, cuInit 7 more, the context 16.
void test_initialised_at() {
  const DeviceFiles none{0, 0}, nvml{6, 1}, cuda{7, 1}, both{13, 2}, context{29, 2};
  const auto when = [](const DeviceFileLooks& looks) { return initialised_at(looks); };
  CHECK(when({none, nvml, nvml, nvml, both, context}) == InitialisedAt::kInit);
  CHECK(when({none, nvml, nvml, both, both, context}) == InitialisedAt::kLookUp);
  CHECK(when({none, nvml, both, both, both, context}) == InitialisedAt::kLoad);
  CHECK(when({cuda, both, both, both, both, context}) == InitialisedAt::kProcessStart);
  // A layer that initialised NVML when it was loaded, and one that initialised both.
  CHECK(when({nvml, nvml, nvml, nvml, both, context}) == InitialisedAt::kInit);
  CHECK(when({both, both, both, both, both, context}) == InitialisedAt::kProcessStart);
  // A layer that initialised the driver when it was loaded and creates a context in cuInit.
  CHECK(when({cuda, both, both, both, context, context}) == InitialisedAt::kProcessStart);
  CHECK(when({none, none, none, none, none, none}) == InitialisedAt::kUnknown);
}

// Blocks of 1000 ns, the last of which begins 10 ns after the first.
void test_fullness() {
  const Occupied wave{500, 1510}, two_waves{500, 2520};
  const auto full = [](const Occupied& filling, uint64_t small, bool in_time = true) {
    return fullness_of(filling, 1000, small, in_time);
  };
  CHECK(full(wave, 1501) == Fullness::kFull);
  // Block 7 may have begun, and ended, a little before block 0.
  CHECK(full(wave, 1499) == Fullness::kFull);
  CHECK(full(wave, 1399) == Fullness::kRoom && full(wave, 510) == Fullness::kRoom);
  // Some blocks had not begun: they had room too.
  CHECK(full(wave, 509) == Fullness::kUnknown && full(wave, 20) == Fullness::kUnknown);
  // Launched so late that it could not begin sooner.
  CHECK(full(wave, 1520, false) == Fullness::kUnknown);
  CHECK(full(wave, 700, false) == Fullness::kRoom);
  // Blocks of a second wave waited for room, whatever a small one finds.
  CHECK(full(two_waves, 700) == Fullness::kUnknown && full(two_waves, 1501) == Fullness::kFull);
  // Not written, or shorter than its blocks.
  CHECK(full({0, 0}, 700) == Fullness::kUnknown && full(wave, 0) == Fullness::kUnknown);
  CHECK(full({500, 900}, 1501) == Fullness::kUnknown);
}

// One kernel of so many blocks on each multiprocessor, with a small one beside it.
Fullness fullness_with(DeviceSession& session, unsigned each) {
  unsigned long long spin = 20'000'000;
  FullCheck check(session, {spin});
  const abi::CUfunction kernel = session.module.function("gvb_occupy");
  const Stream stream = make_stream(session.cuda);
  const Event finished = make_event(session.cuda);
  abi::CUdeviceptr stamps = check.stamps_of_next(), no_count = 0;
  void* parameters[] = {&stamps, &spin, &no_count};
  const unsigned blocks = each * card_multiprocessors(session), threads = full_blocks(session, kernel).threads;
  GVB_CALL(session.cuda, "filling the card", cuLaunchKernel, kernel, blocks, 1, 1, threads, 1, 1, 0, stream.get(),
           parameters, nullptr);
  GVB_CALL(session.cuda, "recording an event", cuEventRecord, finished.get(), stream.get());
  sleep_until(now_ns() + static_cast<int64_t>(spin / 4));
  check.look(0, finished);
  GVB_CALL(session.cuda, "waiting", cuStreamSynchronize, stream.get());
  return check.result();
}

void test_full_check(DeviceSession& session) {
  const unsigned each = full_blocks(session, session.module.function("gvb_occupy")).each;
  CHECK(each == 2);
  CHECK(fullness_with(session, each) == Fullness::kFull);
  CHECK(fullness_with(session, each - 1) == Fullness::kRoom);
}

void test_discovery() {
  DiscoveryRequest request;
  request.repeats = 3;
  const Discovery found = measure_discovery(request, CancelToken());
  CHECK(found.uuids.size() == 1 && found.uuids[0].rfind("GPU-", 0) == 0);
  CHECK(found.repeats.size() == 3);
  double steps = 0;
  for (const double step : found.first.steps_ns) steps += step;
  CHECK(steps > 0 && steps <= found.first.total_ns);
  CHECK(found.functions.size() == kDiscoverySteps);
  for (const DiscoveryFunction& function : found.functions) CHECK(!function.intercepted && !function.owner.empty());
}

void test_on_core() {
  cpu_set_t before, now;
  CHECK(sched_getaffinity(0, sizeof before, &before) == 0);
  std::set<int> visited;
  for (int turn = 0; turn < 2 * CPU_COUNT(&before); ++turn) {
    const OnCore core(static_cast<uint64_t>(turn));
    CHECK(core.number() && sched_getcpu() == *core.number() && CPU_ISSET(static_cast<size_t>(*core.number()), &before));
    visited.insert(*core.number());
  }
  CHECK(visited.size() == static_cast<size_t>(CPU_COUNT(&before)));
  CHECK(sched_getaffinity(0, sizeof now, &now) == 0 && CPU_EQUAL(&before, &now));
}

LaunchRequest launches(LaunchCall call, unsigned count) {
  LaunchRequest request;
  request.call = call;
  request.count = count;
  request.warmup = 10;
  request.core = 3;
  return request;
}

AllocationRequest allocations(AllocationApi api, size_t bytes) {
  AllocationRequest request;
  request.api = api;
  request.bytes = bytes;
  request.live = 4;
  request.count = 20;
  request.warmup = 2;
  return request;
}

FreeRequest frees(FreeOrder order) {
  FreeRequest request;
  request.bytes = 65536;
  request.live = 16;
  request.order = order;
  request.count = 20;
  request.warmup = 2;
  return request;
}

LiveSetRequest live_sets(std::vector<uint64_t> lives, unsigned queries) {
  LiveSetRequest request;
  request.bytes = 65536;
  request.lives = std::move(lives);
  request.count = 20;
  request.warmup = 2;
  request.queries = queries;
  return request;
}

PacedLaunchRequest paced(LaunchCall call, uint64_t spin_ns) {
  PacedLaunchRequest request;
  request.call = call;
  request.count = 10;
  request.warmup = 2;
  request.period_ns = 1'000'000;
  request.spin_ns = spin_ns;
  request.grid = 64;
  return request;
}

PairRequest pairs(const std::string& name) {
  PairRequest request;
  request.name = name;
  request.batches = 4;
  request.calls = 100;
  request.max_batch_ns = 20'000;
  request.gap_ns = 1000;
  return request;
}

AllocationPairRequest allocation_pairs(FreeOrder order, size_t bytes) {
  AllocationPairRequest request;
  request.bytes = bytes;
  request.live = 8;
  request.order = order;
  request.count = 6;
  request.warmup = 1;
  request.visits = 2;
  return request;
}

ComputeShareRequest compute_share(unsigned duration_ms) {
  ComputeShareRequest request;
  request.duration_ms = duration_ms;
  request.spin_ns = 2000;
  request.in_flight = 8;
  request.bin_ms = 50;
  return request;
}

struct Counted {
  explicit Counted(const DeviceSession&) { ++made; }
  ~Counted() { ++gone; }
  static inline int made = 0, gone = 0;
};

void test_processor_lists() {
  const auto all = processors_of("0-2,5");
  CHECK(all && CPU_COUNT(&*all) == 4 && CPU_ISSET(2, &*all) && CPU_ISSET(5, &*all) && !CPU_ISSET(3, &*all));
  for (const char* wrong : {"", "2-1", "1-", "-1", "1,x", "99999999"}) CHECK(!processors_of(wrong));
}

// The plan of a churn follows from its seed, and keeps the specified amount.
void test_churn_plan() {
  constexpr uint64_t kKiB = 1024, kMiB = 1024 * kKiB, kFill = 2000 * kMiB, kKeep = 1000 * kMiB;
  const ChurnSizes sizes = {64 * kKiB, 64 * kKiB, 64 * kMiB};
  const auto plan_of = [&](uint64_t seed) { return plan_churn(std::mt19937_64(seed), kFill, sizes, kKeep); };
  const ChurnPlan plan = plan_of(7);
  CHECK(plan.sizes == plan_of(7).sizes && plan.freed == plan_of(7).freed);
  CHECK(plan.sizes != plan_of(8).sizes);
  CHECK(plan.freed.size() + plan.kept.size() == plan.sizes.size());
  uint64_t all = 0, kept = 0, small = 0;
  for (const size_t bytes : plan.sizes) {
    CHECK(bytes % sizes.step == 0 && bytes >= sizes.smallest && bytes <= sizes.largest);
    all += bytes;
    small += bytes < 2 * kMiB ? 1 : 0;
  }
  for (const size_t place : plan.kept) kept += plan.sizes[place];
  CHECK(all <= kFill && all > kFill - sizes.largest);
  CHECK(kept <= kKeep && kept > kKeep - sizes.largest);
  // Log-uniform: half of the blocks below the middle of the octaves.
  CHECK(small > plan.sizes.size() / 4 && small < plan.sizes.size() * 3 / 4);
  std::vector<bool> seen(plan.sizes.size());
  for (const auto* places : {&plan.freed, &plan.kept})
    for (const size_t place : *places) {
      CHECK(!seen[place]);
      seen[place] = true;
    }
}

void test_kept(const Driver& driver) {
  const CancelToken token;
  {
    DeviceSession session(driver, DeviceTarget(), token);
    CHECK(&session.kept<Counted>() == &session.kept<Counted>() && Counted::made == 1);
    // Objects kept in the session are used again, and calls of several kinds can share it.
    for (const LaunchCall call : {LaunchCall::kGraph, LaunchCall::kKernel, LaunchCall::kGraph})
      CHECK(measure_launches(session, launches(call, 3)).start_ns.size() == 3);
    CHECK(Counted::gone == 0);
  }
  CHECK(Counted::made == 1 && Counted::gone == 1);
}

void test_launches(DeviceSession& session) {
  for (const LaunchCall call : {LaunchCall::kKernel, LaunchCall::kKernelEx, LaunchCall::kGraph}) {
    const LaunchBlock block = measure_launches(session, launches(call, 100));
    CHECK(block.submit_ns.size() == 100 && block.start_ns.size() == 100 && block.round_trip_ns.size() == 100);
    CHECK(middle(block.submit_ns) >= 2400);
    // A sanitizer slows the simulated device's answers and so biases the clock mapping; the accuracy tests check
    // values.
    CHECK(std::isfinite(middle(block.start_ns)) && std::isfinite(block.mapping.residual_ns));
    CHECK(middle(block.round_trip_ns) > middle(block.submit_ns));
    CHECK(block.mapping.tick_ns == 32);
    CHECK(block.core.has_value());
  }
}

void test_memory(DeviceSession& session) {
  for (const AllocationApi api : {AllocationApi::kMemAlloc, AllocationApi::kMemCreate, AllocationApi::kAllocAsync}) {
    const AllocationBlock block = measure_allocations(session, allocations(api, 0));
    CHECK(block.bytes == 2 << 20);
    CHECK(block.alloc_ns.size() == 20 && block.free_ns.size() == 20);
  }
  for (const FreeOrder order : {FreeOrder::kFifo, FreeOrder::kLifo, FreeOrder::kRandom}) {
    const FreeBlock block = measure_frees(session, frees(order));
    CHECK(block.free_ns.size() == 20);
    CHECK(middle(block.free_ns) >= 50'000);
    CHECK(block.used_before && block.used_after && *block.used_before == *block.used_after);
  }
  CHECK(measure_double_free(session).code == abi::CUDA_ERROR_INVALID_VALUE);
  CHECK(measure_double_free(session).name == "CUDA_ERROR_INVALID_VALUE");
}

void test_live_sets(DeviceSession& session) {
  const std::vector<LiveSetCell> cells = measure_live_sets(session, live_sets({16, 0, 4}, 4));
  CHECK(cells.size() == 3 && cells[0].live == 16 && cells[1].live == 0 && cells[2].live == 4);
  for (const LiveSetCell& cell : cells) {
    CHECK(cell.alloc_ns.size() == 20 && cell.free_ns.size() == 20 && cell.query_ns.size() == 20);
    CHECK(middle(cell.alloc_ns) >= 40'000 && middle(cell.free_ns) >= 50'000 && middle(cell.query_ns) > 0);
  }
  CHECK(measure_live_sets(session, live_sets({1}, 0))[0].query_ns.empty());
}

void test_paced_launches(DeviceSession& session) {
  for (const LaunchCall call :
       {LaunchCall::kKernel, LaunchCall::kKernelEx, LaunchCall::kGraph, LaunchCall::kCooperative}) {
    for (const uint64_t spin_ns : {uint64_t{0}, uint64_t{10'000}}) {
      const int64_t from = now_ns();
      const PacedLaunches launches = measure_paced_launches(session, paced(call, spin_ns));
      CHECK(launches.took_ns.size() == 10 && middle(launches.took_ns) >= 2400);
      CHECK(
          std::all_of(launches.preempted.begin(), launches.preempted.end(), [](unsigned place) { return place < 10; }));
      CHECK(now_ns() - from >= 11'000'000);
    }
  }
}

constexpr const char* kPatched = "cuMemAlloc_v2";
constexpr size_t kPatchedByte = 3;  // not executed while it is changed

void test_pairs(DeviceSession& session) {
  CHECK(pair_function_names().size() >= 25);
  for (const std::string& name : pair_function_names()) {
    const PairBlock block = measure_pair(session, pairs(name));
    CHECK(block.hooked_ns.size() == 4 && block.bare_ns.size() == 4);
    CHECK(!block.owner.empty());
  }
  CHECK(failure_of([&] { measure_pair(session, pairs("cuNoSuchCall")); }).find("cuNoSuchCall") == 0);
}

void test_allocation_pairs(DeviceSession& session) {
  const uint64_t used = used_bytes(session).value_or(0);
  for (const FreeOrder order : {FreeOrder::kFifo, FreeOrder::kLifo, FreeOrder::kRandom}) {
    const AllocationPairs pairs = measure_allocation_pairs(session, allocation_pairs(order, 65536));
    for (const PairBlock* block : {&pairs.allocation, &pairs.free}) {
      CHECK(block->hooked_ns.size() == 12 && block->bare_ns.size() == 12);
      CHECK(!block->intercepted && !block->owner.empty() && block->owner == block->bare_owner);
      CHECK(!block->achieved_ns);
    }
    CHECK(middle(pairs.allocation.bare_ns) >= 40'000 && middle(pairs.free.bare_ns) >= 50'000);
  }
  // No block of either set stays allocated, whether the measurement ends or fails halfway.
  const AllocationPairRequest too_large = allocation_pairs(FreeOrder::kFifo, size_t{20} << 30);
  CHECK(failure_of([&] { measure_allocation_pairs(session, too_large); }).find("CUDA_ERROR_OUT_OF_MEMORY") !=
        std::string::npos);
  CHECK(used_bytes(session).value_or(1) == used);
}

// If the driver's own code jumps into a layer, there is no bare call.
void test_patched_pair(DeviceSession& session) {
  void* const function = slot(session.driver.tables.reference_of(session.cuda.path), cuda_function_index(kPatched));
  unsigned char* const code = static_cast<unsigned char*>(function);
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* const start = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(code) & ~(page - 1));
  CHECK(mprotect(start, 2 * page, PROT_READ | PROT_WRITE | PROT_EXEC) == 0);
  const unsigned char was = code[kPatchedByte];
  code[kPatchedByte] = static_cast<unsigned char>(~was);
  const auto refused = [&](const std::string& name) {
    return failure_of([&] { paired_pointers(session, name); }).find(name + " was overwritten in the driver") == 0;
  };
  CHECK(refused(kPatched) && !refused("cuMemFree_v2"));
  CHECK(failure_of([&] {
          measure_allocation_pairs(session, allocation_pairs(FreeOrder::kFifo, 65536));
        }).find(kPatched) == 0);
  code[kPatchedByte] = was;
  CHECK(mprotect(start, 2 * page, PROT_READ | PROT_EXEC) == 0);
  CHECK(!refused(kPatched));
}

void test_errors(DeviceSession& session) {
  CHECK(failure_of([&] {
          Module(session.cuda, "not PTX at all");
        }).find("cuModuleLoadDataEx returned CUDA_ERROR_INVALID") == 0);
  CHECK(failure_of([&] { session.module.function("absent"); }).find("CUDA_ERROR_NOT_FOUND") != std::string::npos);
  CHECK(failure_of([&] {
          measure_allocations(session, allocations(AllocationApi::kMemAlloc, size_t{1} << 45));
        }).find("CUDA_ERROR_OUT_OF_MEMORY") != std::string::npos);
  CHECK(!failure_of([&] { find_device(session.driver, session.cuda, 7); }).empty());
  CHECK(!failure_of([&] { find_device(session.driver, session.cuda, std::string("GPU-none")); }).empty());
  CHECK(!failure_of([&] { find_device(session.driver, session.cuda, std::string("x")); }).empty());
}

void test_views(DeviceSession& session) {
  const auto state = read_gpu_state(session.driver.nvml.api, session.uuid, GpuDetail::kAll);
  const auto readings = read_gpu_state(session.driver.nvml.api, session.uuid, GpuDetail::kReadings);
  CHECK(readings && readings->sm_clock_mhz && readings->power_w && readings->event_reasons && readings->used_bytes);
  CHECK(readings && !readings->processes && !readings->max_sm_clock_mhz && !readings->persistence_mode);
  CHECK(state && state->sm_clock_mhz && state->temperature_c && state->gpu_percent && state->persistence_mode);
  CHECK(state && state->processes && state->processes->size() == 1);
  CHECK(!read_gpu_state(session.driver.nvml.api, "GPU-none", GpuDetail::kAll));
  CHECK(visible_memory(session).total_bytes > 0);
  const Inspection seen = inspect(session.driver);
  CHECK(seen.devices.size() == 1 && !seen.cuda && !seen.nvml && seen.simulated);
  const Provenance owners = provenance(session.driver);
  CHECK(owners.functions.size() == kCudaFunctionCount);
  for (const auto& function : owners.functions)
    for (const std::string& owner :
         {function.owners.runtime, function.owners.dlsym, function.owners.linked, function.owners.bare})
      CHECK(owner.find("libcuda.so.1") != std::string::npos);
}

void test_layer_probe(DeviceSession& session) {
  const LayerProbe probe = probe_layer(session, {{uint64_t{1} << 20, uint64_t{1} << 50}});
  CHECK(probe.visible_total_bytes.value_or(0) > 0);
  CHECK(!probe.pid_found && !probe.memory_limit_bytes && !probe.sm_percent);
  CHECK(probe.allocations.size() == 2);
  CHECK(probe.allocations[0].code == abi::CUDA_SUCCESS);
  CHECK(probe.allocations[1].code == abi::CUDA_ERROR_OUT_OF_MEMORY);
}

void test_share_arithmetic() {
  constexpr uint64_t kOrigin = 1'700'000'000'000'000'000;
  const auto kernels = [](std::vector<Occupied> stretches) {
    for (Occupied& stretch : stretches) stretch = {kOrigin + stretch.start, kOrigin + stretch.end};
    return stretches;
  };
  const ComputeShare one = share_of(kernels({{0, 250}}), 100);
  CHECK(one.launches == 1 && one.kernel_ns == 250 && one.busy_share == 1);
  CHECK(one.bins == std::vector<double>({1, 1}));
  CHECK(share_of(kernels({{0, 99}}), 100).bins.empty());

  // Busy 40 + 60 + 60 + 100 of 500: a gap within the first window, a kernel across an edge, a whole window empty.
  const ComputeShare gaps = share_of(kernels({{0, 40}, {70, 130}, {130, 190}, {400, 500}}), 100);
  CHECK(gaps.launches == 4 && gaps.kernel_ns == 60);
  CHECK_NEAR(gaps.busy_share, 260.0 / 500, 1e-12);
  const std::vector<double> expected = {0.7, 0.9, 0, 0, 1};
  CHECK(gaps.bins.size() == expected.size());
  for (size_t i = 0; i < expected.size() && i < gaps.bins.size(); ++i) CHECK_NEAR(gaps.bins[i], expected[i], 1e-12);
  CHECK(share_of(kernels({{0, 10}, {10, 40}}), 100).kernel_ns == 20);

  const auto refused = [&](std::vector<Occupied> stamps) {
    return failure_of([&] { share_of(stamps, 100); }).find("Expected kernel ") == 0;
  };
  CHECK(refused({{0, 40}}) && refused({{40, 0}}) && refused({{40, 39}}));
  CHECK(refused({{40, 50}, {60, 0}}) && refused({{40, 50}, {30, 60}}) && refused({{40, 50}, {45, 49}}));
  CHECK(!refused({{40, 50}, {50, 60}}));
  CHECK(failure_of([&] { share_of({{40, 40}}, 100); }).find("Expected kernels that last") == 0);
}

void test_compute_share(DeviceSession& session) {
  // 500 waves of 2 us and a kernel's own 1000 ns; with eight queued, kernels run back to back.
  const ComputeShare share = measure_compute_share(session, compute_share(200));
  CHECK_NEAR(share.kernel_ns, 1'001'000, 64);
  // On a busy machine the host does not always keep them queued.
  CHECK(share.launches >= 20 && share.busy_share > 0.1 && share.busy_share < 1.0001);
  CHECK(!share.bins.empty());
  for (const double bin : share.bins) CHECK(bin >= 0 && bin < 1.0001);
  // So short that the table of stamps fills up.
  ComputeShareRequest tiny = compute_share(60'000);
  tiny.blocks = 1;
  tiny.threads_per_block = 32;
  tiny.spin_ns = 1;
  CHECK(failure_of([&] { measure_compute_share(session, tiny); }).find("Expected kernels so long") == 0);
}

void test_cancel(const Driver& driver) {
  CancelToken token;
  DeviceTarget target;
  target.device = 0;
  target.path = SymbolPath::kDlsym;
  DeviceSession session(driver, target, token);
  token.cancel();
  CHECK(failure_of([&] { measure_launches(session, launches(LaunchCall::kKernel, 1000)); }) == "aborted");
  CHECK(failure_of([&] { measure_compute_share(session, compute_share(60'000)); }) == "aborted");
  CHECK(failure_of([&] { measure_live_sets(session, live_sets({100}, 0)); }) == "aborted");
  CHECK(failure_of([&] { measure_allocation_pairs(session, allocation_pairs(FreeOrder::kFifo, 65536)); }) == "aborted");
  CHECK(failure_of([&] { measure_paced_launches(session, paced(LaunchCall::kKernel, 0)); }) == "aborted");
}

}  // namespace

int main() {
  const int64_t start_at = now_ns() + 300'000'000;
  StartUpRequest request;
  request.device = 0;
  request.recreations = 2;
  request.start_at_ns = start_at;
  const StartUp start = measure_start_up(request, CancelToken());
  CHECK(start.began_at_ns >= start_at && start.began_at_ns >= start.ready_at_ns);
  CHECK(static_cast<double>(start.first_result_at_ns - start.began_at_ns) >= start.total_ns);
  CHECK(start.first_release_ns && start.gpu_free_after_bytes &&
        *start.gpu_free_after_bytes > start.gpu_free_during_bytes);
  CHECK(start.result_correct && start.inactive_between && start.left_list_between.value_or(false));
  CHECK(start.init_ns >= 29e6 && start.context_ns >= 29e6 && start.retain_ns.size() == 2);
  const Driver& driver = Driver::load(std::nullopt);
  CHECK(driver.simulated);
  test_share_arithmetic();
  test_initialised_at();
  test_fullness();
  test_discovery();
  test_on_core();
  test_processor_lists();
  test_churn_plan();
  test_kept(driver);
  {
    CancelToken token;
    DeviceSession session(driver, DeviceTarget(), token);
    test_launches(session);
    test_memory(session);
    test_live_sets(session);
    test_paced_launches(session);
    test_pairs(session);
    test_allocation_pairs(session);
    test_patched_pair(session);
    test_errors(session);
    test_views(session);
    test_layer_probe(session);
    test_compute_share(session);
    test_full_check(session);
  }
  test_cancel(driver);
  return test::report("bench_test");
}
