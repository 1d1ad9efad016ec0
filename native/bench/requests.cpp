#include "bench/requests.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "base/wait.h"
#include "bench/gpu_state.h"
#include "bench/kept_modules.h"

namespace gvb {

namespace {

constexpr unsigned kRequestThreads = 256;
constexpr unsigned kRequestBlocksPerMultiprocessor = 2;
constexpr size_t kMostSet = size_t{64} << 20;
constexpr unsigned kMostRequests = 16384;
constexpr uint64_t kMostRounds = 100'000;
constexpr int kRequestCalibrations = 5;
constexpr unsigned kFewRounds = 16, kManyRounds = 80;
constexpr uint32_t kRequestFactor = 1664525u, kRequestAddend = 1013904223u;  // must match kernels/requests.cu

struct RequestStamps {
  uint64_t start, end;
};

// A power of two of words that fills half of the L2 cache, so that neighbours that evict it or keep DRAM busy have an
// effect.
size_t set_bytes(const DeviceSession& session) {
  const size_t wanted = std::min(kMostSet, std::max(card_l2_bytes(session), uint64_t{1} << 21) / 2);
  size_t bytes = size_t{1} << 20;
  while (bytes * 2 <= wanted) bytes *= 2;
  return bytes;
}

class Server {
 public:
  Server(DeviceSession& session, const RequestsRequest& request)
      : session_(session),
        cuda_(session.cuda),
        request_(request),
        words_(static_cast<unsigned>(request.bytes / sizeof(uint32_t))),
        step_(kept_module(session, "requests").function("gvb_request_step")),
        grid_(kRequestBlocksPerMultiprocessor * card_multiprocessors(session)),
        set_bytes_(set_bytes(session)),
        set_(make_memory(cuda_, set_bytes_)),
        state_(make_memory(cuda_, request.bytes)),
        stamps_(make_memory(cuda_, kMostRequests * sizeof(RequestStamps))),
        result_(cuda_, request.bytes),
        stream_(make_stream(cuda_)) {
    GVB_CALL(cuda_, "clearing a working set", cuMemsetD8_v2, set_.get(), 0, set_bytes_);
    GVB_CALL(cuda_, "clearing the stamps", cuMemsetD8_v2, stamps_.get(), 0, kMostRequests * sizeof(RequestStamps));
    GVB_CALL(cuda_, "clearing a working set", cuCtxSynchronize);
    rounds_ = request.rounds != 0 ? request.rounds : calibrate();
  }
  ~Server() { cuda_.try_call(cuda_.api.cuStreamSynchronize, stream_.get()); }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  Requests serve() {
    Requests out;
    out.rounds = rounds_;
    serve_one(0);  // untimed: a context's first one is slow
    wait_for_release(request_.start_at_ns, [&] { session_.token.check(); });
    out.started_ns = since_start(now_ns());
    let_others_begin();
    const int64_t until = request_.start_at_ns + static_cast<int64_t>(request_.window_ns);
    const int64_t give_up = until + static_cast<int64_t>(request_.grace_ns);
    int64_t arrival = request_.start_at_ns;
    while (arrival < until && out.latency_ns.size() < kMostRequests - 1) {
      ++out.offered;
      if (now_ns() <= give_up) {
        wait_until(arrival, [&] { session_.token.check(); });
        session_.token.check();
        const int64_t done = serve_one(static_cast<unsigned>(out.latency_ns.size()) + 1);
        out.arrived_ns.push_back(since_start(arrival));
        out.latency_ns.push_back(static_cast<double>(done - arrival));
        verify(static_cast<unsigned>(out.latency_ns.size()));
      }
      arrival = request_.period_ns == 0 ? now_ns() : arrival + static_cast<int64_t>(request_.period_ns);
    }
    out.ended_ns = since_start(now_ns());
    out.sm_clock_mhz =
        read_gpu_state(session_.driver.nvml.api, session_.nvml_device, GpuDetail::kReadings).sm_clock_mhz;
    read_stamps(&out);
    return out;
  }

 private:
  double since_start(int64_t at) const { return static_cast<double>(at - request_.start_at_ns); }
  static uint32_t seed_of(unsigned number) { return number * 2654435761u; }

  struct Step {
    unsigned request;
    unsigned step;
  };

