#include "bench/start_delay.h"

#include <memory>
#include <optional>
#include <random>

#include "base/wait.h"
#include "bench/block_counters.h"
#include "bench/full_blocks.h"
#include "bench/full_check.h"

namespace gvb {

namespace {

// The host sleeps during longer waits, because the times are taken on the device.
constexpr int64_t kSpunNs = 300'000, kNapNs = 50'000;
// Longer than any queue of this measurement takes.
constexpr int64_t kPatienceNs = 30'000'000'000;

struct Priorities {
  int least = 0, greatest = 0;
};

Priorities priorities_of(const Cuda& cuda, bool wanted) {
  Priorities range;
  if (!wanted) return range;
  GVB_CALL(cuda, "asking for stream priorities", cuCtxGetStreamPriorityRange, &range.least, &range.greatest);
  if (range.least == range.greatest)
    throw Failure(FailureKind::kFunctionMissing, "The device has only one stream priority.");
  return range;
}

// Keeps a fixed number of kernels queued that fill the device, each in a stream of its own: kernels of one stream would
// only be considered for the device one after the other, and a priority would have nothing to overtake.
class Backlog {
 public:
  Backlog(DeviceSession& session, const StartDelayRequest& request, int priority)
      : cuda_(session.cuda),
        spin_(request.hold_ns),
        kernel_(session.module.function("gvb_occupy")),
        full_(full_blocks(session, kernel_)),
        grid_(full_.each * card_multiprocessors(session)),
        query_(cuda_.require(cuda_.api.cuEventQuery, "cuEventQuery")),
        counters_(cuda_),
        blocks_(counters_.device()),
        check_(session, {spin_, priority}) {
    for (unsigned i = 0; i < request.queued; ++i)
      places_.push_back({make_stream_of_priority(cuda_, priority), make_event(cuda_)});
  }
  ~Backlog() {
    for (const Place& place : places_) cuda_.try_call(cuda_.api.cuStreamSynchronize, place.stream.get());
  }
  Backlog(const Backlog&) = delete;
  Backlog& operator=(const Backlog&) = delete;

  // One kernel at a time. Throws kInvalidResult if something else could start beside one.
  std::optional<bool> check_full() {
    Fullness found = Fullness::kUnknown;
    Place& place = places_.front();
    for (size_t i = 0; check_.wants() && found == Fullness::kUnknown; ++i) {
      launch(&place);
      nap_ns(static_cast<int64_t>(spin_ / 4));
      check_.look(i, place.finished);
      GVB_CALL(cuda_, "waiting for a kernel that fills the device", cuStreamSynchronize, place.stream.get());
      found = check_.result();
    }
    if (found == Fullness::kRoom) throw Failure(FailureKind::kInvalidResult, kRoomLeft);
    return card_full(found);
  }

  // Launches a new kernel for each that has ended; returns the number of kernels that are not over.
  unsigned top_up() {
    for (Place& place : places_)
      if (!place.used || over(place)) launch(&place);
    return static_cast<unsigned>(places_.size());
  }

  void drain() {
    for (const Place& place : places_)
      GVB_CALL(cuda_, "waiting for queued kernels", cuStreamSynchronize, place.stream.get());
    const uint64_t ran = counters_.read();
    if (ran != launched_ * grid_)
      throw Failure(FailureKind::kInvalidResult, "a call reported success without doing its work: of " +
                                                     std::to_string(launched_ * grid_) + " blocks the device ran " +
                                                     std::to_string(ran) + ".");
  }

 private:
  struct Place {
    Stream stream;
    Event finished;
    bool used = false;
  };

  bool over(const Place& place) const {
    const abi::CUresult code = query_(place.finished.get());
    if (code == abi::CUDA_ERROR_NOT_READY) return false;
    cuda_.check(code, "cuEventQuery", "checking whether a kernel has ended");
    return true;
  }

  void launch(Place* place) {
    abi::CUdeviceptr stamps = check_.stamps_of_next();
    void* parameters[] = {&stamps, &spin_, &blocks_};
    GVB_CALL(cuda_, "launching a kernel that fills the device", cuLaunchKernel, kernel_, grid_, 1, 1, full_.threads, 1,
             1, 0, place->stream.get(), parameters, nullptr);
    GVB_CALL(cuda_, "recording an event", cuEventRecord, place->finished.get(), place->stream.get());
    place->used = true;
    ++launched_;
  }

