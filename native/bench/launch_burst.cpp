#include "bench/launch_burst.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <string>

#include "base/thread.h"
#include "base/wait.h"
#include "bench/block_counter.h"
#include "bench/kernel_chain.h"
#include "bench/on_core.h"

namespace gvb {

namespace {

constexpr unsigned kLooksAtToken = 256;  // launches between two checks
constexpr unsigned kGraphTimes = 5;
constexpr unsigned kGraphsAhead = 4;
constexpr size_t kSlotBytes = 128;  // each stamp has its own pair of cache lines

const char* name_of(BurstCall call) {
  switch (call) {
    case BurstCall::kKernel:
      return "cuLaunchKernel";
    case BurstCall::kKernelEx:
      return "cuLaunchKernelEx";
    case BurstCall::kGraph:
      return "cuGraphLaunch";
  }
  return "";
}

struct Times {
  int64_t submitted = 0, over = 0;
};

// The launches of one thread, and their results.
struct Launcher {
  std::vector<Stream> streams;
  std::unique_ptr<MappedMemory> stamps;  // one per stream
  abi::CUresult launched = abi::CUDA_SUCCESS;
  abi::CUresult waited = abi::CUDA_SUCCESS;
  unsigned unstamped = 0;
  std::exception_ptr failure;
  Times times;
};

class Bursts {
 public:
  Bursts(DeviceSession& session, const BurstRequest& request)
      : session_(session),
        cuda_(session.cuda),
        request_(request),
        counter_(session.cuda),
        count_(counter_.device()),
        kernel_(session.module.function("gvb_count")),
        stamp_(session.module.function("gvb_stamp")),
        launch_(cuda_.require(cuda_.api.cuLaunchKernel, "cuLaunchKernel")),
        synchronise_(cuda_.require(cuda_.api.cuStreamSynchronize, "cuStreamSynchronize")),
        set_current_(cuda_.require(cuda_.api.cuCtxSetCurrent, "cuCtxSetCurrent")),
        launchers_(request.threads) {
    for (Launcher& launcher : launchers_) {
      for (unsigned i = 0; i < request.streams; ++i) launcher.streams.push_back(make_stream(cuda_));
      launcher.stamps = std::make_unique<MappedMemory>(cuda_, request.streams * kSlotBytes);
    }
    if (request.call == BurstCall::kGraph)
      graph_ = std::make_unique<KernelChain>(cuda_, kernel_, ChainShape{1, 1, request.nodes}, parameters_);
  }
  // Kernels that still run write to memory that is freed below.
  ~Bursts() { cuda_.try_call(cuda_.api.cuCtxSynchronize); }
  Bursts(const Bursts&) = delete;
  Bursts& operator=(const Bursts&) = delete;

  LaunchBursts run() {
    LaunchBursts bursts;
    std::optional<OnCore> core;
    if (request_.threads == 1) core.emplace(request_.core);
    if (core) bursts.core = core->number();
    const unsigned each = request_.launches / request_.threads;
    if (request_.warmup > 0) burst(request_.warmup);
    for (unsigned i = 0; i < request_.bursts; ++i) {
      const int64_t began = burst(each);
      Times last;
      for (const Launcher& launcher : launchers_) {
        last.submitted = std::max(last.submitted, launcher.times.submitted);
        last.over = std::max(last.over, launcher.times.over);
      }
      bursts.submit_ns.push_back(static_cast<double>(last.submitted - began));
      bursts.total_ns.push_back(static_cast<double>(last.over - began));
    }
    bursts.kernels = each * request_.threads * request_.nodes + request_.threads * request_.streams;
    counter_.check(accepted_, name_of(request_.call));
    if (graph_) bursts.device_ns = device_time();
    return bursts;
  }