  void launch(unsigned rounds, const Step& of) {
    auto [number, step] = of;
    abi::CUdeviceptr set = set_.get(), state = state_.get(), stamps = stamps_.get() + number * sizeof(RequestStamps);
    unsigned long long count = set_bytes_ / 16;
    unsigned words = words_, seed = seed_of(number);
    void* parameters[] = {&set, &count, &rounds, &state, &words, &seed, &step, &stamps};
    GVB_CALL(cuda_, "launching a request's kernel", cuLaunchKernel, step_, grid_, 1, 1, kRequestThreads, 1, 1, 0,
             stream_.get(), parameters, nullptr);
  }

  int64_t serve_one(unsigned number) {
    for (unsigned step = 0; step < request_.kernels; ++step) launch(rounds_, {number, step});
    GVB_CALL(cuda_, "copying a request's result", cuMemcpyDtoHAsync_v2, result_.host(), state_.get(), request_.bytes,
             stream_.get());
    GVB_CALL(cuda_, "waiting for a request", cuStreamSynchronize, stream_.get());
    return now_ns();
  }

  // Word i was mapped to word * factor + addend once per kernel.
  void verify(unsigned number) const {
    uint32_t factor = 1, addend = 0;
    for (unsigned step = 0; step < request_.kernels; ++step) {
      factor *= kRequestFactor;
      addend = addend * kRequestFactor + kRequestAddend;
    }
    const auto* words = static_cast<const uint32_t*>(result_.host());
    for (unsigned i = 0; i < words_; ++i)
      if (words[i] != (seed_of(number) + i) * factor + addend)
        throw Failure(FailureKind::kInvalidResult, "a call reported success without doing its work: word " +
                                                       std::to_string(i) + " of request " + std::to_string(number) +
                                                       " is not what its " + std::to_string(request_.kernels) +
                                                       " kernels compute.");
  }

  void read_stamps(Requests* out) const {
    std::vector<RequestStamps> all(out->latency_ns.size() + 1);
    GVB_CALL(cuda_, "reading the requests' stamps", cuMemcpyDtoH_v2, all.data(), stamps_.get(),
             all.size() * sizeof(RequestStamps));
    for (size_t i = 1; i < all.size(); ++i) out->device_ns.push_back(static_cast<double>(all[i].end - all[i].start));
  }

  // The duration of back-to-back kernels. The shortest of several, because a neighbour or a limiter can only add time.
  double least_ns(unsigned rounds) {
    double least = std::numeric_limits<double>::infinity();
    for (int i = 0; i < kRequestCalibrations; ++i) {
      const Event begin = make_event(cuda_), end = make_event(cuda_);
      GVB_CALL(cuda_, "recording an event", cuEventRecord, begin.get(), stream_.get());
      for (unsigned kernel = 0; kernel < 8; ++kernel) launch(rounds, {0, kernel});
      GVB_CALL(cuda_, "recording an event", cuEventRecord, end.get(), stream_.get());
      GVB_CALL(cuda_, "waiting for a calibration", cuStreamSynchronize, stream_.get());
      float ms = 0;
      GVB_CALL(cuda_, "timing a calibration", cuEventElapsedTime, &ms, begin.get(), end.get());
      least = std::min(least, double{ms} * 1e6 / 8);
    }
    return least;
  }
  unsigned calibrate() {
    const double few = least_ns(kFewRounds), many = least_ns(kManyRounds);
    const double per_round = (many - few) / (kManyRounds - kFewRounds);
    if (!(per_round > 0))
      throw Failure(FailureKind::kInvalidResult,
                    "kernels of a request did not take longer with more work, so their length cannot be calibrated.");
    const double beside = few - kFewRounds * per_round;
    const double rounds = std::round((static_cast<double>(request_.kernel_ns) - beside) / per_round);
    return static_cast<unsigned>(std::clamp(rounds, 1.0, static_cast<double>(kMostRounds)));
  }

  DeviceSession& session_;
  const Cuda& cuda_;
  const RequestsRequest& request_;
  const unsigned words_;
  const abi::CUfunction step_;
  const unsigned grid_;
  const size_t set_bytes_;
  const DeviceMemory set_, state_, stamps_;
  const MappedMemory result_;
  const Stream stream_;
  unsigned rounds_ = 0;
};

}  // namespace

Requests serve_requests(DeviceSession& session, const RequestsRequest& request) {
  if (request.bytes < sizeof(uint32_t) || request.bytes % sizeof(uint32_t) != 0)
    throw Failure(FailureKind::kInvalidResult, "Expected a result of whole words for requests.");
  return Server(session, request).serve();
}

}  // namespace gvb
