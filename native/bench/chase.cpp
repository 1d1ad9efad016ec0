#include "bench/chase.h"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/wait.h"
#include "bench/block_counters.h"
#include "bench/kept_modules.h"
#include "kernels/chase_report.h"

namespace gvb {

namespace {

constexpr unsigned kLinkThreads = 256, kChaseThreads = 32;
constexpr uint64_t kStepsOfWalk = 16384;  // of a block: a few milliseconds
constexpr size_t kWalksInFlight = 3, kMostWalks = 1024;
constexpr uint64_t kMostLines = uint64_t{1} << 31;
constexpr unsigned kWarmUpPasses = 2;
constexpr uint32_t kNowhere = ~uint32_t{0};

using ChaseReport = std::array<uint64_t, kChaseWords>;

[[noreturn]] void fail(const std::string& what) {
  throw Failure(FailureKind::kInvalidResult, "a call reported success without doing its work: " + what + ".");
}

uint64_t l2_bytes_of(const DeviceSession& session) {
  const uint64_t l2 = card_l2_bytes(session);
  if (l2 == 0) throw Failure(FailureKind::kFunctionMissing, "The device does not report an L2 cache.");
  return l2;
}

// A uniformly random cycle: lines in random order, each followed by the next.
std::vector<uint32_t> random_order(size_t lines) {
  std::vector<uint32_t> order(lines);
  std::iota(order.begin(), order.end(), 0U);
  std::shuffle(order.begin(), order.end(), std::mt19937_64(static_cast<uint64_t>(now_ns())));
  return order;
}

// Lines of memory that are linked to a cycle, which blocks walk from places that divide it evenly.
class Cycle {
 public:
  Cycle(DeviceSession& session, const ChaseSet& set)
      : cuda_(session.cuda),
        module_(kept_module(session, "chase")),
        set_(set),
        l2_bytes_(l2_bytes_of(session)),
        blocks_(set.blocks == 0 ? card_multiprocessors(session) : set.blocks),
        steps_of_pass_(steps_of_pass()),
        order_(make_memory(cuda_, lines() * sizeof(uint32_t))),
        starts_(make_memory(cuda_, blocks_ * sizeof(uint32_t))),
        ends_(make_memory(cuda_, kMostWalks * blocks_ * sizeof(uint32_t))),
        reports_(make_memory(cuda_, kMostWalks * sizeof(ChaseReport))),
        lines_(make_memory(cuda_, bytes())),
        stream_(make_stream(cuda_)) {
    link();
  }
  ~Cycle() { cuda_.try_call(cuda_.api.cuStreamSynchronize, stream_.get()); }
  Cycle(const Cycle&) = delete;
  Cycle& operator=(const Cycle&) = delete;

  bool is(const ChaseSet& other) const { return set_.eighths == other.eighths && set_.blocks == other.blocks; }
  unsigned passes_of_walk() const {
    return static_cast<unsigned>(std::max(uint64_t{1}, kStepsOfWalk / steps_of_pass_));
  }

  // Forgets earlier walks.
  void begin() {
    ChaseReport none{};
    none[kChaseBegan] = std::numeric_limits<uint64_t>::max();
    const std::vector<ChaseReport> all(kMostWalks, none);
    GVB_CALL(cuda_, "clearing the reports", cuMemcpyHtoD_v2, reports_.get(), all.data(), size_of(all));
    GVB_CALL(cuda_, "clearing the ends", cuMemsetD32_v2, ends_.get(), kNowhere, kMostWalks * blocks_);
    GVB_CALL(cuda_, "clearing the ends", cuCtxSynchronize);
    passes_.clear();
  }

  void walk(unsigned passes) {
    const size_t walk = passes_.size();
    abi::CUdeviceptr lines = lines_.get(), starts = starts_.get(), ends = ends_.get() + walk * blocks_ * 4,
                     report = reports_.get() + walk * sizeof(ChaseReport);
    auto count = static_cast<uint32_t>(this->lines()), steps = static_cast<uint32_t>(passes * steps_of_pass_);
    void* parameters[] = {&lines, &count, &starts, &steps, &ends, &report};
    GVB_CALL(cuda_, "launching a walk", cuLaunchKernel, module_.function("gvb_chase"), blocks_, 1, 1, kChaseThreads, 1,
             1, 0, stream_.get(), parameters, nullptr);
    passes_.push_back(passes);
  }

