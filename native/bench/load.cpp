#include "bench/load.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <string>

#include "base/wait.h"
#include "bench/latest.h"
#include "bench/load_kernel.h"
#include "bench/load_ledger.h"
#include "bench/partition.h"
#include "bench/thread_stream.h"

namespace gvb {

namespace {

constexpr uint64_t kMostBins = 1'000'000;
// Time beyond start and duration: set-up, and kernels that end after the load.
constexpr uint64_t kSpareNs = 2'000'000'000;
// The host sleeps while it waits for longer kernels, so that an abort is noticed.
constexpr uint64_t kLongKernelNs = 50'000'000;
constexpr int64_t kNapNs = 500'000;

bool is_graph(LoadCall call) { return call == LoadCall::kGraph || call == LoadCall::kThreadGraph; }
bool in_thread_stream(LoadCall call) { return call == LoadCall::kThreadKernel || call == LoadCall::kThreadGraph; }

struct LatestStretches {
  Latest at_ns, took_ns;
  void add(double at, double took) {
    at_ns.add(at);
    took_ns.add(took);
  }
  Stretches in_order() const { return {at_ns.in_order(), took_ns.in_order()}; }
};

class LoadRun {
 public:
  LoadRun(DeviceSession& session, const LoadRequest& request)
      : session_(session),
        cuda_(session.cuda),
        request_(request),
        kernel_(session, request),
        ledger_(size_t{request.in_flight} * request.nodes, cuda_, bins()),
        thread_calls_(in_thread_stream(request.call) ? std::make_unique<ThreadStreamCalls>(session.driver, cuda_)
                                                     : nullptr),
        calls_(thread_calls_ ? thread_calls_->calls() : cuda_),
        partition_(request.partition > 0 ? std::make_unique<Partition>(session, request.partition) : nullptr),
        stream_(thread_calls_ ? Stream(cuda_, nullptr)
                : partition_  ? partition_->make_stream()
                              : make_stream(cuda_)),
        calls_ns_(request.most_listed),
        gaps_{Latest(request.most_listed), Latest(request.most_listed)},
        kernels_{Latest(request.most_listed), Latest(request.most_listed)} {
    for (unsigned i = 0; i < request.in_flight; ++i) finished_.push_back(make_event(cuda_));
  }
  // Kernels that still run write to the ledger.
  ~LoadRun() {
    ledger_.stop();
    calls_.try_call(calls_.api.cuStreamSynchronize, stream_.get());
  }
  LoadRun(const LoadRun&) = delete;
  LoadRun& operator=(const LoadRun&) = delete;

  Load run() {
    load_.multiprocessors = kernel_.multiprocessors;
    load_.blocks = kernel_.blocks;
    load_.partition = partition_ ? partition_->multiprocessors() : 0;
    prepare(request_.rounds ? request_.rounds : calibrated_rounds(probe(), request_.kernel_ns));
    open_bins();
    wait_for_release(request_.start_at_ns, [&] { session_.token.check(); });
    const int64_t started = now_ns();
    until_ = std::max(started, request_.start_at_ns) + static_cast<int64_t>(request_.duration_ns);
    let_others_begin();
    launch_until_over();
    ledger_.stop();
    while (collected_ < load_.launches) collect();
    finish();
    return std::move(load_);
  }

 private:
  uint64_t bins() const {
    const auto until_start = static_cast<uint64_t>(std::max<int64_t>(request_.start_at_ns - now_ns(), 0));
    return (until_start + request_.duration_ns + kSpareNs) / request_.bin_ns + 2;
  }

  LoadProbe probe() const { return {session_, kernel_, ledger_, calls_, stream_.get()}; }

  void prepare(uint64_t rounds) {
    for (size_t kernel = 0; kernel < size_t{request_.in_flight} * request_.nodes; ++kernel)
      arguments_.emplace_back(kernel, ledger_, rounds);
    load_.rounds = arguments_.front().total();
    if (!is_graph(request_.call)) return;
    for (unsigned slot = 0; slot < request_.in_flight; ++slot) build_graph(slot);
  }

  // A chain of dependent kernels.
  void build_graph(unsigned slot) {
    abi::CUgraph built = nullptr;
    GVB_CALL(cuda_, "creating a graph", cuGraphCreate, &built, 0);
    const Graph graph(cuda_, built);
    abi::CUgraphNode before = nullptr;
    for (unsigned i = 0; i < request_.nodes; ++i) {
      const abi::CUDA_KERNEL_NODE_PARAMS_v1 node{kernel_.function,
                                                 kernel_.blocks,
                                                 1,
                                                 1,
                                                 kernel_.threads,
                                                 1,
                                                 1,
                                                 0,
                                                 arguments_[slot * request_.nodes + i].pointers,
                                                 nullptr};
      const abi::CUgraphNode dependency = before;
      GVB_CALL(cuda_, "adding a kernel node", cuGraphAddKernelNode, &before, built, i > 0 ? &dependency : nullptr,
               i > 0 ? 1 : 0, &node);
    }
    abi::CUgraphExec executable = nullptr;
    GVB_CALL(cuda_, "instantiating a graph", cuGraphInstantiateWithFlags, &executable, built, 0);
    graphs_.emplace_back(cuda_, executable);
  }