 private:
  // Returns the start time. Throws if a call failed, or a wait returned before its stream was done.
  int64_t burst(unsigned launches) {
    session_.token.check();
    const int64_t began = request_.threads == 1 ? alone(launches) : together(launches);
    for (const Launcher& launcher : launchers_) {
      if (launcher.failure) std::rethrow_exception(launcher.failure);
      cuda_.check(launcher.launched, name_of(request_.call), "launching a burst of kernels");
      cuda_.check(launcher.waited, "cuStreamSynchronize", "waiting for a burst of kernels");
      if (launcher.unstamped > 0)
        throw Failure(
            FailureKind::kInvalidResult,
            "a call reported success without doing its work: cuStreamSynchronize returned before the last of " +
                std::to_string(launches) + " launches had run.");
    }
    session_.token.check();
    accepted_ += uint64_t{launches} * request_.nodes * request_.threads;
    return began;
  }

  int64_t alone(unsigned launches) {
    const int64_t began = now_ns();
    launch_all(&launchers_.front(), launches);
    return began;
  }

  int64_t together(unsigned launches) {
    std::atomic<unsigned> ready{0}, done{0};
    std::atomic<bool> go{false};
    unsigned started = 0;
    for (Launcher& launcher : launchers_) {
      const auto body = [&, mine = &launcher] {
        const abi::CUresult current = set_current_(session_.context.get());
        ready.fetch_add(1);
        while (!go.load(std::memory_order_acquire)) sched_yield();
        try {
          mine->failure = nullptr;
          mine->launched = current;
          if (current == abi::CUDA_SUCCESS) launch_all(mine, launches);
        } catch (...) {
          mine->failure = std::current_exception();
        }
        done.fetch_add(1, std::memory_order_release);
      };
      if (!start_thread(Processors::kProcesses, body)) break;
      ++started;
    }
    while (ready.load() < started) sched_yield();
    const int64_t began = now_ns();
    go.store(true, std::memory_order_release);
    while (done.load(std::memory_order_acquire) < started) sched_yield();
    if (started < request_.threads)
      throw Failure(FailureKind::kInvalidResult, "The system starts only " + std::to_string(started) + " of " +
                                                     std::to_string(request_.threads) + " threads.");
    return began;
  }

  void launch_all(Launcher* launcher, unsigned launches) {
    for (unsigned i = 0; i < request_.streams; ++i) launcher->stamps->store<uint64_t>(0, i * kSlotBytes);
    switch (request_.call) {
      case BurstCall::kKernel:
        return run_through(launcher, launches, [&](abi::CUstream stream) {
          return launch_(kernel_, 1, 1, 1, 1, 1, 1, 0, stream, parameters_, nullptr);
        });
      case BurstCall::kKernelEx: {
        const auto launch = cuda_.require(cuda_.api.cuLaunchKernelEx, "cuLaunchKernelEx");
        abi::CUlaunchConfig config{1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, 0};
        return run_through(launcher, launches, [&](abi::CUstream stream) {
          config.hStream = stream;
          return launch(&config, kernel_, parameters_, nullptr);
        });
      }
      case BurstCall::kGraph: {
        const auto launch = cuda_.require(cuda_.api.cuGraphLaunch, "cuGraphLaunch");
        return run_through(launcher, launches,
                           [&](abi::CUstream stream) { return launch(graph_->executable(), stream); });
      }
    }
  }

  // Must not throw, because it may run in a separate thread.
  template <class Call>
  void run_through(Launcher* launcher, unsigned launches, const Call& call) {
    const size_t count = launcher->streams.size();
    abi::CUresult code = abi::CUDA_SUCCESS;
    for (unsigned i = 0; i < launches && code == abi::CUDA_SUCCESS; ++i) {
      if (i % kLooksAtToken == 0 && session_.token.cancelled()) break;
      code = call(launcher->streams[i % count].get());
    }
    for (size_t i = 0; i < count && code == abi::CUDA_SUCCESS; ++i) code = stamp(*launcher, i);
    launcher->times.submitted = now_ns();
    launcher->launched = code;
    for (const Stream& stream : launcher->streams)
      if (const abi::CUresult waited = synchronise_(stream.get())) launcher->waited = waited;
    launcher->times.over = now_ns();
    launcher->unstamped = 0;
    for (size_t i = 0; i < count; ++i)
      if (launcher->stamps->load<uint64_t>(i * kSlotBytes) == 0) ++launcher->unstamped;
  }