  size_t walks() const { return passes_.size(); }
  abi::CUstream stream() const { return stream_.get(); }
  void wait() const { GVB_CALL(cuda_, "waiting for a walk", cuStreamSynchronize, stream_.get()); }

  // Of the walks from `first` on, all of which are over.
  Chase described(size_t first) const {
    check_ends();
    std::vector<ChaseReport> reports(walks());
    if (!reports.empty())
      GVB_CALL(cuda_, "reading the reports", cuMemcpyDtoH_v2, reports.data(), reports_.get(), size_of(reports));
    Chase out;
    out.l2_bytes = l2_bytes_;
    out.bytes = bytes();
    out.blocks = blocks_;
    if (first >= reports.size()) return out;
    // Device times are too large for a double to hold nanoseconds.
    const uint64_t origin_ms = reports[first][kChaseBegan] / 1'000'000;
    out.origin_ms = static_cast<double>(origin_ms);
    uint64_t cycles = 0, ns = 0;
    for (size_t walk = first; walk < reports.size(); ++walk) {
      add_latencies(reports[walk], passes_[walk] * lines(), &out);
      out.from_ns.push_back(static_cast<double>(reports[walk][kChaseBegan] - origin_ms * 1'000'000));
      out.to_ns.push_back(static_cast<double>(reports[walk][kChaseEnded] - origin_ms * 1'000'000));
      cycles += reports[walk][kChaseCycles];
      ns += reports[walk][kChaseNs];
    }
    if (ns == 0) fail("a walk took no time by the device's clock");
    out.cycles_per_ns = static_cast<double>(cycles) / static_cast<double>(ns);
    return out;
  }

 private:
  template <class T>
  static size_t size_of(const std::vector<T>& all) {
    return all.size() * sizeof(T);
  }

  uint64_t lines() const { return uint64_t{steps_of_pass_} * blocks_; }
  uint64_t bytes() const { return lines() * kChaseLineBytes; }

  uint64_t steps_of_pass() const {
    const uint64_t lines = set_.eighths * (l2_bytes_ / 8) / kChaseLineBytes;
    if (lines > kMostLines)
      throw Failure(FailureKind::kFunctionMissing, "A working set of more than 256 GiB cannot be walked.");
    return std::max(uint64_t{1}, lines / blocks_);
  }

  void link() {
    const std::vector<uint32_t> order = random_order(lines());
    for (unsigned block = 0; block < blocks_; ++block) first_lines_.push_back(order[block * steps_of_pass_]);
    GVB_CALL(cuda_, "copying the order of lines", cuMemcpyHtoD_v2, order_.get(), order.data(), size_of(order));
    GVB_CALL(cuda_, "copying the first lines", cuMemcpyHtoD_v2, starts_.get(), first_lines_.data(),
             size_of(first_lines_));
    const BlockCounters counters(cuda_);
    abi::CUdeviceptr lines_at = lines_.get(), order_at = order_.get(), counted = counters.device();
    auto count = static_cast<uint32_t>(lines());
    void* parameters[] = {&lines_at, &order_at, &count, &counted};
    GVB_CALL(cuda_, "linking lines", cuLaunchKernel, module_.function("gvb_chase_link"), blocks_, 1, 1, kLinkThreads, 1,
             1, 0, stream_.get(), parameters, nullptr);
    wait();
    if (counters.read() != blocks_)
      fail(std::to_string(blocks_) + " blocks that link lines were launched with success, the device ran " +
           std::to_string(counters.read()));
  }

  // Whole passes end where a later block starts.
  void check_ends() const {
    std::vector<uint32_t> ends(walks() * blocks_);
    if (ends.empty()) return;
    GVB_CALL(cuda_, "reading the ends", cuMemcpyDtoH_v2, ends.data(), ends_.get(), size_of(ends));
    for (size_t i = 0; i < ends.size(); ++i) {
      const size_t walk = i / blocks_, block = i % blocks_;
      if (ends[i] == first_lines_[(block + passes_[walk]) % blocks_]) continue;
      fail("walk " + std::to_string(walk) + " through a working set was launched with success, block " +
           std::to_string(block) + (ends[i] == kNowhere ? " did not run" : " ended elsewhere"));
    }
  }