  // Reads both clocks, which relates them, and starts the first bin at that time.
  void open_bins() {
    const int64_t before = now_ns();
    const uint64_t device = shortest_kernel(probe()).ended;
    const int64_t after = now_ns();
    const int64_t host = before + (after - before) / 2;
    const uint64_t first_bin = device / request_.bin_ns;
    origin_ = first_bin * request_.bin_ns;
    load_.first_bin = static_cast<double>(first_bin);
    load_.host_bracket_ns = static_cast<double>(after - before);
    load_.host_origin_ns =
        static_cast<double>(host - request_.start_at_ns + static_cast<int64_t>(origin_) - static_cast<int64_t>(device));
    ledger_.open(first_bin, request_.bin_ns);
  }

  void launch_until_over() {
    while (!over()) {
      session_.token.check();
      if (load_.launches - collected_ == request_.in_flight) {
        collect();
        continue;
      }
      launch();
    }
  }

  bool over() const {
    const bool by_host = now_ns() >= until_;
    return load_.launches > 0 && (by_host || (collected_ > 0 && last_ended_ - first_began_ >= request_.duration_ns));
  }

  void launch() {
    const auto slot = static_cast<unsigned>(load_.launches % request_.in_flight);
    for (unsigned i = 0; i < request_.nodes; ++i) ledger_.clear(slot * request_.nodes + i);
    const int64_t called = now_ns();
    if (load_.launches == 0) load_.host_started_ns = static_cast<double>(called - request_.start_at_ns);
    call(slot);
    calls_ns_.add(static_cast<double>(now_ns() - called));
    ++load_.launches;
    if (request_.in_flight > 1)
      GVB_CALL(calls_, "recording an event", cuEventRecord, finished_[slot].get(), stream_.get());
    load_.most_in_flight = std::max(load_.most_in_flight, unfinished());
  }

  void call(unsigned slot) {
    void** parameters = arguments_[size_t{slot} * request_.nodes].pointers;
    const abi::CUfunction function = kernel_.function;
    const unsigned blocks = kernel_.blocks, threads = kernel_.threads;
    switch (request_.call) {
      case LoadCall::kKernel:
      case LoadCall::kThreadKernel:
        GVB_CALL(calls_, "launching a load", cuLaunchKernel, function, blocks, 1, 1, threads, 1, 1, 0, stream_.get(),
                 parameters, nullptr);
        return;
      case LoadCall::kKernelEx: {
        const abi::CUlaunchConfig config{blocks, 1, 1, threads, 1, 1, 0, stream_.get(), nullptr, 0};
        GVB_CALL(calls_, "launching a load", cuLaunchKernelEx, &config, function, parameters, nullptr);
        return;
      }
      case LoadCall::kCooperative:
        GVB_CALL(calls_, "launching a load", cuLaunchCooperativeKernel, function, blocks, 1, 1, threads, 1, 1, 0,
                 stream_.get(), parameters);
        return;
      case LoadCall::kGraph:
      case LoadCall::kThreadGraph:
        GVB_CALL(calls_, "launching a load", cuGraphLaunch, graphs_[slot].get(), stream_.get());
        return;
    }
  }

  // Launches whose last kernel has not ended; reads mapped memory instead of asking the driver.
  unsigned unfinished() const {
    unsigned count = 0;
    for (uint64_t launch = collected_; launch < load_.launches; ++launch)
      if (!ledger_.over((launch % request_.in_flight + 1) * request_.nodes - 1)) ++count;
    return count;
  }

  // Handles the oldest launch that is not known to be over.
  void collect() {
    const auto slot = static_cast<unsigned>(collected_ % request_.in_flight);
    wait_for(slot);
    ++collected_;
    for (unsigned i = 0; i < request_.nodes; ++i) add(ledger_.ran(slot * request_.nodes + i));
  }

  void wait_for(unsigned slot) {
    const unsigned last = (slot + 1) * request_.nodes - 1;
    if (request_.kernel_ns * request_.nodes > kLongKernelNs) sleep_until_over(last);
    if (request_.in_flight > 1)
      GVB_CALL(cuda_, "waiting for a load", cuEventSynchronize, finished_[slot].get());
    else
      GVB_CALL(calls_, "waiting for a load", cuStreamSynchronize, stream_.get());
  }

  // Sleeps until the load's end at most: its kernels then end by themselves.
  void sleep_until_over(unsigned kernel) const {
    while (!ledger_.over(kernel) && now_ns() < until_) {
      session_.token.check();
      nap_ns(kNapNs);
    }
    if (!ledger_.over(kernel)) ledger_.stop();
  }