  const Cuda& cuda_;
  unsigned long long spin_;
  const abi::CUfunction kernel_;
  const FullBlocks full_;
  const unsigned grid_;
  const decltype(CudaApi::cuEventQuery) query_;
  const BlockCounters counters_;
  abi::CUdeviceptr blocks_;
  FullCheck check_;
  std::vector<Place> places_;
  uint64_t launched_ = 0;
};

class Delays {
 public:
  Delays(DeviceSession& session, const StartDelayRequest& request)
      : session_(session),
        cuda_(session.cuda),
        request_(request),
        priorities_(priorities_of(cuda_, request.prioritised)),
        stream_(make_stream_of_priority(cuda_, priorities_.greatest)),
        slot_(cuda_, sizeof(uint64_t)),
        stamp_(session.module.function("gvb_stamp")),
        launch_(cuda_.require(cuda_.api.cuLaunchKernel, "cuLaunchKernel")),
        mapping_(session),
        random_(request.seed) {
    if (request.hold_ns == 0) return;
    backlog_.emplace(session, request, priorities_.least);
    full_ = backlog_->check_full();
  }

  StartDelays run() {
    mapping_.exchange();
    wait_for_release(request_.start_at_ns, [&] { session_.token.check(); });
    const int64_t began = std::max(now_ns(), request_.start_at_ns);
    const int64_t until = began + static_cast<int64_t>(request_.window_ns);
    // The first kernels of a queue have nothing to wait for.
    top_up();
    for (int64_t due = began + gap(); due < until; due = std::max(due, now_ns()) + gap()) {
      await(due);
      launch_one();
    }
    if (backlog_) backlog_->drain();
    wait_until(until + static_cast<int64_t>(request_.quiet_ns), [&] { session_.token.check(); });
    mapping_.exchange();
    mapping_.fit();
    return result();
  }

 private:
  struct Probe {
    int64_t called;
    uint64_t started;
    unsigned ahead;
  };

  unsigned top_up() { return backlog_ ? backlog_->top_up() : 0; }

  int64_t gap() {
    const auto jitter = static_cast<int64_t>(request_.jitter_ns);
    std::uniform_int_distribution<int64_t> offset(-jitter, jitter);
    return static_cast<int64_t>(request_.period_ns) + offset(random_);
  }

  void await(int64_t due) {
    while (now_ns() < due) {
      session_.token.check();
      top_up();
      if (due - now_ns() > kSpunNs) nap_ns(kNapNs);
    }
  }

  void launch_one() {
    slot_.store<uint64_t>(0);
    abi::CUdeviceptr slot = slot_.device();
    void* parameters[] = {&slot};
    const unsigned ahead = top_up();
    const int64_t called = now_ns();
    const abi::CUresult code = launch_(stamp_, 1, 1, 1, 32, 1, 1, 0, stream_.get(), parameters, nullptr);
    cuda_.check(code, "cuLaunchKernel", "launching a small kernel");
    uint64_t started = 0;
    while ((started = slot_.load<uint64_t>()) == 0) {
      session_.token.check();
      const int64_t waited = now_ns() - called;
      if (waited > kPatienceNs)
        throw Failure(FailureKind::kInvalidResult, "A kernel was launched successfully but did not start within 30 s.");
      if (waited < kSpunNs) continue;
      top_up();
      nap_ns(kNapNs);
    }
    GVB_CALL(cuda_, "waiting for a small kernel", cuStreamSynchronize, stream_.get());
    probes_.push_back({called, started, ahead});
  }

  StartDelays result() const {
    StartDelays delays;
    delays.mapping = mapping_.quality();
    delays.card_full = full_;
    // Device times are too large for a double to hold nanoseconds.
    const uint64_t origin_ms = probes_.empty() ? 0 : probes_.front().started / 1'000'000;
    delays.origin_ms = static_cast<double>(origin_ms);
    for (const Probe& probe : probes_) {
      const double delay = mapping_.since(probe.called, DeviceTime{probe.started});
      delays.delay_ns.push_back(delay);
      delays.called_ns.push_back(static_cast<double>(probe.started - origin_ms * 1'000'000) - delay);
      delays.ahead.push_back(probe.ahead);
    }
    return delays;
  }

  DeviceSession& session_;
  const Cuda& cuda_;
  const StartDelayRequest& request_;
  const Priorities priorities_;
  const Stream stream_;
  const MappedMemory slot_;
  const abi::CUfunction stamp_;
  const decltype(CudaApi::cuLaunchKernel) launch_;
  ClockMapping mapping_;
  std::mt19937_64 random_;
  std::optional<Backlog> backlog_;
  std::optional<bool> full_;
  std::vector<Probe> probes_;
};

}  // namespace

StartDelays measure_start_delays(DeviceSession& session, const StartDelayRequest& request) {
  if (request.jitter_ns >= request.period_ns)
    throw Failure(FailureKind::kInvalidResult, "Expected a jitter below the period of " +
                                                   std::to_string(request.period_ns) + " ns but received " +
                                                   std::to_string(request.jitter_ns) + " ns.");
  return Delays(session, request).run();
}

}  // namespace gvb