  // Of the next walk.
  static void add_latencies(const ChaseReport& report, uint64_t expected, Chase* out) {
    const auto walk = static_cast<double>(out->from_ns.size());
    uint64_t counted = 0;
    for (unsigned bin = 0; bin < kChaseBins; ++bin) {
      const uint64_t count = report[kChaseCounts + bin];
      if (count == 0) continue;
      counted += count;
      out->walk.push_back(walk);
      out->cycles.push_back(static_cast<double>(report[kChaseSums + bin]) / static_cast<double>(count));
      out->loads.push_back(static_cast<double>(count));
    }
    if (counted != expected || report[kChaseEnded] <= report[kChaseBegan])
      fail("of " + std::to_string(expected) + " loads the device timed " + std::to_string(counted));
  }

  const Cuda& cuda_;
  const Module& module_;
  const ChaseSet set_;
  const uint64_t l2_bytes_;
  const unsigned blocks_;
  const uint64_t steps_of_pass_;
  const DeviceMemory order_;
  const DeviceMemory starts_;
  const DeviceMemory ends_;
  const DeviceMemory reports_;
  const DeviceMemory lines_;
  const Stream stream_;
  std::vector<uint32_t> first_lines_;  // of each block
  std::vector<unsigned> passes_;       // of each walk
};

// The latest one stays, so that making it again does not disturb what is cached.
class KeptCycle {
 public:
  explicit KeptCycle(DeviceSession& session) : session_(session) {}

  Cycle& of(const ChaseSet& set) {
    if (cycle_ && cycle_->is(set)) return *cycle_;
    cycle_.reset();
    cycle_ = std::make_unique<Cycle>(session_, set);
    return *cycle_;
  }

 private:
  DeviceSession& session_;
  std::unique_ptr<Cycle> cycle_;
};

// From the start of the window to the end of a walk, which is waited for.
double device_ns(const Cuda& cuda, const Event& began, const Event& finished) {
  GVB_CALL(cuda, "waiting for a walk", cuEventSynchronize, finished.get());
  float ms = 0;
  GVB_CALL(cuda, "reading the time between events", cuEventElapsedTime, &ms, began.get(), finished.get());
  return double{ms} * 1e6;
}

}  // namespace

Chase chase_for(DeviceSession& session, const ChaseRequest& request) {
  const Cuda& cuda = session.cuda;
  Cycle& cycle = session.kept<KeptCycle>().of(request);
  const Event began = make_event(cuda);
  std::vector<Event> finished;
  for (size_t i = 0; i < kWalksInFlight; ++i) finished.push_back(make_event(cuda));
  cycle.begin();
  cycle.walk(kWarmUpPasses);
  cycle.wait();
  wait_for_release(request.start_at_ns, [&] { session.token.check(); });
  const int64_t until = std::max(now_ns(), request.start_at_ns) + static_cast<int64_t>(request.window_ns);
  GVB_CALL(cuda, "recording an event", cuEventRecord, began.get(), cycle.stream());
  for (size_t walk = 0; cycle.walks() < kMostWalks && (walk == 0 || now_ns() < until); ++walk) {
    session.token.check();
    const Event& last = finished[walk % kWalksInFlight];
    if (walk >= kWalksInFlight && device_ns(cuda, began, last) >= static_cast<double>(request.window_ns)) break;
    cycle.walk(cycle.passes_of_walk());
    GVB_CALL(cuda, "recording an event", cuEventRecord, last.get(), cycle.stream());
  }
  cycle.wait();
  return cycle.described(1);
}

Chase chase_passes(DeviceSession& session, const ChasePassesRequest& request) {
  Cycle& cycle = session.kept<KeptCycle>().of(request);
  cycle.begin();
  if (request.passes > 0) cycle.walk(request.passes);
  cycle.wait();
  return cycle.described(0);
}

}  // namespace gvb