  abi::CUresult stamp(const Launcher& launcher, size_t i) const {
    abi::CUdeviceptr slot = launcher.stamps->device(i * kSlotBytes);
    void* parameters[] = {&slot};
    return launch_(stamp_, 1, 1, 1, 1, 1, 1, 0, launcher.streams[i].get(), parameters, nullptr);
  }

  // What a second graph adds to the time between two stamps: of one graph alone, the time has also a stamp's kernel and
  // the gaps around it. Takes the shortest of a few, because the device has to wait for a delayed host.
  double device_time() const {
    uint64_t one = ~uint64_t{0}, two = one;
    for (unsigned i = 0; i < kGraphTimes; ++i) {
      one = std::min(one, between_stamps(1));
      two = std::min(two, between_stamps(2));
    }
    constexpr uint64_t kGraphs = 2 * kGraphsAhead + 1 + 2;
    counter_.check(accepted_ + kGraphs * kGraphTimes * request_.nodes, name_of(request_.call));
    if (two <= one)
      throw Failure(FailureKind::kInvalidResult, "By the device's clock two graphs took no longer than one: " +
                                                     std::to_string(two) + " and " + std::to_string(one) + " ns.");
    return static_cast<double>(two - one) / request_.nodes;
  }

  // Graphs before the first stamp keep the device busy while the host makes the calls, so that the time is the
  // device's.
  uint64_t between_stamps(unsigned graphs) const {
    const abi::CUstream stream = launchers_.front().streams.front().get();
    const MappedMemory slots(cuda_, 2 * kSlotBytes);
    for (unsigned i = 0; i < 2; ++i) slots.store<uint64_t>(0, i * kSlotBytes);
    for (unsigned i = 0; i < 2; ++i) {
      const unsigned launches = i == 0 ? kGraphsAhead : graphs;
      for (unsigned j = 0; j < launches; ++j)
        GVB_CALL(cuda_, "timing a graph", cuGraphLaunch, graph_->executable(), stream);
      abi::CUdeviceptr slot = slots.device(i * kSlotBytes);
      void* parameters[] = {&slot};
      GVB_CALL(cuda_, "timing a graph", cuLaunchKernel, stamp_, 1, 1, 1, 1, 1, 1, 0, stream, parameters, nullptr);
    }
    GVB_CALL(cuda_, "timing a graph", cuStreamSynchronize, stream);
    const auto began = slots.load<uint64_t>(), ended = slots.load<uint64_t>(kSlotBytes);
    if (began == 0 || ended < began)
      throw Failure(FailureKind::kInvalidResult,
                    "A kernel next to a graph was launched successfully but did not run: it wrote no time.");
    return ended - began;
  }

  DeviceSession& session_;
  const Cuda& cuda_;
  const BurstRequest& request_;
  const BlockCounter counter_;
  abi::CUdeviceptr count_;
  void* parameters_[1] = {&count_};
  const abi::CUfunction kernel_, stamp_;
  const decltype(CudaApi::cuLaunchKernel) launch_;
  const decltype(CudaApi::cuStreamSynchronize) synchronise_;
  const decltype(CudaApi::cuCtxSetCurrent) set_current_;
  std::vector<Launcher> launchers_;
  std::unique_ptr<KernelChain> graph_;
  uint64_t accepted_ = 0;
};

}  // namespace

LaunchBursts measure_bursts(DeviceSession& session, const BurstRequest& request) {
  if (request.threads > 1) require_unconfined("it is the context of one thread at a time");
  if (request.nodes > 1 && request.call != BurstCall::kGraph)
    throw Failure(FailureKind::kInvalidResult, "Expected one kernel per launch, except for graphs, but received " +
                                                   std::to_string(request.nodes) + " nodes.");
  return Bursts(session, request).run();
}

}  // namespace gvb
