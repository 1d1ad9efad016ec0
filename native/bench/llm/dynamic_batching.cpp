#include "bench/llm/dynamic_batching.h"

#include <algorithm>
#include <deque>

#include "base/elementary.h"
#include "base/wait.h"

namespace gvb {

namespace {

constexpr unsigned kWarmSteps = 5, kCapacitySteps = 25;
constexpr size_t kMostQueueSamples = 20'000;

// A Poisson process: gaps are exponentially distributed.
class Arrivals {
 public:
  struct Process {
    double per_s;
    int64_t from, until;
    uint64_t seed;
  };
  explicit Arrivals(const Process& of)
      : mean_gap_ns_(1e9 / of.per_s), until_(of.until), random_(of.seed), next_(static_cast<double>(of.from)) {
    advance();
  }

  int64_t next() const { return static_cast<int64_t>(next_); }
  bool over() const { return next() >= until_; }
  int64_t take() {
    const int64_t at = next();
    advance();
    return at;
  }

 private:
  void advance() {
    const double chance = std::generate_canonical<double, 53>(random_);
    next_ -= mean_gap_ns_ * logarithm(1 - chance);
  }

  const double mean_gap_ns_;
  const int64_t until_;
  std::mt19937_64 random_;
  double next_;
};

// Keeps every second, fourth, … sample if there are many.
void thin(std::vector<double>* samples) {
  const size_t stride = (samples->size() + kMostQueueSamples - 1) / kMostQueueSamples;
  if (stride <= 1) return;
  size_t kept = 0;
  for (size_t i = 0; i < samples->size(); i += stride) (*samples)[kept++] = (*samples)[i];
  samples->resize(kept);
}

StackShape stack_of(const DynamicBatchingRequest& request) {
  return {Number::kF16, request.n, request.k, request.layers, request.seed};
}

class BatchingServer {
 public:
  BatchingServer(DeviceSession& session, const DynamicBatchingRequest& request)
      : session_(session), request_(request), stack_(session, stack_of(request)), stream_(make_stream(session.cuda)) {
    // Loads the kernels before requests arrive.
    for (unsigned batch = 1; batch <= request.most_batch; ++batch) stack_.product(batch);
    stack_.poison();
    for (unsigned i = 0; i < kWarmSteps; ++i) step(request.most_batch);
    out_.n = stack_.n();
    out_.k = stack_.k();
    out_.layers = stack_.layers();
    out_.variant = stack_.product(request.most_batch).variant();
    out_.arrivals_per_s = request.arrivals_per_s > 0 ? request.arrivals_per_s : request.load * measure_capacity();
  }
  ~BatchingServer() { session_.cuda.try_call(session_.cuda.api.cuStreamSynchronize, stream_.get()); }
  BatchingServer(const BatchingServer&) = delete;
  BatchingServer& operator=(const BatchingServer&) = delete;

  DynamicBatching serve() {
    wait_for_release(request_.start_at_ns, [&] { session_.token.check(); });
    // If the time has passed, the window begins now.
    const int64_t from = std::max(request_.start_at_ns, now_ns());
    out_.started_ns = since_start(from);
    let_others_begin();
    const int64_t until = from + static_cast<int64_t>(request_.window_ns);
    const int64_t give_up = until + static_cast<int64_t>(request_.grace_ns);
    Arrivals arrivals({out_.arrivals_per_s, from, until, request_.seed});
    unsigned last = 0;
    for (int64_t now = from; now < give_up; now = now_ns()) {
      session_.token.check();
      take_arrived(&arrivals, now);
      if (waiting_.empty()) {
        if (arrivals.over() || enough_steps()) break;
        wait_until(arrivals.next(), [&] { session_.token.check(); });
        continue;
      }
      last = serve_waiting();
    }
    out_.ended_ns = since_start(now_ns());
    if (last != 0) stack_.check(last, static_cast<unsigned>(random_() % stack_.layers()));
    thin(&out_.queue_ns);
    return std::move(out_);
  }

 private:
  double since_start(int64_t at) const { return static_cast<double>(at - request_.start_at_ns); }

  bool enough_steps() const { return request_.most_steps != 0 && out_.step_ns.size() >= request_.most_steps; }

  // Returns the end time.
  int64_t step(unsigned batch) {
    for (unsigned layer = 0; layer < stack_.layers(); ++layer) stack_.launch(stream_.get(), batch, layer);
    GVB_CALL(session_.cuda, "waiting for a step", cuStreamSynchronize, stream_.get());
    return now_ns();
  }

  double measure_capacity() {
    std::vector<int64_t> times;
    for (unsigned i = 0; i < kCapacitySteps; ++i) {
      session_.token.check();
      const int64_t began = now_ns();
      times.push_back(step(request_.most_batch) - began);
    }
    std::nth_element(times.begin(), times.begin() + kCapacitySteps / 2, times.end());
    const double capacity = request_.most_batch * 1e9 / static_cast<double>(times[kCapacitySteps / 2]);
    out_.capacity_per_s = capacity;
    return capacity;
  }

  void take_arrived(Arrivals* arrivals, int64_t now) {
    while (!arrivals->over() && arrivals->next() <= now && !enough_steps()) {
      waiting_.push_back(arrivals->take());
      ++out_.offered;
    }
  }

  // Returns the batch size.
  unsigned serve_waiting() {
    const auto batch = static_cast<unsigned>(std::min<size_t>(waiting_.size(), request_.most_batch));
    const int64_t began = now_ns();
    const int64_t ended = step(batch);
    out_.step_at_ns.push_back(since_start(began));
    out_.step_ns.push_back(static_cast<double>(ended - began));
    out_.step_batch.push_back(batch);
    for (unsigned i = 0; i < batch; ++i) {
      out_.queue_ns.push_back(static_cast<double>(began - waiting_.front()));
      waiting_.pop_front();
    }
    out_.served += batch;
    return batch;
  }

  DeviceSession& session_;
  const DynamicBatchingRequest& request_;
  WeightStack stack_;
  const Stream stream_;
  std::deque<int64_t> waiting_;  // arrival times
  std::mt19937_64 random_{static_cast<uint64_t>(now_ns())};
  DynamicBatching out_;
};

}  // namespace

DynamicBatching measure_dynamic_batching(DeviceSession& session, const DynamicBatchingRequest& request) {
  if (request.most_batch > SkinnyGemm::kMostRows || !(request.arrivals_per_s > 0 || request.load > 0))
    throw Failure(FailureKind::kInvalidResult,
                  "Expected batches of at most 64 and a load above 0 for a batching server.");
  DynamicBatching nothing;
  nothing.unsupported = no_room_for_stack(session, stack_of(request));
  if (!nothing.unsupported.empty()) return nothing;
  return BatchingServer(session, request).serve();
}

}  // namespace gvb