  void add(const KernelSpan& span) {
    if (load_.kernels == 0) {
      first_began_ = last_began_ = last_ended_ = span.began;
      load_.started_ns = since_origin(span.began);
    }
    if (span.began < last_began_ || span.ended < last_ended_)
      throw Failure(FailureKind::kInvalidResult,
                    "Kernels of one stream ran out of order: their stamps do not belong to the launched work.");
    // The timers of two multiprocessors may differ by one step.
    const uint64_t from = std::max(span.began, last_ended_);
    const auto idle = static_cast<double>(from - last_ended_);
    const auto busy = static_cast<double>(span.ended - from);
    if (load_.kernels > 0 && idle >= static_cast<double>(request_.gap_ns)) {
      gaps_.add(since_origin(last_ended_), idle);
      ++load_.gaps;
    }
    kernels_.add(since_origin(span.began), busy);
    ++load_.kernels;
    load_.busy_ns += busy;
    last_began_ = span.began;
    last_ended_ = span.ended;
  }

  double since_origin(uint64_t device) const { return static_cast<double>(static_cast<int64_t>(device - origin_)); }

  void finish() {
    load_.ended_ns = since_origin(last_ended_);
    load_.gaps_listed = gaps_.in_order();
    load_.kernels_listed = kernels_.in_order();
    load_.calls_ns = calls_ns_.in_order();
    const LedgerContents contents = ledger_.read();
    for (const uint64_t bin : contents.bins) load_.work += static_cast<double>(bin);
    load_.bins.assign(contents.bins.begin(), contents.bins.end() - 1);
    drop_empty_bins();
    for (unsigned sm = 0; sm < 512; ++sm)
      if (contents.head.census[sm / 64] >> (sm % 64) & 1) load_.multiprocessors_used.push_back(sm);
    check(contents);
  }

  // Drops bins before the first kernel's start and after the last one's end.
  void drop_empty_bins() {
    const auto bin_ns = static_cast<double>(request_.bin_ns);
    const auto before = std::min(load_.bins.size(), static_cast<size_t>(load_.started_ns / bin_ns));
    const auto used = std::min(load_.bins.size(), static_cast<size_t>(load_.ended_ns / bin_ns) + 1);
    load_.bins.resize(used);
    load_.bins.erase(load_.bins.begin(), load_.bins.begin() + static_cast<std::ptrdiff_t>(before));
    load_.first_bin += static_cast<double>(before);
    const double shift = static_cast<double>(before) * bin_ns;
    load_.host_origin_ns += shift;
    load_.started_ns -= shift;
    load_.ended_ns -= shift;
    for (Stretches* stretches : {&load_.gaps_listed, &load_.kernels_listed})
      for (double& at : stretches->at_ns) at -= shift;
  }

  void check(const LedgerContents& contents) const {
    if (contents.head.wrong > 0)
      throw Failure(FailureKind::kInvalidResult, "a call reported success without doing its work: the arithmetic of " +
                                                     std::to_string(contents.head.wrong) + " threads is wrong.");
    const double all =
        static_cast<double>(load_.kernels) * static_cast<double>(load_.rounds) * static_cast<double>(kernel_.blocks);
    // Kernels of several chunks that still ran at the end were told to stop.
    const double may_miss = arguments_.front().chunks == 1 ? 0 : all * std::min(1.0, cut_short());
    if (load_.work <= all && load_.work >= all - may_miss) return;
    throw Failure(FailureKind::kInvalidResult,
                  "a call reported success without doing its work: " + std::to_string(load_.kernels) + " kernels of " +
                      std::to_string(all) + " rounds did " + std::to_string(load_.work) + ".");
  }
  double cut_short() const {
    return static_cast<double>(request_.in_flight) * request_.nodes / static_cast<double>(load_.kernels);
  }

  DeviceSession& session_;
  const Cuda& cuda_;
  const LoadRequest& request_;
  const LoadKernel kernel_;
  const LoadLedger ledger_;
  const std::unique_ptr<const ThreadStreamCalls> thread_calls_;
  const Cuda& calls_;
  const std::unique_ptr<const Partition> partition_;  // outlives its stream
  const Stream stream_;
  std::vector<Event> finished_;
  std::deque<LoadArguments> arguments_;
  std::vector<GraphExecutable> graphs_;
  Latest calls_ns_;
  LatestStretches gaps_, kernels_;
  int64_t until_ = 0;
  uint64_t origin_ = 0;
  uint64_t collected_ = 0;
  uint64_t first_began_ = 0, last_began_ = 0, last_ended_ = 0;
  Load load_;
};

}  // namespace

Load measure_load(DeviceSession& session, const LoadRequest& request) {
  if (request.nodes > 1 && !is_graph(request.call))
    throw Failure(FailureKind::kInvalidResult, "Expected one kernel per launch, except for graphs, but received " +
                                                   std::to_string(request.nodes) + " nodes.");
  if (request.partition > 0 && in_thread_stream(request.call))
    throw Failure(FailureKind::kInvalidResult,
                  "Expected a load in a stream of its own for a partition, but received one in the thread's stream.");
  if (request.duration_ns / request.bin_ns > kMostBins)
    throw Failure(FailureKind::kInvalidResult, "Expected at most " + std::to_string(kMostBins) + " bins of " +
                                                   std::to_string(request.bin_ns) + " ns in " +
                                                   std::to_string(request.duration_ns) + " ns: ask for longer ones.");
  return LoadRun(session, request).run();
}

}  // namespace gvb
